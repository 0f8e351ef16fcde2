"""Which candidates cannot be told from the pick, and how much better than the pick another may be.

Multiple comparisons with the best (Hsu 1984), on differences between candidates on the same partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats
from holdsup.numerics.tuning.standing import Standing

__all__ = ["Limits", "limit_regret"]

DRAWS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """What simultaneous limits say.

    Attributes
    ----------
    upper : upper limit of each candidate's mean minus the pick's; zero for the pick, NaN for one that is out
    alike : which candidates cannot be told from the pick, the pick among them
    regret : upper limit of what the best candidate's mean exceeds the pick's by; NaN with one partition
    """

    upper: Floats
    alike: NDArray[np.bool_]
    regret: float


def limit_regret(standing: Standing, *, level: float, seed: int, draws: int = DRAWS) -> Limits:
    """Return upper limits of the differences from the pick that hold together with confidence `level`."""
    inside = standing.counts > 0
    if np.isnan(standing.variance):
        return Limits(np.full(len(inside), np.nan), inside, float("nan"))
    rivals, errors = standing.rivals, standing.errors
    factor = _critical_value(standing, level, np.random.default_rng(seed), draws) if len(rivals) else 0.0
    upper = np.full(len(inside), np.nan)
    upper[rivals] = (standing.gaps + np.maximum(factor * errors, standing.own_reach(level)))[rivals]
    upper[standing.pick] = 0.0
    upper = np.where(inside, upper[standing.twins], np.nan)
    return Limits(upper, inside & (upper >= 0), max(0.0, float(np.nanmax(upper))))


def _critical_value(standing: Standing, level: float, rng: np.random.Generator, draws: int) -> float:
    """Return the quantile of the largest of the rivals' standardised errors, which share the error of the pick.

    Dunnett's distribution, with the covariance of these candidates instead of equal correlations.
    """
    rivals = standing.rivals
    df = standing.weight + standing.counts.max() - 1
    seen = rng.standard_normal((draws, len(standing.residuals))) @ standing.residuals[:, rivals]
    own = rng.standard_normal((draws, len(rivals) + 1))
    pooled = np.sqrt(standing.weight * standing.variance / 2) * (own[:, 1:] - own[:, :1])
    scale = np.sqrt(standing.counts[rivals] * standing.df[rivals]) * standing.errors[rivals]
    known = scale > 0
    if not known.any():
        return 0.0
    largest = ((seen + pooled)[:, known] / scale[known]).max(axis=1)
    return float(np.quantile(largest * np.sqrt(df / rng.chisquare(df, draws)), level))
