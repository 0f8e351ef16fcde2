"""Small models as loops that numba compiles: the criterion with its gradient, and the search of many refits.

`slopes` is what `criterion` and `elimination` write as a dozen calls on small arrays; the mathematics and the names are
theirs, and tests hold both to the same numbers on random models. `_search` is that of `optimization` without its
corners: a response whose search meets one (no decrease along a step, a saddle that one step does not leave, too many
steps) is left to the general search.

Imported only where numba is loaded. Without it these are plain Python, which only tests call. All stand in one file,
and numbers of other files come as arguments: numba's cache of compiled code looks at the text of this file alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.compiled import compile_exactly, compile_loops
from holdsup.numerics.layout import Floats
from holdsup.numerics.moments import Moments

MOST_STEPS, REFRESH = 40, 8


class SearchRules(NamedTuple):
    """The numbers of `optimization` by which a search goes."""

    roughly: float
    near_zero: float
    close: float
    stretch: float
    difference: float
    smallest: float


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

    def slopes(self, theta: Floats) -> tuple[float, Floats]:
        """Return the criterion and its gradient."""
        gradient = np.empty(len(theta))
        return float(slopes(theta, gradient, *self.arguments)), gradient

    def refit(
        self,
        start: Floats,
        curvature: Floats,
        diagonal: NDArray[np.bool_],
        drawn: tuple[Floats, ...],
        rules: SearchRules,
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return theta, criterion and whether the search settled, of every drawn response (`Drawn.arrays`)."""
        theta, count = start.copy(), len(start)
        values, settled = np.empty(count), np.zeros(count, np.bool_)
        _refit(theta, values, settled, curvature, diagonal, drawn, self.arguments, rules)
        return theta, values, settled


@compile_loops
def slopes(  # type: ignore[no-untyped-def]  # noqa: C901 (loops for the compiler)
    theta, gradient, A, counts, P, B, C, first, shapes, patterns, q2, weights, log_weights
):
    """Return the criterion, and write its gradient: `Criterion.slopes` as one nest of loops."""
    m, k1, groups = len(C), len(first), len(A)
    dof = weights[m - 1]
    factor = np.zeros((k1, k1))
    for i in range(k1):
        for j in range(k1):
            if first[i, j] >= 0:
                factor[i, j] = theta[first[i, j]]
    # The first factor: Lambda Omega^-1 and the root G of H = G'G, of each pattern or level.
    right, G = np.zeros((groups, k1, k1)), np.zeros((groups, k1, k1))
    same, value, logdet = np.zeros(groups, np.bool_), 0.0, 0.0
    for u in range(groups):
        same[u] = u > 0 and np.all(A[u] == A[u - 1])
        if same[u]:  # levels of a complete table
            G[u], right[u] = G[u - 1], right[u - 1]
            value += counts[u] * logdet
            continue
        logdet = 0.0
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
                    logdet += 2 * np.log(root[j, j])
                else:
                    gradient[:] = np.nan
                    return np.inf
        for j in range(k1):
            inverse[j, j] = 1 / root[j, j]
            for i in range(j + 1, k1):
                for k in range(j, i):
                    inverse[i, j] -= root[i, k] * inverse[k, j]
                inverse[i, j] /= root[i, i]
        G[u] = np.dot(inverse, factor.T)
        right[u] = np.dot(G[u].T, inverse)
        value += counts[u] * logdet
    S = C.copy()
    through = np.zeros(B.shape)
    if len(P):
        for u in range(groups):
            H = np.dot(G[u].T, G[u])
            for k in range(k1):
                for h in range(k1):
                    for i in range(m):
                        for j in range(m):
                            S[i, j] -= H[k, h] * P[u, k, h, i, j]
    else:
        for u in range(groups):
            through[u] = np.dot(G[u], B[u])
        S -= np.dot(through.reshape(-1, m).T, through.reshape(-1, m))
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
    inner, count = np.zeros((k1, k1)), 0.0  # of all levels so far that are the same
    for u in range(groups):
        count += counts[u]
        if len(P):
            for k in range(k1):
                for h in range(k + 1):
                    inner[k, h] = inner[h, k] = np.dot(P[u, k, h].reshape(-1), by_S.reshape(-1))
        else:
            inner += np.dot(np.dot(B[u], by_S), B[u].T)
        if u + 1 < groups and same[u + 1] and not len(P):
            continue
        across = np.dot(A[u], right[u])
        taken = np.dot(inner, right[u])
        total += 2 * (count * across - taken + np.dot(across, np.dot(factor.T, taken)))
        inner[:], count = 0.0, 0.0
    for i in range(k1):
        for j in range(k1):
            if first[i, j] >= 0:
                gradient[first[i, j]] += total[i, j]
    return value


@compile_exactly
def _refit(theta, values, settled, curvature, diagonal, responses, model, rules):  # type: ignore[no-untyped-def]
    gradient = np.empty(theta.shape[1])
    for d in range(len(theta)):
        _respond(d, responses, model)
        values[d], settled[d] = _search(theta[d], gradient, curvature.copy(), diagonal, model, rules)


@compile_exactly
def _respond(d, responses, model):  # type: ignore[no-untyped-def]
    """Put a response in the place of the last one."""
    products, squares, sums, crossed, squared = responses
    P, B, C = model[2], model[3], model[4]
    m, k1 = len(C), len(model[5])
    for i in range(m - 1):
        C[i, m - 1] = C[m - 1, i] = products[d, i]
    C[m - 1, m - 1] = squares[d]
    for u in range(len(P)):
        for k in range(k1):
            for h in range(k1):
                for i in range(m - 1):
                    P[u, k, h, i, m - 1] = crossed[d, u, k, h, i]
                    P[u, h, k, m - 1, i] = crossed[d, u, k, h, i]
                P[u, k, h, m - 1, m - 1] = squared[d, u, k, h]
    for j in range(len(B)):
        for k in range(k1):
            B[j, k, m - 1] = sums[d, j, k]


@compile_exactly
def _search(theta, gradient, H, diagonal, model, rules):  # type: ignore[no-untyped-def]
    """Move theta to the minimum; return the criterion there, and whether it is a certain one."""
    value = slopes(theta, gradient, *model)
    roughly, near_zero = rules.roughly, rules.near_zero
    moved, found = np.empty(len(theta)), np.empty(len(theta))
    fresh = escaped = False  # whether H was made here, and whether a saddle was left
    for steps in range(MOST_STEPS):
        step, upward = _solve(H, gradient)
        if not fresh and (not upward or steps % REFRESH == REFRESH - 1):
            H, fresh = _differences(theta, gradient, model, rules), True
            step, upward = _solve(H, gradient)
        decrease = -np.sum(gradient * step) / 2
        if decrease < roughly:
            doubtful = np.any(diagonal & (np.abs(theta) < near_zero))
            if upward and (fresh or not doubtful):
                return value, True
            if fresh:
                if escaped:
                    return value, False
                step, escaped = np.linalg.eigh(H)[1][:, 0] * 0.05, True
            else:
                H, fresh = _differences(theta, gradient, model, rules), True
                continue
        there = _descend(theta, value, step, decrease, 12 if fresh else 3, moved, found, model, rules)
        if there == np.inf:
            if fresh:
                return value, False
            H, fresh = _differences(theta, gradient, model, rules), True
            continue
        _update(H, moved - theta, found - gradient)
        fresh, value = False, there
        theta[:], gradient[:] = moved, found
    return value, False


@compile_exactly
def _descend(theta, value, step, decrease, most, moved, found, model, rules):  # type: ignore[no-untyped-def]
    """Write the first point along the step that is lower, and its gradient; return its value, infinity for none."""
    close, stretch = rules.close, rules.stretch
    length = min(1.0, np.min(stretch * np.maximum(np.abs(theta), 0.1) / np.maximum(np.abs(step), 1e-300)))
    for _ in range(most):
        moved[:] = theta + length * step
        there = slopes(moved, found, *model)
        # So near the optimum rounding hides values.
        if there < value or (decrease < close and there < value + 1e-12 * abs(value)):
            return there
        length *= 0.3
    return np.inf


@compile_exactly
def _update(H, step, change):  # type: ignore[no-untyped-def]
    """Update H after a step that changed the gradient (BFGS), unless it would not curve up."""
    k = len(step)
    Hs = np.zeros(k)
    for i in range(k):
        for j in range(k):
            Hs[i] += H[i, j] * step[j]
    along, bent = np.sum(step * change), np.sum(step * Hs)
    if along > 0 and bent > 0:
        for i in range(k):
            for j in range(k):
                H[i, j] += change[i] * change[j] / along - Hs[i] * Hs[j] / bent


@compile_exactly
def _solve(H, gradient):  # type: ignore[no-untyped-def]
    """Return -H^-1 gradient, and whether H curves up; where it does not, its eigenvalues are made positive."""
    k = len(gradient)
    L, step = np.zeros((k, k)), np.zeros(k)
    for j in range(k):
        for r in range(j, k):
            entry = H[r, j]
            for i in range(j):
                entry -= L[r, i] * L[j, i]
            if r > j:
                L[r, j] = entry / L[j, j]
            elif entry > 1e-10 * abs(H[j, j]):
                L[j, j] = np.sqrt(entry)
            else:
                values, vectors = np.linalg.eigh(H)
                along = np.dot(vectors.T, gradient) / np.maximum(np.abs(values), 1e-10 * np.max(np.abs(values)))
                return -np.dot(vectors, along), False
    for j in range(k):
        step[j] = -gradient[j]
        for i in range(j):
            step[j] -= L[j, i] * step[i]
        step[j] /= L[j, j]
    for j in range(k - 1, -1, -1):
        for i in range(j + 1, k):
            step[j] -= L[i, j] * step[i]
        step[j] /= L[j, j]
    return step, True


@compile_exactly
def _differences(theta, gradient, model, rules):  # type: ignore[no-untyped-def]
    """Return the Hessian, by forward differences of the exact gradient."""
    k = len(theta)
    H, beside, moved = np.empty((k, k)), np.empty(k), theta.copy()
    for i in range(k):
        moved[i] = theta[i] + rules.difference * max(abs(theta[i]), rules.smallest)
        slopes(moved, beside, *model)
        H[:, i] = (beside - gradient) / (moved[i] - theta[i])
        moved[i] = theta[i]
    return (H + H.T) / 2
