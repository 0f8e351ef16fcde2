"""Average information: an approximate Hessian at the cost of a few products, for dear models.

Of the criterion at fixed sigma, the observed and the expected Hessian average to y'P V_s P V_t P y
(Gilmour, Thompson & Cullis 1995, Biometrics 51:1440), V_t the derivative of the variance by theta_t.
With b_t the predicted effects of term t, V_t P y = 2 Z_t b_t / theta_t: working vectors w_t = Z_t b_t in the
span of Z, so that all products are linear in the cross-products that are there already. Profiling over
sigma takes dof (d log r^2)(d log r^2)' off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from holdsup.numerics.layout import Floats
from holdsup.numerics.moments import Moments

__all__ = ["average_information", "has_information"]


def has_information(moments: Moments) -> bool:
    """Return whether every term has a single column, for which the formula below is written."""
    return len(moments.first) == 1 and all(block.width == 1 for block in moments.blocks)


def average_information(moments: Moments, theta: Floats, L: Floats, dof: float) -> Floats | None:
    """Return the approximate Hessian of the profiled criterion at theta, whose factor is L; None at a zero theta."""
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
