"""Numbers and fits as answers: comparisons of systems and what a score's variance is made of."""

from holdsup.verdict.comparison import compare_systems
from holdsup.verdict.report import Comparison
from holdsup.verdict.variance import decompose_variance
from holdsup.verdict.variance_report import Decomposition

__all__ = ["Comparison", "Decomposition", "compare_systems", "decompose_variance"]
