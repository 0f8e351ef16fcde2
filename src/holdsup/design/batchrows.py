"""The rows of one batch of a table: labels as the numbers of their levels, and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import OpenTable
from holdsup.columns.books import LevelBook
from holdsup.columns.reading import convert_numbers, converting
from holdsup.design.formulas import Factor, Formula
from holdsup.design.transforms import ELEMENTWISE
from holdsup.design.variables import (
    check_columns,
    complete_rows,
    looks_numeric,
    mentioned_factors,
    negative_weights,
    uses_of,
)
from holdsup.results import Rows

Array = NDArray[np.float64]
Codes = NDArray[np.integer]


@dataclass(frozen=True)
class BatchColumns:
    """What is asked of every batch."""

    labels: tuple[str, ...]  # columns used as labels, in the order in which their gaps are counted
    numbers: tuple[str, ...]  # columns used as numbers
    groups: tuple[tuple[str, ...], ...]  # the columns of each grouping term, once each
    tracked: tuple[Factor, ...]  # the columns of numbers, and functions of them, whose statistics are needed
    weights: str | None  # the column of weights
    # labels that count as none in some columns, besides the empty one
    blank: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, formula: Formula, tables: Sequence[OpenTable], weights: str | None) -> BatchColumns:
        """Return what a formula needs, for tables whose columns are known."""
        uses, tables = uses_of(formula, weights), list(tables)
        check_columns(tables, uses.columns())
        as_labels = dict.fromkeys(uses.labels)
        free = [name for name in dict.fromkeys(uses.either) if name not in uses.numbers]
        numeric = [name for name in free if looks_numeric(tables, name)]
        numbers = tuple(dict.fromkeys((*uses.numbers, *numeric)))
        others = [name for name in free if name not in numeric and name not in as_labels]
        once = [name for name in as_labels if name not in numbers]
        twice = [name for name in as_labels if name in numbers]
        functions = [
            factor
            for factor in (*mentioned_factors(formula), formula.response)
            if factor.variable in numbers and factor.function in ELEMENTWISE
        ]
        return cls(
            labels=(*once, *others, *twice),
            numbers=numbers,
            groups=tuple({frozenset(r.group): r.group for r in formula.random}.values()),
            tracked=tuple(dict.fromkeys((*map(Factor, numbers), *functions))),
            weights=weights,
        )

    def columns(self) -> tuple[str, ...]:
        """Return the columns to read."""
        return tuple(dict.fromkeys((*self.numbers, *self.labels)))

    def reasons(self) -> list[str]:
        """Return what may be wrong with a row, in the order in which it is looked for."""
        lacking = [f"no {name}" for name in dict.fromkeys((*self.numbers, *self.labels))]
        return [*lacking, *([f"a {self.weights} of zero"] if self.weights else [])]

    def books(self) -> dict[str, LevelBook]:
        """Return an empty book for each column of labels."""
        return {name: LevelBook({"", *self.blank.get(name, ())}) for name in self.labels}


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows of a batch."""

    labels: Mapping[str, Codes]  # for each column of labels, the number of each row's level
    numbers: Mapping[str, Array]  # the columns of numbers
    rows: Rows  # how many there are, and why others are not

    def take(self, places: Codes) -> BatchRows:
        """Return some rows."""
        labels = {name: codes[places] for name, codes in self.labels.items()}
        return BatchRows(labels, {name: values[places] for name, values in self.numbers.items()}, self.rows)


def read_batch(table: OpenTable, needed: BatchColumns, books: Mapping[str, LevelBook]) -> BatchRows:
    """Return all rows of a batch; levels that it is the first to show are entered into the books."""
    held = table.read(dict.fromkeys((c for c in needed.columns() if c in table.columns), ""))
    n = len(next(iter(held.values()), ()))
    numbers = {
        name: _numbers(table, name, held[name]) if name in held else np.full(n, np.nan) for name in needed.numbers
    }
    labels: dict[str, Codes] = {}
    for name in needed.labels:
        if name in held:
            with converting(table, name):
                labels[name] = books[name].code(held[name], declared=table.declares_order(name))
        else:
            labels[name] = np.full(n, -1, np.int32)
    return BatchRows(labels, numbers, Rows(n, n))


def _numbers(table: OpenTable, name: str, column: pa.ChunkedArray) -> Array:
    if column.type == pa.float64() and column.num_chunks == 1 and not column.null_count:  # as they are, not copied
        return np.asarray(column.chunk(0))
    return convert_numbers(table, name, column)[0]


def complete_batch(batch: BatchRows, needed: BatchColumns) -> BatchRows:
    """Return the rows without a gap; each of the others counts under its first reason, as in memory."""
    gaps = dict(_gaps(batch, needed))
    if not gaps:
        return batch
    places, rows = complete_rows(gaps)
    kept = batch.take(places)
    return BatchRows(kept.labels, kept.numbers, rows)


def _gaps(batch: BatchRows, needed: BatchColumns) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield for each reason that some row has the rows that it takes out."""
    lacking = {name: codes < 0 for name, codes in batch.labels.items() if codes.min(initial=0) < 0}
    for name, values in batch.numbers.items():
        finite = np.isfinite(values)
        if name in lacking or not finite.all():
            yield f"no {name}", ~finite | lacking.pop(name, False)
    for name, gap in lacking.items():
        yield f"no {name}", gap
    if needed.weights is not None:
        values = batch.numbers[needed.weights]
        if (values < 0).any():
            raise negative_weights(needed.weights)
        if not values.all():
            yield f"a {needed.weights} of zero", values == 0
