"""What a reader of logs does: find the logs of its tool among files, and read each as scores with what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from holdsup.logs.files import clean
from holdsup.results.cautions import Caution

__all__ = ["COLUMNS", "NO_ITEMS", "Found", "Reader", "Rows", "TaskLog"]

# The columns of `TaskLog.rows`; whatever else a reader has (a category, a difficulty) goes under a name of its own.
COLUMNS = {
    "item": "what was scored: the id that the tool gives it, the same in every log of the task",
    "metric": "what the score measures, as the tool calls it; the filter or the scorer is part of it",
    "score": "the score, as a number; null where there is none",
    "sample": "which of several answers of one system to one item: an epoch, a repeat, a trial",
    "status": "ok, or in a few words why there is no score",
    "error": "what went wrong where the tool scores a failure of the run as if it were an answer; - where nothing did",
    "content": "a digest of the item itself: its input and its target, without how it was put to the system",
    "prompt": "a digest of what was sent to the system",
}
NEEDED = ("item", "metric", "score")
NO_ITEMS = ""  # the item of a score that is of a whole run or dataset


@dataclass(frozen=True, slots=True)
class Found:
    """A log that was found among files and not yet read."""

    reader: str  # the name of the reader
    name: str  # what messages call it: the path of its file or folder
    files: tuple[Path, ...]  # the files that it is made of, the one that names it first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskLog:
    """What a tool logged of one system on one task."""

    name: str  # what messages call it: the path of the log
    tool: str  # the tool, with its version where the log has one: "Inspect 0.3.285"
    system: str  # what was evaluated: the model, as the log calls it
    task: str | None  # what it was evaluated on
    rows: pa.Table  # `COLUMNS`, of which only item, metric and score must be there
    identity: str = ""  # what the tool calls this very run, so that a copy of a log is known as one
    # What tells one evaluation of a system from another: seed, temperature, checkpoint step ...
    facets: Mapping[str, str] = field(default_factory=dict)
    # What both sides of a comparison should share: few-shot examples, version of the task, limits, prompt template ...
    conditions: Mapping[str, str] = field(default_factory=dict)
    # The means that the tool itself printed, by metric: each must be the mean over items of the scores in `rows`
    means: Mapping[str, float] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()  # metrics of which a lower score is better
    higher_is_better: frozenset[str] = frozenset()  # ... or better, whatever their names say
    # metrics that say what an answer costs (tokens, seconds): they are asked about only by name
    costs: frozenset[str] = frozenset()
    planned: int | None = None  # how many items were to be evaluated, where the log says so
    finished: bool = True  # whether the log says that the evaluation came to its end
    cautions: tuple[Caution, ...] = ()  # what the reader noticed; `about` is filled in with the log

    @property
    def release(self) -> tuple[str, str]:
        """The tool and its version, which is empty where the log does not say it."""
        name, _, version = self.tool.rpartition(" ")
        return (name, version) if name and version[:1].isdigit() else (self.tool, "")


class Reader(Protocol):
    """A format of logs. Nothing of the tool is imported, and nothing in a log is executed."""

    @property
    def name(self) -> str:
        """A short name: "inspect"."""

    @property
    def title(self) -> str:
        """What people call the tool: "Inspect"."""

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield the logs among the files of one folder, by their content rather than by their names alone.

        `files` are those that were asked for; a log may take in others that lie beside them.
        """

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield what one log holds, a task at a time."""


class Rows:
    """Rows as they are read, where they are read one by one; memory is that of the scores, not of the texts."""

    def __init__(self, *extra: str) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in (*NEEDED, *extra)}

    def __len__(self) -> int:
        return len(self._columns["item"])

    def add(self, **row: object) -> None:
        """Add a row; a column that was named at the beginning and is not given here is null."""
        for name, values in self._columns.items():
            values.append(row.pop(name, None))
        if row:
            raise KeyError(f"{next(iter(row))!r} was not named as a column of these rows")

    def table(self) -> pa.Table:
        """Return the rows as a table; labels are written as text."""
        return pa.table({name: make_column(name, values) for name, values in self._columns.items()})


def make_column(name: str, values: list[Any]) -> pa.Array:
    """Return a column of rows as the contract types it: scores as numbers, labels as text."""
    if name == "score":
        return pa.array(values, pa.float64())
    if name in COLUMNS or not all(isinstance(value, int | float | None) for value in values):
        return pa.array([None if value is None else clean(str(value)) for value in values], pa.string())
    return pa.array(values)


def describe(conditions: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return conditions or facets as text, without those that are not there."""
    return {name: str(value) for name, value in conditions if value not in (None, "", [], {})}


def count_before(keys: Iterable[object]) -> list[int]:
    """Return how often each key came before: which of several answers to one item a row is.

    >>> count_before(["a", "b", "a"])
    [0, 0, 1]
    """
    seen: dict[object, int] = {}
    found = []
    for key in keys:
        found.append(seen.get(key, 0))
        seen[key] = found[-1] + 1
    return found
