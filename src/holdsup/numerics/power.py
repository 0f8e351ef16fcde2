"""How often the tests of `compare` find a difference, before there are scores: the one calculation of power.

A test on few degrees of freedom measures its own standard error badly, and the cautious degrees of freedom move with
it. So the test itself is gone through: its parts are drawn as they would be measured, chi-squares on their degrees of
freedom, and each draw has its critical difference c. With the true standard error s, a difference d is found with
probability mean Phi((d - c) / s). Scores of 0 and 1 that have a test of their own are drawn as wins and losses.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy import special

from holdsup.numerics.arithmetic import find_root
from holdsup.numerics.decisions import FEWEST_DF
from holdsup.numerics.families import Systems, draw_family
from holdsup.numerics.layout import Floats
from holdsup.numerics.pooling import Pool
from holdsup.numerics.proportions import PairedShares
from holdsup.numerics.spread import Spread, cautious_df, total_variance

POWER = 0.8
HOPELESS = 1e6  # standard errors: no such difference is looked for
SURE = 10.0  # standard errors beyond which a difference is found for certain
POINTS = 512  # draws, spread evenly: the power is then right to half a percent
CELLS = 100_000  # p-values that are drawn for the level of a pair: its power is then right to a percent
SHARE_POINTS = 4096  # of wins and losses, which are whole numbers
WIDE = 20.0  # standard deviation of a binomial distribution from which on its quantiles are approximated


def find_detectable(spread: Spread, alpha: float, power: float = POWER) -> float:
    """Return the difference that a test at the level `alpha` finds with some power.

    Infinite on less than one degree of freedom, and where too many draws need more than anybody looks for; zero where
    nothing varies.
    """
    scale = math.sqrt(float(total_variance([spread])))
    if scale == 0:
        return 0.0
    if float(cautious_df([spread], alpha)) < FEWEST_DF:
        return math.inf
    critical = np.sort(critical_differences(spread, alpha) / scale)
    # Between what the luckiest draw needs and what is found in enough draws for certain. The ends may be a million
    # apart, for a draw on a fraction of a degree of freedom needs that much: the search is for the logarithm.
    low = max(critical[0] + special.ndtri(power), critical[0] / HOPELESS)
    high = critical[min(math.ceil(power * POINTS), POINTS - 1)] + SURE
    if not high < HOPELESS:
        return math.inf
    found = find_root(
        lambda x: float(special.ndtr(math.exp(x) - critical).mean()) - power, math.log(low), math.log(high)
    )
    return scale * math.exp(found)


def find_power(spread: Spread, difference: float, alpha: float) -> float:
    """Return how often a test at the level `alpha` finds a difference, in its own direction."""
    scale = math.sqrt(float(total_variance([spread])))
    critical = critical_differences(spread, alpha)
    if scale == 0:
        return 1.0
    return float(special.ndtr((difference - critical) / scale).mean())


def find_equivalence_power(spread: Spread, margin: float, alpha: float) -> float:
    """Return how often two systems that do not differ are shown to be closer than a margin: both one-sided tests."""
    scale = math.sqrt(float(total_variance([spread])))
    if scale == 0:
        return 1.0
    room = (margin - critical_differences(spread, 2 * alpha)) / scale
    return float(np.maximum(0.0, special.ndtr(room) - special.ndtr(-room)).mean())


def critical_differences(spread: Spread, alpha: float) -> Floats:
    """Return the smallest difference that is told, half the width of its CI, for each draw of the parts.

    p of both tests must be small.
    """
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


def find_share_power(items: int, disagreement: float, difference: float, alpha: float, *, margin: float = 0.0) -> float:
    """Return how often the score test of two systems, each right or wrong once on each item, finds a difference.

    With a margin, how often it shows that they are closer than that. Wins and losses are drawn as they may come out.

    Parameters
    ----------
    disagreement : the share of items on which one system is right and the other wrong
    """
    first, second = _points(2, SHARE_POINTS)
    apart = _binomial(first, np.full_like(first, items), disagreement)
    wins = _binomial(second, apart, (1 + difference / disagreement) / 2)
    shares = PairedShares(items, wins, apart - wins)
    if margin:
        z = -special.ndtri(alpha)
        return float(((shares.deviate(-margin) >= z) & (shares.deviate(margin) <= -z)).mean())
    return float((shares.deviate() >= -special.ndtri(alpha / 2)).mean())


def _binomial(share: Floats, count: Floats, probability: float) -> Floats:
    """Return quantiles of binomial distributions; of wide ones by Cornish and Fisher's expansion, to a count."""
    if probability >= 1:
        return np.broadcast_to(count, share.shape).astype(float)
    sd, z = np.sqrt(count * probability * (1 - probability)), special.ndtri(share)
    if sd.min() > WIDE:
        return np.asarray(np.ceil(count * probability + sd * z + (1 - 2 * probability) * (z**2 - 1) / 6 - 0.5))
    found = special.bdtrik(share, np.maximum(count, 1.0), probability)  # where the distribution function reaches it
    return np.asarray(np.where(count > 0, np.minimum(np.ceil(np.nan_to_num(found)), count), 0.0))


def pool_systems(spread: Spread, systems: int) -> Spread:
    """Return the parts of one pair of several systems that are alike, run variances moderated as `compare` does.

    `spread` has the parts of two of them.
    """
    if systems == 2 or len(spread.runs) != 2:
        return spread
    part, df = (np.full(systems, float(each[0])) for each in (spread.runs, spread.run_df))
    pool = Pool.of([int(df[0]) + 1] * systems, df, part)
    return pool.share(spread, part, df, np.asarray(0), np.asarray(1))


def share_level(spread: Spread, systems: int, alpha: float) -> float:
    """Return the level at which `compare` tests each pair of several systems that are alike: single-step max-t."""
    left, right = np.triu_indices(systems, 1)
    new_runs = len(spread.runs) == 2
    part, noise, df = (
        np.full(systems, float(each[0]) if new_runs else 0.0) for each in (spread.runs, spread.noise, spread.run_df)
    )
    pool = Pool.of([int(df[0]) + 1] * systems, df, part)
    covariance = np.eye(systems) * float(spread.these) / 2
    parts = Systems(np.zeros(systems), part, noise, df, covariance, spread.item_df, pool, left, right)
    pairs = np.ones(len(left))
    whole = replace(spread, estimate=0 * pairs, these=spread.these * pairs)
    return draw_family(parts, whole, alpha, new_runs=new_runs, cells=CELLS).share(alpha)


def _draw(spread: Spread) -> Spread:
    """Return the parts as they may be measured: each times a chi-square over its degrees of freedom."""
    dfs = [*spread.run_df, spread.item_df]
    factors = [_luck(float(df), place, len(dfs)) for place, df in enumerate(dfs)]
    return replace(
        spread,
        these=spread.these * factors[-1],
        runs=tuple(part * factor for part, factor in zip(spread.runs, factors, strict=False)),
    )


@lru_cache(maxsize=1024)
def _luck(df: float, place: int, dimensions: int) -> Floats:
    """Return draws of a chi-square over its degrees of freedom: those of one of several parts."""
    return np.asarray(2 * special.gammaincinv(df / 2, _points(dimensions)[place]) / df)


@lru_cache(maxsize=16)
def _points(dimensions: int, count: int = POINTS) -> Floats:
    """Return points that fill the unit cube evenly, shape (dimensions, count): multiples of the powers of 1/x.

    x^(dimensions + 1) = x + 1: the golden ratio for one dimension. Roberts (2018).
    """
    x = find_root(lambda x: x ** (dimensions + 1) - x - 1, 1.0, 2.0)
    steps = x ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.outer(steps, np.arange(count))) % 1)
