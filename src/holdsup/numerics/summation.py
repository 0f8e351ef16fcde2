"""Cross-products of a table that comes in parts: those of the parts add up.

A part knows only the levels of the first factor that it has seen, so that what a worker sends is small.

Where a batch of a million rows has most of a million items, sums over cells (`cells`) save nothing. Each row is then
added to A_j and b_j of its level directly, by a compiled loop; the sums of M'WM are still made by combination of the
other factors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdsup.numerics import compiled
from holdsup.numerics.cells import WORTH_COMPILING, Columns, Indicators, combine
from holdsup.numerics.layout import Floats, Ints, Layout, Sample, run_starts
from holdsup.numerics.moments import (
    LONG_ROW,
    SPARSE_SHARE,
    Moments,
    Rows,
    Whole,
    contract,
    fill_layout,
    make_moments,
    sum_log_weights,
    sum_squares,
)

MOST_SUMS = 2**22  # sums by combination up to which rows are added one by one
Places = NDArray[np.uint32]
FEW_LEVELS = 2**12  # levels of the first factor whose sums are long, so that each batch has sums of its own


@dataclass(frozen=True, slots=True, eq=False)
class MomentPart:
    """Cross-products of some rows."""

    levels: Ints  # the levels of the first factor that occur, ascending
    A: Floats  # Z1j'W Z1j of these levels
    B: Rows  # their rows Z1j'W M, an array or, for each column of Z1, a sparse matrix
    C: Floats  # M'WM
    n: int  # number of rows
    log_weights: float  # sum of the logarithms of the weights


class MomentSum:
    """Cross-products as they are added up, of a model whose layout is known; the rows b_j dense or sparse."""

    def __init__(self, layout: Layout) -> None:
        self.layout = fill_layout(layout, 0)
        first, m = self.layout.effects[0], layout.width
        k = len(first.columns)
        self.n, self.log_weights = 0, 0.0
        self.seen = np.zeros(first.count, bool)
        self.A, self.C = np.zeros((first.count, k, k)), np.zeros((m, m))
        self.sparse = _SparseSum(k, (first.count, m)) if k and m > LONG_ROW else None
        self.B = np.zeros((first.count, k, m if self.sparse is None else 0))

    def prepare(self, layout: Layout, sample: Sample) -> MomentPart | PreparedRows:
        """Return a batch (the layout with the levels of its rows, and its data) as it is added; changes nothing."""
        layout = fill_layout(layout, len(sample.response))
        if self.sparse is None and sample.total > WORTH_COMPILING and compiled.available():
            rows = prepare_rows(layout, sample)
            if rows.sums <= MOST_SUMS:
                return rows
        return make_part(layout, sample)

    def add(self, part: MomentPart | PreparedRows) -> None:
        """Add the cross-products of a batch, or of several."""
        self.n += part.n
        self.log_weights += part.log_weights
        if isinstance(part, PreparedRows):
            self.seen[part.level[run_starts(part.level)]] = True
            self.C += add_rows(part, self.A, self.B)
            return
        self.seen[part.levels] = True
        self.A[part.levels] += part.A
        self.C += part.C
        if self.sparse is not None:
            self.sparse.add(part.levels, part.B)
        else:
            assert isinstance(part.B, np.ndarray)  # short rows always are
            self.B[part.levels] += part.B

    def part(self) -> MomentPart:
        """Return what was added up, without the levels that were not seen."""
        levels = np.flatnonzero(self.seen)
        B: Rows = self.B[levels] if self.sparse is None else tuple(b[levels] for b in self.sparse.total())
        return MomentPart(levels, self.A[levels], B, self.C, self.n, self.log_weights)

    def moments(self) -> Moments:
        """Return the cross-products of all rows."""
        B: Rows = self.B if self.sparse is None else _tidy(self.sparse.total())
        return make_moments(self.layout, Whole(self.A, B), self.C, n=self.n, log_weights=self.log_weights)


def make_part(layout: Layout, sample: Sample) -> MomentPart:
    """Return the cross-products of a batch: one pass over its rows."""
    first, *others = layout.effects
    seen = np.zeros(first.count, bool)
    seen[first.codes[run_starts(first.codes)]] = True
    levels = np.flatnonzero(seen)
    number = np.empty(first.count, np.int64)
    number[levels] = np.arange(len(levels))
    local = replace(first, codes=number.take(first.codes, mode="clip"), count=len(levels))
    held, C = contract(replace(layout, effects=(local, *others)), sample)
    assert isinstance(held, Whole)  # levels of a batch are parts of levels, which may not be alike
    return MomentPart(levels, held.A, held.B, C, len(sample.response), sum_log_weights(sample))


class _SparseSum:
    """Long rows b_j as they are added up.

    Parts wait until they weigh as much as the sum: an entry moves few times, and what waits is never much.
    """

    def __init__(self, k: int, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.sums = tuple(sp.csr_array(shape) for _ in range(k))
        self.waiting: list[tuple[sp.csr_array, ...]] = []

    def add(self, levels: Ints, B: Rows) -> None:
        parts = B if isinstance(B, tuple) else [sp.csr_array(B[:, k]) for k in range(B.shape[1])]
        self.waiting.append(tuple(self._spread(levels, part) for part in parts))
        if sum(part[0].nnz for part in self.waiting) > self.sums[0].nnz:
            self.total()

    def _spread(self, levels: Ints, part: sp.csr_array) -> sp.csr_array:
        """Return a part with its rows at the places of their levels."""
        lengths = np.zeros(self.shape[0] + 1, np.int64)
        lengths[levels + 1] = np.diff(part.indptr)
        return sp.csr_array((part.data, part.indices, np.cumsum(lengths)), shape=self.shape)

    def total(self) -> tuple[sp.csr_array, ...]:
        """Return the sum of all that was added."""
        for parts in self.waiting:
            self.sums = tuple(mine + part for mine, part in zip(self.sums, parts, strict=True))
        self.waiting = []
        return self.sums


def _tidy(rows: tuple[sp.csr_array, ...]) -> Rows:
    """Return long rows as they are, or as an array if they are well filled after all."""
    q1, m = rows[0].shape
    if sum(part.nnz for part in rows) < SPARSE_SHARE * len(rows) * q1 * m:
        return rows
    return np.stack([part.toarray() for part in rows], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRows:
    """A batch, ready to be added up."""

    # level of the first factor of each row, unsigned like all indices of the compiled loop: a third is saved by not
    # asking whether they count from the end
    level: Places
    combination: Places  # combination of the other factors of each row
    values: Floats  # the products of numbers but the empty one, shape (n, products - 1)
    sample: Sample  # the batch itself
    held: Places  # the product in each column of Z1
    indicators: Indicators  # which combinations each column picks

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
