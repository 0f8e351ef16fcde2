"""`Reproduction`: how closely repeated measurements agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Answer, Table
from holdsup.results import Method, Result
from holdsup.verdict.reproduction.records import (
    Assessment,
    ConditionModel,
    ConditionRow,
    ConditionSpread,
    MeasuredValue,
    Part,
    sort_rows,
)
from holdsup.verdict.reproduction.tables import (
    tabulate_conditions,
    tabulate_model,
    tabulate_precision,
    tabulate_spread,
)
from holdsup.verdict.reproduction.words import (
    answer_one,
    answer_several,
    describe_method,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Result):
    """How closely repeated measurements agree, under which conditions."""

    kind: ClassVar[str] = "qra"

    level: float  # coverage of the CIs
    within: float | None = None  # the CV* in percent that was asked about; null if none was
    assessments: tuple[Assessment, ...]  # the precision of each measurand of each object, the smallest CV* first
    measurements: tuple[MeasuredValue, ...]  # the measurements that were assessed, in the order of the assessments
    # the conditions matrix: a row for each condition that is reported, in the order of the assessments
    conditions: tuple[ConditionRow, ...]
    # how much of the spread each condition and each pair of conditions explains, the most first
    spread: tuple[ConditionSpread, ...]
    models: tuple[ConditionModel, ...]  # mixed models over conditions, for measurands with enough measurements
    reference: tuple[float, ...]  # CV* of the paper's results, the smallest first; empty if not asked for

    def parts(self) -> tuple[Part, ...]:
        """Return each assessment with what belongs to it, in their order."""
        measurements, conditions = sort_rows(self.measurements), sort_rows(self.conditions)
        spread, keys = sort_rows(self.spread), [(a, (a.object, a.measurand)) for a in self.assessments]
        return tuple(Part(a, measurements[key], conditions[key], spread[key]) for a, key in keys)

    def answer(self) -> Answer:
        """Return how closely one result was reproduced, or the closest and the least close of several."""
        if len(self.assessments) == 1:
            (part,) = self.parts()
            return answer_one(part, self.cautions, level=self.level, within=self.within, signature=self.signature)
        return answer_several(
            self.assessments, self.cautions, level=self.level, within=self.within, signature=self.signature
        )

    def tables(self) -> tuple[Table, ...]:
        """Return precision, conditions and what explains the spread."""
        return (
            *tabulate_precision(self.assessments, self.level),
            *tabulate_conditions(self.parts()),
            *tabulate_spread(self.spread, each=len(self.assessments) == 1),
            *(tabulate_model(model, self.level) for model in self.models),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self.assessments)
