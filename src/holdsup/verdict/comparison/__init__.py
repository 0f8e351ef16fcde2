"""Is B better than A, beyond these runs and settings?"""

from holdsup.verdict.comparison.comparing import compare_systems
from holdsup.verdict.comparison.report import Comparison

__all__ = ["Comparison", "compare_systems"]
