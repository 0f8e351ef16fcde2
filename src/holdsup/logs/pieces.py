"""Records of JSON, some at a time and as tables: lines, and arrays within one large document.

A document that `json.dumps` or `JSON.stringify` wrote with an indentation has each record of an array between lines
that hold nothing but its brackets, and text within JSON has no line breaks: so the records can be cut out unparsed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json as pa_json

from holdsup.columns.limits import HARMLESS, LARGEST_DOCUMENT, check_ratio, reason_of
from holdsup.errors import ReadError, quote_text
from holdsup.logs.files import LONGEST, open_file, parse, read_document, read_lines

CHUNK = 2**22  # bytes made into a table at a time
SLICE = 2**16  # bytes made into Python's objects at a time: many that wait keep its garbage collector busy
PART = 1_000  # records of a document that is held whole, at a time
STEP = 2  # spaces that a level of nesting is indented by


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
    table = _to_table(b"".join(lines), schema, breaks=False)
    # A line may hold no record, or two: Arrow would read both, and be right about neither.
    if table is not None and table.num_rows == len(lines):
        return table
    records = [parse(line, f"line {last - len(lines) + 1 + place} of {path}") for place, line in enumerate(lines)]
    return _check_records(records, path)


def _to_table(lines: bytes, schema: pa.Schema, *, breaks: bool) -> pa.Table | None:
    options = pa_json.ParseOptions(
        explicit_schema=schema, newlines_in_values=breaks, unexpected_field_behavior="ignore"
    )
    try:
        return pa_json.read_json(
            io.BytesIO(lines), read_options=pa_json.ReadOptions(block_size=len(lines) + 1), parse_options=options
        )
    except pa.ArrowInvalid:
        return None


def _check_records(records: list[Any], path: Path) -> list[dict[str, Any]]:
    for record in records:
        if not isinstance(record, dict):
            raise ReadError(f"{path} holds something else among its records: {quote_text(json.dumps(record))}")
    return records


class RecordArray:
    """The records of an array in a document; a document in another layout is held in memory as a whole.

    Parameters
    ----------
    path : file
    keys : where the array is in the document: ("results", "results"); none where it is the document
    """

    def __init__(self, path: Path, keys: Sequence[str] = ()) -> None:
        self.path = path
        self.rest: Any = None  # the document without the records; there when they were all read
        self._keys = tuple(keys)
        outer, inner = (b"\n" + b" " * (STEP * depth) for depth in (len(keys), len(keys) + 1))
        self._opening = outer + f"{json.dumps(keys[-1])}: [".encode() if keys else b"["
        self._first = inner + b"{\n"
        self._last = inner + b"},\n"
        self._end = outer + b"]"

    def tables(self, schema: pa.Schema) -> Iterator[list[dict[str, Any]] | pa.Table]:
        """Yield the records as tables with the fields of a schema, or as they are where they do not follow it."""
        for piece in self._pieces(CHUNK):
            table = _to_table(piece.replace(self._last, self._last[:-2] + b"\n"), schema, breaks=True)
            yield self._parse(piece) if table is None else table

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records one by one."""
        for piece in self._pieces(min(SLICE, CHUNK)):
            yield from self._parse(piece)

    def _parse(self, piece: bytes) -> list[dict[str, Any]]:
        return _check_records(parse(b"[" + piece + b"]", str(self.path)), self.path)

    def _pieces(self, size: int) -> Iterator[bytes]:
        """Yield text of records with commas between them."""
        try:
            with open_file(self.path) as file:
                held = file.read(size)
                while (begin := held.find(self._opening + self._first)) < 0 and len(held) < HARMLESS:
                    if not (more := file.read(size)):
                        break
                    held += more
                if begin >= 0:
                    begin += len(self._opening)
                    after = yield from self._cut(file, held[begin:], size)
                    self.rest = parse(held[:begin] + after, str(self.path))
                    if _walk(self.rest, self._keys) != []:
                        raise ReadError(f"{self.path} has no list of records in {'.'.join(self._keys)}")
                    return
        except (OSError, EOFError) as error:
            raise ReadError(f"cannot read {self.path}: {reason_of(error)}") from error
        yield from self._whole()

    def _cut(self, file: BinaryIO, held: bytes, size: int) -> Generator[bytes, None, bytes]:
        """Yield the records, and return what comes after them."""
        packed, taken = self.path.stat().st_size, len(held)
        while (end := held.find(self._end)) < 0:
            if (cut := held.rfind(self._last)) >= 0:
                cut += len(self._last)
                yield held[: cut - 2]  # without the comma
                held = held[cut:]
            if len(held) > LONGEST:
                raise ReadError(f"a record of {self.path} is longer than {LONGEST >> 20} MiB: this is not a log")
            if not (more := file.read(size)):
                raise ReadError(f"{self.path} is cut off within its records, or is still being written")
            taken += len(more)
            if problem := check_ratio(str(self.path), packed, taken):
                raise ReadError(problem)
            held += more
        yield held[:end]
        return held[end:] + file.read(LARGEST_DOCUMENT)

    def _whole(self) -> Iterator[bytes]:
        self.rest = read_document(self.path)
        records = _walk(self.rest, self._keys)
        if not isinstance(records, list):
            raise ReadError(f"{self.path} has no list of records{' in ' * bool(self._keys)}{'.'.join(self._keys)}")
        for start in range(0, len(records), PART):
            yield json.dumps(records[start : start + PART])[1:-1].encode()
        records.clear()


def _walk(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
