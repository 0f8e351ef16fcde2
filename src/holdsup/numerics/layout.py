"""What the engine needs to know of a mixed model: columns as indicators times products of numbers.

    y = X beta + Z b + e,   b = Lambda(theta) u,   u ~ N(0, s^2 I),   e ~ N(0, s^2 W^-1)

All random columns that belong to one grouping factor are merged into one `Effects`. Its k x k factor
Lambda is given by the index of the parameter that stands in each place, -1 for zero; a parameter may
stand in several places (the variance of system:item, written as one column per system within item).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def run_starts(codes: NDArray[np.integer]) -> Ints:
    """Return the rows at which runs of equal codes begin: among them is the first row of every code."""
    starts = np.empty(len(codes), bool)
    starts[:1] = True
    np.not_equal(codes[1:], codes[:-1], out=starts[1:])
    return np.flatnonzero(starts)


class ColumnSpec(NamedTuple):
    """A column: the numeric variables that are multiplied, and the level that each factor must have."""

    numbers: tuple[int, ...] = ()
    levels: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """The random columns of one grouping factor."""

    factors: tuple[int, ...]  # indices of the factors whose combinations are the levels
    codes: NDArray[np.integer]  # level of each row, shape (n,)
    count: int  # number of levels
    columns: tuple[ColumnSpec, ...]  # the k columns that vary between levels
    pattern: Ints  # index of the parameter in each place of Lambda, shape (k, k), -1 for zero

    @property
    def size(self) -> int:
        """How many random effects there are."""
        return self.count * len(self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A mixed model without its data."""

    fixed: tuple[ColumnSpec, ...]  # the columns of X
    effects: tuple[Effects, ...]  # the random effects; the first are eliminated level by level, the others together
    lower: Floats  # lower limit of each parameter: 0 on the diagonal of Lambda, -inf off it

    @property
    def width(self) -> int:
        """Number of columns of M = [Z2 X y]."""
        return sum(effects.size for effects in self.effects[1:]) + len(self.fixed) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The data of a mixed model."""

    response: Floats  # y, shape (n,), centred as far as X allows
    weights: Floats | None  # case weights, shape (n,), or None
    numbers: tuple[Floats, ...]  # numeric variables, each of shape (n,)
    factors: tuple[NDArray[np.integer], ...]  # codes of each factor, each of shape (n,)
    total: int = 0  # rows of the whole table, of which these may be a batch
