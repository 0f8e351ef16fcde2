"""What a worker sends to be recorded, and what is read back: values as JSON text, tables as Arrow bytes, no pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdsup.errors import TaskError
from holdsup.experiment.plan import Label

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST = 256 * 2**20  # bytes of one table; SQLite takes a thousand million
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
            raise TaskError(f"{where} has the key {NOT_FINITE!r}, which a store keeps for itself")
        return {key: _jsonable(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_jsonable(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise TaskError(f"{where} is a {type(value).__name__}, which JSON cannot hold")


def _restore(decoded: dict[str, Any]) -> Any:
    return float(decoded[NOT_FINITE]) if NOT_FINITE in decoded else decoded
