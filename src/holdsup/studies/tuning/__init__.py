"""Hyper-parameters that do not depend on the luck of the partition: searches and studies that train."""

from holdsup.studies.tuning.estimates import EstimateStudy, study_estimates
from holdsup.studies.tuning.objective import judge_trials, optuna_objective
from holdsup.studies.tuning.retunings import judge_pools
from holdsup.studies.tuning.search import JKSearchCV
from holdsup.studies.tuning.spec_runs import advise_tuning_spec, read_tuning_status, run_tuning_spec
from holdsup.studies.tuning.stability import study_tuning
from holdsup.studies.tuning.stopping import EarlyStopping
from holdsup.studies.tuning.stopping_study import StoppingStudy, study_stopping
from holdsup.studies.tuning.study_records import TuningStudy

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
