"""The results of a reproduction: of values, of scores and labels of the same items, of findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Answer, Table
from holdsup.results import KINDS, Method, Result
from holdsup.verdict.reproduction.records import (
    Assessment,
    ConditionModel,
    ConditionRow,
    ConditionSpread,
    FindingSet,
    Flip,
    LabelPair,
    MeasuredValue,
    MeasurementPair,
    Part,
    ScoreSet,
    sort_rows,
)
from holdsup.verdict.reproduction.tables import (
    tabulate_agreement,
    tabulate_conditions,
    tabulate_findings,
    tabulate_flips,
    tabulate_label_pairs,
    tabulate_model,
    tabulate_pairs,
    tabulate_precision,
    tabulate_scores,
    tabulate_spread,
)
from holdsup.verdict.reproduction.words import (
    answer_findings,
    answer_labels,
    answer_one,
    answer_scores,
    answer_several,
    describe_method,
)

__all__ = ["Findings", "LabelAgreement", "Reproduction", "ScoreSets"]


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
    pairs: tuple[MeasurementPair, ...]  # how similar the conditions of each pair of measurements are
    # how much of the spread each condition and each pair of conditions explains, the most first
    spread: tuple[ConditionSpread, ...]
    models: tuple[ConditionModel, ...]  # mixed models over conditions, for measurands with enough measurements
    reference: tuple[float, ...]  # CV* of the paper's results, the smallest first; empty if not asked for

    def parts(self) -> tuple[Part, ...]:
        """Return each assessment with what belongs to it, in their order."""
        measurements, conditions = sort_rows(self.measurements), sort_rows(self.conditions)
        pairs, spread = sort_rows(self.pairs), sort_rows(self.spread)
        keys = [(a, (a.object, a.measurand)) for a in self.assessments]
        return tuple(Part(a, measurements[key], conditions[key], pairs[key], spread[key]) for a, key in keys)

    def answer(self) -> Answer:
        """Return how closely one result was reproduced, or the closest and the least close of several."""
        if len(self.assessments) == 1:
            (part,) = self.parts()
            return answer_one(part, self.cautions, level=self.level, within=self.within, signature=self.signature)
        return answer_several(
            self.assessments, self.cautions, level=self.level, within=self.within, signature=self.signature
        )

    def tables(self) -> tuple[Table, ...]:
        """Return precision, conditions and what explains the spread; pairs of measurements if there is one object."""
        one = len(self.assessments) == 1
        return (
            *tabulate_precision(self.assessments, self.level),
            *tabulate_conditions(self.parts()),
            *tabulate_spread(self.spread, each=one),
            *(tabulate_pairs(self.pairs) if one else ()),
            *(tabulate_model(model, self.level) for model in self.models),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self.assessments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSets(Result):
    """How closely reproductions gave the same scores to the same items."""

    kind: ClassVar[str] = "qra_scores"

    level: float  # coverage of the CIs
    original: str  # the study that the others are compared with
    sets: tuple[ScoreSet, ...]  # the others

    def answer(self) -> Answer:
        """Return how closely the scores follow the original's."""
        return answer_scores(
            self.sets, self.cautions, original=self.original, level=self.level, signature=self.signature
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the table of reproductions."""
        return (tabulate_scores(self.sets, original=self.original, level=self.level),)

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        said = (
            f"Scores of the same items were compared with those of {self.original} by Pearson's r (CI by Fisher's "
            "transformation), Spearman's rho, RMSE and the difference of means."
        )
        return Method(question=KINDS[self.kind].question, sentences=(said,), citations=("belz2022",))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement(Result):
    """How far studies agree on the labels of the same items."""

    kind: ClassVar[str] = "qra_labels"

    studies: int  # number of studies
    items: int  # number of items with two labels or more
    labels: tuple[str, ...]  # the labels that occur
    scale: str  # of alpha: nominal, ordinal or interval
    alpha: float  # Krippendorff's alpha of all studies, missing labels allowed; null if all labels are the same
    kappa: float  # Fleiss' kappa on the items that every study labelled; null if there is none
    complete: int  # number of these items
    pairs: tuple[LabelPair, ...]  # studies two by two

    def answer(self) -> Answer:
        """Return how far the studies agree."""
        return answer_labels(
            self.pairs, self.cautions, studies=self.studies, scale=self.scale, alpha=self.alpha,
            signature=self.signature,
        )  # fmt: skip

    def tables(self) -> tuple[Table, ...]:
        """Return agreement of all studies, and two by two."""
        everyone = tabulate_agreement(
            scale=self.scale, alpha=self.alpha, items=self.items, kappa=self.kappa, complete=self.complete
        )
        return (everyone, tabulate_label_pairs(self.pairs))

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        said = f"Agreement on labels is Krippendorff's alpha ({self.scale}); Fleiss' kappa is on complete items."
        return Method(question=KINDS[self.kind].question, sentences=(said,), citations=("belz2022",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings(Result):
    """Which pairwise findings of an original its reproductions uphold."""

    kind: ClassVar[str] = "qra_findings"

    sets: tuple[FindingSet, ...]  # each reproduction of each measurand
    flips: tuple[Flip, ...]  # the findings that do not hold

    def answer(self) -> Answer:
        """Return how many findings hold."""
        return answer_findings(self.sets, self.cautions, signature=self.signature)

    def tables(self) -> tuple[Table, ...]:
        """Return how many findings hold, and which do not."""
        return (tabulate_findings(self.sets), *tabulate_flips(self.flips))

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        said = "A finding is which of two objects has the higher value; it holds where a reproduction agrees. No test."
        return Method(question=KINDS[self.kind].question, sentences=(said,), citations=("belz2022",))
