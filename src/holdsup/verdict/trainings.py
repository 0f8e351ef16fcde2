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
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.numerics.datasets import dataset_means
from holdsup.rendering.numbers import format_interval
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation, SystemRuns, is_repetition
from holdsup.verdict.phrases import join_names, say_level, say_p

__all__ = [
    "Limited",
    "can_repeat",
    "caution_facets",
    "count_trainings",
    "has_nested_runs",
    "is_nested",
    "lay_out_datasets",
    "nest_facets",
    "say_reading",
]

Floats = NDArray[np.float64]


class Reading(Protocol):
    """What a test of two systems gives by one reading of their runs."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def log10_p(self) -> float | None: ...


class Limited(NamedTuple):
    """Limits and p of a difference."""

    low: float
    high: float
    p: float
    log10_p: float | None = None


def is_nested(scores: Floats) -> bool:
    """Return whether no run, a column of scores by datasets x runs, was scored on two datasets."""
    return bool((~np.isnan(scores)).sum(axis=0).max(initial=0) <= 1)


def has_nested_runs(evaluation: Evaluation, system: SystemRuns) -> bool:
    """Return whether each of several datasets has runs of its own, by the names of the runs or as declared."""
    scores = _there(evaluation, system)
    several = scores is not None and int((~np.isnan(scores)).any(axis=1).sum()) > 1
    return several and scores is not None and (evaluation.nested_runs or is_nested(scores))


def can_repeat(evaluation: Evaluation, system: SystemRuns) -> bool:
    """Return whether the spread between runs is measured: two of a setting, or others on each dataset."""
    return system.repeats or has_nested_runs(evaluation, system)


def count_trainings(evaluation: Evaluation, system: SystemRuns) -> int:
    """Return how many runs a system has; one name on two datasets is two, where these have runs of their own."""
    scores = _there(evaluation, system)
    nested = scores is not None and has_nested_runs(evaluation, system)
    return int((~np.isnan(scores)).sum()) if scores is not None and nested else len(system.runs)


def lay_out_datasets(evaluation: Evaluation, system: SystemRuns, items: NDArray[np.bool_]) -> Floats:
    """Return the mean of each run of a system, whose scores are of `items`, on each dataset: datasets x runs."""
    if evaluation.datasets is None:
        return system.scores
    return dataset_means(system.scores, evaluation.datasets[items])


def _there(evaluation: Evaluation, system: SystemRuns) -> Floats | None:
    """Return NaN where a run has no score on a dataset, 0 elsewhere; None without several datasets.

    It is of all that the system was scored on, wherever it is compared.
    """
    if evaluation.unit != "datasets" and evaluation.datasets is None:
        return None
    if len(system.scores) != evaluation.items:
        system = evaluation.system(system.name)
    if evaluation.datasets is None:
        return np.where(np.isnan(system.scores), np.nan, 0.0)
    there = ~np.isnan(system.scores)
    found = [there[evaluation.datasets == code].any(axis=0) for code in np.unique(evaluation.datasets)]
    return np.where(found, 0.0, np.nan)


def say_reading(
    pair: str, nested: bool, taken: Reading, other: Reading | None, *, declared: bool, level: float, pairs: int
) -> str:
    """Return which reading was taken of runs on several datasets, and what the other gives for one of `pairs`."""
    if nested and not declared:
        return "No run was scored on two datasets: each dataset counts as having training runs of its own."
    if nested:
        said = "Each dataset counts as having training runs of its own, as declared. If a run were one training that "
        said += "was evaluated on all datasets"
    else:
        said = "A run whose name recurs on several datasets counts as one training that was evaluated on all of them. "
        said += "If each dataset had training runs of its own (--nested-runs)"
    if other is None:
        return f"{said}, the numbers would be others."
    this, that = _say(taken, level), _say(other, level)
    alone = f" (not adjusted for {pairs:,} pairs)" if pairs > 1 else ""
    return f"{said}, {pair} would have {f'the same {this}' if this == that else f'{that}, not {this}'}{alone}."


def _say(found: Reading, level: float) -> str:
    limits = f"{say_level(level)} CI {format_interval(found.low, found.high)}" if np.isfinite(found.high) else "no CI"
    return f"{limits} and {say_p(found.p, found.log10_p)}"


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


def caution_facets(scores: Scores, *, declared: bool) -> Iterator[str]:
    """Yield how repetitions on several datasets were read in a decomposition."""
    if scores.dataset is None or scores.dataset.count < 2:
        return
    repeated = [name for name in scores.facets if is_repetition(scores, name) and scores.facets[name].count > 1]
    recur = [name for name in repeated if cross(scores.facets[name], scores.dataset).count > scores.facets[name].count]
    if recur:
        yield (
            f"A level of {join_names(recur)} that recurs on several datasets counts as one training that was evaluated "
            "on all of them; --nested-runs gives each dataset trainings of its own."
        )
    elif repeated and declared:
        yield f"Each dataset counts as having training runs of its own ({join_names(repeated)}), as declared."
