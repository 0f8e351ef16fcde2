"""Simultaneous limits along a line: where, over all values of a property at once, two systems differ.

The line is b0 + b1 z, with z the property in standard deviations from its mean; `Trends` has b0 and b1.

- Over new items: Working and Hotelling's band, b0 + b1 z +- sqrt(2 F(2, df)) se(z).
- Over new runs as well: Graybill and Bowden's (1967), +- (h0 + h1 |z|), with h0 and h1 the half-widths of b0
  and b1 at half the error each. Few runs do not tell the correlation of b0 and b1, on which se(z)
  rests: two runs make some se(z) zero. This band holds whatever the correlation is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, log10, sqrt

import numpy as np
from scipy import special

from holdsup.numerics.differences import Difference, decide, reach_of
from holdsup.numerics.layout import Floats
from holdsup.numerics.roots import find_root
from holdsup.numerics.tails import Tail, f_tail
from holdsup.numerics.trends import Trends

__all__ = ["CENTRE", "SLOPE", "bound_line", "decide_direction", "find_ranges", "half_width", "test_line", "tighten"]

CENTRE, SLOPE = np.array([1.0, 0.0]), np.array([0.0, 1.0])
STEPS = 2000  # places at which a band is looked at; the ends of a range are then found exactly


def decide_direction(trends: Trends, direction: Floats, *, new_runs: bool, level: float) -> Difference:
    """Return the test and the limits of one combination of coefficients."""
    tests = trends.tests(direction, new_runs=new_runs)
    return decide(trends.estimate(direction), tests, trends.scale(direction), level)


def half_width(trends: Trends, direction: Floats, *, new_runs: bool, level: float) -> float:
    """Return the half-width of the limits of one combination of coefficients."""
    tests = trends.tests(direction, new_runs=new_runs)
    return max(reach_of(test, level) for test in tests)


def test_line(trends: Trends, *, new_runs: bool) -> Tail:
    """Return the p of no difference at any value: b0 = b1 = 0."""
    found = [decide_direction(trends, each, new_runs=new_runs, level=0.95) for each in (CENTRE, SLOPE)]
    if new_runs:
        return tighten(min(found, key=lambda each: each.log10_p), 2)
    try:
        squares = float(trends.coefficients @ np.linalg.solve(trends.these, trends.coefficients))
    except np.linalg.LinAlgError:
        raise ValueError("the differences lie on a line: a test needs their spread, and there is none.") from None
    return f_tail(max(0.0, squares) / 2, 2, _item_df(trends))


test_line.__test__ = False  # type: ignore[attr-defined]  # a function of ours, not one for pytest


def tighten(found: Difference | Tail, times: int) -> Tail:
    """Return a p that is the smallest of several, by Bonferroni's inequality."""
    log = min(0.0, found.log10_p + log10(times))
    return Tail(min(1.0, times * found.p), log)


def bound_line(trends: Trends, z: Floats, *, new_runs: bool, level: float) -> Floats:
    """Return the half-width of the simultaneous limits at each of `z`."""
    if new_runs:
        centre, slope = (half_width(trends, each, new_runs=True, level=(1 + level) / 2) for each in (CENTRE, SLOPE))
        if not isfinite(centre + slope):  # neither without the other: there is no band
            return np.full(np.shape(z), inf)
        return np.asarray(centre + slope * np.abs(z))
    reach = sqrt(2 * float(special.fdtri(2, _item_df(trends), level)))
    V = trends.these
    return np.asarray(reach * np.sqrt(np.maximum(0.0, V[0, 0] + 2 * z * V[0, 1] + z**2 * V[1, 1])))


def find_ranges(
    line: Callable[[Floats], Floats], half: Callable[[Floats], Floats], low: float, high: float
) -> list[tuple[float, float, int]]:
    """Return where, between `low` and `high`, the limits exclude zero: from, to, and the sign of the line."""
    places = np.linspace(low, high, STEPS + 1)
    ranges = []
    for sign in (-1, 1):

        def clear(z: Floats | float, sign: int = sign) -> Floats:
            return sign * line(np.asarray(z)) - half(np.asarray(z))

        outside = clear(places) > 0
        edges = np.flatnonzero(np.diff(outside.astype(int)))
        cuts = [find_root(lambda z: float(clear(z)), places[i], places[i + 1], xtol=1e-12) for i in edges]
        ends = [*([low] if outside[0] else []), *cuts, *([high] if outside[-1] else [])]
        ranges += [(float(a), float(b), sign) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return sorted(ranges)


def _item_df(trends: Trends) -> float:
    return min(trends.item_df(CENTRE), trends.item_df(SLOPE))
