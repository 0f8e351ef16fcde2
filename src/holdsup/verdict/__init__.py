"""Numbers and fits as answers: comparisons of systems and what a score's variance is made of."""

from holdsup.verdict.comparison import compare_systems
from holdsup.verdict.report import Comparison

__all__ = ["Comparison", "compare_systems"]
