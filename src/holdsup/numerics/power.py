"""The difference that a test finds four times in five, given the parts of its variance.

A test on few degrees of freedom measures its own standard error badly, and the cautious degrees of freedom
move with it. So the test itself is gone through: its parts are drawn as they would be measured, chi-squares on
their degrees of freedom, and each draw has its critical difference c. With the true standard error s, a
difference d is found with probability mean Phi((d - c) / s).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy import optimize, special

from holdsup.numerics.differences import FEWEST_DF
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import Spread, cautious_df, total_variance

__all__ = ["find_detectable"]

POWER = 0.8
POINTS = 512  # draws, spread evenly: the power is then right to half a percent


def find_detectable(spread: Spread, alpha: float) -> float:
    """Return the difference that a test at the level `alpha` finds four times in five.

    Infinite on less than one degree of freedom, zero where nothing varies.
    """
    scale = math.sqrt(float(total_variance([spread])))
    if scale == 0:
        return 0.0
    if float(cautious_df([spread], alpha)) < FEWEST_DF:
        return math.inf
    critical = _critical(spread, alpha)
    # At this difference nine draws in ten find it for certain: it is too large.
    large = float(np.quantile(critical, (1 + POWER) / 2)) + 10 * scale
    return float(optimize.brentq(lambda d: special.ndtr((d - critical) / scale).mean() - POWER, 0.0, large))


def _critical(spread: Spread, alpha: float) -> Floats:
    """Return the smallest difference that is told, for each draw of the parts; p of both tests must be small."""
    draws = _draw(spread)
    level = 1 - alpha / 2
    both = special.stdtrit(cautious_df([draws], alpha), level) * np.sqrt(total_variance([draws]))
    items = special.stdtrit(spread.item_df, level) * np.sqrt(draws.these)
    return np.asarray(np.maximum(both, items) if spread.runs else items)


def _draw(spread: Spread) -> Spread:
    """Return the parts as they may be measured: each times a chi-square over its degrees of freedom."""
    dfs = [*spread.run_df, spread.item_df]
    factors = [2 * special.gammaincinv(df / 2, u) / df for df, u in zip(dfs, _points(len(dfs)), strict=True)]
    return replace(
        spread,
        these=spread.these * factors[-1],
        runs=tuple(part * factor for part, factor in zip(spread.runs, factors, strict=False)),
    )


def _points(dimensions: int) -> Floats:
    """Return points that fill the unit cube evenly, shape (dimensions, POINTS): multiples of the powers of 1/x.

    x^(dimensions + 1) = x + 1: the golden ratio for one dimension. Roberts (2018).
    """
    x = optimize.brentq(lambda x: x ** (dimensions + 1) - x - 1, 1.0, 2.0)
    steps = x ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.outer(steps, np.arange(POINTS))) % 1)
