"""One model fitted to many responses, each search starting from where the first fit ended.

Searches of a small model go side by side: all take their first step, then all that go on their second, on arrays with
a leading axis for the response. They are those of `optimization` without its corners: a response whose search meets
one (no decrease along a step, a saddle that one step does not leave, too many steps) is left to `minimize`, as are
models too large to be held many times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.drawing import Drawn
from holdsup.numerics.elimination import Elimination, Levels, Patterns, SparseLevels
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Moments
from holdsup.numerics.optimization import (
    CERTAIN,
    CLOSE,
    NEAR_ZERO,
    ROUGHLY,
    STRETCH,
    Optimum,
    differentiate,
    minimize,
    newton_step,
    update_hessian,
)

Bools = NDArray[np.bool_]
LARGEST = 64  # columns of M up to which searches go side by side: beyond, LAPACK is busy with one
HELD, CACHED = 2**21, 2**16  # numbers of all responses that are searched together: of the model, and of S alone
FEW = 100  # responses that are searched together even if S is larger
LOOKED_AT = 3  # responses whose curvature is that of all
MOST_STEPS, REFRESH = 40, 8  # steps of a search, and after how many its Hessian is made anew
PATIENT, SHORT = 12, 3  # tries along a step whose Hessian was made here, and along one whose was updated


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """The fits of d responses."""

    theta: Floats  # relative covariance factors, shape (d, k); a column of Lambda may have the other sign
    values: Floats  # criterion, shape (d,)
    converged: Bools  # whether the optimum is a certain one, shape (d,)
    beta: Floats  # fixed effects, shape (d, p); no rows where they were not asked for, as in the following
    covariance: Floats  # of the fixed effects, shape (d, p, p)
    sigma2: Floats  # residual variance, shape (d,)

    @classmethod
    def join(cls, parts: Sequence[Refits]) -> Refits:
        """Return several, one after the other."""
        return cls(*(np.concatenate([getattr(part, name.name) for part in parts]) for name in fields(cls)))


class Start(NamedTuple):
    """Where the search for each response starts, shape (d, k), and about the curvature there."""

    theta: Floats
    curvature: Floats


class Refitter:
    """A model whose response is replaced again and again."""

    def __init__(self, moments: Moments, elimination: Elimination, *, reml: bool, start: Floats) -> None:
        self.criterion = Criterion(moments, reml=reml, elimination=elimination)
        self.diagonal = moments.lower == 0
        self.start = np.array(start)

    def _point(self, theta: Floats, drawn: Drawn) -> Start:
        """Return a point for every response to start from, with the curvature that the first responses have there.

        That of the response in the data would do worse: it is another one where a smaller model is the truth.
        """
        total = np.zeros((len(theta), len(theta)))
        for d in range(min(LOOKED_AT, len(drawn))):
            self.respond(drawn, d)
            total += differentiate(self.criterion, theta, self.criterion.slopes(theta)[1])
        return Start(np.tile(theta, (len(drawn), 1)), total / min(LOOKED_AT, len(drawn)))

    def refit(self, drawn: Drawn, *, effects: bool = False, inner: tuple[Floats, Floats] | None = None) -> Refits:
        """Return the fits of drawn responses; with their fixed effects if asked.

        `inner` are the criteria and parameters, shapes (d,) and (d, k), at which a smaller model within this one
        has its optima. Where none of its variances is zero a search starts there, since the optimum is near; where
        one ended higher it has met a local optimum, and starts again from there.
        """
        start = self._point(self.start, drawn)
        if inner is not None:
            near = (np.abs(inner[1][:, self.diagonal]) >= NEAR_ZERO).all(axis=1)
            start.theta[near] = inner[1][near]
        theta, values, converged = self._search_all(drawn, start)
        doubtful = np.flatnonzero(self._may_be_local(theta))
        if len(doubtful):
            again = drawn.take(doubtful)
            middle = np.where(self.diagonal, 1.0, 0.0)  # where lme4 starts
            found = self._search_all(again, self._point(middle, again))
            lower = found[1] < values[doubtful]
            for known, other in zip((theta, values, converged), found, strict=True):
                known[doubtful[lower]] = other[lower]
        if inner is not None:
            for d in np.flatnonzero(values > inner[0] + CERTAIN):
                self.respond(drawn, int(d))
                theta[d], values[d], converged[d] = self._search(inner[1][d], None)
        return Refits(theta, values, converged, *self._effects(drawn, theta if effects else theta[:0]))

    def _search_all(self, drawn: Drawn, start: Start) -> tuple[Floats, Floats, Bools]:
        """Return theta, criterion and whether it is a certain optimum, of each response."""
        theta = start.theta.copy()
        values, settled = np.empty(len(drawn)), np.zeros(len(drawn), bool)
        elimination = self.criterion.elimination
        if isinstance(elimination, Patterns | Levels) and theta.size and len(elimination.C) <= LARGEST:
            held = elimination.P if isinstance(elimination, Patterns) else elimination.B
            size = max(1, min(HELD // held.size, max(FEW, CACHED // elimination.C.size)))
            for first in range(0, len(drawn), size):
                some = np.arange(first, min(first + size, len(drawn)))
                stacked = stack_responses(elimination, drawn.take(some))
                searches = Searches(self.criterion, stacked, start.theta[some], start.curvature)
                theta[some], values[some], settled[some] = searches.run()
        for d in np.flatnonzero(~settled):
            self.respond(drawn, int(d))
            theta[d], values[d], settled[d] = self._search(start.theta[d], start.curvature)
        return theta, values, settled

    def _may_be_local(self, theta: Floats) -> Bools:
        """Return which optima may be one of several: correlations allow one on each side of the boundary."""
        small = (np.abs(theta[:, self.diagonal]) < NEAR_ZERO).any(axis=1)
        return np.asarray(small & ~self.diagonal.all())

    def _effects(self, drawn: Drawn, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the fixed effects of the first fits, their covariances, and the residual variances."""
        d, p = len(theta), self.criterion.moments.p
        beta, covariance, sigma2 = np.empty((d, p)), np.empty((d, p, p)), np.empty(d)
        for i in range(d):
            self.respond(drawn, i)
            found = self.criterion.solve(theta[i])
            beta[i], covariance[i], sigma2[i] = found.beta, found.sigma2 * found.unscaled, found.sigma2
        return beta, covariance, sigma2

    def _search(self, start: Floats, curvature: Floats | None) -> tuple[Floats, float, bool]:
        """Return the optimum for the present response, and whether it is a certain one."""
        found = minimize(self.criterion, start, enough=ROUGHLY, curvature=curvature)
        if not _is_minimum(found) or (np.abs(found.theta[self.diagonal]) < NEAR_ZERO).any():
            found = minimize(self.criterion, found.theta, enough=ROUGHLY)
        return found.theta, found.value, _is_minimum(found)

    def respond(self, drawn: Drawn, d: int) -> None:
        """Put a drawn response in the place of the last one."""
        moments = self.criterion.moments
        put_responses(self.criterion.elimination, moments.C, *(array[d] for array in drawn.arrays()))
        if not isinstance(moments.B, np.ndarray) and not isinstance(self.criterion.elimination, Patterns):
            for k, part in enumerate(moments.B):
                # The response stands last in each row, and is stored there even where it is zero.
                part.data[part.indptr[1:] - 1] = drawn.sums[d, :, k]
            self.criterion.elimination = SparseLevels(moments)


def _is_minimum(found: Optimum) -> bool:
    if not len(found.theta):
        return True
    _, decrease, downhill = newton_step(found.curvature, found.gradient)
    return bool(decrease < CERTAIN and not downhill)


def put_responses(
    elimination: Elimination, C: Floats, products: Floats, squares: Floats, sums: Floats, crossed: Floats,
    squared: Floats,
) -> None:  # fmt: skip
    """Write one response, or one for each place of a leading axis, into C and the arrays of an elimination."""
    C[..., :-1, -1] = C[..., -1, :-1] = products
    C[..., -1, -1] = squares
    if isinstance(elimination, Patterns):
        elimination.sums[..., :-1, -1] = crossed
        elimination.sums[..., -1, :-1] = crossed.swapaxes(-3, -2)
        elimination.sums[..., -1, -1] = squared
    elif isinstance(elimination, Levels):
        elimination.B[..., -1] = sums


def stack_responses(elimination: Patterns | Levels, drawn: Drawn) -> Patterns | Levels:
    """Return an elimination with a leading axis for responses."""
    one = np.zeros(len(drawn), np.int64)
    stacked = _choose(elimination, lambda array: array[None][one])
    put_responses(stacked, stacked.C, *drawn.arrays())
    return stacked


def _choose(elimination: Patterns | Levels, choose: Callable[[Floats], Floats]) -> Patterns | Levels:
    """Return an elimination whose arrays are chosen from those of another."""
    if isinstance(elimination, Patterns):
        return Patterns(choose(elimination.C), elimination.blocks, choose(elimination.P))
    return Levels(choose(elimination.C), elimination.blocks, choose(elimination.B))


class Searches:
    """The searches for the optima of d responses, side by side."""

    def __init__(self, criterion: Criterion, stacked: Patterns | Levels, start: Floats, curvature: Floats) -> None:
        self.criterion = Criterion(criterion.moments, reml=criterion.reml, elimination=stacked)
        self.stacked, self.chosen = stacked, np.arange(len(start))
        self.diagonal = criterion.moments.lower == 0
        self.theta, self.H = start.copy(), np.repeat(curvature[None], len(start), axis=0)
        self.values, self.gradient = self._slopes(self.chosen, start)
        self.fresh, self.escaped, self.settled = np.zeros((3, len(start)), bool)  # H was made here, a saddle was left

    def run(self) -> tuple[Floats, Floats, Bools]:
        """Return where each search ended, the criterion there, and whether it is a minimum."""
        rows = np.arange(len(self.theta))
        for step in range(1, MOST_STEPS + 1):
            if not len(rows):
                break
            rows = self._advance(rows, refresh=step % REFRESH == 0)
        return self.theta, self.values, self.settled

    def _advance(self, rows: Ints, *, refresh: bool) -> Ints:
        """Take a step of some searches, and return those that go on."""
        step, decrease, downhill = newton_step(self.H[rows], self.gradient[rows])
        stale = ~self.fresh[rows] & (downhill | refresh)
        if stale.any():
            self._differentiate(rows[stale])
            anew = newton_step(self.H[rows[stale]], self.gradient[rows[stale]])
            step[stale], decrease[stale], downhill[stale] = anew
        fresh, ended = self.fresh[rows], decrease < ROUGHLY
        doubtful = (self.diagonal & (np.abs(self.theta[rows]) < NEAR_ZERO)).any(axis=1)
        sure = ended & ~downhill & (fresh | ~doubtful)
        self.settled[rows[sure]] = True
        saddle = ended & ~sure & fresh
        lost = saddle & self.escaped[rows]
        leaving = saddle & ~lost
        self.escaped[rows[leaving]] = True
        step[leaving] = 0.05 * np.linalg.eigh(self.H[rows[leaving]])[1][:, :, 0]
        moving = ~ended | leaving
        stuck = moving.copy()
        stuck[moving] = ~self._descend(rows[moving], step[moving], decrease[moving])
        lost |= stuck & fresh
        self._differentiate(rows[~fresh & (stuck | ended & ~sure)])
        return np.asarray(rows[~sure & ~lost])

    def _descend(self, rows: Ints, step: Floats, decrease: Floats) -> Bools:
        """Move each to the first point along its step that is lower, and return whether there was one."""
        limit = STRETCH * np.maximum(np.abs(self.theta[rows]), 0.1)
        length = np.minimum(1.0, (limit / np.maximum(np.abs(step), 1e-300)).min(axis=1))
        most = np.where(self.fresh[rows], PATIENT, SHORT)
        waiting = np.arange(len(rows))
        found = np.zeros(len(rows), bool)
        for tries in range(PATIENT):
            waiting = waiting[~found[waiting] & (tries < most[waiting])]
            if not len(waiting):
                break
            tried, known = rows[waiting], self.values[rows[waiting]]
            moved = self.theta[tried] + length[waiting, None] * step[waiting]
            values, gradient = self._slopes(tried, moved)
            hidden = (decrease[waiting] < CLOSE) & (values < known + 1e-12 * np.abs(known))  # by rounding
            lower = (values < known) | hidden
            self._move(tried[lower], moved[lower], values[lower], gradient[lower])
            found[waiting[lower]] = True
            length[waiting] *= 0.3
        return found

    def _move(self, rows: Ints, theta: Floats, values: Floats, gradient: Floats) -> None:
        self.H[rows] = update_hessian(self.H[rows], theta - self.theta[rows], gradient - self.gradient[rows])
        self.theta[rows], self.values[rows], self.gradient[rows], self.fresh[rows] = theta, values, gradient, False

    def _differentiate(self, rows: Ints) -> None:
        if len(rows):
            self._choose(rows)
            self.H[rows] = differentiate(self.criterion, self.theta[rows], self.gradient[rows])
            self.fresh[rows] = True

    def _slopes(self, rows: Ints, theta: Floats) -> tuple[Floats, Floats]:
        self._choose(rows)
        return self.criterion.slopes(theta)

    def _choose(self, rows: Ints) -> None:
        """Have the criterion be that of some responses."""
        if not np.array_equal(rows, self.chosen):
            self.criterion.elimination, self.chosen = _choose(self.stacked, lambda array: array[rows]), rows
