"""Functions of a column, with what they learnt from the rows of the fit, so that new rows are coded alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdsup.design.formulas import Factor
from holdsup.errors import FormulaError

PIECE = 2**15  # values whose distances from the mean stay in the cache
SQUARABLE = 1e-150, 1e150  # sizes whose squares neither vanish nor overflow
Array = NDArray[np.float64]
ELEMENTWISE: dict[str, Callable[[Array], Array]] = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp, "sqrt": np.sqrt, "abs": np.abs,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a variable over the rows used: enough to centre it and to bring it near one.

    Those of parts add up to those of the whole (Chan, Golub & LeVeque 1983, *The American Statistician* 37:242), so
    that a table may be read in batches.
    """

    n: int  # number of rows
    mean: float  # their mean
    spread: float  # standard deviation with divisor n
    low: float  # the smallest value
    high: float  # the largest value

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def varies(self) -> bool:
        """Whether there are two different values."""
        return self.low < self.high

    @property
    def deviation(self) -> float:
        """Standard deviation with divisor n - 1."""
        return self.spread * math.sqrt(self.n / (self.n - 1))

    def size_about(self, centre: float) -> float:
        """Return the root mean square distance from a centre."""
        return math.hypot(self.spread, self.mean - centre)

    def moved(self, centre: float, scale: float) -> Statistics:
        """Return the statistics of (x - centre) / scale, where scale is positive."""
        low, mean, high = ((value - centre) / scale for value in (self.low, self.mean, self.high))
        return Statistics(self.n, mean, self.spread / scale, low, high)

    def plus(self, other: Statistics) -> Statistics:
        """Return the statistics of the rows of both."""
        if not self.n or not other.n:
            return self if self.n else other
        n, distance = self.n + other.n, other.mean - self.mean
        mean = self.mean + distance * (other.n / n)
        between = distance * math.sqrt(self.n / n * (other.n / n))
        # hypot, not squares: values may be as large as 1e200
        spread = math.hypot(self.spread * math.sqrt(self.n / n), other.spread * math.sqrt(other.n / n), between)
        return Statistics(n, mean, spread, min(self.low, other.low), max(self.high, other.high))


def summarize(values: NDArray[np.float64]) -> Statistics:
    """Return the statistics of an array; those of no values are zero of nothing."""
    if not len(values):
        return Statistics(0, 0.0, 0.0, math.inf, -math.inf)
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinitely large is refused by whoever asks
        low, high, mean = float(values.min()), float(values.max()), float(values.mean())
        squares = 0.0
        for start in range(0, len(values), PIECE):
            distance = values[start : start + PIECE] - mean
            distance *= distance  # not BLAS's dot, whose threads wait for each other on a busy machine
            squares += float(distance.sum())
        spread = math.sqrt(squares / len(values))
        if low < high and not SQUARABLE[0] < spread < SQUARABLE[1]:
            largest = float(np.abs(values - mean).max())
            spread = largest * float(np.sqrt(np.mean(((values - mean) / largest) ** 2)))
    return Statistics(len(values), mean, spread if low < high else 0.0, low, high)


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
    """

    rows: int  # number of rows n of the fit
    mean: float  # mean of x; a_k is relative to it, so that it is not rounded to the size of a year
    alpha: tuple[float, ...]  # a_0 to a_(d-1)
    beta: tuple[float, ...]  # b_1 to b_d, all positive, so that each polynomial ends up rising

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
