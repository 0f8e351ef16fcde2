"""What can be wrong with the runs of an evaluation: one function per kind of fault."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import Crossing, cross
from holdsup.rendering.numbers import format_counted
from holdsup.results.findings import EXAMPLES, Finding
from holdsup.scores.findings import extremes, present, show
from holdsup.scores.fingerprint import hash_rows
from holdsup.scores.roles import is_replicate
from holdsup.scores.suggestions import suggest_replicates
from holdsup.scores.table import Scores

__all__ = ["find_misread_runs", "find_run_faults"]


def find_run_faults(scores: Scores) -> Iterator[Finding]:
    """Yield what is wrong with whole runs, in rows that have all labels."""
    usable = scores.only(scores.usable)
    if len(usable):
        groups = cross(*present(usable.metric, usable.run))
        low, high = extremes(usable.score, groups.codes, groups.count)
        if low.min() < high.max():
            yield from _constant_runs(usable, groups, low == high)
            yield from _identical_runs(usable)
    yield from find_misread_runs(scores)
    yield from _single_runs(scores)
    yield from _no_repeats(scores)


def find_misread_runs(scores: Scores) -> Iterator[Finding]:
    """Yield the runs that are not what they seem: on another scale, or torn by empty cells."""
    yield from _different_scales(scores.only(scores.usable))
    yield from _facet_gaps(scores)


def _constant_runs(scores: Scores, groups: Crossing, flat: NDArray[np.bool_]) -> Iterator[Finding]:
    stuck = np.flatnonzero(flat & (groups.sizes() > 1))
    if len(stuck):
        yield Finding(
            code="constant-runs",
            severity="warning",
            message=f"{len(stuck):,} of {format_counted(groups.count, 'run')} with the same score on every item",
            count=len(stuck),
            examples=show(scores, groups.first[stuck], roles=("system", "run", "metric"), with_score=True),
            effect="Such a run has usually failed. It moves its system's mean and inflates the variance between runs.",
            advice="Look at these runs. Train them again, or leave them out and say so.",
        )


def _identical_runs(scores: Scores) -> Iterator[Finding]:
    """Find runs with the same score on each item: their rows, in any order, have the same hashes."""
    if scores.item is None:
        return
    cells = cross(*present(scores.dataset, scores.item, scores.metric)).codes
    runs = cross(scores.run)
    sums = np.zeros(runs.count, np.uint64)
    for rows, hashes in hash_rows({}, {"cell": cells, "score": scores.score}):
        np.add.at(sums, runs.codes[rows], hashes)
    low, high = extremes(scores.score, runs.codes, runs.count)
    varied = np.flatnonzero(low < high)  # so that there are two items or more
    _, alike = np.unique(sums[varied], return_inverse=True)
    groups = sorted(
        (varied[alike == group] for group in np.flatnonzero(np.bincount(alike) > 1)), key=lambda g: int(g[0])
    )
    if groups:
        count = sum(len(group) for group in groups)
        names = [[scores.run.names[scores.run.codes[runs.first[run]]] for run in group] for group in groups]
        yield Finding(
            code="identical-runs",
            severity="warning",
            message=f"{count:,} of {format_counted(runs.count, 'run')} with exactly the scores of another run",
            count=count,
            examples=tuple(" = ".join([*n[:3], "..."] if len(n) > 3 else n) for n in names[:EXAMPLES]),
            effect="Copies count as runs of their own, so that runs seem to vary less than they do.",
            advice="Was a file copied, or a seed not set? Remove the copies.",
        )


def _different_scales(scores: Scores) -> Iterator[Finding]:
    """Find runs scored 0-1 beside runs scored 0-100: the commonest slip in a merged table."""
    values = np.abs(scores.score)
    if not len(values) or values.max() <= 1:
        return
    groups = cross(*present(scores.metric, scores.run))
    _, largest = extremes(values, groups.codes, groups.count)
    mean = np.bincount(groups.codes, values, groups.count) / groups.sizes()
    metric = scores.metric.codes[groups.first] if scores.metric is not None else np.zeros(groups.count)
    odd: list[int] = []
    for one in np.unique(metric):
        members = np.flatnonzero(metric == one)
        inside = [int(g) for g in members if 0 < largest[g] <= 1]
        outside = [int(g) for g in members if largest[g] > 1]
        if inside and outside and min(mean[outside]) > 20 * max(mean[inside]):
            odd.extend(inside if len(inside) <= len(outside) else outside)
    if odd:
        yield Finding(
            code="different-scales",
            severity="error",
            message=f"{format_counted(len(odd), 'run')} on another scale, it seems (0-1 beside 0-100)",
            count=len(odd),
            examples=show(scores, groups.first[odd], roles=("run", "metric"), with_score=True),
            effect="A difference between systems is then a difference between scales.",
            advice="Bring all scores to one scale.",
        )


def _facet_gaps(scores: Scores) -> Iterator[Finding]:
    """Find systems that have rows with and rows without a value of a facet."""
    for name, facet in scores.facets.items():
        lacks = facet.codes < 0
        if not lacks.any():
            continue
        without = np.bincount(scores.system.codes[lacks], minlength=scores.system.count)
        having = np.bincount(scores.system.codes[~lacks], minlength=scores.system.count)
        torn = np.flatnonzero((without > 0) & (having > 0))
        if not len(torn):
            continue
        count = int(without[torn].sum())
        whose = f"system {scores.system.names[torn[0]]}" if len(torn) == 1 else f"{len(torn):,} systems"
        lack = "has" if count == 1 else "have"
        taken = "it is" if count == 1 else "they are"
        own = f": {taken} taken for a run of {'its' if count == 1 else 'their'} own" if scores.roles.run is None else ""
        rows = np.flatnonzero(lacks & np.isin(scores.system.codes, torn))
        yield Finding(
            code="facet-gaps",
            severity="warning",
            message=f"{format_counted(count, 'row')} of {whose} {lack} no {name}{own}",
            count=count,
            examples=show(scores, rows, roles=("dataset", "system", "item")),
            effect="One run is then split in two, and the number of runs is wrong.",
            advice=f"Fill in the {name} of these rows.",
        )


def _single_runs(scores: Scores) -> Iterator[Finding]:
    pairs = cross(scores.system, scores.run)
    runs_of = np.bincount(scores.system.codes[pairs.first], minlength=scores.system.count)
    single = np.flatnonzero(runs_of == 1)
    if len(single):
        yield Finding(
            code="single-run",
            severity="warning",
            message=f"{len(single):,} of {format_counted(scores.system.count, 'system')} with only one run",
            count=len(single),
            examples=tuple(f"system {scores.system.names[s]}" for s in single[:EXAMPLES]),
            effect="Results then hold for these trained instances only; a new seed may give others.",
            advice="Train each system with two seeds or more. If the table has several runs, name the column that "
            "tells them apart with --replicates or --run.",
        )


def _no_repeats(scores: Scores) -> Iterator[Finding]:
    """Find tables whose runs differ in settings alone, so that each setting has one run."""
    facets = [name for name, labels in scores.facets.items() if labels.count > 1]
    if not facets or scores.roles.run is not None or any(map(is_replicate, facets)) or scores.roles.replicates:
        return
    first = facets[0]
    yield Finding(
        code="no-repeats",
        severity="warning",
        message=f"one run of a system at each level of {' and '.join(facets)}, taken for "
        f"{'a setting' if len(facets) == 1 else 'settings'}",
        count=len(facets),
        examples=(),
        effect="How much runs of one setting differ is not measured, so that nothing can be said about new runs.",
        advice=f"If {first} only repeats training, as a seed does, give {suggest_replicates(scores, [first])}. Else "
        "train with two seeds or more at a setting.",
    )
