"""Random effects predicted from the data (BLUPs), with their conditional covariances.

At the optimum, L' [u2; beta] = l_y gives the scaled effects of the other factors and the fixed effects,
b2 = Lambda2 u2; then level j of the first factor has

    b1_j = H_j (b_jy - b_j [b2; beta]),
    Var(b2 | y) = s^2 Lambda2 (L_ZZ L_ZZ')^-1 Lambda2',
    Var(b1_j | y) = s^2 (H_j + H_j b_jZ Lambda2 (L_ZZ L_ZZ')^-1 Lambda2' b_jZ' H_j),

conditional on the fixed effects, as lme4's ``condVar`` (Bates et al. 2015, eq. 58).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from holdsup.numerics.criterion import kernels_of, lambda_of, lambda_of_blocks
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import EngineFit

AT_A_TIME = 2000  # levels whose conditional variances are computed together


@dataclass(frozen=True, slots=True, eq=False)
class PredictedEffects:
    """Effects of each grouping factor, in the engine's order."""

    values: tuple[Floats, ...]  # shape (levels, k)
    # their conditional covariances, shape (levels, k, k); () where they were not asked for
    covariances: tuple[Floats, ...]


def predict_effects(fit: EngineFit, *, with_spread: bool = True) -> PredictedEffects:
    """Return the predicted random effects of every grouping factor, the first one first."""
    moments, theta, L = fit.moments, fit.optimum.theta, fit.solution.L
    q2, m = moments.q2, len(moments.C)
    coefficients = solve_triangular(L[:-1, :-1], L[-1, :-1], lower=True, trans="T") if m > 1 else np.empty(0)
    scale = lambda_of_blocks(moments, theta)
    coefficients[:q2] = scale @ coefficients[:q2]
    factor = lambda_of(moments.first, theta)
    H = kernels_of(moments.A, factor)
    rows = moments.dense_rows()
    left = rows[:, :, -1] - rows[:, :, :-1] @ coefficients
    values = [np.einsum("jkl,jl->jk", H, left)]
    values.extend(coefficients[b.start : b.stop].reshape(b.count, b.width) for b in moments.blocks)
    if not with_spread:
        return PredictedEffects(tuple(values), ())
    sigma2 = fit.solution.sigma2
    half = solve_triangular(L[:q2, :q2], scale.T, lower=True) if q2 else np.empty((0, 0))  # half'half = Var(b2) / s^2
    first = np.empty((*values[0].shape, values[0].shape[1]))
    for start in range(0, len(first), AT_A_TIME):
        piece = slice(start, start + AT_A_TIME)
        through = H[piece] @ moments.dense_rows(piece)[:, :, :q2]
        left = through @ half.T
        first[piece] = sigma2 * (H[piece] + left @ left.transpose(0, 2, 1))
    others = []
    for b in moments.blocks:
        columns = half[:, b.start : b.stop].reshape(q2, b.count, b.width)
        others.append(sigma2 * np.einsum("rli,rlj->lij", columns, columns))
    return PredictedEffects(tuple(values), (first, *others))
