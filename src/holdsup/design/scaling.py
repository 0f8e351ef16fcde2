"""Random columns made safe for cross-products: brought near one, and near zero where the model allows it.

A variance of 1e-18 beside one of 1 (a slope on a timestamp) is lost in rounding. With x = s z + c, s a power
of two, the engine gets z: the effects of the formula are a linear map of the engine's, b = T b_engine, and
theta is of order one whatever the unit of x. Taking c off is the same model only within a correlated term that
has an intercept, (1 + x | g); it is done there when x lies far from zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.design.coding import DesignColumn
from holdsup.design.statistics import Statistics
from holdsup.numerics.layout import ColumnSpec

__all__ = ["FAR", "Derived", "NumberPool", "ScaledColumns", "scale_columns"]

Array = NDArray[np.float64]
FAR = 100.0  # |mean| / sd from which a variable is centred
NEAR_ONE = 8.0  # a variable whose size is within this factor of one is left as it is


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


@dataclass(frozen=True, slots=True, eq=False)
class ScaledColumns:
    """The columns of a random term as the engine gets them; effects of the formula = transform @ the engine's."""

    columns: tuple[ColumnSpec, ...]
    transform: Array


def scale_columns(columns: Sequence[DesignColumn], pool: NumberPool, *, correlated: bool) -> ScaledColumns:
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
    return ScaledColumns(tuple(specs), transform)


def _centre(values: Statistics) -> float:
    return values.mean if abs(values.mean) > FAR * values.spread > 0 else 0.0


def _scale(values: Statistics, centre: float) -> float:
    """Return the power of two next to the root mean square about the centre; 1 if that is near one anyway."""
    size = values.size_about(centre)
    return 1.0 if size == 0.0 or 1 / NEAR_ONE <= size <= NEAR_ONE else 2.0 ** round(math.log2(size))
