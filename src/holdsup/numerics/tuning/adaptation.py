"""Adaptive J: which candidates are worth another partition, and when to stop.

After each partition every candidate is compared with the current pick, on the partitions that both have. One whose
upper limit is no more than the margin cannot win by more than the margin: it is dropped. When only the pick is left,
its regret is within the margin. The error of these limits is spent over the looks (Lan & DeMets 1983), more of it on
the early ones, when most candidates are still running.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.tuning.standing import measure_standing

__all__ = ["FIRST_LOOK", "MARGIN", "AdaptivePlan", "Review", "find_margin"]

FIRST_LOOK = 3  # partitions; with fewer there is no variance of a candidate's own, and a noisy one is dropped by luck
MARGIN = 0.5  # the default margin, in standard deviations of a difference between contenders on one partition
SAME = 3  # partitions on which two candidates have the same score before they are run as one

Stop = Literal["within margin", "budget spent", "all partitions run"]


@dataclass(frozen=True, slots=True)
class Review:
    """What the scores so far say about going on.

    Attributes
    ----------
    run : candidates to run on the next partition; none means stop
    stop : why to stop; None to go on
    margin : the indifference margin; None before the first look
    fits : how many fits the partitions so far took
    dropped : candidates that were dropped, and after how many partitions
    """

    run: tuple[int, ...]
    stop: Stop | None
    margin: float | None
    fits: int
    dropped: dict[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptivePlan:
    """When to drop candidates and when to stop. It has no memory: the scores so far decide.

    Attributes
    ----------
    candidates : how many there are
    k : folds of a partition, each of them a fit
    margin : a difference in score that does not matter; None for half a standard deviation of a difference between
        contenders on one partition, measured at the first look
    level : confidence that the regret is within the margin
    budget : the most fits; None for as many as all partitions take
    most : the most partitions
    """

    candidates: int
    k: int
    margin: float | None = None
    level: float = 0.95
    budget: int | None = None
    most: int = 8

    def next(self, scores: Floats) -> list[int]:
        """Return the candidates to run on the next partition, none to stop; see `review`."""
        return list(self.review(scores).run)

    def review(self, scores: Floats) -> Review:
        """Return what to do after these scores, shape (partitions so far, candidates); larger is better.

        NaN stands where a candidate was not run, or failed: it is not run again.
        """
        running = np.arange(self.candidates)
        dropped: dict[int, int] = {}
        fits, margin = 0, self.margin
        for done in range(1, len(scores) + 1):
            fits += self.k * len(running)
            running = running[np.isfinite(scores[done - 1, running])]
            if done >= FIRST_LOOK and len(running) > 1:
                so_far = scores[:done, running]
                margin = find_margin(so_far) if margin is None else margin
                staying = self._stay(so_far, margin)
                dropped.update({int(c): done for c in running[~staying]})
                running = running[staying]
        stop = self._stop(len(scores), len(running), fits)
        return Review(() if stop else tuple(map(int, running)), stop, margin, fits, dropped)

    def _stop(self, done: int, running: int, fits: int) -> Stop | None:
        if done and running <= 1:
            return "within margin"
        if done >= self.most:
            return "all partitions run"
        if self.budget is not None and fits + self.k * running > self.budget:
            return "budget spent"
        return None

    def _stay(self, scores: Floats, margin: float) -> NDArray[np.bool_]:
        """Return which of the running candidates can still win by more than the margin."""
        standing = measure_standing(scores)
        factor = t_quantile(1 - self._error(len(scores)), standing.weight + len(scores) - 1)
        staying = standing.gaps + np.maximum(factor * standing.errors, standing.own_reach(self.level)) > margin
        if len(scores) >= SAME:
            staying &= standing.twins == np.arange(len(staying))
        staying[standing.pick] = True
        return np.asarray(staying)

    def _error(self, done: int) -> float:
        """Return the error to spend at this look: what is spent by a share of the looks is its square root."""
        looks = self.most - FIRST_LOOK + 1
        look = done - FIRST_LOOK + 1
        return (1 - self.level) * (math.sqrt(look / looks) - math.sqrt((look - 1) / looks))


def find_margin(scores: Floats) -> float:
    """Return the default margin: half the standard deviation of a difference between contenders on one partition.

    One that is better by as much wins on 69% of partitions.
    """
    return MARGIN * math.sqrt(measure_standing(scores).variance)
