"""The first pass over a table that is read in batches: its skeleton, its row counts, statistics of its numbers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable
from holdsup.columns.books import LevelBook
from holdsup.columns.encoding import fold_truths, is_truth
from holdsup.design.batchrows import BatchRows, Plan, complete_batch, read_batch
from holdsup.design.novelty import NewCombinations, NewDifference
from holdsup.design.statistics import Statistics, summarize
from holdsup.design.tables import TableColumns
from holdsup.design.terms import Factor
from holdsup.design.transforms import ELEMENTWISE, undefined
from holdsup.results import Rows

__all__ = ["Survey", "SurveyPart"]

FEW = 64  # levels of a column that may be all true and false, however they are written


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
    """What was found in some batches.

    Attributes
    ----------
    rows : the skeleton, labels by number, with the row counts of the batches
    levels : the labels that the numbers stand for
    orders : for each column of labels, the orders that were declared; None if one was not
    occurring : which labels occur in any row, of columns that may hold true and false only
    tracks : statistics of the numbers
    """

    rows: BatchRows
    levels: Mapping[str, pa.StringArray]
    orders: Mapping[str, list[pa.StringArray] | None]
    occurring: Mapping[str, frozenset[str]]
    tracks: Mapping[Factor, Track]


class Survey:
    """What is known of the rows read so far; bounded by the number of levels, not of rows."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.books = plan.books()
        self.planned, self.used, self.reasons = 0, 0, Counter[str]()
        self.kept: list[BatchRows] = []
        self.levels = {name: NewCombinations([name]) for name in plan.labels}
        self.groups = {group: NewCombinations(group) for group in plan.groups if len(group) > 1}
        self.differences = {pair: NewDifference() for pair in itertools.combinations(plan.groups, 2)}
        self.truths: dict[str, set[str]] = {name: set() for name in plan.labels}  # columns of true and false so far
        self.tracks = {factor: Track(summarize(np.empty(0))) for factor in plan.tracked}

    def prepare(self, batch: OpenTable) -> OpenTable:
        """Return a batch as it is: what is new in it depends on those before."""
        return batch

    def add(self, batch: OpenTable) -> None:
        """Add the rows of a batch."""
        read = read_batch(batch, self.plan, self.books)
        for name in list(self.truths):
            self._look_for_truths(name, read.labels[name])
        rows = complete_batch(read, self.plan)
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
        numbers = {n: np.concatenate([[], *(kept.numbers[n] for kept in self.kept)]) for n in self.plan.numbers}
        reasons = {reason: self.reasons[reason] for reason in self.plan.reasons() if self.reasons[reason]}
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
