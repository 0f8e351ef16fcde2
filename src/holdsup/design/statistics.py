"""What a design needs to know of all values of a variable: enough to centre it and to bring it near one.

Statistics of parts add up to those of the whole (Chan, Golub & LeVeque 1983, *The American Statistician* 37:242),
so that a table may be read in batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Statistics", "summarize"]

PIECE = 2**15  # values whose distances from the mean stay in the cache
SQUARABLE = 1e-150, 1e150  # sizes whose squares neither vanish nor overflow


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a variable over the rows used.

    Attributes
    ----------
    n : number of rows
    mean : their mean
    spread : standard deviation with divisor n
    low : the smallest value
    high : the largest value
    """

    n: int
    mean: float
    spread: float
    low: float
    high: float

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
