"""What more items, runs or settings would tell about the difference of two systems, by the rule of `compare`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from holdsup.numerics.clusters import find_clusters
from holdsup.numerics.differences import FEWEST_DF
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.settings import FacetPart, find_settings, measure_facets, measure_over_settings
from holdsup.numerics.spread import Spread, cautious_df, measure_arm, measure_spread, total_variance
from holdsup.rendering.numbers import format_count, format_number
from holdsup.verdict.claims import align_seeds
from holdsup.verdict.comparison.advice import MOST_ITEMS
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.settings import facet_codes
from holdsup.verdict.variance.records import DifferencePlan

__all__ = ["PairStudy", "study_pair"]

ALPHA = 0.05  # of the test that is planned for
POWER = 0.8  # with which it finds a detectable difference, to within a point on 4 degrees of freedom or more
MORE_RUNS = 3  # what the sentence weighs against items


@dataclass(frozen=True, slots=True, eq=False)
class PairStudy:
    """The parts of the variance of a difference, ready for other numbers of items, runs and settings.

    Attributes
    ----------
    left, right : the systems
    metric : the metric, None if there is only one
    spread : the parts at these settings
    items : number of items
    runs : number of runs of each system; of seeds, where they are shared
    settings : number of settings of each system
    facets : of each system, the facets of settings that vary in it
    """

    left: str
    right: str
    metric: str | None
    spread: Spread
    items: int
    runs: tuple[int, ...]
    settings: tuple[int, int]
    facets: tuple[tuple[FacetPart, ...], ...] = ()

    def plans(self) -> Iterator[DifferencePlan]:
        """Yield the current numbers, then more items, more runs and, where settings vary, more settings."""
        for claim in ("new-runs", "new-settings") if any(self.facets) else ("new-runs",):
            yield self._plan(claim, current=True)
            yield from (self._plan(claim, items=times * self.items) for times in (2, 5, 10))
            yield from (self._plan(claim, more_runs=more) for more in (1, MORE_RUNS, 10))
            yield from (self._plan(claim, times=times) for times in (2, 4) if claim == "new-settings")

    def _growth(self, times: int) -> tuple[int, ...]:
        """Return how many times the settings of each system are with `times` as many levels of each of its facets.

        A grid has every combination of levels. A system whose settings do not vary stays as it is.
        """
        return tuple(
            times ** (len(own) if math.prod(facet.df + 1 for facet in own) == count else min(len(own), 1))
            for own, count in zip(self.facets or ((), ()), self.settings, strict=True)
        )

    def planned(self, *, items: int | None = None, more_runs: int = 0, times: int = 1) -> Spread:
        """Return the parts at these settings: so many items, more runs of each setting, `times` as many levels."""
        fewer = self.items / (items or self.items)
        runs, noise, dfs = [], [], []
        parts = zip(self.spread.runs, self.spread.noise, self.spread.run_df, strict=True)
        counts = zip(self.runs, self.settings, self._growth(times), strict=False)  # shared seeds are one part
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

    def _plan(
        self, claim: str, *, items: int | None = None, more_runs: int = 0, times: int = 1, current: bool = False
    ) -> DifferencePlan:
        measure = self.planned_settings if claim == "new-settings" else self.planned
        spread = measure(items=items, more_runs=more_runs, times=times)
        se, df = math.sqrt(float(total_variance([spread]))), float(cautious_df([spread], ALPHA))
        settings = tuple(growth * s for growth, s in zip(self._growth(times), self.settings, strict=True))
        runs = tuple(
            growth * (k + more_runs * s)
            for growth, k, s in zip(self._growth(times), self.runs, self.settings, strict=False)
        )
        return DifferencePlan(
            left=self.left,
            right=self.right,
            metric=self.metric,
            claim=claim,
            current=current,
            items=items or self.items,
            left_runs=runs[0],
            right_runs=runs[-1],
            left_settings=settings[0],
            right_settings=settings[1],
            se=se,
            df=df,
            detectable=se * (t_quantile(1 - ALPHA / 2, df) + t_quantile(POWER, df)) if df >= FEWEST_DF else math.inf,
        )

    def sentence(self) -> str:
        """Return what more runs are worth in items."""
        now, then = (math.sqrt(float(total_variance([self.planned(more_runs=more)]))) for more in (0, MORE_RUNS))
        each = "of each setting " if max(self.settings) > 1 else ""
        by = f" ({self.metric})" if self.metric else ""
        said = (
            f"{self.left} and {self.right}{by}: three more runs {each}of each system bring the standard error of their "
            f"difference from {format_number(now)} to {format_number(then)}"
        )
        more = self._items_for(then)
        if more is None:
            return f"{said}; no number of items does."
        worth = f"as much as {format_count(more)} more items would" if more else "which is next to nothing"
        return f"{said}, {worth}."

    def _items_for(self, wanted: float) -> int | None:
        """Return how many more items bring the standard error down to the one wanted, None if too many to count."""
        noise = [np.minimum(part, lost) for part, lost in zip(self.spread.runs, self.spread.noise, strict=True)]
        fixed = float(sum(part - lost for part, lost in zip(self.spread.runs, noise, strict=True)))
        shrinking = self.items * float(self.spread.items() + sum(noise))
        if wanted**2 <= fixed:
            return None
        items = math.ceil(shrinking / (wanted**2 - fixed) * (1 - 1e-12))
        return items - self.items if items <= MOST_ITEMS else None


def _changed(facet: FacetPart, now: float, then: float, times: int) -> FacetPart:
    """Return a facet with `times` as many levels; its part holds that of the runs, which changes on its own."""
    runs = min(float(facet.part), now)
    part = (float(facet.part) - runs) / times + (runs * then / now if now > 0 else 0.0)
    return FacetPart(np.asarray(part), times * (facet.df + 1) - 1, facet.weight / times)


def study_pair(evaluation: Evaluation, left: str, right: str) -> PairStudy:
    """Return the parts of the difference of two systems, each with two runs of some setting, on items of both.

    Raises
    ------
    ValueError : too little is in common to tell items from runs
    """
    a, b = evaluation.system(left), evaluation.system(right)
    both = evaluation.scored(a) & evaluation.scored(b)
    items = int(both.sum())
    if items < 2:
        raise ValueError("they have fewer than two items in common.")
    clusters = find_clusters(None if evaluation.clusters is None else evaluation.clusters[both], items)
    a, b = (replace(system, scores=system.scores[both]) for system in (a, b))
    if a.seeds is not None and b.seeds is not None:
        x, y = align_seeds(a, b)
        arm = measure_arm(x - y, None, clusters)
        spread = measure_spread([arm], arm.items, clusters)
        return PairStudy(left, right, evaluation.metric, spread, items, (x.shape[1],), (1, 1))
    codes = [facet_codes(evaluation, system) for system in (a, b)]
    arms = [measure_arm(one.scores, find_settings(own), clusters) for one, own in zip((a, b), codes, strict=True)]
    facets = tuple(
        () if own is None else tuple(measure_facets(one.scores, own)) for one, own in zip((a, b), codes, strict=True)
    )
    return PairStudy(
        left,
        right,
        evaluation.metric,
        measure_spread(arms, arms[0].items - arms[1].items, clusters),
        items,
        (len(a.runs), len(b.runs)),
        (a.setting_count, b.setting_count),
        facets,
    )
