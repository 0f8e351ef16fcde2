"""Many responses drawn from one model and fitted by several: the parametric bootstrap, without rows.

The work is cut into tasks whose size depends on the model alone and whose random numbers depend on the seed and
the number of the task alone, so that the result is the same on one core and on many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics import compiled
from holdsup.numerics.criterion import LARGEST, Criterion
from holdsup.numerics.drawing import Drawn, Truth, draw_responses, prepare_drawing
from holdsup.numerics.elimination import Elimination, Patterns, SparseLevels, choose_elimination
from holdsup.numerics.layout import Floats
from holdsup.numerics.moments import Moments
from holdsup.numerics.optimization import (
    CERTAIN,
    CLOSE,
    DIFFERENCE,
    NEAR_ZERO,
    ROUGHLY,
    SMALLEST,
    STRETCH,
    Optimum,
    differentiate,
    minimize,
    newton_step,
)
from holdsup.numerics.processes import map_tasks
from holdsup.numerics.restriction import Restriction, restrict, restrict_elimination
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress

AT_A_TIME, LARGEST_PART = 100, 2**23  # draws in a task, and numbers drawn in it, at most
MANY = 300  # draws from which loading numba pays
LOOKED_AT = 3  # responses whose curvature is that of all


@dataclass(frozen=True, slots=True, eq=False)
class Competitor:
    """A model that is fitted to every drawn response."""

    restriction: Restriction  # how it lies within the model that the cross-products are of
    reml: bool  # whether it is fitted by REML
    start: Floats  # parameters from which the search starts
    effects: bool = False  # whether fixed effects and their covariances are wanted
    inner: int | None = None  # of the whole model, the number of an earlier competitor, whose optimum it cannot exceed


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What a worker needs."""

    moments: Moments  # cross-products of a model that contains all others; its own response is not used
    truth: Truth  # the parameters from which responses are drawn, as parameters of that model
    competitors: tuple[Competitor, ...]  # the models to fit
    draws: int  # how many responses are drawn in all
    seed: int  # of the random numbers

    def tasks(self) -> Iterator[tuple[int, int]]:
        """Yield the number of each task and how many draws it has."""
        levels = self.moments.A.shape[0] * max(1, len(self.moments.first)) + len(self.moments.C)
        size = max(1, min(AT_A_TIME, LARGEST_PART // levels))
        for number, start in enumerate(range(0, self.draws, size)):
            yield number, min(size, self.draws - start)


class _Simulator:
    """A simulation with everything made ready that its tasks share."""

    def __init__(self, simulation: Simulation) -> None:
        self.seed, self.competitors = simulation.seed, simulation.competitors
        moments = simulation.moments
        if simulation.draws >= MANY and len(moments.C) <= LARGEST:
            compiled.load()
        elimination = choose_elimination(moments)
        self.drawing = prepare_drawing(moments, elimination, simulation.truth)
        self.refitters = []
        for competitor in self.competitors:
            small, columns = restrict(moments, competitor.restriction)
            reduced = restrict_elimination(elimination, small, columns)
            refitter = Refitter(small, reduced, reml=competitor.reml, start=competitor.start)
            self.refitters.append((refitter, columns))

    def __call__(self, task: tuple[int, int]) -> tuple[Refits, ...]:
        number, count = task
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        with blas_threads(1):
            drawn = draw_responses(self.drawing, rng, count)
            found: list[Refits] = []
            for competitor, (refitter, columns) in zip(self.competitors, self.refitters, strict=True):
                inner = None if competitor.inner is None else self._embed(found, competitor.inner)
                found.append(refitter.refit(drawn.within(columns), effects=competitor.effects, inner=inner))
            return tuple(found)

    def _embed(self, found: list[Refits], inner: int) -> tuple[Floats, Floats]:
        """Return the optima of a smaller competitor as points of the whole model."""
        theta = np.zeros((len(found[inner].values), len(self.drawing.moments.lower)))
        theta[:, self.competitors[inner].restriction.parameters] = found[inner].theta
        return found[inner].values, theta


def simulate_fits(
    simulation: Simulation, *, processes: int | None = None, progress: Progress = no_progress
) -> tuple[Refits, ...]:
    """Return for each competitor its fits of all drawn responses."""
    tasks = list(simulation.tasks())
    parts = map_tasks(
        partial(_Simulator, simulation), tasks, processes=processes, label="bootstrap fits", progress=progress
    )
    return tuple(Refits.join(part) for part in zip(*parts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """The fits of d responses."""

    theta: Floats  # relative covariance factors, shape (d, k); a column of Lambda may have the other sign
    values: Floats  # criterion, shape (d,)
    converged: NDArray[np.bool_]  # whether the optimum is a certain one, shape (d,)
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
    """A model whose response is replaced again and again, each search starting from where the first fit ended."""

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

    def _search_all(self, drawn: Drawn, start: Start) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return theta, criterion and whether it is a certain optimum, of each response."""
        if self.criterion.small is not None and start.theta.size:
            from holdsup.numerics.loops import SearchRules

            rules = SearchRules(ROUGHLY, NEAR_ZERO, CLOSE, STRETCH, DIFFERENCE, SMALLEST)
            theta, values, settled = self.criterion.small.refit(*start, self.diagonal, drawn.arrays(), rules)
        else:
            theta = start.theta.copy()
            values, settled = np.empty(len(drawn)), np.zeros(len(drawn), bool)
        for d in np.flatnonzero(~settled):
            self.respond(drawn, int(d))
            theta[d], values[d], settled[d] = self._search(start.theta[d], start.curvature)
        return theta, values, settled

    def _may_be_local(self, theta: Floats) -> NDArray[np.bool_]:
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
        moments, elimination = self.criterion.moments, self.criterion.elimination
        moments.C[:-1, -1] = moments.C[-1, :-1] = drawn.products[d]
        moments.C[-1, -1] = drawn.squares[d]
        if isinstance(elimination, Patterns):
            sums = elimination.sums
            sums[..., :-1, -1] = drawn.crossed[d]
            sums[..., -1, :-1] = drawn.crossed[d].transpose(0, 2, 1, 3)
            sums[..., -1, -1] = drawn.squared[d]
        elif isinstance(moments.B, np.ndarray):
            moments.B[:, :, -1] = drawn.sums[d]
        else:
            for k, part in enumerate(moments.B):
                # The response stands last in each row, and is stored there even where it is zero.
                part.data[part.indptr[1:] - 1] = drawn.sums[d, :, k]
            self.criterion.elimination = SparseLevels(moments)


def _is_minimum(found: Optimum) -> bool:
    if not len(found.theta):
        return True
    _, decrease, downhill = newton_step(found.curvature, found.gradient)
    return decrease < CERTAIN and not downhill
