"""How closely was a result reproduced? Quantified reproducibility assessment (Belz et al. 2022)."""

from holdsup.measurements import MeasurementAudit, audit_measurements
from holdsup.verdict.reproduction.card import make_cards, write_card
from holdsup.verdict.reproduction.findings import compare_findings
from holdsup.verdict.reproduction.judgements import agree_on_labels, compare_score_sets
from holdsup.verdict.reproduction.question import assess_repeatability, assess_reproduction
from holdsup.verdict.reproduction.result import Findings, LabelAgreement, Reproduction, ScoreSets

__all__ = [
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
    "make_cards",
    "write_card",
]
