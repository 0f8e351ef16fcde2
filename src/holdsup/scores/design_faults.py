"""What can be wrong with the design of an evaluation: one function per kind of fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_counted
from holdsup.results.findings import EXAMPLES, Finding
from holdsup.scores.findings import show, words_of
from holdsup.scores.table import Scores

__all__ = ["find_design_faults", "missing_cells"]


def find_design_faults(scores: Scores) -> Iterator[Finding]:
    """Yield what is wrong with the way systems, runs, items, datasets and facets are combined.

    All rows must have all labels: see `Scores.take`.
    """
    yield from _confounded(scores)
    yield from _item_per_dataset(scores)
    yield from _absent_from_datasets(scores)
    yield from _missing_cells(scores)
    yield from _items_of_one_system(scores)


def _confounded(scores: Scores) -> Iterator[Finding]:
    sides = [
        ("system", scores.system),
        *((r, x) for r, x in (("dataset", scores.dataset), ("item", scores.item)) if x),
    ]
    sides.extend((f"facet {name!r}", labels) for name, labels in scores.facets.items())
    several = [(name, labels) for name, labels in sides if labels.count > 1]
    for (left, a), (right, b) in itertools.combinations(several, 2):
        nested = left == "system" and right.startswith("facet")
        if a.count != b.count and not (nested and b.count < a.count):  # too many levels for the other side
            continue
        pairs = cross(a, b).count
        one_to_one = a.count == b.count == pairs
        if one_to_one or (nested and pairs == a.count):
            yield Finding(
                code="confounded",
                severity="warning",
                message=f"{left} and {right} always change together"
                if one_to_one
                else f"{right} changes only together with {left}",
                count=b.count,
                examples=_pairs(a, b),
                effect=f"What is due to {right} cannot be told from what is due to {left}.",
                advice=f"Run the missing combinations, or leave {right.removeprefix('facet ')} out.",
            )


def _item_per_dataset(scores: Scores) -> Iterator[Finding]:
    """Find an "item" column that names the dataset: nearly every dataset has a single one."""
    if scores.item is None or scores.dataset is None or scores.dataset.count < 2:
        return
    pairs = cross(scores.dataset, scores.item)
    items_of = np.bincount(scores.dataset.codes[pairs.first], minlength=scores.dataset.count)
    if np.median(items_of) == 1:
        yield Finding(
            code="item-names-dataset",
            severity="warning",
            message=f"{int((items_of == 1).sum()):,} of {scores.dataset.count:,} datasets with only one item: column "
            f"{scores.roles.item!r} seems to name the dataset",
            count=int((items_of == 1).sum()),
            examples=_pairs(scores.dataset, scores.item),
            effect="With one item in each dataset, items cannot be told from datasets.",
            advice="If these are scores of whole datasets, say that there are no items: --item -",
        )


def _absent_from_datasets(scores: Scores) -> Iterator[Finding]:
    if scores.dataset is None or scores.dataset.count < 2 or scores.system.count < 2:
        return
    present = np.zeros((scores.system.count, scores.dataset.count), bool)
    present[scores.system.codes, scores.dataset.codes] = True
    holes = np.argwhere(~present)
    if len(holes):
        yield Finding(
            code="systems-without-dataset",
            severity="warning",
            message=f"{len(holes):,} of {present.size:,} combinations of system and dataset have no row",
            count=len(holes),
            examples=tuple(
                f"system {scores.system.names[s]}, dataset {scores.dataset.names[d]}" for s, d in holes[:EXAMPLES]
            ),
            effect="Plain means then compare systems on different datasets. A mixed model allows for it, unless the "
            "rows are missing because a system did badly.",
            advice="Run the missing combinations, or compare on the datasets that all systems have.",
        )


def _missing_cells(scores: Scores) -> Iterator[Finding]:
    """Find the cells item x run, within a dataset and a metric, for which there is no row."""
    if scores.item is None:
        return
    runs, short, planned = scores.holes
    count = int(short.sum())
    if count:
        worst = [r for r in np.argsort(-short, kind="stable")[:EXAMPLES] if short[r]]
        where = [(words_of(scores, runs.first[r], ("dataset", "metric", "run")), short[r]) for r in worst]
        yield Finding(
            code="missing-cells",
            severity="warning",
            message=f"{format_counted(count, 'missing row')} (of {planned:,}: every item in every run)",
            count=count,
            examples=tuple(f"{format_counted(holes, 'item')} of {words}" for words, holes in where),
            effect="Plain means then compare runs on different items. A mixed model allows for it, unless the rows "
            "are missing because the items were hard.",
            advice="Score the missing items, or find out why they are missing.",
        )


def missing_cells(scores: Scores, groups: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return how many cells (an item in a run) have no row, for each of `count` groups of runs; zeros without items."""
    if scores.item is None:
        return np.zeros(count, np.int64)
    runs, short, _ = scores.holes
    return np.bincount(groups[runs.first], short, count).astype(np.int64)


def _items_of_one_system(scores: Scores) -> Iterator[Finding]:
    items = scores.items
    if items is None or scores.system.count < 2:
        return
    pairs = cross(items.codes, scores.system)
    systems_of = np.bincount(items.codes[pairs.first], minlength=items.count)
    lonely = np.flatnonzero(systems_of == 1)
    if len(lonely):
        yield Finding(
            code="items-of-one-system",
            severity="error" if len(lonely) == items.count else "warning",
            message=f"{len(lonely):,} of {format_counted(items.count, 'item')} scored for only one system",
            count=len(lonely),
            examples=show(scores, items.first[lonely], roles=("dataset", "item", "system")),
            effect="They say nothing about a difference between systems.",
            advice="Check that items have the same names for every system."
            if len(lonely) == items.count
            else "Score them for the others too, or leave them out.",
        )


def _pairs(a: Labels, b: Labels) -> tuple[str, ...]:
    first = cross(a, b).first
    known = [row for row in first if a.codes[row] >= 0 and b.codes[row] >= 0]
    return tuple(f"{a.names[a.codes[r]]} with {b.names[b.codes[r]]}" for r in known[:EXAMPLES])
