"""Is B better than A, beyond these runs and settings?"""

from holdsup.verdict.comparison.question import compare_systems
from holdsup.verdict.comparison.result import Comparison

__all__ = ["Comparison", "compare_systems"]
