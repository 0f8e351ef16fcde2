"""What a t-test does not stand: differences with one long tail, and a run that has nothing to do with the others.

A t-test of n differences is off by about their skewness over sqrt(n). Sample skewness is a poor witness of it: the
samples that reject a true null are those that missed the tail, and these look the least skewed. L-skewness (Hosking
1990), made of order statistics, sees the body of the distribution as well. Measured: docs/calibration.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.arithmetic import ROUNDING
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.least_squares import fit_additive

FEWEST, FEWEST_RUNS = 10, 4  # differences, and runs, of which something can be said
AT_30, PER_LOG = 0.35, 0.055  # the L-skewness at which a t-test of 30 rejects more than 7%; more are needed of more
LUCK = 1.9  # over sqrt(n): four standard errors of the L-skewness of normal differences
FALSE_ALARM = 0.01  # share of tables without an outlying run, runs normal, in which one is seen


def l_skewness(values: ArrayLike) -> Floats:
    """Return the L-skewness along the last axis, between -1 and 1: 0 for equal tails, 1/3 for exponential values.

    >>> round(float(l_skewness([0, 0, 0, 0, 1])), 3), float(l_skewness([1, 2, 3]))
    (1.0, 0.0)
    """
    x = np.sort(np.asarray(values, float), axis=-1)
    n = x.shape[-1]
    x = x - x.mean(-1, keepdims=True)
    i = np.arange(n)
    first = np.einsum("...i,i->...", x, i / (n - 1)) / n
    second = np.einsum("...i,i->...", x, i * (i - 1) / ((n - 1) * (n - 2))) / n
    some = first > 0
    return np.asarray(np.where(some, (6 * second - 6 * first) / np.where(some, 2 * first, 1.0), 0.0))


def is_skewed(values: ArrayLike) -> NDArray[np.bool_]:
    """Return whether a t-test of the values' mean rejects well over 5% of true nulls, by their L-skewness."""
    n = np.shape(values)[-1]
    if n < FEWEST:
        return np.zeros(np.shape(values)[:-1], bool)
    least = max(AT_30 + PER_LOG * math.log(n / 30), LUCK / math.sqrt(n))
    return np.asarray(np.abs(l_skewness(values)) > least)


def outlying_run(scores: Floats, *, systems: int) -> int | None:
    """Return the run of a system, scores of items x runs, whose mean is far from the others'; None where none is.

    A t-test of the run that is farthest out against the others, which keeps `FALSE_ALARM` over all runs of all systems.
    Their spread is never taken to be less than what the residual alone gives: of few other runs it may be tiny by luck.
    """
    count = scores.shape[-1]
    if count < FEWEST_RUNS:
        return None
    fit = fit_additive(scores)
    runs = fit.runs
    far = int(np.abs(runs - np.median(runs)).argmax())
    others = np.delete(runs, far)
    spread = max(float(others.std(ddof=1)), math.sqrt(float(_residual_without(fit.residual, far) * fit.run_noise)))
    if spread <= ROUNDING * np.abs(runs).max():
        return None
    t = abs(runs[far] - others.mean()) / (spread * math.sqrt(1 + 1 / len(others)))
    return far if t > t_quantile(1 - FALSE_ALARM / systems / count / 2, count - 2) else None


def _residual_without(residual: Floats, run: int) -> Floats:
    """Return the residual mean square of the other runs: one that collapsed has residuals of its own."""
    own = np.delete(residual, run, axis=-1)
    own = own - own.mean(-1, keepdims=True)
    freedom = max((own.shape[0] - 1) * (own.shape[1] - 1), 1)
    return np.asarray((own**2).sum() / freedom)
