"""The likelihoods of a logistic mixed model, written out: dense Laplace, and integrals on many nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

__all__ = ["integral_of", "laplace_of", "outer_laplace_of"]

Array = np.ndarray[Any, Any]


def laplace_of(s: Array, n: Array, fixed: Array, Z: Array) -> float:
    """Laplace's criterion at the linear predictor `fixed + Z u`, u standard normal."""
    u = np.zeros(Z.shape[1])

    def penalized(u: Array) -> float:
        eta = fixed + Z @ u
        return float(-2 * (s @ eta - n @ np.logaddexp(0, eta)) + u @ u)

    for _ in range(200):
        mu = 1 / (1 + np.exp(-(fixed + Z @ u)))
        H = Z.T @ (Z * (n * mu * (1 - mu))[:, None]) + np.eye(len(u))
        gradient = Z.T @ (s - n * mu) - u
        step = np.linalg.solve(H, gradient)
        size = 1.0
        while penalized(u + size * step) > penalized(u) + 1e-12:
            size /= 2
        u = u + size * step
        if gradient @ step < 1e-22:
            break
    mu = 1 / (1 + np.exp(-(fixed + Z @ u)))
    H = Z.T @ (Z * (n * mu * (1 - mu))[:, None]) + np.eye(len(u))
    return penalized(u) + float(np.linalg.slogdet(H)[1])


def integral_of(
    s: Array, n: Array, fixed: Array, item: Array, unit: Array | None, sd: Sequence[float], nodes: int = 80
) -> float:
    """-2 log-likelihood of items with normal effects, and of units within them if there are any."""
    x, weight = hermegauss(nodes)
    weight = np.log(weight / weight.sum())
    inner = [0.0] if unit is None else sd[1] * x
    inner_weight = np.zeros(1) if unit is None else weight
    total = 0.0
    for j in np.unique(item):
        rows = np.flatnonzero(item == j)
        logs = weight.copy()
        parts = (
            [rows[[k]] for k in range(len(rows))]
            if unit is None
            else [rows[unit[rows] == u] for u in np.unique(unit[rows])]
        )
        for part in parts:
            eta = fixed[part][:, None, None] + sd[0] * x[None, :, None] + np.asarray(inner)[None, None, :]
            log = (s[part][:, None, None] * eta - n[part][:, None, None] * np.logaddexp(0, eta)).sum(axis=0)
            logs = logs + np.logaddexp.reduce(log + inner_weight, axis=1)
        total += float(np.logaddexp.reduce(logs))
    return -2 * total


def outer_laplace_of(inside: Callable[[Array], float], size: int) -> float:
    """Laplace's approximation over v standard normal of a criterion that is `inside(v)` given v, by differences."""
    v, h = np.zeros(size), 1e-3
    unit = h * np.eye(size)

    def f(v: Array) -> float:
        return inside(v) / 2 + float(v @ v) / 2

    for step in range(7):
        here = f(v)
        up, down = np.array([f(v + e) for e in unit]), np.array([f(v - e) for e in unit])
        H = np.diag((up - 2 * here + down) / h**2)
        for i in range(size):
            for j in range(i):
                H[i, j] = H[j, i] = (f(v + unit[i] + unit[j]) - up[i] - up[j] + here) / h**2
        H = (H + H.T) / 2
        if step < 6:
            v = v - np.linalg.solve(H, (up - down) / (2 * h))
    return 2 * f(v) + float(np.linalg.slogdet(H)[1])
