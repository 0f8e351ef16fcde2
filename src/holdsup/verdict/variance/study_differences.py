"""The plans of a pair of systems as rows and in words: what more items, runs or settings are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from holdsup.errors import ScoresError
from holdsup.numerics.power import find_detectable
from holdsup.numerics.spread import cautious_df, total_variance
from holdsup.rendering.numbers import format_count, format_number
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.planning import MOST_ITEMS, PairPlan, plan_pair
from holdsup.verdict.variance.records import DifferencePlan

__all__ = ["PairStudy", "study_pair"]

ALPHA = 0.05  # of the test that is planned for
MORE_RUNS = 3  # what the sentence weighs against items


@dataclass(frozen=True, slots=True, eq=False)
class PairStudy(PairPlan):
    """The parts of the variance of a difference, with what some usual plans would make of them; see `PairPlan`."""

    def plans(self) -> Iterator[DifferencePlan]:
        """Yield the current numbers, then more items, more runs and, where settings vary, more settings."""
        for claim in ("new-runs", "new-settings") if any(self.facets) else ("new-runs",):
            yield self._plan(claim, current=True)
            yield from (self._plan(claim, items=times * self.items) for times in (2, 5, 10))
            yield from (self._plan(claim, more_runs=more) for more in (1, MORE_RUNS, 10))
            yield from (self._plan(claim, times=times) for times in (2, 4) if claim == "new-settings")

    def _plan(
        self, claim: str, *, items: int | None = None, more_runs: int = 0, times: int = 1, current: bool = False
    ) -> DifferencePlan:
        measure = self.planned_settings if claim == "new-settings" else self.planned
        spread = measure(items=items, more_runs=more_runs, times=times)
        settings = tuple(growth * s for growth, s in zip(self.growth(times), self.settings, strict=True))
        runs = tuple(
            growth * (k + more_runs * s)
            for growth, k, s in zip(self.growth(times), self.runs, self.settings, strict=False)
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
            se=math.sqrt(float(total_variance([spread]))),
            df=float(cautious_df([spread], ALPHA)),
            detectable=find_detectable(spread, ALPHA),
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


def study_pair(evaluation: Evaluation, left: str, right: str) -> PairStudy:
    """Return the study of two systems; see `plan_pair`."""
    try:
        plan = plan_pair(evaluation, left, right)
    except ValueError as error:
        raise ScoresError(str(error)) from error
    return PairStudy(*(getattr(plan, field.name) for field in fields(plan)))
