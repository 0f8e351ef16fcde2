"""How far a profile of the items' share must rise where items differ more unevenly than normal ones.

A likelihood trusts that effects are normal. What it knows of the share of the items in the variance comes, item by
item, from d_i, the square of the item's mean less the squares within it, each over its expectation. Were all normal,
d_i had the variance 2 + 2 / (n - 1), n the scores of an item. The rise is stretched by what it has beyond that, the
quantile is Student's with the degrees of freedom that the variance of d_i has, and Hall's (1992) transformation takes
account of its skewness: where a few items matter most, samples that lack them seem both less varied and more certain.
The item that departs most is counted three times, for the like of it that were not drawn.
"""

from __future__ import annotations

import math

import numpy as np

from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.quantiles import t_quantile

__all__ = ["find_reaches"]

UNSEEN = (
    2  # items like the most uneven one that were not drawn: with 2, coverage is 93% or more, with 1 it is 90 to 92%
)


def find_reaches(
    deviations: Floats, items: Ints, ratio: float, *, level: float, skewed: bool = True
) -> tuple[float, float]:
    """Return the roots of the rise at which the lower and the upper limit of the items' share lie.

    Parameters
    ----------
    deviations : scores less all effects but the items' own, shape (n,)
    items : item of each score, numbered from 0
    ratio : variance of items over that within them
    level : coverage of the limits
    skewed : whether items may be skewed beyond what was seen; those of 0/1 scores end where the scale does
    """
    scored = np.bincount(items) > 0
    counts, sums, squares = (np.bincount(items, deviations**power)[scored] for power in (0, 1, 2))
    means = sums / counts
    within = squares - counts * means**2
    spare = float((counts - 1).sum())
    between = means**2 / (ratio + 1 / counts)
    noise = within.sum() / spare
    # where nothing varies, between items or within them, each is as it is expected to be
    apart = between / between.mean() - 1 if between.mean() > 0 else np.zeros(len(counts))
    inside = within / noise - (counts - 1) if noise > 0 else np.zeros(len(counts))
    d = apart - inside * len(counts) / spare
    n, normal = len(counts), 2 + 2 * len(counts) / spare
    least = t_quantile((1 + level) / 2, math.inf)  # never narrower than what normal items would give
    d = np.append(d, [d[np.abs(d).argmax()]] * UNSEEN)
    variance = float(d @ d) / n
    if variance == 0:
        return least, least
    skewness = max(0.0, float((d**3).sum()) / n / variance**1.5 / math.sqrt(n)) if skewed else 0.0
    kurtosis = float((d**4).sum()) / n / variance**2
    reach = t_quantile((1 + level) / 2, max(1.0, 2 * n / (kurtosis - 1) if kurtosis > 1 else math.inf))
    stretch = math.sqrt(max(1.0, variance / normal))
    return max(least, stretch * _undo_skewness(reach, skewness)), -stretch * _undo_skewness(-reach, skewness)


def _undo_skewness(x: float, skewness: float) -> float:
    """Return the value that Hall's transformation takes to x."""
    if skewness < 1e-8:
        return x
    return float(3 * (np.cbrt(1 + skewness * (x - skewness / 6)) - 1) / skewness)
