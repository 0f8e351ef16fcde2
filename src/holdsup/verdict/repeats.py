"""Scores that repeat a run and an item, and runs that are copies of others.

A table in which a column tells repeated scores apart is refused by `compare`, `variance` and `rank` alike, until it is
said what the column is. Copies come from one file under two names, or from a system that does the same whatever its
seed is; counted as runs of their own they would lend a claim degrees of freedom that nobody measured.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import ScoresError, shell_names
from holdsup.rendering.numbers import format_count, format_counted, format_number
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.faults import refuse
from holdsup.scores.refusals import find_told_apart
from holdsup.scores.roles import is_progress
from holdsup.scores.suggestions import code_column, find_differing, suggest_facets, suggest_part, suggest_replicates
from holdsup.verdict.evaluation import Evaluation, SystemRuns, lay_out_metric
from holdsup.verdict.phrases import join_names


def caution_repeats(evaluation: Evaluation, *, averaged: bool) -> Iterator[Caution]:
    """Yield a caution about scores that repeat a run and an item, and what was done with them."""
    scores = evaluation.scores
    where = "a run" if evaluation.per_run else f"a run and {'an item' if scores.item is not None else 'a dataset'}"
    yield from _caution(scores, _cells(evaluation), where, averaged=averaged, metric=evaluation.metric)


def count_repeats(evaluation: Evaluation) -> dict[str, int]:
    """Return how many scores of each system repeat a run and an item."""
    scores, cells = evaluation.scores, _cells(evaluation)
    if cells.count == len(scores):
        return dict.fromkeys(scores.system.names, 0)
    rows = np.bincount(scores.system.codes, minlength=scores.system.count)
    distinct = np.bincount(scores.system.codes[cells.first], minlength=scores.system.count)
    return dict(zip(scores.system.names, (rows - distinct).tolist(), strict=True))


def caution_rows(scores: Scores, names: Iterable[str], *, averaged: bool) -> Iterator[Caution]:
    """Yield the same about a table that is used row by row, and how many rows repeat the score as well.

    Besides runs, items and datasets, the columns of `names` tell rows apart.
    """
    columns = {"a run": scores.run, "a dataset": scores.dataset, "an item": scores.item}
    cells = _rows(scores, names)
    copies = len(scores) - cross(cells.codes, np.unique(scores.score, return_inverse=True)[1]).count
    where = join_names([name for name, labels in columns.items() if labels is not None])
    if copies:
        where += f" ({format_count(copies)} with the same score: copies of rows?)"
    yield from _caution(scores, cells, where, averaged=averaged)


def _caution(
    scores: Scores, cells: Crossing, where: str, *, averaged: bool, metric: str | None = None
) -> Iterator[Caution]:
    repeated = len(scores) - cells.count
    if not repeated:
        return
    repeats, were = ("repeats", "was") if repeated == 1 else ("repeat", "were")
    done = f"{were} averaged" if averaged else f"{'counts' if repeated == 1 else 'count'} separately"
    advice = "Name the columns that tell them apart (--replicates, --facets, --run), or see holdsup check."
    if name := next(_telling(scores, cells), None):
        part = suggest_part(scores, [name])
        first = f"{part} to use one of them alone, " if part else ""
        advice = (
            f"Column {name} tells them apart: give {first}{suggest_replicates(scores, [name])} if it only repeats "
            f"runs, as a seed does, or {suggest_facets(scores, [name])} if it is a setting."
        )
        if scores.item is None and not part:
            done += f"; give --item {shlex.quote(name)} if it names the items"
    by = f"{metric}: " if metric else ""
    message = f"{by}{format_counted(repeated, 'score')} {repeats} {where} and {done}."
    few = averaged and repeated <= FEW_REPEATS * len(scores)
    yield Caution(
        code="repeated-scores", severity="note" if few else "warning", about="data", message=message, advice=advice,
        count=repeated,
    )  # fmt: skip


def check_repeats(evaluation: Evaluation, *, averaged: bool) -> None:
    """Refuse an evaluation in which columns without a role tell apart several scores of a run and an item.

    These are checkpoints, runs that nobody named, or items of several kinds: their average is no score of any. Where
    they are not averaged, as in a decomposition, whose residual they are, checkpoints alone are refused, and whatever
    may be systems if no column is.
    """
    scores = evaluation.scores
    needed = averaged or scores.roles.system is None
    refuse(find_told_apart(scores, _cells(evaluation), scores.unit, needed=needed and not evaluation.per_run))


def check_rows(scores: Scores, names: Iterable[str]) -> None:
    """Refuse the same of a table that is used row by row; the columns of `names` tell rows apart, too."""
    refuse(find_told_apart(scores, _rows(scores, names), "item" if scores.item is not None else "dataset", needed=True))


def count_samples(evaluation: Evaluation) -> dict[str, int]:
    """Return how many answers of a run to one item each system has, at most; zeros where nothing tells answers."""
    scores = evaluation.scores
    most = np.zeros(scores.system.count, np.int64)
    if scores.sampled is not None:
        np.maximum.at(most, scores.system.codes, scores.sampled.counts.astype(np.int64))
    elif scores.sample is not None:
        cells = cross(scores.run.codes.astype(np.int64), evaluation.item)
        np.maximum.at(most, scores.system.codes[cells.first], cells.sizes())
    return dict(zip(scores.system.names, most.tolist(), strict=True))


def caution_progress(scores: Scores) -> Iterator[Caution]:
    """Yield what it means that a column named like the progress of a training was asked for as a setting, or a run."""
    for name in (*scores.facets, scores.roles.run):
        if name is not None and is_progress(name):
            yield Caution(
                code="progress-as-setting",
                message=f"Each {name} counts as a separate training, as you asked.",
                effect="If they are checkpoints of one training, p is too small.",
                advice=f"Then give --last {shell_names([name])} instead.",
            )


def _cells(evaluation: Evaluation) -> Crossing:
    return cross(evaluation.scores.run, evaluation.item, evaluation.scores.sample, evaluation.scores.rater)


def _rows(scores: Scores, names: Iterable[str]) -> Crossing:
    there = [labels for labels in (scores.run, scores.dataset, scores.item, scores.sample) if labels is not None]
    more = {**scores.others, **scores.properties}
    return cross(*there, *(code_column(more[name]) for name in names if name in more))


def _telling(scores: Scores, cells: Crossing) -> Iterator[str]:
    """Yield the columns, no outcomes, that have a value of its own in every row of a run and an item."""
    for name in find_differing(scores, cells):
        if cross(cells.codes, code_column(scores.others[name])).count == len(scores):
            yield name


FEW_REPEATS = 0.05  # of the scores: fewer that were averaged change next to nothing
COPY = "a copy of another run, which counts as one with it"
FEWEST_COMBINATIONS = 3  # of other facets in which a facet has changed no score: fewer may be chance
MOST_NAMES = 3  # of the runs that are one


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """An evaluation in which no run is a copy of another."""

    evaluation: Evaluation  # the runs that are left
    rows: int  # how many rows of copies were left out
    systems: frozenset[str]  # those that had copies
    cautions: tuple[Caution, ...]  # which runs count as one


def leave_out_copies(evaluation: Evaluation) -> Distinct:
    """Return the evaluation with each group of copies as one run, the first of them."""
    scores = evaluation.scores
    kept = np.ones(len(scores), bool)
    systems: set[str] = set()
    copied: list[str] = []
    cautions: list[Caution] = []
    for number, system in enumerate(evaluation.systems):
        if evaluation.nested_runs and evaluation.unit == "datasets":
            continue  # a name is another training on each dataset, and one score is soon the same by chance
        rows = np.flatnonzero(scores.system.codes == number)
        if evaluation.per_run:
            first, said = _inert_facets(evaluation, system, rows)
            cautions.extend(said)
        else:
            first = _same_scores(system)
            copied.extend(_say_copies(system, first))
        counts = first == np.arange(len(system.runs))
        if not counts.all():
            kept[rows] = counts[cross(scores.run.take(rows)).codes]
            systems.add(system.name)
    if copied:
        by = f"{evaluation.metric}: " if evaluation.metric else ""
        cautions.append(
            Caution(
                code="copied-runs",
                message=f"{by}Runs with exactly the same scores count as one: {'; '.join(copied)}.",
                effect="Either the system is deterministic or a file was copied.",
                advice=f"If it has no randomness, give --deterministic {shell_names(sorted(systems))}.",
            )
        )
    if kept.all():
        return Distinct(evaluation, 0, frozenset(), tuple(cautions))
    distinct = lay_out_metric(scores.take(kept), evaluation.metric, nested_runs=evaluation.nested_runs)
    distinct = replace(distinct, by_items=evaluation.by_items, weights=evaluation.weights, looking=evaluation.looking)
    return Distinct(distinct, scores.count(~kept), frozenset(systems), tuple(cautions))


def declare_deterministic(distinct: Distinct, names: Sequence[str]) -> Distinct:
    """Return the evaluation in which another run of some systems would have the same scores, as was declared."""
    evaluation = distinct.evaluation
    for system in evaluation.systems:
        known = system.scores[system.has]
        if system.name in names and not np.array_equal(np.nanmin(known, axis=1), np.nanmax(known, axis=1)):
            raise ScoresError(
                f"--deterministic {shell_names([system.name])}: its {format_count(len(system.runs))} runs differ, so "
                "it is not: leave it out, or give --where to use one run"
            )
    systems = (_as_one_run(system) if system.name in names else system for system in evaluation.systems)
    kept = (c for c in distinct.cautions if c.code != "copied-runs" or distinct.systems - set(names))
    return replace(distinct, evaluation=replace(evaluation, systems=tuple(systems)), cautions=tuple(kept))


def _as_one_run(system: SystemRuns) -> SystemRuns:
    """Return a system whose runs have the same scores, wherever they have any, as one that is deterministic."""
    scores = np.fmax.reduce(system.scores, axis=1, keepdims=True)
    seeds = None if system.seeds is None else system.seeds[:1]
    return replace(
        system, scores=scores, runs=system.runs[:1], settings=system.settings[:1], seeds=seeds, deterministic=True
    )


def _same_scores(system: SystemRuns) -> NDArray[np.int64]:
    """Return the run that each run is a copy of, itself or an earlier one.

    Within a setting runs with the same score on every item are one, and settings that have the same runs are one
    setting: it changes nothing. A run that agrees with one of another setting now and then stays, for without it its
    setting would be judged by the other runs alone. The same score on all items may be a ceiling, and is no copy.
    """
    if len(np.unique(system.scores[:1])) == len(system.runs):  # the first item tells all of them apart
        return np.arange(len(system.runs))
    names = [scores.tobytes() for scores in system.scores.T + 0.0]  # + 0.0: -0 and 0 are the same
    varied = np.nanmin(system.scores, axis=0) < np.nanmax(system.scores, axis=0)
    keys = [name if apart else number for number, (name, apart) in enumerate(zip(names, varied, strict=True))]
    held: dict[int, frozenset[object]] = {
        int(code): frozenset(keys[i] for i in np.flatnonzero(system.settings == code))
        for code in np.unique(system.settings)
    }
    earliest: dict[object, int] = {}
    return np.array([
        earliest.setdefault((held[int(code)], key), number)
        for number, (code, key) in enumerate(zip(system.settings, keys, strict=True))
    ])  # fmt: skip


def _say_copies(system: SystemRuns, first: NDArray[np.int64]) -> Iterator[str]:
    """Yield how many runs a system has without its copies, and one group of these by name."""
    groups: dict[int, list[str]] = defaultdict(list)
    for run, number in zip(system.runs, first.tolist(), strict=True):
        groups[number].append(run)
    if several := [names for names in groups.values() if len(names) > 1]:
        named = join_names(several[0], most=MOST_NAMES)
        more = f"; and {format_counted(len(several) - 1, 'more group')}" if len(several) > 1 else ""
        counts = f"{format_count(len(system.runs))} runs of {system.name} as {format_count(len(groups))}"
        yield f"{counts} ({named}{more})"


def _inert_facets(
    evaluation: Evaluation, system: SystemRuns, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[Caution]]:
    """Return the same, and what is said of it, where runs have one score each: a facet that never changes it is inert.

    A single score may be the same by chance, so that it takes several combinations of the other facets.
    """
    shown = rows[cross(evaluation.scores.run.take(rows)).first]
    facets = {name: labels.take(shown) for name, labels in evaluation.scores.facets.items()}
    score, first = system.scores[0], np.arange(len(system.runs))
    if len(score) > 1 and len(np.unique(score)) == 1:
        same = f"all its {format_count(len(score))} runs have the same score, {format_number(float(score[0]))}"
        effect = "Either the system is deterministic or a file was copied, so there is no spread to measure."
        about = f"system:{system.name}"
        return first, [Caution(code="constant-system", about=about, message=f"{system.name}: {same}.", effect=effect)]
    cautions = []
    for name in list(facets):
        left = np.unique(first)  # the runs that count so far
        others = cross(*(labels.take(left) for other, labels in facets.items() if other != name), rows=len(left))
        repeated = np.flatnonzero(others.sizes() > 1)
        changes = any(len(np.unique(score[left][others.codes == group])) > 1 for group in repeated)
        if len(repeated) >= FEWEST_COMBINATIONS and not changes:
            del facets[name]
            first = left[others.first[others.codes]][np.searchsorted(left, first)]
            message = f"{system.name}: {name} never changes the score, so its levels count as one."
            effect = f"{format_count(len(left))} runs count as {format_count(others.count)}."
            cautions.append(Caution(code="inert-facet", about=f"system:{system.name}", message=message, effect=effect))
    return first, cautions
