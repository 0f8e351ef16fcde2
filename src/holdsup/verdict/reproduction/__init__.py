"""How closely was a result reproduced? Quantified reproducibility assessment (Belz et al. 2022)."""

from holdsup.measurements import MeasurementAudit, audit_measurements
from holdsup.verdict.reproduction.card import make_cards, write_card
from holdsup.verdict.reproduction.findings import Findings, compare_findings
from holdsup.verdict.reproduction.labels import LabelAgreement, agree_on_labels
from holdsup.verdict.reproduction.question import assess_repeatability, assess_reproduction
from holdsup.verdict.reproduction.result import Reproduction
from holdsup.verdict.reproduction.score_sets import ScoreSets, compare_score_sets

__all__ = [
    "Findings", "LabelAgreement", "MeasurementAudit", "Reproduction", "ScoreSets", "agree_on_labels",
    "assess_repeatability", "assess_reproduction", "audit_measurements", "compare_findings", "compare_score_sets",
    "make_cards", "write_card",
]  # fmt: skip
