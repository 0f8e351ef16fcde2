"""Separation: fixed effects that have no finite maximum likelihood estimate, as where a system is always right."""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from holdsup.numerics.layout import Floats, Ints

NIL = 1e-8


def find_separated(X: Floats, successes: Floats, trials: Floats) -> Ints:
    """Return the rows of X whose fitted probability runs to 0 or 1, none if all estimates are finite.

    There is a direction g without end if X g = 0 wherever outcomes are mixed, X g >= 0 where all are successes and
    X g <= 0 where none is, and not everywhere 0 (Albert & Anderson 1984). Linear programming finds it.

    >>> find_separated(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([3.0, 5.0]), np.array([5.0, 5.0]))
    array([1])
    """
    pure = np.flatnonzero((trials > 0) & ((successes == 0) | (successes == trials)))
    mixed = X[(successes > 0) & (successes < trials)]
    if not len(pure):
        return pure
    scale = np.maximum(np.abs(X).max(axis=0), 1e-300)
    free = null_space(mixed / scale, rcond=1e-9) if len(mixed) else np.eye(X.shape[1])
    if not free.shape[1]:
        return pure[:0]
    from scipy.optimize import linprog  # slow to load, and rarely needed

    rows = (X[pure] / scale) @ free * np.where(successes[pure] > 0, 1.0, -1.0)[:, None]
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    return pure[:0] if found.x is None else pure[rows @ found.x > NIL]
