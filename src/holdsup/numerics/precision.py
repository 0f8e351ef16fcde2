r"""How closely repeated measurements agree: mean, standard deviation and coefficient of variation, with limits.

Belz, Popović & Mille (2022), section 3.2, for n values of a scale that starts at zero:

.. math:: s^* = s / c_4(n), \quad \mathrm{se}(s^*) = \frac{s^2}{2 s^*}\sqrt{\frac{2}{n - 1}}, \quad
          s^* \pm t_{n-1}\,\mathrm{se}(s^*), \quad \mathrm{CV}^* = \left(1 + \frac{1}{4n}\right) 100\,\frac{s^*}{\bar x}

CV* is corrected twice, by c4 and by 1 + 1/(4n), and the limits of s* may go below zero. Beside them stand s*/mean,
corrected once, and limits that are exact for normal values: chi-square for the standard deviation, noncentral t for its
ratio to the mean.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from holdsup.numerics.arithmetic import find_root
from holdsup.numerics.distributions import chi2_quantile, t_quantile

NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)
FAR = 9.0  # standard deviations beyond which the normal density is nothing to a double


@dataclass(frozen=True, slots=True)
class Precision:
    """How closely values agree; see the module for the formulas."""

    n: int  # number of values
    mean: float  # their mean
    s: float  # standard deviation, divisor n - 1
    sd: float  # unbiased standard deviation s*
    sd_se: float  # its standard error
    sd_low: float  # lower limit of s* as published, by Student's t; may be negative
    sd_high: float  # upper limit of s* as published
    sd_low_chi2: float  # lower limit of the standard deviation, by chi-square
    sd_high_chi2: float  # upper limit of the standard deviation, by chi-square
    cv: float  # CV* as published, in percent
    cv_plain: float  # s* over the mean, in percent
    cv_low: float  # lower limit of the standard deviation over the mean, in percent, by noncentral t
    cv_high: float  # its upper limit, infinite where there is none
    next_low: float  # lower limit of the next value
    next_high: float  # upper limit of the next value


def measure_precision(values: ArrayLike, *, level: float = 0.95) -> Precision:
    """Return the precision of two values or more, on a scale that starts at zero, whose mean is positive."""
    n = len(np.asarray(values))
    mean, s, unit = _moments(values)
    sd = s / c4(n)
    se = s * c4(n) / math.sqrt(2 * (n - 1))  # s^2 sqrt(2 / (n - 1)) / (2 s*), which needs no division by s
    tail = (1 - level) / 2
    t = t_quantile(1 - tail, n - 1)
    cv_low, cv_high = variation_interval(mean, s, n, level=level)
    reach = t * s * math.sqrt(1 + 1 / n)
    return Precision(
        n=n,
        mean=mean * unit,
        s=s * unit,
        sd=sd * unit,
        sd_se=se * unit,
        sd_low=(sd - t * se) * unit,
        sd_high=(sd + t * se) * unit,
        sd_low_chi2=unit * s * math.sqrt((n - 1) / chi2_quantile(1 - tail, n - 1)),
        sd_high_chi2=unit * s * math.sqrt((n - 1) / chi2_quantile(tail, n - 1)),
        cv=_cv(mean, s, n),
        cv_plain=100 * sd / mean,
        cv_low=100 * cv_low,
        cv_high=100 * cv_high,
        next_low=(mean - reach) * unit,
        next_high=(mean + reach) * unit,
    )


def measure_cv(values: ArrayLike) -> float:
    """Return CV* alone, as published, of two values or more whose mean is positive."""
    mean, s, _ = _moments(values)
    return _cv(mean, s, len(np.asarray(values)))


def magnitude(values: ArrayLike) -> float:
    """Return the power of two by which values are divided so that their squares stay within what a number can be.

    A power of two takes no digit away.

    >>> magnitude([3.0, -5.0]), magnitude([0.0])
    (4.0, 1.0)
    """
    largest = float(np.abs(np.asarray(values, float)).max())
    return 2.0 ** (math.frexp(largest)[1] - 1) if largest > 0 else 1.0


def _moments(values: ArrayLike) -> tuple[float, float, float]:
    """Return mean and s in units of the magnitude of the values, and that magnitude."""
    x = np.asarray(values, float)
    unit = magnitude(x)
    x = x / unit
    s = 0.0 if x.max() == x.min() else float(x.std(ddof=1))  # the rounding of the mean is no spread
    return float(x.mean()), s, unit


def _cv(mean: float, s: float, n: int) -> float:
    return (1 + 1 / (4 * n)) * 100 * (s / c4(n)) / mean


def c4(n: int) -> float:
    """Return the mean of s over sigma for n normal values: sqrt(2/(n - 1)) Gamma(n/2) / Gamma((n - 1)/2).

    >>> round(c4(2), 6), round(c4(8), 6)
    (0.797885, 0.96503)
    """
    return math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2)) * math.sqrt(2 / (n - 1))


def variation_interval(mean: float, s: float, n: int, *, level: float) -> tuple[float, float]:
    """Return limits of sigma/mu for a mean and s of n normal values; the upper one may be infinite.

    sqrt(n) mean/s has a noncentral t distribution whose noncentrality is sqrt(n) mu/sigma. Where the mean could as well
    be zero, no value of sigma/mu is too large.
    """
    if s == 0:
        return 0.0, 0.0
    t = math.sqrt(n) * mean / s
    tail = (1 - level) / 2
    largest = 2 * t + 2 * FAR
    while noncentral_t_cdf(t, n - 1, largest) > tail:
        largest *= 2
    above = find_root(lambda d: noncentral_t_cdf(t, n - 1, d) - tail, 0.0, largest)
    if noncentral_t_cdf(t, n - 1, 0.0) <= 1 - tail:
        return math.sqrt(n) / above, math.inf
    below = find_root(lambda d: noncentral_t_cdf(t, n - 1, d) - (1 - tail), 0.0, above)
    return math.sqrt(n) / above, math.sqrt(n) / below if below > 0 else math.inf


def noncentral_t_cdf(t: float, df: float, noncentrality: float) -> float:
    r"""Return P(T <= t) for t > 0 and a noncentrality of 0 or more.

    .. math:: P(T > t) = \int_{-\delta}^\infty \varphi(z)\, F_{\chi^2}\!\left(\nu (z + \delta)^2 / t^2\right) dz

    by Gauss and Legendre's rule, left and right of where the chi-square distribution has risen to one. The integrand is
    as smooth for t = 100,000 (values that agree to five digits) as for t = 10, which series for it are not.
    """
    start = max(-noncentrality, -FAR)
    risen = t * (1 + FAR / math.sqrt(2 * df)) - noncentrality
    edges = (start, min(max(risen, start), FAR), FAR)
    above = math.fsum(_tail(t, df, noncentrality, left, right) for left, right in itertools.pairwise(edges))
    return 1 - above


def _tail(t: float, df: float, noncentrality: float, left: float, right: float) -> float:
    half = (right - left) / 2
    z: NDArray[np.float64] = left + half * (NODES + 1)
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return float(half * (WEIGHTS * density * special.chdtr(df, df * ((z + noncentrality) / t) ** 2)).sum())
