"""The registry: one row for each kind of result."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of result."""

    question: str  # what it answers, whatever the data
    # module and class; a name, not an import: the classes live in rooms above this one, and only the kind that a file
    # names needs to be loaded
    home: str

    def load(self) -> Any:
        """Return the class of the result."""
        module, _, name = self.home.partition(":")
        return getattr(importlib.import_module(module), name)


KINDS: dict[str, Kind] = {
    "check": Kind("Is this table fit for use?", "holdsup.scores:Audit"),
    "fit": Kind("What does this linear mixed model say?", "holdsup.fit:LmmFit"),
    "glmm": Kind("What does this logistic mixed model say?", "holdsup.fit:GlmmFit"),
    "compare": Kind("Is one system better than another?", "holdsup.verdict:Comparison"),
    "gate": Kind("Is a candidate as good as a baseline, to within a drop?", "holdsup.verdict.gate:Gate"),
    "variance": Kind("Is one score of this evaluation reliable?", "holdsup.verdict:Decomposition"),
    "plan": Kind("What does an evaluation need to answer?", "holdsup.verdict:EvaluationPlan"),
    "rank": Kind("Is one system the best on new datasets?", "holdsup.verdict.ranking:Ranking"),
    "votes": Kind("Is one system preferred to all others?", "holdsup.verdict.places:VoteRanking"),
    "rank_runs": Kind("Is one system the best over tasks and runs?", "holdsup.verdict.places:RunRanking"),
    "qra": Kind("How closely was this result reproduced?", "holdsup.verdict:Reproduction"),
    "qra_check": Kind("Are these measurements fit to be assessed?", "holdsup.measurements:MeasurementAudit"),
    "qra_scores": Kind("How closely do studies score the same items?", "holdsup.verdict:ScoreSets"),
    "qra_labels": Kind("How far do studies agree on labels?", "holdsup.verdict:LabelAgreement"),
    "qra_findings": Kind("How many of the original's findings hold?", "holdsup.verdict:Findings"),
    "contest": Kind("Would another split of the corpus say the same?", "holdsup.verdict.contest:Contest"),
    "tune": Kind("Is the pick safe from the luck of the partition?", "holdsup.verdict.tuning:Tuning"),
    "tune-advice": Kind("How many partitions and folds should a tuning have?", "holdsup.verdict.tuning:TuningAdvice"),
    "tune-study": Kind("How much does a tuning move with the partition?", "holdsup.studies.tuning:TuningStudy"),
    "estimate-study": Kind(
        "How much does an estimate move with the partition?", "holdsup.studies.tuning:EstimateStudy"
    ),
    "stopping-study": Kind(
        "How much does early stopping add to the luck of the partition?", "holdsup.studies.tuning:StoppingStudy"
    ),
    "run": Kind("Is everything trained and tested?", "holdsup.experiment:RunReport"),
}
