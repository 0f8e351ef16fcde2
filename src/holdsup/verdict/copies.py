"""Runs that are copies: they hold nothing that the first of them does not, and count as one run.

Copies come from one file under two names, or from a system that does the same whatever its seed is. Taken for
runs of their own they would lend a claim degrees of freedom that nobody measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_count, format_counted, format_number
from holdsup.verdict.evaluation import Evaluation, SystemRuns, lay_out_metric
from holdsup.verdict.phrases import join_names

__all__ = ["COPY", "Distinct", "leave_out_copies"]

COPY = "a copy of another run, which counts as one with it"
FEWEST_COMBINATIONS = 3  # of other facets in which a facet has changed no score: fewer may be chance
MOST_NAMES = 3  # of the runs that are one


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """An evaluation in which no run is a copy of another.

    Attributes
    ----------
    evaluation : the runs that are left
    rows : how many rows of copies were left out
    systems : those that had copies
    lines : which runs count as one
    """

    evaluation: Evaluation
    rows: int
    systems: frozenset[str]
    lines: tuple[str, ...]


def leave_out_copies(evaluation: Evaluation) -> Distinct:
    """Return the evaluation with each group of copies as one run, the first of them."""
    scores = evaluation.scores
    kept = np.ones(len(scores), bool)
    systems: set[str] = set()
    copied: list[str] = []
    lines: list[str] = []
    for number, system in enumerate(evaluation.systems):
        rows = np.flatnonzero(scores.system.codes == number)
        if evaluation.per_run:
            first, said = _inert_facets(evaluation, system, rows)
            lines.extend(said)
        else:
            first = _same_scores(system)
            copied.extend(_say_copies(system, first))
        counts = first == np.arange(len(system.runs))
        kept[rows] = counts[cross(scores.run.take(rows)).codes]
        if not counts.all():
            systems.add(system.name)
    if copied:
        lines.append(
            f"Runs with exactly the same score on every one of their {evaluation.unit} count as one (a deterministic "
            f"system, or one file copied): {'; '.join(copied)}."
        )
    if kept.all():
        return Distinct(evaluation, 0, frozenset(), tuple(lines))
    distinct = lay_out_metric(scores.take(kept), evaluation.metric, nested_runs=evaluation.nested_runs)
    distinct = replace(distinct, by_items=evaluation.by_items)
    return Distinct(distinct, int((~kept).sum()), frozenset(systems), tuple(lines))


def _same_scores(system: SystemRuns) -> NDArray[np.int64]:
    """Return the run that each run is a copy of, itself or an earlier one.

    Within a setting runs with the same score on every item are one, and settings that have the same runs are one
    setting: it changes nothing. A run that agrees with one of another setting now and then stays, for without it its
    setting would be judged by the other runs alone. The same score on all items may be a ceiling, and is no copy.
    """
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
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the same, and what is said of it, where runs have one score each: a facet that never changes it is inert.

    A single score may be the same by chance, so that it takes several combinations of the other facets.
    """
    shown = rows[cross(evaluation.scores.run.take(rows)).first]
    facets = {name: labels.take(shown) for name, labels in evaluation.scores.facets.items()}
    score, first = system.scores[0], np.arange(len(system.runs))
    if len(score) > 1 and len(np.unique(score)) == 1:
        same = f"all its {format_count(len(score))} runs have the same score, {format_number(float(score[0]))}"
        return first, [f"{system.name}: {same}. A deterministic system, or one file copied: no spread is measured."]
    lines = []
    for name in list(facets):
        left = np.unique(first)  # the runs that count so far
        others = cross(*(labels.take(left) for other, labels in facets.items() if other != name), rows=len(left))
        repeated = np.flatnonzero(others.sizes() > 1)
        changes = any(len(np.unique(score[left][others.codes == group])) > 1 for group in repeated)
        if len(repeated) >= FEWEST_COMBINATIONS and not changes:
            del facets[name]
            first = left[others.first[others.codes]][np.searchsorted(left, first)]
            lines.append(
                f"{system.name}: {name} never changes the score, so that its levels are one: "
                f"{format_count(len(left))} runs count as {format_count(others.count)}."
            )
    return first, lines
