"""What is read back from a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdsup.experiment.plan import Label

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Recorded", "RecordedFailure"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The one result of a task.

    Attributes
    ----------
    task : id of the task
    labels, arguments : of the task
    run : id of the run that did it
    status : "done", or "undefined" where one of its values is not finite
    reason : why a value is not finite
    seconds : how long it took
    values, tables : what the task gave
    """

    task: str
    labels: Mapping[str, Label]
    arguments: Mapping[str, Any]
    run: str
    status: str
    reason: str
    seconds: float
    values: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class RecordedFailure:
    """One failure of a task.

    Attributes
    ----------
    task : id of the task
    labels : of the task
    run : id of the run in which it failed
    attempt : how many times it has been tried, this time included
    final : whether the run gave it up
    error, message, trace : type of the error, what it said, and the last lines of its traceback
    seconds : how long it took
    """

    task: str
    labels: Mapping[str, Label]
    run: str
    attempt: int
    final: bool
    error: str
    message: str
    trace: str
    seconds: float
