"""What more items, runs or settings would tell about the difference of two systems, by the rule of `compare`.

`compare` advises by it, `variance` makes its plans of it, `gate` says by it what would decide, and `plan` takes the
variances of a pilot from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from holdsup.numerics.power import find_detectable
from holdsup.numerics.settings import FacetPart, find_settings, measure_facets, measure_over_settings
from holdsup.numerics.spread import (
    Spread,
    at_common_mean,
    find_clusters,
    means_of_sides,
    measure_arm,
    measure_run_spread,
    measure_spread,
)
from holdsup.verdict.evaluation import Evaluation, has_scores
from holdsup.verdict.settings import facet_codes
from holdsup.verdict.trainings import align_seeds

MOST_DF = 1e9  # a test by normal deviates has infinitely many
MOST_RUNS, MOST_ITEMS, MOST_TIMES = 200, 10_000_000, 10  # beyond these nobody goes


@dataclass(frozen=True, slots=True, eq=False)
class PairPlan:
    """The parts of the variance of a difference, ready for other numbers of items, runs and settings."""

    left: str  # the systems
    right: str
    metric: str | None  # the metric, None if there is only one
    spread: Spread  # the parts at these settings
    items: int  # number of items
    runs: tuple[int, ...]  # number of runs of each system; of seeds, where they are shared
    settings: tuple[int, int]  # number of settings of each system
    facets: tuple[tuple[FacetPart, ...], ...] = ()  # of each system, the facets of settings that vary in it

    def growth(self, times: int) -> tuple[int, ...]:
        """Return how many times the settings of each system are with `times` as many levels of each of its facets.

        A grid has every combination of levels. A system whose settings do not vary stays as it is.
        """
        return tuple(
            times ** (len(own) if math.prod(facet.df + 1 for facet in own) == count else min(len(own), 1))
            for own, count in zip(self.facets or ((), ()), self.settings, strict=True)
        )

    def planned(self, *, items: int | None = None, more_runs: int = 0, times: int = 1) -> Spread:
        """Return the parts at these settings: so many items, more runs of each setting, `times` as many levels.

        Clusters are as large as they are now: with more items there are more of them.
        """
        fewer = self.items / (items or self.items)
        runs, noise, dfs = [], [], []
        parts = zip(self.spread.runs, self.spread.noise, self.spread.run_df, strict=True)
        counts = zip(self.runs, self.settings, self.growth(times), strict=False)  # shared seeds are one part
        for (part, lost, df), (k, s, growth) in zip(parts, counts, strict=False):
            averaged = k / (growth * (k + more_runs * s))
            runs.append((part - np.minimum(part, lost) * (1 - fewer)) * averaged)
            noise.append(lost * fewer * averaged)
            dfs.append(growth * (df + more_runs * s))
        return replace(
            self.spread,
            these=self.spread.items() * fewer + sum(noise),
            item_df=(self.spread.item_df + 1) / fewer - 1,
            runs=tuple(runs),
            noise=tuple(noise),
            run_df=tuple(dfs),
        )

    def planned_settings(self, *, items: int | None = None, more_runs: int = 0, times: int = 1) -> Spread:
        """Return the same over new settings: facets take the place of the runs of a system in which they vary."""
        here = self.planned(items=items, more_runs=more_runs, times=times)
        return measure_over_settings(
            here,
            [
                [_changed(facet, float(now), float(then), times) for facet in own]
                for now, then, own in zip(self.spread.runs, here.runs, self.facets, strict=True)
            ],
        )

    def detectable(
        self, alpha: float, claim: str = "new-runs", *, items: int | None = None, more_runs: int = 0, times: int = 1
    ) -> float:
        """Return the difference that the test of `compare` at the level `alpha` finds four times in five."""
        measure = self.planned_settings if claim == "new-settings" else self.planned
        return find_detectable(measure(items=items, more_runs=more_runs, times=times), alpha)

    def enough_items(self, difference: float, alpha: float) -> int | None:
        """Return the fewest items with which a difference is found four times in five, None if too many to count."""
        return find_fewest(lambda n: self.detectable(alpha, items=n) <= difference, self.items + 1, MOST_ITEMS)

    def enough_runs(self, difference: float, alpha: float) -> int | None:
        """Return how many more runs of each setting of each system would do, None if too many."""
        most = MOST_RUNS - max(self.runs)
        return find_fewest(lambda n: self.detectable(alpha, more_runs=n) <= difference, 1, most)

    def enough_levels(self, difference: float, alpha: float) -> int | None:
        """Return how many times as many levels of each facet would do over new settings, None if too many."""
        if not any(self.facets):
            return None
        return find_fewest(lambda n: self.detectable(alpha, "new-settings", times=n) <= difference, 2, MOST_TIMES)


def find_fewest(enough: Callable[[int], bool], first: int, most: int) -> int | None:
    """Return the smallest number from `first` on that is enough, None if it is beyond `most`."""
    low, high = first - 1, first
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def find_fewest_below(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest number that is enough, None if `most` is not: one that is likely near `most`."""
    if not enough(most):
        return None
    high, step = most, 1
    while high > least and enough(max(least, high - step)):
        high, step = max(least, high - step), 2 * step
    low = max(least, high - step) if high > least else least - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _changed(facet: FacetPart, now: float, then: float, times: int) -> FacetPart:
    """Return a facet with `times` as many levels; its part holds that of the runs, which changes on its own."""
    runs = min(float(facet.part), now)
    part = (float(facet.part) - runs) / times + (runs * then / now if now > 0 else 0.0)
    return FacetPart(np.asarray(part), times * (facet.df + 1) - 1, facet.weight / times)


def plan_items(left: str, right: str, metric: str | None, items: int, se: float, df: float) -> PairPlan:
    """Return the plan for a test over new items alone, from its standard error and degrees of freedom."""
    spread = Spread(np.zeros(()), np.asarray(se**2), min(df, MOST_DF), (), (), ())
    return PairPlan(left, right, metric, spread, items, (), (1, 1))


def plan_pair(evaluation: Evaluation, left: str, right: str) -> PairPlan:
    """Return the parts of the difference of two systems, each with two runs of some setting, on items of both.

    Raises
    ------
    ValueError : too little is in common to tell items from runs
    """
    a, b = evaluation.system(left), evaluation.system(right)
    counts = (len(a.runs), len(b.runs)), (a.setting_count, b.setting_count)
    if evaluation.per_run:
        spread = measure_run_spread(a.scores[0], b.scores[0])
        varied = tuple(count for count in counts[0] if count > 1)  # one run is that of a deterministic system
        return PairPlan(left, right, evaluation.metric, spread, 1, varied, (1, 1))
    both, seeds = evaluation.scored(a) & evaluation.scored(b), None
    if a.seeds is not None and b.seeds is not None:
        seeds = np.subtract(*align_seeds(a, b))
        both = has_scores(seeds, None)
    items = int(both.sum())
    if items < 2:
        raise ValueError("they have fewer than two items in common.")
    clusters = find_clusters(None if evaluation.clusters is None else evaluation.clusters[both], items)
    if seeds is not None:
        arm = measure_arm(seeds[both], None, clusters)
        spread = measure_spread([arm], arm.items, clusters)
        return PairPlan(left, right, evaluation.metric, spread, items, (seeds.shape[1],), (1, 1))
    a, b = a.on(both), b.on(both)
    if a.deterministic or b.deterministic:
        other = b if a.deterministic else a
        arm = measure_arm(a.scores - b.scores, other.several, clusters)
        spread = measure_spread([arm], arm.items, clusters)
        return PairPlan(left, right, evaluation.metric, spread, items, (len(other.runs),), (other.setting_count, 1))
    codes = [facet_codes(evaluation, system) for system in (a, b)]
    arms = [measure_arm(one.scores, find_settings(own), clusters) for one, own in zip((a, b), codes, strict=True)]
    facets = tuple(
        () if own is None else tuple(measure_facets(one.scores, own)) for one, own in zip((a, b), codes, strict=True)
    )
    spread = measure_spread(arms, arms[0].items - arms[1].items, clusters)
    if evaluation.room is not None:
        spread = at_common_mean(spread, means_of_sides(arms, spread, a.scores, b.scores), evaluation.room)
    return PairPlan(left, right, evaluation.metric, spread, items, *counts, facets)
