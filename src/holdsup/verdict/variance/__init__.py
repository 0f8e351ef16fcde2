"""Where does the variance of a score come from, and how reliable is the evaluation?"""

from holdsup.verdict.variance.question import decompose_variance
from holdsup.verdict.variance.result import Decomposition

__all__ = ["Decomposition", "decompose_variance"]
