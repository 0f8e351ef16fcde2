"""`Decomposition`: the answer of `decompose_variance`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Answer, Table
from holdsup.results import Method, Result
from holdsup.verdict.variance.records import (
    JIANG,
    DifferencePlan,
    FacetByProperty,
    Reliability,
    StudyPlan,
    SystemScores,
    VarianceComponent,
)
from holdsup.verdict.variance.tables import (
    tabulate_components,
    tabulate_differences,
    tabulate_lines,
    tabulate_properties,
    tabulate_reliability,
    tabulate_study,
)
from holdsup.verdict.variance.words import describe_method, write_answer

__all__ = ["Decomposition"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition(Result):
    """The variance of each system's scores, decomposed."""

    kind: ClassVar[str] = "variance"

    level: float  # coverage of the intervals
    threshold: float = JIANG  # the reliability that a single score should have
    components: tuple[VarianceComponent, ...]  # the sources of variance of each system
    reliability: Reliability | None  # how reliable the first system's scores are; null without items
    reliabilities: tuple[Reliability, ...]  # the same for each system and metric
    systems: tuple[SystemScores, ...]  # what was decomposed
    study: tuple[StudyPlan, ...]  # what other numbers of facet levels would give
    properties: tuple[FacetByProperty, ...]  # how the effects of facets change with properties of the items
    # what other numbers of items, runs and settings would tell about differences of systems
    differences: tuple[DifferencePlan, ...]
    next: tuple[str, ...]  # what more runs are worth

    def answer(self) -> Answer:
        """Return whether a single score is reliable, and where the variance comes from."""
        return write_answer(
            self.components, self.reliabilities, self.study, self.cautions,
            asked=self.asked, level=self.level, threshold=self.threshold, signature=self.signature,
        )  # fmt: skip

    def tables(self) -> tuple[Table, ...]:
        """Return the components, reliability, and what was planned from them."""
        several = len({s.metric for s in self.systems}) > 1
        return (
            tabulate_components(self.components, self.systems, level=self.level, several=several),
            *tabulate_reliability(self.reliabilities, self.components, level=self.level, several=several),
            *tabulate_study(self.study, self.components, several=several),
            *tabulate_properties(self.properties, several=several),
            *tabulate_lines(self.properties, level=self.level),
            *tabulate_differences(self.differences, self.next, several=several),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self.systems, self.components, self.reliabilities)
