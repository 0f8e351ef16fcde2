"""What can be wrong with the runs of an evaluation and with its design: one function per kind of fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution
from holdsup.scores.faults import count_have, extremes, make_fault, show_rows, write_row
from holdsup.scores.roles import is_replicate
from holdsup.scores.suggestions import suggest_replicates
from holdsup.scores.table import Scores, hash_rows


def find_run_faults(scores: Scores) -> Iterator[Caution]:
    """Yield what is wrong with whole runs, in rows that have all labels."""
    usable = scores.only(scores.usable)
    if len(usable):
        groups = cross(usable.metric, usable.run)
        low, high = extremes(usable.score, groups.codes, groups.count)
        if low.min() < high.max():
            yield from _constant_runs(usable, groups, low == high)
            yield from _identical_runs(usable)
    yield from find_misread_runs(scores)
    yield from _single_runs(scores)
    yield from _no_repeats(scores)


def find_misread_runs(scores: Scores) -> Iterator[Caution]:
    """Yield the runs that are not what they seem: on another scale, or torn by empty cells."""
    yield from find_different_scales(scores.only(scores.usable))
    yield from _facet_gaps(scores)


def _constant_runs(scores: Scores, groups: Crossing, flat: NDArray[np.bool_]) -> Iterator[Caution]:
    stuck = np.flatnonzero(flat & (groups.sizes() > 1))
    if len(stuck):
        yield make_fault(
            "constant-runs",
            f"{count_have(len(stuck), 'run', groups.count)} the same score on every item.",
            count=len(stuck),
            examples=show_rows(scores, groups.first[stuck], roles=("system", "run", "metric"), with_score=True),
        )


def _identical_runs(scores: Scores) -> Iterator[Caution]:
    """Find runs with the same score on each item: their rows, in any order, have the same hashes."""
    if scores.item is None:
        return
    cells = cross(scores.dataset, scores.item, scores.metric).codes
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
        yield make_fault(
            "identical-runs",
            f"{count_have(count, 'run', runs.count)} exactly the scores of another run.",
            count=count,
            examples=(" = ".join([*n[:3], "..."] if len(n) > 3 else n) for n in names),
        )


def find_different_scales(scores: Scores) -> Iterator[Caution]:
    """Find runs scored 0-1 beside runs scored 0-100: the commonest slip in a merged table."""
    values = np.abs(scores.score)
    if not len(values) or values.max() <= 1:
        return
    groups = cross(scores.metric, scores.run)
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
        seem = "seems" if len(odd) == 1 else "seem"
        yield make_fault(
            "different-scales",
            f"{format_counted(len(odd), 'run')} {seem} to be on another scale (0-1 next to 0-100).",
            count=len(odd),
            examples=show_rows(scores, groups.first[odd], roles=("run", "metric"), with_score=True),
        )


def _facet_gaps(scores: Scores) -> Iterator[Caution]:
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
        counts = "it counts as a run of its" if count == 1 else "they count as a run of their"
        own = f", so {counts} own" if scores.roles.run is None else ""
        rows = np.flatnonzero(lacks & np.isin(scores.system.codes, torn))
        yield make_fault(
            "facet-gaps",
            f"{format_counted(count, 'row')} of {whose} {'has' if count == 1 else 'have'} no {name}{own}.",
            count=count,
            examples=show_rows(scores, rows, roles=("dataset", "system", "item")),
            advice=f"Fill in the {name} of these rows.",
        )


def _single_runs(scores: Scores) -> Iterator[Caution]:
    pairs = cross(scores.system, scores.run)
    runs_of = np.bincount(scores.system.codes[pairs.first], minlength=scores.system.count)
    single = np.flatnonzero(runs_of == 1)
    if len(single):
        yield make_fault(
            "single-run",
            f"{count_have(len(single), 'system', scores.system.count)} only one run.",
            count=len(single),
            examples=(f"system {scores.system.names[s]}" for s in single),
        )


def _no_repeats(scores: Scores) -> Iterator[Caution]:
    """Find tables whose runs differ in settings alone, so that each setting has one run."""
    facets = [name for name, labels in scores.facets.items() if labels.count > 1]
    if not facets or scores.roles.run is not None or any(map(is_replicate, facets)) or scores.roles.replicates:
        return
    settings = "a setting" if len(facets) == 1 else "settings"
    yield make_fault(
        "no-repeats",
        f"Each system has one run at each level of {' and '.join(facets)}, read as {settings}.",
        count=len(facets),
        advice=f"If {facets[0]} only repeats training, as a seed does, give "
        f"{suggest_replicates(scores, [facets[0]])}. Else train with two seeds or more at a setting.",
    )


def find_design_faults(scores: Scores) -> Iterator[Caution]:
    """Yield what is wrong with the way systems, runs, items, datasets and facets are combined.

    All rows must have all labels: see `Scores.take`.
    """
    yield from _confounded(scores)
    yield from _item_per_dataset(scores)
    yield from _absent_from_datasets(scores)
    yield from _missing_cells(scores)
    yield from find_items_of_one_system(scores)


def _confounded(scores: Scores) -> Iterator[Caution]:
    sides = [("system", scores.system), ("dataset", scores.dataset), ("item", scores.item)]
    sides += [(f"facet {name!r}", labels) for name, labels in scores.facets.items()]
    several = [(name, labels) for name, labels in sides if labels is not None and labels.count > 1]
    for (left, a), (right, b) in itertools.combinations(several, 2):
        nested = left == "system" and right.startswith("facet")
        if a.count != b.count and not (nested and b.count < a.count):  # too many levels for the other side
            continue
        pairs = cross(a, b).count
        one_to_one = a.count == b.count == pairs
        if one_to_one or (nested and pairs == a.count):
            said = f"{left} and {right} always change" if one_to_one else f"{right} changes only"
            yield make_fault(
                "confounded",
                f"{said[0].upper()}{said[1:]} together{'' if one_to_one else f' with {left}'}.",
                count=b.count,
                examples=_pairs(a, b),
                advice=f"Run the missing combinations, or leave {right.removeprefix('facet ')} out.",
            )


def _item_per_dataset(scores: Scores) -> Iterator[Caution]:
    """Find an "item" column that names the dataset: nearly every dataset has a single one."""
    if scores.item is None or scores.dataset is None or scores.dataset.count < 2:
        return
    pairs = cross(scores.dataset, scores.item)
    items_of = np.bincount(scores.dataset.codes[pairs.first], minlength=scores.dataset.count)
    single = int((items_of == 1).sum())
    if np.median(items_of) == 1:
        yield make_fault(
            "item-names-dataset",
            f"{count_have(single, 'dataset', scores.dataset.count)} only one item: column {scores.roles.item!r} seems "
            "to name the dataset.",
            count=single,
            examples=_pairs(scores.dataset, scores.item),
        )


def _absent_from_datasets(scores: Scores) -> Iterator[Caution]:
    if scores.dataset is None or scores.dataset.count < 2 or scores.system.count < 2:
        return
    present = np.zeros((scores.system.count, scores.dataset.count), bool)
    present[scores.system.codes, scores.dataset.codes] = True
    holes = np.argwhere(~present)
    if len(holes):
        systems, datasets = scores.system.names, scores.dataset.names
        yield make_fault(
            "systems-without-dataset",
            f"{len(holes):,} of {present.size:,} combinations of system and dataset have no row.",
            count=len(holes),
            examples=(f"system {systems[s]}, dataset {datasets[d]}" for s, d in holes),
        )


def _missing_cells(scores: Scores) -> Iterator[Caution]:
    """Find the cells item x run, within a dataset and a metric, for which there is no row."""
    if scores.item is None:
        return
    runs, short, planned = scores.holes
    count = int(short.sum())
    if count:
        worst = [r for r in np.argsort(-short, kind="stable")[:EXAMPLES] if short[r]]
        where = [(write_row(scores, runs.first[r], ("dataset", "metric", "run")), short[r]) for r in worst]
        yield make_fault(
            "missing-cells",
            f"{format_counted(count, 'row')} {'is' if count == 1 else 'are'} missing (of {planned:,}: every item in "
            "every run).",
            count=count,
            examples=(f"{format_counted(holes, 'item')} of {words}" for words, holes in where),
        )


def find_items_of_one_system(scores: Scores) -> Iterator[Caution]:
    """Find the items that a single system was scored on."""
    items = scores.items
    if items is None or scores.system.count < 2:
        return
    pairs = cross(items.codes, scores.system)
    systems_of = np.bincount(items.codes[pairs.first], minlength=items.count)
    lonely = np.flatnonzero(systems_of == 1)
    every = len(lonely) == items.count
    if len(lonely):
        yield make_fault(
            "items-of-one-system",
            f"{count_have(len(lonely), 'item', items.count)} a score for only one system.",
            count=len(lonely),
            examples=show_rows(scores, items.first[lonely], roles=("dataset", "item", "system")),
            severity="error" if every else "warning",
            advice="Check that items have the same names for every system." if every else "",
        )


def _pairs(a: Labels, b: Labels) -> tuple[str, ...]:
    first = cross(a, b).first
    known = [row for row in first if a.codes[row] >= 0 and b.codes[row] >= 0]
    return tuple(f"{a.names[a.codes[r]]} with {b.names[b.codes[r]]}" for r in known[:EXAMPLES])
