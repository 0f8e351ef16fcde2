"""`Reproduction`: how closely repeated measurements agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Answer, Table
from holdsup.results import Method, Result
from holdsup.verdict.reproduction import records, tables, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Result):
    """How closely repeated measurements agree, under which conditions."""

    kind: ClassVar[str] = "qra"

    level: float  # coverage of the CIs
    within: float | None = None  # the CV* in percent that was asked about; null if none was
    # the precision of each measurand of each object, the smallest CV* first
    assessments: tuple[records.Assessment, ...]
    # the measurements that were assessed, in the order of the assessments
    measurements: tuple[records.MeasuredValue, ...]
    # the conditions matrix: a row for each condition that is reported, in the order of the assessments
    conditions: tuple[records.ConditionRow, ...]
    # how much of the spread each condition and each pair of conditions explains, the most first
    spread: tuple[records.ConditionSpread, ...]
    models: tuple[records.ConditionModel, ...]  # mixed models over conditions, for measurands with enough measurements
    reference: tuple[float, ...]  # CV* of the paper's results, the smallest first; empty if not asked for

    def parts(self) -> tuple[records.Part, ...]:
        """Return each assessment with what belongs to it, in their order."""
        measurements, conditions = records.sort_rows(self.measurements), records.sort_rows(self.conditions)
        spread, keys = records.sort_rows(self.spread), [(a, (a.object, a.measurand)) for a in self.assessments]
        return tuple(records.Part(a, measurements[key], conditions[key], spread[key]) for a, key in keys)

    def answer(self) -> Answer:
        """Return how closely one result was reproduced, or the closest and the least close of several."""
        if len(self.assessments) == 1:
            (part,) = self.parts()
            return words.answer_one(part, self.cautions, level=self.level, within=self.within, signature=self.signature)
        return words.answer_several(
            self.assessments, self.cautions, level=self.level, within=self.within, signature=self.signature
        )

    def tables(self) -> tuple[Table, ...]:
        """Return precision, conditions and what explains the spread."""
        return (
            *tables.tabulate_precision(self.assessments, self.level),
            *tables.tabulate_conditions(self.parts()),
            *tables.tabulate_spread(self.spread, each=len(self.assessments) == 1),
            *(tables.tabulate_model(model, self.level) for model in self.models),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return words.describe_method(self.assessments)
