"""Functions of a column, with what they learnt from the rows of the fit, so that new rows are coded alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdsup.design.statistics import Statistics, summarize
from holdsup.design.terms import Factor
from holdsup.errors import FormulaError

__all__ = [
    "ELEMENTWISE",
    "Elementwise",
    "Polynomial",
    "Standardization",
    "Transform",
    "apply_transform",
    "learn_transform",
    "undefined",
]

Array = NDArray[np.float64]
ELEMENTWISE: dict[str, Callable[[Array], Array]] = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp, "sqrt": np.sqrt, "abs": np.abs,
}  # fmt: skip


class Transform(Protocol):
    """A function of a column whose parameters are known."""

    def apply(self, values: Array) -> tuple[Array, ...]:
        """Return the columns of numbers that it gives for `values`, each of shape (n,)."""


@dataclass(frozen=True, slots=True)
class Elementwise:
    """A function that learns nothing from the data: ``log``, or "" for the column itself."""

    function: str

    def apply(self, values: Array) -> tuple[Array, ...]:
        """Return the function of each value."""
        return (ELEMENTWISE[self.function](values) if self.function else values,)


@dataclass(frozen=True, slots=True)
class Standardization:
    """``center`` (where `sd` is 1) and ``scale``."""

    mean: float
    sd: float = 1.0

    def apply(self, values: Array) -> tuple[Array, ...]:
        """Return (values - mean) / sd."""
        return ((values - self.mean) / self.sd if self.sd != 1.0 else values - self.mean,)


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Orthonormal polynomials of degree 1 to d on the rows of the fit, as R's ``poly``.

    With q_0 the constant 1 / sqrt(n), the three-term recurrence (Kennedy & Gentle 1980, *Statistical
    Computing*, p. 343)

        b_(k+1) q_(k+1) = (x - mean - a_k) q_k - b_k q_(k-1)

    needs no powers of x, so it is as accurate for years as for scores in [0, 1]. It is that of R's
    ``predict.poly``, whose ``alpha`` is mean + a_k and whose ``norm2`` is n times the squares of 1, b_1, b_1 b_2...

    Attributes
    ----------
    rows : number of rows n of the fit
    mean : mean of x; a_k is relative to it, so that it is not rounded to the size of a year
    alpha : a_0 to a_(d-1)
    beta : b_1 to b_d, all positive, so that each polynomial ends up rising
    """

    rows: int
    mean: float
    alpha: tuple[float, ...]
    beta: tuple[float, ...]

    def apply(self, values: Array) -> tuple[Array, ...]:
        """Return the polynomials at `values`."""
        columns = [np.zeros(len(values)), np.full(len(values), 1 / math.sqrt(self.rows))]
        before, x = 0.0, values - self.mean
        for a, b in zip(self.alpha, self.beta, strict=True):
            columns.append(((x - a) * columns[-1] - before * columns[-2]) / b)
            before = b
        return tuple(columns[2:])


def learn_transform(factor: Factor, values: Array, known: Statistics | None = None) -> Transform:
    """Return the function of a column with its parameters, from the values in the rows of the fit.

    `known` are the statistics of all rows, where `values` holds some of them only.
    """
    if factor.function in ("center", "scale"):
        statistics = known or summarize(values)
        if factor.function == "center":
            return Standardization(statistics.mean)
        if not statistics.varies:
            raise FormulaError(f"{factor} is not defined: {factor.variable!r} is {statistics.low:g} in every row")
        return Standardization(statistics.mean, statistics.deviation)
    if factor.function == "poly":
        assert factor.argument is not None
        if known is not None:
            raise FormulaError(
                f"{factor} is learnt from all rows at once, which a table read in batches does not have: add the "
                f"powers of {factor.variable!r} to the table as columns"
            )
        with np.errstate(all="ignore"):
            return _learn_polynomial(factor, values, factor.argument)
    return Elementwise(factor.function)


def _learn_polynomial(factor: Factor, values: Array, degree: int) -> Polynomial:
    left = values
    for _ in range(degree):
        left = left[left != left[0]]
        if not len(left):
            raise FormulaError(f"{factor} needs more than {degree} different values of {factor.variable!r}")
    alpha: list[float] = []
    beta: list[float] = []
    mean = float(values.mean())
    x = values - mean
    before, column = np.zeros(len(x)), np.full(len(x), 1 / math.sqrt(len(x)))
    for _ in range(degree):
        a = float(x @ column**2)
        following = (x - a) * column - (beta[-1] if beta else 0.0) * before
        b = float(np.linalg.norm(following))
        alpha.append(a)
        beta.append(b)
        before, column = column, following / b
    return Polynomial(len(x), mean, tuple(alpha), tuple(beta))


def undefined(factor: Factor, rows: int, example: float) -> FormulaError:
    """Return the error for a function that is not defined in some rows."""
    return FormulaError(f"{factor} is not defined in {rows:,} rows, such as {factor.variable} = {example:g}")


def apply_transform(factor: Factor, transform: Transform, values: Array) -> tuple[tuple[str, Array], ...]:
    """Return the columns that a function gives, named as R names them; where it is not defined is an error."""
    with np.errstate(all="ignore"):
        columns = transform.apply(values)
    for column in columns:
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            raise undefined(factor, len(bad), float(values[bad[0]]))
    names = [str(factor)] if len(columns) == 1 else [f"{factor}{i + 1}" for i in range(len(columns))]
    return tuple((name, np.ascontiguousarray(column)) for name, column in zip(names, columns, strict=True))
