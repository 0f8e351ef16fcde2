"""How far two or more lists agree: kappa and alpha of labels, correlations and distances of scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.distributions import t_quantile

SCALES = ("nominal", "ordinal", "interval")


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return Fleiss' (1971) kappa of counts, shape (items, labels): how many raters gave an item a label.

    Each item must have the same number of raters, two or more. NaN where all labels are the same.
    """
    table = np.asarray(counts, float)
    raters = table[0].sum()
    agreement = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    by_chance = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return float(agreement.mean() - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def krippendorff_alpha(values: ArrayLike, scale: str = "nominal") -> float:
    """Return Krippendorff's alpha of values, shape (raters, items), NaN where a rater gave none.

    alpha = 1 - observed/expected disagreement, from the matrix of coincidences (Krippendorff 2011). Items with fewer
    than two values say nothing and are left out. On the nominal scale values are codes of labels, on the ordinal one
    their ranks count, on the interval one they are numbers. NaN where all values are the same.
    """
    table = np.asarray(values, float)
    table = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    levels = np.unique(table[~np.isnan(table)])
    counts = np.array([(table == level).sum(axis=0) for level in levels], float)  # (levels, items)
    raters = counts.sum(axis=0)
    weighted = counts / (raters - 1)
    coincidences = weighted @ counts.T - np.diag(weighted.sum(axis=1))
    totals = coincidences.sum(axis=1)
    distances = _distances(levels, totals, scale)
    observed = (coincidences * distances).sum()
    expected = (np.outer(totals, totals) * distances).sum() / (totals.sum() - 1)
    return float(1 - observed / expected) if expected > 0 else math.nan


def _distances(levels: NDArray[np.float64], totals: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    """Return the squared differences of levels on a scale, shape (levels, levels)."""
    if scale == "nominal":
        return 1.0 - np.eye(len(levels))
    # The ordinal difference counts the values from one level to the other, half of those at either end.
    places = levels if scale == "interval" else np.cumsum(totals) - totals / 2
    return np.asarray(np.subtract.outer(places, places) ** 2, float)


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


def correlation_interval(r: float, n: int, *, level: float) -> tuple[float, float]:
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
