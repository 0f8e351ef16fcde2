"""What is known of fixed effects: Satterthwaite's degrees of freedom, from exact gradients.

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

DIFFERENCE, NEAR = 1e-4, 2e-5  # relative steps of two-sided and one-sided differences
SMALLEST = 1e-2
STEP = 0.02  # of a variance: second differences lose 4 digits to rounding and 4 to the step
SMALLEST_SHARE = 0.05  # of all variances together: a smaller one has the step of that


@dataclass(frozen=True, slots=True, eq=False)
class Satterthwaite:
    """What the degrees of freedom of any contrast need."""

    covariance: Floats  # V, covariance of the fixed effects, shape (p, p)
    slopes: Floats  # derivative of V by each of (theta, sigma), shape (k + 1, p, p)
    uncertainty: Floats  # covariance of (theta, sigma), shape (k + 1, k + 1)
    solution: Solution  # fixed effects and residual variance at the optimum
    gradient: Floats  # of the profiled criterion by theta
    curvature: Floats  # Hessian of the profiled criterion, shape (k, k)

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


def lacking_covariance(criterion: Criterion, theta: Floats, inference: Satterthwaite) -> Floats:
    """Return what the covariance of fixed effects lacks because variances, and so the weights of rows, are estimated.

    In V = sum of phi_i G_i the variances phi enter linearly. With C = (X'V^-1 X)^-1 and W the covariance of their
    estimates, the fixed effects have about the covariance

        C + L,   L = -1/2 sum of W_ij d2C / dphi_i dphi_j,

    and C at the estimates is too small by L on average, so that 2 L is lacking (Kackar & Harville 1984, JASA 79:853;
    Kenward & Roger 1997, Biometrics 53:983). It is nil where C is linear in phi, as for differences within complete
    blocks. Random terms must not be correlated.

    A variance of zero counts as known: its estimate has no slope by theta, and so no part in W.
    """
    sigma2 = inference.solution.sigma2
    variances = np.append(theta**2 * sigma2, sigma2)
    steps = STEP * np.maximum(variances, SMALLEST_SHARE * variances.sum())
    centre = np.maximum(variances, steps)  # no step leads below zero,
    centre[-1] = max(centre[-1], 2 * steps[-1])  # nor to a residual of zero, by which the others are divided

    def covariance(phi: Floats) -> Floats:
        return np.asarray(phi[-1] * criterion.solve(np.sqrt(phi[:-1] / phi[-1])).unscaled)

    moves = np.diag(steps)
    here = covariance(centre)
    ahead = [covariance(centre + move) for move in moves]
    W = _variance_covariance(theta, sigma2, inference.uncertainty)
    lacking = np.zeros_like(here)
    for i, move in enumerate(moves):
        bend = ahead[i] - 2 * here + covariance(centre - move)
        lacking -= W[i, i] / steps[i] ** 2 * bend
        for j in range(i):
            bend = covariance(centre + move + moves[j]) - ahead[i] - ahead[j] + here
            lacking -= 2 * W[i, j] / (steps[i] * steps[j]) * bend
    return lacking


def _variance_covariance(theta: Floats, sigma2: float, uncertainty: Floats) -> Floats:
    """Return the covariance of the variances, from that of (theta, sigma): phi_i = theta_i^2 sigma^2."""
    k, sigma = len(theta), np.sqrt(sigma2)
    slopes = np.zeros((k + 1, k + 1))
    slopes[np.arange(k), np.arange(k)] = 2 * theta * sigma2
    slopes[:k, k] = 2 * theta**2 * sigma
    slopes[k, k] = 2 * sigma
    return np.asarray(slopes @ uncertainty @ slopes.T)
