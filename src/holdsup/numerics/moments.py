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

from holdsup.numerics.cells import Cells, CellSums, Columns, Indicators, Tables, find_alike
from holdsup.numerics.layout import Effects, Floats, Ints, Layout, Sample

Rows = Floats | tuple[sp.csr_array, ...]  # the rows b_j: one array, or a sparse matrix for each column of Z1

FEW_KINDS = 64  # levels a kind, at least, where A and B are held by kind
KINDS_PER_CELL = 2  # places a row, at most: an emptier grid has few levels alike
SMALL_SUMS, MOST_SUMS = 2**16, 2**25  # entries of the sums over patterns that are made anyway, and at most
WORTH_SUMMING = 8  # and per entry of the rows that they stand for
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
    """The same where few kinds of levels differ in more than their response, as in every complete table."""

    kind: Ints  # kind of each level, shape (q1,)
    A: Floats  # that of each kind, shape (kinds, k1, k1)
    B: Floats  # that of each kind, the response's column empty, shape (kinds, k1, m)
    responses: Floats  # the response's column of each level, shape (q1, k1)

    def with_rows(self, B: Rows) -> Alike:
        """Return the same with other rows of the kinds."""
        assert isinstance(B, np.ndarray)
        return replace(self, B=B)

    def expand(self) -> Whole:
        """Return A and b of each level."""
        q1, (_, k1, m) = len(self.kind), self.B.shape
        filled = np.count_nonzero(self.B, axis=(1, 2))[self.kind].sum()
        if m > LONG_ROW and filled < SPARSE_SHARE * q1 * k1 * m:
            rows = [sp.csr_array(self.B[:, k])[self.kind] for k in range(k1)]
            return Whole(self.A[self.kind], _with_responses(rows, self.responses.T))
        B = self.B[self.kind]
        B[:, :, -1] = self.responses
        return Whole(self.A[self.kind], B)


@dataclass(frozen=True, eq=False)
class Moments:
    """The sufficient statistics of a mixed model."""

    n: int  # number of rows
    p: int  # number of fixed columns
    log_weights: float  # sum of the logarithms of the weights
    lower: Floats  # lower limit of each parameter
    first: Ints  # pattern of Lambda for the first factor, shape (k1, k1)
    blocks: tuple[Block, ...]  # the other grouping factors
    held: Whole | Alike  # A and B, as they are or by kinds of levels
    C: Floats  # M'WM, shape (m, m)

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

    def dense_rows(self, levels: slice = slice(None)) -> Floats:
        """Return the rows b_j of some levels as an array, shape (levels, k1, m)."""
        if isinstance(self.B, np.ndarray):
            return np.asarray(self.B[levels])
        return np.stack([rows[levels].toarray() for rows in self.B], axis=1)

    @property
    def q1(self) -> int:
        """Levels of the first factor, which are not expanded for it."""
        return len(self.held.kind if isinstance(self.held, Alike) else self.held.A)

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
        responses = np.asarray(cells.grid(sums) @ np.stack(indicators.first, axis=1))
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


def worth_summing(patterns: int, shape: tuple[int, int, int]) -> bool:
    """Return whether rows of shape (q1, k1, m) had better act through the sums of b_j (x) b_j of each pattern.

    Per evaluation: sums of (k1 m)^2 a pattern that are read against rows of k1 m a level that are multiplied.
    """
    q1, k1, m = shape
    return patterns * (k1 * m) ** 2 <= min(MOST_SUMS, max(SMALL_SUMS, WORTH_SUMMING * q1 * k1 * m))


def _with_responses(rows: list[sp.csr_array], responses: Floats) -> tuple[sp.csr_array, ...]:
    """Return sparse rows with the response in their last column, that of each column of Z1."""
    q1, m = rows[0].shape
    place = (np.arange(q1), np.full(q1, m - 1))
    last = [sp.csr_array((response, place), shape=(q1, m)) for response in responses]
    return tuple((part + column).tocsr() for part, column in zip(rows, last, strict=True))


class _RowSums:
    """A_j and b_j as they are added up, the rows b_j dense or sparse; `held` is the product in each column of Z1."""

    def __init__(self, held: list[int], cells: Cells, indicators: Indicators, m: int) -> None:
        self.held, self.cells, self.indicators = held, cells, indicators
        self.shape = (cells.levels, m)
        self.A = np.zeros((cells.levels, len(held), len(held)))
        self.parts: list[Any] = [sp.csr_array(self.shape) if cells.sparse else np.zeros(self.shape) for _ in held]
        self.responses = np.zeros((len(held), cells.levels))

    def by_kind(self, table: CellSums) -> Alike | None:
        """Return A and b of each kind of level, from the sums of weights in all cells; None where kinds are many."""
        q1, m = self.shape
        if q1 < FEW_KINDS or self.cells.count > KINDS_PER_CELL * len(self.cells.place):
            return None
        grid = self.cells.grid(table)
        shown, kind = find_alike(grid)
        if len(shown) * FEW_KINDS > q1 or len(shown) * m > self.cells.count:
            return None
        few = grid[shown] if isinstance(grid, np.ndarray) else grid[shown].toarray()
        sums = _RowSums(self.held, self.cells.full(len(shown)), self.indicators, m)
        sums.add(CellSums(few.reshape(-1)), 0, 0)
        if self.cells.sparse and not worth_summing(len(find_alike(sums.A)[0]), (q1, len(self.held), m)):
            return None
        return Alike(kind, sums.A, np.stack(sums.parts, axis=1), np.empty((q1, 0)))

    def add(self, table: CellSums, mine: int, theirs: int) -> None:
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

    def add_response(self, table: CellSums, product: int) -> None:
        """Add the sums of w v y to the columns of Z1 that hold the product v."""
        for k in (k for k, held in enumerate(self.held) if held == product):
            self.responses[k] += self.cells.by_level(table, self.indicators.first[k])

    def finish(self) -> Rows:
        """Return the rows: dense unless they are long and mostly empty."""
        q1, m = self.shape
        if self.parts and m > LONG_ROW:
            sparse = [sp.csr_array(part) for part in self.parts]
            if sum(part.nnz for part in sparse) < SPARSE_SHARE * len(sparse) * q1 * m:
                return _with_responses(sparse, self.responses)
        if not self.parts:
            return np.zeros((q1, 0, m))
        dense = np.stack([part.toarray() if sp.issparse(part) else part for part in self.parts], axis=1)
        dense[:, :, -1] = self.responses.T
        return np.ascontiguousarray(dense)
