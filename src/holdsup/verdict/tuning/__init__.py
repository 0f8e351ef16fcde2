"""Are the tuned hyper-parameters an accident of the partition?"""

from holdsup.verdict.tuning.advice import TuningAdvice, advise_tuning
from holdsup.verdict.tuning.judging import judge_tuning
from holdsup.verdict.tuning.report import Tuning

__all__ = ["Tuning", "TuningAdvice", "advise_tuning", "judge_tuning"]
