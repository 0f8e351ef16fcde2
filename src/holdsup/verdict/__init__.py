"""Numbers and fits as answers: comparisons of systems, what a score's variance is made of, reproductions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.lazy import load_lazily

if TYPE_CHECKING:
    from holdsup.verdict.comparison import Comparison as Comparison, compare_systems as compare_systems
    from holdsup.verdict.items import ItemRating as ItemRating, rate_items as rate_items
    from holdsup.verdict.plan import EvaluationPlan as EvaluationPlan, plan_evaluation as plan_evaluation
    from holdsup.verdict.reproduction import (
        Findings as Findings,
        LabelAgreement as LabelAgreement,
        MeasurementAudit as MeasurementAudit,
        Reproduction as Reproduction,
        ScoreSets as ScoreSets,
        agree_on_labels as agree_on_labels,
        assess_repeatability as assess_repeatability,
        assess_reproduction as assess_reproduction,
        audit_measurements as audit_measurements,
        compare_findings as compare_findings,
        compare_score_sets as compare_score_sets,
        make_cards as make_cards,
        write_card as write_card,
    )
    from holdsup.verdict.variance import Decomposition as Decomposition, decompose_variance as decompose_variance

__all__, __getattr__ = load_lazily(
    __name__,
    {
        "comparison": "Comparison compare_systems",
        "items": "ItemRating rate_items",
        "plan": "EvaluationPlan plan_evaluation",
        "reproduction": "Findings LabelAgreement MeasurementAudit Reproduction ScoreSets agree_on_labels "
        "assess_repeatability assess_reproduction audit_measurements compare_findings compare_score_sets make_cards "
        "write_card",
        "variance": "Decomposition decompose_variance",
    },
)
