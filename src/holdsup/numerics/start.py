"""A starting point for the search: variances by the method of moments, from the cross-products alone."""

from __future__ import annotations

import numpy as np

from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Alike, Moments

__all__ = ["starting_point"]

LEAST, MOST = 0.03, 30.0  # relative standard deviations within which the search starts


def starting_point(moments: Moments) -> Floats:
    """Return theta from the spread of level means about the plain regression, one column at a time.

    For a column with weights a_l (its squared length in level l) and residual sums s_l, s_l / a_l has
    variance v + sigma^2 / a_l, so that sum s_l^2 / a_l is about q sigma^2 + v sum a_l. Other random
    terms are ignored: this is a start, not an estimate, and it need only be of the right order.
    """
    q2, p = moments.q2, moments.p
    C = moments.C
    beta = np.linalg.lstsq(C[q2 : q2 + p, q2 : q2 + p], C[q2 : q2 + p, -1], rcond=None)[0] if p else np.empty(0)
    total = max(float(C[-1, -1] - beta @ C[q2 : q2 + p, -1]), 1e-300) / moments.n
    columns: list[tuple[int, Floats, Floats]] = []
    held, kind = moments.held, slice(None)
    if isinstance(held, Alike):
        kind = held.kind  # type: ignore[assignment]  # either tells which A and b each level has
    for i, parameter in _diagonal(moments.first):
        rows = held.B[:, i, q2:] if isinstance(held.B, np.ndarray) else held.B[i][:, q2:].toarray()
        response = held.responses[:, i] if isinstance(held, Alike) else rows[:, -1]
        columns.append((parameter, held.A[kind, i, i], response - (rows[:, :p] @ beta)[kind]))
    for block in moments.blocks:
        for i, parameter in _diagonal(block.pattern):
            places = np.arange(block.start + i, block.stop, block.width)
            sums = C[places, -1] - C[np.ix_(places, np.arange(q2, q2 + p))] @ beta
            columns.append((parameter, C[places, places], sums))
    return _solve(columns, total, moments)


def _diagonal(pattern: Ints) -> list[tuple[int, int]]:
    return [(i, int(pattern[i, i])) for i in range(len(pattern)) if pattern[i, i] >= 0]


def _solve(columns: list[tuple[int, Floats, Floats]], total: float, moments: Moments) -> Floats:
    theta = np.zeros(len(moments.lower))
    sigma2 = total
    for _ in range(3):
        explained = 0.0
        found: dict[int, list[float]] = {}
        for parameter, weights, sums in columns:
            held = weights > 0
            spread = float((sums[held] ** 2 / weights[held]).sum()) - sigma2 * int(held.sum())
            variance = max(0.0, spread / max(float(weights.sum()), 1e-300))
            found.setdefault(parameter, []).append(variance)
            explained += variance * float(weights.sum()) / moments.n
        sigma2 = max(total - explained, 0.02 * total)
    for parameter, variances in found.items():
        theta[parameter] = np.clip(np.sqrt(np.mean(variances) / sigma2), LEAST, MOST)
    return theta
