"""The variables of a formula, read from a table: numbers, factors, and the rows that have them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.columns.encoding import fold_truths
from holdsup.design.coding import Coded
from holdsup.design.grammar import Formula
from holdsup.design.terms import Factor
from holdsup.design.transforms import Transform, apply_transform, learn_transform
from holdsup.errors import ColumnError, FormulaError
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["TableColumns", "Variables", "complete_rows", "mentioned_factors", "read_table", "read_variables"]

Array = NDArray[np.float64]
SMALLEST, LARGEST = 1e-90, 1e90  # size of a variable whose squares and their sums are still numbers


@dataclass(frozen=True, eq=False)
class Variables:
    """What a formula asks of a table.

    Attributes
    ----------
    response : the left side, shape (n,)
    weights : case weights, shape (n,), or None
    numbers : the numeric variables, each of shape (n,)
    factors : the factors and grouping columns
    coded : how each factor of the formula is represented
    transforms : the function that each number of the formula (and the response) is of its column, as learnt here
    grouping : index into `factors` of each column that is used in a group
    rows : how many rows were used, and why the others were not
    weights_column : the column that the weights are from
    """

    response: Array
    weights: Array | None
    numbers: tuple[Array, ...]
    factors: tuple[Labels, ...]
    coded: dict[Factor, Coded]
    transforms: dict[Factor, Transform]
    grouping: dict[str, int]
    rows: Rows
    weights_column: str | None = None


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


def mentioned_factors(formula: Formula, *, random: bool = True) -> tuple[Factor, ...]:
    """Return the factors of the fixed and (if `random`) the random terms, once each."""
    varying = (term for part in formula.random for term in part.terms) if random else ()
    terms = (*formula.fixed, *varying)
    return tuple(dict.fromkeys(factor for term in terms for factor in term))


def read_variables(
    formula: Formula, data: Any, *, weights: str | None = None, progress: Progress = no_progress
) -> Variables:
    """Return the variables of `formula` from anything that `read_scores` takes, incomplete rows left out."""
    mentioned = mentioned_factors(formula)
    labels = [name for random in formula.random for name in random.group]
    labels.extend(f.variable for f in mentioned if f.function == "factor")
    numbers = [formula.response.variable, *([weights] if weights else [])]
    numbers.extend(f.variable for f in mentioned if f.function not in ("", "factor"))
    either = [f.variable for f in mentioned if f.function == ""]
    tables = open_tables(data, progress=progress)
    table = read_table(tables, labels=labels, numbers=numbers, either=either, progress=progress)
    table = table.fold_truths(table.labels)
    places, rows = complete_rows(_gaps(table, weights))
    if not rows.used:
        raise FormulaError(f"no row of the table has all of {', '.join(formula.variables())}")
    if rows.used < rows.planned:
        table = table.take(places)
    return _represent(formula, mentioned, table, weights, rows)


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
    _check_names(tables, (*as_numbers, *free, *as_labels))
    # What is read as labels for a group and does not look like numbers is not read again.
    free = {
        n: None for n in free if n not in as_labels or all(t.guess(n) == "number" for t in tables if n in t.columns)
    }
    twice = [name for name in as_labels if name in as_numbers or name in free]
    once = [name for name in as_labels if name not in twice]
    found = dict(read_columns(tables, labels=once, numbers=as_numbers, either=free, progress=progress).named)
    again = read_columns(tables, labels=twice, progress=progress).named if twice else {}
    named = {name: column for name, column in (*found.items(), *again.items()) if isinstance(column, Labels)}
    return TableColumns(named, {name: column for name, column in found.items() if isinstance(column, Numbers)})


def _check_names(tables: list[OpenTable], names: Iterable[str]) -> None:
    columns = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    where = tables[0].name if len(tables) == 1 else f"these {len(tables)} tables"
    for name in names:
        if name not in columns:
            raise ColumnError.not_found(name, columns, where=where)


def _gaps(table: TableColumns, weights: str | None) -> dict[str, NDArray[np.bool_]]:
    gaps = table.gaps()
    if weights is not None:
        values = table.numbers[weights].values
        if (values < 0).any():
            raise ColumnError(f"the weights {weights!r} hold a negative number: a weight is zero or more")
        gaps[f"a {weights} of zero"] = values == 0
    return gaps


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


def _represent(
    formula: Formula, mentioned: Iterable[Factor], table: TableColumns, weights: str | None, rows: Rows
) -> Variables:
    numbers: list[Array] = []
    factors: dict[str, Labels] = {}
    coded: dict[Factor, Coded] = {}
    transforms: dict[Factor, Transform] = {}
    fixed = mentioned_factors(formula, random=False)
    for factor in mentioned:
        name = factor.variable
        if factor.function == "factor" or name not in table.numbers:
            labels = factors.setdefault(name, table.labels[name])
            _check_levels(name, labels)
            if factor in fixed:
                _check_fixed(factor, labels)
            coded[factor] = Coded(factor=list(factors).index(name), levels=labels.names)
        else:
            transforms[factor] = learn_transform(factor, table.numbers[name].values)
            named = apply_transform(factor, transforms[factor], table.numbers[name].values)
            for column, values in named:
                _check_size(column, values)
            coded[factor] = Coded(numbers=tuple((column, len(numbers) + i) for i, (column, _) in enumerate(named)))
            numbers.extend(values for _, values in named)
    grouped = dict.fromkeys(name for random in formula.random for name in random.group)
    for name in grouped:
        factors.setdefault(name, table.labels[name])
    grouping = {name: list(factors).index(name) for name in grouped}
    raw = table.numbers[formula.response.variable].values
    transforms[formula.response] = learn_transform(formula.response, raw)
    ((_, response),) = apply_transform(formula.response, transforms[formula.response], raw)
    _check_size(f"the response {formula.response}", response)
    weight = table.numbers[weights].values if weights else None
    return Variables(
        response, weight, tuple(numbers), tuple(factors.values()), coded, transforms, grouping, rows, weights
    )


def _check_levels(name: str, labels: Labels) -> None:
    if labels.count < 2:
        raise FormulaError(
            f"{name!r} has only one level ({labels.names[0]!r}) in the rows used: it has no effect to estimate, "
            "so leave it out"
        )


def _check_fixed(factor: Factor, labels: Labels) -> None:
    """Raise if a column that nobody called a factor has a level for (almost) every row."""
    if not factor.function and labels.count > max(2, len(labels) / 2):
        raise FormulaError(
            f"{factor.variable!r} was taken for a factor with {labels.count:,} levels in {len(labels):,} rows, as it "
            f"holds labels such as {labels.names[0]!r:.40} (a date, an id?): to use it as a number, add a column of "
            f"numbers to the table (days since the first, say); to use it as a factor, write factor({factor.variable})"
        )


def _check_size(what: str, values: Array) -> None:
    largest = float(np.abs(values).max())
    if largest and not SMALLEST < largest < LARGEST:
        raise FormulaError(f"{what} reaches {largest:.1e}: multiply it by a power of ten to bring it near one")
