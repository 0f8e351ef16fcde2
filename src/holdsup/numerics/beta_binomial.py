"""How much of the variance of 0/1 scores lies between items: likelihood limits of a beta-binomial's correlation.

Item i has k_i successes in n_i scores; its probability is drawn from a beta distribution with mean mu, and rho is the
correlation of two scores of an item, the share of the items in the variance. With two scores an item this is any
distribution at all. With C(x > j) the number of items with x above j the log-likelihood is, but for a constant,

    sum_j  C(k > j) log(mu (1 - rho) + j rho) + C(n - k > j) log((1 - mu)(1 - rho) + j rho)
           - C(n > j) log(1 - rho + j rho),

concave in mu. Limits of rho are where its profile has risen by the quantile of the chi-square.
"""

from __future__ import annotations

import numpy as np

from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.quantiles import chi2_quantile
from holdsup.numerics.roots import find_root

__all__ = ["correlation_limits"]

GRID = np.concatenate([[0.0], np.geomspace(1e-4, 0.2, 30), np.linspace(0.22, 0.98, 39), [0.99, 0.999, 0.9999]])
HALVINGS = 50  # of the interval in which mu lies


def correlation_limits(successes: Ints, trials: Ints, *, level: float) -> tuple[float, float]:
    """Return limits of the correlation of two 0/1 scores of an item.

    >>> low, high = correlation_limits(np.array([2] * 95 + [1] * 5), np.full(100, 2), level=0.95)  # no item fails twice
    >>> low, round(high, 2)
    (0.0, 0.48)
    """
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
