"""A mean of human labels of some items, corrected by what a judge says of all.

With labels h on n of N items and a judge's scores f on all, the estimate is

    mean(h) + t (mean of all f - mean(f where labelled)),

which is right whatever the judge's bias, for labelled items are a sample of all (Angelopoulos et al. 2023; in surveys
the regression estimator of double sampling, Cochran 1977, section 12.6). t is the slope of h on f, which makes the
variance the least, as labelled items are part of all of them. Where they were drawn with unequal chances each stands
for its weight, and t is the slope by squared weights. The variance is the jackknife's over clusters of items, so that
it has the uncertainty of t; t on two degrees of freedom less than there are labelled clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats

FEWEST_LABELS = 10


class Corrected(NamedTuple):
    """A corrected mean."""

    estimate: float
    se: float
    df: float
    tuning: float  # the weight of the judge, t


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Labels of some items and a judge's scores of all, one number an item, shape (N,)."""

    label: Floats  # NaN where there is none
    judge: Floats
    weight: Floats  # how many items a label stands for
    cluster: NDArray[np.integer]  # the item's own number where there are no clusters

    @property
    def has(self) -> NDArray[np.bool_]:
        """Which items have labels."""
        return ~np.isnan(self.label)

    def correct(self, *, tuned: bool = True) -> Corrected:
        """Return the mean of the labels over all items; without tuning, that of the labels alone."""
        has, codes = self.has, np.unique(self.cluster, return_inverse=True)[1]
        w = np.where(has, self.weight, 0.0)
        centre, middle = float(np.nanmean(self.label)), float(self.judge.mean())
        h, f = np.where(has, self.label - centre, 0.0), self.judge - middle
        square = w**2
        columns = (w, w * h, w * f, np.ones(len(f)), f, square, square * h, square * f, square * f * f, square * f * h)
        sums = np.stack([np.bincount(codes, column) for column in columns])
        total = sums.sum(1)
        labelled = int((sums[0] > 0).sum())
        estimate, tuning = _estimate(total[:, None], tuned)
        without = _estimate(total[:, None] - (sums if tuned else sums[:, sums[0] > 0]), tuned)[0]
        count = len(without)
        variance = (count - 1) / count * float(((without - without.mean()) ** 2).sum())
        df = float(labelled - (2 if tuned else 1))
        return Corrected(float(estimate[0]) + centre, variance**0.5, df, float(tuning[0]))


def _estimate(sums: Floats, tuned: bool) -> tuple[Floats, Floats]:
    """Return the estimate and t from sums, shape (10, any number of samples)."""
    w, h, f, count, every, s1, sh, sf, sff, sfh = sums
    spread = sff - sf * sf / s1
    some = (spread > 1e-12 * np.maximum(sff, 1e-300)) & tuned
    slope = np.where(some, (sfh - sf * sh / s1) / np.where(some, spread, 1.0), 0.0)
    return h / w + slope * (every / count - f / w), slope
