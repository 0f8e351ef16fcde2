"""JSON: a record a line, an array of records, or an object of columns."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from holdsup.columns.limits import LONGEST_LINE
from holdsup.columns.typed import TypedTable, open_frame, open_records
from holdsup.errors import ReadError

__all__ = ["open_json"]


def open_json(name: str, stem: str, data: pa.Buffer) -> TypedTable:
    """Return JSON text as a table whose ids are exact."""
    try:
        table = pa_json.read_json(
            pa.BufferReader(data),
            read_options=pa_json.ReadOptions(block_size=LONGEST_LINE),
            parse_options=pa_json.ParseOptions(newlines_in_values=False),
        )
        if not any(pa.types.is_floating(kind) and _has_large(table[i]) for i, kind in enumerate(table.schema.types)):
            return TypedTable(name, stem, table.schema, table=table)
    except pa.ArrowInvalid as error:
        if "straddling" in str(error):
            raise ReadError(f"{name} has a line longer than {LONGEST_LINE >> 20} MiB: this is no table") from error
    return _open_slowly(name, stem, data.to_pybytes())


def _has_large(column: pa.ChunkedArray) -> bool:
    """Return whether floats reach beyond 2^53: they may be ids that lost digits on the way."""
    import pyarrow.compute as pc

    largest = pc.max(pc.abs(column)).as_py()
    return largest is not None and largest >= 2**53


def _open_slowly(name: str, stem: str, raw: bytes) -> TypedTable:
    """Read with Python's own parser: exact integers, columns of mixed types, errors that name a line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} is not UTF-8 text (byte {error.start:,}): save it as UTF-8") from error
    records: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            return _open_whole(name, stem, text, problem=f"line {number} of {name} is no JSON ({error})")
    if len(records) == 1:
        return _open_whole(name, stem, text, problem="")
    return open_records(name, stem, records)


def _open_whole(name: str, stem: str, text: str, *, problem: str) -> TypedTable:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{problem}, nor is the whole file: mend it, or write one record a line") from error
    if isinstance(whole, list):
        return open_records(name, stem, whole)
    if "kind" in whole and "signature" in whole:
        raise ReadError(f"{name} is a saved result of holdsup, not a table of scores")
    if all(isinstance(values, list) for values in whole.values()):
        return open_frame(name, stem, whole)
    return open_records(name, stem, [whole])
