"""Cells: levels of the first grouping factor crossed with the combinations of all other factors.

Every column of a mixed model is an indicator of such combinations times a product of numbers, so all
cross-products are sums over cells: one `bincount` per pair of products, T_ab[j, r] = sum of w v_a v_b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdsup.numerics import compiled
from holdsup.numerics.layout import ColumnSpec, Effects, Floats, Ints, Layout, Sample, run_starts

Codes = NDArray[np.integer]
DENSE_GRID = 4  # a table of all cells is used while it has at most this many places a row
SMALL_GRID = 2**20  # or this many in all
FIRST_LOOK = 2**14  # rows that are looked at before all are
PIECE = 2**18  # rows looked at together: they stay in the cache
STAGE = 512  # levels that are added up at a time
WORTH_COMPILING = 2_000_000  # rows from which importing numba pays within one fit
DENSE_INDICATORS = 2**20  # places of an indicator matrix that is multiplied as a dense one


class CellSums(NamedTuple):
    """Sums over cells; those of a level are to be multiplied by its `scale` (None: by one)."""

    sums: Floats
    scale: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a table.

    `place` is the cell of each row, into the full grid (q1, R) or, if that is too large, into the
    cells that occur, level by level, whose level and combination are `level` and `combination`. `shown` is a row
    that shows each combination; `rows` are there in all, of which these may be a batch.
    """

    place: Ints
    count: int
    levels: int
    shown: Ints
    rows: int
    level: Codes | None = None
    combination: Codes | None = None

    @classmethod
    def find(cls, first: Effects, used: tuple[int, ...], sample: Sample) -> Cells:
        """Return the cells of the rows of a sample; `used` are the factors by which other columns differ."""
        r, shown = combine([sample.factors[f] for f in used], len(sample.response))
        q1, R = first.count, len(shown)
        rows, most = max(sample.total, len(sample.response)), max(SMALL_GRID, DENSE_GRID * len(r))
        if q1 * R <= most:
            return cls(_place(first, r, R), q1 * R, q1, shown, rows)
        # A factor that levels are made of is the same in all rows of a level: an item has one dataset.
        inner, seen = combine([sample.factors[f][shown] for f in used if f not in first.factors], R)
        if q1 * len(seen) > most:
            occurring, place = np.unique(_place(first, r, R), return_inverse=True)
            return cls(place.reshape(-1), len(occurring), q1, shown, rows, occurring // R, occurring % R)
        place = _place(first, inner.take(r), len(seen))
        combination = np.full(q1 * len(seen), -1, np.int32)
        combination[place] = r
        occurs = combination >= 0
        level = np.repeat(np.arange(q1, dtype=np.int32), len(seen))
        if not occurs.all():
            place = (np.cumsum(occurs) - 1).take(place)
            level, combination = level[occurs], combination[occurs]
        return cls(place, len(level), q1, shown, rows, level, combination)

    @property
    def sparse(self) -> bool:
        """Whether only the cells that occur are held."""
        return self.level is not None

    def full(self, levels: int) -> Cells:
        """Return the full grid of some levels, in which there are no rows."""
        return Cells(np.empty(0, np.int64), levels * len(self.shown), levels, self.shown, self.rows)

    def sums(self, *factors: Floats | None) -> Floats:
        """Return the sum in each cell of a product, in which None stands for ones."""
        known = [factor for factor in factors if factor is not None]
        rest = times(*known[1:])
        if rest is not None and self.rows > WORTH_COMPILING and compiled.available():
            return compiled.sum_cells(self.place, known[0], rest, self.count)
        return np.bincount(self.place, times(*known), self.count).astype(np.float64, copy=False)

    def by_combination(self, table: CellSums) -> Floats:
        """Return a table added up over levels, shape (R,)."""
        if self.level is not None and self.combination is not None:
            values = table.sums if table.scale is None else table.sums * table.scale[self.level]
            return np.asarray(np.bincount(self.combination, values, len(self.shown)), dtype=np.float64)
        grid = table.sums.reshape(self.levels, -1)
        scale = np.ones(self.levels) if table.scale is None else table.scale
        # In two stages: one sum over a hundred thousand levels would lose digits.
        cut = self.levels - self.levels % STAGE
        staged = scale[:cut].reshape(-1, 1, STAGE) @ grid[:cut].reshape(-1, STAGE, grid.shape[1])
        return np.asarray(staged.sum(axis=(0, 1)) + scale[cut:] @ grid[cut:])

    def by_level(self, table: CellSums, chosen: Floats) -> Floats:
        """Return a table added up over combinations, each weighed by `chosen`, shape (q1,)."""
        sums = self.grid(table) @ chosen
        return np.asarray(sums if table.scale is None else sums * table.scale, dtype=np.float64)

    def grid(self, table: CellSums) -> Floats | sp.csr_array:
        """Return the sums of a table as a matrix of levels and combinations, not scaled: a view."""
        if self.level is None:
            return table.sums.reshape(self.levels, -1)
        starts = np.searchsorted(self.level, np.arange(self.levels + 1, dtype=self.level.dtype))
        return sp.csr_array((table.sums, self.combination, starts), shape=(self.levels, len(self.shown)))

    def by_column(self, table: CellSums, chosen: Floats, picked: Picked) -> Floats | sp.csr_array:
        """Return a table, each combination weighed, added up by the columns that pick it: (q1, columns)."""
        grid = self.grid(table)
        if self.level is not None:
            scaled = grid if table.scale is None else sp.diags_array(table.scale) @ grid
            return scaled @ (sp.diags_array(chosen) @ sp.csr_array(picked.matrix))
        if isinstance(picked.matrix, np.ndarray):
            dense = np.asarray(grid @ (chosen[:, None] * picked.matrix))
        else:
            dense = np.asarray(((sp.diags_array(chosen) @ picked.matrix).T @ grid.T).T)
        return dense if table.scale is None else dense * table.scale[:, None]


class Tables:
    """Sums over cells of products of numbers, each made once.

    A number that is the same in all rows of a level of the first factor (the readability of an item)
    needs no pass of its own: its sums are those of ones, or of the response, times its value.
    """

    def __init__(self, first: Effects, products: list[Floats | None], cells: Cells, sample: Sample) -> None:
        self.cells, self.products, self.weights, self.response = cells, products, sample.weights, sample.response
        self.by_level: dict[int, Floats] = {}
        if any(values is not None for values in products):
            shown, starts = np.zeros(first.count, np.int64), run_starts(first.codes)
            shown[first.codes[starts]] = starts
            for a, values in enumerate(products):
                if values is not None and np.array_equal(values[shown].take(first.codes, mode="clip"), values):
                    self.by_level[a] = values[shown]
        self.plain: dict[bool, Floats] = {}

    def of(self, a: int, b: int) -> CellSums:
        """Return the sums of w v_a v_b."""
        return self._sums((a, b), None)

    def with_response(self, a: int) -> CellSums:
        """Return the sums of w v_a y."""
        return self._sums((a,), self.response)

    def _sums(self, products: tuple[int, ...], response: Floats | None) -> CellSums:
        scale = times(*(self.by_level.get(i) for i in products))
        varying = [self.products[i] for i in products if i not in self.by_level and self.products[i] is not None]
        if varying:
            return CellSums(self.cells.sums(self.weights, *varying, response), scale)
        known = response is not None
        if known not in self.plain:
            self.plain[known] = self.cells.sums(self.weights, response)
        return CellSums(self.plain[known], scale)


def times(*factors: Floats | None) -> Floats | None:
    """Return a product in which None stands for ones."""
    result: Floats | None = None
    for factor in factors:
        if factor is not None:
            result = factor if result is None else result * factor
    return result


def _place(first: Effects, combination: Codes, count: int) -> Ints:
    """Return the place of each row in the grid of levels and `count` combinations."""
    place = first.codes.astype(np.int64)
    if count > 1:
        place *= count
        place += combination
    return place


def find_alike(levels: Floats | sp.csr_array) -> tuple[Ints, Ints]:
    """Return a level that shows each different array of `levels`, and the kind of each level.

    Levels are told apart by a random projection and then compared in full: two different ones that fall together
    (chance 1e-9) only cost speed, never a wrong answer.
    """
    if not isinstance(levels, np.ndarray):
        return _find_alike_rows(levels)
    flat = levels.reshape(len(levels), -1)
    if len(flat) > 1 and np.array_equal(flat[1:], flat[:-1]):  # a complete table
        return np.zeros(1, np.int64), np.zeros(len(flat), np.int64)
    shadow = flat @ np.random.default_rng(0).normal(size=flat.shape[1]) if flat.shape[1] > 1 else flat[:, 0]
    _, first, kind = np.unique(shadow, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    if not np.array_equal(flat[first][kind], flat):
        return np.arange(len(levels)), np.arange(len(levels))
    return first, kind


def _find_alike_rows(rows: sp.csr_array) -> tuple[Ints, Ints]:
    """Return the same of sparse rows, which are alike if the same entries are stored in the same order."""
    shadow = rows @ np.random.default_rng(0).normal(size=rows.shape[1])
    _, first, kind = np.unique(shadow, return_index=True, return_inverse=True)
    size, starts = np.diff(rows.indptr), rows.indptr[:-1]
    model = first[kind]
    if np.array_equal(size[model], size):
        entry = np.repeat(starts[model] - starts, size)
        entry += np.arange(rows.nnz, dtype=entry.dtype)
        if all(np.array_equal(stored[entry], stored) for stored in (rows.indices, rows.data)):
            return first, kind
    return np.arange(len(size)), np.arange(len(size))


def combine(factors: list[Codes], rows: int) -> tuple[Codes, Ints]:
    """Return the combination of factors of each row, numbered as they occur, and a row that shows each."""
    r: Codes = factors[0].astype(np.int32) if factors else np.zeros(rows, np.int32)  # half the work of 64 bits
    places = int(r.max(initial=0)) + 1
    for codes in factors[1:]:
        count = int(codes.max(initial=0)) + 1
        if places * count > SMALL_GRID:  # number what occurs before the key outgrows a table
            r, shown = _number(r, places)
            places = len(shown)
        if places * count > 2**31:
            r = r.astype(np.int64)
        r *= count
        r += codes
        places *= count
    return _number(r, places)


def _number(key: Codes, places: int) -> tuple[Codes, Ints]:
    """Return keys numbered in their order, and a row that shows each: by a table of all places, else by sorting."""
    if places > max(SMALL_GRID, DENSE_GRID * len(key)):
        _, shown, number = np.unique(key, return_index=True, return_inverse=True)
        return number.reshape(-1), shown
    shown = np.full(places, -1, np.int64)
    if len(key) > FIRST_LOOK:  # most often, a few rows show all there is
        look = np.random.default_rng(0).integers(len(key), size=FIRST_LOOK)
        shown[key[look]] = look
    if (shown < 0).any():
        for start in range(0, len(key), PIECE):
            piece = key[start : start + PIECE]
            shown[piece] = np.arange(start, start + len(piece))
    occurs = shown >= 0
    if occurs.all():
        return key, shown
    return (np.cumsum(occurs) - 1).astype(key.dtype)[key], shown[occurs]


class Picked(NamedTuple):
    """Columns of M that hold the same product: their `places`, and which combinations each picks, (R, columns)."""

    places: Ints
    matrix: Floats | sp.csr_array

    def cross(self, weights: Floats, other: Picked) -> Floats:
        """Return the weighted cross-products of these columns with others, over combinations."""
        if isinstance(self.matrix, np.ndarray) and isinstance(other.matrix, np.ndarray):
            return np.asarray(self.matrix.T @ (weights[:, None] * other.matrix))
        return np.asarray((self.matrix.T @ sp.diags_array(weights) @ other.matrix).toarray())


class Columns:
    """The columns of a model by the product of numbers that they hold, and the factors by which they differ."""

    def __init__(self, layout: Layout) -> None:
        specs = [*layout.fixed, *(c for effects in layout.effects for c in effects.columns)]
        self.products = list(dict.fromkeys([(), *(spec.numbers for spec in specs)]))
        used = [f for effects in layout.effects[1:] for f in effects.factors]
        used.extend(factor for spec in specs for factor, _ in spec.levels)
        self.used = tuple(dict.fromkeys(used))
        self.width = layout.width

    def index(self, spec: ColumnSpec) -> int:
        """Return the product that a column holds."""
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


class Indicators:
    """Which combinations of factors each column picks: `first` those of Z1, `others` those of M, by their products."""

    def __init__(self, layout: Layout, columns: Columns, shown: Ints, sample: Sample) -> None:
        """Take rows that show each combination of the factors by which columns differ."""
        self.codes = {f: sample.factors[f][shown] for f in columns.used}
        self.count, self.width = len(shown), columns.width
        self.first = [self._chosen(spec) for spec in layout.effects[0].columns]
        entries: list[list[tuple[Ints, Ints]]] = [[] for _ in columns.products]
        start = 0
        for effects in layout.effects[1:]:
            level = effects.codes[shown].astype(np.int64)
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

    def cross(self, C: Floats, a: int, b: int, sums: Floats) -> None:
        """Add to C the cross-products of columns that hold the products v_a and v_b.

        `sums` has the sum of w v_a v_b over the rows of each combination.
        """
        left, right = self.others[a], self.others[b]
        part = left.cross(sums, right)
        C[np.ix_(left.places, right.places)] += part
        if a != b:
            C[np.ix_(right.places, left.places)] += part.T

    def cross_response(self, C: Floats, a: int, sums: Floats) -> None:
        """Add to C the cross-products of columns that hold v_a with the response, from the sums of w v_a y."""
        places = self.others[a].places
        part = self.others[a].matrix.T @ sums
        C[-1, places] += part
        C[places, -1] += part
