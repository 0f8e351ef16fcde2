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
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.cells import Cells, Table, Tables, find_alike
from holdsup.numerics.indicators import Columns, Indicators
from holdsup.numerics.layout import Effects, Floats, Ints, Layout, Sample

__all__ = [
    "LONG_ROW",
    "SPARSE_SHARE",
    "Alike",
    "Block",
    "Moments",
    "Rows",
    "Whole",
    "accumulate",
    "contract",
    "fill_layout",
    "make_moments",
    "sum_log_weights",
    "sum_squares",
]

Rows = Floats | tuple[sp.csr_array, ...]  # the rows b_j: one array, or a sparse matrix for each column of Z1

FEW_KINDS = 64  # levels a kind, at least, where A and B are held by kind
KINDS_PER_CELL = 2  # places a row, at most: an emptier grid has few levels alike
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


class Whole(NamedTuple):
    """A_j = Z1j'W Z1j and b_j = Z1j'W M of each level of the first factor."""

    A: Floats
    B: Rows

    def with_rows(self, B: Rows) -> Whole:
        """Return the same with other rows."""
        return self._replace(B=B)


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The same where few kinds of levels differ in more than their response, as in every complete table.

    Attributes
    ----------
    kind : kind of each level, shape (q1,)
    A : that of each kind, shape (kinds, k1, k1)
    B : that of each kind, the response's column empty, shape (kinds, k1, m)
    responses : the response's column of each level, shape (q1, k1)
    """

    kind: Ints
    A: Floats
    B: Floats
    responses: Floats

    def with_rows(self, B: Rows) -> Alike:
        """Return the same with other rows of the kinds."""
        assert isinstance(B, np.ndarray)
        return replace(self, B=B)

    def expand(self) -> Whole:
        """Return A and b of each level."""
        B = self.B[self.kind]
        B[:, :, -1] = self.responses
        return Whole(self.A[self.kind], B)


@dataclass(frozen=True, eq=False)
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
    held : A and B, as they are or by kinds of levels
    C : M'WM, shape (m, m)
    """

    n: int
    p: int
    log_weights: float
    lower: Floats
    first: Ints
    blocks: tuple[Block, ...]
    held: Whole | Alike
    C: Floats

    @cached_property
    def _whole(self) -> Whole:
        return self.held.expand() if isinstance(self.held, Alike) else self.held

    @property
    def A(self) -> Floats:  # noqa: N802 (the paper's letter)
        """Z1j'W Z1j, shape (q1, k1, k1)."""
        return self._whole.A

    @property
    def B(self) -> Rows:  # noqa: N802 (the paper's letter)
        """Z1j'W M, shape (q1, k1, m), or for each of the k1 columns a sparse matrix of shape (q1, m)."""
        return self._whole.B

    @property
    def q2(self) -> int:
        """Random columns in M."""
        return len(self.C) - self.p - 1


def accumulate(layout: Layout, sample: Sample) -> Moments:
    """Return the cross-products of a model: one pass over the rows."""
    layout = fill_layout(layout, len(sample.response))
    held, C = contract(layout, sample, alike=True)
    return make_moments(layout, held, C, n=len(sample.response), log_weights=sum_log_weights(sample))


def make_moments(layout: Layout, held: Whole | Alike, C: Floats, *, n: int, log_weights: float) -> Moments:
    """Return cross-products with what the layout says of their columns."""
    blocks, start = [], 0
    for effects in layout.effects[1:]:
        blocks.append(Block(start, effects.count, effects.pattern))
        start = blocks[-1].stop
    first = layout.effects[0].pattern
    return Moments(n, len(layout.fixed), log_weights, layout.lower, first, tuple(blocks), held, C)


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


def contract(layout: Layout, sample: Sample, *, alike: bool = False) -> tuple[Whole | Alike, Floats]:
    """Return A with B, and C: each table of cells is made, used and dropped, so that few are held at a time.

    A and B come by kinds of levels, if that is asked for and there are few.
    """
    first, columns = layout.effects[0], Columns(layout)
    cells = Cells.find(first, columns.used, sample)
    indicators = Indicators(layout, columns, cells.shown, sample)
    tables = Tables(first, columns.values(sample), cells, sample)
    C = np.zeros((columns.width, columns.width))
    rows = _RowSums([columns.index(spec) for spec in first.columns], cells, indicators, columns.width)
    shared = rows.by_kind(tables.of(0, 0)) if alike and len(columns.products) == 1 and first.columns else None
    if shared is not None:
        indicators.cross(C, 0, 0, cells.by_combination(tables.of(0, 0)))
        sums = tables.with_response(0)
        indicators.cross_response(C, 0, cells.by_combination(sums))
        C[-1, -1] = sum_squares(sample)
        responses = sums.sums.reshape(cells.levels, -1) @ np.stack(indicators.first, axis=1)
        return replace(shared, responses=responses), C
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
    return Whole(rows.A, rows.finish()), C


class _RowSums:
    """A_j and b_j as they are added up, the rows b_j dense or sparse; `held` is the product in each column of Z1."""

    def __init__(self, held: list[int], cells: Cells, indicators: Indicators, m: int) -> None:
        self.held, self.cells, self.indicators = held, cells, indicators
        self.shape = (cells.levels, m)
        self.A = np.zeros((cells.levels, len(held), len(held)))
        self.parts: list[Any] = [sp.csr_array(self.shape) if cells.sparse else np.zeros(self.shape) for _ in held]
        self.responses = np.zeros((len(held), cells.levels))

    def by_kind(self, table: Table) -> Alike | None:
        """Return A and b of each kind of level, from the sums of weights in all cells; None where kinds are many."""
        q1, m = self.shape
        if self.cells.sparse or q1 < FEW_KINDS or self.cells.count > KINDS_PER_CELL * len(self.cells.place):
            return None
        grid = table.sums.reshape(q1, -1)
        shown, kind = find_alike(grid)
        if len(shown) * FEW_KINDS > q1:
            return None
        few = replace(self.cells, levels=len(shown), count=len(shown) * grid.shape[1])
        sums = _RowSums(self.held, few, self.indicators, m)
        sums.add(Table(grid[shown].reshape(-1)), 0, 0)
        return Alike(kind, sums.A, np.stack(sums.parts, axis=1), np.empty((q1, 0)))

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
