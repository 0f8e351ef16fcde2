"""How probable it is that a candidate is the best over all partitions.

A posterior by draws. Differences of contenders are draws from a normal population: its spread, measured against the
error of the means, has a uniform prior on the share of error (Strawderman 1971; Daniels 1999), so that a lead is
believed the less, the more candidates are as good. Covariances between partitions are drawn towards equal ones: an
inverse-Wishart prior worth up to eight degrees of freedom. Candidates far below the top have a flat prior of their own.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.numerics.layout import Floats
from holdsup.numerics.tuning.standing import Standing

__all__ = ["best_probabilities"]

Places: TypeAlias = NDArray[np.intp]  # of candidates
DRAWS = 4000


def best_probabilities(standing: Standing, *, seed: int, draws: int = DRAWS) -> Floats:
    """Return the probability of each candidate to be the best; NaN with one partition.

    Candidates with the same scores count as one in the draws and are the best together: all have its probability.
    """
    chances = np.zeros(len(standing.means))
    rivals = standing.rivals
    if not len(rivals):
        chances[standing.pick] = 1.0
    elif np.isnan(standing.variance):
        chances[:] = np.nan
    else:
        who = np.append(standing.pick, rivals)  # of equals, the first leads
        gaps = _draw_gaps(standing, who, np.random.default_rng(seed), draws)
        chances = np.bincount(who[gaps.argmax(axis=1)], minlength=len(chances)) / draws
    return np.asarray(chances[standing.twins])


def _draw_gaps(standing: Standing, who: Places, rng: np.random.Generator, draws: int) -> Floats:
    """Return draws of the means of candidates beside that of the pick, shape (draws, candidates)."""
    inside = standing.contenders[who]
    gaps, counts = standing.gaps[who], standing.counts[who]
    df = standing.weight + counts.max() - 1
    inflation = df / rng.chisquare(df, draws)
    noise = _draw_errors(standing, who, rng, draws) * np.sqrt(inflation)[:, None]
    centre = gaps[inside].mean()
    error = standing.variance / 2 / counts.max() * inflation
    share = _draw_shares(((gaps[inside] - centre) ** 2).sum(), error, int(inside.sum()), rng)
    kept = np.where(inside, (1 - share)[:, None], 1.0)
    return np.asarray(centre + kept * (gaps - centre) + np.sqrt(kept) * noise)


def _draw_errors(standing: Standing, who: Places, rng: np.random.Generator, draws: int) -> Floats:
    """Return draws of the errors of the gaps: the residuals' own covariance and the pooled one, by their weights."""
    residuals = standing.residuals[:, who]
    scale = np.sqrt(standing.counts[who] * standing.df[who])
    seen = rng.standard_normal((draws, len(residuals))) @ residuals
    pooled = np.sqrt(standing.weight * standing.variance / 2) * rng.standard_normal((draws, len(who)))
    return np.asarray((seen + pooled) / scale)


def _draw_shares(square: float, error: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return draws of u = error / (error + spread), uniform before the data: a gamma cut off at one.

    Its density is u^((count - 1) / 2) exp(-u square / (2 error)).
    """
    uniform = rng.random(len(error))
    shape = (count - 1) / 2 + 1
    rate = square / np.where(error > 0, 2 * error, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = special.gammaincinv(shape, uniform * special.gammainc(shape, rate)) / rate
    small = rate < 1e-8  # there the exponential is one, and the density a power
    return np.where(error > 0, np.where(small, uniform ** (1 / shape), np.minimum(drawn, 1)), 0.0)
