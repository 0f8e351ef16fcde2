"""What can be wrong with the design of an evaluation: one function per kind of fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution
from holdsup.scores.faults import count_have, make_fault, show_rows, write_row
from holdsup.scores.table import Scores


def find_design_faults(scores: Scores) -> Iterator[Caution]:
    """Yield what is wrong with the way systems, runs, items, datasets and facets are combined.

    All rows must have all labels: see `Scores.take`.
    """
    yield from _confounded(scores)
    yield from _item_per_dataset(scores)
    yield from _absent_from_datasets(scores)
    yield from _missing_cells(scores)
    yield from _items_of_one_system(scores)


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


def _items_of_one_system(scores: Scores) -> Iterator[Caution]:
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
