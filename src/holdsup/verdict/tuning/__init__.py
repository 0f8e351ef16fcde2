"""Is the pick of a tuning safe from the luck of the partition?"""

from holdsup.verdict.tuning.advice import TuningAdvice, advise_tuning
from holdsup.verdict.tuning.question import judge_tuning
from holdsup.verdict.tuning.result import Tuning

__all__ = ["Tuning", "TuningAdvice", "advise_tuning", "judge_tuning"]
