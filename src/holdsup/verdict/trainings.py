"""Runs over several datasets: one training that was evaluated on all of them, or trainings of each dataset's own?

Labels decide, for `compare`, `variance` and `rank` alike. A run whose name recurs on several datasets counts as one
training, whose luck is the same on all; names that occur on one dataset only are trainings of its own, and so are all
where `--nested-runs` says so. Taking shared runs for nested ones finds differences that are not there: in 26% of tables
with 5 datasets, in 59% with 20. The other way round costs power. So the answer says which was taken, and what the other
reading gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError
from holdsup.numerics.decisions import Difference
from holdsup.rendering.numbers import format_counted, format_interval
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation, SystemRuns, is_repetition
from holdsup.verdict.phrases import join_names, say_level, say_p

Floats = NDArray[np.float64]


class Limited(NamedTuple):
    """Limits and p of a difference."""

    low: float
    high: float
    p: float
    log10_p: float | None = None


Reading: TypeAlias = Difference | Limited  # what a test of two systems gives by one reading of their runs


def is_nested(scores: Floats) -> bool:
    """Return whether no run, a column of scores by datasets x runs, was scored on two datasets."""
    return bool((~np.isnan(scores)).sum(axis=0).max(initial=0) <= 1)


def has_nested_runs(evaluation: Evaluation, system: SystemRuns) -> bool:
    """Return whether each of several datasets has runs of its own, by the names of the runs or as declared."""
    there = evaluation.scored_datasets.get(system.name)  # of all that it was scored on, wherever it is compared
    if system.deterministic or there is None or int(there.any(axis=1).sum()) < 2:
        return False
    return evaluation.nested_runs or is_nested(np.where(there, 0.0, np.nan))


def can_repeat(evaluation: Evaluation, system: SystemRuns) -> bool:
    """Return whether the spread between runs is known: two of a setting, others on each dataset, or declared none."""
    return system.repeats or system.deterministic or has_nested_runs(evaluation, system)


def count_trainings(evaluation: Evaluation, system: SystemRuns) -> int:
    """Return how many runs a system has; one name on two datasets is two, where these have runs of their own."""
    if has_nested_runs(evaluation, system):
        return int(evaluation.scored_datasets[system.name].sum())
    return len(system.runs)


def is_moved(p: float, other: float, level: float, pairs: int) -> bool:
    """Return whether the verdict on one of `pairs`, adjusted for all of them, is another by the other reading."""
    share = (1 - level) / pairs
    return (p <= share) != (other <= share)


def caution_reading(
    pair: str, nested: bool, taken: Reading, other: Reading | None, *, declared: bool, level: float, pairs: int
) -> Caution:
    """Return which reading was taken of runs on several datasets, and what the other gives for one of `pairs`.

    It limits the answer where the other reading gives another.
    """
    code = "runs-across-datasets"
    if nested and not declared:
        message = "No run was scored on two datasets: each dataset counts as having its own training runs."
        return Caution(code=code, severity="note", message=message)
    if nested:
        message = "Each dataset counts as having its own training runs, as declared."
        otherwise = "If a run were one training that was evaluated on all datasets"
    else:
        message = "A run whose name recurs on several datasets counts as one training, evaluated on all of them."
        otherwise = "If each dataset had its own training runs (--nested-runs)"
    if other is None:
        return Caution(code=code, severity="note", message=message, effect=f"{otherwise}, the numbers would differ.")
    this, that = _say(taken, level), _say(other, level)
    alone = f" (not adjusted for {pairs:,} pairs)" if pairs > 1 else ""
    effect = f"{otherwise}, {pair} would have {f'the same {this}' if this == that else f'{that}, not {this}'}{alone}."
    moved = is_moved(taken.p, other.p, level, pairs)
    if moved:
        message = f"{message.rstrip('.')}; {'without' if nested else 'with'} --nested-runs the answer changes."
    return Caution(code=code, severity="warning" if moved else "note", message=message, effect=effect)


def _say(found: Reading, level: float) -> str:
    limits = f"{say_level(level)} CI {format_interval(found.low, found.high)}" if np.isfinite(found.high) else "no CI"
    return f"{limits} and {say_p(found.p)}"


def nest_facets(scores: Scores) -> Scores:
    """Return the scores with facets that repeat runs nested in their datasets: seed 1 of two datasets is two seeds."""
    if scores.dataset is None or scores.dataset.count < 2:
        return scores
    dataset, facets = scores.dataset, dict(scores.facets)
    for name, labels in scores.facets.items():
        if is_repetition(scores, name):
            both = cross(dataset, labels)
            known = [(dataset.codes[row], labels.codes[row]) for row in both.first]
            names = [f"{dataset.names[d]}/{labels.names[label]}" if min(d, label) >= 0 else "" for d, label in known]
            facets[name] = Labels.of(np.where(np.minimum(dataset.codes, labels.codes) < 0, -1, both.codes), names)
    return replace(scores, facets=facets)


def caution_facets(scores: Scores, *, declared: bool) -> Iterator[Caution]:
    """Yield how repetitions on several datasets were read in a decomposition."""
    if scores.dataset is None or scores.dataset.count < 2:
        return
    repeated = [name for name in scores.facets if is_repetition(scores, name) and scores.facets[name].count > 1]
    recur = [name for name in repeated if cross(scores.facets[name], scores.dataset).count > scores.facets[name].count]
    if recur:
        yield Caution(
            code="runs-across-datasets",
            severity="note",
            message=f"The same {join_names(recur)} on several datasets counts as one training, scored on all of them.",
            advice="If each dataset had its own trainings, give --nested-runs.",
        )
    elif repeated and declared:
        yield Caution(
            code="runs-across-datasets",
            severity="note",
            message=f"Each dataset counts as having its own training runs ({join_names(repeated)}), as you declared.",
        )


def align_seeds(a: SystemRuns, b: SystemRuns) -> tuple[Floats, Floats]:
    """Return the runs of the seeds that both systems have, in the same order, runs of one seed averaged."""
    assert a.seeds is not None
    assert b.seeds is not None
    common = np.intersect1d(a.seeds, b.seeds)
    if len(common) < 2:
        raise ScoresError(
            f"--shared: {a.name!r} and {b.name!r} have {format_counted(len(common), 'level')} in common, and two are "
            "needed: leave --shared out"
        )
    grids = []
    for system in (a, b):
        assert system.seeds is not None
        with np.errstate(invalid="ignore"):
            grids.append(np.stack([_mean(system.scores[:, system.seeds == seed]) for seed in common], axis=1))
    return grids[0], grids[1]


def _mean(columns: Floats) -> Floats:
    count = (~np.isnan(columns)).sum(axis=1)
    total = np.nansum(columns, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
