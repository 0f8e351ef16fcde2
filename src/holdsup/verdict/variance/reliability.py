"""Reliability: phi with its limits, and what one calls it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.fit import LmmFit, bootstrap_fit, profile_intervals, profile_share, random_effects, residuals
from holdsup.numerics.beta_binomial import correlation_limits
from holdsup.numerics.uneven_items import find_reaches

__all__ = ["BANDS", "BOOTSTRAP", "JIANG", "Limits", "find_limits", "limit_share", "name_band", "reaches"]

BANDS = ((0.5, "poor"), (0.75, "moderate"), (0.9, "good"), (1.0, "excellent"))  # below each; Koo & Li (2016)
JIANG = 0.80  # the threshold of Jiang (2018)
PROFILE, BOOTSTRAP = "profile likelihood", "parametric bootstrap"
STRETCHED, BINARY = "stretched profile likelihood", "stretched profile likelihood and beta-binomial"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the variances of a fit and of the share of what is measured.

    Attributes
    ----------
    variances : lower and upper limit of each variance, by group
    share : of the variance of items, clusters and datasets in the total
    method : where those of the variances come from
    share_method : where those of the share come from
    """

    variances: dict[str, tuple[float, float]]
    share: tuple[float, float]
    method: str
    share_method: str


def find_limits(
    fit: LmmFit,
    *,
    first: int = 1,
    level: float,
    draws: int,
    seed: int,
    items: bool = False,
    processes: int | None = None,
) -> Limits:
    """Return limits by profile likelihood; by the bootstrap's percentiles where the profile cannot be followed.

    The share is that of the `first` terms together, `items` says that the very first are items: there are many of
    them, and how unevenly they differ counts.

    Profiles go first because they come nearer to their promise where a facet with few levels matters: with three
    levels 95% limits of phi covered 93% of the time, percentiles 82% (docs/variance.md).
    """
    shared = [component.group for component in fit.random[:first]]
    try:
        found = {
            interval.group: (interval.low**2, interval.high**2) for interval in profile_intervals(fit, level=level)
        }
        if items:
            share, method = limit_share(fit, shared, level=level)
        else:
            plain = profile_share(fit, *shared, level=level)
            share, method = (plain.low, plain.high), PROFILE
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        drawn = bootstrap_fit(fit, draws, seed=seed, level=level, processes=processes)
        percentiles = {c.group: i for c, i in zip(fit.random, drawn.components(), strict=True)}
        found = {group: (interval.low**2, interval.high**2) for group, interval in percentiles.items()}
        by_draws = drawn.share(*shared)
        return Limits(found, (by_draws.low, by_draws.high), BOOTSTRAP, BOOTSTRAP)
    return Limits(found, share, PROFILE, method)


def limit_share(fit: LmmFit, groups: Sequence[str], *, level: float) -> tuple[tuple[float, float], str]:
    """Return limits of the share of items and what they lie in, stretched where items differ unevenly, and their name.

    The items are the fit's first group. Of 0/1 scores, samples without an item that fails twice tell little, which
    their spread does not show: limits are the wider ones of these and of a beta-binomial's.
    """
    design = fit.model().design
    items, score = design.random[0].group.codes.astype(np.int64), design.variables.response
    high = score == score.max()
    binary = bool((high | (score == score.min())).all())
    deviations = residuals(fit) + random_effects(fit, with_sd=False)[0].values[items, 0]
    variances = [component.variance for component in fit.random]
    reaches = find_reaches(deviations, items, variances[0] / variances[-1], level=level, skewed=not binary)
    share = profile_share(fit, *groups, level=level, reaches=reaches)
    if not binary:
        return (share.low, share.high), STRETCHED
    low, top = correlation_limits(np.bincount(items, high).astype(np.int64), np.bincount(items), level=level)
    return (min(share.low, low), max(share.high, top)), BINARY


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
