"""Minimizing the criterion: Newton's method on its symmetric extension.

The criterion depends on Lambda through Lambda Lambda' only, so it does not change when a column of
Lambda changes sign: it is a smooth function of all real theta, and the bounds "diagonal >= 0" merely
pick one of the mirror images. The search is therefore free of bounds; signs are put right at the end.
A variance of zero is then an ordinary stationary point: a minimum if the fit is singular, a saddle if
it is not, told apart by the curvature there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from holdsup.numerics.layout import Floats

__all__ = ["Objective", "Optimum", "minimize"]

ENOUGH = 1e-9  # expected further decrease, in units of the criterion (-2 log-likelihood)
CERTAIN = 1e-5  # expected decrease up to which a fit that cannot improve for rounding counts as converged
MOST_STEPS = 100
DIFFERENCE = 1e-4  # relative step of the difference quotient of gradients
SMALLEST = 1e-2  # theta below which the step is absolute
STRETCH = 3.0  # a step changes no parameter by more than this times itself (or 0.1)
FLAT = 1e-10  # eigenvalues of the scaled curvature below this times the largest are treated as this


class Objective(Protocol):
    """A smooth function of theta that can be minimized."""

    def value(self, theta: Floats) -> float:
        """Return the value."""

    def slopes(self, theta: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Where the search ended, and how sure it is.

    Attributes
    ----------
    theta : the parameters
    value : the criterion
    gradient : its gradient
    curvature : its Hessian, shape (k, k)
    converged : whether it is a minimum: the expected decrease is nil and no direction curves down
    reason : why the search ended, in words
    decrease : the decrease that another Newton step would bring
    steps : Newton steps taken
    """

    theta: Floats
    value: float
    gradient: Floats
    curvature: Floats
    converged: bool
    reason: str
    decrease: float
    steps: int


def minimize(objective: Objective, start: Floats) -> Optimum:
    """Return the minimum that Newton's method finds from `start`."""
    theta = np.array(start, dtype=float)
    value, gradient = objective.slopes(theta)
    if not len(theta):
        return Optimum(theta, value, gradient, np.empty((0, 0)), True, "no variance to estimate", 0.0, 0)
    reason, steps = f"no end after {MOST_STEPS} steps", 0
    while steps < MOST_STEPS:
        steps += 1
        H = curvature(objective, theta, gradient)
        step, decrease, downhill = newton_step(H, gradient)
        if decrease < ENOUGH and not downhill:
            reason = "the gradient is nil"
            polished = objective.slopes(theta + step)
            if polished[0] <= value and _norm(H, polished[1]) <= _norm(H, gradient):
                theta, (value, gradient) = theta + step, polished
            break
        if decrease < ENOUGH and downhill:
            step = _off_the_saddle(H, theta)
        moved = _search(objective, theta, value, step)
        if moved is None:
            reason = "rounding leaves no further decrease"
            break
        theta, value, gradient = moved
    H = curvature(objective, theta, gradient)
    _, decrease, downhill = newton_step(H, gradient)
    converged = bool(math.isfinite(value) and decrease < CERTAIN and not downhill)
    return Optimum(theta, value, gradient, H, converged, reason, decrease, steps)


def curvature(objective: Objective, theta: Floats, gradient: Floats) -> Floats:
    """Return the Hessian, by forward differences of the exact gradient."""
    k = len(theta)
    H = np.empty((k, k))
    for i in range(k):
        moved = theta.copy()
        moved[i] += DIFFERENCE * max(abs(theta[i]), SMALLEST)
        H[:, i] = (objective.slopes(moved)[1] - gradient) / (moved[i] - theta[i])
    return (H + H.T) / 2


def newton_step(H: Floats, gradient: Floats) -> tuple[Floats, float, bool]:
    """Return the step, the decrease expected of it, and whether some direction curves down.

    The curvature of a factor with 11,490 levels and of one with 2 differ by orders of magnitude:
    the eigenvalues are those of H scaled to a unit diagonal, and their signs are made positive.
    """
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))
    values, vectors = np.linalg.eigh(H * scale[:, None] * scale)
    floor = FLAT * max(1.0, float(np.abs(values).max()))
    along = vectors.T @ (scale * gradient)
    step = -scale * (vectors @ (along / np.maximum(np.abs(values), floor)))
    return step, float(-gradient @ step) / 2, bool((values < -1e-4).any())


def _norm(H: Floats, gradient: Floats) -> float:
    return float(np.abs(gradient / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))).max())


def _off_the_saddle(H: Floats, theta: Floats) -> Floats:
    """Return a step along the direction that curves down most; at a saddle the gradient shows none."""
    vectors = np.linalg.eigh(H)[1]
    return np.asarray(vectors[:, 0] * 0.05 * max(1.0, float(np.abs(theta).max()) * 0.1))


def _search(objective: Objective, theta: Floats, value: float, step: Floats) -> tuple[Floats, float, Floats] | None:
    """Return the first point along the step that is lower, or None when rounding hides any decrease."""
    limit = STRETCH * np.maximum(np.abs(theta), 0.1)
    length = min(1.0, float(np.min(limit / np.maximum(np.abs(step), 1e-300))))
    for _ in range(40):
        moved = theta + length * step
        found, gradient = objective.slopes(moved)
        if found < value:
            return moved, found, gradient
        length *= 0.3
    return None
