"""The levels of a label column that is read in batches, numbered in the order in which batches show them."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns.encoding import Labels, codes_of, follows, order_labels
from holdsup.columns.values import same_buffers, to_dictionary
from holdsup.numerics.layout import run_starts

Codes = NDArray[np.int32]
UNKNOWN, NEW = -2, -3  # marks in a table of integers
WIDEST = 2**24  # integers this far apart are found in a table, others by their text


class LevelBook:
    """Levels by their labels, and integers also by their value, so that no row of integers is ever written as text.

    `blank` are labels that count as none. Levels that a batch declares but does not have are numbered, too.
    """

    def __init__(self, blank: Collection[str] = ("",)) -> None:
        self.blank = frozenset(blank)
        self.pieces: list[pa.StringArray] = []
        self.count = 0
        self.orders: list[pa.StringArray] | None = []  # declared orders, none within another; None: one is undeclared
        self.settled = False
        self._names: dict[str, int] | None = None  # made when text comes
        self._low, self._table = 0, np.empty(0, np.int32)
        self._last: tuple[pa.StringArray, Codes] | None = None

    def levels(self) -> pa.StringArray:
        """Return the labels in the order of their numbers."""
        return pa.concat_arrays([pa.array([], pa.string()), *self.pieces])

    def code(self, column: pa.ChunkedArray, *, declared: bool = False) -> Codes:
        """Return the number of each row's level, -1 where there is none; new levels are numbered."""
        if pa.types.is_integer(column.type):
            self.orders = None
            return self._code_integers(column)
        encoded = to_dictionary(column).chunks
        if not declared:
            self.orders = None
        elif self.orders is not None:
            for chunk in encoded:
                self.orders = _with_order(self.orders, chunk.dictionary)
        return _joined([self._recode(chunk) for chunk in encoded])

    def _recode(self, chunk: pa.DictionaryArray) -> Codes:
        places, codes = self._places(chunk.dictionary), codes_of(chunk)
        if np.array_equal(places[:-1], np.arange(len(places) - 1)):  # most batches have the levels of the first one
            return codes
        return places.take(codes, mode="wrap")  # the fastest way: fancy indexing takes twice as long

    def enter(self, levels: pa.StringArray, orders: list[pa.StringArray] | None) -> Codes:
        """Return the number of each level of another book, whose declared orders are given, new ones numbered."""
        if orders is None:
            self.orders = None
        elif self.orders is not None:
            for order in orders:
                self.orders = _with_order(self.orders, order)
        return self._places(levels)

    def _code_integers(self, column: pa.ChunkedArray) -> Codes:
        if column.null_count:
            codes = np.full(len(column), -1, np.int32)
            codes[pc.is_valid(column).to_numpy()] = self._code_integers(column.drop_null())
            return codes
        if not len(column):
            return np.empty(0, np.int32)
        values: NDArray[np.integer] = column.to_numpy()
        low, high = int(values.min()), int(values.max())
        if not self._reach(low, high):
            return _joined([self._recode(chunk) for chunk in to_dictionary(column).chunks])
        places = values.astype(np.int64) - self._low if self._low else values
        shown = places[run_starts(places)].astype(np.int64)  # rows of an item often stand together
        fresh = shown[self._table[shown] == UNKNOWN]
        if len(fresh):
            self._table[fresh] = NEW
            new = np.flatnonzero(self._table[low - self._low : high - self._low + 1] == NEW) + (low - self._low)
            self._table[new] = self._number(pa.array(new + self._low).cast(pa.string()))
        return self._table.take(places, mode="wrap")

    def _reach(self, low: int, high: int) -> bool:
        """Return whether the table of integers reaches from `low` to `high`; it grows to do so while it may."""
        stop = self._low + len(self._table)
        if len(self._table) and self._low <= low and high < stop:
            return True
        wanted = (low, high + 1) if not len(self._table) else (min(low, self._low), max(high + 1, stop))
        if wanted[1] - wanted[0] > WIDEST or wanted[0] < -(2**62) or wanted[1] > 2**62:
            return False
        # Twice as far as needed, so that a table of ascending numbers is not copied with every batch.
        room = min(max(wanted[1] - wanted[0], 2 * len(self._table)), WIDEST)
        table = np.full(room, UNKNOWN, np.int32)
        table[self._low - wanted[0] :][: len(self._table)] = self._table
        self._low, self._table = wanted[0], table
        return True

    def _number(self, labels: pa.StringArray) -> Codes:
        """Return the numbers of labels that integers are written as, new ones unless text has shown them."""
        if self._names is not None:
            return self._places(labels)[:-1]
        return self._append(labels)

    def _append(self, labels: pa.StringArray) -> Codes:
        start = self.count
        self.pieces.append(labels)
        self.count += len(labels)
        return np.arange(start, self.count, dtype=np.int32)

    def _places(self, labels: pa.StringArray) -> Codes:
        """Return the number of each label, new ones numbered; the extra last place serves code -1."""
        last = self._last
        if last is not None and same_buffers(last[0], labels):  # chunks encoded together share theirs
            return last[1]
        if self._names is None:
            self._names = {name: number for number, name in enumerate(self.levels().to_pylist())}
        names, known = labels.to_pylist(), self._names
        if not self.settled:
            new = [name for name in dict.fromkeys(names) if name not in known and name not in self.blank]
            if new:
                known.update(zip(new, self._append(pa.array(new, pa.string())).tolist(), strict=True))
        found = np.fromiter((known.get(name, -1) for name in names), np.int32, len(names))
        places = np.append(found, np.int32(-1))
        self._last = (labels, places)
        return places

    def copy(self) -> LevelBook:
        """Return a book of its own for another thread; names that are not going to change are shared."""
        book = copy(self)
        book._table, book._last, book.pieces = self._table.copy(), None, list(self.pieces)
        return book

    def arrange(self, codes: Codes) -> Labels:
        """Return rows, given by the numbers of their levels, as labels: levels sorted, or in the order declared."""
        order = self.orders[0] if self.orders is not None and len(self.orders) == 1 else None
        return order_labels(codes, self.levels(), order)

    def settle(self, places: Codes) -> LevelBook:
        """Return a book that gives each level the code `places` has for its number; other levels are unknown to it."""
        book = self.copy()
        book.settled = True
        padded = np.append(places, np.int32(-1))
        book._table = np.where(self._table >= 0, padded[np.maximum(self._table, -1)], UNKNOWN).astype(np.int32)
        if self._names is not None:
            book._names = dict(zip(self._names, padded[list(self._names.values())].tolist(), strict=True))
        else:
            book.pieces = []  # all levels are integers, and in the table
            book._names = {}
        return book


def _joined(pieces: list[Codes]) -> Codes:
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, np.int32), *pieces])


def _with_order(orders: list[pa.StringArray], order: pa.StringArray) -> list[pa.StringArray]:
    """Return declared orders with another one, those that are contained in others left out."""
    if any(follows(order, known) for known in orders):
        return orders
    return [*(known for known in orders if not follows(known, order)), order]
