"""Hyper-parameters that do not depend on the luck of the partition: searches and studies that train."""

from holdsup.studies.tuning.estimates import EstimateStudy, StoppingStudy, study_estimates, study_stopping
from holdsup.studies.tuning.objective import judge_trials, optuna_objective
from holdsup.studies.tuning.search import JKSearchCV
from holdsup.studies.tuning.spec_tuning import advise_tuning_spec, read_tuning_status, run_tuning_spec
from holdsup.studies.tuning.stability import TuningStudy, judge_pools, study_tuning
from holdsup.studies.tuning.stopping import EarlyStopping

__all__ = [
    "EarlyStopping",
    "EstimateStudy",
    "JKSearchCV",
    "StoppingStudy",
    "TuningStudy",
    "advise_tuning_spec",
    "judge_pools",
    "judge_trials",
    "optuna_objective",
    "read_tuning_status",
    "run_tuning_spec",
    "study_estimates",
    "study_stopping",
    "study_tuning",
]
