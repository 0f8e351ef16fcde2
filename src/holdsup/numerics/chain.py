"""What the levels of a chain of nested factors leave of H when they are eliminated one column at a time.

H = z'Wz + I with z = Z Lambda. Every random column of the chain (see `outcomes`) is eliminated on its own, finest level
first: given the columns before it, its part of H is diagonal. With d, C and B the sums over the cells of each node of
w z^2, of w times the products of two columns, and of w z times the columns of the others,

    d_e -= C_ce^2 / d_c,   B_e -= C_ce B_c / d_c,   C_ef -= C_ce C_cf / d_c,   S -= sum B_c'B_c / d_c,

summed over the nodes below. What is left, the effects of the other factors and beta, is the dense matrix S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import issparse

from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.outcomes import Cells, sum_by


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One random term: k columns that vary between the levels of a factor, at the points."""

    columns: Floats  # shape (K, k)
    places: tuple[tuple[int, int, int], ...]  # (i, j, parameter) for each entry of its factor
    level: int | None  # its level of the chain, None for one of the other factors
    codes: Ints | None = None  # of another factor: the level of each point
    count: int = 0  # how many levels it has


def factor_of(term: Term, theta: Floats) -> Floats:
    """Return the factor of the covariance of a term's columns."""
    factor = np.zeros((term.columns.shape[1],) * 2)
    for i, j, parameter in term.places:
        factor[i, j] = theta[parameter]
    return factor


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A logistic mixed model on its cells."""

    cells: Cells
    X: Floats  # fixed columns at the points, shape (K, p)
    terms: tuple[Term, ...]
    parameters: int  # length of theta
    prior: Floats  # precision of the normal prior of each fixed effect, zeros without a penalty, shape (p,)


@dataclass(slots=True, eq=False)
class Column:
    """One random column of the chain, as it stands at theta."""

    level: int
    flat: float | None  # its value where that is the same at all points
    z: Floats  # its value at each point


class Chain:
    """The columns of a model at theta, and H eliminated at weights of the cells."""

    def __init__(self, model: Model) -> None:
        self.model, self.cells = model, model.cells
        cells = model.cells
        chain = sorted((t for t in model.terms if t.level is not None), key=lambda t: t.level or 0)
        self.raw = np.hstack(
            [np.empty((cells.points, 0)), *(t.columns for t in chain)]
        )  # columns of the chain before Lambda, shape (K, Q)
        self.levels = [t.level or 0 for t in chain for _ in range(t.columns.shape[1])]
        self.places: list[tuple[int, int, int]] = []
        for t, start in zip(chain, _starts([t.columns.shape[1] for t in chain]), strict=True):
            self.places += [(start + i, start + j, parameter) for i, j, parameter in t.places]
        constant = (self.raw == self.raw[:1]).all(axis=0)
        alone = [[i for i, j, _ in self.places if j == c] == [c] for c in range(self.raw.shape[1])]
        self.flat = [bool(a and b) for a, b in zip(alone, constant, strict=True)]
        self._prepare_rest([t for t in model.terms if t.level is None])
        self.p, self.q2 = model.X.shape[1], self.rest.shape[1]
        self.P = np.hstack([self.rest, model.X])
        self.direct = cells.points <= self.P.shape[1]  # the matrix of the others is kept by point, not by column
        self.T = self.P if self.direct else np.eye(self.P.shape[1])
        self.factored = False

    def _prepare_rest(self, terms: Sequence[Term]) -> None:
        """Lay out the columns of the other factors, and which parameter stands where in their factor."""
        K = self.cells.points
        widths = [t.count * t.columns.shape[1] for t in terms]
        self.rest = np.zeros((K, sum(widths)))
        self.rest_places: list[tuple[Ints, Ints, int]] = []
        for t, start in zip(terms, _starts(widths), strict=True):
            k = t.columns.shape[1]
            for i in range(k):
                self.rest[np.arange(K), start + t.codes * k + i] = t.columns[:, i]
            at = start + k * np.arange(t.count)
            self.rest_places += [(at + i, at + j, parameter) for i, j, parameter in t.places]
        self.rest_diagonal = all((rows == columns).all() for rows, columns, _ in self.rest_places)

    def put_at(self, theta: Floats) -> None:
        """Put Lambda at theta."""
        self.columns = self._columns(theta)
        self.L2 = self.rest_factor(theta)
        self.TL, self.PL = self._scaled(self.T), self._scaled(self.P)

    def _columns(self, theta: Floats) -> list[Column]:
        factor = np.zeros((self.raw.shape[1],) * 2)
        for i, j, parameter in self.places:
            factor[i, j] = theta[parameter]
        z = self.raw @ factor
        return [Column(level, float(z[0, c]) if self.flat[c] else None, z[:, c]) for c, level in enumerate(self.levels)]

    def rest_factor(self, theta: Floats) -> Floats:
        """Return the factor of the other factors' covariance: its diagonal if there is nothing else."""
        if self.rest_diagonal:
            scale = np.zeros(self.q2)
            for rows, _, parameter in self.rest_places:
                scale[rows] = theta[parameter]
            return scale
        factor = np.zeros((self.q2, self.q2))
        for rows, columns, parameter in self.rest_places:
            factor[rows, columns] = theta[parameter]
        return factor

    def _scaled(self, matrix: Floats) -> Floats:
        """Return columns of the other factors times their factor, with those of X as they are."""
        rest = matrix[:, : self.q2] * self.L2 if self.rest_diagonal else matrix[:, : self.q2] @ self.L2
        return np.hstack([rest, matrix[:, self.q2 :]])

    def _rows(self, x: Floats, level: int) -> Floats:
        """Return sums of a value of cells over nodes, as rows of the matrix of the others.

        At the leaves and by point, these are the cells themselves.
        """
        if self.direct:
            return x if level == 0 else self.cells.rise_table(x, level)
        rows = self.cells.table(x) @ self.P
        return self.cells.rise(np.asarray(rows), 0, level)

    def _times(self, rows: Floats, x: Floats) -> Floats:
        """Return rows times a value of each node."""
        return self.cells.scale(rows, x) if rows.ndim == 1 else rows * x[:, None]

    def _lift(self, rows: Floats, low: int, high: int) -> Floats:
        if rows.ndim == 1:
            return rows if high == 0 else self.cells.rise_table(rows, high)
        return self.cells.rise(rows, low, high)

    def _drop(self, rows: Floats, low: int, high: int) -> Floats:
        """Return for each row of a lower level what stands in the row of its node above, cells for cells."""
        if rows.ndim == 1 or (low > 0 and low == high):
            return rows
        if self.direct and low == 0:
            return self.cells.at_cells(rows, high)
        return rows if low == high else rows[self.cells.up[low, high]]

    def _dot(self, one: Floats, other: Floats) -> Floats:
        """Return for each node the product of two rows."""
        if one.ndim == 1:
            return self.cells.by_leaf(one * other)
        return np.asarray(np.einsum("ij,ij->i", one, other))

    def _gram(self, rows: Floats, weight: Floats) -> Floats:
        if rows.ndim > 1:
            return np.asarray(rows.T @ (rows * weight[:, None]))
        scaled = self._times(rows, weight)
        if self.cells.dense or not self.cells.alike:
            product = self.cells.table(rows).T @ self.cells.table(scaled)
            return np.asarray(product.todense() if issparse(product) else product)
        product = np.zeros((self.cells.points,) * 2)
        for cells, points in self.cells.alike:
            product[np.ix_(points, points)] += rows[cells].T @ scaled[cells]
        return product

    def _into(self, rows: Floats, vector: Floats) -> Floats:
        """Return for each node the product of its row with a vector."""
        if rows.ndim == 1 and not self.cells.dense:
            return self.cells.by_leaf(rows * self.cells.of_points(vector))
        return np.asarray((self.cells.table(rows) if rows.ndim == 1 else rows) @ vector)

    def _out_of(self, rows: Floats, x: Floats) -> Floats:
        """Return the sum of rows, each times a value of its node."""
        if rows.ndim == 1 and not self.cells.dense:
            scaled = self.cells.scale(rows, x)
            if self.cells.place[-1] is None:
                return np.asarray(scaled.reshape(-1, self.cells.points).sum(axis=0))
            return sum_by(self.cells.point, scaled, self.cells.points)
        return np.asarray(x @ (self.cells.table(rows) if rows.ndim == 1 else rows))

    def _factor(self, w: Floats) -> None:
        """Factor H and what is left of it: d, B and C of each column, and S = chol chol'."""
        cells, columns = self.cells, self.columns
        Q = range(len(columns))
        leaf = cells.by_leaf(w)
        d: list[Floats] = []
        B: list[Floats] = []
        C: dict[tuple[int, int], Floats] = {}
        for c in Q:
            one = columns[c]
            x = w * (cells.of_points(one.z) if one.flat is None else one.flat)
            for e in range(c, len(columns)):
                other = columns[e]
                if one.flat is not None and other.flat is not None:
                    sums = one.flat * other.flat * leaf
                else:
                    sums = cells.by_leaf(x * cells.of_points(other.z))
                sums = cells.rise(sums, 0, one.level)
                if e == c:
                    d.append(1 + sums)
                else:
                    C[c, e] = sums
            B.append(self._rows(x, one.level))
        by_point = cells.by_point(w)
        CE = np.diag(by_point) if self.direct else (self.P * by_point[:, None]).T @ self.P
        self.start_CE = CE.copy()
        self.start_C, self.start_B = dict(C), list(B)
        for c in Q:
            low = columns[c].level
            for e in range(c + 1, len(columns)):
                high = columns[e].level
                x = C[c, e] / d[c]
                d[e] = d[e] - cells.rise(x * C[c, e], low, high)
                B[e] = B[e] - self._lift(self._times(B[c], x), low, high)
                for f in range(e + 1, len(columns)):
                    C[e, f] = C[e, f] - cells.rise(x * C[c, f], low, high)
            if columns[c].flat != 0:
                CE = CE - self._gram(B[c], cells.weight[low] / d[c])
        S = self.TL.T @ CE @ self.TL
        S[np.diag_indices(len(S))] += np.concatenate([np.ones(self.q2), self.model.prior])
        chol, failed = lapack.dpotrf(S, lower=1, clean=1)
        if failed:
            raise np.linalg.LinAlgError("the fixed effects are not determined")
        self.d, self.B, self.C, self.CE, self.chol, self.factored = d, B, C, CE, chol, True

    def _solve(self, right: Sequence[Floats], tail: Floats, *, joint: bool) -> tuple[list[Floats], Floats]:
        """Return H^-1 times a right-hand side; `joint` with the fixed effects in it."""
        cells, columns = self.cells, self.columns
        g, left = [x.copy() for x in right], np.zeros(len(self.T))
        for c, column in enumerate(columns):
            x = g[c] / self.d[c]
            left += self._out_of(self.B[c], cells.weight[column.level] * x)
            for e in range(c + 1, len(columns)):
                g[e] -= cells.rise(x * self.C[c, e], column.level, columns[e].level)
        rest = tail - self.TL.T @ left
        size = len(rest) if joint else self.q2
        solved = np.zeros(len(rest))
        if size:
            solved[:size] = solve_lower(self.chol[:size, :size], rest[:size])
        vector = self.TL @ solved
        found: list[Floats] = [np.empty(0)] * len(columns)
        for c in reversed(range(len(columns))):
            y = g[c] - self._into(self.B[c], vector)
            for e in range(c + 1, len(columns)):
                y -= self.C[c, e] * found[e][cells.up[columns[c].level, columns[e].level]]
            found[c] = y / self.d[c]
        return found, solved

    def run_back(self, by_S: Floats) -> tuple[list[Floats], list[Floats], dict[tuple[int, int], Floats]]:
        """Return the derivatives of log|H| by d, B and C of each column, before anything was eliminated."""
        cells, columns = self.cells, self.columns
        by_d: list[Floats] = [np.empty(0)] * len(columns)
        by_B: list[Floats] = [np.empty(0)] * len(columns)
        by_C: dict[tuple[int, int], Floats] = {}
        for c in reversed(range(len(columns))):
            low, d, B = columns[c].level, self.d[c], self.B[c]
            mass = cells.weight[low]
            across = B @ by_S if B.ndim > 1 else self._across(B, by_S)
            at_d = mass / d + mass / d**2 * self._dot(B, across)
            at_B = self._times(across, -2 * mass / d)
            for e in range(c + 1, len(columns)):
                high = columns[e].level
                up, C = cells.up[low, high], self.C[c, e]
                x, down = C / d, by_d[e][cells.up[low, high]]
                above = self._drop(by_B[e], low, high)
                at_x = -self._dot(B, above)
                at_d = at_d + x * x * down
                at_B = at_B - self._times(above, x)
                at_C = -2 * x * down
                for f in range(e + 1, len(columns)):
                    beyond = by_C[e, f][up]
                    at_x = at_x - self.C[c, f] * beyond
                    by_C[c, f] = by_C.get((c, f), 0.0) - x * beyond
                at_C = at_C + at_x / d
                at_d = at_d - at_x * x / d
                by_C[c, e] = by_C.get((c, e), 0.0) + at_C
            by_d[c], by_B[c] = at_d, at_B
        return by_d, by_B, by_C

    def _across(self, rows: Floats, square: Floats) -> Floats:
        """Return the entries of rows times a matrix where there are cells."""
        cells = self.cells
        if cells.dense:
            return np.asarray(cells.table(rows) @ square).ravel()
        if not cells.alike:
            return np.asarray((cells.table(rows) @ square)[cells.leaf, cells.point])
        found = np.empty(len(rows))
        for of, points in cells.alike:
            found[of] = rows[of] @ square[np.ix_(points, points)]
        return found

    def precision(self) -> Floats:
        """Return the precision of the fixed effects, random effects eliminated and theta as known."""
        low = self.chol[self.q2 :, self.q2 :]
        return np.asarray(low @ low.T)


def solve_lower(chol: Floats, right: Floats) -> Floats:
    """Return the solution of a system whose matrix has this lower factor; SciPy's checks would cost more than this."""
    return np.asarray(lapack.dpotrs(chol, right, lower=1)[0])


def _starts(widths: Sequence[int]) -> list[int]:
    return [sum(widths[:i]) for i in range(len(widths))]
