"""Least squares with an indicator for every cell of a table, which are never made: cells are centred instead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats

__all__ = ["predict_parts_by_cells"]

DEPENDENT = 1e-9  # share of the largest singular value below which a direction is none


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
