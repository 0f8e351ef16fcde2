"""The criterion by the textbook: the marginal covariance V of the rows, written out, and nothing clever.

    y ~ N(X beta, sigma^2 V),   V = W^-1 + sum over random terms of Z Lambda Lambda' Z'

It shares no code with the engine: the columns are made from the design's names of them, row by row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdsup.design import Design
from holdsup.design.coding import DesignColumn

__all__ = ["criterion_of", "marginal_criterion"]


def marginal_criterion(
    y: np.ndarray, X: np.ndarray, V: np.ndarray, *, reml: bool
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Return -2 log-likelihood or REML criterion with beta and sigma profiled out, beta, its covariance and sigma^2."""
    n, p = X.shape
    L = np.linalg.cholesky(V)
    Xs, ys = np.linalg.solve(L, X), np.linalg.solve(L, y)
    Q, R = np.linalg.qr(Xs)
    beta = np.linalg.solve(R, Q.T @ ys) if p else np.empty(0)
    r2 = float(np.sum((ys - Xs @ beta) ** 2))
    dof = n - p if reml else n
    value = 2 * np.log(np.diag(L)).sum() + dof * (1 + math.log(2 * math.pi * r2 / dof))
    if reml:
        value += 2 * np.log(np.abs(np.diag(R))).sum()
    inverse = np.linalg.inv(R) if p else np.empty((0, 0))
    return float(value), beta, r2 / dof * inverse @ inverse.T, r2 / dof


def criterion_of(
    design: Design,
    theta: Sequence[float],
    *,
    reml: bool,
    kept: Sequence[int] | None = None,
    engine_weights: bool = False,
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Return the criterion of a design at theta, and what it implies; the shift of the response is given back.

    Theta is relative to the residual of a row of weight one: a formula's weight, or one of the engine's.
    """
    variables = design.variables
    n = len(variables.response)
    weights = variables.weights
    if weights is not None and engine_weights:
        weights = weights / design.weight_unit
    V = np.diag(1 / weights) if weights is not None else np.eye(n)
    for block in design.random:
        k = len(block.columns)
        factor = np.zeros((k, k))
        for i, j, parameter in block.places:
            factor[i, j] = theta[parameter]
        Z = np.stack([_column(design, column) for column in block.columns], axis=1) @ factor
        V = V + (Z @ Z.T) * (block.group.codes[:, None] == block.group.codes)
    columns = [design.fixed[i] for i in (range(len(design.fixed)) if kept is None else kept)]
    X = np.stack([_column(design, column) for column in columns], axis=1) if columns else np.empty((n, 0))
    return marginal_criterion(variables.response, X, V, reml=reml)


def _column(design: Design, column: DesignColumn) -> np.ndarray:
    values = np.ones(len(design.variables.response))
    for i in column.numbers:
        values = values * design.variables.numbers[i]
    for factor, code in column.levels:
        values = values * (design.variables.factors[factor].codes == code)
    return values
