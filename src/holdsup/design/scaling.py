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

import numpy as np
from numpy.typing import NDArray

from holdsup.design.centring import FAR
from holdsup.design.coding import DesignColumn
from holdsup.numerics.layout import ColumnSpec

__all__ = ["NumberPool", "ScaledColumns", "scale_columns"]

Array = NDArray[np.float64]
NEAR_ONE = 8.0  # a variable whose size is within this factor of one is left as it is


class NumberPool:
    """The numeric variables of a design, to which changed ones are added, each once."""

    def __init__(self, numbers: Sequence[Array]) -> None:
        self.numbers = list(numbers)
        self.known: dict[tuple[int, float, float], int] = {}

    def changed(self, number: int, scale: float, centre: float) -> int:
        """Return the index of (x - centre) / scale."""
        if scale == 1.0 and centre == 0.0:
            return number
        key = (number, scale, centre)
        if key not in self.known:
            self.known[key] = len(self.numbers)
            self.numbers.append((self.numbers[number] - centre) / scale)
        return self.known[key]


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
            values = pool.numbers[number]
            centre = _centre(values) if movable else 0.0
            scale = _scale(values - centre if centre else values)
            places.append(pool.changed(number, scale, centre))
            total *= scale
            if centre and intercept is not None:
                transform[intercept, j] = -centre / scale
        transform[j, j] = 1 / total
        specs.append(ColumnSpec(tuple(places), column.levels))
    return ScaledColumns(tuple(specs), transform)


def _centre(values: Array) -> float:
    mean, sd = float(values.mean()), float(values.std())
    return mean if abs(mean) > FAR * sd > 0 else 0.0


def _scale(values: Array) -> float:
    """Return the power of two next to the root mean square of the values; 1 if that is near one anyway."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    size = largest * math.sqrt(float(np.mean((values / largest) ** 2)))
    return 1.0 if 1 / NEAR_ONE <= size <= NEAR_ONE else 2.0 ** round(math.log2(size))
