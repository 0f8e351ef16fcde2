"""Where a function of one number crosses zero, weights as shares, and differences that are the rounding of sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from holdsup.numerics.layout import Floats

EPSILON = 2.0**-52
NOISE = 1e-12  # of the largest number involved: what is below it is rounding
ROUNDING = 16 * EPSILON  # of the largest score: a spread or a difference below it is rounding


def find_root(function: Callable[[float], float], low: float, high: float, *, xtol: float = 2e-12) -> float:
    """Return where a continuous function crosses zero between `low` and `high`, to `xtol` plus four roundings.

    Inverse quadratic interpolation where three points lie so that it is safe, else a step to the middle: Chandrupatla
    (1997), Advances in Engineering Software 28, 145-149. SciPy's `brentq` needs no fewer steps, but importing
    `scipy.optimize` takes longer than all of a small comparison.

    Raises
    ------
    ValueError : the function has the same sign, or is no number, at both ends

    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0), 10)
    1.4142135624
    """
    a, b = float(high), float(low)
    fa, fb = float(function(a)), float(function(b))
    if not fa * fb <= 0:
        raise ValueError(f"no root between {low:g} and {high:g}: the values there are {fb:g} and {fa:g}")
    c, fc, share = a, fa, 0.5
    while True:
        x = a + share * (b - a)
        fx = float(function(x))
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        best, least = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        width = abs(b - a)
        reach = xtol + 4 * EPSILON * abs(best)
        if least == 0 or width <= reach:
            return best
        share = min(max(_step(a, b, c, fa, fb, fc), 0.5 * reach / width), 1 - 0.5 * reach / width)


def _step(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    """Return how far from a to b to look next."""
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (phi**2 < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)


def without_noise(differences: Floats, scale: Floats | float) -> Floats:
    """Return differences of numbers as large as `scale`; those that are rounding are zero."""
    return np.where(np.abs(differences) <= NOISE * scale, 0.0, differences)


def largest(values: Floats) -> float:
    """Return the largest of some numbers in absolute value; NaN does not count."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def share_out(weights: ArrayLike | None, count: int) -> Floats:
    """Return weights as shares of their sum; where there are none, equal shares.

    >>> share_out([1, 3], 2).tolist(), share_out(None, 4).tolist()
    ([0.25, 0.75], [0.25, 0.25, 0.25, 0.25])
    """
    given = np.ones(count) if weights is None else np.asarray(weights, float)
    return np.asarray(given / given.sum())
