"""Cross-products of a mixed model, from one pass over the rows; after it nothing depends on their number.

With the first grouping factor eliminated level by level, M = [Z2 X y] everything else, all that the
likelihood needs is

    C = M'WM,   and per level j of the first factor   A_j = Z1j'W Z1j,   b_j = Z1j'W M.

They are made from sums over cells (`cells`): sums are short (a cell's rows) before they are added up
in blocks by BLAS, so that five million rows lose no digits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.cells import Cells, Table, Tables
from holdsup.numerics.indicators import Columns, Indicators
from holdsup.numerics.layout import Effects, Floats, Ints, Layout, Sample

__all__ = [
    "LONG_ROW",
    "SPARSE_SHARE",
    "Block",
    "Moments",
    "Rows",
    "accumulate",
    "contract",
    "fill_layout",
    "make_moments",
    "sum_log_weights",
    "sum_squares",
]

Rows = Floats | tuple[sp.csr_array, ...]  # the rows b_j: one array, or a sparse matrix for each column of Z1

LONG_ROW, SPARSE_SHARE = 200, 0.1  # a row b_j with more columns of which fewer are filled is kept sparse


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Where one of the other grouping factors stands in M: level l, column i at ``start + l * k + i``."""

    start: int
    count: int
    pattern: Ints

    @property
    def width(self) -> int:
        """Number of columns k."""
        return len(self.pattern)

    @property
    def stop(self) -> int:
        """The place after its last column."""
        return self.start + self.count * self.width


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The sufficient statistics of a mixed model.

    Attributes
    ----------
    n : number of rows
    p : number of fixed columns
    log_weights : sum of the logarithms of the weights
    lower : lower limit of each parameter
    first : pattern of Lambda for the first factor, shape (k1, k1)
    blocks : the other grouping factors
    A : Z1j'W Z1j, shape (q1, k1, k1)
    B : Z1j'W M, shape (q1, k1, m), or for each of the k1 columns a sparse matrix of shape (q1, m)
    C : M'WM, shape (m, m)
    """

    n: int
    p: int
    log_weights: float
    lower: Floats
    first: Ints
    blocks: tuple[Block, ...]
    A: Floats
    B: Rows
    C: Floats

    @property
    def q2(self) -> int:
        """Random columns in M."""
        return len(self.C) - self.p - 1


def accumulate(layout: Layout, sample: Sample) -> Moments:
    """Return the cross-products of a model: one pass over the rows."""
    layout = fill_layout(layout, len(sample.response))
    A, B, C = contract(layout, sample)
    return make_moments(layout, A, B, C, n=len(sample.response), log_weights=sum_log_weights(sample))


def make_moments(layout: Layout, A: Floats, B: Rows, C: Floats, *, n: int, log_weights: float) -> Moments:
    """Return cross-products with what the layout says of their columns."""
    blocks, start = [], 0
    for effects in layout.effects[1:]:
        blocks.append(Block(start, effects.count, effects.pattern))
        start = blocks[-1].stop
    first = layout.effects[0].pattern
    return Moments(n, len(layout.fixed), log_weights, layout.lower, first, tuple(blocks), A, B, C)


def fill_layout(layout: Layout, rows: int) -> Layout:
    """Return a layout that has a first factor: for a plain regression, one level with nothing in it."""
    if layout.effects:
        return layout
    nothing = Effects((), np.zeros(rows, np.int64), 1, (), np.empty((0, 0), np.int64))
    return replace(layout, effects=(nothing,))


def sum_squares(sample: Sample) -> float:
    """Return y'Wy."""
    y = sample.response
    return float(y @ y if sample.weights is None else (sample.weights * y) @ y)


def sum_log_weights(sample: Sample) -> float:
    """Return the sum of the logarithms of the weights."""
    return float(np.log(sample.weights).sum()) if sample.weights is not None else 0.0


def contract(layout: Layout, sample: Sample) -> tuple[Floats, Rows, Floats]:
    """Return A, B and C: each table of cells is made, used and dropped, so that few are held at a time."""
    first, columns = layout.effects[0], Columns(layout)
    cells = Cells.find(first, columns.used, sample)
    indicators = Indicators(layout, columns, cells.shown, sample)
    tables = Tables(first, columns.values(sample), cells, sample)
    C = np.zeros((columns.width, columns.width))
    rows = _RowSums([columns.index(spec) for spec in first.columns], cells, indicators, columns.width)
    for a, b in itertools.combinations_with_replacement(range(len(columns.products)), 2):
        table = tables.of(a, b)
        indicators.cross(C, a, b, cells.by_combination(table))
        rows.add(table, a, b)
        if a != b:
            rows.add(table, b, a)
    for a in range(len(columns.products)):
        table = tables.with_response(a)
        indicators.cross_response(C, a, cells.by_combination(table))
        rows.add_response(table, a)
    C[-1, -1] = sum_squares(sample)
    return rows.A, rows.finish(), C


class _RowSums:
    """A_j and b_j as they are added up, the rows b_j dense or sparse; `held` is the product in each column of Z1."""

    def __init__(self, held: list[int], cells: Cells, indicators: Indicators, m: int) -> None:
        self.held, self.cells, self.indicators = held, cells, indicators
        self.shape = (cells.levels, m)
        self.A = np.zeros((cells.levels, len(held), len(held)))
        self.parts: list[Any] = [sp.csr_array(self.shape) if cells.sparse else np.zeros(self.shape) for _ in held]
        self.responses = np.zeros((len(held), cells.levels))

    def add(self, table: Table, mine: int, theirs: int) -> None:
        """Add the sums of w v_mine v_theirs to the columns of Z1 that hold the first of the products."""
        chosen, picked = self.indicators.first, self.indicators.others[theirs]
        for k in (k for k, product in enumerate(self.held) if product == mine):
            for h in (h for h, product in enumerate(self.held) if product == theirs):
                self.A[:, k, h] = self.cells.by_level(table, chosen[k] * chosen[h])
            if len(picked.places):
                self._add_row(k, picked.places, self.cells.by_column(table, chosen[k], picked))

    def _add_row(self, k: int, places: Ints, part: Floats | sp.csr_array) -> None:
        if isinstance(part, np.ndarray):
            self.parts[k][:, places] += part
        else:
            wide = sp.csr_array((part.data, places[part.indices], part.indptr), shape=self.shape)
            self.parts[k] = self.parts[k] + wide

    def add_response(self, table: Table, product: int) -> None:
        """Add the sums of w v y to the columns of Z1 that hold the product v."""
        for k in (k for k, held in enumerate(self.held) if held == product):
            self.responses[k] += self.cells.by_level(table, self.indicators.first[k])

    def finish(self) -> Rows:
        """Return the rows: dense unless they are long and mostly empty."""
        q1, m = self.shape
        if self.parts and m > LONG_ROW:
            sparse = [sp.csr_array(part) for part in self.parts]
            if sum(part.nnz for part in sparse) < SPARSE_SHARE * len(sparse) * q1 * m:
                place = (np.arange(q1), np.full(q1, m - 1))
                last = [sp.csr_array((response, place), shape=self.shape) for response in self.responses]
                return tuple((part + column).tocsr() for part, column in zip(sparse, last, strict=True))
        if not self.parts:
            return np.zeros((q1, 0, m))
        dense = np.stack([part.toarray() if sp.issparse(part) else part for part in self.parts], axis=1)
        dense[:, :, -1] = self.responses.T
        return np.ascontiguousarray(dense)
