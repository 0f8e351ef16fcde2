"""Profile likelihood of standard deviations, correlations and shares of variance.

The criterion not profiled over sigma is, with s = log sigma,

    d(theta, s) = D(theta) + dof (log 2 pi + 2 s) + r^2(theta) exp(-2 s),

D the log-determinants. The limits of a quantity c are the two values at which the minimum of d with c held lies
chi2(level, 1) above the optimum (Venzon & Moolgavkar 1988; lme4's ``profile``).

A profile is followed in steps. The root z of the rise is all but linear in c, and its slope is known from Lagrange's
multiplier, so that three or four values of c find a limit. Each starts where the last one ended, with the Hessian
seen so far, and takes a few steps along the surface on which c is held; to stay on it needs no evaluation of d.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.distributions import chi2_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.optimization import update_hessian

CLOSE = 1e-3  # of the root of the rise, from which on the tangent finds the limit
ENOUGH = 1e-5  # expected further decrease of d at a held value
MOST_VALUES, MOST_STEPS, MOST_TRIES = 40, 40, 8  # of a limit, of a value, of a step
FARTHEST = 8.0  # times that a value's coordinate may grow at once
STRETCH = 3.0  # a step changes no parameter by more than this times itself (or 0.1)
FLAT = 1e-10  # eigenvalues of the scaled curvature below this times the largest are treated as this
NIL, OFF_ZERO = 0.005, (0.1, 0.03, 0.01)  # relative standard deviations that may be saddles, and where less is sought
LEAST = 0.01  # what the proportions of parameters near zero are taken from
ON = 1e-12  # how nearly a value is held, relative to it


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A function of (theta, s) whose limits are wanted."""

    value: Callable[[Floats], float]  # the function
    slope: Callable[[Floats], Floats]  # its gradient, shape (k + 1,)
    lowest: float  # between which it lies
    highest: float
    # rows that (theta, s) is orthogonal to where the quantity is zero, its lowest; None where it has no such end
    nil: Floats | None = None
    shown: Callable[[float], float] = float  # what a value is told as


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """The minimum with a quantity held: where it lies, the root of its rise, and how the quantity grows with that."""

    value: float
    point: Floats
    gradient: Floats
    hessian: Floats
    z: float
    growth: float


class Profile:
    """The criterion about an optimum, (theta, log sigma), along which limits are looked for.

    `curvature` is the Hessian of the criterion profiled over sigma.
    """

    def __init__(self, criterion: Criterion, optimum: Floats, curvature: Floats, *, level: float) -> None:
        self.unprofiled: Callable[[Floats], tuple[float, Floats]] = criterion.unprofiled
        self.optimum, self.lower = optimum, criterion.moments.lower
        self.reach = math.sqrt(chi2_quantile(level, 1))
        self.best, self.gradient = criterion.unprofiled(optimum)
        by_residual = criterion.parts(optimum[:-1])[1]
        dof, k = criterion.dof, len(curvature)
        H = np.empty((k + 1, k + 1))
        H[:k, k] = H[k, :k] = -2 * dof * by_residual
        H[k, k] = 4 * dof
        H[:k, :k] = curvature + np.outer(H[:k, k], H[k, :k]) / H[k, k]
        self.hessian = _raise_flat(H)

    def interval(self, quantity: Quantity, reaches: tuple[float, float] | None = None) -> tuple[float, float]:
        """Return the interval of a quantity, from its lower to its upper limit, as they are told.

        `reaches` are the roots of the rise at which they lie, where those are not the chi-square's.
        """
        low, high = reaches or (self.reach, self.reach)
        return quantity.shown(self._limit(quantity, -1, low)), quantity.shown(self._limit(quantity, 1, high))

    def _limit(self, quantity: Quantity, side: int, reach: float) -> float:
        """Return where the root of the rise reaches its quantile on one side, or the end of the range.

        Values are stretched by an inverse hyperbolic sine: standard deviations of few levels reach far up.
        """
        a = quantity.slope(self.optimum)
        growth = math.sqrt(max(2 * float(a @ _solve(self.hessian, a)), 0.0))
        here = quantity.value(self.optimum)
        growth = growth or max(abs(here), 1e-3)
        last = inside = _Held(here, self.optimum, self.gradient, self.hessian, 0.0, growth)
        outside: _Held | None = None
        unit = max(abs(here), growth)
        end = quantity.lowest if side < 0 else quantity.highest
        for _ in range(MOST_VALUES):
            aim = self._aim(last, inside, outside, unit, side * reach)
            aim = max(aim, end) if side < 0 else min(aim, end)
            last = self._hold(quantity, last if outside is None else inside, aim)  # outside, H may have gone astray
            if abs(last.z - reach) < CLOSE * reach:
                found = last.value + side * (reach - last.z) * last.growth
                return max(found, end) if side < 0 else min(found, end)
            if last.z < reach:
                if aim == end:
                    return end
                inside = last
            else:
                outside = last
            if outside is not None and abs(outside.value - inside.value) <= 1e-10 * unit:
                return outside.value
        return end if outside is None else outside.value

    @staticmethod
    def _aim(last: _Held, inside: _Held, outside: _Held | None, unit: float, root: float) -> float:
        """Return the value to be tried next: along the tangent, or through both sides where it leaves them.

        `root` is that of the rise that is looked for, below zero where it is the lower limit's.
        """
        reach, side = abs(root), math.copysign(1, root)
        u = math.asinh(last.value / unit)
        rate = last.growth / math.hypot(unit, last.value)  # of the stretched value
        u += side * min((reach - last.z) * rate, FARTHEST)
        if outside is None:
            return unit * math.sinh(u)
        low, high = (math.asinh(held.value / unit) for held in (inside, outside))
        share = (u - low) / (high - low) if high != low else 0.5
        if not 0.02 < share < 0.98:
            part = (reach - inside.z) / (outside.z - inside.z)
            share = min(max(part, 0.1), 0.9) if last is not outside or part < 0.9 else 0.5
        return unit * math.sinh(low + share * (high - low))

    def _hold(self, quantity: Quantity, start: _Held, target: float) -> _Held:
        """Return the minimum of the criterion with a quantity held at `target`."""
        surface = _Surface(quantity, target)
        H, point = start.hessian, surface.start(start.point, start.hessian)
        if not surface.holds(point):
            H, point = self.hessian, surface.start(self.optimum, self.hessian)
        value, gradient = self._evaluate(point)
        for _ in range(MOST_STEPS):
            step, decrease, multiplier = surface.step(point, gradient, H)
            if not math.isfinite(decrease) and H is not self.hessian:
                H = self.hessian  # a step that overflows leads nowhere
                continue
            moved = self._search(surface, point, value, step) if decrease >= ENOUGH else None
            moved = moved or self._leave_saddle(surface, point, value, H)
            if moved is None and decrease >= ENOUGH and H is not self.hessian:
                H = self.hessian  # what was seen on the way misleads here
                continue
            if moved is None:
                break
            before = gradient - multiplier @ surface.rows(point)
            after = moved[2] - multiplier @ surface.rows(moved[0])
            with np.errstate(all="ignore"):
                updated = update_hessian(H, moved[0] - point, after - before)
            H = updated if np.isfinite(updated).all() else self.hessian
            point, value, gradient = moved
        left = decrease if decrease < CLOSE else 0.0  # more is not to be had, or the step would have been taken
        z = math.sqrt(max(value - left - self.best, 0.0))
        pull = abs(float(multiplier[0])) if len(multiplier) == 1 else math.inf
        growth = 2 * z / pull if pull > 0 and z > 0 else start.growth
        return _Held(target, point, gradient, H, z, growth)

    def _search(
        self, surface: _Surface, point: Floats, value: float, step: Floats
    ) -> tuple[Floats, float, Floats] | None:
        """Return the first point along the step, brought back to the surface, that is lower; None: there is none."""
        length = _longest(point, step)
        for _ in range(MOST_TRIES):
            moved = surface.bring(point + length * step)
            found, gradient = self._evaluate(moved)
            if found < value:
                return moved, found, gradient
            length *= 0.3
        return None

    def _leave_saddle(
        self, surface: _Surface, point: Floats, value: float, H: Floats
    ) -> tuple[Floats, float, Floats] | None:
        """Return a lower point where standard deviations that are zero are not; None: they are better zero.

        Zero is stationary whatever the data (see `optimization`), so that no step leads away from it.
        """
        lower = self.lower
        nil = np.append((lower == 0) & (np.abs(point[:-1]) < NIL), False)
        signs = (1, -1) if (lower < 0).any() else (1,)  # beside a covariance the two ways differ
        falling = nil & False
        for sign in signs if nil.any() else ():
            moved = surface.bring(np.where(nil, sign * NIL, point))
            gradient = self._evaluate(moved)[1]
            falling |= nil & (sign * (gradient - surface.pull(moved, gradient, H)) < 0)
        for size in OFF_ZERO if falling.any() else ():
            there = [surface.bring(np.where(falling, sign * size, point)) for sign in signs]
            found, gradient, moved = min(((*self._evaluate(each), each) for each in there), key=lambda each: each[0])
            if found < value - ENOUGH:
                return moved, found, gradient
        return None

    def _evaluate(self, point: Floats) -> tuple[float, Floats]:
        try:
            return self.unprofiled(point)
        except (FloatingPointError, np.linalg.LinAlgError, OverflowError):  # a step went astray: send it back
            return math.inf, np.zeros(len(point))


class _Surface:
    """The points at which a quantity has a value."""

    def __init__(self, quantity: Quantity, target: float) -> None:
        self.quantity, self.target = quantity, target
        self.nil = quantity.nil if target == quantity.lowest else None

    def rows(self, point: Floats) -> Floats:
        """Return the gradients of the conditions, shape (conditions, k + 1)."""
        return self.nil if self.nil is not None else self.quantity.slope(point)[None, :]

    def holds(self, point: Floats) -> bool:
        """Return whether the quantity has its value there."""
        if self.nil is not None:
            return True
        return abs(self.target - self.quantity.value(point)) <= ON * max(abs(self.target), 1e-8)

    def start(self, held: Floats, H: Floats) -> Floats:
        """Return a point of the surface from one of another: along the tangent of the profile, then straight to it."""
        if self.nil is None:
            a = self.quantity.slope(held)
            along = _solve(H, a)
            step = np.asarray(along * ((self.target - self.quantity.value(held)) / float(a @ along)), dtype=np.float64)
            held = held + _longest(held, step) * step
        return self.bring(held)

    def bring(self, point: Floats) -> Floats:
        """Return a point of the surface near another, by changes in proportion to the parameters: Newton's method."""
        if self.nil is not None:
            return np.asarray(point - np.linalg.pinv(self.nil) @ (self.nil @ point))
        off = self.target - self.quantity.value(point)
        for _ in range(MOST_STEPS):
            if self.holds(point):
                break
            a = self.quantity.slope(point)
            along = a * np.append(np.maximum(np.abs(point[:-1]), LEAST), LEAST) ** 2
            step = np.asarray(along * (off / float(a @ along)), dtype=np.float64)
            length = _longest(point, step)
            for _ in range(MOST_TRIES):
                moved = point + length * step
                left = self.target - self.quantity.value(moved)
                if abs(left) < abs(off):
                    break
                length *= 0.3
            else:
                break
            point, off = moved, left
        return point

    def pull(self, point: Floats, gradient: Floats, H: Floats) -> Floats:
        """Return the part of a gradient that the conditions hold up."""
        return np.asarray(self.step(point, gradient, H)[2] @ self.rows(point))

    def step(self, point: Floats, gradient: Floats, H: Floats) -> tuple[Floats, float, Floats]:
        """Return Newton's step within the surface, the decrease expected of it, and Lagrange's multipliers."""
        A = self.rows(point)
        solved = _solve(H, np.column_stack([gradient, A.T]))
        with np.errstate(all="ignore"):  # what overflows is for the caller to see
            normal = A @ solved
            if not np.isfinite(normal).all():  # LAPACK would complain on the terminal
                return np.zeros_like(gradient), math.inf, np.zeros(len(A))
            multiplier = np.asarray(np.linalg.lstsq(normal[:, 1:], normal[:, 0], rcond=None)[0], dtype=np.float64)
            step = solved[:, 1:] @ multiplier - solved[:, 0]
            return step, float(-(gradient - multiplier @ A) @ step) / 2, multiplier


def _longest(point: Floats, step: Floats) -> float:
    """Return how much of a step may be taken, at most all of it."""
    most = STRETCH * np.maximum(np.abs(point), 0.1)
    return 1 / max(1.0, float(np.max(np.abs(step) / most)))


def _solve(H: Floats, right: Floats) -> Floats:
    """Return H^-1 right; updates may leave H singular but for rounding, and then its flat directions are raised."""
    try:
        return np.asarray(np.linalg.solve(H, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.solve(_raise_flat(H), right))


def _raise_flat(H: Floats) -> Floats:
    """Return a Hessian without its flat and falling directions: they curve up, if only a little."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))
    values, vectors = np.linalg.eigh(H * scale[:, None] * scale)
    floor = FLAT * max(1.0, float(np.abs(values).max()))
    return np.asarray((vectors * np.maximum(np.abs(values), floor)) @ vectors.T / np.outer(scale, scale))
