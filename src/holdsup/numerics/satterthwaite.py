"""Satterthwaite's degrees of freedom, from exact gradients.

With phi = (theta, sigma) and the criterion not profiled over sigma,

    d(theta, sigma) = D(theta) + dof log(2 pi sigma^2) + r^2(theta) / sigma^2,

cov(phi) is about 2 H^-1, H the Hessian of d at the optimum, and for a contrast l of the fixed effects
with variance v = l'V(phi)l and gradient g of v with respect to phi

    df = 2 v^2 / (g' cov(phi) g)

(Satterthwaite 1946; Fai & Cornelius 1996; lmerTest, JSS 82(13), eq. 8). Derivatives are central
differences in theta, which has no unit, of gradients that are exact: the result does not depend on the
unit of the scores, as lmerTest's does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdsup.numerics.criterion import Criterion, Solution
from holdsup.numerics.layout import Floats

__all__ = ["Satterthwaite", "prepare"]

DIFFERENCE, NEAR = 1e-4, 2e-5  # relative steps of two-sided and one-sided differences
SMALLEST = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Satterthwaite:
    """What the degrees of freedom of any contrast need.

    Attributes
    ----------
    covariance : V, covariance of the fixed effects, shape (p, p)
    slopes : derivative of V by each of (theta, sigma), shape (k + 1, p, p)
    uncertainty : covariance of (theta, sigma), shape (k + 1, k + 1)
    solution : fixed effects and residual variance at the optimum
    gradient : of the profiled criterion by theta
    curvature : Hessian of the profiled criterion, shape (k, k)
    """

    covariance: Floats
    slopes: Floats
    uncertainty: Floats
    solution: Solution
    gradient: Floats
    curvature: Floats

    def degrees(self, contrast: Floats) -> float:
        """Return the degrees of freedom of l'beta; infinite where its variance is known exactly."""
        v = float(contrast @ self.covariance @ contrast)
        g = np.einsum("i,kij,j->k", contrast, self.slopes, contrast)
        spread = float(g @ self.uncertainty @ g)
        return 2 * v * v / spread if spread > 0 else float("inf")


def prepare(criterion: Criterion, theta: Floats, *, one_sided: bool = False) -> Satterthwaite:
    """Return the parts of Satterthwaite's formula at the optimum; one-sided differences cost half as much."""
    k = len(theta)
    logdet, residual, here = criterion.parts(theta)
    sigma = np.sqrt(here.sigma2)
    base = (logdet + criterion.dof * residual, here.unscaled)
    H = np.zeros((k + 1, k + 1))
    slopes = np.empty((k + 1, *here.unscaled.shape))
    for i in range(k):
        step = (NEAR if one_sided else DIFFERENCE) * max(abs(theta[i]), SMALLEST)
        ahead = _beside(criterion, theta, i, step, here.sigma2)
        behind = base if one_sided else _beside(criterion, theta, i, -step, here.sigma2)
        width = step if one_sided else 2 * step
        H[:k, i] = (ahead[0] - behind[0]) / width
        slopes[i] = here.sigma2 * (ahead[1] - behind[1]) / width
    H[:k, :k] = (H[:k, :k] + H[:k, :k].T) / 2
    H[:k, k] = H[k, :k] = -2 * criterion.dof / sigma * residual
    H[k, k] = 4 * criterion.dof / here.sigma2
    slopes[k] = 2 * sigma * here.unscaled
    profiled = H[:k, :k] - np.outer(H[:k, k], H[k, :k]) / H[k, k]
    return Satterthwaite(here.sigma2 * here.unscaled, slopes, 2 * _inverse(H), here, base[0], profiled)


def _beside(criterion: Criterion, theta: Floats, i: int, step: float, sigma2: float) -> tuple[Floats, Floats]:
    """Return the gradient by theta of the criterion at fixed sigma, and the unscaled covariance, beside theta."""
    moved = theta.copy()
    moved[i] += step
    logdet, residual, there = criterion.parts(moved)
    return logdet + there.sigma2 / sigma2 * criterion.dof * residual, there.unscaled


def _inverse(H: Floats) -> Floats:
    """Return the inverse on the directions in which the criterion curves up; the others carry no information."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))
    values, vectors = np.linalg.eigh(H * scale[:, None] * scale)
    inverse = np.where(values > 1e-8, 1 / np.where(values > 1e-8, values, 1.0), 0.0)
    return np.asarray((vectors * inverse) @ vectors.T * scale[:, None] * scale)
