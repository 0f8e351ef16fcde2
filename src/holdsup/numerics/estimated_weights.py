"""What the covariance of fixed effects lacks because variances, and so the weights of rows, are estimated.

In V = sum of phi_i G_i the variances phi enter linearly. With C = (X'V^-1 X)^-1 and W the covariance of their
estimates, the fixed effects have about the covariance

    C + L,   L = -1/2 sum of W_ij d2C / dphi_i dphi_j,

and C at the estimates is too small by L on average, so that 2 L is lacking (Kackar & Harville 1984, JASA 79:853;
Kenward & Roger 1997, Biometrics 53:983). It is nil where C is linear in phi, as for differences within complete blocks.
"""

from __future__ import annotations

import numpy as np

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.layout import Floats
from holdsup.numerics.satterthwaite import Satterthwaite

__all__ = ["lacking_covariance"]

STEP = 0.02  # of a variance: second differences lose 4 digits to rounding and 4 to the step
SMALLEST = 0.05  # of all variances together: a smaller one has the step of that


def lacking_covariance(criterion: Criterion, theta: Floats, inference: Satterthwaite) -> Floats:
    """Return 2 L for a model whose random terms are not correlated, shape (p, p).

    A variance of zero is taken for known: its estimate has no slope by theta, and so no part in W.
    """
    sigma2 = inference.solution.sigma2
    variances = np.append(theta**2 * sigma2, sigma2)
    steps = STEP * np.maximum(variances, SMALLEST * variances.sum())
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
