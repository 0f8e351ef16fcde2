"""A confidence sequence for the mean of bounded differences: limits that hold at every look, however often one looks.

Waudby-Smith and Ramdas (2024): whoever believes that the mean is larger than m bets on it, item after item. If the mean
is m, the capital K_t(m) = prod (1 + b_i (x_i - m)) is a martingale that begins at 1, when each bet b_i is made before
x_i is seen; by Ville's inequality it ever reaches 1/alpha with probability alpha at most. The limit is the smallest m
for which it did not. docs/maths/looking-early.md derives it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from holdsup.numerics.layout import Floats

AIM = 0.05  # one-sided level for which bets are best; they are valid at all
MOST = 0.75  # share of the capital that is risked at most
SURE = 1e-9  # how near the ends of the scale a mean is asked about
STEPS = 50  # halvings of the scale


def place_bets(x: ArrayLike) -> Floats:
    """Return the bet on each of the values in [0, 1], shape (..., n), from the values before it alone.

    sqrt(2 log(1/AIM) / (v t log(1 + t))), v the variance so far, with one value at 1/2 and a variance of 1/4 to begin
    with (equations 15 and 26 of the paper).
    """
    x = np.asarray(x, float)
    t = np.arange(1.0, x.shape[-1] + 1)
    means = (0.5 + np.cumsum(x, -1)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2, -1)) / (t + 1)
    before = np.concatenate([np.full((*x.shape[:-1], 1), 0.25), variances[..., :-1]], -1)
    return np.asarray(np.sqrt(2 * math.log(1 / AIM) / (before * t * np.log1p(t))))


def find_capital(x: Floats, bets: Floats, mean: ArrayLike, *, above: bool) -> Floats:
    """Return the logarithm of the most capital ever won by bets that the mean is above one, or below it.

    `mean` has the shape of `x` without its last axis, or is one number.
    """
    m = np.clip(np.asarray(mean, float), SURE, 1 - SURE)[..., None]
    won = np.minimum(bets, MOST / m) * (x - m) if above else np.minimum(bets, MOST / (1 - m)) * (m - x)
    return np.asarray(np.maximum(0.0, np.cumsum(np.log1p(won), -1).max(-1)))


def find_limit(x: ArrayLike, alpha: float, *, lower: bool) -> Floats:
    """Return the one-sided limit of the mean that holds at all looks with probability 1 - alpha.

    Capital falls as the mean moves towards what was bet on, so that the limit is found by halving.

    >>> x = [0.5, 1.0] * 100
    >>> [round(float(find_limit(x, 0.05, lower=lower)), 3) for lower in (True, False)]
    [0.702, 0.806]
    """
    x = np.asarray(x, float)
    bets, need = place_bets(x), math.log(1 / alpha)
    low, high = np.zeros(x.shape[:-1]), np.ones(x.shape[:-1])
    for _ in range(STEPS):
        middle = (low + high) / 2
        refuted = find_capital(x, bets, middle, above=lower) >= need
        up = refuted if lower else ~refuted
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return low if lower else high


def find_p(x: ArrayLike, mean: ArrayLike) -> Floats:
    """Return the two-sided log10 p of a mean, which holds at all looks: it is small where one of both bets has won."""
    x = np.asarray(x, float)
    bets = place_bets(x)
    won = np.maximum(*(find_capital(x, bets, mean, above=above) for above in (True, False)))
    return np.asarray(np.minimum(0.0, (math.log(2.0) - won) / math.log(10.0)))
