"""The first grouping factor, eliminated level by level (Bates et al. 2015, eq. 18, in blocks).

With Lambda the k1 x k1 factor of the first effects, level j contributes

    Omega_j = Lambda'A_j Lambda + I,   H_j = Lambda Omega_j^-1 Lambda',
    log|Omega_j| to the log-determinant, and  b_j'H_j b_j  is taken off C:   S = C - sum_j b_j'H_j b_j.

Levels with the same A_j have the same H_j. Where few patterns occur, as in every crossed evaluation
table, they act through the precomputed P_u = sum of b_j (x) b_j over the levels of pattern u, and an
evaluation costs the same whatever the number of levels. Each class gives `reduce` (the determinant and
S) and `pull` (the derivative with respect to Lambda, given that with respect to S).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Moments

__all__ = ["Elimination", "choose_elimination"]

MOST_PAIRS = 30_000_000  # products of two entries of a sparse row that are listed once and for all


class Elimination(Protocol):
    """How the first factor is taken out."""

    def reduce(self, factor: Floats) -> tuple[float, Floats]:
        """Return sum log|Omega_j| and S, shape (m, m)."""

    def pull(self, factor: Floats, slope: Floats) -> Floats:
        """Return the derivative with respect to Lambda of log|Omega| + tr(slope S), shape (k1, k1)."""


def choose_elimination(moments: Moments) -> Elimination:
    """Return the cheapest way to take out the first factor of this model."""
    if not isinstance(moments.B, np.ndarray):
        return SparseLevels(moments)
    k1, m = moments.B.shape[1:]
    patterns, pattern_of = find_patterns(moments.A)
    # Per evaluation: patterns x (k1 m)^2 against levels x k1 m^2; the first also has to fit in memory.
    if len(patterns) * k1 * k1 * m * m <= max(moments.B.size, 2**16):
        return Patterns(moments, patterns, pattern_of)
    return Levels(moments)


def find_patterns(A: Floats) -> tuple[Ints, Ints]:
    """Return a level that shows each different A_j, and the pattern of each level.

    Levels are told apart by a random projection and then compared in full: two different A_j that
    fall together (chance 1e-9) only cost speed, never a wrong answer.
    """
    flat = A.reshape(len(A), -1)
    shadow = flat @ np.random.default_rng(0).normal(size=flat.shape[1]) if flat.shape[1] > 1 else flat[:, 0]
    _, first, pattern_of = np.unique(shadow, return_index=True, return_inverse=True)
    pattern_of = pattern_of.reshape(-1)
    if not np.array_equal(flat[first][pattern_of], flat):
        return np.arange(len(A)), np.arange(len(A))
    return first, pattern_of


class _Blocks:
    """Omega and H of many levels or patterns at once, and the derivative that both share."""

    def __init__(self, A: Floats, counts: Floats) -> None:
        self.A, self.counts = A, counts

    def solve(self, factor: Floats) -> tuple[float, Floats]:
        if len(factor) == 1:
            omega = factor[0, 0] ** 2 * self.A[:, 0, 0] + 1
            return float(self.counts @ np.log(omega)), (factor[0, 0] ** 2 / omega)[:, None, None]
        omega = factor.T @ self.A @ factor + np.eye(len(factor))
        logdet = np.linalg.slogdet(omega)[1]
        return float(self.counts @ logdet), factor @ np.linalg.solve(omega, np.broadcast_to(factor.T, omega.shape))

    def pull(self, factor: Floats, slopes: Floats) -> Floats:
        """Return the derivative of counts log|Omega| - tr(slopes H), for slopes of shape (u, k1, k1)."""
        if len(factor) == 1:
            theta, a = factor[0, 0], self.A[:, 0, 0]
            omega = theta**2 * a + 1
            slope = 2 * theta * (self.counts * a / omega - slopes[:, 0, 0] / omega**2).sum()
            return np.array([[slope]])
        omega = factor.T @ self.A @ factor + np.eye(len(factor))
        right = np.linalg.solve(omega, np.broadcast_to(factor.T, omega.shape)).transpose(0, 2, 1)  # Lambda Omega^-1
        across = self.A @ right
        inner = factor.T @ slopes @ right
        return np.asarray(2 * (self.counts[:, None, None] * across - slopes @ right + across @ inner).sum(axis=0))


class Patterns:
    """Few different A_j: all levels of a pattern act through one precomputed sum."""

    def __init__(self, moments: Moments, patterns: Ints, pattern_of: Ints) -> None:
        B = moments.B
        assert isinstance(B, np.ndarray)
        _, k1, m = B.shape
        self.C, self.shape = moments.C, (k1, m)
        counts = np.bincount(pattern_of, minlength=len(patterns)).astype(float)
        self.blocks = _Blocks(moments.A[patterns], counts)
        flat = B.reshape(len(B), k1 * m)
        if len(patterns) > 1:
            order = np.argsort(pattern_of, kind="stable")
            pieces = np.split(flat[order], np.cumsum(counts[:-1]).astype(int))
        else:
            pieces = [flat]
        products = np.stack([piece.T @ piece for piece in pieces]).reshape(len(patterns), k1, m, k1, m)
        self.P = np.ascontiguousarray(products.transpose(0, 1, 3, 2, 4)).reshape(len(patterns) * k1 * k1, m * m)

    def reduce(self, factor: Floats) -> tuple[float, Floats]:
        """Return the determinant and S."""
        logdet, H = self.blocks.solve(factor)
        return logdet, self.C - (H.reshape(-1) @ self.P).reshape(self.C.shape)

    def pull(self, factor: Floats, slope: Floats) -> Floats:
        """Return the derivative with respect to Lambda."""
        k1 = self.shape[0]
        return self.blocks.pull(factor, (self.P @ slope.reshape(-1)).reshape(-1, k1, k1))


class Levels:
    """Many different A_j, rows b_j dense: level by level, in one matrix product."""

    def __init__(self, moments: Moments) -> None:
        assert isinstance(moments.B, np.ndarray)
        self.B, self.C = moments.B, moments.C
        self.blocks = _Blocks(moments.A, np.ones(len(moments.A)))

    def reduce(self, factor: Floats) -> tuple[float, Floats]:
        """Return the determinant and S."""
        logdet, H = self.blocks.solve(factor)
        m = self.C.shape[0]
        return logdet, self.C - self.B.reshape(-1, m).T @ (H @ self.B).reshape(-1, m)

    def pull(self, factor: Floats, slope: Floats) -> Floats:
        """Return the derivative with respect to Lambda."""
        m = self.C.shape[0]
        across = (self.B.reshape(-1, m) @ slope).reshape(self.B.shape)
        return self.blocks.pull(factor, across @ self.B.transpose(0, 2, 1))


class SparseLevels:
    """Rows b_j long and mostly empty (a second large factor): only entries that occur are multiplied."""

    def __init__(self, moments: Moments) -> None:
        assert not isinstance(moments.B, np.ndarray)
        self.B, self.C = moments.B, moments.C
        self.k1, self.m = len(moments.B), len(moments.C)
        self.blocks = _Blocks(moments.A, np.ones(len(moments.A)))
        self.pairs = [[_Pairs.of(left, right) for right in self.B] for left in self.B]

    def reduce(self, factor: Floats) -> tuple[float, Floats]:
        """Return the determinant and S."""
        logdet, H = self.blocks.solve(factor)
        S = self.C.copy()
        for k, h in np.ndindex(self.k1, self.k1):
            pairs = self.pairs[k][h]
            if pairs is not None:
                S -= np.bincount(pairs.place, pairs.value * H[pairs.level, k, h], self.m**2).reshape(self.m, self.m)
            else:
                S -= (self.B[k].T @ (sp.diags_array(H[:, k, h]) @ self.B[h])).toarray()
        return logdet, S

    def pull(self, factor: Floats, slope: Floats) -> Floats:
        """Return the derivative with respect to Lambda."""
        slopes = np.empty((len(self.blocks.A), self.k1, self.k1))
        for k, h in np.ndindex(self.k1, self.k1):
            pairs = self.pairs[k][h]
            if pairs is not None:
                slopes[:, k, h] = np.bincount(pairs.level, pairs.value * slope.reshape(-1)[pairs.place], len(slopes))
            else:
                slopes[:, k, h] = (self.B[k] @ slope * self.B[h].toarray()).sum(axis=1)
        return self.blocks.pull(factor, slopes)


class _Pairs:
    """Every product of two entries of one sparse row: its level, its place in S, its value."""

    def __init__(self, level: Ints, place: Ints, value: Floats) -> None:
        self.level, self.place, self.value = level, place, value

    @classmethod
    def of(cls, left: sp.csr_array, right: sp.csr_array) -> _Pairs | None:
        """List the products, or return None where they are too many to be held."""
        a, b = np.diff(left.indptr), np.diff(right.indptr)
        if int((a * b).sum()) > MOST_PAIRS:
            return None
        level = np.repeat(np.arange(len(a)), a * b)
        offset = np.arange(len(level)) - np.repeat(np.cumsum(a * b) - a * b, a * b)
        i = left.indptr[level] + offset // b[level]
        j = right.indptr[level] + offset % b[level]
        return cls(
            level, left.indices[i].astype(np.int64) * left.shape[1] + right.indices[j], left.data[i] * right.data[j]
        )
