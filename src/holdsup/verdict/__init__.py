"""Numbers and fits as answers: comparisons of systems, what a score's variance is made of, reproductions."""

from holdsup.verdict.comparison import Comparison, compare_systems
from holdsup.verdict.reproduction import (
    Findings,
    LabelAgreement,
    MeasurementAudit,
    Reproduction,
    ScoreSets,
    agree_on_labels,
    assess_repeatability,
    assess_reproduction,
    audit_measurements,
    compare_findings,
    compare_score_sets,
    make_cards,
    write_card,
)
from holdsup.verdict.variance import Decomposition, decompose_variance

__all__ = [
    "Comparison",
    "Decomposition",
    "Findings",
    "LabelAgreement",
    "MeasurementAudit",
    "Reproduction",
    "ScoreSets",
    "agree_on_labels",
    "assess_repeatability",
    "assess_reproduction",
    "audit_measurements",
    "compare_findings",
    "compare_score_sets",
    "compare_systems",
    "decompose_variance",
    "make_cards",
    "write_card",
]
