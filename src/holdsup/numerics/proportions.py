"""Scores with two values: intervals of shares, and the difference of two systems that were right or wrong on each item.

Student's t fails at the ends of a scale: 100 right of 100 have no spread, so that its interval is [1, 1], and at an
accuracy of .98 it covers 85%. Here the null's variance is used, which is never zero by luck:

- a mean: Wilson's (1927) interval, on as many independent items as would give the variance found;
- a difference of paired items: Tango's (1998) score test, with one item more on which systems differ. Its p without a
  margin is McNemar's, (b - c)^2 / (b + c + 1), and the interval has all differences that it does not reject, so that
  the two always agree. Without the one, 4 wins and no loss would be p = .046, where an exact test has .125.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from holdsup.numerics.decisions import Differences
from holdsup.numerics.layout import Floats

STEPS = 60  # halvings of an interval of differences: to the last digit


def wilson(
    mean: ArrayLike, variance: ArrayLike, items: ArrayLike, quantile: ArrayLike, low: float = 0.0, high: float = 1.0
) -> tuple[Floats, Floats]:
    """Return the interval of a mean on a scale with two ends.

    Its centre is drawn towards the middle of the scale, so that it never leaves the scale, and never has no width.

    Parameters
    ----------
    variance : of the mean; the items that a share would need for it are m (1 - m) / variance, m the mean as a share
    items : independent items, or clusters; these count where nothing varies, whatever the number of runs
    quantile : of Student's t, or of the normal distribution
    low, high : ends of the scale

    Examples
    --------
    >>> low, high = wilson(1.0, 0.0, 100, 1.96)
    >>> round(float(low), 3), round(float(high), 3)
    (0.963, 1.0)
    """
    width = high - low
    share = np.clip((np.asarray(mean, float) - low) / width, 0.0, 1.0)
    most, spread = share * (1 - share), np.asarray(variance, float) / width**2
    count = np.where((spread > 0) & (most > 0), most / np.where(spread > 0, spread, 1.0), items)
    square = np.asarray(quantile, float) ** 2
    centre = (share + square / (2 * count)) / (1 + square / count)
    half = np.sqrt(square * (most / count + square / (4 * count**2))) / (1 + square / count)
    return low + width * np.maximum(0.0, centre - half), low + width * np.minimum(1.0, centre + half)


@dataclass(frozen=True, slots=True, eq=False)
class PairedShares:
    """How often one of two systems alone was right, for one pair or many: of `items`, `wins` left's and `losses`."""

    items: ArrayLike
    wins: ArrayLike
    losses: ArrayLike

    @classmethod
    def of(cls, right: ArrayLike, left_of: ArrayLike, right_of: ArrayLike) -> PairedShares:
        """Return the pairs of systems that were right, or not, on each item.

        Parameters
        ----------
        right : shape (S, I)
        left_of, right_of : the systems of each pair
        """
        hits = np.asarray(right, float)
        both, alone = hits @ hits.T, hits.sum(-1)
        common = both[left_of, right_of]
        return cls(hits.shape[-1], alone[left_of] - common, alone[right_of] - common)

    @property
    def estimate(self) -> Floats:
        """The difference of the two shares."""
        wins, losses, items = (np.asarray(each, float) for each in (self.wins, self.losses, self.items))
        return np.asarray((wins - losses) / items)

    def deviate(self, difference: ArrayLike = 0.0) -> Floats:
        """Return Tango's z of a difference: how far out the items are if that is the true one.

        >>> float(PairedShares(100, 7, 1).deviate()), float(PairedShares(100, 0, 0).deviate())
        (2.0, 0.0)
        """
        n, b, c = (np.asarray(each, float) for each in (self.items, self.wins, self.losses))
        d = np.asarray(difference, float)
        # The share of losses that is most likely under the difference: the larger root of A q^2 + B q + C.
        B, C = -b - c + (2 * n - b + c) * d, -c * d * (1 - d)
        losses = (np.sqrt(np.maximum(0.0, B**2 - 8 * n * C)) - B) / (4 * n)
        variance = n * (2 * losses + d * (1 - d)) + 1
        return np.asarray((b - c - n * d) / np.sqrt(variance))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the differences that the test does not reject.

        >>> low, high = PairedShares(100, 0, 0).interval(0.95)
        >>> round(float(low), 3), round(float(high), 3)
        (-0.045, 0.045)
        """
        z = -special.ndtri((1 - level) / 2)
        middle = self.estimate
        low = _bisect(lambda d: self.deviate(d) > z, np.full_like(middle, -1.0), middle)
        high = _bisect(lambda d: self.deviate(d) >= -z, middle, np.ones_like(middle))
        return low, high

    def decide(self, width: float, up: ArrayLike, level: float) -> Differences:
        """Return p, and the interval of a level, of differences in scores that are `width` apart, raised by `up`."""
        shift = np.broadcast_to(np.asarray(up, float), self.estimate.shape)
        z = self.deviate(-shift / width)
        low, high = self.interval(level)
        unknown = np.full_like(low, np.nan)
        disagreeing = np.asarray(self.wins, float) + np.asarray(self.losses, float) + 1
        return Differences(
            estimate=width * self.estimate + shift,
            se=width * np.sqrt(disagreeing) / np.asarray(self.items, float),
            df=np.full_like(low, np.inf),
            p=2 * special.ndtr(-np.abs(z)),
            log10_p=(np.log(2.0) + special.log_ndtr(-np.abs(z))) / np.log(10.0),
            low=width * low + shift,
            high=width * high + shift,
            se_limits=unknown,
            df_limits=unknown,
            test=np.zeros(low.shape, np.intp),
            claims=("these-runs",),
        )


def _bisect(beyond: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return where `beyond`, true at low and false at high, ends."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        there = beyond(middle)
        low, high = np.where(there, middle, low), np.where(there, high, middle)
    return np.asarray((low + high) / 2)
