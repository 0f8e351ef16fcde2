"""Columns made safe for cross-products: brought near one, and near zero where the model allows it.

**Random columns.** A variance of 1e-18 beside one of 1 (a slope on a timestamp) is lost in rounding. With x = s z + c,
s a power of two, the engine gets z: the effects of the formula are a linear map of the engine's, b = T b_engine, and
theta is of order one whatever the unit of x. Taking c off is the same model only within a correlated term that
has an intercept, (1 + x | g); it is done there when x lies far from zero.

**Fixed columns.** X'X of a column whose mean is 100 times its standard deviation has lost four digits of what varies,
eight if it is 10,000 times. With x replaced by x - m, X_engine = X T for a T that is known exactly, so
beta = T beta_engine. This is so only where the columns that the centring brings in are in the model: x - m is
x - m * 1, and needs the intercept; (x - m) z needs z.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from holdsup.design.coding import DesignColumn
from holdsup.design.transforms import Statistics
from holdsup.numerics.layout import ColumnSpec

FAR = 100.0  # |mean| / sd from which a variable is centred
NEAR_ONE = 8.0  # a variable whose size is within this factor of one is left as it is
Array = NDArray[np.float64]
Product = tuple[frozenset[int], frozenset[tuple[int, int]]]  # the numbers and the levels that a column multiplies


class Derived(NamedTuple):
    """A variable made from another one: (x - centre) / scale."""

    number: int
    centre: float
    scale: float

    def of(self, values: Array) -> Array:
        """Return the variable made from the values of x."""
        moved = values - self.centre if self.centre else values
        return moved / self.scale if self.scale != 1.0 else moved


class NumberPool:
    """The numeric variables of a design, to which changed ones are added, each once."""

    def __init__(self, numbers: Sequence[Array], statistics: Sequence[Statistics]) -> None:
        self.numbers, self.statistics = list(numbers), list(statistics)
        self.derived: list[Derived] = []

    def changed(self, number: int, scale: float, centre: float) -> int:
        """Return the index of (x - centre) / scale."""
        recipe = Derived(number, centre, scale)
        if scale == 1.0 and centre == 0.0:
            return number
        if recipe in self.derived:
            return len(self.numbers) - len(self.derived) + self.derived.index(recipe)
        self.derived.append(recipe)
        self.numbers.append(recipe.of(self.numbers[number]))
        self.statistics.append(self.statistics[number].moved(centre, scale))
        return len(self.numbers) - 1


class EngineColumns(NamedTuple):
    """Columns as the engine gets them, and T: X_engine = X T of fixed ones, b = T b_engine of random ones."""

    columns: tuple[ColumnSpec, ...]
    transform: Array


def scale_columns(columns: Sequence[DesignColumn], pool: NumberPool, *, correlated: bool) -> EngineColumns:
    """Return the columns of a random term, with their variables brought near one (and near zero)."""
    intercept = next((i for i, c in enumerate(columns) if not c.numbers and not c.levels), None)
    transform = np.eye(len(columns))
    specs = []
    for j, column in enumerate(columns):
        movable = correlated and intercept is not None and len(column.numbers) == 1 and not column.levels
        total, places = 1.0, []
        for number in column.numbers:
            centre = _centre(pool.statistics[number]) if movable else 0.0
            scale = _scale(pool.statistics[number], centre)
            places.append(pool.changed(number, scale, centre))
            total *= scale
            if centre and intercept is not None:
                transform[intercept, j] = -centre / scale
        transform[j, j] = 1 / total
        specs.append(ColumnSpec(tuple(places), column.levels))
    return EngineColumns(tuple(specs), transform)


def _centre(values: Statistics) -> float:
    return values.mean if abs(values.mean) > FAR * values.spread > 0 else 0.0


def _scale(values: Statistics, centre: float) -> float:
    """Return the power of two next to the root mean square about the centre; 1 if that is near one anyway."""
    size = values.size_about(centre)
    return 1.0 if size == 0.0 or 1 / NEAR_ONE <= size <= NEAR_ONE else 2.0 ** round(math.log2(size))


def center_columns(fixed: Sequence[DesignColumn], counts: Sequence[int], pool: NumberPool) -> EngineColumns:
    """Return the fixed columns, with the variables far from zero centred where marginality allows it.

    `counts` are the numbers of levels of the factors.
    """
    means = {n: mean for n, mean in _far(fixed, pool.statistics).items() if _centrable(fixed, counts, n)}
    transform = _transform(fixed, counts, means)
    if transform is None:
        means, transform = {}, np.eye(len(fixed))
    place = {number: pool.changed(number, 1.0, mean) for number, mean in means.items()}
    columns = tuple(ColumnSpec(tuple(place.get(i, i) for i in c.numbers), c.levels) for c in fixed)
    return EngineColumns(columns, transform)


def _far(fixed: Sequence[DesignColumn], statistics: Sequence[Statistics]) -> dict[int, float]:
    """Return the variables of the fixed columns that lie far from zero, with their means."""
    used = dict.fromkeys(i for column in fixed for i in column.numbers)
    known = {number: statistics[number] for number in used}
    return {i: s.mean for i, s in known.items() if s.varies and FAR * s.spread < abs(s.mean) < math.inf}


def _centrable(fixed: Sequence[DesignColumn], counts: Sequence[int], number: int) -> bool:
    """Return whether each column with this variable has, before it, what the column is without the variable."""
    return all(
        _express((_product(column)[0] - {number}, _product(column)[1]), fixed[:j], counts) is not None
        for j, column in enumerate(fixed)
        if number in column.numbers
    )


def _product(column: DesignColumn) -> Product:
    return frozenset(column.numbers), frozenset(column.levels)


def _express(wanted: Product, fixed: Sequence[DesignColumn], counts: Sequence[int]) -> dict[int, float] | None:
    """Return a product as a sum of columns, None if it is none.

    It is a column itself; or the sum over all levels of a factor; or, where that factor is coded by contrasts and
    the first level is wanted, what the other levels leave.
    """
    places = {_product(column): j for j, column in enumerate(fixed)}
    if wanted in places:
        return {places[wanted]: 1.0}
    numbers, levels = wanted
    for factor in dict.fromkeys(f for column in fixed for f, _ in column.levels):
        if factor not in dict(levels):
            parts = [places.get((numbers, levels | {(factor, code)})) for code in range(counts[factor])]
            if None not in parts:
                return {j: 1.0 for j in parts if j is not None}
    for factor, code in levels:
        whole = places.get((numbers, levels - {(factor, code)}))
        others = [
            places.get((numbers, levels - {(factor, code)} | {(factor, other)}))
            for other in range(counts[factor])
            if other != code
        ]
        if whole is not None and None not in others:
            return {whole: 1.0, **{j: -1.0 for j in others if j is not None}}
    return None


def _transform(fixed: Sequence[DesignColumn], counts: Sequence[int], means: dict[int, float]) -> Array | None:
    """Return T with X_engine = X T: (x - m) z = x z - m z, and so on for several; None if a product is missing."""
    T = np.eye(len(fixed))
    for j, column in enumerate(fixed):
        numbers, levels = _product(column)
        for left_out in _subsets([i for i in column.numbers if i in means]):
            parts = _express((numbers - set(left_out), levels), fixed[:j], counts)
            if parts is None:
                return None
            for i, coefficient in parts.items():
                T[i, j] += coefficient * np.prod([-means[number] for number in left_out])
    return T


def _subsets(members: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all subsets but the empty one."""
    return itertools.chain.from_iterable(itertools.combinations(members, size) for size in range(1, len(members) + 1))


def restrict_transform(transform: Array, kept: NDArray[np.integer], columns: Callable[[], Array]) -> Array:
    """Return M with beta[kept] = M beta_engine when the engine left out dependent columns.

    A column that was kept may need one that was not (its year x g needs g); that one is a combination of kept
    columns, X_engine[:, gone] = X_engine[:, kept] C, and with S the inverse of T, M is the inverse of
    S[kept, kept] + C S[gone, kept]. `columns` makes X_engine, which is needed in this rare case only.
    """
    if len(kept) == len(transform):
        return transform
    gone = np.setdiff1d(np.arange(len(transform)), kept)
    S = _invert(transform)
    if not S[np.ix_(gone, kept)].any():
        return np.asarray(transform[np.ix_(kept, kept)])
    X = columns()
    scale = np.linalg.norm(X[:, kept], axis=0)
    C = np.linalg.lstsq(X[:, kept] / scale, X[:, gone], rcond=None)[0] / scale[:, None]
    C[kept[:, None] > gone] = 0.0  # a column depends on earlier ones only; what is there is rounding
    return _invert(S[np.ix_(kept, kept)] + C @ S[np.ix_(gone, kept)])


def _invert(unit_upper: Array) -> Array:
    return np.asarray(solve_triangular(unit_upper, np.eye(len(unit_upper)), unit_diagonal=True))
