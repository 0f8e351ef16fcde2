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
from scipy import special

from holdsup.numerics.differences import FEWEST_DF
from holdsup.numerics.layout import Floats
from holdsup.numerics.roots import find_root
from holdsup.numerics.spread import Spread, cautious_df, total_variance

__all__ = ["find_detectable"]

POWER = 0.8
HOPELESS = 1e6  # standard errors: no such difference is looked for
SURE = 10.0  # standard errors beyond which a difference is found for certain
POINTS = 512  # draws, spread evenly: the power is then right to half a percent


def find_detectable(spread: Spread, alpha: float) -> float:
    """Return the difference that a test at the level `alpha` finds four times in five.

    Infinite on less than one degree of freedom, and where one draw in five needs more than anybody looks for; zero
    where nothing varies.
    """
    scale = math.sqrt(float(total_variance([spread])))
    if scale == 0:
        return 0.0
    if float(cautious_df([spread], alpha)) < FEWEST_DF:
        return math.inf
    critical = np.sort(_critical(spread, alpha) / scale)
    # Between what the luckiest draw needs and what finds four draws in five for certain. The ends may be a million
    # apart, for a draw on a fraction of a degree of freedom needs that much: the search is for the logarithm.
    low, high = critical[0] + special.ndtri(POWER), critical[math.ceil(POWER * POINTS)] + SURE
    if not high < HOPELESS:
        return math.inf
    found = find_root(
        lambda x: float(special.ndtr(math.exp(x) - critical).mean()) - POWER, math.log(low), math.log(high)
    )
    return scale * math.exp(found)


def _critical(spread: Spread, alpha: float) -> Floats:
    """Return the smallest difference that is told, for each draw of the parts; p of both tests must be small."""
    draws = _draw(spread)
    level = 1 - alpha / 2
    items = special.stdtrit(spread.item_df, level) * np.sqrt(draws.these)
    if not spread.runs:
        return np.asarray(items)
    variance = total_variance([draws])
    some = variance > 0  # where neither runs nor items add to the noise, the test over runs has nothing to say
    both = special.stdtrit(np.where(some, cautious_df([draws], alpha), np.inf), level) * np.sqrt(variance)
    return np.asarray(
        np.maximum(np.where(np.isnan(both), np.inf, both), items)
    )  # next to no df: the quantile is not computed


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
    x = find_root(lambda x: x ** (dimensions + 1) - x - 1, 1.0, 2.0)
    steps = x ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.outer(steps, np.arange(POINTS))) % 1)
