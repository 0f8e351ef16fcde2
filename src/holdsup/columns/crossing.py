"""Labels crossed with labels: which combinations occur, and where."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.encoding import Labels

DENSE = 4  # a table of all combinations is used while it has at most this many places a row
SMALL = 2**17  # or this many places in all
PIECE = 2**18  # rows looked at together: they stay in the cache
MOST_32 = 2**31 - 1  # places that 32 bits tell apart
Ints = NDArray[np.int64]
Keys = NDArray[np.int32] | NDArray[np.int64]


class Crossing:
    """The combinations of several labels that occur; what is not asked for is not computed.

    Attributes
    ----------
    codes : combination of each row, shape (n,), numbered in the order of the levels
    first : the first row that shows each combination, shape (count,)
    count : how many combinations occur
    """

    def __init__(self, key: Keys, places: int, *, full: bool = False) -> None:
        """Take the place of each row in a table of all combinations, and whether that table is known to be full."""
        self._key, self._places, self._full = key, places, full

    @cached_property
    def count(self) -> int:
        """How many combinations occur."""
        if self._is_dense:
            return self._places if self._full else int(np.count_nonzero(self._occurs))
        ordered = np.sort(self._key)
        return int(np.count_nonzero(np.diff(ordered))) + min(len(ordered), 1)

    @cached_property
    def codes(self) -> Ints:
        """The combination of each row."""
        if not self._is_dense:
            return self._sorted[1]
        if self.count == self._places:
            return self._key.astype(np.int64, copy=False)
        number = np.cumsum(self._occurs) - 1
        codes = np.empty(len(self._key), np.int64)
        for rows in self._pieces:
            codes[rows] = number[self._key[rows]]
        return codes

    @cached_property
    def first(self) -> Ints:
        """The first row that shows each combination."""
        if not self._is_dense:
            return self._sorted[0]
        first = np.full(self._places, -1, np.int64)
        for rows in reversed(self._pieces):  # the earliest row of a key is written last
            first[self._key[rows][::-1]] = np.arange(rows.stop - 1, rows.start - 1, -1)
        return first if self.count == self._places else first[self._occurs]

    def sizes(self) -> Ints:
        """Return how many rows each combination has."""
        return np.bincount(self.codes, minlength=self.count)

    @property
    def _pieces(self) -> list[slice]:
        """Rows looked at together: NumPy copies what it takes for places, unless it is of 64 bits."""
        rows = len(self._key)
        return [slice(start, min(start + PIECE, rows)) for start in range(0, rows, PIECE)]

    @property
    def _is_dense(self) -> bool:
        return _fits_table(self._places, len(self._key))

    @cached_property
    def _occurs(self) -> NDArray[np.bool_]:
        occurs = np.zeros(self._places, bool)
        for rows in self._pieces:
            occurs[self._key[rows]] = True
        return occurs

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints]:
        _, first, codes = np.unique(self._key, return_index=True, return_inverse=True)
        return first, codes.reshape(-1)


def cross(*columns: Labels | Ints | None, rows: int | None = None) -> Crossing:
    """Return the combinations that occur; a missing label (-1) is a level of its own, a column that is None is none."""
    there = [column for column in columns if column is not None]
    if not there:
        return Crossing(np.zeros(rows or 0, np.int64), min(rows or 0, 1), full=True)
    parts = [_codes(column) for column in there]
    if len(parts) == 1:
        return Crossing(*parts[0], full=isinstance(there[0], Labels))
    key, places = _combine(parts, from_right=True)
    if len(parts) > 2 and not _fits_table(places, len(key)):
        key, places = _combine(parts, from_right=False)
    return Crossing(key, places)


def _combine(parts: Sequence[tuple[Keys, int]], *, from_right: bool) -> tuple[Keys, int]:
    """Return the place of each row in the table of all combinations, and how many places there are.

    Columns are joined one by one. What was joined is numbered anew where the table would outgrow the rows: items
    of a dataset are fewer than datasets times items.
    """
    (key, places), *others = reversed(parts) if from_right else parts
    for joined, (codes, count) in enumerate(others, start=1):
        if joined > 1 and not _fits_table(places * count, len(key)):
            together = Crossing(key, places)
            key, places = together.codes, together.count
        high, low, step = (codes, key, places) if from_right else (key, codes, count)
        places *= count
        wide = np.int32 if places <= MOST_32 else np.int64
        key = high * wide(step)  # not in place: it may be a column's own
        np.add(key, low, out=key, casting="unsafe")  # no place is as large as they are many
    return key, places


def _fits_table(places: int, rows: int) -> bool:
    return places <= max(SMALL, DENSE * rows)


def _codes(column: Labels | Ints) -> tuple[Keys, int]:
    if not isinstance(column, Labels):
        return column, int(column.max(initial=-1)) + 1
    return (column.codes + 1, column.count + 1) if column.has_gaps else (column.codes, column.count)
