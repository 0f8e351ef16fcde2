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

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.layout import Floats

__all__ = ["Satterthwaite", "prepare"]

DIFFERENCE = 1e-4
SMALLEST = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Satterthwaite:
    """What the degrees of freedom of any contrast need.

    Attributes
    ----------
    covariance : V, covariance of the fixed effects, shape (p, p)
    slopes : derivative of V by each of (theta, sigma), shape (k + 1, p, p)
    uncertainty : covariance of (theta, sigma), shape (k + 1, k + 1)
    """

    covariance: Floats
    slopes: Floats
    uncertainty: Floats

    def degrees(self, contrast: Floats) -> float:
        """Return the degrees of freedom of l'beta; infinite where its variance is known exactly."""
        v = float(contrast @ self.covariance @ contrast)
        g = np.einsum("i,kij,j->k", contrast, self.slopes, contrast)
        spread = float(g @ self.uncertainty @ g)
        return 2 * v * v / spread if spread > 0 else float("inf")


def prepare(criterion: Criterion, theta: Floats) -> Satterthwaite:
    """Return the parts of Satterthwaite's formula at the optimum."""
    k = len(theta)
    _, residual, here = criterion.parts(theta)
    sigma = np.sqrt(here.sigma2)
    H = np.zeros((k + 1, k + 1))
    slopes = np.empty((k + 1, *here.unscaled.shape))
    for i in range(k):
        step = DIFFERENCE * max(abs(theta[i]), SMALLEST)
        sides = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[i] += sign * step
            logdet, by_residual, there = criterion.parts(moved)
            sides.append((logdet + there.sigma2 / here.sigma2 * criterion.dof * by_residual, there.unscaled))
        H[:k, i] = (sides[0][0] - sides[1][0]) / (2 * step)
        slopes[i] = here.sigma2 * (sides[0][1] - sides[1][1]) / (2 * step)
    H[:k, :k] = (H[:k, :k] + H[:k, :k].T) / 2
    H[:k, k] = H[k, :k] = -2 * criterion.dof / sigma * residual
    H[k, k] = 4 * criterion.dof / here.sigma2
    slopes[k] = 2 * sigma * here.unscaled
    return Satterthwaite(here.sigma2 * here.unscaled, slopes, 2 * _inverse(H))


def _inverse(H: Floats) -> Floats:
    """Return the inverse on the directions in which the criterion curves up; the others carry no information."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))
    values, vectors = np.linalg.eigh(H * scale[:, None] * scale)
    inverse = np.where(values > 1e-8, 1 / np.where(values > 1e-8, values, 1.0), 0.0)
    return np.asarray((vectors * inverse) @ vectors.T * scale[:, None] * scale)
