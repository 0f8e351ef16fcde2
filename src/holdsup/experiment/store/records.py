"""What a worker sends to be recorded, and what is read back: values as JSON text, tables as Arrow bytes, no pickle.

Rows are only appended, so each is read and verified once: `Ledger` knows the state of all tasks.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

from holdsup.errors import TaskError
from holdsup.experiment.plan import Label
from holdsup.experiment.store.schema import TABLES, is_sound

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST = 256 * 2**20  # bytes of one table; SQLite takes a thousand million
NOTE = '"note":'  # stands in values that have a note; the others need not be parsed
NOT_FINITE = "not finite"  # key of the object that stands for NaN or an infinity, which JSON has no word for


@dataclass(frozen=True, slots=True)
class Success:
    """A task that was done: its id, and what `Recorded` says of it; values as JSON text, tables as Arrow bytes."""

    task: str
    seconds: float
    status: str
    reason: str
    content: str
    tables: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """A task that failed: its id, and what `RecordedFailure` says of it. Of attempts, the runner keeps count."""

    task: str
    seconds: float
    error: str
    message: str
    trace: str = ""
    attempt: int = 1
    final: bool = True


@dataclass(frozen=True, slots=True)
class Recorded:
    """The one result of a task."""

    task: str  # id of the task
    labels: Mapping[str, Label]  # of the task
    arguments: Mapping[str, Any]
    run: str  # id of the run that did it
    status: str  # "done", or "undefined" where one of its values is not finite
    reason: str  # why a value is not finite
    seconds: float  # how long it took
    values: Mapping[str, Any]  # what the task gave
    tables: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class RecordedFailure:
    """One failure of a task."""

    task: str  # id of the task
    labels: Mapping[str, Label]  # of the task
    run: str  # id of the run in which it failed
    attempt: int  # how many times it has been tried, this time included
    final: bool  # whether the run gave it up
    error: str  # type of the error, or "timeout" or "worker died"
    message: str  # what it said, and the last lines of its traceback
    trace: str
    seconds: float  # how long it took


def encode_values(values: Mapping[str, Any]) -> str:
    """Return values as JSON; NaN and infinities stay what they are.

    >>> encode_values({"score": float("nan"), "n": 3})
    '{"score":{"not finite":"nan"},"n":3}'
    """
    try:
        return json.dumps(_jsonable(values, "values"), allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise TaskError("the values of an outcome are nested without end") from None


def decode_values(text: str) -> dict[str, Any]:
    """Return the values that `encode_values` was given."""
    decoded = json.loads(text, object_hook=_restore)
    assert isinstance(decoded, dict)
    return decoded


def encode_table(name: str, table: Any) -> bytes:
    """Return an Arrow table as a compressed IPC stream."""
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        raise TaskError(f"the table {name!r} of an outcome is {type(table).__name__}, not a pyarrow.Table")
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    if len(content) > LARGEST:
        raise TaskError(f"the table {name!r} takes {len(content):,} bytes; a store takes at most {LARGEST:,}")
    return content


def decode_table(content: bytes) -> pa.Table:
    """Return the table that `encode_table` was given."""
    import pyarrow as pa

    table = pa.ipc.open_stream(content).read_all()
    table.validate(full=True)
    return table


def _jsonable(value: Any, where: str) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {NOT_FINITE: str(float(value))}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        if NOT_FINITE in value:
            raise TaskError(f"{where} has the key {NOT_FINITE!r}, which is reserved: rename it")
        return {key: _jsonable(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_jsonable(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise TaskError(f"{where} is a {type(value).__name__}, which JSON cannot hold")


def _restore(decoded: dict[str, Any]) -> Any:
    return float(decoded[NOT_FINITE]) if NOT_FINITE in decoded else decoded


@dataclass(frozen=True, slots=True)
class Damage:
    """A row of a store that is not what was written; it is never used."""

    place: str  # its table
    row: int  # its number there
    task: str  # id of the task, "" where it cannot be read
    reason: str  # what is wrong with it


class LastFailure(NamedTuple):
    """The last time a task failed: number of the row, attempts so far, whether the run gave it up."""

    row: int
    attempt: int
    final: bool


def read_rows(
    connection: sqlite3.Connection, table: str, damage: list[Damage], *, after: int = 0
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield id and values of every sound row of a table; the others, and those that are gone, go to `damage`."""
    columns = TABLES[table]
    last = after
    query = f"SELECT id, {', '.join(columns)}, checksum FROM {table} WHERE id > ? ORDER BY id"
    for ident, *values, stamp in connection.execute(query, (after,)):
        for missing in range(last + 1, ident):
            damage.append(Damage(table, missing, "", "the row is gone"))
        last = ident
        if is_sound(table, ident, values, stamp):
            yield ident, tuple(values)
        else:
            task = str(values[0]) if "task" in columns else ""
            damage.append(Damage(table, ident, task, "its checksum is wrong"))


class Ledger:
    """The state of all tasks, as of the last `catch_up`.

    Attributes
    ----------
    tasks, results : number of the row that holds a task, and its result
    undefined : tasks whose result has a value that is not finite, each with the reason
    notes : what a result has to say about itself although it is done
    failures : how a task failed last
    holders : run that claimed a task last, for tasks without a result
    damage : rows that are not what was written
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.tasks: dict[str, int] = {}
        self.results: dict[str, int] = {}
        self.undefined: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self.failures: dict[str, LastFailure] = {}
        self.holders: dict[str, str] = {}
        self.damage: list[Damage] = []
        self._read = dict.fromkeys(("tasks", "claims", "results", "failures"), 0)

    def catch_up(self) -> None:
        """Read what has been appended since."""
        for ident, values in self._new("tasks"):
            self.tasks[intern(values[0])] = ident  # ids are kept once, however many tables name them
        for _, (run, tasks) in self._new("claims"):
            self.holders.update(dict.fromkeys(map(intern, json.loads(tasks)), intern(run)))
        for ident, values in self._new("results"):
            self.results[intern(values[0])] = ident
            self.holders.pop(values[0], None)
            if values[2] != "done":
                self.undefined[values[0]] = intern(values[3])
            elif NOTE in values[5]:
                self.notes[values[0]] = str(json.loads(values[5]).get("note", ""))
        for ident, values in self._new("failures"):
            self.failures[values[0]] = LastFailure(ident, values[2], bool(values[3]))

    def is_settled(self, task: str, *, forgiven: int = 0) -> bool:
        """Return whether nothing is left to do for a task; failures up to row `forgiven` do not count."""
        failure = self.failures.get(task)
        return task in self.results or (failure is not None and failure.final and failure.row > forgiven)

    def last_row(self, table: str) -> int:
        """Return the number of the last row that was read of a table."""
        return self._read[table]

    def _new(self, table: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        for ident, values in read_rows(self.connection, table, self.damage, after=self._read[table]):
            self._read[table] = ident
            yield ident, values
