"""The variables of a formula, read from a table: numbers, factors, and the rows that have them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, OpenTable, open_tables
from holdsup.design.coding import Coded
from holdsup.design.grammar import Formula
from holdsup.design.statistics import Statistics, summarize
from holdsup.design.tables import TableColumns, complete_rows, read_table
from holdsup.design.terms import Factor
from holdsup.design.transforms import Standardization, Transform, apply_transform, learn_transform
from holdsup.errors import ColumnError, FormulaError
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = [
    "Uses",
    "Variables",
    "encode_variables",
    "mentioned_factors",
    "negative_weights",
    "no_complete_row",
    "read_variables",
    "represent",
    "uses_of",
    "weight_gaps",
]

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
    response_summary : statistics of the response over all rows used
    summaries : those of the numbers
    weight_summary : those of the weights
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
    response_summary: Statistics
    summaries: tuple[Statistics, ...]
    weight_summary: Statistics | None = None
    weights_column: str | None = None


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


def read_variables(
    formula: Formula, data: Any, *, weights: str | None = None, progress: Progress = no_progress
) -> Variables:
    """Return the variables of `formula` from anything that `read_scores` takes, incomplete rows left out."""
    return encode_variables(formula, open_tables(data, progress=progress), weights=weights, progress=progress)


def encode_variables(
    formula: Formula, tables: list[OpenTable], *, weights: str | None = None, progress: Progress = no_progress
) -> Variables:
    """Return the variables of `formula` from tables that are open."""
    uses = uses_of(formula, weights)
    table = read_table(tables, labels=uses.labels, numbers=uses.numbers, either=uses.either, progress=progress)
    table = table.fold_truths(table.labels)
    places, rows = complete_rows({**table.gaps(), **weight_gaps(table, weights)})
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
            f"{factor.variable!r} was taken for a factor with {labels.count:,} levels in {rows:,} rows, as it "
            f"holds labels such as {labels.names[0]!r:.40} (a date, an id?): to use it as a number, add a column of "
            f"numbers to the table (days since the first, say); to use it as a factor, write factor({factor.variable})"
        )


def _check_size(what: str, values: Statistics) -> None:
    largest = values.largest
    if largest and not SMALLEST < largest < LARGEST:
        raise FormulaError(f"{what} reaches {largest:.1e}: multiply it by a power of ten to bring it near one")
