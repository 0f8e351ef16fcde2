"""Is a candidate as good as what there is, to within a drop that nobody minds?"""

from holdsup.verdict.gate.question import gate_release
from holdsup.verdict.gate.result import Gate

__all__ = ["Gate", "gate_release"]
