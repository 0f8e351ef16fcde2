"""Lines of JSON, some at a time and as tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from holdsup.errors import ReadError, quote_text
from holdsup.logs.files import parse, read_lines

CHUNK = 2**22  # bytes made into a table at a time


def tables_of_lines(path: Path, schema: pa.Schema) -> Iterator[list[dict[str, Any]] | pa.Table]:
    """Yield lines of JSON as tables with the fields of a schema, or as they are where they do not follow it."""
    number, lines, size = 1, list[bytes](), 0
    for number, line in read_lines(path):
        lines.append(line)
        size += len(line)
        if size >= CHUNK:
            yield _table_of_lines(path, schema, number, lines)
            lines, size = [], 0
    if lines:
        yield _table_of_lines(path, schema, number, lines)


def _table_of_lines(path: Path, schema: pa.Schema, last: int, lines: list[bytes]) -> list[dict[str, Any]] | pa.Table:
    table = _to_table(b"".join(lines), schema)
    # A line may hold no record, or two: Arrow would read both, and be right about neither.
    if table is not None and table.num_rows == len(lines):
        return table
    records = [parse(line, f"line {last - len(lines) + 1 + place} of {path}") for place, line in enumerate(lines)]
    for record in records:
        if not isinstance(record, dict):
            raise ReadError(f"{path} holds something else among its records: {quote_text(json.dumps(record))}")
    return records


def _to_table(lines: bytes, schema: pa.Schema) -> pa.Table | None:
    options = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        return pa_json.read_json(
            io.BytesIO(lines), read_options=pa_json.ReadOptions(block_size=len(lines) + 1), parse_options=options
        )
    except pa.ArrowInvalid:
        return None
