"""Items that some run lacks: a mean over easier items is no better system.

Where systems have different items of a dataset, their means are over the items that every run there has. Where these
are too few, all items count, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution
from holdsup.verdict.phrases import join_names

__all__ = ["LEFT_OUT", "PAIRED", "Pairing", "pair_items"]

Lacking: TypeAlias = tuple[str, int, int]  # a dataset, how many of its items some run lacks, how many it has
LEFT_OUT = "an item that some run on its dataset lacks: in no mean"
LEAST_ITEMS, LEAST_SHARE = 2, 0.2  # of a dataset that every run must have, or all of its items count
MOST_NAMES = 3  # of datasets
SAME = 1e-9  # by which weights of items differ that are equal


@dataclass(frozen=True, slots=True)
class Pairing:
    """Whether systems were averaged over the same items."""

    rows: int = 0  # scores that are in no mean
    common: tuple[Lacking, ...] = ()  # the datasets of which items were left out
    apart: tuple[Lacking, ...] = ()  # those on which systems were averaged over different items

    def cautions(self) -> Iterator[Caution]:
        """Yield which items were left out, and where systems have different items."""
        if self.common:
            left = sum(count - lacking for _, lacking, count in self.common)
            yield Caution(
                code="items-left-out",
                about="data",
                message=f"{_lack(self.common)}: means are over the {left:,} that all have.",
            )
        if self.apart:
            yield Caution(
                code="different-items",
                severity="error",
                message="Systems are averaged over different items: a lead may be that of easier ones.",
                effect=f"{_lack(self.apart)}.",
                advice="holdsup compare pairs systems by item.",
            )


PAIRED = Pairing()


def _lack(datasets: Sequence[Lacking]) -> str:
    """Return how many items of which datasets lack a score."""
    lacking, count = sum(lacking for _, lacking, _ in datasets), sum(count for _, _, count in datasets)
    named = join_names([name for name, _, _ in datasets], most=MOST_NAMES)
    lack = "lacks" if lacking == 1 else "lack"
    return f"{lacking:,} of {format_counted(count, 'item')} of {named} {lack} a score of some system or run"


def pair_items(
    system: Labels, dataset: Labels, item: Labels, runs: NDArray[np.int64], splits: Sequence[Labels]
) -> tuple[NDArray[np.bool_], Pairing]:
    """Return which rows are averaged, and what is said of the others.

    A dataset is left as it is where each item has the same weight in the mean of every system: all are there, or each
    run has items of its own that the runs of the other systems have, too.

    Parameters
    ----------
    runs : the run of each row on its dataset, at its settings
    splits : columns whose levels have items of their own
    """
    part, kept = cross(dataset, *splits), np.ones(len(runs), bool)
    weights = 1 / np.bincount(runs)[runs]
    found: tuple[dict[str, Lacking], dict[str, Lacking]] = {}, {}
    for rows in np.split(np.argsort(part.codes, kind="stable"), np.cumsum(part.sizes())[:-1]):
        items = cross(item.take(rows))
        if _weigh_alike(cross(system.take(rows)), items, weights[rows]):
            continue
        there = cross(runs[rows])
        cells = cross(items.codes, there.codes)
        whole = np.bincount(items.codes[cells.first], minlength=items.count) == there.count
        lacking = items.count - int(whole.sum())
        if not lacking:
            continue
        enough = items.count - lacking >= max(LEAST_ITEMS, LEAST_SHARE * items.count)
        if enough:
            kept[rows] = whole[items.codes]
        name = dataset.names[int(dataset.codes[rows[0]])]
        _, before, count = found[not enough].get(name, (name, 0, 0))
        found[not enough][name] = (name, before + lacking, count + items.count)
    common, apart = (tuple(each.values()) for each in found)
    return kept, Pairing(int((~kept).sum()), common, apart)


def _weigh_alike(systems: Crossing, items: Crossing, weights: NDArray[np.float64]) -> bool:
    """Return whether each item has the same weight in the mean of every system."""
    place = systems.codes * items.count + items.codes
    table = np.bincount(place, weights, systems.count * items.count).reshape(systems.count, -1)
    return bool(np.ptp(table / table.sum(axis=1, keepdims=True), axis=0).max() <= SAME)
