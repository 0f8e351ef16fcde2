"""How two lists of scores of the same items go together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.quantiles import t_quantile

__all__ = ["correlation_limits", "pearson", "rmse", "spearman"]


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's correlation, NaN where one of the lists is constant."""
    a, b = np.asarray(x, float), np.asarray(y, float)
    if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        return math.nan
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1, 1))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's correlation: Pearson's of the ranks, ties sharing theirs."""
    return pearson(_ranks(x), _ranks(y))


def rmse(x: ArrayLike, y: ArrayLike) -> float:
    """Return the root of the mean squared difference."""
    return float(np.sqrt(np.mean((np.asarray(x, float) - np.asarray(y, float)) ** 2)))


def correlation_limits(r: float, n: int, *, level: float) -> tuple[float, float]:
    """Return limits of a correlation of n pairs by Fisher's transformation; -1 to 1 below four pairs."""
    if n < 4 or math.isnan(r):
        return -1.0, 1.0
    if abs(r) == 1:
        return r, r
    reach = t_quantile((1 + level) / 2, math.inf) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def _ranks(values: ArrayLike) -> NDArray[np.float64]:
    _, places, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places], float)
