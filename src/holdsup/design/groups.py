"""Grouping factors: ``item``, or the combinations of columns that ``system:item`` stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross

__all__ = ["Group", "LevelFinder", "find_levels", "make_group", "match_labels", "same_levels"]

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Group:
    """A grouping factor: the level of each row, and the names of the levels.

    Attributes
    ----------
    label : ``item`` or ``system:item``
    variables : the columns whose combinations are the levels
    codes : level of each row, shape (n,)
    shown : a row that shows each level
    factors : the columns, as labels
    """

    label: str
    variables: tuple[str, ...]
    codes: Codes
    shown: Codes
    factors: tuple[Labels, ...]

    @property
    def count(self) -> int:
        """How many levels there are."""
        return len(self.shown)

    def level_names(self) -> list[tuple[str, ...]]:
        """Return the labels of each level: a tuple, so that "a:b" x "c" is never "a" x "b:c"."""
        return list(zip(*([f.names[c] for c in f.codes[self.shown]] for f in self.factors), strict=True))


def make_group(variables: tuple[str, ...], factors: tuple[Labels, ...]) -> Group:
    """Return the grouping factor of some columns."""
    label = ":".join(variables)
    crossing = cross(*factors)
    codes = crossing.codes if len(factors) > 1 else factors[0].codes
    return Group(label, variables, codes, crossing.first, factors)


def same_levels(one: Group, other: Group) -> bool:
    """Return whether two groups put the same rows together."""
    if one is other:
        return True
    return one.count == other.count and np.array_equal(other.codes[one.shown][one.codes], other.codes)


def match_labels(labels: Labels, known: Labels) -> NDArray[np.int64]:
    """Return the level of each label among those of `known`, -1 where it is not one of them."""
    place = pc.fill_null(pc.index_in(labels.levels, value_set=known.levels), -1)
    return np.append(place.to_numpy().astype(np.int64), -1)[labels.codes]  # the last place serves code -1


class LevelFinder:
    """The level of a group that a combination of codes of its columns stands for.

    Combinations are numbered column by column, so that the keys of many columns do not overflow.
    """

    def __init__(self, shown: Sequence[Codes], counts: Sequence[int], levels: Codes) -> None:
        """Take codes of each column in rows that show all levels, the columns' numbers of levels, and the levels."""
        self.steps: list[tuple[int, NDArray[np.int64]]] = []
        known = shown[0].astype(np.int64)
        for codes, count in zip(shown[1:], counts[1:], strict=True):
            keys, known = np.unique(known * count + codes, return_inverse=True)
            self.steps.append((count, keys))
        self.level = np.full((len(self.steps[-1][1]) if self.steps else counts[0]) + 1, -1, np.int64)
        self.level[known] = levels  # the extra last place serves code -1

    def find(self, codes: Sequence[Codes]) -> NDArray[np.int64]:
        """Return the level of each row, -1 for combinations that the group does not have."""
        number = codes[0]
        for (count, keys), column in zip(self.steps, codes[1:], strict=True):
            number = _search(keys, np.where((number < 0) | (column < 0), -1, number.astype(np.int64) * count + column))
        return np.asarray(self.level[number])


def find_levels(group: Group, codes: Sequence[Codes]) -> NDArray[np.int64]:
    """Return the level of `group` of rows with these codes of its columns, -1 for combinations it does not have."""
    shown = [labels.codes[group.shown] for labels in group.factors]
    return LevelFinder(shown, [labels.count for labels in group.factors], np.arange(group.count)).find(codes)


def _search(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of `wanted` stands among the sorted keys, -1 for none."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
