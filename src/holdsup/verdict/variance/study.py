"""The decision study: what other numbers of levels, items, runs and settings would be worth (Brennan 2001)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.errors import ScoresError, list_names
from holdsup.numerics.power import find_detectable
from holdsup.numerics.spread import Spread, cautious_df, total_variance
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.planning import MOST_ITEMS, PairPlan, find_fewest, plan_pair
from holdsup.verdict.variance.records import DifferencePlan

USUAL = (2, 3, 5, 10)  # numbers of levels that are tried where none are asked for
ALPHA = 0.05  # of the test that is planned for
MORE_RUNS = 3  # what the sentence weighs against items


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """The variances of a system's scores, ready to be divided by other numbers of levels."""

    # what is measured, the items and what they lie in, and how many there are of each; of groups of unequal size, as
    # many as equal ones would tell
    objects: Mapping[str, float]
    # of each term, the objects' among them; the residual's under no name, ()
    variances: Mapping[tuple[str, ...], float]
    facets: Mapping[str, int]  # the facets, and how many levels each has now
    hosts: Mapping[str, frozenset[str]]  # for each facet, those that each of its levels lies within one level of
    repeats: float = 1.0  # how many scores an item has at each combination of levels, now and in every plan

    def plans(self, asked: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
        """Yield numbers of levels of all facets: the current ones, then those asked for or the usual ones.

        The usual plans change one facet and leave the others at one level.
        """
        yield dict(self.facets)
        if asked:
            _check(asked, self.facets)
            for counts in itertools.product(*asked.values()):
                yield self._with(dict(zip(asked, counts, strict=True)))
            return
        yield self._with({})
        for facet in self.facets:
            yield from (self._with({facet: count}) for count in USUAL)

    def _with(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return a plan, one level where nothing is said; a nested facet has at least its host's levels."""
        plan = {facet: counts.get(facet, 1) for facet in self.facets}
        return {facet: max(n, *(plan[host] for host in self.hosts[facet]), 1) for facet, n in plan.items()}

    def divisor(self, parts: tuple[str, ...], counts: Mapping[str, int]) -> float:
        """Return over how many levels of a term an item's score is averaged; for no parts, over how many scores."""
        own = [part for part in (parts or self.facets) if part not in self.objects]
        inner = [facet for facet in own if not any(facet in self.hosts[other] for other in own)]
        return math.prod(counts[facet] for facet in inner) * (1.0 if parts else self.repeats)

    def error(self, counts: Mapping[str, int]) -> float:
        """Return the absolute error variance of an item's average: everything but the objects' own variance."""
        return sum(
            variance / self.divisor(parts, counts)
            for parts, variance in self.variances.items()
            if not self._is_object(parts)
        )

    def phi(self, counts: Mapping[str, int]) -> float:
        """Return the reliability of an item's average."""
        own = sum(variance for parts, variance in self.variances.items() if self._is_object(parts))
        return own / (own + self.error(counts))

    def standard_error(self, counts: Mapping[str, int]) -> float:
        """Return the standard error of the mean over the items that there are."""
        items = max(self.objects.values())
        total = sum(
            variance / self.divisor(parts, counts) / max((self.objects.get(part, 1.0) for part in parts), default=items)
            for parts, variance in self.variances.items()
        )
        return math.sqrt(total)

    def _is_object(self, parts: tuple[str, ...]) -> bool:
        return bool(parts) and all(part in self.objects for part in parts)


def _check(asked: Mapping[str, Sequence[int]], facets: Mapping[str, int]) -> None:
    for facet, counts in asked.items():
        if facet not in facets:
            raise ScoresError(f"there is no facet {facet!r} to plan levels of: choose from {list_names(facets)}")
        if not counts or any(not isinstance(n, int | np.integer) or n < 1 for n in counts):
            raise ScoresError(f"{facet!r} can't have {list(counts)} levels: give whole numbers, 1 or more")


def study_pair(evaluation: Evaluation, left: str, right: str) -> PairPlan:
    """Return the parts of the variance of the difference of two systems; see `plan_pair`."""
    try:
        return plan_pair(evaluation, left, right)
    except ValueError as error:
        raise ScoresError(str(error)) from error


def list_plans(pair: PairPlan) -> Iterator[DifferencePlan]:
    """Yield the current numbers, then more items, more runs and, where settings vary, more settings."""
    for claim in ("new-runs", "new-settings") if any(pair.facets) else ("new-runs",):
        yield _plan(pair, claim, current=True)
        yield from (_plan(pair, claim, items=times * pair.items) for times in (2, 5, 10))
        yield from (_plan(pair, claim, more_runs=more) for more in (1, MORE_RUNS, 10))
        yield from (_plan(pair, claim, times=times) for times in (2, 4) if claim == "new-settings")


def _plan(
    pair: PairPlan, claim: str, *, items: int | None = None, more_runs: int = 0, times: int = 1, current: bool = False
) -> DifferencePlan:
    measure = pair.planned_settings if claim == "new-settings" else pair.planned
    spread = measure(items=items, more_runs=more_runs, times=times)
    growth = pair.growth(times)
    settings = tuple(factor * s for factor, s in zip(growth, pair.settings, strict=True))
    runs = tuple(factor * (k + more_runs * s) for factor, k, s in zip(growth, pair.runs, pair.settings, strict=False))
    return DifferencePlan(
        left=pair.left,
        right=pair.right,
        metric=pair.metric,
        claim=claim,
        current=current,
        items=items or pair.items,
        left_runs=runs[0],
        right_runs=runs[-1],
        left_settings=settings[0],
        right_settings=settings[1],
        se=_standard_error(spread),
        df=float(cautious_df([spread], ALPHA)),
        detectable=find_detectable(spread, ALPHA),
    )


def _standard_error(spread: Spread) -> float:
    return math.sqrt(float(total_variance([spread])))


def say_worth(pair: PairPlan) -> str:
    """Return what more runs are worth in items."""
    now, then = (_standard_error(pair.planned(more_runs=more)) for more in (0, MORE_RUNS))
    each = "of each setting " if max(pair.settings) > 1 else ""
    by = f" ({pair.metric})" if pair.metric else ""
    said = (
        f"{pair.left} and {pair.right}{by}: three more runs {each}of each system would bring the standard error of "
        f"their difference from {format_number(now)} to {format_number(then)}"
    )
    items = find_fewest(lambda n: _standard_error(pair.planned(items=n)) <= then, pair.items, MOST_ITEMS)
    if items is None:
        return f"{said}; no number of items would."
    more = items - pair.items
    worth = f"as much as {format_counted(more, 'more item')} would" if more else "hardly less"
    return f"{said}, {worth}."
