"""What can be wrong with the design of an evaluation: one function per kind of fault."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.scores.findings import EXAMPLES, Finding, counted, present, show, words_of
from holdsup.scores.table import Scores

__all__ = ["find_design_faults", "missing_cells"]


def find_design_faults(scores: Scores) -> Iterator[Finding]:
    """Yield what is wrong with the way systems, runs, items, datasets and facets are combined."""
    yield from _confounded(scores)
    yield from _item_per_dataset(scores)
    yield from _absent_from_datasets(scores)
    yield from _missing_cells(scores)
    yield from _items_of_one_system(scores)
    yield from _single_runs(scores)
    yield from _one_level(scores)
    yield from _unused(scores)


def _confounded(scores: Scores) -> Iterator[Finding]:
    sides = [
        ("system", scores.system),
        *((r, x) for r, x in (("dataset", scores.dataset), ("item", scores.item)) if x),
    ]
    sides.extend((f"facet {name!r}", labels) for name, labels in scores.facets.items())
    several = [(name, labels) for name, labels in sides if labels.count > 1]
    for (left, a), (right, b) in itertools.combinations(several, 2):
        pairs = cross(a, b).count
        one_to_one = a.count == b.count == pairs
        if one_to_one or (left == "system" and right.startswith("facet") and pairs == a.count):
            yield Finding(
                code="confounded",
                severity="warning",
                message=f"{right} changes only together with {left}"
                + (" and the other way round: they are one and the same" if one_to_one else ""),
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
    items_of = np.bincount(scores.dataset.codes[pairs.first] + 1, minlength=scores.dataset.count + 1)[1:]
    if np.median(items_of) == 1:
        yield Finding(
            code="item-names-dataset",
            severity="warning",
            message=f"{int((items_of == 1).sum()):,} of {scores.dataset.count:,} datasets with a single item: column "
            f"{scores.roles.item!r} seems to name the dataset",
            count=int((items_of == 1).sum()),
            examples=_pairs(scores.dataset, scores.item),
            effect="With one item a dataset there is nothing to tell items from datasets by.",
            advice="If these are scores of whole datasets, say that there are no items: --item -",
        )


def _absent_from_datasets(scores: Scores) -> Iterator[Finding]:
    if scores.dataset is None or scores.dataset.count < 2 or scores.system.count < 2:
        return
    present = np.zeros((scores.system.count, scores.dataset.count), bool)
    known = (scores.system.codes >= 0) & (scores.dataset.codes >= 0)
    present[scores.system.codes[known], scores.dataset.codes[known]] = True
    holes = np.argwhere(~present)
    if len(holes):
        yield Finding(
            code="systems-without-dataset",
            severity="warning",
            message=f"{len(holes):,} of {counted(present.size, 'combination')} of system and dataset without a row",
            count=len(holes),
            examples=tuple(
                f"system {scores.system.names[s]}, dataset {scores.dataset.names[d]}" for s, d in holes[:EXAMPLES]
            ),
            effect="Plain means compare systems on different datasets; a mixed model allows for it if the holes are "
            "not there because a system did badly.",
            advice="Run the missing combinations, or compare on the datasets that all systems have.",
        )


def _missing_cells(scores: Scores) -> Iterator[Finding]:
    """Find the cells item x run, within a dataset and a metric, for which there is no row."""
    if scores.item is None:
        return
    runs, short, planned = _holes(scores, scores.item)
    count = int(short.sum())
    if count:
        worst = [r for r in np.argsort(-short, kind="stable")[:EXAMPLES] if short[r]]
        where = [(words_of(scores, runs.first[r], ("dataset", "metric", "run")), short[r]) for r in worst]
        yield Finding(
            code="missing-cells",
            severity="warning",
            message=f"{count:,} of {planned:,} cells (an item in a run) without a row",
            count=count,
            examples=tuple(f"{words}: {counted(holes, 'item')} missing" for words, holes in where),
            effect="Plain means compare runs on different items; a mixed model allows for it if the cells are not "
            "missing because they were hard.",
            advice="Score the missing items, or find out why they were left out.",
        )


def missing_cells(scores: Scores) -> NDArray[np.int64]:
    """Return for each system how many cells (an item in a run) have no row; zeros without items."""
    if scores.item is None:
        return np.zeros(scores.system.count, np.int64)
    runs, short, _ = _holes(scores, scores.item)
    per_system = np.bincount(scores.system.codes[runs.first] + 1, short, scores.system.count + 1)
    return per_system[1:].astype(np.int64)


def _holes(scores: Scores, item: Labels) -> tuple[Crossing, NDArray[np.int64], int]:
    """Return the runs of each dataset and metric, how many items each lacks, and how many cells there should be."""
    blocks = cross(*present(scores.dataset, scores.metric), rows=len(scores))
    items, runs = cross(blocks.codes, item), cross(blocks.codes, scores.run)
    items_of = np.bincount(blocks.codes[items.first], minlength=blocks.count)
    cells = cross(runs.codes, items.codes)
    planned = items_of[blocks.codes[runs.first]]
    return runs, planned - np.bincount(runs.codes[cells.first], minlength=runs.count), int(planned.sum())


def _items_of_one_system(scores: Scores) -> Iterator[Finding]:
    if scores.item is None or scores.system.count < 2:
        return
    items = cross(*present(scores.dataset, scores.item))
    pairs = cross(items.codes, scores.system)
    systems_of = np.bincount(items.codes[pairs.first], minlength=items.count)
    lonely = np.flatnonzero(systems_of == 1)
    if len(lonely):
        yield Finding(
            code="items-of-one-system",
            severity="error" if len(lonely) == items.count else "warning",
            message=f"{len(lonely):,} of {counted(items.count, 'item')} scored for one system only",
            count=len(lonely),
            examples=show(scores, items.first[lonely], roles=("dataset", "item", "system")),
            effect="They say nothing about a difference between systems.",
            advice="Check that items have the same names for every system."
            if len(lonely) == items.count
            else "Score them for the others too, or leave them out.",
        )


def _single_runs(scores: Scores) -> Iterator[Finding]:
    pairs = cross(scores.system, scores.run)
    runs_of = np.bincount(scores.system.codes[pairs.first] + 1, minlength=scores.system.count + 1)[1:]
    single = np.flatnonzero(runs_of == 1)
    if len(single):
        yield Finding(
            code="single-run",
            severity="warning",
            message=f"{len(single):,} of {counted(scores.system.count, 'system')} with a single run",
            count=len(single),
            examples=tuple(f"system {scores.system.names[s]}" for s in single[:EXAMPLES]),
            effect="What is found holds for these trained instances; it cannot be said of a new seed.",
            advice="Train each system with two seeds or more; if the table has them, name their column with --run "
            "or --facets.",
        )


def _one_level(scores: Scores) -> Iterator[Finding]:
    columns = [(column, role) for column, role in scores.roles.columns().items() if role not in ("score", "status")]
    named = [(c, scores.facets.get(c) if role == "facet" else getattr(scores, role, None)) for c, role in columns]
    named.extend((c, labels) for c, labels in {**scores.properties, **scores.others}.items())
    single = [c for c, x in named if (x.count == 1 if isinstance(x, Labels) else x is not None and _is_flat(x.values))]
    if single:
        yield Finding(
            code="one-level",
            severity="note",
            message=f"{counted(len(single), 'column')} with one value only: {', '.join(single[:6])}",
            count=len(single),
            examples=(),
            effect="They can explain no difference; results hold for that one value.",
            advice="Nothing, unless more values were expected.",
        )


def _unused(scores: Scores) -> Iterator[Finding]:
    names = list(scores.others)
    shown = ", ".join(names if len(names) <= 8 else [*names[:8], "..."])
    if names:
        yield Finding(
            code="unused-columns",
            severity="note",
            message=f"{counted(len(names), 'column')} without a part: {shown}",
            count=len(names),
            examples=(),
            effect="What varies with them is taken for chance.",
            advice="Name those that differ between runs with --facets, those that describe items with --properties.",
        )


def _pairs(a: Labels, b: Labels) -> tuple[str, ...]:
    first = cross(a, b).first
    known = [row for row in first if a.codes[row] >= 0 and b.codes[row] >= 0]
    return tuple(f"{a.names[a.codes[r]]} with {b.names[b.codes[r]]}" for r in known[:EXAMPLES])


def _is_flat(values: NDArray[np.float64]) -> bool:
    return bool(np.isfinite(values).all() and values.min() == values.max())
