"""How residuals vary over the posteriors of items' effects: the part of the quadrature's Hessian that links units.

Given its effect at node q of the grid, an item has the mean residual L_jq = sum_p a_p(q)'Z_p over its units. Over the
posterior omega_j of its effect this varies, and the Hessian of the likelihood holds sum_j m_j Cov_j(L), which is a sum
over pairs of items and nodes. Where units are single cells, a_p(q) = s_p - n_p mu_p(q), and the successes are the same
at all nodes: items that have the same cells, whatever came out in them, share what varies, and matrix products over
items and nodes are all there is to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from holdsup.numerics.layout import Floats, Ints, run_starts
from holdsup.numerics.outcomes import Cells, sum_by

AT_A_TIME = 1000  # items whose pairs are computed together
NEGLIGIBLE = 1e-9  # share of an item's posterior that is left out of covariances
MOST_SETS = 64  # sets of cells that items may have for each to be taken at once
FILLED, LARGEST = 0.2, 1e7  # share and size from which the units of items are a dense table


@dataclass(slots=True, eq=False)
class Units:
    """The kinds of units, and which items have them."""

    point: Ints  # point of each cell of a kind, shape (P, R), padded by cells without trials
    s: Floats  # successes, shape (P, R)
    n: Floats  # trials
    has: csr_matrix  # how many of each kind an item has, shape (items, P)
    mass: Floats  # multiplicity of each item
    table: Floats | csr_matrix  # the same as `has`, in the form that is multiplied fastest


def find_units(cells: Cells) -> Units:
    """Return the kinds of units: cells where the chain is one factor, else its finer level."""
    held = np.flatnonzero(cells.n)
    leaf, nested = cells.leaf[held], len(cells.node) == 2
    unit = np.cumsum(np.concatenate([[0], leaf[1:] != leaf[:-1]])) if nested else np.arange(len(held))
    begin = run_starts(unit)
    slot = np.arange(len(held)) - begin[unit]
    content = np.zeros((len(begin), int(slot.max()) + 1, 3))
    content[unit, slot] = np.stack([cells.point[held], cells.s[held], cells.n[held]], axis=1)
    flat = np.ascontiguousarray(content.reshape(len(content), -1))
    _, first, kind = np.unique(flat.view(f"V{8 * flat.shape[1]}").ravel(), return_index=True, return_inverse=True)
    root = (cells.node[-1] if nested else np.arange(cells.leaves))[leaf[begin]]
    has = csr_matrix((np.ones(len(kind)), (root, kind.ravel())), shape=(len(cells.weight[-1]), len(first)))
    point, successes, trials = np.moveaxis(content[first], -1, 0)
    size = has.shape[0] * has.shape[1]
    table = has.toarray() if FILLED * size < has.nnz and size < LARGEST else has
    return Units(point.astype(np.int64), successes, trials, has, cells.weight[-1], table)


@dataclass(slots=True, eq=False)
class _Pairs:
    """Some items, each with the nodes that matter to it."""

    of: csr_matrix  # how many units of each kind a pair has at its node, shape (pairs, P Q)
    node: Ints
    item: Ints  # counted from the first of these items
    starts: Ints  # the first pair of each item
    mass: Floats  # posterior mass of each pair, multiplicity of the item included
    items: Floats  # multiplicity of each item
    left: Floats  # L less its mean over the item, shape (pairs, q2)


class PairwiseVariation:
    """Covariances from a list of items and the nodes that matter to them: any units.

    `posterior` is omega, shape (items, Q), and `a` has the mean residuals of kinds given an item's effect, (P, R, Q).
    """

    def __init__(self, units: Units, Z: Floats, posterior: Floats, a: Floats) -> None:
        self.Z, self.shape = Z, (len(a), posterior.shape[1])
        self.pairs = list(self._list(units, posterior, a))

    def _list(self, units: Units, posterior: Floats, a: Floats) -> Iterator[_Pairs]:
        P, Q = self.shape
        A = np.einsum("prq,prk->pqk", a, self.Z, optimize=True).reshape(P * Q, -1)
        for first in range(0, len(posterior), AT_A_TIME):
            omega = posterior[first : first + AT_A_TIME]
            item, node = np.nonzero(omega > NEGLIGIBLE)
            rows = units.has[first + item]
            place = rows.indices * np.int64(Q) + np.repeat(node, np.diff(rows.indptr))
            of = csr_matrix((rows.data, place, rows.indptr), shape=(len(node), P * Q))
            left = np.asarray(of @ A)
            mass = omega[item, node] * units.mass[first + item]
            starts = run_starts(item)
            mean = np.add.reduceat(left * mass[:, None], starts, axis=0)
            left -= (mean / units.mass[first : first + AT_A_TIME, None])[item]
            yield _Pairs(of, node, item, starts, mass, units.mass[first : first + AT_A_TIME], left)

    def total(self) -> Floats:
        """Return the sum over items of the covariances of L."""
        return np.asarray(sum(each.left.T @ (each.left * each.mass[:, None]) for each in self.pairs))

    def run_back(self, M: Floats, phi: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the gradient of -tr(M total) - sum omega phi, with `phi` of each kind at the nodes held.

        It is that by the log-integrals of kinds, by a, and by the logarithms of the grid's weights.
        """
        by_logf, by_weight = np.zeros(phi.size), np.zeros(self.shape[1])
        by_A = np.zeros((phi.size, len(M)))
        for each in self.pairs:
            toward = each.left @ M
            y = np.einsum("ij,ij->i", toward, each.left) + each.of @ phi.ravel()
            y -= (np.add.reduceat(y * each.mass, each.starts) / each.items)[each.item]
            y *= each.mass
            toward *= 2 * each.mass[:, None]
            by_logf -= each.of.T @ y
            by_A -= each.of.T @ toward
            by_weight -= sum_by(each.node, y, self.shape[1])
        by_a = np.einsum("pqk,prk->prq", by_A.reshape(*self.shape, -1), self.Z, optimize=True)
        return by_logf.reshape(self.shape), by_a, by_weight


@dataclass(slots=True, eq=False)
class CellSet:
    """Items that have the same cells."""

    items: Ints
    kinds: Ints  # a kind that shows each of their cells
    times: Floats  # how often they have it


def find_sets(units: Units) -> list[CellSet]:
    """Return the sets of cells that items have; none where units are several cells, or too few items are alike."""
    if units.point.shape[1] > 1:
        return []
    cell = np.concatenate([units.point, units.n], axis=1)
    _, shown, kind = np.unique(cell, axis=0, return_index=True, return_inverse=True)
    has = csr_matrix(
        (units.has.data, kind.ravel()[units.has.indices], units.has.indptr), (units.has.shape[0], len(shown))
    )
    has.sum_duplicates()
    shadow = has @ np.random.default_rng(0).normal(size=len(shown))
    _, first, place = np.unique(shadow, return_index=True, return_inverse=True)
    if len(first) > MOST_SETS or (has != has[first[place]]).nnz:
        return []
    return [
        CellSet(np.flatnonzero(place == g), shown[has[row].indices], has[row].data)
        for g, row in enumerate(first)
    ]  # fmt: skip


class SharedVariation:
    """The same of items that have single cells, set by set."""

    def __init__(self, units: Units, sets: list[CellSet], Z: Floats, posterior: Floats, a: Floats) -> None:
        self.units, self.sets, self.Z, self.a, self.omega = units, sets, Z[:, 0], a, posterior
        self.mass = posterior * units.mass[:, None]
        # of each set L at the nodes and posterior masses, of each item the mean of L
        self.L = np.empty((len(sets), posterior.shape[1], self.Z.shape[1]))
        self.weight, self.means = np.empty(self.L.shape[:2]), np.empty((len(posterior), self.Z.shape[1]))
        for g, each in enumerate(sets):
            # the successes of an item are the same at all nodes: those of the kinds that are shown will do
            L = (a[each.kinds, 0] * each.times[:, None]).T @ self.Z[each.kinds]
            weight = self._rows(self.mass, each).sum(axis=0)
            L -= weight @ L / weight.sum()
            self.L[g], self.weight[g], self.means[each.items] = L, weight, self._rows(posterior, each) @ L

    def _rows(self, x: Floats, each: CellSet) -> Floats:
        return x if len(self.sets) == 1 else x[each.items]

    def total(self) -> Floats:
        """Return the sum over items of the covariances of L."""
        flat = self.L.reshape(-1, self.L.shape[2])
        total = flat.T @ (self.weight.reshape(-1, 1) * flat)
        return np.asarray(total - self.means.T @ (self.units.mass[:, None] * self.means))

    def run_back(self, M: Floats, phi: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the gradient by the log-integrals of kinds, by a, by the logarithms of the grid's weights."""
        LM, toward, by_a = self.L @ M, self.means @ M, np.zeros_like(self.a)
        y = np.asarray(self.units.table @ phi)
        y += (toward * self.means).sum(axis=1)[:, None]
        middles = (LM * self.L).sum(axis=2)
        for each, L, own, middle, weight in zip(self.sets, self.L, LM, middles, self.weight, strict=True):
            moved = self._rows(toward, each)
            y[each.items] += middle - 2 * moved @ L.T
            by_L = self._rows(self.mass, each).T @ moved - weight[:, None] * own
            by_a[each.kinds, 0] += 2 * each.times[:, None] * (self.Z[each.kinds] @ by_L.T)
        y -= (y * self.omega).sum(axis=1, keepdims=True)
        y *= self.mass
        return -np.asarray(self.units.table.T @ y), by_a, -y.sum(axis=0)
