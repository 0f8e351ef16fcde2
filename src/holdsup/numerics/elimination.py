"""The first grouping factor, eliminated level by level (Bates et al. 2015, eq. 18, in blocks).

With Lambda the k1 x k1 factor of the first effects, level j contributes

    Omega_j = Lambda'A_j Lambda + I,   H_j = Lambda Omega_j^-1 Lambda',
    log|Omega_j| to the log-determinant, and  b_j'H_j b_j  is taken off C:   S = C - sum_j b_j'H_j b_j.

Levels with the same A_j have the same H_j. Where few patterns occur, as in every crossed evaluation
table, they act through the precomputed P_u = sum of b_j (x) b_j over the levels of pattern u, and an
evaluation costs the same whatever the number of levels. Each class gives `reduce` (the determinant and
S) and `pull` (the derivative with respect to Lambda, given that with respect to S), of one Lambda or, where arrays are
dense, of many, each with a response of its own: then all arrays but those of `Blocks` have a leading axis.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdsup.numerics import compiled
from holdsup.numerics.cells import find_alike
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import MOST_SUMS, SMALL_SUMS, Alike, Moments, worth_summing

WORTH_COMPILING = 1_000_000  # products from which importing numba pays within one fit
WORTH_SUMMING_SPARSE = 16  # entries of the sums over patterns per entry of the sparse rows that they stand for
FEW_LEVELS = 20  # up to which levels cost about what patterns do
MOST_PAIRS = 30_000_000  # products of two entries of a sparse row that are listed once and for all


class Elimination(Protocol):
    """How the first factor is taken out."""

    def reduce(self, factor: Floats) -> tuple[Any, Floats]:
        """Return sum log|Omega_j| and S, shape (m, m)."""

    def pull(self, factor: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return the derivative by Lambda of tr(slope S), plus log|Omega| if asked; shape (k1, k1)."""


def choose_elimination(moments: Moments, *, exact: bool = False) -> Elimination:
    """Return the cheapest way to take out the first factor of this model; if `exact`, the best where it is cheap too.

    Patterns act through H, which is as large as the variances of factors that are nested in the first, relative to the
    residual; rows of levels are multiplied by its root alone. With variances 100,000 times the residual's the criterion
    of 100 rows is off by 1e-3 with patterns and by 1e-8 with levels, and no search ends at the same optimum twice.
    """
    if not len(moments.first):
        return Nothing(moments)
    k1, m = len(moments.first), len(moments.C)
    if exact and k1 > 1 and moments.q1 <= FEW_LEVELS and isinstance(moments.B, np.ndarray):
        return Levels.of(moments)
    if isinstance(moments.held, Alike):
        found = find_alike(moments.held.A)
        if worth_summing(len(found[0]), (len(moments.held.kind), k1, m)):
            return Patterns.of_kinds(moments.held, moments.C, *found)
    patterns, pattern_of = find_alike(moments.A)
    size = len(patterns) * k1 * k1 * m * m
    if not isinstance(moments.B, np.ndarray):
        few = k1 == 1 and size <= max(SMALL_SUMS, WORTH_SUMMING_SPARSE * moments.B[0].nnz)
        return Patterns.of(moments, patterns, pattern_of) if few and size <= MOST_SUMS else SparseLevels(moments)
    few = worth_summing(len(patterns), moments.B.shape)
    return Patterns.of(moments, patterns, pattern_of) if few else Levels.of(moments)


class Blocks:
    """Omega and H of many levels or patterns at once, and the derivative that both share."""

    def __init__(self, A: Floats, counts: Floats) -> None:
        self.A, self.counts = A, counts
        self.last: tuple[Floats, Floats] | None = None  # Lambda and Lambda Omega^-1 of the last evaluation

    def solve(self, factor: Floats) -> tuple[Any, Floats]:
        """Return sum log|Omega| and the roots G of H = G'G, shape (..., u, k1, k1)."""
        k1 = factor.shape[-1]
        if k1 == 1:
            theta = factor[..., 0]
            omega = theta**2 * self.A[:, 0, 0] + 1
            return np.log(omega) @ self.counts, (theta / np.sqrt(omega))[..., None, None]
        each = factor[..., None, :, :]
        omega = turn(each) @ self.A @ each
        omega[..., np.arange(k1), np.arange(k1)] += 1
        L = np.linalg.cholesky(omega)
        logdets = 2 * np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(axis=-1)
        inverse = np.linalg.inv(L)
        G = inverse @ turn(each)
        self.last = (factor, turn(G) @ inverse)
        return logdets @ self.counts, G

    def pull(self, factor: Floats, slopes: Floats, *, determinant: bool) -> Floats:
        """Return the derivative of [counts log|Omega|] - tr(slopes H), for slopes of shape (..., u, k1, k1)."""
        counts = self.counts if determinant else np.zeros(len(self.counts))
        if factor.shape[-1] == 1:
            theta, a = factor[..., 0], self.A[:, 0, 0]
            omega = theta**2 * a + 1
            inner = (counts * a / omega - slopes[..., 0, 0] / omega**2).sum(axis=-1)
            return np.asarray(2 * factor * inner[..., None, None])
        if self.last is None or not np.array_equal(self.last[0], factor):
            self.solve(factor)
        assert self.last is not None  # solve has just set it
        right = self.last[1]
        across = self.A @ right
        through = slopes @ right
        turned = turn(factor)[..., None, :, :]
        return np.asarray(2 * (counts[:, None, None] * across - through + across @ (turned @ through)).sum(axis=-3))


def turn(matrix: Floats) -> Floats:
    """Return the transpose of a matrix, or of each of many."""
    return matrix.swapaxes(-1, -2)


class Nothing:
    """No random effects at all."""

    def __init__(self, moments: Moments) -> None:
        self.C = moments.C

    def reduce(self, factor: Floats) -> tuple[Any, Floats]:
        """Return 0 and C."""
        return 0.0, self.C.copy()

    def pull(self, factor: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return nothing: there is no Lambda."""
        return np.zeros((0, 0))


class Patterns:
    """Few different A_j: all levels of a pattern act through one precomputed sum.

    Attributes
    ----------
    C : M'WM, shape (m, m)
    blocks : the different A_j, and how many levels have each
    P : sum of b_j (x) b_j over the levels of each pattern, shape (patterns * k1 * k1, m * m)
    """

    def __init__(self, C: Floats, blocks: Blocks, P: Floats) -> None:
        self.C, self.blocks, self.P = C, blocks, P

    @classmethod
    def of(cls, moments: Moments, patterns: Ints, pattern_of: Ints) -> Patterns:
        """Return the sums over the levels of each pattern."""
        B = moments.B
        counts = np.bincount(pattern_of, minlength=len(patterns)).astype(float)
        blocks = Blocks(moments.A[patterns], counts)
        if not isinstance(B, np.ndarray):
            (rows,) = B
            parts = [rows[pattern_of == u] for u in range(len(patterns))]
            return cls(moments.C, blocks, np.stack([(part.T @ part).toarray().reshape(-1) for part in parts]))
        _, k1, m = B.shape
        flat = B.reshape(len(B), k1 * m)
        if len(patterns) > 1:
            order = np.argsort(pattern_of, kind="stable")
            pieces = np.split(flat[order], np.cumsum(counts[:-1]).astype(int))
        else:
            pieces = [flat]
        products = np.stack([piece.T @ piece for piece in pieces]).reshape(len(patterns), k1, m, k1, m)
        P = np.ascontiguousarray(products.transpose(0, 1, 3, 2, 4)).reshape(len(patterns) * k1 * k1, m * m)
        return cls(moments.C, blocks, P)

    @classmethod
    def of_kinds(cls, levels: Alike, C: Floats, patterns: Ints, pattern_of: Ints) -> Patterns:
        """Return the sums over the levels of each pattern, from kinds that differ in their responses alone."""
        counts = np.bincount(levels.kind, minlength=len(levels.A)).astype(float)
        k1, m = levels.B.shape[1:]
        products = np.zeros((len(patterns), k1, k1, m, m))
        for u, base in enumerate(levels.B):
            own = levels.responses if len(counts) == 1 else levels.responses[levels.kind == u]
            across = base[:, None, :] * own.sum(axis=0)[None, :, None]
            product = products[pattern_of[u]]
            product += np.einsum("ka,hb->khab", counts[u] * base, base)
            product[:, :, :, -1] += across
            product[:, :, -1, :] += across.transpose(1, 0, 2)
            product[:, :, -1, -1] += own.T @ own
        pattern_counts = np.bincount(pattern_of, counts, len(patterns)).astype(np.float64)
        return cls(C, Blocks(levels.A[patterns], pattern_counts), products.reshape(-1, C.size))

    @property
    def sums(self) -> Floats:
        """P as the array that it is, shape (..., patterns, k1, k1, m, m): a view."""
        k1, m = self.blocks.A.shape[1], self.C.shape[-1]
        return self.P.reshape(*self.P.shape[:-2], -1, k1, k1, m, m)

    def reduce(self, factor: Floats) -> tuple[Any, Floats]:
        """Return the determinant and S."""
        logdet, G = self.blocks.solve(factor)
        H = turn(G) @ G
        return logdet, self.C - (H.reshape(*H.shape[:-3], 1, -1) @ self.P).reshape(self.C.shape)

    def pull(self, factor: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return the derivative with respect to Lambda."""
        lead, k1 = slope.shape[:-2], self.blocks.A.shape[1]
        slopes = (self.P @ slope.reshape(*lead, -1, 1)).reshape(*lead, -1, k1, k1)
        return self.blocks.pull(factor, slopes, determinant=determinant)


class Levels:
    """Many different A_j, rows b_j dense: level by level, in one matrix product."""

    def __init__(self, C: Floats, blocks: Blocks, B: Floats) -> None:
        self.C, self.blocks, self.B = C, blocks, B

    @classmethod
    def of(cls, moments: Moments) -> Levels:
        """Return every level by itself."""
        assert isinstance(moments.B, np.ndarray)
        return cls(moments.C, Blocks(moments.A, np.ones(len(moments.A))), moments.B)

    def reduce(self, factor: Floats) -> tuple[Any, Floats]:
        """Return the determinant and S."""
        logdet, G = self.blocks.solve(factor)
        taken = self._flat(G @ self.B)
        return logdet, self.C - turn(taken) @ taken

    def pull(self, factor: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return the derivative with respect to Lambda."""
        across = (self._flat(self.B) @ slope).reshape(self.B.shape)
        return self.blocks.pull(factor, across @ turn(self.B), determinant=determinant)

    @staticmethod
    def _flat(rows: Floats) -> Floats:
        return rows.reshape(*rows.shape[:-3], -1, rows.shape[-1])


class SparseLevels:
    """Rows b_j long and mostly empty (a second large factor): only entries that occur are multiplied."""

    def __init__(self, moments: Moments) -> None:
        assert not isinstance(moments.B, np.ndarray)
        self.B, self.C = moments.B, moments.C
        self.k1, self.m = len(moments.B), len(moments.C)
        self.blocks = Blocks(moments.A, np.ones(len(moments.A)))
        self.pairs = [[_pair(left, right) for right in self.B] for left in self.B]

    def reduce(self, factor: Floats) -> tuple[Any, Floats]:
        """Return the determinant and S."""
        logdet, G = self.blocks.solve(factor)
        H = G.transpose(0, 2, 1) @ G
        S = self.C.copy()
        for k, h in np.ndindex(self.k1, self.k1):
            pairs = self.pairs[k][h]
            if pairs is not None:
                S -= pairs.scatter(H[:, k, h], self.m)
            else:
                S -= (self.B[k].T @ (sp.diags_array(H[:, k, h]) @ self.B[h])).toarray()
        return logdet, S

    def pull(self, factor: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return the derivative with respect to Lambda."""
        slopes = np.empty((len(self.blocks.A), self.k1, self.k1))
        for k, h in np.ndindex(self.k1, self.k1):
            pairs = self.pairs[k][h]
            if pairs is not None:
                slopes[:, k, h] = pairs.gather(slope, len(slopes))
            else:
                slopes[:, k, h] = (self.B[k] @ slope * self.B[h].toarray()).sum(axis=1)
        return self.blocks.pull(factor, slopes, determinant=determinant)


def _pair(left: sp.csr_array, right: sp.csr_array) -> _Compiled | _Pairs | None:
    """Return the quickest way to multiply the entries of two sparse matrices row by row."""
    if left is right and int((np.diff(left.indptr) ** 2).sum()) > WORTH_COMPILING and compiled.available():
        return _Compiled(left)
    return _Pairs.of(left, right, half=left is right)


class _Compiled:
    """Products of the entries of sparse rows with themselves, multiplied where they stand (numba)."""

    def __init__(self, rows: sp.csr_array) -> None:
        rows.sort_indices()
        self.rows = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)

    def scatter(self, weights: Floats, m: int) -> Floats:
        """Return the sum over levels of weight times row times row, shape (m, m)."""
        return compiled.scatter_pairs(m, np.ascontiguousarray(weights), *self.rows)

    def gather(self, slope: Floats, levels: int) -> Floats:
        """Return for each level its row times `slope` times its row."""
        return compiled.gather_pairs(np.ascontiguousarray(slope), *self.rows)


class _Pairs:
    """Every product of two entries of one sparse row: its level, its place in S, its value.

    For a matrix with itself, only one of each pair of equal products is listed (`half`).
    """

    def __init__(self, level: NDArray[np.int32], place: Ints, value: Floats, *, half: bool, m: int) -> None:
        self.level, self.place, self.value, self.half = level, place, value, half
        # A listed product off the diagonal stands for two.
        self.doubled = value * np.where(place % (m + 1) == 0, 1.0, 2.0) if half else value

    @classmethod
    def of(cls, left: sp.csr_array, right: sp.csr_array, *, half: bool) -> _Pairs | None:
        """List the products, or return None where they are too many to be held."""
        left.sort_indices()
        right.sort_indices()
        a, b = np.diff(left.indptr), np.diff(right.indptr)
        if int((a * b).sum()) > MOST_PAIRS:
            return None
        level = np.repeat(np.arange(len(a)), a * b)
        offset = np.arange(len(level)) - np.repeat(np.cumsum(a * b) - a * b, a * b)
        i, j = offset // b[level], offset % b[level]
        if half:
            kept = j <= i
            level, i, j = level[kept], i[kept], j[kept]
        i, j = left.indptr[level] + i, right.indptr[level] + j
        place = left.indices[i].astype(np.int64) * left.shape[1] + right.indices[j]
        return cls(level.astype(np.int32), place, left.data[i] * right.data[j], half=half, m=left.shape[1])

    def scatter(self, weights: Floats, m: int) -> Floats:
        """Return the sum over levels of weight times left row times right row, shape (m, m)."""
        sums = np.bincount(self.place, self.value * weights[self.level], m * m)
        found = sums.astype(np.float64, copy=False).reshape(m, m)
        if self.half:
            found = found + found.T
            found[np.diag_indices(m)] *= 0.5
        return np.asarray(found)

    def gather(self, slope: Floats, levels: int) -> Floats:
        """Return for each level its left row times `slope` times its right row."""
        sums = np.bincount(self.level, self.doubled * slope.reshape(-1)[self.place], levels)
        return sums.astype(np.float64, copy=False)
