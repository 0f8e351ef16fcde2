"""Refits of a small model to many responses as compiled loops: the search of `optimization` without its corners.

Imported only where numba is. A response whose search meets a corner (no decrease along a step, a saddle that
one step does not leave, too many steps) is left to the general search.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.compiled import compile_loops
from holdsup.numerics.drawing import Drawn
from holdsup.numerics.layout import Floats
from holdsup.numerics.optimization import CLOSE, DIFFERENCE, NEAR_ZERO, ROUGHLY, SMALLEST, STRETCH
from holdsup.numerics.small import SmallModel, slopes

__all__ = ["refit_small"]

MOST_STEPS, REFRESH = 40, 8

# The digest of small.py. Numba's cache looks at the text of this file alone: where only that one has changed, it would
# go on with loops that hold the old one.
COMPILED_WITH = "e447fe449650a317"

_slopes = compile_loops(slopes)


def refit_small(
    model: SmallModel, start: Floats, curvature: Floats, diagonal: NDArray[np.bool_], drawn: Drawn
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return theta, criterion and whether the search settled, of every drawn response."""
    theta = start.copy()
    values, settled = np.empty(len(drawn)), np.zeros(len(drawn), np.bool_)
    responses = (drawn.products, drawn.squares, drawn.sums, drawn.crossed, drawn.squared)
    _refit(theta, values, settled, curvature, diagonal, responses, model.arguments)
    return theta, values, settled


@numba.njit(cache=True, nogil=True)
def _refit(theta, values, settled, curvature, diagonal, responses, model):  # type: ignore[no-untyped-def]
    gradient = np.empty(theta.shape[1])
    for d in range(len(theta)):
        _respond(d, responses, model)
        values[d], settled[d] = _search(theta[d], gradient, curvature.copy(), diagonal, model)


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _search(theta, gradient, H, diagonal, model):  # type: ignore[no-untyped-def]
    """Move theta to the minimum; return the criterion there, and whether it is a certain one."""
    value = _slopes(theta, gradient, *model)
    moved, found = np.empty(len(theta)), np.empty(len(theta))
    fresh = escaped = False  # whether H was made here, and whether a saddle was left
    for steps in range(MOST_STEPS):
        step, upward = _solve(H, gradient)
        if not fresh and (not upward or steps % REFRESH == REFRESH - 1):
            H, fresh = _differences(theta, gradient, model), True
            step, upward = _solve(H, gradient)
        decrease = -np.sum(gradient * step) / 2
        if decrease < ROUGHLY:
            near_zero = np.any(diagonal & (np.abs(theta) < NEAR_ZERO))
            if upward and (fresh or not near_zero):
                return value, True
            if fresh:
                if escaped:
                    return value, False
                step, escaped = np.linalg.eigh(H)[1][:, 0] * 0.05, True
            else:
                H, fresh = _differences(theta, gradient, model), True
                continue
        there = _descend(theta, value, step, decrease, 12 if fresh else 3, moved, found, model)
        if there == np.inf:
            if fresh:
                return value, False
            H, fresh = _differences(theta, gradient, model), True
            continue
        _update(H, moved - theta, found - gradient)
        fresh, value = False, there
        theta[:], gradient[:] = moved, found
    return value, False


@numba.njit(cache=True, nogil=True)
def _descend(theta, value, step, decrease, most, moved, found, model):  # type: ignore[no-untyped-def]
    """Write the first point along the step that is lower, and its gradient; return its value, infinity for none."""
    length = min(1.0, np.min(STRETCH * np.maximum(np.abs(theta), 0.1) / np.maximum(np.abs(step), 1e-300)))
    for _ in range(most):
        moved[:] = theta + length * step
        there = _slopes(moved, found, *model)
        # So near the optimum rounding hides values.
        if there < value or (decrease < CLOSE and there < value + 1e-12 * abs(value)):
            return there
        length *= 0.3
    return np.inf


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _differences(theta, gradient, model):  # type: ignore[no-untyped-def]
    """Return the Hessian, by forward differences of the exact gradient."""
    k = len(theta)
    H, beside, moved = np.empty((k, k)), np.empty(k), theta.copy()
    for i in range(k):
        moved[i] = theta[i] + DIFFERENCE * max(abs(theta[i]), SMALLEST)
        _slopes(moved, beside, *model)
        H[:, i] = (beside - gradient) / (moved[i] - theta[i])
        moved[i] = theta[i]
    return (H + H.T) / 2
