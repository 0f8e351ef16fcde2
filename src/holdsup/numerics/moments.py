"""Cross-products of a mixed model, from one pass over the rows; after it nothing depends on their number.

With the first grouping factor eliminated level by level, M = [Z2 X y] everything else, all that the
likelihood needs is

    C = M'WM,   and per level j of the first factor   A_j = Z1j'W Z1j,   b_j = Z1j'W M.

Every column is an indicator times a product of numbers, so all of these are sums over *cells*: a level
of the first factor crossed with a combination r of all other factors. For each pair of products a, b

    T_ab[j, r] = sum of w v_a v_b over the rows of the cell

is one `bincount`; the rest are matrix products with the indicators of the combinations. Sums are short
(a cell's rows) before they are added up in blocks by BLAS, so that five million rows lose no digits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdsup.numerics.layout import ColumnSpec, Effects, Floats, Ints, Layout, Sample

__all__ = ["Block", "Moments", "accumulate"]

DENSE_GRID = 4  # a table of all cells is used while it has at most this many places a row
SMALL_GRID = 2**20  # or this many in all
DENSE_INDICATORS = 2**20  # places of an indicator matrix that is multiplied as a dense one
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
    B: Floats | tuple[sp.csr_array, ...]
    C: Floats

    @property
    def q2(self) -> int:
        """Random columns in M."""
        return len(self.C) - self.p - 1


def accumulate(layout: Layout, sample: Sample) -> Moments:
    """Return the cross-products of a model: one pass over the rows."""
    first, others = layout.effects[0], layout.effects[1:]
    blocks, start = [], 0
    for effects in others:
        blocks.append(Block(start, effects.count, effects.pattern))
        start = blocks[-1].stop
    columns = _Columns(layout, sample, start)
    cells = _Cells.find(first, columns.used, sample)
    A, B, C = _contract(layout, columns, cells, sample)
    weights = sample.weights
    return Moments(
        n=len(sample.response),
        p=len(layout.fixed),
        log_weights=float(np.log(weights).sum()) if weights is not None else 0.0,
        lower=layout.lower,
        first=first.pattern,
        blocks=tuple(blocks),
        A=A,
        B=B,
        C=C,
    )


class _Columns:
    """The products of numbers that occur, and the factors by which columns differ."""

    def __init__(self, layout: Layout, sample: Sample, start: int) -> None:
        self.start = start
        self.fixed = layout.fixed
        specs = [*layout.fixed, *(c for effects in layout.effects for c in effects.columns)]
        self.products = list(dict.fromkeys([(), *(spec.numbers for spec in specs)]))
        used = [f for effects in layout.effects[1:] for f in effects.factors]
        used.extend(factor for spec in specs for factor, _ in spec.levels)
        self.used = tuple(dict.fromkeys(used))
        self.width = start + len(layout.fixed) + 1
        self.values = [_product(sample, numbers) for numbers in self.products]

    def index(self, spec: ColumnSpec) -> int:
        return self.products.index(spec.numbers)


def _product(sample: Sample, numbers: tuple[int, ...]) -> Floats | None:
    """Return the product of some numeric variables; None stands for a column of ones."""
    if not numbers:
        return None
    value = sample.numbers[numbers[0]]
    for i in numbers[1:]:
        value = value * sample.numbers[i]
    return value


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Levels of the first factor crossed with the combinations of all other factors.

    `place` is the cell of each row, into the full grid (q1, R) or, if that is too large, into the
    cells that occur, whose level and combination are `level` and `combination`. `shown` is a row that
    shows each combination.
    """

    place: Ints
    count: int
    levels: int
    shown: Ints
    level: Ints | None = None
    combination: Ints | None = None

    @classmethod
    def find(cls, first: Effects, used: tuple[int, ...], sample: Sample) -> _Cells:
        r, shown = _combine([sample.factors[f] for f in used], len(sample.response))
        q1, R = first.count, len(shown)
        place = first.codes.astype(np.int64)
        if R > 1:
            place *= R
            place += r
        if q1 * R <= max(SMALL_GRID, DENSE_GRID * len(place)):
            return cls(place, q1 * R, q1, shown)
        occurring, place = np.unique(place, return_inverse=True)
        return cls(place.reshape(-1), len(occurring), q1, shown, occurring // R, occurring % R)

    def sums(self, values: Floats | None) -> Floats:
        """Return the sum of `values` (None: the number of rows) in each cell."""
        return np.bincount(self.place, values, self.count).astype(np.float64, copy=False)

    def by_combination(self, table: Floats) -> Floats:
        """Return a table of cells added up over levels, shape (R,)."""
        if self.combination is None:
            return np.asarray(table.reshape(self.levels, -1).sum(axis=0))
        return np.asarray(np.bincount(self.combination, table, len(self.shown)), dtype=np.float64)

    def by_level(self, table: Floats, chosen: Floats) -> Floats:
        """Return a table of cells added up over combinations, each weighed by `chosen`, shape (q1,)."""
        if self.level is None or self.combination is None:
            return np.asarray(table.reshape(self.levels, -1) @ chosen)
        return np.asarray(np.bincount(self.level, table * chosen[self.combination], self.levels), dtype=np.float64)

    def by_column(self, table: Floats, chosen: Floats, indicators: sp.csr_array) -> Floats | sp.csr_array:
        """Return a table of cells, each combination weighed, times (R, m) indicators: shape (q1, m)."""
        weighed = sp.diags_array(chosen) @ indicators
        if self.level is None or self.combination is None:
            grid = table.reshape(self.levels, -1)
            if weighed.shape[0] * weighed.shape[1] <= DENSE_INDICATORS:
                return np.asarray(grid @ weighed.toarray())
            return np.asarray((weighed.T @ grid.T).T)
        shape = (self.levels, len(self.shown))
        return sp.csr_array((table, (self.level, self.combination)), shape=shape) @ weighed


def _combine(factors: list[NDArray[np.integer]], rows: int) -> tuple[Ints, Ints]:
    """Return the combination of factors of each row, numbered as they occur, and a row that shows each."""
    r, shown = np.zeros(rows, np.int64), np.zeros(1, np.int64)
    for codes in factors:
        r = r * (int(codes.max(initial=0)) + 1) + codes
        places = int(r.max(initial=0)) + 1
        if places <= max(SMALL_GRID, DENSE_GRID * rows):
            seen = np.full(places, -1, np.int64)
            seen[r[::-1]] = np.arange(rows - 1, -1, -1)
            occurs = seen >= 0
            shown = seen[occurs]
            if len(shown) < places:
                r = (np.cumsum(occurs) - 1)[r]
        else:
            _, shown, r = np.unique(r, return_index=True, return_inverse=True)
            r = r.reshape(-1)
    return r, shown


class _Indicators:
    """Which combinations of factors each column picks."""

    def __init__(self, layout: Layout, columns: _Columns, cells: _Cells, sample: Sample) -> None:
        self.codes = {f: sample.factors[f][cells.shown] for f in columns.used}
        self.first = [self._chosen(spec, len(cells.shown)) for spec in layout.effects[0].columns]
        entries: list[list[tuple[Ints, Ints]]] = [[] for _ in columns.products]
        start = 0
        for effects in layout.effects[1:]:
            level = effects.codes[cells.shown].astype(np.int64)
            for i, spec in enumerate(effects.columns):
                picked = np.flatnonzero(self._chosen(spec, len(cells.shown)))
                entries[columns.index(spec)].append((picked, start + level[picked] * len(effects.columns) + i))
            start += effects.size
        for j, spec in enumerate(layout.fixed):
            picked = np.flatnonzero(self._chosen(spec, len(cells.shown)))
            entries[columns.index(spec)].append((picked, np.full(len(picked), start + j)))
        self.others = [_one_hot(pairs, (len(cells.shown), columns.width)) for pairs in entries]

    def _chosen(self, spec: ColumnSpec, combinations: int) -> Floats:
        chosen = np.ones(combinations)
        for factor, code in spec.levels:
            chosen *= self.codes[factor] == code
        return chosen


def _one_hot(pairs: list[tuple[Ints, Ints]], shape: tuple[int, int]) -> sp.csr_array:
    none = np.empty(0, np.int64)
    rows = np.concatenate([none, *(r for r, _ in pairs)])
    columns = np.concatenate([none, *(c for _, c in pairs)])
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _contract(
    layout: Layout, columns: _Columns, cells: _Cells, sample: Sample
) -> tuple[Floats, Floats | tuple[sp.csr_array, ...], Floats]:
    """Return A, B and C: each table of cells is made, used and dropped, so that few are held at a time."""
    indicators = _Indicators(layout, columns, cells, sample)
    specs = layout.effects[0].columns
    held = [columns.index(spec) for spec in specs]
    q1, k1, m = cells.levels, len(specs), columns.width
    A, C = np.zeros((q1, k1, k1)), np.zeros((m, m))
    rows = _Rows(q1, k1, m, sparse=cells.level is not None)
    for a, b in itertools.combinations_with_replacement(range(len(columns.products)), 2):
        table = cells.sums(_times(sample.weights, columns.values[a], columns.values[b]))
        left, right = indicators.others[a], indicators.others[b]
        part = (left.T @ sp.diags_array(cells.by_combination(table)) @ right).toarray()
        C += part if a == b else part + part.T
        for k, h in itertools.product(range(k1), repeat=2):
            if (held[k], held[h]) == (a, b):
                A[:, k, h] = A[:, h, k] = cells.by_level(table, indicators.first[k] * indicators.first[h])
        for k in range(k1):
            for mine, theirs in {(a, b), (b, a)}:
                if held[k] == mine and indicators.others[theirs].nnz:
                    rows.add(k, cells.by_column(table, indicators.first[k], indicators.others[theirs]))
    y = sample.response
    for a in range(len(columns.products)):
        table = cells.sums(_times(sample.weights, columns.values[a], y))
        C[-1, :-1] += (indicators.others[a].T @ cells.by_combination(table))[:-1]
        for k in range(k1):
            if held[k] == a:
                rows.add_response(k, cells.by_level(table, indicators.first[k]))
    C[:-1, -1] = C[-1, :-1]
    C[-1, -1] = y @ y if sample.weights is None else (sample.weights * y) @ y
    return A, rows.finish(), C


class _Rows:
    """The rows b_j as they are added up, dense or sparse."""

    def __init__(self, q1: int, k1: int, m: int, *, sparse: bool) -> None:
        self.shape = (q1, m)
        self.parts: list[Any] = [sp.csr_array((q1, m)) if sparse else np.zeros((q1, m)) for _ in range(k1)]
        self.responses = np.zeros((k1, q1))

    def add(self, k: int, part: Floats | sp.csr_array) -> None:
        self.parts[k] = self.parts[k] + part

    def add_response(self, k: int, values: Floats) -> None:
        self.responses[k] += values

    def finish(self) -> Floats | tuple[sp.csr_array, ...]:
        """Return the rows: dense unless they are long and mostly empty."""
        q1, m = self.shape
        sparse = [sp.csr_array(part) for part in self.parts]
        if m > LONG_ROW and sum(part.nnz for part in sparse) < SPARSE_SHARE * len(sparse) * q1 * m:
            place = (np.arange(q1), np.full(q1, m - 1))
            last = [sp.csr_array((response, place), shape=self.shape) for response in self.responses]
            return tuple((part + column).tocsr() for part, column in zip(sparse, last, strict=True))
        dense = np.stack([part.toarray() if sp.issparse(part) else part for part in self.parts], axis=1)
        dense[:, :, -1] = self.responses.T
        return np.ascontiguousarray(dense)


def _times(*factors: Floats | None) -> Floats | None:
    """Return a product in which None stands for ones."""
    known = [factor for factor in factors if factor is not None]
    if not known:
        return None
    result = known[0]
    for factor in known[1:]:
        result = result * factor
    return result
