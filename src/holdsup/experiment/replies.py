"""What a worker sends back: a result that is ready to be recorded, or an error in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Failure", "Success"]


@dataclass(frozen=True, slots=True)
class Success:
    """A task that was done.

    Attributes
    ----------
    task : its id
    seconds : how long it took
    status : "done", or "undefined" where one of its values is not finite
    reason : why a value is not finite
    content : its values as JSON text
    tables : its tables as Arrow bytes, by name
    """

    task: str
    seconds: float
    status: str
    reason: str
    content: str
    tables: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """A task that failed, once.

    Attributes
    ----------
    task : its id
    seconds : how long it took until then
    error : type of the error, or "timeout" or "worker died"
    message : what it said
    trace : the last lines of its traceback
    """

    task: str
    seconds: float
    error: str
    message: str
    trace: str = ""
