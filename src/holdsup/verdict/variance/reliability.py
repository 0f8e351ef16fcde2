"""Reliability: phi with its limits, and what one calls it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdsup.fit import LmmFit, bootstrap_fit, profile_intervals, profile_share

__all__ = ["BANDS", "BOOTSTRAP", "JIANG", "Limits", "find_limits", "name_band", "reaches"]

BANDS = ((0.5, "poor"), (0.75, "moderate"), (0.9, "good"), (1.0, "excellent"))  # below each; Koo & Li (2016)
JIANG = 0.80  # the threshold of Jiang (2018)
PROFILE, BOOTSTRAP = "profile likelihood", "parametric bootstrap"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the variances of a fit and of the share of its first terms.

    Attributes
    ----------
    variances : lower and upper limit of each variance, by group
    share : of the first groups' variance in the total
    method : where they come from
    """

    variances: dict[str, tuple[float, float]]
    share: tuple[float, float]
    method: str


def find_limits(
    fit: LmmFit, *, first: int = 1, level: float, draws: int, seed: int, processes: int | None = None
) -> Limits:
    """Return limits by profile likelihood; by the bootstrap's percentiles where the profile cannot be followed.

    The share is that of the `first` terms together.

    Profiles go first because they come nearer to their promise where a facet with few levels matters: with three
    levels 95% limits of phi covered 93% of the time, percentiles 82% (docs/variance.md).
    """
    shared = [component.group for component in fit.random[:first]]
    try:
        found = {
            interval.group: (interval.low**2, interval.high**2) for interval in profile_intervals(fit, level=level)
        }
        share = profile_share(fit, *shared, level=level)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        drawn = bootstrap_fit(fit, draws, seed=seed, level=level, processes=processes)
        percentiles = {c.group: i for c, i in zip(fit.random, drawn.components(), strict=True)}
        found = {group: (interval.low**2, interval.high**2) for group, interval in percentiles.items()}
        by_draws = drawn.share(*shared)
        return Limits(found, (by_draws.low, by_draws.high), BOOTSTRAP)
    return Limits(found, (share.low, share.high), PROFILE)


def name_band(low: float, high: float) -> str:
    """Return the words for all values between two limits.

    >>> name_band(0.62, 0.81), name_band(0.95, 0.99), name_band(0.1, 0.95)
    ('moderate to good', 'excellent', 'poor to excellent')
    """
    first, last = _band(low), _band(high)
    return first if first == last else f"{first} to {last}"


def _band(phi: float) -> str:
    return next((name for top, name in BANDS if phi < top), BANDS[-1][1])


def reaches(low: float, high: float, threshold: float = JIANG) -> str:
    """Return whether limits lie above a threshold: yes, no, or unsure.

    >>> reaches(0.82, 0.9), reaches(0.2, 0.9), reaches(0.2, 0.3)
    ('yes', 'unsure', 'no')
    """
    if low >= threshold:
        return "yes"
    return "no" if high < threshold else "unsure"
