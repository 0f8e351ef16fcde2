"""What more items, runs or settings would tell about the difference of two systems."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from holdsup.rendering.numbers import format_count, format_number
from holdsup.verdict.advice import MOST_ITEMS, Parts, detectable
from holdsup.verdict.variance_records import DifferencePlan

__all__ = ["PairStudy"]

MORE_RUNS = 3  # what the sentence weighs against items


@dataclass(frozen=True, slots=True)
class PairStudy:
    """The parts of the variance of a difference, of settings as well.

    Attributes
    ----------
    left, right : the systems
    metric : the metric, None if there is only one
    parts : variances between runs and items
    settings : number of settings of each system
    facets : for each facet of settings in which a system varies: its variance and its number of levels
    """

    left: str
    right: str
    metric: str | None
    parts: Parts
    settings: tuple[int, int]
    facets: tuple[tuple[float, int], ...]

    def plans(self) -> Iterator[DifferencePlan]:
        """Yield the current numbers, then more items, more runs and, where settings vary, more settings."""
        items, claims = self.parts.items, ("new-runs", "new-settings") if self.facets else ("new-runs",)
        for claim in claims:
            yield self._plan(claim, current=True)
            yield from (self._plan(claim, items=times * items) for times in (2, 5, 10))
            yield from (self._plan(claim, more_runs=more) for more in (1, MORE_RUNS, 10))
            yield from (self._plan(claim, times=times) for times in (2, 4) if claim == "new-settings")

    def _plan(
        self, claim: str, *, items: int | None = None, more_runs: int = 0, times: int = 1, current: bool = False
    ) -> DifferencePlan:
        """Return one plan: so many items, so many more runs of each setting, so many times as many settings."""
        settings = tuple(times * count for count in self.settings)
        runs = tuple(
            times * (k + more_runs * s) for k, s in zip(self.parts.runs, self.settings, strict=False)
        )  # shared seeds are runs of both: they count once
        count = items or self.parts.items
        shares = [
            ((v + e / count) / k, k - s)
            for v, e, k, s in zip(self.parts.run, self.parts.residual, runs, settings, strict=False)
        ]
        shares.append((self.parts.item / count, count - 1))
        if claim == "new-settings":
            shares.extend((v / (times * n), times * n - 1) for v, n in self.facets)
        variance = sum(share for share, _ in shares)
        uncertainty = sum(share**2 / df for share, df in shares if share > 0)
        df = variance**2 / uncertainty if uncertainty > 0 else math.inf
        return DifferencePlan(
            left=self.left,
            right=self.right,
            metric=self.metric,
            claim=claim,
            current=current,
            items=count,
            left_runs=runs[0],
            right_runs=runs[-1],
            left_settings=settings[0],
            right_settings=settings[1],
            se=math.sqrt(variance),
            df=df,
            detectable=detectable(math.sqrt(variance), df),
        )

    def sentence(self) -> str:
        """Return what more runs are worth in items."""
        runs = tuple(k + MORE_RUNS * s for k, s in zip(self.parts.runs, self.settings, strict=False))
        now, then = self.parts.standard_error(), self.parts.standard_error(runs)
        each = "of each setting " if max(self.settings) > 1 else ""
        said = (
            f"{self.left} and {self.right}: three more runs {each}of each system bring the standard error of their "
            f"difference from {format_number(now)} to {format_number(then)}"
        )
        more = self._items_for(then)
        if more is None:
            return f"{said}; no number of items does."
        worth = f"as much as {format_count(more)} more items would" if more else "which is next to nothing"
        return f"{said}, {worth}."

    def _items_for(self, wanted: float) -> int | None:
        """Return how many more items bring the standard error down to the one wanted, None if too many to count."""
        parts = self.parts
        fixed = sum(v / k for v, k in zip(parts.run, parts.runs, strict=True))
        shrinking = parts.item + sum(e / k for e, k in zip(parts.residual, parts.runs, strict=True))
        if wanted**2 <= fixed:
            return None
        items = math.ceil(shrinking / (wanted**2 - fixed) * (1 - 1e-12))
        return items - parts.items if items <= MOST_ITEMS else None
