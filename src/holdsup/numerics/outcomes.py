"""Rows of right and wrong as cells with counts: what a logistic mixed model needs of a table.

Rows that share a level of the finest factor and a *point* (a combination of everything else that the linear predictor
depends on) have the same probability: they are one cell with `n` trials and `s` successes. The finest factor and the
factors that it is nested in (system:item < item) are the *chain*; its levels are nodes of a tree. Trees that hold the
same cells have the same likelihood, so that one of them is kept with a *multiplicity*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from holdsup.numerics.layout import Floats, Ints, run_starts

FULL = 0.4  # share of (leaf, point) pairs that occur from which all of them are cells, empty ones too
DENSE_TABLE = 8  # places a row up to which cells are counted in a table of all pairs
WORTH_MERGING = 0.8  # trees are merged where this share of them or fewer differ
LARGEST_KEY = 2**62
MOST_ALIKE = 64  # sets of points that leaves may have for products of tables to be made set by set


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The combinations of everything that the linear predictor depends on beside the chain."""

    codes: Ints  # point of each row, shape (n,)
    shown: Ints  # a row that shows each point, shape (K,)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.shown)


def number_points(keys: Sequence[Any], rows: int) -> Points:
    """Return the points of rows, from the codes of all that tells them apart."""
    number, count = np.zeros(rows, np.int64), 1
    for key in keys:
        codes, size = compact(np.asarray(key))
        if count * size > LARGEST_KEY:
            number, count = compact(number)
        number, count = number * size + codes, count * size
    number, count = compact(number)
    shown = np.empty(count, np.int64)
    shown[number[::-1]] = np.arange(rows - 1, -1, -1)
    return Points(number, shown)


def compact(codes: Any) -> tuple[Ints, int]:
    """Return codes 0, 1, ... in the order of the values, and how many there are; in linear time for small integers."""
    if codes.dtype.kind in "iu" and codes.size and codes.min() >= 0 and codes.max() < 4 * codes.size + 1000:
        seen = np.bincount(codes) > 0
        if seen.all():
            return codes.astype(np.int64, copy=False), len(seen)
        return (np.cumsum(seen) - 1)[codes], int(seen.sum())
    values, inverse = np.unique(codes, return_inverse=True)
    return inverse.ravel().astype(np.int64), len(values)


def sum_by(codes: Ints, values: Floats | None, count: int) -> Floats:
    """Return the sum of values (or how many there are) for each code."""
    return np.asarray(np.bincount(codes, values, count), dtype=np.float64)


def find_chain(groups: Sequence[tuple[Any, int]], *, least: int) -> list[int]:
    """Return the largest group and, finest first, the groups that it is nested in and that have `least` levels."""
    order = sorted(range(len(groups)), key=lambda g: -groups[g][1])
    chain = order[:1]
    for g in order[1:]:
        codes, count = groups[g]
        fine, size = groups[chain[-1]]
        above = np.zeros(size, np.int64)
        above[fine] = codes
        if count >= least and (above[fine] == codes).all():
            chain.append(g)
    return chain


@dataclass(eq=False)
class Cells:
    """Cells in the order of the chain's tree: leaf by leaf, and the leaves of every node together."""

    s: Floats  # successes of each cell, shape (C,)
    n: Floats  # trials
    point: Ints  # its point
    leaf: Ints  # its leaf
    begin: Ints  # the first cell of each leaf
    node: list[Ints]  # the node of each leaf, level by level of the chain
    weight: list[Floats]  # multiplicity of each node, level by level
    points: int  # K
    dense: bool  # whether every leaf has a cell for every point, in order
    level: list[Ints]  # the level of its factor that each node stands for (one of several, where trees were merged)

    def __post_init__(self) -> None:
        levels = range(len(self.node))
        first = [run_starts(node) for node in self.node]
        self.up = {(a, b): self.node[b][first[a]] for a in levels for b in levels if b >= a}
        self.start = {pair: run_starts(up) for pair, up in self.up.items()}
        self.width = _evenly(self.begin, len(self.n))
        self.fan = {pair: _evenly(start, len(self.up[pair])) for pair, start in self.start.items()}
        self.mass = self.weight[0][self.leaf]  # multiplicity of each cell
        self.cellnode = [node[self.leaf] for node in self.node]
        places = [node * self.points + self.point for node in self.cellnode]
        # where each cell stands in a table of nodes and points; None where the cells are that table as they stand
        self.place = [
            None if len(p) == len(w) * self.points and (p == np.arange(len(p))).all() else p
            for p, w in zip(places, self.weight, strict=True)
        ]

    @cached_property
    def leaves(self) -> int:
        """How many leaves are kept."""
        return len(self.begin)

    @cached_property
    def alike(self) -> list[tuple[Ints, Ints]]:
        """Leaves that have the same points: the cells of each, and these points; none where few leaves are alike."""
        scattered = _mix(self.point.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        _, first, kind = np.unique(np.add.reduceat(scattered, self.begin), return_index=True, return_inverse=True)
        if len(first) > MOST_ALIKE:
            return []
        order, ends = np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))
        sizes = np.diff(np.append(self.begin, len(self.n)))
        found = []
        for leaves, shown in zip(np.split(order, ends[:-1]), first, strict=True):
            slots = np.arange(sizes[shown])
            found.append((self.begin[leaves][:, None] + slots, self.point[self.begin[shown] + slots]))
        return found

    @cached_property
    def pattern(self) -> Any:
        """The cells as a sparse matrix, leaves x points; its data are not used."""
        return csr_matrix((self.n, self.point, np.append(self.begin, len(self.n))), shape=(self.leaves, self.points))

    def by_leaf(self, x: Floats) -> Floats:
        """Return the sum of a value of cells over each leaf."""
        return _add(x, self.begin, self.width)

    def by_point(self, x: Floats) -> Floats:
        """Return the sum of a value of cells over each point, trees counted as often as they occur."""
        if self.dense:
            return np.asarray(self.weight[0] @ x.reshape(self.leaves, self.points))
        if self.place[-1] is None:
            return np.asarray(self.weight[-1] @ x.reshape(-1, self.points))
        return sum_by(self.point, x * self.mass, self.points)

    def of_points(self, x: Floats) -> Floats:
        """Return for each cell the value of its point."""
        if self.place[-1] is not None:
            return x[self.point]
        return np.broadcast_to(x, (len(self.weight[-1]), self.points)).flatten()

    def of_nodes(self, x: Floats, level: int) -> Floats:
        """Return for each cell the value of its node."""
        each = self.width * (self.fan[0, level] if level else 1)
        return np.broadcast_to(x[:, None], (len(x), each)).flatten() if each else x[self.cellnode[level]]

    def scale(self, x: Floats, by: Floats) -> Floats:
        """Return values of cells, each times a value of its leaf."""
        return (x.reshape(-1, self.width) * by[:, None]).ravel() if self.width else x * by[self.leaf]

    def rise(self, x: Floats, low: int, high: int) -> Floats:
        """Return sums over the nodes of a level, from values (or rows) of a lower one."""
        return x if low == high else _add(x, self.start[low, high], self.fan[low, high])

    def by_node(self, x: Floats, level: int) -> Floats:
        """Return the sum of a value of cells over each node of a level."""
        return self.rise(self.by_leaf(x), 0, level)

    def table(self, x: Floats) -> Any:
        """Return values of cells as a matrix, leaves x points."""
        if self.dense:
            return x.reshape(self.leaves, self.points)
        matrix = self.pattern
        return csr_matrix((x, matrix.indices, matrix.indptr), shape=matrix.shape)

    def rise_table(self, x: Floats, level: int) -> Floats:
        """Return values of cells summed over the leaves of each node, nodes x points."""
        if self.dense:
            return self.rise(x.reshape(self.leaves, self.points), 0, level)
        place, nodes = self.place[level], len(self.weight[level])
        flat = x if place is None else sum_by(place, x, nodes * self.points)
        return flat.reshape(nodes, self.points)

    def at_cells(self, table: Floats, level: int) -> Floats:
        """Return what stands at each cell in a table of nodes and points."""
        place = self.place[level]
        return table.ravel() if place is None else table.ravel()[place]


def _evenly(starts: Ints, count: int) -> int:
    """Return how many of `count` follow each start, 0 where that differs."""
    each = count // len(starts)
    return each if (starts == each * np.arange(len(starts))).all() and each * len(starts) == count else 0


def _add(x: Floats, starts: Ints, each: int) -> Floats:
    """Return sums (of rows) from each start to the next one, `each` values apart if that is not 0."""
    if not each:
        return np.asarray(np.add.reduceat(x, starts, axis=0))
    if x.ndim == 1:  # a product is the quickest sum of short rows
        return np.asarray(x.reshape(-1, each) @ np.ones(each))
    return np.asarray(x.reshape(-1, each, x.shape[1]).sum(axis=1))


def make_cells(
    successes: Floats, trials: Floats | None, points: Points, chain: Sequence[tuple[Any, int]], *, merge: bool = True
) -> Cells:
    """Return the cells of rows: `chain` has codes and number of levels of its factors, the finest first."""
    K, A = points.count, chain[0][1]
    ancestors = np.zeros((len(chain), A), np.int64)
    for row, (codes, _) in zip(ancestors, chain, strict=True):
        row[chain[0][0]] = codes
    leaf, order = chain[0][0].astype(np.int64), np.arange(A)
    if len(chain) > 1:
        order = np.lexsort(ancestors)
        place = np.empty(A, np.int64)
        place[order] = np.arange(A)
        leaf = place[leaf]
    key = leaf * K + points.codes
    if DENSE_TABLE * len(key) >= A * K:
        n, s = sum_by(key, trials, A * K), sum_by(key, successes, A * K)
        occurs = np.arange(A * K) if (n > 0).mean() >= FULL else np.flatnonzero(n)
        n, s = n[occurs], s[occurs]
    else:
        occurs, inverse = np.unique(key, return_inverse=True)
        n, s = sum_by(inverse, trials, len(occurs)), sum_by(inverse, successes, len(occurs))
    leaf, point = np.divmod(occurs, K)
    levels = ancestors[:, order]
    nodes = [_runs(row) for row in levels]
    begin = np.searchsorted(leaf, np.arange(A))
    keep, mass = _merge(s, n, point, begin, nodes) if merge else (np.ones(A, bool), np.ones(A))
    cells = keep[leaf]
    kept = [_runs(node[keep]) for node in nodes]
    return Cells(
        s=s[cells], n=n[cells], point=point[cells], leaf=_runs(leaf[cells]), begin=run_starts(leaf[cells]), node=kept,
        weight=[mass[keep][run_starts(node)] for node in kept], points=K, dense=len(occurs) == A * K,
        level=[row[keep][run_starts(node)] for row, node in zip(levels, kept, strict=True)],
    )  # fmt: skip


def _runs(codes: Ints) -> Ints:
    """Return codes 0, 1, ... of the runs of equal values."""
    return np.cumsum(np.concatenate([[0], codes[1:] != codes[:-1]]))


def _merge(s: Floats, n: Floats, point: Ints, begin: Ints, nodes: list[Ints]) -> tuple[Any, Floats]:
    """Return which leaves to keep, and how often the tree of each occurs.

    Trees are compared by two independent 64-bit sums of random numbers, one for each cell's content.
    """
    signatures = []
    for seed in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03):
        content = _mix(_mix(_mix(point.astype(np.uint64) + np.uint64(seed)) + s.view(np.uint64)) + n.view(np.uint64))
        content[n == 0] = 0
        total = np.add.reduceat(content, begin)
        below = nodes[0]
        for node in nodes[1:]:
            total = np.add.reduceat(_mix(total), run_starts(node[run_starts(below)]))
            below = node
        signatures.append(total)
    both = np.stack(signatures, axis=1).view("V16").ravel()
    _, first, count = np.unique(both, return_index=True, return_counts=True)
    root = nodes[-1]
    if len(first) > WORTH_MERGING * len(both):
        return np.ones(len(root), bool), np.ones(len(root))
    times = np.zeros(len(both))
    times[first] = count
    return times[root] > 0, times[root]


def _mix(z: Any) -> Any:
    """Return 64-bit integers scattered (splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
