"""The profiled criterion of a linear mixed model, with its exact gradient.

With S from the elimination of the first factor and Lambda2 the factor of the others,

    S~ = Lambda2'S Lambda2 + [I 0; 0 0] = L L',   rows of L:  Z2, X, y

gives (Bates et al. 2015, JSS 67(1), eq. 34 for ML and 41 for REML, all blocks of one factorization)

    d(theta) = sum log|Omega_j| + 2 log|L_ZZ| [+ 2 log|L_XX|] + dof (1 + log(2 pi r^2 / dof)),

r = L_yy, dof = n (ML) or n - p (REML). Its derivative with respect to S~ is L^-T D L^-1 with D = 1 for the
rows of Z2, 0 (ML) or 1 (REML) for X, dof for y: the inverse of S~, corrected for a few rows of L^-1.

All of it is written for one theta, shape (k,), as for many at once, shape (d, k), each with a response of its own: then
values, gradients and the arrays of the elimination have the same leading axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from holdsup.numerics.elimination import Elimination, choose_elimination, turn
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Block, Moments

DEAR = 300  # columns of M from which an evaluation (of the order of their cube) is worth saving
TINY = 8  # columns of M up to which NumPy inverts many matrices faster than as many calls of LAPACK do
MANY = 8  # parameters from which their differences of gradients are worth saving


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What a value of theta implies."""

    value: float  # the criterion, -2 log-likelihood or REML criterion
    beta: Floats  # fixed effects, shape (p,)
    unscaled: Floats  # their covariance divided by sigma^2, shape (p, p)
    sigma2: float  # residual variance
    L: Floats  # the factor of S~, shape (m, m)


class Criterion:
    """The criterion as a function of theta; counts how often it was evaluated."""

    def __init__(self, moments: Moments, *, reml: bool, elimination: Elimination | None = None) -> None:
        self.moments = moments
        self.reml = reml
        self.dof = moments.n - (moments.p if reml else 0)
        self.elimination = choose_elimination(moments, exact=True) if elimination is None else elimination
        self.evaluations = 0
        self.last: tuple[Floats, Floats] | None = None  # theta and L of the last gradient
        self.scalar = all(block.width == 1 for block in moments.blocks)
        m, q2, p = len(moments.C), moments.q2, moments.p
        # The parameter of each column of Z2, where blocks have a single column.
        single = moments.blocks if self.scalar else ()
        self.parameter = np.repeat([b.pattern[0, 0] for b in single], [b.count for b in single]).astype(np.int64)
        self.logdet_rows = np.zeros(m)
        self.logdet_rows[:q2] = 1
        self.logdet_rows[q2 : q2 + p] = float(reml)

    def slopes(self, theta: Floats) -> tuple[Any, Floats]:
        """Return d(theta) and its gradient; infinite and NaN where rounding leaves no positive definite matrix."""
        logdet, L, S = self._factor(theta)
        value = self._value(logdet, L)
        if theta.ndim == 1:
            if value == math.inf:
                return value, np.full(len(theta), math.nan)
            self.last = (theta.copy(), L)
        gradient = self._pull(theta, S, self._slope(L, self.dof), determinant=True)
        if theta.ndim > 1:
            gradient[np.isinf(value)] = math.nan
        return value, gradient

    def information(self, theta: Floats) -> Floats | None:
        """Return an approximate Hessian where differences of gradients are dear and the model allows it."""
        dear = len(self.moments.C) >= DEAR or len(theta) >= MANY
        if not dear or not has_information(self.moments):
            return None
        if self.last is None or not np.array_equal(self.last[0], theta):
            self.slopes(theta)
        return None if self.last is None else average_information(self.moments, theta, self.last[1], self.dof)

    def parts(self, theta: Floats) -> tuple[Floats, Floats, Solution]:
        """Return the gradients of the log-determinants and of log r^2, and what theta implies."""
        logdet, L, S = self._factor_soundly(theta)
        y = self._row(L, len(L) - 1)
        by_residual = self._pull(theta, S, np.outer(y, y), determinant=False)
        by_determinants = self._pull(theta, S, self._slope(L, 0.0), determinant=True)
        return by_determinants, by_residual, self._solution(logdet, L)

    def unprofiled(self, point: Floats) -> tuple[float, Floats]:
        """Return d at (theta, log sigma), not profiled over sigma, and its gradient."""
        theta, s = point[:-1], float(point[-1])
        logdet, L, S = self._factor_soundly(theta)
        sigma2 = L[-1, -1] ** 2 / self.dof
        ratio = sigma2 * math.exp(-2 * s)  # r^2 / (dof sigma^2)
        gradient = self._pull(theta, S, self._slope(L, self.dof * ratio), determinant=True)
        value = self._value(logdet, L) + self.dof * (2 * s - math.log(sigma2) + ratio - 1)
        return value, np.append(gradient, 2 * self.dof * (1 - ratio))

    def solve(self, theta: Floats) -> Solution:
        """Return the fixed effects, their covariance and the residual variance at theta."""
        return self._solution(*self._factor_soundly(theta)[:2])

    def _factor_soundly(self, theta: Floats) -> tuple[Any, Floats, Floats]:
        found = self._factor(theta)
        if found[0] == math.inf:
            raise FloatingPointError("the cross-products are not positive definite at this theta")
        return found

    def _factor(self, theta: Floats) -> tuple[Any, Floats, Floats]:
        """Return the first factor's log-determinant, L and S; infinity and ones where there is no L."""
        self.evaluations += 1
        logdet, S = self.elimination.reduce(lambda_of(self.moments.first, theta))
        scaled = self._scaled(S, theta, turned=True)
        q2 = self.moments.q2
        scaled[..., np.arange(q2), np.arange(q2)] += 1
        L, nothing = factorize(scaled)
        return logdet + nothing, L, S

    def _scaled(self, matrix: Floats, theta: Floats, *, turned: bool) -> Floats:
        """Return Lambda2' matrix Lambda2 (`turned`), or Lambda2 matrix Lambda2', as a new matrix."""
        if self.scalar:
            scale = self._scale(theta)
            result = matrix * scale[..., None, :]
            result *= scale[..., None]
            return result
        result = matrix.copy()
        for block in self.moments.blocks:
            factor = lambda_of(block.pattern, theta)
            factor = turn(factor) if turned else factor
            inside = slice(block.start, block.stop)
            result[..., inside, :] = _left(factor, result[..., inside, :], block)
            result[..., inside] = turn(_left(factor, turn(result[..., inside]), block))
        return result

    def _scale(self, theta: Floats) -> Floats:
        """Return the diagonal of Lambda2 where every block has a single column, ones for X and y."""
        scale = np.ones((*theta.shape[:-1], len(self.logdet_rows)))
        scale[..., : len(self.parameter)] = theta[..., self.parameter]
        return scale

    def _value(self, logdet: Any, L: Floats) -> Any:
        diagonal = np.diagonal(L, axis1=-2, axis2=-1)
        r2 = diagonal[..., -1] ** 2
        logdet = logdet + 2 * (np.log(diagonal[..., :-1]) @ self.logdet_rows[:-1])
        return logdet + self.dof * (1 + np.log(2 * math.pi * r2 / self.dof)) - self.moments.log_weights

    def _solution(self, logdet: float, L: Floats) -> Solution:
        q2, p = self.moments.q2, self.moments.p
        inverse = lapack.dtrtri(L[q2 : q2 + p, q2 : q2 + p], lower=1)[0] if p else np.empty((0, 0))
        beta = inverse.T @ L[-1, q2 : q2 + p]
        return Solution(float(self._value(logdet, L)), beta, inverse.T @ inverse, L[-1, -1] ** 2 / self.dof, L)

    def _slope(self, L: Floats, last: float) -> Floats:
        """Return L^-T D L^-1 with D = 1 for the rows of Z2, 0 (ML) or 1 (REML) for those of X, `last` for y."""
        if L.ndim > 2:
            inverse = invert_factors(L)
            weights = np.append(self.logdet_rows[:-1], last)
            return np.asarray(turn(inverse) @ (weights[:, None] * inverse))
        inverse = lapack.dpotri(L, lower=1)[0]  # its lower triangle; the upper one is zero, as in L
        whole: Floats = inverse + inverse.T
        whole[np.diag_indices(len(L))] *= 0.5
        if not self.reml:
            for i in range(self.moments.q2, len(L) - 1):
                row = self._row(L, i)
                whole -= np.outer(row, row)
        y = self._row(L, len(L) - 1)
        whole += (last - 1) * np.outer(y, y)
        return whole

    @staticmethod
    def _row(L: Floats, i: int) -> Floats:
        """Return row i of L^-1."""
        unit = np.zeros(len(L))
        unit[i] = 1.0
        return np.asarray(lapack.dtrtrs(L, unit, lower=1, trans=1)[0])

    def _pull(self, theta: Floats, S: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return the gradient by theta, given that by S~; with the first factor's determinant, or without."""
        gradient = np.zeros(theta.shape)
        if self.scalar:
            along = ((S * slope) @ self._scale(theta)[..., None])[..., 0]
            for block in self.moments.blocks:
                gradient[..., block.pattern[0, 0]] += 2 * along[..., block.start : block.stop].sum(axis=-1)
        else:
            self._pull_blocks(gradient, theta, S, slope)
        if self.moments.first.size:
            by_S = self._scaled(slope, theta, turned=False)
            first = lambda_of(self.moments.first, theta)
            _gather(gradient, self.moments.first, self.elimination.pull(first, by_S, determinant=determinant))
        return gradient

    def _pull_blocks(self, gradient: Floats, theta: Floats, S: Floats, slope: Floats) -> None:
        """Add the gradient by the other factors: 2 (S Lambda2 slope) in the places of each level."""
        right = slope.copy()
        for block in self.moments.blocks:
            inside = slice(block.start, block.stop)
            right[..., inside, :] = _left(lambda_of(block.pattern, theta), right[..., inside, :], block)
        for block in self.moments.blocks:
            inside = slice(block.start, block.stop)
            rows, columns = _by_column(S[..., inside, :], block), _by_column(turn(right[..., inside]), block)
            _gather(gradient, block.pattern, 2 * rows @ turn(columns))


def factorize(matrix: Floats) -> tuple[Floats, Any]:
    """Return the Cholesky factor of a matrix, or of each of many, and zero; ones and infinity where there is none."""
    if matrix.ndim > 2:
        try:
            return np.asarray(np.linalg.cholesky(matrix), np.float64), 0.0
        except np.linalg.LinAlgError:
            factors, nothing = zip(*map(factorize, matrix), strict=True)
            return np.stack(factors), np.array(nothing)
    # LAPACK reads by columns: of a symmetric matrix it may as well have the rows, without a copy.
    L, info = lapack.dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    return (np.eye(len(L)), math.inf) if info else (L, 0.0)


def invert_factors(L: Floats) -> Floats:
    """Return the inverse of each of many triangular factors."""
    if L.shape[-1] <= TINY:
        return np.asarray(np.linalg.inv(L), np.float64)
    return np.stack([lapack.dtrtri(each.T, lower=0)[0].T for each in L])


def lambda_of(pattern: Ints, theta: Floats) -> Floats:
    """Return the k x k factor Lambda whose places hold the parameters that `pattern` names."""
    if not pattern.size or not theta.shape[-1]:
        return np.zeros((*theta.shape[:-1], *pattern.shape))
    return np.where(pattern >= 0, theta[..., pattern], 0.0)


def lambda_of_blocks(moments: Moments, theta: Floats) -> Floats:
    """Return Lambda2, the factor of all grouping factors but the first, shape (q2, q2)."""
    scale = np.zeros((moments.q2, moments.q2))
    for block in moments.blocks:
        factor = lambda_of(block.pattern, theta)
        for start in range(block.start, block.stop, block.width):
            scale[start : start + block.width, start : start + block.width] = factor
    return scale


def kernels_of(A: Floats, factor: Floats) -> Floats:
    """Return H_j = Lambda (Lambda'A_j Lambda + I)^-1 Lambda' of every level of the first factor."""
    omega = factor.T @ A @ factor + np.eye(len(factor))
    return np.asarray(factor @ np.linalg.solve(omega, np.broadcast_to(factor.T, omega.shape)))


def _left(factor: Floats, rows: Floats, block: Block) -> Floats:
    """Return the rows of a block, those of each level multiplied by `factor` from the left."""
    if block.width == 1:
        return np.asarray(factor * rows)
    levels = rows.reshape(*rows.shape[:-2], block.count, block.width, -1)
    return np.asarray(factor[..., None, :, :] @ levels).reshape(rows.shape)


def _by_column(rows: Floats, block: Block) -> Floats:
    """Return the rows of a block, those of all levels one after the other: (..., width, levels x columns)."""
    lead = rows.shape[:-2]
    return rows.reshape(*lead, block.count, block.width, -1).swapaxes(-3, -2).reshape(*lead, block.width, -1)


def _gather(gradient: Floats, pattern: Ints, slopes: Floats) -> None:
    """Add the derivative by each place of Lambda to the parameter that stands there."""
    for i, j in np.argwhere(pattern >= 0):
        gradient[..., pattern[i, j]] += slopes[..., i, j]


def has_information(moments: Moments) -> bool:
    """Return whether every term has a single column, for which the formula below is written."""
    return len(moments.first) == 1 and all(block.width == 1 for block in moments.blocks)


def average_information(moments: Moments, theta: Floats, L: Floats, dof: float) -> Floats | None:
    """Return the approximate Hessian of the profiled criterion at theta, whose factor is L; None at a zero theta.

    Of the criterion at fixed sigma, the observed and the expected Hessian average to y'P V_s P V_t P y
    (Gilmour, Thompson & Cullis 1995, Biometrics 51:1440), V_t the derivative of the variance by theta_t.
    With b_t the predicted effects of term t, V_t P y = 2 Z_t b_t / theta_t: working vectors w_t = Z_t b_t in the
    span of Z, so that all products are linear in the cross-products that are there already. Profiling over
    sigma takes dof (d log r^2)(d log r^2)' off.
    """
    terms = [int(moments.first[0, 0]), *(int(block.pattern[0, 0]) for block in moments.blocks)]
    if len(set(terms)) < len(terms) or (np.abs(theta) < 1e-3).any():
        return None
    B: Any = moments.B[:, 0, :] if isinstance(moments.B, np.ndarray) else moments.B[0]
    A, C = moments.A[:, 0, 0], moments.C
    scale = np.ones(len(C) - 1)
    for block in moments.blocks:
        scale[block.start : block.stop] = theta[block.pattern[0, 0]]
    effects = scale * solve_triangular(L[:-1, :-1], L[-1, :-1], lower=True, trans="T")
    kernel = theta[terms[0]] ** 2 / (theta[terms[0]] ** 2 * A + 1)
    first = kernel * (B[:, [-1]].toarray().ravel() if not isinstance(B, np.ndarray) else B[:, -1])
    first = first - kernel * (B @ np.append(effects, 0.0))
    # Each working vector by its products with M, with Z1, and with the others.
    by_M, by_Z1, squares = [np.asarray(B.T @ first)[:-1]], [A * first], [float(first @ first)]
    own = [None, *(_only(effects, block.start, block.stop) for block in moments.blocks)]
    for vector in own[1:]:
        assert vector is not None
        by_M.append(C[:-1, :-1] @ vector)
        by_Z1.append(np.asarray(B @ np.append(vector, 0.0)))
        squares.append(float(vector @ vector))
    k = len(terms)
    products = np.empty((k, k))
    products[0, 0] = (A * first) @ first
    for t in range(1, k):
        products[0, t] = products[t, 0] = by_M[0] @ own[t]
        for s in range(1, t + 1):
            products[s, t] = products[t, s] = by_M[t] @ own[s]
    Z = np.stack(by_Z1)
    products -= (Z * kernel) @ Z.T
    M = np.stack(by_M) - np.asarray(B.T @ (kernel * Z).T).T[:, :-1]
    solved = solve_triangular(L[:-1, :-1], (scale * M).T, lower=True)
    products -= solved.T @ solved
    order = np.array(terms)
    sigma2 = L[-1, -1] ** 2 / dof
    by_residual = -2 * np.array(squares) / theta[order] ** 3 / (dof * sigma2)
    H = np.empty((k, k))
    H[np.ix_(order, order)] = 4 * products / np.outer(theta[order], theta[order]) / sigma2
    H[np.ix_(order, order)] -= dof * np.outer(by_residual, by_residual)
    return H


def _only(vector: Floats, start: int, stop: int) -> Floats:
    alone = np.zeros(len(vector))
    alone[start:stop] = vector[start:stop]
    return alone
