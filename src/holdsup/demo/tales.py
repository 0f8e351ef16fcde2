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
    truth : what the data are, and what is true of them
    seeming : what the usual reading of the same data says
    result : what holdsup says
    """

    truth: str
    seeming: str
    result: Result
