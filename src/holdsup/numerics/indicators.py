"""The columns of a model as the engine adds them up: products of numbers, picked by combinations of factors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.layout import ColumnSpec, Floats, Ints, Layout, Sample

__all__ = ["Columns", "Indicators", "Picked"]

DENSE_INDICATORS = 2**20  # places of an indicator matrix that is multiplied as a dense one


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
