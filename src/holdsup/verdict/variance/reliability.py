"""Reliability: phi with its confidence interval, and what one calls it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.errors import FitError
from holdsup.fit import LmmFit, bootstrap_fit, fit_lmm, profile_intervals, profile_share, random_effects, residuals
from holdsup.numerics.item_share import binary_share_interval, find_reaches
from holdsup.verdict.variance.records import JIANG

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
BANDS = ((0.5, "poor"), (0.75, "moderate"), (0.9, "good"), (1.0, "excellent"))  # below each; Koo & Li (2016)
PROFILE, BOOTSTRAP = "profile likelihood", "parametric bootstrap"
STRETCHED, BINARY = "stretched profile likelihood", "stretched profile likelihood and beta-binomial"


@dataclass(frozen=True, slots=True)
class Intervals:
    """Confidence intervals of the variances of a fit, and of the share of what is measured."""

    variances: dict[str, tuple[float, float]]  # lower and upper end for each variance, by group
    share: tuple[float, float]  # of the variance of items, clusters and datasets in the total
    method: str  # where those of the variances come from
    share_method: str  # where those of the share come from


def find_intervals(
    fit: LmmFit,
    *,
    first: int = 1,
    level: float,
    draws: int,
    seed: int,
    items: bool = False,
    processes: int | None = None,
) -> Intervals:
    """Return intervals by profile likelihood; by the bootstrap's percentiles where the profile cannot be followed.

    The share is that of the `first` terms together, `items` says that the very first are items: there are many of
    them, and how unevenly they differ counts.

    Profiles go first because they come nearer to their promise where a facet with few levels matters: with three
    levels 95% CIs of phi covered 93% of the time, percentiles 82% (docs/variance.md).
    """
    shared = [component.group for component in fit.random[:first]]
    try:
        found = {
            interval.group: (interval.low**2, interval.high**2) for interval in profile_intervals(fit, level=level)
        }
        if items:
            share, method = find_share_interval(fit, shared, level=level)
        else:
            plain = profile_share(fit, *shared, level=level)
            share, method = (plain.low, plain.high), PROFILE
    except (FitError, ValueError, ArithmeticError, np.linalg.LinAlgError):
        drawn = bootstrap_fit(fit, draws, seed=seed, level=level, processes=processes)
        percentiles = {c.group: i for c, i in zip(fit.random, drawn.components(), strict=True)}
        found = {group: (interval.low**2, interval.high**2) for group, interval in percentiles.items()}
        by_draws = drawn.share(*shared)
        return Intervals(found, (by_draws.low, by_draws.high), BOOTSTRAP, BOOTSTRAP)
    return Intervals(found, share, PROFILE, method)


def find_share_interval(fit: LmmFit, groups: Sequence[str], *, level: float) -> tuple[tuple[float, float], str]:
    """Return the interval of the share of items and what they lie in, wider where items differ unevenly.

    The items are the fit's first group. Of 0/1 scores, samples without an item that fails twice tell little, which
    their spread does not show: the interval is the wider of this one and a beta-binomial's.
    """
    design = fit.model().design
    items, score = design.random[0].group.codes.astype(np.int64), design.variables.response
    high = score == score.max()
    binary = bool((high | (score == score.min())).all())
    deviations = residuals(fit) + random_effects(fit, with_sd=False)[0].values[items, 0]
    variances = [component.variance for component in fit.random]
    reaches = find_reaches(deviations, items, variances[0] / variances[-1], level=level, skewed=not binary)
    if len(fit.random) == 2:  # items and noise
        stretched = profile_share(fit, *groups, level=level, reaches=reaches)
        low, top = stretched.low, stretched.high
    else:
        low, top = _stretch_items(fit, groups, deviations, items, reaches, level)
    if not binary:
        return (low, top), STRETCHED
    least, most = binary_share_interval(np.bincount(items, high).astype(np.int64), np.bincount(items), level=level)
    return (min(low, least), max(top, most)), BINARY


def _stretch_items(
    fit: LmmFit, groups: Sequence[str], deviations: Floats, items: Codes, reaches: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return the profile interval of a share, wider by what uneven items add to that of items against noise alone.

    Uneven items say nothing about a facet. A profile whose every direction is stretched lets the variance of a facet
    with few levels grow without end: with five seeds, phi of .97 had a CI from 0. So distances between an end and the
    estimate are added by their squares (MOVER, Zou and Donner 2008), on the scale of the arcsine of the root.
    """
    whole = profile_share(fit, *groups, level=level)
    alone = fit_lmm("y ~ 1 + (1 | item)", pa.table({"y": deviations, "item": pa.array(items).cast(pa.string())}))
    plain, stretched = (profile_share(alone, "item", level=level, reaches=each) for each in (None, reaches))
    noise = fit.random[-1].variance
    around = sum(c.variance for c in fit.random[1:-1] if c.group in groups)
    beside = sum(c.variance for c in fit.random[1:-1] if c.group not in groups)

    def angle(own: float) -> float:
        """Return the scale's value of the share, where items have a share of their variance and the noise's."""
        measured = around + (noise * own / (1 - own) if own < 1 else math.inf)
        return _angle(measured / (measured + beside + noise) if measured < math.inf else 1.0)

    middle, here = angle(plain.estimate), _angle(whole.estimate)

    def reach(end: float, own: float, wider: float) -> float:
        extra = (angle(wider) - middle) ** 2 - (angle(own) - middle) ** 2
        return math.sqrt((_angle(end) - here) ** 2 + max(0.0, extra))

    low = here - reach(whole.low, plain.low, stretched.low)
    high = here + reach(whole.high, plain.high, stretched.high)
    return math.sin(max(0.0, low)) ** 2, math.sin(min(math.pi / 2, high)) ** 2


def _angle(share: float) -> float:
    return math.asin(math.sqrt(min(1.0, max(0.0, share))))


def name_band(low: float, high: float) -> str:
    """Return the words for all values of an interval.

    >>> name_band(0.62, 0.81), name_band(0.95, 0.99), name_band(0.1, 0.95)
    ('moderate to good', 'excellent', 'poor to excellent')
    """
    first, last = _band(low), _band(high)
    return first if first == last else f"{first} to {last}"


def _band(phi: float) -> str:
    return next((name for top, name in BANDS if phi < top), BANDS[-1][1])


def reaches(low: float, high: float, threshold: float = JIANG) -> str:
    """Return whether an interval is above a threshold: yes, no, or unsure.

    >>> reaches(0.82, 0.9), reaches(0.2, 0.9), reaches(0.2, 0.3)
    ('yes', 'unsure', 'no')
    """
    if low >= threshold:
        return "yes"
    return "no" if high < threshold else "unsure"
