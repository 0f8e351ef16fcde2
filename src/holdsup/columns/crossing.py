"""Labels crossed with labels: which combinations occur, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.encoding import Labels

__all__ = ["Crossing", "cross"]

DENSE = 4  # a table of all combinations is used while it has at most this many places a row
SMALL = 2**17  # or this many places in all


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """The combinations of several labels that occur.

    Attributes
    ----------
    codes : combination of each row, shape (n,), numbered in the order of the levels
    first : a row that shows each combination, shape (count,)
    """

    codes: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many combinations occur."""
        return len(self.first)

    def sizes(self) -> NDArray[np.int64]:
        """Return how many rows each combination has."""
        return np.bincount(self.codes, minlength=self.count)


def cross(*columns: Labels | NDArray[np.int64], rows: int | None = None) -> Crossing:
    """Return the combinations that occur; a missing label (-1) is a level of its own."""
    if not columns:
        return Crossing(np.zeros(rows or 0, np.int64), np.zeros(min(rows or 0, 1), np.int64))
    key, places = _codes(columns[0])
    for column in columns[1:]:
        codes, count = _codes(column)
        if places * count > 2**62:
            key, places = _dense(key, places).codes, len(key)
        key, places = key * count + codes, places * count
    return _dense(key, places)


def _codes(column: Labels | NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    if isinstance(column, Labels):
        return column.codes.astype(np.int64) + 1, column.count + 1
    return column, int(column.max(initial=-1)) + 1


def _dense(key: NDArray[np.int64], places: int) -> Crossing:
    """Number the keys that occur: by a table of all places where it is small, else by sorting."""
    if places > max(SMALL, DENSE * len(key)):
        _, first, codes = np.unique(key, return_index=True, return_inverse=True)
        return Crossing(codes.reshape(-1), first)
    first = np.full(places, -1, np.int64)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # the earliest row of a key is written last
    occurs = first >= 0
    number = np.cumsum(occurs) - 1
    return Crossing(number[key], first[occurs])
