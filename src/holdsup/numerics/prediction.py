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

from holdsup.numerics.criterion import lambda_of
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import EngineFit
from holdsup.numerics.moments import Block

__all__ = ["PredictedEffects", "predict_effects"]

AT_A_TIME = 2000  # levels whose conditional variances are computed together


@dataclass(frozen=True, slots=True, eq=False)
class PredictedEffects:
    """Effects of each grouping factor, in the engine's order.

    Attributes
    ----------
    values : shape (levels, k)
    covariances : their conditional covariances, shape (levels, k, k); () where they were not asked for
    """

    values: tuple[Floats, ...]
    covariances: tuple[Floats, ...]


def predict_effects(fit: EngineFit, *, with_spread: bool = True) -> PredictedEffects:
    """Return the predicted random effects of every grouping factor, the first one first."""
    moments, theta, L = fit.moments, fit.optimum.theta, fit.solution.L
    q2, m = moments.q2, len(moments.C)
    coefficients = solve_triangular(L[:-1, :-1], L[-1, :-1], lower=True, trans="T") if m > 1 else np.empty(0)
    scale = _scale(moments.blocks, theta, q2)
    coefficients[:q2] = scale @ coefficients[:q2]
    factor = lambda_of(moments.first, theta)
    H = _kernels(moments.A, factor)
    rows = _dense_rows(moments.B, slice(None))
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
        through = H[piece] @ _dense_rows(moments.B, piece)[:, :, :q2]
        left = through @ half.T
        first[piece] = sigma2 * (H[piece] + left @ left.transpose(0, 2, 1))
    others = []
    for b in moments.blocks:
        columns = half[:, b.start : b.stop].reshape(q2, b.count, b.width)
        others.append(sigma2 * np.einsum("rli,rlj->lij", columns, columns))
    return PredictedEffects(tuple(values), (first, *others))


def _kernels(A: Floats, factor: Floats) -> Floats:
    """Return H_j = Lambda (Lambda'A_j Lambda + I)^-1 Lambda' of every level."""
    omega = factor.T @ A @ factor + np.eye(len(factor))
    return np.asarray(factor @ np.linalg.solve(omega, np.broadcast_to(factor.T, omega.shape)))


def _dense_rows(B: object, piece: slice) -> Floats:
    """Return the rows b_j of some levels as an array of shape (levels, k1, m)."""
    if isinstance(B, np.ndarray):
        return np.asarray(B[piece])
    assert isinstance(B, tuple)
    return np.stack([matrix[piece].toarray() for matrix in B], axis=1)


def _scale(blocks: tuple[Block, ...], theta: Floats, q2: int) -> Floats:
    """Return Lambda2 as a matrix, shape (q2, q2)."""
    scale = np.zeros((q2, q2))
    for block in blocks:
        factor = lambda_of(block.pattern, theta)
        for start in range(block.start, block.stop, block.width):
            scale[start : start + block.width, start : start + block.width] = factor
    return scale
