"""How much of the variance of scores lies between items, where items are not normal.

**0/1 scores.** Item i has k_i successes in n_i scores; its probability is drawn from a beta distribution with mean mu,
and rho is the correlation of two scores of an item, the share of the items in the variance. With two scores an item
this is any distribution at all. With C(x > j) the number of items with x above j the log-likelihood is, but for a
constant, concave in mu,

    sum_j  C(k > j) log(mu (1 - rho) + j rho) + C(n - k > j) log((1 - mu)(1 - rho) + j rho)
           - C(n > j) log(1 - rho + j rho).

With more than two scores an item the beta distribution is an assumption, and where no item has the rarer outcome twice
it alone says how alike two scores can be. One item that has it twice is then added for the upper limit.

**Other scores.** A likelihood trusts that effects are normal. What it knows of the share of the items comes, item by
item, from d_i, the square of the item's mean less the squares within it, each over its expectation. Were all normal,
d_i had the variance 2 + 2 / (n - 1), n the scores of an item. The rise of a profile is stretched by what it has beyond
that, the quantile is Student's with the degrees of freedom that the variance of d_i has, and Hall's (1992)
transformation takes account of its skewness: where a few items matter most, samples that lack them seem both less
varied and more certain. The item that departs most is counted three times, for the like of it that were not drawn;
with two scores an item five times for the upper limit, as noise hides them there.
"""

from __future__ import annotations

import math

import numpy as np

from holdsup.numerics.arithmetic import find_root
from holdsup.numerics.distributions import chi2_quantile, t_quantile
from holdsup.numerics.layout import Floats, Ints

GRID = np.concatenate([[0.0], np.geomspace(1e-4, 0.2, 30), np.linspace(0.22, 0.98, 39), [0.99, 0.999, 0.9999]])
HALVINGS = 50  # of the interval in which mu lies
# items like the most uneven one that were not drawn: with 1, coverage is 90 to 92%, with 2 it is 93% or more, but for
# log-normal items in two runs, where the upper limit takes 4
UNSEEN, UNSEEN_IN_TWO = 2, 4
FEW = 2.5  # scores an item, on average, below which they count as two


def binary_share_interval(successes: Ints, trials: Ints, *, level: float) -> tuple[float, float]:
    """Return where the profile of rho has risen by the quantile of the chi-square.

    >>> passed, trials = np.array([2] * 95 + [1] * 5), np.full(100, 2)  # no item fails twice
    >>> low, high = binary_share_interval(passed, trials, level=0.95)
    >>> low, round(high, 2)
    (0.0, 0.48)
    """
    low, high = _follow_profile(successes, trials, level)
    ones, most = int(successes.max()), int(trials.max())
    if most > 2 and min(ones, int((trials - successes).max())) == 1:
        twice = 2 if ones == 1 else most - 2
        high = max(high, _follow_profile(np.append(successes, twice), np.append(trials, most), level)[1])
    return low, high


def _follow_profile(successes: Ints, trials: Ints, level: float) -> tuple[float, float]:
    profile = _Profile(successes, trials)
    values = profile.at(GRID)
    best = int(values.argmin())
    fine = np.linspace(GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)], 41)
    top = float(min(values[best], profile.at(fine).min())) + chi2_quantile(level, 1)

    def excess(rho: float) -> float:
        return float(profile.at(np.array([rho]))[0]) - top

    below, above = (np.flatnonzero(values[part] > top) for part in (slice(None, best), slice(best, None)))
    low = find_root(excess, GRID[below[-1]], GRID[best], xtol=1e-7) if len(below) else 0.0
    high = find_root(excess, GRID[best], GRID[best + above[0]], xtol=1e-7) if len(above) else 1.0
    return low, high


class _Profile:
    """-2 log-likelihood as a function of rho, mu at its best."""

    def __init__(self, successes: Ints, trials: Ints) -> None:
        self.steps = np.arange(int(trials.max()))
        self.hits, self.misses, self.all = (
            np.bincount(counts, minlength=len(self.steps) + 1)[::-1].cumsum()[::-1][1:].astype(float)
            for counts in (successes, trials - successes, trials)
        )

    def at(self, rho: Floats) -> Floats:
        """Return the values at several rho below 1."""
        scale, steps = (1 - rho)[:, None], rho[:, None] * self.steps
        low, high = np.zeros(len(rho)), np.ones(len(rho))
        for _ in range(HALVINGS):
            mu = (low + high) / 2
            rising = self._slope(mu[:, None], scale, steps) > 0
            low, high = np.where(rising, mu, low), np.where(rising, high, mu)
        mu = ((low + high) / 2)[:, None]
        hit, miss = np.log(mu * scale + steps), np.log((1 - mu) * scale + steps)
        return np.asarray(-2 * (hit @ self.hits + miss @ self.misses - np.log(scale + steps) @ self.all))

    def _slope(self, mu: Floats, scale: Floats, steps: Floats) -> Floats:
        return np.asarray((self.hits / (mu * scale + steps) - self.misses / ((1 - mu) * scale + steps)).sum(1))


def find_reaches(
    deviations: Floats, items: Ints, ratio: float, *, level: float, skewed: bool = True
) -> tuple[float, float]:
    """Return the roots of the rise at which the lower and the upper limit of the items' share lie.

    Parameters
    ----------
    deviations : scores less all effects but the items' own, shape (n,)
    items : item of each score, numbered from 0
    ratio : variance of items over that within them
    level : coverage of the CIs
    skewed : whether items may be skewed beyond what was seen; those of 0/1 scores end where the scale does
    """
    scored = np.bincount(items) > 0
    counts, sums, squares = (np.bincount(items, deviations**power)[scored] for power in (0, 1, 2))
    means = sums / counts
    within = squares - counts * means**2
    spare = float((counts - 1).sum())
    between = means**2 / (ratio + 1 / counts)
    noise = within.sum() / spare
    # where nothing varies, between items or within them, each is as it is expected to be
    apart = between / between.mean() - 1 if between.mean() > 0 else np.zeros(len(counts))
    inside = within / noise - (counts - 1) if noise > 0 else np.zeros(len(counts))
    d = apart - inside * len(counts) / spare
    normal, few = 2 + 2 * len(counts) / spare, spare < (FEW - 1) * len(counts)
    unseen = UNSEEN, UNSEEN_IN_TWO if few and skewed else UNSEEN
    return _reach(d, unseen[0], normal, level, skewed)[0], _reach(d, unseen[1], normal, level, skewed)[1]


def _reach(d: Floats, unseen: int, normal: float, level: float, skewed: bool) -> tuple[float, float]:
    """Return both roots, the item that departs most counted as often more as it was not drawn."""
    n, least = len(d), t_quantile((1 + level) / 2, math.inf)  # never narrower than what normal items would give
    d = np.append(d, [d[np.abs(d).argmax()]] * unseen)
    variance = float(d @ d) / n
    if variance == 0:
        return least, least
    skewness = max(0.0, float((d**3).sum()) / n / variance**1.5 / math.sqrt(n)) if skewed else 0.0
    kurtosis = float((d**4).sum()) / n / variance**2
    reach = t_quantile((1 + level) / 2, max(1.0, 2 * n / (kurtosis - 1) if kurtosis > 1 else math.inf))
    stretch = math.sqrt(max(1.0, variance / normal))
    return max(least, stretch * _undo_skewness(reach, skewness)), -stretch * _undo_skewness(-reach, skewness)


def _undo_skewness(x: float, skewness: float) -> float:
    """Return the value that Hall's transformation takes to x."""
    if skewness < 1e-8:
        return x
    return float(3 * (np.cbrt(1 + skewness * (x - skewness / 6)) - 1) / skewness)
