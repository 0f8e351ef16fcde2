"""The likelihood of right and wrong by quadrature: items and systems within items exactly, the rest by Laplace.

Given the effects v of runs and datasets the likelihood is a product over items, and given an item's effect x the
effects of systems on it are independent:

    G(o) = sum_j log int N(x; 0, s1^2) prod_(units p of j) f_p(x) dx,   f_p(x) = int N(t; 0, s2^2) e^(g_p(x + t)) dt,

o = X beta + Z Lambda v at the points and g_p the log-likelihood of a unit's cells. Units with the same cells share f_p:
it is computed once for each *kind* of unit on a grid that all items share, by the trapezoid's rule, whose error shows
when the spacing is halved. The others are added by Laplace's approximation, with the exact Hessian of G:

    F = -2 G + v'v + log|I - Lambda'Z'G''Z Lambda|   at its mode (the gradient: docs/maths/logistic.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix

from holdsup.numerics.chain import Model
from holdsup.numerics.laplace import Laplace
from holdsup.numerics.layout import Floats
from holdsup.numerics.outcomes import sum_by
from holdsup.numerics.posteriors import PairwiseVariation, SharedVariation, find_sets, find_units

SPACING = 0.8  # of the grid, in standard deviations of the narrowest posterior
REACH = 8.5  # standard deviations that the grid covers on each side
LATTICE = 0.35  # standard deviation of both effects from which their grids are one
INNER = 9  # nodes of Gauss and Hermite's for smaller ones
MOST_KNOWN = 10.0  # of a unit's effect (the information of its cells), for which these are enough
MOST_WORK = 1e7  # numbers of one evaluation, beyond which it is not worth its time
MOST_NODES = 3000  # of items: posteriors 140 times narrower than the spread, for which Laplace is as good as exact
MOST_OTHERS, MOST_STEPS = 300, 50  # effects outside, and steps to their mode
ENOUGH = 1e-13  # decrease of a step to the mode of v after which it is found
ROUGHLY = 1e-8  # the same where the gradient tells what the last step will change


@cache
def normal_nodes(count: int) -> tuple[Floats, Floats]:
    """Return Gauss and Hermite's nodes and weights for a standard normal."""
    nodes, weight = np.polynomial.hermite_e.hermegauss(count)
    return np.asarray(nodes), np.asarray(weight / weight.sum())


def _trapezoid(spacing: float) -> tuple[Floats, Floats]:
    """Return equally spaced nodes, and their weights for a standard normal."""
    steps = int(np.ceil(REACH / spacing))
    nodes = spacing * np.arange(-steps, steps + 1)
    return np.asarray(nodes), np.asarray(np.exp(-(nodes**2) / 2) * (spacing / np.sqrt(2 * np.pi)))


class _Direct:
    """A grid for items, and nodes about each of its values for the units: any standard deviations, zero too."""

    def __init__(self, outer: float, inner: float | None, spacing: float, step: float = 0.0, nodes: int = 0) -> None:
        self.alone = inner is None  # there is no inner integral
        self.u, weight = _trapezoid(spacing)
        self.log_weight = np.log(weight)
        one = (np.zeros(1), np.ones(1))
        self.t, weight = one if inner is None else normal_nodes(nodes) if nodes else _trapezoid(step)
        self.weight = weight / weight.sum()
        self.y = np.add.outer(outer * self.u, (inner or 0.0) * self.t).ravel()

    def integrate(self, x: Floats) -> Floats:
        return np.asarray(x.reshape(*x.shape[:-1], len(self.u), len(self.t)) @ self.weight)

    def spread(self, x: Floats) -> Floats:
        return np.asarray((x[..., None] * self.weight).reshape(*x.shape[:-1], -1))

    def slopes(self, by_y: Floats, by_weight: Floats, by_kernel: Floats | None) -> list[float]:
        by_node = by_y.reshape(len(self.u), len(self.t))
        return [float(by_node.sum(axis=1) @ self.u), float(by_node.sum(axis=0) @ self.t)]


class _Lattice:
    """One grid of the linear predictor for items and units: the inner integral is a convolution."""

    alone = False

    def __init__(self, outer: float, inner: float, spacing: float, step: float) -> None:
        self.outer, self.inner = outer, inner
        every = max(1, int(spacing * outer / step))
        q = int(np.ceil(REACH * outer / (every * step)))
        reach = q * every + int(np.ceil(REACH * inner / step))
        self.u = every * step * np.arange(-q, q + 1)  # the items' effects, in logits
        self.y = step * np.arange(-reach, reach + 1)
        self.log_weight = np.log(every * step / outer) - (self.u / outer) ** 2 / 2 - np.log(2 * np.pi) / 2
        self.apart = np.subtract.outer(self.y, self.u)
        self.kernel = np.exp(-((self.apart / inner) ** 2) / 2) * (step / inner / np.sqrt(2 * np.pi))

    def integrate(self, x: Floats) -> Floats:
        return np.asarray(x @ self.kernel)

    def spread(self, x: Floats) -> Floats:
        return np.asarray(x @ self.kernel.T)

    def slopes(self, by_y: Floats, by_weight: Floats, by_kernel: Floats | None) -> list[float]:
        assert by_kernel is not None
        first = by_weight @ (self.u**2 / self.outer**3 - 1 / self.outer)
        second = (by_kernel * self.kernel * (self.apart**2 / self.inner**3 - 1 / self.inner)).sum()
        return [float(first), float(second)]


@dataclass(slots=True, eq=False)
class _State:
    """The integrals at one linear predictor."""

    value: float  # G
    rho: Floats  # residuals at the nodes, shape (P, R, M)
    w: Floats  # their variances
    mu: Floats  # probabilities
    E: Floats  # likelihood of each kind at the nodes, scaled, shape (P, M)
    f: Floats  # integrals, scaled alike, shape (P, Q)
    omega: Floats  # posterior of each item on the grid, shape (items, Q)
    share: Floats  # summed over the items that have a kind, shape (P, Q)
    a: Floats  # mean residuals given an item's effect, shape (P, R, Q)

    def bend(self) -> Floats:
        """Return the derivatives of the variances."""
        return np.asarray(self.w * (1 - 2 * self.mu))


class Quadrature:
    """The criterion as a function of (theta, beta): of one factor, or of one within another, and others outside."""

    def __init__(self, model: Model, laplace: Laplace) -> None:
        """Take a model, and Laplace's criterion of it evaluated somewhere near."""
        self.model, self.laplace, self.units = model, laplace, find_units(model.cells)
        self.sets = find_sets(self.units)
        (P, R), K = self.units.point.shape, model.cells.points
        ends = np.arange(0, P * R + 1, R)
        self.trials = csr_matrix((self.units.n.ravel(), self.units.point.ravel(), ends), shape=(P, K))
        chain = sorted((t for t in model.terms if t.level is not None), key=lambda t: -(t.level or 0))
        self.chain = [t.places[0][2] for t in chain]  # parameters: of items, then of units
        # what the narrowest posteriors know of an effect, for the spacing
        at = np.maximum(np.abs(laplace.theta[self.chain[::-1]]), 1e-3)
        known = [(d.max() - 1) / t**2 for d, t in zip(laplace.d, at, strict=True)][::-1]
        self.known = [max(float(x), 1e-6) for x in known]
        self.Z = laplace.rest[self.units.point]  # shape (P, R, q2)
        self.q2, self.v = laplace.q2, laplace.tail[: laplace.q2].copy()
        self.curvature: Floats | None = None
        self.refinement = 1.0
        self.evaluations = 0
        self.nodes = (0, 0)

    def possible(self) -> bool:
        """Return whether posteriors are wide enough for a grid."""
        return len(self._grid(self.laplace.theta).u) <= MOST_NODES

    def worth(self) -> bool:
        """Return whether an evaluation is cheap enough."""
        if self.q2 > MOST_OTHERS or not self.possible():
            return False
        grid = self._grid(self.laplace.theta)
        P, R = self.units.point.shape
        return bool(max(P * R * len(grid.y) * (1 + self.q2 / 10), self.units.has.nnz * len(grid.u) / 4) <= MOST_WORK)

    def _grid(self, theta: Floats) -> _Direct | _Lattice:
        sizes = np.abs(theta[self.chain])
        widths = [1 / np.sqrt(1 + s**2 * known) for s, known in zip(sizes, self.known, strict=True)]
        spacing = SPACING * widths[0] / self.refinement
        if len(sizes) == 1:
            return _Direct(sizes[0], None, min(spacing, 2 / self.refinement / max(sizes[0], 2.0)))
        step = SPACING * widths[1] / self.refinement
        if sizes.min() < LATTICE:
            few = sizes[1] < LATTICE and self.known[1] < MOST_KNOWN
            return _Direct(sizes[0], sizes[1], spacing, step, int(INNER * np.sqrt(self.refinement)) if few else 0)
        return _Lattice(sizes[0], sizes[1], spacing, min(step * sizes[1], spacing * sizes[0]))

    def _integrate(self, grid: _Direct | _Lattice, o: Floats) -> _State:
        units = self.units
        eta = np.add.outer(o, grid.y)  # at the points, which are fewer than the cells of all kinds
        low = np.exp(-np.abs(eta))
        mu = np.where(eta > 0, 1.0, low) / (1 + low)
        soft = np.maximum(eta, 0.0) + np.log1p(low)
        log_e = np.multiply.outer(units.s.sum(axis=1), grid.y) - self.trials @ soft
        log_e += (units.s * o[units.point]).sum(axis=1)[:, None]
        if grid.alone:  # without an inner integral nothing may underflow
            top, E = log_e, np.ones_like(log_e)
            f = E
        else:
            top = log_e.max(axis=1, keepdims=True)
            E = np.exp(log_e - top)
            f = np.maximum(grid.integrate(E), 1e-300)
        logs = units.table @ (np.log(f) + top) + grid.log_weight
        peak = logs.max(axis=1, keepdims=True)
        omega = np.exp(logs - peak)
        total = omega.sum(axis=1, keepdims=True)
        omega /= total
        value = float(units.mass @ (np.log(total) + peak)[:, 0])
        mu = mu[units.point]
        expected = units.n[:, :, None] * mu
        rho, w = units.s[:, :, None] - expected, expected * (1 - mu)
        share = np.asarray(units.table.T @ (omega * units.mass[:, None]))
        a = rho if grid.alone else grid.integrate(E[:, None, :] * rho) / f[:, None, :]
        return _State(value, rho, w, mu, E, f, omega, share, a)

    def _at_points(self, x: Floats) -> Floats:
        """Return the sums over points of what kinds have, shape (P, R)."""
        return sum_by(self.units.point.ravel(), x.ravel(), self.model.cells.points)

    def _hessian(self, at: _State, grid: _Direct | _Lattice) -> Floats:
        """Return Z'G''Z, by the law of total covariance: cells within units, units within items, items."""
        over = at.E * grid.spread(at.share / at.f)  # posterior mass of each node
        inside = np.zeros((*at.rho.shape[:2], at.rho.shape[1]))
        if not grid.alone:
            inside = (at.rho * over[:, None, :]) @ at.rho.swapaxes(1, 2)
            inside -= (at.a * at.share[:, None, :]) @ at.a.swapaxes(1, 2)
        diagonal = np.arange(inside.shape[1])
        inside[:, diagonal, diagonal] -= (at.w * over[:, None, :]).sum(axis=2)
        H = np.tensordot(self.Z, inside @ self.Z, axes=((0, 1), (0, 1)))
        self.variation = self._vary(at)
        return np.asarray(H + self.variation.total())

    def _vary(self, at: _State) -> PairwiseVariation | SharedVariation:
        if self.sets:
            return SharedVariation(self.units, self.sets, self.Z, at.omega, at.a)
        return PairwiseVariation(self.units, self.Z, at.omega, at.a)

    def _mode(self, grid: _Direct | _Lattice, fixed: Floats, enough: float) -> _State:
        """Move v to the maximum of G - v'v/2; steps by the curvature known so far while they shrink.

        The last step, which would bring less than `enough`, is left to do.
        """
        Z = self.laplace.rest
        before, fresh, self.left = np.inf, False, np.zeros(self.q2)
        for _ in range(MOST_STEPS):
            at = self._integrate(grid, fixed + Z @ self._scale(self.v))
            if not self.q2:
                return at
            gradient = self._scale_back(Z.T @ self._at_points((at.a * at.share[:, None, :]).sum(axis=2))) - self.v
            if self.curvature is None or fresh:
                H = np.eye(self.q2) - self._scale_back(self._scale_back(self._hessian(at, grid)).T)
                values, vectors = np.linalg.eigh((H + H.T) / 2)
                self.curvature = (vectors * np.maximum(np.abs(values), 0.1)) @ vectors.T
            step = np.linalg.solve(self.curvature, gradient)
            decrease = float(step @ gradient)
            if decrease < enough:
                self.left = gradient
                break
            fresh = decrease > before / 4
            before = decrease
            self.v = self.v + step * min(1.0, 2 / float(np.abs(step).max()))
        return at

    def _scale(self, v: Floats) -> Floats:
        return np.asarray(self.L2 * v if self.L2.ndim == 1 else self.L2 @ v)

    def _scale_back(self, x: Floats) -> Floats:
        """Return Lambda2' x, for a vector or for the columns of a matrix."""
        if self.L2.ndim == 1:
            return np.asarray(self.L2 * x if x.ndim == 1 else self.L2[:, None] * x)
        return np.asarray(self.L2.T @ x)

    def evaluate(self, theta: Floats, beta: Floats, *, slopes: bool = True) -> tuple[float, Floats]:
        """Return F and its gradient by (theta, beta)."""
        self.evaluations += 1
        model, Z = self.model, self.laplace.rest
        self.L2 = self.laplace.rest_factor(theta)
        grid = self._grid(theta)
        self.nodes = (len(grid.u), len(grid.y))
        at = self._mode(grid, model.X @ beta, ROUGHLY if slopes else ENOUGH)
        value = -2 * at.value + float(self.v @ self.v) + float(model.prior @ beta**2)
        gradient, direction, step = np.zeros(model.parameters), np.zeros(self.q2), np.zeros(self.q2)
        by_o, by_chain = np.zeros(model.cells.points), np.zeros(len(self.chain))
        if self.q2:
            curve = self._hessian(at, grid)
            H = np.eye(self.q2) - self._scale_back(self._scale_back(curve).T)
            self.curvature = (H + H.T) / 2
            factor = cho_factor(self.curvature, lower=True)
            value += 2 * float(np.log(np.diag(factor[0])).sum())
            step = cho_solve(factor, self.left)
            value -= float(step @ self.left)
            if not slopes:
                return value, np.empty(0)
            inverse = cho_solve(factor, np.eye(self.q2))
            full = np.diag(self.L2) if self.L2.ndim == 1 else self.L2
            back = -2 * curve @ full @ inverse
            for rows, columns, parameter in self.laplace.rest_places:
                gradient[parameter] += float(back[rows, columns].sum())
            by_o, by_chain = self._differentiate_determinant(grid, at, full @ inverse @ full.T)
            direction = inverse @ self._scale_back(Z.T @ by_o)
            value += float(by_o @ (Z @ self._scale(step)))
        elif not slopes:
            return value, np.empty(0)
        # the last step to the mode, which is not taken, counts to first order
        rest, more = self._differentiate_integral(grid, at, Z @ self._scale(direction - 2 * step))
        by_o = by_o + rest
        gradient[self.chain] += np.sign(theta[self.chain]) * (by_chain + more)
        by_column = Z.T @ by_o
        score = Z.T @ self._at_points((at.a * at.share[:, None, :]).sum(axis=2))
        self.v = self.v + step
        for rows, columns, parameter in self.laplace.rest_places:
            gradient[parameter] += float(by_column[rows] @ self.v[columns] + score[rows] @ direction[columns])
        return value, np.concatenate([gradient, model.X.T @ by_o + 2 * model.prior * beta])

    def _differentiate_determinant(self, grid: _Direct | _Lattice, at: _State, M: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of -tr(M Z'G''Z) by o and by the standard deviations of the chain."""
        Mp = (self.Z @ M) @ self.Z.swapaxes(1, 2)
        if grid.alone:
            own = Mp[:, :, 0]
            by_logf, by_a, by_weight = self.variation.run_back(M, -own * at.w[:, 0])
            return self._run_back(grid, at, by_logf, by_a, by_weight, (own * at.share * at.bend()[:, 0])[:, None], None)
        spread = Mp @ at.rho
        own = np.einsum("prr->pr", Mp)[:, :, None]
        psi = (spread * at.rho).sum(axis=1) - (own * at.w).sum(axis=1)
        inner = grid.integrate(at.E * psi) / at.f
        turned = Mp @ at.a
        phi = inner - (turned * at.a).sum(axis=1)
        by_logf, by_a, by_weight = self.variation.run_back(M, phi)
        by_phi = -at.share
        by_a = by_a - 2 * by_phi[:, None, :] * turned
        by_f = (by_logf - by_phi * inner) / at.f
        by_psi = at.E * grid.spread(by_phi / at.f)
        extra = 2 * by_psi[:, None, :] * spread * -at.w - own * by_psi[:, None, :] * at.bend()
        return self._run_back(grid, at, by_f, by_a, by_weight, extra, (by_phi / at.f, psi))

    def _differentiate_integral(self, grid: _Direct | _Lattice, at: _State, direction: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of -2 G + direction . dG/do by o and by the standard deviations of the chain."""
        units = self.units
        by_logf, by_a = -2 * at.share, np.zeros_like(at.a)
        by_log = -2 * at.omega * units.mass[:, None]
        if direction.any():
            along = direction[units.point]
            toward = np.asarray(units.table @ (along[:, :, None] * at.a).sum(axis=1))
            toward -= (toward * at.omega).sum(axis=1, keepdims=True)
            moved = at.omega * units.mass[:, None] * toward
            by_log = by_log + moved
            by_logf = by_logf + units.table.T @ moved
            by_a = along[:, :, None] * at.share[:, None, :]
        return self._run_back(grid, at, by_logf / at.f, by_a, by_log.sum(axis=0), None, None)

    def _run_back(
        self, grid: _Direct | _Lattice, at: _State, by_f: Floats, by_a: Floats, by_weight: Floats,
        extra: Floats | None, second: tuple[Floats, Floats] | None,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Return derivatives by o and by the chain's standard deviations, from those by f, a and the grid's weights."""
        if grid.alone:
            by_eta = by_f[:, None] * at.rho - by_a * at.w
            by_eta = by_eta if extra is None else by_eta + extra
            return self._at_points(by_eta.sum(axis=2)), np.array(
                grid.slopes(by_eta.sum(axis=(0, 1)), by_weight, None)[:1]
            )
        by_D = by_a / at.f[:, None, :]
        by_f = by_f - (by_D * at.a).sum(axis=1)
        by_E = grid.spread(by_f)
        spread = grid.spread(by_D)
        by_E = by_E + (spread * at.rho).sum(axis=1)
        if second is not None:
            by_E = by_E + grid.spread(second[0]) * second[1]
        by_eta = (by_E * at.E)[:, None, :] * at.rho - at.E[:, None, :] * spread * at.w
        if extra is not None:
            by_eta = by_eta + extra
        by_kernel = None
        if isinstance(grid, _Lattice):
            by_kernel = at.E.T @ by_f + np.tensordot(at.E[:, None, :] * at.rho, by_D, axes=((0, 1), (0, 1)))
            if second is not None:
                by_kernel = by_kernel + (at.E * second[1]).T @ second[0]
        return self._at_points(by_eta.sum(axis=2)), np.array(grid.slopes(by_eta.sum(axis=(0, 1)), by_weight, by_kernel))
