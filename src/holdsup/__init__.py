"""holdsup: does this result hold up?

Names are loaded when first used, so that ``import holdsup`` costs next to nothing. ``dir(holdsup)``
lists them all; docs/architecture.md shows where each lives.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdsup.data import simulate_scores as simulate_scores
    from holdsup.errors import (
        ColumnError as ColumnError,
        FitError as FitError,
        FormulaError as FormulaError,
        HoldsupError as HoldsupError,
        MeasurementError as MeasurementError,
        MetricError as MetricError,
        MissingExtra as MissingExtra,
        NotNested as NotNested,
        ReadError as ReadError,
        ResultError as ResultError,
        RunError as RunError,
        ScoresError as ScoresError,
        SpecError as SpecError,
        SplitError as SplitError,
        StoreError as StoreError,
        TaskError as TaskError,
        TuningError as TuningError,
    )
    from holdsup.experiment import (
        Plan as Plan,
        RunReport as RunReport,
        Store as Store,
        run_plan as run_plan,
    )
    from holdsup.fit import GlmmFit as GlmmFit, LmmFit as LmmFit, fit_glmm as fit_glmm, fit_lmm as fit_lmm
    from holdsup.measurements import Measurement as Measurement, read_measurements as read_measurements
    from holdsup.plots import plot as plot
    from holdsup.report import write_paper as write_paper, write_report as write_report
    from holdsup.results import read_result as read_result
    from holdsup.scores import (
        Audit as Audit,
        Scores as Scores,
        audit_scores as audit_scores,
        read_scores as read_scores,
    )
    from holdsup.splits import (
        BlockedCV as BlockedCV,
        HoldOut as HoldOut,
        JKFold as JKFold,
        KFold as KFold,
        RepeatedHoldOut as RepeatedHoldOut,
    )
    from holdsup.studies import (
        Spec as Spec,
        make_plan as make_plan,
        read_spec as read_spec,
        run_contest as run_contest,
    )
    from holdsup.studies.tuning import (
        EarlyStopping as EarlyStopping,
        EstimateStudy as EstimateStudy,
        JKSearchCV as JKSearchCV,
        StoppingStudy as StoppingStudy,
        TuningStudy as TuningStudy,
        optuna_objective as optuna_objective,
        study_estimates as study_estimates,
        study_stopping as study_stopping,
        study_tuning as study_tuning,
    )
    from holdsup.verdict import (
        Comparison as Comparison,
        Decomposition as Decomposition,
        EvaluationPlan as EvaluationPlan,
        Reproduction as Reproduction,
        assess_repeatability as assess_repeatability,
        assess_reproduction as assess_reproduction,
        compare_systems as compare_systems,
        decompose_variance as decompose_variance,
        plan_evaluation as plan_evaluation,
        rate_items as rate_items,
    )
    from holdsup.verdict.contest import Contest as Contest
    from holdsup.verdict.gate import Gate as Gate, gate_release as gate_release
    from holdsup.verdict.looking import order_items as order_items
    from holdsup.verdict.places import (
        RunRanking as RunRanking,
        VoteRanking as VoteRanking,
        rank_runs as rank_runs,
        rank_votes as rank_votes,
    )
    from holdsup.verdict.ranking import Ranking as Ranking, rank_systems as rank_systems
    from holdsup.verdict.tuning import (
        Tuning as Tuning,
        TuningAdvice as TuningAdvice,
        advise_tuning as advise_tuning,
        judge_tuning as judge_tuning,
    )

__version__ = "0.2.0.dev6"

_HOME = {
    "Audit": "holdsup.scores",
    "BlockedCV": "holdsup.splits",
    "ColumnError": "holdsup.errors",
    "Comparison": "holdsup.verdict",
    "Contest": "holdsup.verdict.contest",
    "Decomposition": "holdsup.verdict",
    "EarlyStopping": "holdsup.studies.tuning",
    "EstimateStudy": "holdsup.studies.tuning",
    "EvaluationPlan": "holdsup.verdict",
    "FitError": "holdsup.errors",
    "FormulaError": "holdsup.errors",
    "Gate": "holdsup.verdict.gate",
    "HoldOut": "holdsup.splits",
    "HoldsupError": "holdsup.errors",
    "JKFold": "holdsup.splits",
    "JKSearchCV": "holdsup.studies.tuning",
    "KFold": "holdsup.splits",
    "GlmmFit": "holdsup.fit",
    "LmmFit": "holdsup.fit",
    "Measurement": "holdsup.measurements",
    "MeasurementError": "holdsup.errors",
    "MetricError": "holdsup.errors",
    "MissingExtra": "holdsup.errors",
    "NotNested": "holdsup.errors",
    "Plan": "holdsup.experiment",
    "Ranking": "holdsup.verdict.ranking",
    "ReadError": "holdsup.errors",
    "Reproduction": "holdsup.verdict",
    "RepeatedHoldOut": "holdsup.splits",
    "ResultError": "holdsup.errors",
    "RunError": "holdsup.errors",
    "RunRanking": "holdsup.verdict.places",
    "RunReport": "holdsup.experiment",
    "Scores": "holdsup.scores",
    "ScoresError": "holdsup.errors",
    "assess_repeatability": "holdsup.verdict",
    "assess_reproduction": "holdsup.verdict",
    "Spec": "holdsup.studies",
    "SpecError": "holdsup.errors",
    "SplitError": "holdsup.errors",
    "StoppingStudy": "holdsup.studies.tuning",
    "Store": "holdsup.experiment",
    "StoreError": "holdsup.errors",
    "TaskError": "holdsup.errors",
    "Tuning": "holdsup.verdict.tuning",
    "TuningAdvice": "holdsup.verdict.tuning",
    "TuningError": "holdsup.errors",
    "TuningStudy": "holdsup.studies.tuning",
    "VoteRanking": "holdsup.verdict.places",
    "advise_tuning": "holdsup.verdict.tuning",
    "audit_scores": "holdsup.scores",
    "compare_systems": "holdsup.verdict",
    "decompose_variance": "holdsup.verdict",
    "fit_glmm": "holdsup.fit",
    "fit_lmm": "holdsup.fit",
    "gate_release": "holdsup.verdict.gate",
    "judge_tuning": "holdsup.verdict.tuning",
    "make_plan": "holdsup.studies",
    "optuna_objective": "holdsup.studies.tuning",
    "order_items": "holdsup.verdict.looking",
    "plan_evaluation": "holdsup.verdict",
    "plot": "holdsup.plots",
    "rank_runs": "holdsup.verdict.places",
    "rank_systems": "holdsup.verdict.ranking",
    "rate_items": "holdsup.verdict",
    "rank_votes": "holdsup.verdict.places",
    "read_measurements": "holdsup.measurements",
    "read_result": "holdsup.results",
    "read_scores": "holdsup.scores",
    "read_spec": "holdsup.studies",
    "run_contest": "holdsup.studies",
    "run_plan": "holdsup.experiment",
    "simulate_scores": "holdsup.data",
    "study_estimates": "holdsup.studies.tuning",
    "study_stopping": "holdsup.studies.tuning",
    "study_tuning": "holdsup.studies.tuning",
    "write_paper": "holdsup.report",
    "write_report": "holdsup.report",
}

__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'holdsup' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
