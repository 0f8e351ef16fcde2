"""Where does the variance of a score come from, and how reliable is the evaluation?"""

from holdsup.verdict.variance.decomposing import decompose_variance
from holdsup.verdict.variance.report import Decomposition

__all__ = ["Decomposition", "decompose_variance"]
