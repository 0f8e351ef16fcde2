"""The profiled criterion of a linear mixed model, with its exact gradient.

With S from the elimination of the first factor and Lambda2 the factor of the others,

    S~ = Lambda2'S Lambda2 + [I 0; 0 0] = L L',   rows of L:  Z2, X, y

gives (Bates et al. 2015, JSS 67(1), eq. 34 for ML and 41 for REML, all blocks of one factorization)

    d(theta) = sum log|Omega_j| + 2 log|L_ZZ| [+ 2 log|L_XX|] + dof (1 + log(2 pi r^2 / dof)),

r = L_yy, dof = n (ML) or n - p (REML). Its derivative with respect to S~ is L^-T D L^-1, D = 1 for the
rows of Z2, 0 or 1 (REML) for X, dof / r^2 times r^2, that is dof, for y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from holdsup.numerics.elimination import choose_elimination
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Block, Moments

__all__ = ["Criterion", "Solution"]


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What a value of theta implies.

    Attributes
    ----------
    value : the criterion, -2 log-likelihood or REML criterion
    beta : fixed effects, shape (p,)
    unscaled : their covariance divided by sigma^2, shape (p, p)
    sigma2 : residual variance
    L : the factor of S~, shape (m, m)
    """

    value: float
    beta: Floats
    unscaled: Floats
    sigma2: float
    L: Floats


class Criterion:
    """The criterion as a function of theta; counts how often it was evaluated."""

    def __init__(self, moments: Moments, *, reml: bool) -> None:
        self.moments = moments
        self.reml = reml
        self.dof = moments.n - (moments.p if reml else 0)
        self.elimination = choose_elimination(moments)
        self.evaluations = 0
        m, q2, p = len(moments.C), moments.q2, moments.p
        self.cost = m  # an evaluation takes of the order of m^3 operations
        self.logdet_rows = np.zeros(m)
        self.logdet_rows[:q2] = 1
        self.logdet_rows[q2 : q2 + p] = float(reml)

    def value(self, theta: Floats) -> float:
        """Return d(theta); infinite where rounding leaves no positive definite matrix."""
        found = self._factor(theta)
        return math.inf if found is None else self._value(*found[:2])

    def slopes(self, theta: Floats) -> tuple[float, Floats]:
        """Return d(theta) and its gradient."""
        found = self._factor(theta)
        if found is None:
            return math.inf, np.full(len(theta), math.nan)
        weights = self.logdet_rows.copy()
        weights[-1] = self.dof
        return self._value(*found[:2]), self._pull(theta, found, weights, determinant=1.0)

    def parts(self, theta: Floats) -> tuple[Floats, Floats, Solution]:
        """Return the gradients of the log-determinants and of log r^2, and what theta implies."""
        found = self._factor(theta)
        if found is None:
            raise FloatingPointError("the cross-products are not positive definite at this theta")
        residual = np.zeros(len(self.logdet_rows))
        residual[-1] = 1.0
        logdet = self._pull(theta, found, self.logdet_rows, determinant=1.0)
        return logdet, self._pull(theta, found, residual, determinant=0.0), self._solution(*found[:2])

    def solve(self, theta: Floats) -> Solution:
        """Return the fixed effects, their covariance and the residual variance at theta."""
        found = self._factor(theta)
        if found is None:
            raise FloatingPointError("the cross-products are not positive definite at this theta")
        return self._solution(*found[:2])

    def _factor(self, theta: Floats) -> tuple[float, Floats, Floats] | None:
        """Return the first factor's log-determinant, L and S."""
        self.evaluations += 1
        logdet, S = self.elimination.reduce(lambda_of(self.moments.first, theta))
        scaled = S.copy()
        for block in self.moments.blocks:
            factor = lambda_of(block.pattern, theta)
            scaled[block.start : block.stop] = _left(factor.T, scaled[block.start : block.stop], block)
            scaled[:, block.start : block.stop] = _left(factor.T, scaled[:, block.start : block.stop].T, block).T
        q2 = self.moments.q2
        scaled[np.arange(q2), np.arange(q2)] += 1
        L, info = lapack.dpotrf(scaled, lower=1, clean=1)
        return None if info else (logdet, L, S)

    def _value(self, logdet: float, L: Floats) -> float:
        diagonal = np.diagonal(L)
        r2 = diagonal[-1] ** 2
        logdet += 2 * float(self.logdet_rows[:-1] @ np.log(diagonal[:-1]))
        return logdet + self.dof * (1 + math.log(2 * math.pi * r2 / self.dof)) - self.moments.log_weights

    def _solution(self, logdet: float, L: Floats) -> Solution:
        q2, p = self.moments.q2, self.moments.p
        inverse = lapack.dtrtri(L[q2 : q2 + p, q2 : q2 + p], lower=1)[0] if p else np.empty((0, 0))
        beta = inverse.T @ L[-1, q2 : q2 + p]
        return Solution(self._value(logdet, L), beta, inverse.T @ inverse, L[-1, -1] ** 2 / self.dof, L)

    def _pull(self, theta: Floats, found: tuple[float, Floats, Floats], rows: Floats, *, determinant: float) -> Floats:
        """Return the gradient of determinant * logdet1 + sum of rows_i * 2 log L_ii."""
        _, L, S = found
        K = lapack.dtrtri(L, lower=1)[0]
        slope = blas.dsyrk(1.0, K * np.sqrt(rows)[:, None], trans=1, lower=1)
        slope = slope + np.tril(slope, -1).T  # derivative with respect to S~
        gradient = np.zeros(len(theta))
        scaled = S.copy()
        for block in self.moments.blocks:
            factor = lambda_of(block.pattern, theta)
            scaled[:, block.start : block.stop] = _left(factor.T, scaled[:, block.start : block.stop].T, block).T
        for block in self.moments.blocks:
            inside = slice(block.start, block.stop)
            k = block.width
            left = scaled[inside].reshape(block.count, k, -1)
            right = slope[inside].reshape(block.count, k, -1)
            _gather(gradient, block.pattern, 2 * np.einsum("lim,ljm->ij", left, right, optimize=k > 1))
        for block in self.moments.blocks:  # from the derivative by S~ to that by S
            factor = lambda_of(block.pattern, theta)
            inside = slice(block.start, block.stop)
            slope[inside] = _left(factor, slope[inside], block)
            slope[:, inside] = _left(factor, slope[:, inside].T, block).T
        if self.moments.first.size:
            _gather(gradient, self.moments.first, self._pull_first(theta, slope, determinant))
        return gradient

    def _pull_first(self, theta: Floats, slope: Floats, determinant: float) -> Floats:
        factor = lambda_of(self.moments.first, theta)
        with_determinant = self.elimination.pull(factor, slope)
        if determinant == 1.0:
            return with_determinant
        return with_determinant - self.elimination.pull(factor, np.zeros_like(slope))


def lambda_of(pattern: Ints, theta: Floats) -> Floats:
    """Return the k x k factor Lambda whose places hold the parameters that `pattern` names."""
    return np.where(pattern >= 0, theta[pattern], 0.0) if pattern.size else np.zeros(pattern.shape)


def _left(factor: Floats, rows: Floats, block: Block) -> Floats:
    """Return the rows of a block, those of each level multiplied by `factor` from the left."""
    if block.width == 1:
        return np.asarray(factor[0, 0] * rows)
    return np.asarray(factor @ rows.reshape(block.count, block.width, -1)).reshape(rows.shape)


def _gather(gradient: Floats, pattern: Ints, slopes: Floats) -> None:
    """Add the derivative by each place of Lambda to the parameter that stands there."""
    held = pattern >= 0
    np.add.at(gradient, pattern[held], slopes[held])
