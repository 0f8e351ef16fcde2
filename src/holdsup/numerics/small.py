"""The criterion of a small model and its gradient as one nest of loops, for numba to compile.

What `criterion` and `elimination` write as a dozen calls on small arrays; the mathematics and the names
are theirs. Written in plain Python, so that it can be tested without numba, where nobody else calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from holdsup.numerics.compiled import compile_loops
from holdsup.numerics.layout import Floats
from holdsup.numerics.moments import Moments

__all__ = ["LARGEST", "SmallModel", "slopes", "small_slopes"]

LARGEST = 64  # columns of M up to which loops beat LAPACK's calls


class SmallModel:
    """A model laid out for `slopes`: what does not depend on theta."""

    def __init__(self, moments: Moments, A: Floats, counts: Floats, P: Floats | None, *, reml: bool) -> None:
        k = max((block.width for block in moments.blocks), default=1)
        shapes = np.array([(b.start, b.count, b.width) for b in moments.blocks], np.int64).reshape(-1, 3)
        patterns = np.full((len(shapes), k, k), -1, np.int64)
        for i, block in enumerate(moments.blocks):
            patterns[i, : block.width, : block.width] = block.pattern
        m, k1 = len(moments.C), len(moments.first)
        B = np.zeros((0, k1, m)) if P is not None else moments.B
        assert isinstance(B, np.ndarray)
        P = np.zeros((0, k1, k1, m, m)) if P is None else P.reshape(len(A), k1, k1, m, m)
        dof = moments.n - (moments.p if reml else 0)
        weights = np.concatenate([np.ones(moments.q2), np.full(moments.p, float(reml)), [dof]])
        self.arguments: tuple[Any, ...] = (
            A, counts, P, B, moments.C, moments.first, shapes, patterns, moments.q2, weights, moments.log_weights,
        )  # fmt: skip


def small_slopes(theta: Floats, model: SmallModel) -> tuple[float, Floats]:
    """Return the criterion of a small model and its gradient, by compiled loops."""
    gradient = np.empty(len(theta))
    value = compile_loops(slopes)(theta, gradient, *model.arguments)
    return float(value), gradient


def slopes(  # type: ignore[no-untyped-def]  # noqa: C901, D103 (documented above; loops for the compiler)
    theta, gradient, A, counts, P, B, C, first, shapes, patterns, q2, weights, log_weights
):
    m, k1, groups = len(C), len(first), len(A)
    dof = weights[m - 1]
    factor = np.zeros((k1, k1))
    for i in range(k1):
        for j in range(k1):
            if first[i, j] >= 0:
                factor[i, j] = theta[first[i, j]]
    # The first factor: Lambda Omega^-1 and H of each pattern or level.
    right, H = np.zeros((groups, k1, k1)), np.zeros((groups, k1, k1))
    value = 0.0
    for u in range(groups):
        omega = np.dot(factor.T, np.dot(A[u], factor))
        for i in range(k1):
            omega[i, i] += 1
        # Cholesky, and the inverse of the factor; LAPACK would raise where rounding leaves nothing positive.
        root, inverse = np.zeros((k1, k1)), np.zeros((k1, k1))
        for j in range(k1):
            for i in range(j, k1):
                entry = omega[i, j]
                for k in range(j):
                    entry -= root[i, k] * root[j, k]
                if i > j:
                    root[i, j] = entry / root[j, j]
                elif entry > 0 and entry < np.inf:
                    root[j, j] = np.sqrt(entry)
                    value += 2 * counts[u] * np.log(root[j, j])
                else:
                    gradient[:] = np.nan
                    return np.inf
        for j in range(k1):
            inverse[j, j] = 1 / root[j, j]
            for i in range(j + 1, k1):
                for k in range(j, i):
                    inverse[i, j] -= root[i, k] * inverse[k, j]
                inverse[i, j] /= root[i, i]
        right[u] = np.dot(factor, np.dot(inverse.T, inverse))
        H[u] = np.dot(right[u], factor.T)
    S = C.copy()
    through = np.zeros(B.shape)
    if len(P):
        for u in range(groups):
            for k in range(k1):
                for h in range(k1):
                    for i in range(m):
                        for j in range(m):
                            S[i, j] -= H[u, k, h] * P[u, k, h, i, j]
    else:
        for u in range(groups):
            through[u] = np.dot(H[u], B[u])
        S -= np.dot(B.reshape(-1, m).T, through.reshape(-1, m))
    # Lambda2 by its columns: scale[c, d] stands in row c + d of column c.
    wide = patterns.shape[1] if len(shapes) else 1
    scale = np.zeros((m, wide))
    scale[q2:, 0] = 1.0
    for b in range(len(shapes)):
        start, count, width = shapes[b]
        for level in range(count):
            for j in range(width):
                for i in range(j, width):
                    if patterns[b, i, j] >= 0:
                        scale[start + level * width + j, i - j] = theta[patterns[b, i, j]]
    half, T = np.zeros((m, m)), np.zeros((m, m))  # S Lambda2, and Lambda2'S Lambda2
    for d in range(wide):
        for i in range(m):
            for j in range(m - d):
                half[i, j] += S[i, j + d] * scale[j, d]
    for d in range(wide):
        for i in range(m - d):
            for j in range(m):
                T[i, j] += scale[i, d] * half[i + d, j]
    for i in range(q2):
        T[i, i] += 1
    # Cholesky, and the inverse of the factor, by columns: K[j, i] stands in row i of column j.
    L, K = np.zeros((m, m)), np.zeros((m, m))
    for j in range(m):
        for i in range(j, m):
            entry = T[i, j]
            for k in range(j):
                entry -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = entry / L[j, j]
            elif entry > 0:
                L[j, j] = np.sqrt(entry)
            else:
                gradient[:] = np.nan
                return np.inf
    # Sums run over pieces from zero on: the compiler uses the processor's vectors only where no index may be negative.
    for i in range(m):
        for j in range(i):
            entry, one, other = 0.0, L[i, j:i], K[j, j:i]
            for k in range(len(one)):
                entry -= one[k] * other[k]
            K[j, i] = entry / L[i, i]
        K[i, i] = 1 / L[i, i]
    for i in range(m - 1):
        value += 2 * weights[i] * np.log(L[i, i])
    value += dof * (1 + np.log(2 * np.pi * L[m - 1, m - 1] ** 2 / dof)) - log_weights
    # The gradient, from S~ back to Lambda: first slope Lambda2', then Lambda2 slope Lambda2'.
    weighed, slope = K * weights, np.empty((m, m))
    for i in range(m):
        for j in range(i + 1):
            entry, one, other = 0.0, weighed[i, i:], K[j, i:]  # before its diagonal a row of K is zero
            for k in range(len(one)):
                entry += one[k] * other[k]
            slope[i, j] = slope[j, i] = entry
    half[:], by_S = 0.0, T
    by_S[:] = 0.0
    for d in range(wide):
        for i in range(m):
            for j in range(m - d):
                half[i, j + d] += slope[i, j] * scale[j, d]
    for d in range(wide):
        for i in range(m - d):
            for j in range(m):
                by_S[i + d, j] += scale[i, d] * half[i, j]
    gradient[:] = 0.0
    for b in range(len(shapes)):
        start, count, width = shapes[b]
        for level in range(count):
            for i in range(width):
                for j in range(i + 1):
                    if patterns[b, i, j] >= 0:
                        place = start + level * width
                        gradient[patterns[b, i, j]] += 2 * np.dot(S[place + i], half[place + j])
    total = np.zeros((k1, k1))
    for u in range(groups):
        inner = np.zeros((k1, k1))
        if len(P):
            for k in range(k1):
                for h in range(k + 1):
                    inner[k, h] = inner[h, k] = np.dot(P[u, k, h].reshape(-1), by_S.reshape(-1))
        else:
            inner = np.dot(np.dot(B[u], by_S), B[u].T)
        across = np.dot(A[u], right[u])
        taken = np.dot(inner, right[u])
        total += 2 * (counts[u] * across - taken + np.dot(across, np.dot(factor.T, taken)))
    for i in range(k1):
        for j in range(k1):
            if first[i, j] >= 0:
                gradient[first[i, j]] += total[i, j]
    return value
