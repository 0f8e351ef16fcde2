"""The variables of a formula, read from a table: numbers, factors, and the rows that have them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.design.coding import Coded
from holdsup.design.grammar import Formula
from holdsup.design.terms import Factor
from holdsup.errors import ColumnError, FormulaError
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["Variables", "read_variables"]

Array = NDArray[np.float64]
PLAIN: dict[str, Callable[[Array], Array]] = {
    "": lambda x: x, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp,
    "sqrt": np.sqrt, "abs": np.abs, "center": lambda x: x - x.mean(), "scale": lambda x: (x - x.mean()) / x.std(ddof=1),
}  # fmt: skip


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
    grouping : index into `factors` of each column that is used in a group
    rows : how many rows were used, and why the others were not
    """

    response: Array
    weights: Array | None
    numbers: tuple[Array, ...]
    factors: tuple[Labels, ...]
    coded: dict[Factor, Coded]
    grouping: dict[str, int]
    rows: Rows


def read_variables(
    formula: Formula, data: Any, *, weights: str | None = None, progress: Progress = no_progress
) -> Variables:
    """Return the variables of `formula` from anything that `read_scores` takes, incomplete rows left out."""
    tables = open_tables(data, progress=progress)
    mentioned = [f for term in (*formula.fixed, *(t for r in formula.random for t in r.terms)) for f in term]
    grouped = tuple(dict.fromkeys(name for random in formula.random for name in random.group))
    _check_names(formula, tables, weights)
    as_labels = dict.fromkeys([*grouped, *(f.variable for f in mentioned if f.function == "factor")])
    as_numbers = dict.fromkeys([formula.response.variable, *([weights] if weights else [])])
    as_numbers.update(dict.fromkeys(f.variable for f in mentioned if f.function not in ("", "factor")))
    either = [f.variable for f in mentioned if f.function == "" and f.variable not in as_numbers]
    named = read_columns(tables, labels=as_labels, progress=progress).named if as_labels else {}
    rest = read_columns(tables, numbers=as_numbers, either=either, progress=progress).named
    return _select(formula, weights, mentioned, dict(named), dict(rest))


def _check_names(formula: Formula, tables: list[OpenTable], weights: str | None) -> None:
    columns = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    where = tables[0].name if len(tables) == 1 else f"these {len(tables)} tables"
    for name in (*formula.variables(), *([weights] if weights else [])):
        if name not in columns:
            raise ColumnError.not_found(name, columns, where=where)


def _select(
    formula: Formula, weights: str | None, mentioned: list[Factor], labels: dict[str, Any], rest: dict[str, Any]
) -> Variables:
    """Leave out rows with a gap in any variable, counting each row under the first reason."""
    total = len(next(iter(rest.values())).values)
    keep, reasons = np.ones(total, bool), {}
    for name, column in (*rest.items(), *labels.items()):
        gap = column.codes < 0 if isinstance(column, Labels) else ~np.isfinite(column.values)
        if isinstance(column, Numbers) and name == weights:
            if (column.values < 0).any():
                raise ColumnError(f"the weights {name!r} hold a negative number: a weight is zero or more")
            gap = gap | (column.values == 0)
        lost = int((keep & gap).sum())
        if lost:
            reasons[f"no {name}"] = lost
            keep &= ~gap
    if not keep.any():
        raise FormulaError(f"no row of the table has all of {', '.join(formula.variables())}")
    if keep.all():
        rows: Any = slice(None)
    else:
        rows = np.flatnonzero(keep)
        labels = {name: column.take(rows) for name, column in labels.items()}
        rest = {
            n: c.take(rows) if isinstance(c, Labels) else Numbers(c.values[rows], c.absent[rows])
            for n, c in rest.items()
        }
    return _represent(formula, weights, mentioned, labels, rest, Rows(total, int(keep.sum()), reasons))


def _represent(
    formula: Formula,
    weights: str | None,
    mentioned: list[Factor],
    labels: dict[str, Any],
    rest: dict[str, Any],
    rows: Rows,
) -> Variables:
    numbers: list[Array] = []
    factors: list[Labels] = []
    places: dict[str, int] = {}
    coded: dict[Factor, Coded] = {}

    def place(name: str, column: Labels) -> int:
        if name not in places:
            places[name] = len(factors)
            factors.append(column)
        return places[name]

    for factor in dict.fromkeys(mentioned):
        column = labels.get(factor.variable) if factor.function == "factor" else rest[factor.variable]
        if isinstance(column, Labels):
            if column.count < 2:
                raise FormulaError(
                    f"{factor.variable!r} has only one level ({column.names[0]!r}) in the rows used: it has no "
                    "effect to estimate, so leave it out"
                )
            coded[factor] = Coded(factor=place(factor.variable, column), levels=column.names)
        else:
            assert isinstance(column, Numbers)
            named = _transform(factor, column.values)
            coded[factor] = Coded(numbers=tuple((name, len(numbers) + i) for i, (name, _) in enumerate(named)))
            numbers.extend(values for _, values in named)
    grouping = {name: place(name, column) for name, column in labels.items()}
    ((_, response),) = _transform(formula.response, rest[formula.response.variable].values)
    weight = rest[weights].values if weights else None
    return Variables(response, weight, tuple(numbers), tuple(factors), coded, grouping, rows)


def _transform(factor: Factor, values: Array) -> list[tuple[str, Array]]:
    """Return the named columns of numbers that a function of a column gives."""
    if factor.function == "poly":
        assert factor.argument is not None
        basis = _orthogonal_polynomial(factor, values, factor.argument)
        return [(f"{factor}{i + 1}", basis[:, i]) for i in range(factor.argument)]
    if factor.function == "scale" and values.min() == values.max():
        raise FormulaError(f"{factor} is not defined: {factor.variable!r} is {values[0]:g} in every row")
    if factor.function == "factor":
        raise FormulaError(f"{factor} cannot be the response: a response is a number")
    with np.errstate(all="ignore"):
        result = PLAIN[factor.function](values)
    bad = np.flatnonzero(~np.isfinite(result))
    if len(bad):
        raise FormulaError(
            f"{factor} is not defined in {len(bad):,} rows, such as {factor.variable} = {values[bad[0]]:g}"
        )
    return [(str(factor), np.ascontiguousarray(result, dtype=np.float64))]


def _orthogonal_polynomial(factor: Factor, values: Array, degree: int) -> Array:
    """Return orthonormal polynomials of degree 1 to `degree` at the data, as R's ``poly``.

    The three-term recurrence of Kennedy and Gentle (1980), *Statistical Computing*, p. 343: it needs
    no powers of the values, so it is as accurate for years as for scores in [0, 1].
    """
    if len(np.unique(values)) <= degree:
        raise FormulaError(f"{factor} needs more than {degree} different values of {factor.variable!r}")
    x = values - values.mean()
    columns = [np.full(len(x), 1 / np.sqrt(len(x)))]
    for _ in range(degree):
        following = x * columns[-1]
        for column in (*columns, *columns):  # twice: once more for what rounding left
            following = following - column * (column @ following)
        columns.append(following / np.linalg.norm(following))
    basis = np.stack(columns[1:], axis=1)
    return basis * np.sign([np.sum(basis[:, i] * x ** (i + 1)) for i in range(degree)])
