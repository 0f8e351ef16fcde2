"""Profile likelihood of standard deviations and correlations.

The criterion not profiled over sigma is, with s = log sigma,

    d(theta, s) = D(theta) + dof (log 2 pi + 2 s) + r^2(theta) exp(-2 s),

D the log-determinants. To hold a quantity c at a value, d is minimized under the constraint; the
limits of a confidence interval are the two values at which the minimum lies chi2(level, 1) above the
optimum (Venzon & Moolgavkar 1988; lme4's ``profile``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.layout import Floats
from holdsup.numerics.quantiles import chi2_quantile

__all__ = ["Quantity", "profile_limits"]

FAR_OFF, TOO_HIGH = 50.0, 1e12  # how far a search may go from its start, and what it finds beyond
FARTHEST = 40  # times that a bracket is widened before a limit is called infinite


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A function of (theta, s) whose limits are wanted.

    Attributes
    ----------
    value : the function
    slope : its gradient, shape (k + 1,)
    lowest, highest : between which it lies
    """

    value: Callable[[Floats], float]
    slope: Callable[[Floats], Floats]
    lowest: float
    highest: float


def profile_limits(criterion: Criterion, optimum: Floats, quantity: Quantity, *, level: float) -> tuple[float, float]:
    """Return the profile-likelihood limits of a quantity; `optimum` is (theta, log sigma)."""
    objective = _Unprofiled(criterion)
    best = objective(optimum)[0]
    rise = chi2_quantile(level, 1)
    here = quantity.value(optimum)
    cache: dict[float, tuple[float, Floats]] = {here: (best, optimum)}

    def excess(target: float) -> float:
        near = min(cache, key=lambda known: abs(known - target))
        value, point = _held(objective, cache[near][1], quantity, target)
        cache[target] = (value, point)
        return value - best - rise

    spread = _first_step(objective, optimum, quantity)
    return (
        _limit(excess, here, -spread, quantity.lowest),
        _limit(excess, here, spread, quantity.highest),
    )


class _Unprofiled:
    """d(theta, s) with its gradient."""

    def __init__(self, criterion: Criterion) -> None:
        self.criterion = criterion

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        theta, s = point[:-1], float(point[-1])
        try:
            logdet, by_residual, there = self.criterion.parts(theta)
        except (FloatingPointError, np.linalg.LinAlgError):
            return TOO_HIGH, np.zeros(len(point))  # a line search went astray: send it back
        dof = self.criterion.dof
        ratio = there.sigma2 * math.exp(-2 * s)  # r^2 / (dof sigma^2)
        value = there.value + dof * (2 * s - math.log(there.sigma2) + ratio - 1)
        return value, np.append(logdet + dof * ratio * by_residual, 2 * dof * (1 - ratio))


def _held(objective: _Unprofiled, start: Floats, quantity: Quantity, target: float) -> tuple[float, Floats]:
    """Return the minimum of the criterion with the quantity held at `target`."""
    scale = max(abs(target), abs(quantity.value(start)), 1e-8)
    theta, s = start[:-1], float(start[-1])
    reach = FAR_OFF * np.maximum(np.abs(theta), 1.0)
    bounds = [*zip(theta - reach, theta + reach, strict=True), (s - 10, s + 10)]
    constraint = {
        "type": "eq",
        "fun": lambda point: (quantity.value(point) - target) / scale,
        "jac": lambda point: quantity.slope(point) / scale,
    }
    found = minimize(
        objective, start, jac=True, method="SLSQP", bounds=bounds, constraints=[constraint],
        options={"ftol": 1e-10, "maxiter": 100},
    )  # fmt: skip
    return float(found.fun), np.asarray(found.x)


def _first_step(objective: _Unprofiled, optimum: Floats, quantity: Quantity) -> float:
    """Return about a standard error of the quantity, from the curvature of the criterion."""
    k = len(optimum)
    H = np.empty((k, k))
    for i in range(k):
        step = np.zeros(k)
        step[i] = 1e-4 * max(abs(optimum[i]), 1e-2)
        H[:, i] = (objective(optimum + step)[1] - objective(optimum - step)[1]) / (2 * step[i])
    slope = quantity.slope(optimum)
    variance = float(slope @ np.linalg.pinv((H + H.T) / 2, rcond=1e-10) @ slope) * 2
    return math.sqrt(variance) if variance > 0 else max(abs(quantity.value(optimum)), 1e-3)


def _limit(excess: Callable[[float], float], here: float, step: float, end: float) -> float:
    """Return where the excess crosses zero on one side, or the end of the range where it does not."""
    inside, reach = here, step
    for _ in range(FARTHEST):
        outside = here + reach
        beyond = outside <= end if step < 0 else outside >= end
        if beyond and math.isfinite(end):
            outside = end
        if excess(outside) > 0:
            if inside != here and excess(inside) >= 0:  # rounding put the crossing at the last point
                return inside
            return float(brentq(excess, inside, outside, xtol=1e-7 * abs(outside - here) + 1e-14, rtol=1e-9))
        if outside == end:
            return end
        inside, reach = outside, reach * 1.6
    return end if math.isfinite(end) else math.copysign(math.inf, step)
