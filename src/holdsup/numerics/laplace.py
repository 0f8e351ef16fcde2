"""Laplace's criterion of a logistic mixed model, with its exact gradient.

    s_i ~ Binomial(n_i, mu_i),  logit mu = eta = X beta + Z Lambda(theta) u,  u ~ N(0, I)

With w = n mu (1 - mu), r = s - n mu, z = Z Lambda and H = z'Wz + I, all at the mode of u,

    F(theta, beta) = -2 log L(s | beta, u) + u'u + log|H|.

The gradient of log|H| by w and by z comes from the elimination of `chain` run backwards; docs/maths/logistic.md has
it all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdsup.numerics.chain import Chain, Model, solve_lower
from holdsup.numerics.layout import Floats

TIGHT = 5e-7  # decrement of a step to the mode below which it is no sign of going too far that it grows
TIGHTER = 1e-15  # decrement expected of the next step, of which none is needed
NEAR, SHRINKS = 1e-3, 100.0  # decrement of a level, and shrinkage from step to step, for which known factors will do
MOST_PASSES = 60
FARTHEST = 300.0  # of a linear predictor
RANGE = (0.3, 3.0)  # by how much modes are rescaled when theta moves


@dataclass(slots=True, eq=False)
class _Pass:
    """The cells at one linear predictor."""

    mu: Floats
    w: Floats
    r: Floats


class Laplace(Chain):
    """The criterion as a function of (theta, beta); keeps the modes it found last."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.u = [np.zeros(len(model.cells.weight[level])) for level in self.levels]
        self.tail = np.zeros(self.q2 + self.p)  # modes of the other factors, then beta
        self.theta = np.ones(model.parameters)
        self.evaluations = self.passes = 0
        self.mode_found = True
        self.enough = TIGHTER
        self.size = float(sum(weight.sum() for weight in model.cells.weight)) + self.q2 + self.p
        self.pull = np.zeros(model.parameters)  # of log|H| by theta, w held, at the last gradient

    # One pass over the cells

    def _predict(self, u: Sequence[Floats], tail: Floats) -> Floats:
        """Return the linear predictor at the cells."""
        cells = self.cells
        by_leaf = np.zeros(cells.leaves)
        by_point = self.PL @ tail
        eta = None
        for column, values in zip(self.columns, u, strict=True):
            if column.flat is not None:
                by_leaf += column.flat * (values if column.level == 0 else values[cells.node[column.level]])
            else:
                part = cells.of_nodes(values, column.level) * cells.of_points(column.z)
                eta = part if eta is None else eta + part
        if cells.dense:
            sums = np.add.outer(by_leaf, by_point).ravel()
        else:
            sums = cells.of_nodes(by_leaf, 0)
            sums += cells.of_points(by_point)
        return sums if eta is None else sums + eta

    def _pass(self, eta: Floats) -> _Pass:
        cells = self.cells
        mu = np.negative(np.clip(eta, -FARTHEST, FARTHEST))
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
                found.append(cells.by_node(x * cells.of_points(column.z), column.level))
        return found

    # The mode

    def _set(self, theta: Floats) -> None:
        """Put Lambda at theta, and the modes to what they should be near there."""
        ratio = np.clip(np.abs(self.theta) / np.maximum(np.abs(theta), 1e-8), *RANGE)
        self.theta = np.array(theta)
        self.put_at(theta)
        diagonal = {j: parameter for i, j, parameter in self.places if i == j}
        self.u = [u * ratio[diagonal[c]] for c, u in enumerate(self.u)]
        for rows, columns, parameter in self.rest_places:
            if (rows == columns).all():
                self.tail[rows] *= ratio[parameter]

    def _find_mode(self, *, joint: bool) -> _Pass:
        """Move the modes (with `joint`, beta too) to the maximum, and factor H there.

        Steps are Newton's. To factor H is most of the work, so the factors of an earlier step, or of the last theta,
        are taken as long as the steps shrink fast with them.
        """
        cells, q2 = self.cells, self.q2
        prior = np.concatenate([np.ones(q2), self.model.prior])
        u, tail, before, found = self.u, self.tail, np.inf, False
        step: tuple[list[Floats], Floats] = ([], tail)
        for number in range(MOST_PASSES):
            at = self._pass(self._predict(u, tail))
            self.passes += 1
            if found:
                break
            right = [x - v for x, v in zip(self._by_column(at.r), u, strict=True)]
            low = self.PL.T @ cells.by_point(at.r) - prior * tail
            known = self.factored and number < MOST_PASSES / 2
            if known:
                moves, end = self._solve(right, low, joint=joint)
                decrement, left = self._decrease(moves, right, end, low)
                known = decrement < (before / SHRINKS if number else NEAR * self.size)
                left = decrement**2 / before if number else decrement
            if not known:
                self._factor(at.w)
                moves, end = self._solve(right, low, joint=joint)
                decrement, left = self._decrease(moves, right, end, low)
            if decrement > before and decrement > TIGHT and number < MOST_PASSES - 3:  # too far: half the step back
                step = ([x / 2 for x in step[0]], step[1] / 2)
                u, tail = [a - b for a, b in zip(u, step[0], strict=True)], tail - step[1]
                continue
            before, step, found = decrement, (moves, end), left < self.enough
            u, tail = [a + b for a, b in zip(u, moves, strict=True)], tail + end
        self._factor(at.w)
        self.u, self.tail = u, tail
        self.mode_found = found
        return at

    def _decrease(
        self, moves: Sequence[Floats], right: Sequence[Floats], end: Floats, low: Floats
    ) -> tuple[float, float]:
        """Return the decrement of a step, and about that of the next one: a node's is about its square."""
        decrement, left = float(end @ low), float(end @ low) ** 2
        for level, x, g in zip(self.levels, moves, right, strict=True):
            share = x * g
            decrement += float(self.cells.weight[level] @ share)
            left += float(self.cells.weight[level] @ share**2)
        return decrement, left

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
        cells, eta = self.cells, np.clip(self._predict(self.u, self.tail), -FARTHEST, FARTHEST)
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
        through = self._predict(v, end)
        e = c - 2 * at.r - at.w * through
        for i, j, parameter in self.places:
            level = self.levels[j]
            z = self.raw[:, i]
            raw = z[0] if self.flat[j] else cells.of_points(z)
            left, right = cells.by_node(e * raw, level), cells.by_node(at.r * raw, level)
            gradient[parameter] += float(cells.weight[level] @ (self.u[j] * left + v[j] * right))
        by_point = self.P.T @ np.stack([cells.by_point(e), cells.by_point(at.r)], axis=1)
        for rows, columns, parameter in self.rest_places:
            gradient[parameter] += float(self.tail[columns] @ by_point[rows, 0] + end[columns] @ by_point[rows, 1])
        if joint:
            return gradient
        return np.concatenate([gradient, by_point[q2:, 0] + 2 * self.model.prior * self.beta])

    def _differentiate_determinant(self, at: _Pass) -> tuple[Floats, Floats]:
        """Return the gradient of log|H| by theta with w held, and by the w of each cell."""
        cells, columns, q2 = self.cells, self.columns, self.q2
        gradient = np.zeros(self.model.parameters)
        inverse = solve_lower(self.chol[:q2, :q2], np.eye(q2)) if q2 else np.empty((0, 0))
        TL = self.TL[:, :q2]
        by_S = TL @ inverse @ TL.T  # of log|H| by what is left of the others' matrix
        if q2:
            back = self.T[:, :q2].T @ (2 * self.CE @ TL @ inverse)
            for rows, cols, parameter in self.rest_places:
                gradient[parameter] += float(back[rows, cols].sum())
        by_d, by_B, by_C = self.run_back(by_S)
        E = None if self.direct else self.P
        by_point = np.diag(by_S) if E is None else np.einsum("ij,ij->i", E @ by_S, E)
        by_w = np.asarray(cells.mass * cells.of_points(by_point), dtype=np.float64)
        for c, column in enumerate(columns):
            others = self._at_cells(by_B[c], column.level)
            z = cells.of_points(column.z) if column.flat is None else column.flat
            own = cells.of_nodes(by_d[c], column.level) * z
            by_w += (own + others) * z
            total = 2 * own + others
            for e in range(c):
                total = total + self._beside(by_C[e, c], e, c)
            for e in range(c + 1, len(columns)):
                pair = self._beside(by_C[c, e], e, c)
                by_w += pair * z
                total = total + pair
            total = total * at.w
            for i, j, parameter in self.places:
                if j == c:
                    z = self.raw[:, i]
                    gradient[parameter] += float(z[0] * total.sum() if self.flat[j] else total @ cells.of_points(z))
        return gradient, by_w

    def _beside(self, adjoint: Floats, e: int, c: int) -> Floats:
        """Return at the cells the adjoint of the product of two columns, times the one that is not `c`."""
        cells, other = self.cells, self.columns[e]
        z = cells.of_points(other.z) if other.flat is None else other.flat
        return np.asarray(cells.of_nodes(adjoint, min(self.levels[e], self.levels[c])) * z)

    @cached_property
    def at_cells(self) -> Floats:
        """The columns of the others at the cells, shape (leaves, cells, q), or (1, cells, q) where leaves differ."""
        cells = self.cells
        return self.P[cells.point].reshape(cells.leaves if cells.width else 1, -1, self.P.shape[1])

    def _at_cells(self, rows: Floats, level: int) -> Floats:
        """Return for each cell the product of its node's row with its point."""
        cells = self.cells
        if rows.ndim == 1:
            return rows
        if self.direct:
            return cells.at_cells(rows, level)
        if len(rows) * cells.points <= 4 * len(cells.s):
            return cells.at_cells(rows @ self.P.T, level)
        if level == 0 and cells.width:  # one product a leaf
            return np.asarray(self.at_cells @ rows[:, :, None]).ravel()
        return np.asarray(np.einsum("ij,ij->i", rows[cells.cellnode[level]], self.at_cells.reshape(len(cells.n), -1)))
