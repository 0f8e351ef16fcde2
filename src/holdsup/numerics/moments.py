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

from holdsup.numerics.cells import Cells, Picked, Table, Tables
from holdsup.numerics.layout import ColumnSpec, Effects, Floats, Ints, Layout, Sample

__all__ = ["Block", "Moments", "accumulate"]

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
    if not layout.effects:  # a plain regression: one level with nothing in it
        nothing = Effects((), np.zeros(len(sample.response), np.int64), 1, (), np.empty((0, 0), np.int64))
        layout = replace(layout, effects=(nothing,))
    blocks, start = [], 0
    for effects in layout.effects[1:]:
        blocks.append(Block(start, effects.count, effects.pattern))
        start = blocks[-1].stop
    A, B, C = _contract(layout, _Columns(layout, start), sample)
    return Moments(
        n=len(sample.response),
        p=len(layout.fixed),
        log_weights=float(np.log(sample.weights).sum()) if sample.weights is not None else 0.0,
        lower=layout.lower,
        first=layout.effects[0].pattern,
        blocks=tuple(blocks),
        A=A,
        B=B,
        C=C,
    )


class _Columns:
    """The columns of a model by the product of numbers that they hold, and the factors by which they differ."""

    def __init__(self, layout: Layout, start: int) -> None:
        specs = [*layout.fixed, *(c for effects in layout.effects for c in effects.columns)]
        self.products = list(dict.fromkeys([(), *(spec.numbers for spec in specs)]))
        used = [f for effects in layout.effects[1:] for f in effects.factors]
        used.extend(factor for spec in specs for factor, _ in spec.levels)
        self.used = tuple(dict.fromkeys(used))
        self.start, self.width = start, start + len(layout.fixed) + 1

    def index(self, spec: ColumnSpec) -> int:
        return self.products.index(spec.numbers)

    def values(self, sample: Sample) -> list[Floats | None]:
        """Return each product of numbers; None stands for a column of ones."""
        found: list[Floats | None] = []
        for numbers in self.products:
            value = sample.numbers[numbers[0]] if numbers else None
            for i in numbers[1:]:
                value = value * sample.numbers[i] if value is not None else None
            found.append(value)
        return found


class _Indicators:
    """Which combinations of factors each column picks."""

    def __init__(self, layout: Layout, columns: _Columns, cells: Cells, sample: Sample) -> None:
        self.codes = {f: sample.factors[f][cells.shown] for f in columns.used}
        self.count = len(cells.shown)
        self.first = [self._chosen(spec) for spec in layout.effects[0].columns]
        entries: list[list[tuple[Ints, Ints]]] = [[] for _ in columns.products]
        start = 0
        for effects in layout.effects[1:]:
            level = effects.codes[cells.shown].astype(np.int64)
            for i, spec in enumerate(effects.columns):
                rows = np.flatnonzero(self._chosen(spec))
                entries[columns.index(spec)].append((rows, start + level[rows] * len(effects.columns) + i))
            start += effects.size
        for j, spec in enumerate(layout.fixed):
            rows = np.flatnonzero(self._chosen(spec))
            entries[columns.index(spec)].append((rows, np.full(len(rows), start + j)))
        self.others = [self._pick(pairs) for pairs in entries]

    def _chosen(self, spec: ColumnSpec) -> Floats:
        chosen = np.ones(self.count)
        for factor, code in spec.levels:
            chosen *= self.codes[factor] == code
        return chosen

    def _pick(self, pairs: list[tuple[Ints, Ints]]) -> Picked:
        none = np.empty(0, np.int64)
        rows = np.concatenate([none, *(r for r, _ in pairs)])
        places, columns = np.unique(np.concatenate([none, *(c for _, c in pairs)]), return_inverse=True)
        if self.count * len(places) > DENSE_INDICATORS:
            shape = (self.count, len(places))
            return Picked(places, sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape))
        matrix = np.zeros((self.count, len(places)))
        matrix[rows, columns] = 1.0
        return Picked(places, matrix)


def _contract(
    layout: Layout, columns: _Columns, sample: Sample
) -> tuple[Floats, Floats | tuple[sp.csr_array, ...], Floats]:
    """Return A, B and C: each table of cells is made, used and dropped, so that few are held at a time."""
    first = layout.effects[0]
    cells = Cells.find(first, columns.used, sample)
    indicators = _Indicators(layout, columns, cells, sample)
    tables = Tables(first, columns.values(sample), cells, sample)
    C = np.zeros((columns.width, columns.width))
    rows = _Rows([columns.index(spec) for spec in first.columns], cells, indicators, columns.width)
    for a, b in itertools.combinations_with_replacement(range(len(columns.products)), 2):
        table = tables.of(a, b)
        left, right = indicators.others[a], indicators.others[b]
        part = left.cross(cells.by_combination(table), right)
        C[np.ix_(left.places, right.places)] += part
        if a != b:
            C[np.ix_(right.places, left.places)] += part.T
        rows.add(table, a, b)
        if a != b:
            rows.add(table, b, a)
    for a, picked in enumerate(indicators.others):
        table = tables.with_response(a)
        C[-1, picked.places] += picked.matrix.T @ cells.by_combination(table)
        rows.add_response(table, a)
    C[:-1, -1] = C[-1, :-1]
    y = sample.response
    C[-1, -1] = y @ y if sample.weights is None else (sample.weights * y) @ y
    return rows.A, rows.finish(), C


class _Rows:
    """A_j and b_j as they are added up, the rows b_j dense or sparse; `held` is the product in each column of Z1."""

    def __init__(self, held: list[int], cells: Cells, indicators: _Indicators, m: int) -> None:
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

    def finish(self) -> Floats | tuple[sp.csr_array, ...]:
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
