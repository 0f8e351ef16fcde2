"""Cross-products added up row by row, by a compiled loop: for batches, whose cells have a row or two each.

Where a batch of a million rows has most of a million items, sums over cells (`cells`) save nothing. Each row is then
added to A_j and b_j of its level directly; the sums of M'WM are still made by combination of the other factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics import compiled
from holdsup.numerics.cells import combine
from holdsup.numerics.indicators import Columns, Indicators
from holdsup.numerics.layout import Floats, Layout, Sample
from holdsup.numerics.moments import sum_log_weights, sum_squares

__all__ = ["PreparedRows", "add_rows", "prepare_rows"]

Places = NDArray[np.uint32]
FEW_LEVELS = 2**12  # levels of the first factor whose sums are long, so that each batch has sums of its own


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRows:
    """A batch, ready to be added up.

    Attributes
    ----------
    level : level of the first factor of each row, unsigned like all indices of the compiled loop: a third is saved
        by not asking whether they count from the end
    combination : combination of the other factors of each row
    values : the products of numbers but the empty one, shape (n, products - 1)
    sample : the batch itself
    held : the product in each column of Z1
    indicators : which combinations each column picks
    """

    level: Places
    combination: Places
    values: Floats
    sample: Sample
    held: Places
    indicators: Indicators

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.level)

    @property
    def sums(self) -> int:
        """How many sums by combination there are."""
        return self.indicators.count * int(self.values.shape[1] + 1) ** 2

    @property
    def log_weights(self) -> float:
        """Sum of the logarithms of the weights."""
        return sum_log_weights(self.sample)


def prepare_rows(layout: Layout, sample: Sample) -> PreparedRows:
    """Return a batch ready to be added up; the first of its products of numbers is the empty one."""
    columns, first = Columns(layout), layout.effects[0]
    combination, shown = combine([sample.factors[f] for f in columns.used], len(sample.response))
    values = np.empty((len(combination), len(columns.products) - 1))
    for a, product in enumerate(columns.values(sample)[1:]):
        values[:, a] = product
    held = np.array([columns.index(spec) for spec in first.columns], np.uint32)
    indicators = Indicators(layout, columns, shown, sample)
    level, combination = (codes.astype(np.int32, copy=False).view(np.uint32) for codes in (first.codes, combination))
    return PreparedRows(level, combination, values, sample, held, indicators)


def add_rows(rows: PreparedRows, A: Floats, B: Floats) -> Floats:
    """Add a batch to A and B, and return its C."""
    indicators, few = rows.indicators, len(A) <= FEW_LEVELS
    mine = (np.zeros_like(A), np.zeros_like(B)) if few else (A, B)
    pointers, places, products = _entries(indicators)
    weights = np.empty(0) if rows.sample.weights is None else rows.sample.weights
    first = np.stack([*indicators.first, np.ones(indicators.count)], axis=1)[:, : len(rows.held)]
    pairs, responses = compiled.add_rows(
        rows.level, rows.combination, rows.values, rows.sample.response, weights,
        np.ascontiguousarray(first), rows.held, pointers, places, products, *mine,
    )  # fmt: skip
    if few:
        A += mine[0]
        B += mine[1]
    C = np.zeros((indicators.width, indicators.width))
    for a in range(pairs.shape[1]):
        for b in range(a + 1):
            indicators.cross(C, a, b, pairs[:, a, b])
        indicators.cross_response(C, a, responses[:, a])
    C[-1, -1] = sum_squares(rows.sample)
    return C


def _entries(indicators: Indicators) -> tuple[Places, Places, Places]:
    """Return the columns of M that each combination picks, one after another: where they begin, places, products."""
    found = [np.nonzero(picked.matrix) for picked in indicators.others]
    combination = np.concatenate([r for r, _ in found])
    places = np.concatenate([p.places[c] for p, (_, c) in zip(indicators.others, found, strict=True)])
    products = np.concatenate([np.full(len(r), a) for a, (r, _) in enumerate(found)])
    order = np.argsort(combination, kind="stable")
    pointers = np.searchsorted(combination[order], np.arange(indicators.count + 1))
    return pointers.astype(np.uint32), places[order].astype(np.uint32), products[order].astype(np.uint32)
