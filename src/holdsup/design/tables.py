"""Columns of a table, read as labels or as numbers, and the rows that have them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable, read_columns
from holdsup.columns.encoding import fold_truths
from holdsup.errors import ColumnError
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["TableColumns", "check_columns", "complete_rows", "looks_numeric", "read_table"]


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Columns of a table: those used as labels and those used as numbers; a column may be both."""

    labels: Mapping[str, Labels]
    numbers: Mapping[str, Numbers]

    def gaps(self) -> dict[str, NDArray[np.bool_]]:
        """Return for each reason, such as "no score", the rows that it takes out."""
        found = {f"no {name}": ~np.isfinite(column.values) for name, column in self.numbers.items()}
        for name, column in self.labels.items():
            gap, reason = column.codes < 0, f"no {name}"
            found[reason] = found[reason] | gap if reason in found else gap
        return found

    def fold_truths(self, names: Iterable[str]) -> TableColumns:
        """Return the columns with "False" and "True" in those of `names` that hold true and false, however written."""
        folded = {name: fold_truths(self.labels[name]) for name in names}
        return TableColumns({**self.labels, **folded}, self.numbers)

    def take(self, rows: NDArray[np.integer]) -> TableColumns:
        """Return some rows."""
        numbers = {name: Numbers(c.values[rows], c.absent[rows]) for name, c in self.numbers.items()}
        return TableColumns({name: c.take(rows) for name, c in self.labels.items()}, numbers)


def read_table(
    tables: list[OpenTable],
    *,
    labels: Iterable[str] = (),
    numbers: Iterable[str] = (),
    either: Iterable[str] = (),
    progress: Progress = no_progress,
) -> TableColumns:
    """Return columns as labels, as numbers, or (`either`) as what they hold; in one pass, if none is used as both."""
    as_labels, as_numbers = dict.fromkeys(labels), dict.fromkeys(numbers)
    free = dict.fromkeys(name for name in either if name not in as_numbers)
    check_columns(tables, (*as_numbers, *free, *as_labels))
    # What is read as labels for a group and does not look like numbers is not read again.
    free = {name: None for name in free if name not in as_labels or looks_numeric(tables, name)}
    twice = [name for name in as_labels if name in as_numbers or name in free]
    once = [name for name in as_labels if name not in twice]
    found = dict(read_columns(tables, labels=once, numbers=as_numbers, either=free, progress=progress).named)
    again = read_columns(tables, labels=twice, progress=progress).named if twice else {}
    named = {name: column for name, column in (*found.items(), *again.items()) if isinstance(column, Labels)}
    return TableColumns(named, {name: column for name, column in found.items() if isinstance(column, Numbers)})


def looks_numeric(tables: list[OpenTable], column: str) -> bool:
    """Return whether a column seems to hold numbers in every table that has it."""
    return all(table.guess(column) == "number" for table in tables if column in table.columns)


def check_columns(tables: list[OpenTable], names: Iterable[str]) -> None:
    """Raise if none of the tables has one of the columns."""
    columns = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    where = tables[0].name if len(tables) == 1 else f"these {len(tables)} tables"
    for name in names:
        if name not in columns:
            raise ColumnError.not_found(name, columns, where=where)


def complete_rows(gaps: Mapping[str, NDArray[np.bool_]]) -> tuple[NDArray[np.intp], Rows]:
    """Return which rows have no gap; each of the others counts under its first reason."""
    total = len(next(iter(gaps.values())))
    keep, reasons = np.ones(total, bool), {}
    for reason, gap in gaps.items():
        lost = int((keep & gap).sum())
        if lost:
            reasons[reason] = lost
            keep &= ~gap
    return np.flatnonzero(keep), Rows(total, int(keep.sum()), reasons)
