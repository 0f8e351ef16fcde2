"""Many responses drawn from one model and fitted by several: the parametric bootstrap, without rows.

The work is cut into parts whose size depends on the model alone and whose random numbers depend on the seed and
the number of the part alone, so that the result is the same on one core and on many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from holdsup.numerics.drawing import Drawn, Truth, draw_responses, prepare_drawing
from holdsup.numerics.elimination import choose_elimination
from holdsup.numerics.layout import Floats
from holdsup.numerics.moments import Moments
from holdsup.numerics.processes import map_tasks
from holdsup.numerics.refits import LARGEST, Refits, Refitter
from holdsup.numerics.restriction import Restriction, restrict, restrict_elimination
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress

AT_A_TIME, LARGEST_PART = 100, 2**23  # draws in a part of the work, and numbers drawn in it, at most
TOGETHER = 5  # parts in a task where searches go side by side: the more there are, the less each costs


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

    def tasks(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the parts of each task: their numbers, and how many draws each has."""
        levels = self.moments.A.shape[0] * max(1, len(self.moments.first)) + len(self.moments.C)
        size = max(1, min(AT_A_TIME, LARGEST_PART // levels))
        parts = [(number, min(size, self.draws - start)) for number, start in enumerate(range(0, self.draws, size))]
        together = TOGETHER if len(self.moments.C) <= LARGEST else 1
        for first in range(0, len(parts), together):
            yield parts[first : first + together]


class _Simulator:
    """A simulation with everything made ready that its tasks share."""

    def __init__(self, simulation: Simulation) -> None:
        self.seed, self.competitors = simulation.seed, simulation.competitors
        moments = simulation.moments
        elimination = choose_elimination(moments)
        self.drawing = prepare_drawing(moments, elimination, simulation.truth)
        self.refitters = []
        for competitor in self.competitors:
            small, columns = restrict(moments, competitor.restriction)
            reduced = restrict_elimination(elimination, small, columns)
            refitter = Refitter(small, reduced, reml=competitor.reml, start=competitor.start)
            self.refitters.append((refitter, columns))

    def __call__(self, task: list[tuple[int, int]]) -> tuple[Refits, ...]:
        with blas_threads(1):
            drawn = Drawn.join([self._draw(*part) for part in task])
            found: list[Refits] = []
            for competitor, (refitter, columns) in zip(self.competitors, self.refitters, strict=True):
                inner = None if competitor.inner is None else self._embed(found, competitor.inner)
                found.append(refitter.refit(drawn.within(columns), effects=competitor.effects, inner=inner))
            return tuple(found)

    def _draw(self, number: int, count: int) -> Drawn:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        return draw_responses(self.drawing, rng, count)

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
