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
from holdsup.numerics.indicators import Picked
from holdsup.numerics.layout import Effects, Floats, Ints, Sample, run_starts

__all__ = ["WORTH_COMPILING", "Cells", "Table", "Tables", "combine", "find_alike"]

Codes = NDArray[np.integer]
DENSE_GRID = 4  # a table of all cells is used while it has at most this many places a row
SMALL_GRID = 2**20  # or this many in all
FIRST_LOOK = 2**14  # rows that are looked at before all are
STAGE = 512  # levels that are added up at a time
WORTH_COMPILING = 2_000_000  # rows from which importing numba pays within one fit


class Table(NamedTuple):
    """Sums over cells; those of a level are to be multiplied by its `scale` (None: by one)."""

    sums: Floats
    scale: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a table.

    `place` is the cell of each row, into the full grid (q1, R) or, if that is too large, into the
    cells that occur, whose level and combination are `level` and `combination`. `shown` is a row that
    shows each combination; `rows` are there in all, of which these may be a batch.
    """

    place: Ints
    count: int
    levels: int
    shown: Ints
    rows: int
    level: Ints | None = None
    combination: Ints | None = None

    @classmethod
    def find(cls, first: Effects, used: tuple[int, ...], sample: Sample) -> Cells:
        """Return the cells of the rows of a sample; `used` are the factors by which other columns differ."""
        r, shown = combine([sample.factors[f] for f in used], len(sample.response))
        q1, R = first.count, len(shown)
        rows = max(sample.total, len(sample.response))
        place = first.codes.astype(np.int64)
        if R > 1:
            place *= R
            place += r
        if q1 * R <= max(SMALL_GRID, DENSE_GRID * len(place)):
            return cls(place, q1 * R, q1, shown, rows)
        occurring, place = np.unique(place, return_inverse=True)
        return cls(place.reshape(-1), len(occurring), q1, shown, rows, occurring // R, occurring % R)

    @property
    def sparse(self) -> bool:
        """Whether only the cells that occur are held."""
        return self.level is not None

    def sums(self, *factors: Floats | None) -> Floats:
        """Return the sum in each cell of a product, in which None stands for ones."""
        known = [factor for factor in factors if factor is not None]
        rest = times(*known[1:])
        if rest is not None and self.rows > WORTH_COMPILING and compiled.available():
            return compiled.sum_cells(self.place, known[0], rest, self.count)
        return np.bincount(self.place, times(*known), self.count).astype(np.float64, copy=False)

    def by_combination(self, table: Table) -> Floats:
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

    def by_level(self, table: Table, chosen: Floats) -> Floats:
        """Return a table added up over combinations, each weighed by `chosen`, shape (q1,)."""
        if self.level is None or self.combination is None:
            sums = table.sums.reshape(self.levels, -1) @ chosen
        else:
            sums = np.bincount(self.level, table.sums * chosen[self.combination], self.levels).astype(np.float64)
        return np.asarray(sums if table.scale is None else sums * table.scale, dtype=np.float64)

    def by_column(self, table: Table, chosen: Floats, picked: Picked) -> Floats | sp.csr_array:
        """Return a table, each combination weighed, added up by the columns that pick it: (q1, columns)."""
        if self.level is None or self.combination is None:
            grid = table.sums.reshape(self.levels, -1)
            if isinstance(picked.matrix, np.ndarray):
                dense = np.asarray(grid @ (chosen[:, None] * picked.matrix))
            else:
                dense = np.asarray(((sp.diags_array(chosen) @ picked.matrix).T @ grid.T).T)
            return dense if table.scale is None else dense * table.scale[:, None]
        values = table.sums * chosen[self.combination]
        values = values if table.scale is None else values * table.scale[self.level]
        shape = (self.levels, len(self.shown))
        return sp.csr_array((values, (self.level, self.combination)), shape=shape) @ sp.csr_array(picked.matrix)


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

    def of(self, a: int, b: int) -> Table:
        """Return the sums of w v_a v_b."""
        return self._sums((a, b), None)

    def with_response(self, a: int) -> Table:
        """Return the sums of w v_a y."""
        return self._sums((a,), self.response)

    def _sums(self, products: tuple[int, ...], response: Floats | None) -> Table:
        scale = times(*(self.by_level.get(i) for i in products))
        varying = [self.products[i] for i in products if i not in self.by_level and self.products[i] is not None]
        if varying:
            return Table(self.cells.sums(self.weights, *varying, response), scale)
        known = response is not None
        if known not in self.plain:
            self.plain[known] = self.cells.sums(self.weights, response)
        return Table(self.plain[known], scale)


def times(*factors: Floats | None) -> Floats | None:
    """Return a product in which None stands for ones."""
    result: Floats | None = None
    for factor in factors:
        if factor is not None:
            result = factor if result is None else result * factor
    return result


def find_alike(levels: Floats) -> tuple[Ints, Ints]:
    """Return a level that shows each different array of `levels`, and the kind of each level.

    Levels are told apart by a random projection and then compared in full: two different ones that fall together
    (chance 1e-9) only cost speed, never a wrong answer.
    """
    flat = levels.reshape(len(levels), -1)
    if len(flat) > 1 and np.array_equal(flat[1:], flat[:-1]):  # a complete table
        return np.zeros(1, np.int64), np.zeros(len(flat), np.int64)
    shadow = flat @ np.random.default_rng(0).normal(size=flat.shape[1]) if flat.shape[1] > 1 else flat[:, 0]
    _, first, kind = np.unique(shadow, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    if not np.array_equal(flat[first][kind], flat):
        return np.arange(len(levels)), np.arange(len(levels))
    return first, kind


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
    for rows in (min(len(key), FIRST_LOOK), len(key)):  # most often, the first rows show all there is
        shown = np.full(places, -1, np.int64)
        shown[key[:rows][::-1]] = np.arange(rows - 1, -1, -1)  # the earliest row of a key is written last
        occurs = shown >= 0
        if occurs.all():
            return key, shown
    return (np.cumsum(occurs) - 1)[key], shown[occurs]
