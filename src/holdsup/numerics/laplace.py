"""Laplace's criterion of a logistic mixed model, with its exact gradient.

    s_i ~ Binomial(n_i, mu_i),  logit mu = eta = X beta + Z Lambda(theta) u,  u ~ N(0, I)

With w = n mu (1 - mu), r = s - n mu, z = Z Lambda and H = z'Wz + I, all at the mode of u,

    F(theta, beta) = -2 log L(s | beta, u) + u'u + log|H|.

Every random column of the chain (see `outcomes`) is eliminated on its own, finest level first: given the columns
before it, its part of H is diagonal. What is left, the effects of the other factors and beta, is one dense matrix S.
The gradient of log|H| by w and by z comes from the same elimination run backwards; docs/maths/logistic.md has it all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, lapack
from scipy.sparse import issparse

from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.outcomes import Cells, sum_by

TIGHT = 5e-7  # decrement of a step to the mode after which the next one is at rounding
MOST_PASSES = 60
FARTHEST = 300.0  # of a linear predictor
RANGE = (0.3, 3.0)  # by how much modes are rescaled when theta moves


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
class _Column:
    """One random column of the chain, as it stands at theta."""

    level: int
    flat: float | None  # its value where that is the same at all points
    z: Floats  # its value at each point


@dataclass(slots=True, eq=False)
class _Pass:
    """The cells at one linear predictor."""

    mu: Floats
    w: Floats
    r: Floats


class Laplace:
    """The criterion as a function of (theta, beta); keeps the modes it found last."""

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
        self.u = [np.zeros(len(cells.weight[level])) for level in self.levels]
        self.tail = np.zeros(self.q2 + self.p)  # modes of the other factors, then beta
        self.theta = np.ones(model.parameters)
        self.evaluations = self.passes = 0
        self.mode_found = True
        self.pull = np.zeros(model.parameters)  # of log|H| by theta, w held, at the last gradient

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

    # Lambda

    def _columns(self, theta: Floats) -> list[_Column]:
        factor = np.zeros((self.raw.shape[1],) * 2)
        for i, j, parameter in self.places:
            factor[i, j] = theta[parameter]
        z = self.raw @ factor
        return [
            _Column(level, float(z[0, c]) if self.flat[c] else None, z[:, c]) for c, level in enumerate(self.levels)
        ]

    def _rest_factor(self, theta: Floats) -> Floats:
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

    # One pass over the cells

    def _predict(self, u: Sequence[Floats], tail: Floats) -> Floats:
        cells = self.cells
        by_leaf = np.zeros(cells.leaves)
        by_point = self.PL @ tail
        eta = None
        for column, values in zip(self.columns, u, strict=True):
            if column.flat is not None:
                by_leaf += column.flat * (values if column.level == 0 else values[cells.node[column.level]])
            else:
                part = values[cells.cellnode[column.level]] * column.z[cells.point]
                eta = part if eta is None else eta + part
        if cells.dense:
            sums = np.add.outer(by_leaf, by_point).ravel()
        else:
            sums = by_leaf[cells.leaf]
            sums += by_point[cells.point]
        if eta is not None:
            sums += eta
        return np.clip(sums, -FARTHEST, FARTHEST, out=sums)

    def _pass(self, eta: Floats) -> _Pass:
        cells = self.cells
        mu = np.negative(eta)
        np.exp(mu, out=mu)
        mu += 1
        np.reciprocal(mu, out=mu)
        expected = cells.n * mu
        w = 1 - mu
        w *= expected
        return _Pass(mu, w, np.subtract(cells.s, expected, out=expected))

    def _by_column(self, x: Floats) -> list[Floats]:
        """Return for each column of the chain the sums of z x over its nodes."""
        cells, found = self.cells, []
        leaf = cells.by_leaf(x) if any(self.flat) else None
        for column in self.columns:
            if column.flat is not None and leaf is not None:
                found.append(column.flat * cells.rise(leaf, 0, column.level))
            else:
                found.append(cells.by_node(x * column.z[cells.point], column.level))
        return found

    # Elimination

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
        return rows * (x[self.cells.leaf] if rows.ndim == 1 else x[:, None])

    def _lift(self, rows: Floats, low: int, high: int) -> Floats:
        if rows.ndim == 1:
            return rows if high == 0 else self.cells.rise_table(rows, high)
        return self.cells.rise(rows, low, high)

    def _drop(self, rows: Floats, low: int, high: int) -> Floats:
        """Return for each row of a lower level what stands in the row of its node above, cells for cells."""
        if rows.ndim == 1 or (low > 0 and low == high):
            return rows
        if self.direct and low == 0:
            return rows[self.cells.cellnode[high], self.cells.point]
        return rows if low == high else rows[self.cells.up[low, high]]

    def _dot(self, one: Floats, other: Floats) -> Floats:
        """Return for each node the product of two rows."""
        if one.ndim == 1:
            return self.cells.by_leaf(one * other)
        return np.asarray(np.einsum("ij,ij->i", one, other))

    def _gram(self, rows: Floats, weight: Floats) -> Floats:
        if rows.ndim == 1:
            table = self.cells.table(rows)
            scaled = self.cells.table(self._times(rows, weight))
            product = table.T @ scaled
            return np.asarray(product.todense() if issparse(product) else product)
        return np.asarray(rows.T @ (rows * weight[:, None]))

    def _into(self, rows: Floats, vector: Floats) -> Floats:
        """Return for each node the product of its row with a vector."""
        if rows.ndim == 1 and not self.cells.dense:
            return self.cells.by_leaf(rows * vector[self.cells.point])
        return np.asarray((self.cells.table(rows) if rows.ndim == 1 else rows) @ vector)

    def _out_of(self, rows: Floats, x: Floats) -> Floats:
        """Return the sum of rows, each times a value of its node."""
        if rows.ndim == 1 and not self.cells.dense:
            return sum_by(self.cells.point, rows * x[self.cells.leaf], self.cells.points)
        return np.asarray(x @ (self.cells.table(rows) if rows.ndim == 1 else rows))

    def _factor(self, at: _Pass) -> None:
        """Factor H and what is left of it: d, B and C of each column, and S = chol chol'."""
        cells, columns = self.cells, self.columns
        Q = range(len(columns))
        leaf = cells.by_leaf(at.w)
        d: list[Floats] = []
        B: list[Floats] = []
        C: dict[tuple[int, int], Floats] = {}
        for c in Q:
            one = columns[c]
            x = at.w * (one.z[cells.point] if one.flat is None else one.flat)
            for e in range(c, len(columns)):
                other = columns[e]
                if one.flat is not None and other.flat is not None:
                    sums = one.flat * other.flat * leaf
                else:
                    sums = cells.by_leaf(x * other.z[cells.point])
                sums = cells.rise(sums, 0, one.level)
                if e == c:
                    d.append(1 + sums)
                else:
                    C[c, e] = sums
            B.append(self._rows(x, one.level))
        by_point = cells.by_point(at.w)
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
        self.d, self.B, self.C, self.CE, self.chol = d, B, C, CE, chol

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
            solved[:size] = cho_solve((self.chol[:size, :size], True), rest[:size], check_finite=False)
        vector = self.TL @ solved
        found: list[Floats] = [np.empty(0)] * len(columns)
        for c in reversed(range(len(columns))):
            y = g[c] - self._into(self.B[c], vector)
            for e in range(c + 1, len(columns)):
                y -= self.C[c, e] * found[e][cells.up[columns[c].level, columns[e].level]]
            found[c] = y / self.d[c]
        return found, solved

    # The mode

    def _set(self, theta: Floats) -> None:
        """Put Lambda at theta, and the modes to what they should be near there."""
        ratio = np.clip(np.abs(self.theta) / np.maximum(np.abs(theta), 1e-8), *RANGE)
        self.theta = np.array(theta)
        self.columns = self._columns(theta)
        self.L2 = self._rest_factor(theta)
        self.TL, self.PL = self._scaled(self.T), self._scaled(self.P)
        diagonal = {j: parameter for i, j, parameter in self.places if i == j}
        self.u = [u * ratio[diagonal[c]] for c, u in enumerate(self.u)]
        for rows, columns, parameter in self.rest_places:
            if (rows == columns).all():
                self.tail[rows] *= ratio[parameter]

    def _find_mode(self, *, joint: bool) -> _Pass:
        """Move the modes (with `joint`, beta too) to the maximum by Newton's method, and factor H there."""
        cells, columns, q2 = self.cells, self.columns, self.q2
        prior = np.concatenate([np.ones(q2), self.model.prior])
        u, tail, before, last = self.u, self.tail, np.inf, False
        step: tuple[list[Floats], Floats] = ([], tail)
        for number in range(MOST_PASSES):
            at = self._pass(self._predict(u, tail))
            self.passes += 1
            self._factor(at)
            if last:
                break
            right = [x - v for x, v in zip(self._by_column(at.r), u, strict=True)]
            low = self.PL.T @ cells.by_point(at.r) - prior * tail
            moves, end = self._solve(right, low, joint=joint)
            decrement = sum(
                float(cells.weight[c.level] @ (x * g)) for c, x, g in zip(columns, moves, right, strict=True)
            ) + float(end @ low)
            if decrement > before and decrement > TIGHT and number < MOST_PASSES - 3:  # too far: half the step back
                step = ([x / 2 for x in step[0]], step[1] / 2)
                u, tail = [a - b for a, b in zip(u, step[0], strict=True)], tail - step[1]
                continue
            before, step = decrement, (moves, end)
            u, tail = [a + b for a, b in zip(u, moves, strict=True)], tail + end
            last = decrement < TIGHT if number else decrement < TIGHT**2
        self.u, self.tail = u, tail
        self.mode_found = last
        return at

    # Value and gradient

    @property
    def beta(self) -> Floats:
        """The fixed effects of the last evaluation."""
        return self.tail[self.q2 :]

    def evaluate(self, theta: Floats, beta: Floats | None = None, *, slopes: bool = True) -> tuple[float, Floats]:
        """Return F and its gradient by (theta, beta); without `beta`, which is then at the joint mode, by theta."""
        self.evaluations += 1
        joint = beta is None
        if beta is not None:
            self.tail = np.concatenate([self.tail[: self.q2], beta])
        self._set(theta)
        at = self._find_mode(joint=joint)
        cells, eta = self.cells, self._predict(self.u, self.tail)
        # s eta - n log(1 + e^eta) = (s - n) eta + n log mu
        loglik = float(cells.mass @ ((cells.s - cells.n) * eta + cells.n * np.log(at.mu)))
        value = (
            -2 * loglik + float(self.tail[: self.q2] @ self.tail[: self.q2]) + float(self.model.prior @ self.beta**2)
        )
        for column, u, d in zip(self.columns, self.u, self.d, strict=True):
            value += float(cells.weight[column.level] @ (u**2 + np.log(d)))
        value += 2 * float(np.log(np.diag(self.chol)[: self.q2]).sum())
        return value, self._slopes(at, joint=joint) if slopes else np.empty(0)

    def _slopes(self, at: _Pass, *, joint: bool) -> Floats:
        cells, q2 = self.cells, self.q2
        gradient, by_weight = self._differentiate_determinant(at)
        self.pull = gradient.copy()
        c = at.w * (1 - 2 * at.mu) * by_weight / cells.mass
        v, end = self._solve(self._by_column(c), self.PL.T @ cells.by_point(c), joint=joint)
        through = self._predict_change(v, end)
        e = c - 2 * at.r - at.w * through
        for i, j, parameter in self.places:
            level = self.levels[j]
            z = self.raw[:, i]
            raw = (z[0], z[0]) if self.flat[j] else (z[cells.point], z[cells.point])
            left, right = cells.by_node(e * raw[0], level), cells.by_node(at.r * raw[1], level)
            gradient[parameter] += float(cells.weight[level] @ (self.u[j] * left + v[j] * right))
        by_point = self.P.T @ np.stack([cells.by_point(e), cells.by_point(at.r)], axis=1)
        for rows, columns, parameter in self.rest_places:
            gradient[parameter] += float(self.tail[columns] @ by_point[rows, 0] + end[columns] @ by_point[rows, 1])
        if joint:
            return gradient
        return np.concatenate([gradient, by_point[q2:, 0] + 2 * self.model.prior * self.beta])

    def _predict_change(self, u: Sequence[Floats], tail: Floats) -> Floats:
        cells = self.cells
        change = (self.PL @ tail)[cells.point]
        for column, values in zip(self.columns, u, strict=True):
            part = values[cells.cellnode[column.level]]
            change += part * (column.flat if column.flat is not None else column.z[cells.point])
        return np.asarray(change)

    def _differentiate_determinant(self, at: _Pass) -> tuple[Floats, Floats]:
        """Return the gradient of log|H| by theta with w held, and by the w of each cell."""
        cells, columns, q2 = self.cells, self.columns, self.q2
        gradient = np.zeros(self.model.parameters)
        inverse = cho_solve((self.chol[:q2, :q2], True), np.eye(q2)) if q2 else np.empty((0, 0))
        TL = self.TL[:, :q2]
        by_S = TL @ inverse @ TL.T  # of log|H| by what is left of the others' matrix
        if q2:
            back = self.T[:, :q2].T @ (2 * self.CE @ TL @ inverse)
            for rows, cols, parameter in self.rest_places:
                gradient[parameter] += float(back[rows, cols].sum())
        by_d, by_B, by_C = self._run_back(by_S)
        E = None if self.direct else self.P
        by_point = np.diag(by_S) if E is None else np.einsum("ij,ij->i", E @ by_S, E)
        by_w = np.asarray(cells.mass * by_point[cells.point], dtype=np.float64)
        for c, column in enumerate(columns):
            others = self._at_cells(by_B[c], column.level)
            z = column.z[cells.point] if column.flat is None else column.flat
            own = by_d[c][cells.cellnode[column.level]] * z
            by_w += (own + others) * z
            total = 2 * own + others
            for e in range(c):
                total = total + self._across(by_C[e, c], e, c)
            for e in range(c + 1, len(columns)):
                pair = self._across(by_C[c, e], e, c)
                by_w += pair * z
                total = total + pair
            total = total * at.w
            for i, j, parameter in self.places:
                if j == c:
                    gradient[parameter] += float(total @ self.raw[cells.point, i])
        return gradient, by_w

    def _across(self, adjoint: Floats, e: int, c: int) -> Floats:
        """Return at the cells the adjoint of the product of two columns, times the one that is not `c`."""
        cells, other = self.cells, self.columns[e]
        z = other.z[cells.point] if other.flat is None else other.flat
        return np.asarray(adjoint[cells.cellnode[min(self.levels[e], self.levels[c])]] * z)

    def _at_cells(self, rows: Floats, level: int) -> Floats:
        """Return for each cell the product of its node's row with its point."""
        cells = self.cells
        if rows.ndim == 1:
            return rows
        if self.direct:
            return rows[cells.cellnode[level], cells.point]
        if len(rows) * cells.points <= 4 * len(cells.s):
            return np.asarray((rows @ self.P.T)[cells.cellnode[level], cells.point])
        return np.asarray(np.einsum("ij,ij->i", rows[cells.cellnode[level]], self.P[cells.point]))

    def _run_back(self, by_S: Floats) -> tuple[list[Floats], list[Floats], dict[tuple[int, int], Floats]]:
        """Return the derivatives of log|H| by d, B and C of each column, before anything was eliminated."""
        cells, columns = self.cells, self.columns
        by_d: list[Floats] = [np.empty(0)] * len(columns)
        by_B: list[Floats] = [np.empty(0)] * len(columns)
        by_C: dict[tuple[int, int], Floats] = {}
        for c in reversed(range(len(columns))):
            low, d, B = columns[c].level, self.d[c], self.B[c]
            mass = cells.weight[low]
            if B.ndim == 1:
                table = np.asarray(cells.table(B) @ by_S)
                across = table.ravel() if cells.dense else table[cells.leaf, cells.point]
            else:
                across = B @ by_S
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

    # What the optimum implies

    def precision(self) -> Floats:
        """Return the precision of the fixed effects, random effects eliminated and theta as known."""
        low = self.chol[self.q2 :, self.q2 :]
        return np.asarray(low @ low.T)


def _starts(widths: Sequence[int]) -> list[int]:
    return [sum(widths[:i]) for i in range(len(widths))]
