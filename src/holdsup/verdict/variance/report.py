"""`Decomposition`: the answer of `decompose_variance`, and its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Interval, Percent, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.rendering.table import Cell
from holdsup.results import Result
from holdsup.verdict.phrases import join_names
from holdsup.verdict.variance.records import (
    PAPER,
    DifferencePlan,
    FacetByProperty,
    Reliability,
    StudyPlan,
    SystemScores,
    VarianceComponent,
)
from holdsup.verdict.variance.sentences import list_objects, name_of

__all__ = ["Decomposition"]

UNMEASURED = "Where nothing is detectable, runs are too few to measure their spread: it has one df or less."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition(Result):
    """The variance of each system's scores, decomposed.

    Attributes
    ----------
    level : coverage of the limits
    components : the sources of variance of each system
    reliability : how reliable the first system's scores are; null without items
    reliabilities : the same for each system and metric
    systems : what was decomposed
    study : what other numbers of facet levels would give
    properties : how the effects of facets change with properties of the items
    differences : what other numbers of items, runs and settings would tell about differences of systems
    next : what more runs are worth
    """

    kind: ClassVar[str] = "variance"

    level: float
    components: tuple[VarianceComponent, ...]
    reliability: Reliability | None
    reliabilities: tuple[Reliability, ...]
    systems: tuple[SystemScores, ...]
    study: tuple[StudyPlan, ...]
    properties: tuple[FacetByProperty, ...]
    differences: tuple[DifferencePlan, ...]
    next: tuple[str, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the components, reliability, and what was planned from them."""
        tables = [self._components(), *self._reliability(), *self._study(), *self._properties()]
        return (*tables, *self._points(), *self._differences())

    @property
    def _several(self) -> bool:
        return len({s.metric for s in self.systems}) > 1

    def _whose(self, row: VarianceComponent | Reliability | StudyPlan | FacetByProperty) -> tuple[Cell, ...]:
        return (row.system, row.metric) if self._several else (row.system,)

    @property
    def _heads(self) -> tuple[str, ...]:
        return ("system", "metric") if self._several else ("system",)

    def _components(self) -> Table:
        methods = ", ".join(dict.fromkeys(c.method for c in self.components))
        models = dict.fromkeys(s.model for s in self.systems)
        return Table(
            title=f"Where the variance comes from, {self.level:.0%} limits of the variance",
            columns=(*self._heads, "component", "levels", "variance", "share", "limits"),
            rows=tuple(
                (
                    *self._whose(c),
                    c.name,
                    c.levels,
                    c.variance,
                    Percent(c.percent),
                    Interval(c.low, c.high, drawn=False),
                )
                for c in self.components
            ),
            notes=(*(f"{model} (REML)" for model in models), f"Limits by {methods}."),
        )

    def _reliability(self) -> Iterator[Table]:
        if self.reliabilities:
            yield Table(
                title=f"Reliability of a single score, {self.level:.0%} limits",
                columns=(*self._heads, "phi", "limits", "band", "above .80"),
                rows=tuple(
                    (*self._whose(r), r.phi, Interval(r.low, r.high, drawn=False), r.band, r.above_80)
                    for r in self.reliabilities
                ),
                notes=(
                    f"phi: variance between items{_and_around(list_objects(self.components))} over total variance. "
                    "Bands (Koo & Li) for all values in the limits.",
                ),
            )

    def _study(self) -> Iterator[Table]:
        if self.study:
            yield Table(
                title="Decision study: averages over other numbers of levels",
                columns=(*self._heads, "levels", "phi", "se of an item", "se of the mean"),
                rows=tuple((*self._whose(plan), _levels(plan), plan.phi, plan.se, plan.se_mean) for plan in self.study),
                notes=(
                    "phi does not depend on the number of items; the se of the mean is for the "
                    f"{join_names([f'{name}s' for name in list_objects(self.components)])} there are.",
                    *_repeats(self.study),
                ),
            )

    def _properties(self) -> Iterator[Table]:
        if self.properties:
            yield Table(
                title="Facets by properties of the items",
                columns=(
                    *self._heads,
                    "facet",
                    "property",
                    "interaction variance",
                    "share",
                    "mean slope",
                    "p",
                    "p published",
                ),
                rows=tuple(
                    (
                        *self._whose(f),
                        f.facet,
                        f.property,
                        f.variance,
                        Percent(f.percent),
                        f.slope,
                        PValue(f.p, f.log10_p),
                        None if f.paper is None else PValue(f.paper.p, f.paper.log10_p),
                    )
                    for f in self.properties
                ),
                notes=(
                    "p: likelihood ratio of the interaction, mixture of chi-squares.",
                    f"p published: {PAPER}, section 4. It counts runs on one item as independent, and is too small "
                    "where there are several runs a level.",
                ),
            )

    def _points(self) -> Iterator[Table]:
        for f in self.properties:
            if f.p > 1 - self.level:  # lines that cannot be told apart are in the JSON
                continue
            yield Table(
                title=f"{name_of(f.system, f.metric)}: predicted score by {f.facet} and {f.property}",
                columns=(f.facet, f.property, "score", f"{self.level:.0%} limits"),
                rows=tuple((p.level, p.value, p.mean, Interval(p.low, p.high, p.mean)) for p in f.points),
                notes=("Limits: how far a level lies from the average of the levels.",),
            )

    def _differences(self) -> Iterator[Table]:
        if self.differences:
            notes = [
                "Detectable: found four times in five by the two-sided test of compare at 5%, cautious df.",
                *(["More settings: more levels of each facet."] if any(_settled(d) for d in self.differences) else []),
                *([UNMEASURED] if any(_finite(d.detectable) is None for d in self.differences) else []),
                *self.next,
            ]
            yield Table(
                title="The difference of two systems with other numbers",
                columns=("", *(["metric"] if self._several else []), "claim", "items", "runs", "settings", "se",
                         "detectable", " "),
                rows=tuple(
                    (f"{d.left} - {d.right}", *([d.metric] if self._several else []), d.claim, d.items,
                     _both(d.left_runs, d.right_runs), _both(d.left_settings, d.right_settings), d.se,
                     _finite(d.detectable), "now" if d.current else "")
                    for d in self.differences
                ),
                notes=tuple(notes),
            )  # fmt: skip


def _repeats(study: Sequence[StudyPlan]) -> Iterator[str]:
    """Yield how many scores are averaged at each combination of levels, where some have more than one."""
    most = max(plan.repeats for plan in study)
    if most > 1:
        yield (
            f"An item keeps its scores at each combination of levels, on average up to {format_number(most)}; they are "
            "averaged, too."
        )


def _and_around(objects: Sequence[str]) -> str:
    """Return what counts as variance between items although it is between what they lie in."""
    return f", that between their {' and '.join(f'{name}s' for name in objects[1:])} included," if objects[1:] else ""


def _settled(plan: DifferencePlan) -> bool:
    return plan.claim == "new-settings"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _both(left: int, right: int) -> str:
    return f"{left:,} each" if left == right else f"{left:,} and {right:,}"


def _levels(plan: StudyPlan) -> str:
    """Return what is averaged over, in words."""
    if plan.current:
        return f"now: {', '.join(f'{count} {facet}' for facet, count in plan.counts.items())}"
    return ", ".join(f"{count} {facet}" for facet, count in plan.counts.items() if count > 1) or "one of each"
