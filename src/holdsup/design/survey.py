"""The first pass over a table that is read in batches: its skeleton, its row counts, statistics of its numbers.

The skeleton are the rows that show something new: a level, a combination, two groups that differ. It is as long as
there are levels, not rows, and a design that is built on it has the columns, levels and groups of the whole table.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable
from holdsup.columns.books import LevelBook
from holdsup.columns.encoding import fold_truths, is_truth
from holdsup.design.batchrows import BatchColumns, BatchRows, complete_batch, read_batch
from holdsup.design.formulas import Factor
from holdsup.design.transforms import ELEMENTWISE, Statistics, summarize, undefined
from holdsup.design.variables import TableColumns
from holdsup.numerics.layout import run_starts
from holdsup.results import Rows

Codes = NDArray[np.integer]
Numbered = NDArray[np.int64]
LARGEST_TABLE = 2**26  # combinations that are looked up in a table of all possible ones
FEW = 64  # levels of a column that may be all true and false, however they are written


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


@dataclass(frozen=True)
class Track:
    """Statistics of a number, or of a function of it, and where the function is not defined."""

    statistics: Statistics
    undefined: int = 0
    example: float = 0.0

    def plus(self, other: Track) -> Track:
        """Return what is known of the rows of both."""
        example = self.example if self.undefined else other.example
        return Track(self.statistics.plus(other.statistics), self.undefined + other.undefined, example)


@dataclass(frozen=True, eq=False)
class SurveyPart:
    """What was found in some batches."""

    rows: BatchRows  # the skeleton, labels by number, with the row counts of the batches
    levels: Mapping[str, pa.StringArray]  # the labels that the numbers stand for
    # for each column of labels, the orders that were declared; None if one was not
    orders: Mapping[str, list[pa.StringArray] | None]
    # which labels occur in any row, of columns that may hold true and false only
    occurring: Mapping[str, frozenset[str]]
    tracks: Mapping[Factor, Track]  # statistics of the numbers


class Survey:
    """What is known of the rows read so far; bounded by the number of levels, not of rows."""

    def __init__(self, needed: BatchColumns) -> None:
        self.needed = needed
        self.books = needed.books()
        self.planned, self.used, self.reasons = 0, 0, Counter[str]()
        self.kept: list[BatchRows] = []
        self.levels = {name: NewCombinations([name]) for name in needed.labels}
        self.groups = {group: NewCombinations(group) for group in needed.groups if len(group) > 1}
        self.differences = {pair: NewDifference() for pair in itertools.combinations(needed.groups, 2)}
        self.truths: dict[str, set[str]] = {name: set() for name in needed.labels}  # columns of true and false so far
        self.tracks = {factor: Track(summarize(np.empty(0))) for factor in needed.tracked}

    def prepare(self, batch: OpenTable) -> OpenTable:
        """Return a batch as it is: what is new in it depends on those before."""
        return batch

    def add(self, batch: OpenTable) -> None:
        """Add the rows of a batch."""
        read = read_batch(batch, self.needed, self.books)
        for name in list(self.truths):
            self._look_for_truths(name, read.labels[name])
        rows = complete_batch(read, self.needed)
        self._count(rows.rows)
        self._keep(rows)
        for factor, track in self.tracks.items():
            self.tracks[factor] = track.plus(_track(factor, rows.numbers[factor.variable]))

    def _count(self, rows: Rows) -> None:
        self.planned += rows.planned
        self.used += rows.used
        self.reasons.update(rows.reasons)

    def _look_for_truths(self, name: str, codes: NDArray[np.integer]) -> None:
        """Note which labels occur while all that do say true, false, or nothing."""
        book = self.books[name]
        if book.count <= FEW:
            there = np.bincount(codes + 1, minlength=book.count + 1)[1:] > 0
            self.truths[name].update(book.levels().filter(pa.array(there)).to_pylist())
        if book.count > FEW or any(is_truth(label) is False for label in self.truths[name]):
            del self.truths[name]

    def _keep(self, batch: BatchRows) -> None:
        """Keep the rows that show something new."""
        fresh = [levels for name, levels in self.levels.items() if levels.count < self.books[name].count]
        places = [levels.add(batch.labels) for levels in (*fresh, *self.groups.values())]
        for (one, other), difference in self.differences.items():
            if not difference.found:
                places.append(difference.add(self._number(one, batch), self._number(other, batch)))
        new = np.zeros(len(next(iter(batch.numbers.values()))), bool)
        for rows in places:
            new[rows] = True
        if new.any() or not self.kept:
            self.kept.append(batch.take(np.flatnonzero(new)))

    def _number(self, group: tuple[str, ...], batch: BatchRows) -> NDArray[np.integer]:
        return self.groups[group].number(batch.labels) if len(group) > 1 else batch.labels[group[0]]

    def part(self) -> SurveyPart:
        """Return what was found, with the skeleton in one piece."""
        return SurveyPart(
            rows=self._skeleton(),
            levels={name: book.levels() for name, book in self.books.items()},
            orders={name: book.orders for name, book in self.books.items()},
            occurring={name: frozenset(labels) for name, labels in self.truths.items()},
            tracks=self.tracks,
        )

    def add_part(self, part: SurveyPart) -> None:
        """Add what was found in other batches: their skeleton is a batch of complete rows."""
        self._count(part.rows.rows)
        labels = {}
        for name, book in self.books.items():
            labels[name] = book.enter(part.levels[name], part.orders[name])[part.rows.labels[name]]
            if name in self.truths and name in part.occurring:
                self.truths[name] |= part.occurring[name]
            else:
                self.truths.pop(name, None)
        self._keep(BatchRows(labels, part.rows.numbers, part.rows.rows))
        for factor, track in self.tracks.items():
            self.tracks[factor] = track.plus(part.tracks[factor])

    def _skeleton(self) -> BatchRows:
        none = np.empty(0, np.int32)
        labels = {name: np.concatenate([none, *(kept.labels[name] for kept in self.kept)]) for name in self.books}
        numbers = {n: np.concatenate([[], *(kept.numbers[n] for kept in self.kept)]) for n in self.needed.numbers}
        reasons = {reason: self.reasons[reason] for reason in self.needed.reasons() if self.reasons[reason]}
        return BatchRows(labels, numbers, Rows(self.planned, self.used, reasons))

    def blanks(self) -> dict[str, frozenset[str]]:
        """Return the labels that, in columns of true and false, say that there is none."""
        found = {}
        for name, labels in self.truths.items():
            missing = frozenset(label for label in labels if is_truth(label) is None)
            if missing and len(missing) < len(labels):
                found[name] = missing
        return found

    def statistics(self) -> dict[Factor, Statistics]:
        """Return the statistics of the numbers; a function that is not defined in some row is an error."""
        for factor, track in self.tracks.items():
            if track.undefined:
                raise undefined(factor, track.undefined, track.example)
        return {factor: track.statistics for factor, track in self.tracks.items()}

    def finish(self) -> tuple[TableColumns, Rows, dict[str, LevelBook]]:
        """Return the skeleton as a table, the row counts, and books that give each level its place in that table."""
        skeleton = self._skeleton()
        labels: dict[str, Labels] = {}
        books: dict[str, LevelBook] = {}
        for name, book in self.books.items():
            codes = np.asarray(skeleton.labels[name], np.int32)
            arranged = book.arrange(codes)
            labels[name] = fold_truths(arranged) if name in self.truths else arranged
            places = np.full(book.count, -1, np.int32)
            places[codes] = labels[name].codes
            books[name] = book.settle(places)
        numbers = {n: Numbers(values, np.zeros(len(values), bool)) for n, values in skeleton.numbers.items()}
        return TableColumns(labels, numbers), skeleton.rows, books


def _track(factor: Factor, values: NDArray[np.float64]) -> Track:
    if not factor.function:
        return Track(summarize(values))
    with np.errstate(all="ignore"):
        results = ELEMENTWISE[factor.function](values)
    bad = np.flatnonzero(~np.isfinite(results))
    if not len(bad):
        return Track(summarize(results))
    return Track(summarize(results[np.isfinite(results)]), len(bad), float(values[bad[0]]))
