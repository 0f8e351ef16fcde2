"""Least squares on tables of two ways: items and runs of one system, and cells too many for indicators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats
from holdsup.numerics.threads import blas_threads

CONNECTED = 1e-9  # of the number of items: eigenvalues of the runs' information below it are rounding
DEPENDENT = 1e-9  # share of the largest singular value below which a direction is none


@dataclass(frozen=True, slots=True, eq=False)
class Additive:
    """The additive fit to items x runs: score[i, r] = item_i + run_r + residual, the run_r adding up to 0.

    Of a complete table these are plain averages. With missing cells an item that only the weaker runs scored would
    look hard: the run effects take that out. Arrays may have leading axes, one table each.
    """

    items: Floats  # mean of each item over the runs, shape (..., I)
    runs: Floats  # mean of each run over the items, shape (..., k)
    residual: Floats  # what is left, 0 where a cell is missing, shape (..., I, k)
    mean_square: Floats  # residual mean square; 0 for a single run, which leaves none
    run_noise: Floats  # what a unit of residual variance adds to the variance of `runs`; 1/I when complete
    # what the variance of `items` over I, as a variance of their mean, lacks per unit of residual variance because item
    # means share the estimated run effects; 0 when complete
    lacking: Floats


def fit_additive(scores: Floats) -> Additive:
    """Return the additive fit to `scores`, shape (..., I, k), NaN where a cell is missing."""
    missing = np.isnan(scores)
    if not missing.any():
        return _fit_complete(scores)
    with blas_threads(1):  # a few dozen columns: a second thread only waits
        return _fit_incomplete(scores, ~missing)


def _fit_complete(scores: Floats) -> Additive:
    count, k = scores.shape[-2:]
    items, runs = scores.mean(-1), scores.mean(-2)
    residual = scores - items[..., None] - (runs - runs.mean(-1, keepdims=True))[..., None, :]
    freedom = max((k - 1) * (count - 1), 1)  # without any, the residual is zero too
    square = np.einsum("...ir,...ir->...", residual, residual) / freedom
    return Additive(items, runs, residual, square, np.full_like(square, 1 / count), np.zeros_like(square))


def _fit_incomplete(scores: Floats, present: NDArray[np.bool_]) -> Additive:
    """Eliminate the items; what remains are k equations for the run effects, L effects = b."""
    count, k = scores.shape[-2:]
    ones = present.astype(float)
    seen = ones.sum(-1)
    if not seen.all():
        raise ValueError(f"{int((seen == 0).sum())} items have no score: leave them out of both systems.")
    known = np.where(present, scores, 0.0)
    raw = known.sum(-1) / seen
    share = ones / seen[..., None]
    across = np.swapaxes(share, -1, -2)
    L = -across @ ones
    L[..., range(k), range(k)] += ones.sum(-2)
    freedom = ones.sum((-1, -2)) - count - (k - 1)
    if (freedom < 1).any() or (np.linalg.eigvalsh(L)[..., 1] < CONNECTED * count).any():
        raise ValueError("too few items are scored in several runs to tell items from runs.")
    inverse = np.linalg.inv(L + count / k) - 1 / (count * k)  # L has the null vector 1: its pseudo-inverse
    effects = inverse @ (known.sum(-2)[..., None] - across @ (seen * raw)[..., None])
    items = raw - (share @ effects)[..., 0]
    effects = effects[..., 0]
    residual = np.where(present, scores - items[..., None] - effects[..., None, :], 0.0)
    square = np.einsum("...ir,...ir->...", residual, residual) / freedom
    # Variances per unit of residual variance: of the mean of all items, and of single items, summed.
    average, alone = share.mean(-2), (1 / seen).sum(-1)
    of_mean = alone / count**2 + np.einsum("...r,...rs,...s->...", average, inverse, average)
    of_items = alone + np.einsum("...rs,...rs->...", inverse, across @ share)
    lacking = of_mean - (of_items / count - of_mean) / (count - 1)
    run_noise = np.trace(inverse, axis1=-2, axis2=-1) / (k - 1)
    return Additive(items, effects + items.mean(-1, keepdims=True), residual, square, run_noise, lacking)


def predict_parts_by_cells(
    response: Floats, columns: Floats, cells: NDArray[np.integer], parts: NDArray[np.integer]
) -> Floats:
    """Return the prediction of each row by y = a_cell + x'b + e, fitted without all rows of its part.

    `columns` has shape (n, p). NaN stands where the other parts do not tell: they have no row of the cell, or x has a
    direction that theirs lack. By Frisch, Waugh and Lovell, b is that of the deviations from cell means.
    """
    predicted = np.full(len(response), np.nan)
    count = int(cells.max()) + 1
    scale = np.maximum(np.abs(columns).max(axis=0, initial=0.0), 1e-300)
    x = columns / scale
    for part in np.unique(parts):
        train, test = parts != part, parts == part
        size = np.bincount(cells[train], minlength=count)
        held = np.maximum(size, 1)
        centre = np.bincount(cells[train], response[train], count) / held
        middle = np.zeros((count, x.shape[1]))
        np.add.at(middle, cells[train], x[train])
        inside = x - (middle / held[:, None])[cells]
        _, length, directions = np.linalg.svd(inside[train], full_matrices=False)
        directions = directions[length > DEPENDENT * max(1.0, length.max(initial=0.0))]
        along = inside @ directions.T
        slope = np.linalg.lstsq(along[train], response[train] - centre[cells[train]], rcond=None)[0]
        beyond = np.abs(inside[test] - along[test] @ directions).max(axis=1, initial=0.0) > DEPENDENT**0.5
        told = (size[cells[test]] > 0) & ~beyond
        predicted[test] = np.where(told, centre[cells[test]] + along[test] @ slope, np.nan)
    return predicted
