"""The variables of a formula, read from a table: numbers, factors, and the rows that have them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable, read_columns
from holdsup.columns.encoding import fold_truths
from holdsup.design.coding import Coded
from holdsup.design.formulas import Factor, Formula
from holdsup.design.transforms import (
    Standardization,
    Statistics,
    Transform,
    apply_transform,
    learn_transform,
    summarize,
)
from holdsup.errors import ColumnError, FormulaError
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

Array = NDArray[np.float64]
SMALLEST, LARGEST = 1e-90, 1e90  # size of a variable whose squares and their sums are still numbers


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


@dataclass(frozen=True, eq=False)
class Variables:
    """What a formula asks of a table."""

    response: Array  # the left side, shape (n,)
    weights: Array | None  # case weights, shape (n,), or None
    numbers: tuple[Array, ...]  # the numeric variables, each of shape (n,)
    factors: tuple[Labels, ...]  # the factors and grouping columns
    coded: dict[Factor, Coded]  # how each factor of the formula is represented
    # the function that each number of the formula (and the response) is of its column, as learnt here
    transforms: dict[Factor, Transform]
    grouping: dict[str, int]  # index into `factors` of each column that is used in a group
    rows: Rows  # how many rows were used, and why the others were not
    response_summary: Statistics  # statistics of the response over all rows used
    summaries: tuple[Statistics, ...]  # those of the numbers
    weight_summary: Statistics | None = None  # those of the weights
    weights_column: str | None = None  # the column that the weights are from


class Uses(NamedTuple):
    """The columns of a formula by what they are used as: labels, numbers, or (`either`) what they hold."""

    labels: tuple[str, ...]
    numbers: tuple[str, ...]
    either: tuple[str, ...]

    def columns(self) -> tuple[str, ...]:
        """Return all of them, once each."""
        return tuple(dict.fromkeys((*self.numbers, *self.either, *self.labels)))


def mentioned_factors(formula: Formula, *, random: bool = True) -> tuple[Factor, ...]:
    """Return the factors of the fixed and (if `random`) the random terms, once each."""
    varying = (term for part in formula.random for term in part.terms) if random else ()
    terms = (*formula.fixed, *varying)
    return tuple(dict.fromkeys(factor for term in terms for factor in term))


def uses_of(formula: Formula, weights: str | None) -> Uses:
    """Return the columns that a formula (and the weights) needs."""
    mentioned = mentioned_factors(formula)
    labels = [name for random in formula.random for name in random.group]
    labels.extend(f.variable for f in mentioned if f.function == "factor")
    numbers = [formula.response.variable, *([weights] if weights else [])]
    numbers.extend(f.variable for f in mentioned if f.function not in ("", "factor"))
    either = [f.variable for f in mentioned if f.function == ""]
    return Uses(tuple(labels), tuple(numbers), tuple(either))


def encode_variables(
    formula: Formula,
    tables: list[OpenTable],
    *,
    weights: str | None = None,
    keep_zeros: bool = False,
    progress: Progress = no_progress,
) -> Variables:
    """Return the variables of `formula` from open tables; rows of no weight are left out, unless `keep_zeros`."""
    uses = uses_of(formula, weights)
    table = read_table(tables, labels=uses.labels, numbers=uses.numbers, either=uses.either, progress=progress)
    table = table.fold_truths(table.labels)
    places, rows = complete_rows({**table.gaps(), **({} if keep_zeros else weight_gaps(table, weights))})
    if not rows.used:
        raise no_complete_row(formula)
    if rows.used < rows.planned:
        table = table.take(places)
    return represent(formula, table, weights, rows)


def no_complete_row(formula: Formula) -> FormulaError:
    """Return the error for a table of which no row can be used."""
    return FormulaError(f"no row of the table has all of {', '.join(formula.variables())}")


def negative_weights(weights: str) -> ColumnError:
    """Return the error for weights below zero."""
    return ColumnError(f"the weights {weights!r} hold a negative number: a weight is zero or more")


def weight_gaps(table: TableColumns, weights: str | None) -> dict[str, NDArray[np.bool_]]:
    """Return the rows that a weight of zero takes out."""
    if weights is None:
        return {}
    values = table.numbers[weights].values
    if (values < 0).any():
        raise negative_weights(weights)
    return {f"a {weights} of zero": values == 0}


def represent(
    formula: Formula,
    table: TableColumns,
    weights: str | None,
    rows: Rows,
    known: Mapping[Factor, Statistics] | None = None,
) -> Variables:
    """Return the variables of `formula` from complete rows.

    `known` are the statistics of the raw columns and of functions of them over all rows, where the table holds some
    rows only.
    """
    numbers: list[tuple[Array, Statistics]] = []
    factors: dict[str, Labels] = {}
    coded: dict[Factor, Coded] = {}
    transforms: dict[Factor, Transform] = {}
    fixed = mentioned_factors(formula, random=False)
    for factor in mentioned_factors(formula):
        name = factor.variable
        if factor.function == "factor" or name not in table.numbers:
            labels = factors.setdefault(name, table.labels[name])
            _check_levels(name, labels)
            if factor in fixed:
                _check_fixed(factor, labels, rows.used)
            coded[factor] = Coded(factor=list(factors).index(name), levels=labels.names)
        else:
            transforms[factor], columns = _transformed(factor, table, known)
            for column, _, summary in columns:
                _check_size(column, summary)
            places = tuple((column, len(numbers) + i) for i, (column, _, _) in enumerate(columns))
            coded[factor] = Coded(numbers=places)
            numbers.extend((values, summary) for _, values, summary in columns)
    grouped = dict.fromkeys(name for random in formula.random for name in random.group)
    for name in grouped:
        factors.setdefault(name, table.labels[name])
    transforms[formula.response], ((_, response, summary),) = _transformed(formula.response, table, known)
    _check_size(f"the response {formula.response}", summary)
    weight = table.numbers[weights].values if weights else None
    weight_summary = None
    if weights and weight is not None:
        weight_summary = known[Factor(weights)] if known else summarize(weight)
    return Variables(
        response=response,
        weights=weight,
        numbers=tuple(values for values, _ in numbers),
        factors=tuple(factors.values()),
        coded=coded,
        transforms=transforms,
        grouping={name: list(factors).index(name) for name in grouped},
        rows=rows,
        response_summary=summary,
        summaries=tuple(summary for _, summary in numbers),
        weight_summary=weight_summary,
        weights_column=weights,
    )


def _transformed(
    factor: Factor, table: TableColumns, known: Mapping[Factor, Statistics] | None
) -> tuple[Transform, tuple[tuple[str, Array, Statistics], ...]]:
    """Return the function of a column as learnt here, and the name, values and statistics of what it gives."""
    raw = table.numbers[factor.variable].values
    if known is None:
        transform = learn_transform(factor, raw)
        return transform, tuple((n, v, summarize(v)) for n, v in apply_transform(factor, transform, raw))
    transform = learn_transform(factor, raw, known[Factor(factor.variable)])
    ((name, values),) = apply_transform(factor, transform, raw)
    if isinstance(transform, Standardization):
        return transform, ((name, values, known[Factor(factor.variable)].moved(transform.mean, transform.sd)),)
    return transform, ((name, values, known[factor]),)


def _check_levels(name: str, labels: Labels) -> None:
    if labels.count < 2:
        raise FormulaError(
            f"{name!r} has only one level ({labels.names[0]!r}) in the rows used: it has no effect to estimate, "
            "so leave it out"
        )


def _check_fixed(factor: Factor, labels: Labels, rows: int) -> None:
    """Raise if a column that nobody called a factor has a level for (almost) every row."""
    if not factor.function and labels.count > max(2, rows / 2):
        raise FormulaError(
            f"{factor.variable!r} counts as a factor with {labels.count:,} levels in {rows:,} rows, as it "
            f"holds labels such as {labels.names[0]!r:.40} (a date, an id?): to use it as a number, add a column of "
            f"numbers to the table (days since the first, say); to use it as a factor, write factor({factor.variable})"
        )


def _check_size(what: str, values: Statistics) -> None:
    largest = values.largest
    if largest and not SMALLEST < largest < LARGEST:
        raise FormulaError(f"{what} reaches {largest:.1e}: multiply it by a power of ten to bring it near one")
