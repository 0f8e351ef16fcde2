"""What the demo tells about a question."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.results import Result

__all__ = ["Tale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tale:
    """Data whose truth is known, the usual reading that is wrong about it, and the answer.

    Attributes
    ----------
    data : what was measured
    seeming : what the usual reading of these data says
    truth : what is true of them
    result : what holdsup says
    lesson : what to learn from it, in plain words
    """

    data: str
    seeming: str
    truth: str
    result: Result
    lesson: str
