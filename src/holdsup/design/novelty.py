"""Which rows of a batch show something that no earlier row has shown: a level, a combination, two groups that differ.

The rows that do are kept as a skeleton of the table. It is as long as there are levels, not rows, and a design that is
built on it has the columns, levels and groups of the whole table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import run_starts

__all__ = ["NewCombinations", "NewDifference"]

Codes = NDArray[np.integer]
Numbered = NDArray[np.int64]
LARGEST_TABLE = 2**26  # combinations that are looked up in a table of all possible ones


class NewCombinations:
    """The combinations of some columns of labels that rows have shown, numbered as they come."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.count = 0
        self.room: tuple[int, ...] = (1,) * len(self.columns)  # levels of each column that the table has room for
        self.table: NDArray[np.int32] | None = np.full(1, -1, np.int32)
        self.known: dict[tuple[int, ...], int] = {}  # instead of a table that would be too large

    def add(self, labels: Mapping[str, Codes]) -> Numbered:
        """Return the first row of each combination that is new."""
        codes = [labels[name] for name in self.columns]
        self._make_room([int(column.max(initial=-1)) + 1 for column in codes])
        if self.table is None:
            return self._enter(codes)
        key = self._key(codes)
        rows = run_starts(key)  # rows of an item often stand together
        rows = rows[self.table[key[rows]] < 0]
        fresh = key[rows]
        self.table[fresh[::-1]] = rows[::-1]  # the earliest row of a key is written last
        first = rows[self.table[fresh] == rows]
        self.table[key[first]] = np.arange(self.count, self.count + len(first), dtype=np.int32)
        self.count += len(first)
        return np.asarray(first)

    def number(self, labels: Mapping[str, Codes]) -> Codes:
        """Return the number of the combination of each row, all of which were added."""
        codes = [labels[name] for name in self.columns]
        if self.table is not None:
            return np.asarray(self.table[self._key(codes)])
        distinct, place = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
        return np.array([self.known[combination] for combination in map(tuple, distinct.tolist())])[place.reshape(-1)]

    def _key(self, codes: Sequence[Codes]) -> Codes:
        if len(codes) == 1:
            return codes[0]
        key = codes[0].astype(np.int64)
        for column, room in zip(codes[1:], self.room[1:], strict=True):
            key = key * room + column
        return key

    def _make_room(self, counts: Sequence[int]) -> None:
        """Let the table grow by doubling; where it would be too large, combinations are kept one by one."""
        if self.table is None or all(count <= room for count, room in zip(counts, self.room, strict=True)):
            return
        room = tuple(r if c <= r else 1 << max(c - 1, 1).bit_length() for c, r in zip(counts, self.room, strict=True))
        used = np.flatnonzero(self.table >= 0)
        places = np.unravel_index(used, self.room)
        if math.prod(room) > LARGEST_TABLE:
            tuples = zip(*(place.tolist() for place in places), strict=True)
            self.known = dict(zip(tuples, self.table[used].tolist(), strict=True))
            self.table = None
            return
        table = np.full(math.prod(room), -1, np.int32)
        table[np.ravel_multi_index(places, room)] = self.table[used]
        self.room, self.table = room, table

    def _enter(self, codes: Sequence[Codes]) -> Numbered:
        distinct, shown = np.unique(np.stack(codes, axis=1), axis=0, return_index=True)
        first = []
        for combination, row in zip(map(tuple, distinct.tolist()), shown.tolist(), strict=True):
            if combination not in self.known:
                self.known[combination] = self.count
                self.count += 1
                first.append(row)
        return np.array(sorted(first), np.int64)


class NewDifference:
    """Whether two groups put the same rows together: one row that tells them apart is enough.

    It is looked for both ways: that a level of the one has two of the other, and the reverse.
    """

    def __init__(self) -> None:
        self.found = False
        self.partners = [np.empty(0, np.int64), np.empty(0, np.int64)]

    def add(self, one: Codes, other: Codes) -> Numbered:
        """Return the row that is the first to tell the groups apart; none if it was seen before, or is not here."""
        for way, (mine, theirs) in enumerate(((one, other), (other, one))):
            if self.found or not len(mine):
                break
            partner = self.partners[way]
            missing = int(mine.max()) + 1 - len(partner)
            if missing > 0:
                partner = np.append(partner, np.full(max(missing, len(partner)), -1))
            new = np.flatnonzero(partner[mine] < 0)[::-1]
            partner[mine[new]] = theirs[new]  # the earliest row of a level is written last
            self.partners[way] = partner
            differ = np.flatnonzero(partner[mine] != theirs)
            if len(differ):
                self.found, self.partners = True, []
                return differ[:1]
        return np.empty(0, np.int64)
