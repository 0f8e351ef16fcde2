"""JSON: a record a line, an array of records, an object of columns, or scores by system and item."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json
from numpy.typing import NDArray

from holdsup.columns.limits import DEEPEST, LARGEST_DOCUMENT, LONGEST_LINE, reason_of
from holdsup.columns.nested import holds_items, is_nested, unnest
from holdsup.columns.typed import TypedTable, flatten, hold_table, open_frame, open_records
from holdsup.errors import ReadError

SAMPLE, MOST_FIELDS = 2**16, 1000  # bytes looked at, and different fields in them that Arrow may have
OPENING, CLOSING, NEWLINE, RETURN = (ord(mark) for mark in "{}\n\r")


class Document(NamedTuple):
    """What a JSON document looks like that is one object with records in it."""

    records: str  # the field that holds the records
    header: Mapping[str, Any]  # what other fields must say if they are there


def open_json(name: str, stem: str, data: pa.Buffer, *, within: Document | None = None) -> TypedTable:
    """Return JSON text as a table whose ids are exact and whose text is text.

    A document that is one object may have its records in a field, as `within` says.
    """
    if data[: min(1024, data.size)].to_pybytes().lstrip().startswith(b"["):
        return _open_whole(name, stem, data, problem="")
    if is_shallow(data) and _share_fields(data):
        try:
            table = flatten(name, _parse(data))
            if table.num_rows > 1 and not any(_is_misread(column) for column in table.columns):
                return hold_table(name, stem, table)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            if "straddling" in str(error):
                raise _too_long(name) from error
    return _open_slowly(name, stem, data, within)


def _share_fields(data: pa.Buffer) -> bool:
    """Return whether the first records have fields in common.

    Arrow holds every field of every record: a few thousand records without a common field would fill
    the memory. Python's parser counts as it goes, and stops.
    """
    fields: set[str] = set()
    for line in data[: min(SAMPLE, data.size)].to_pybytes().split(b"\n")[:-1]:
        try:
            record = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            return True  # Arrow refuses it as well, and the slow path names the line
        fields.update(record if isinstance(record, dict) else ())
    return len(fields) <= MOST_FIELDS


def _parse(data: pa.Buffer) -> pa.Table:
    """Return what Arrow makes of lines of JSON, but for text that it would take for points in time."""
    options = pa_json.ReadOptions(block_size=LONGEST_LINE)
    table = pa_json.read_json(pa.BufferReader(data), read_options=options)
    times = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not times:
        return table
    as_text = pa_json.ParseOptions(explicit_schema=pa.schema([(column, pa.string()) for column in times]))
    return pa_json.read_json(pa.BufferReader(data), read_options=options, parse_options=as_text)


def _is_misread(column: pa.ChunkedArray) -> bool:
    """Return whether text became points in time, or floats reach beyond 2^53: ids may have lost digits."""
    if not pa.types.is_floating(column.type):
        return bool(pa.types.is_temporal(column.type))
    largest = pc.max(pc.abs(column)).as_py()
    return largest is not None and largest >= 2**53


def _open_slowly(name: str, stem: str, data: pa.Buffer, within: Document | None) -> TypedTable:
    """Read with Python's own parser: exact integers, columns of mixed types, errors that name a line."""
    records: list[Any] = []
    for number, line in _lines(name, data):
        try:
            records.append(_load(line))
        except (ValueError, RecursionError) as error:
            problem = f"line {number} of {name} is not JSON ({reason_of(error)})"
            return _open_whole(name, stem, data, problem=problem, within=within)
    if len(records) == 1:
        return _open_whole(name, stem, data, problem="", within=within)
    return open_records(name, stem, records)


def _lines(name: str, data: pa.Buffer) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not blank."""
    stream = io.BufferedReader(pa.BufferReader(data))
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise _too_long(name)
        if line.strip():
            yield number, line


def _too_long(name: str) -> ReadError:
    return ReadError(f"{name} has a line longer than {LONGEST_LINE >> 20} MiB: write one record a line")


def _load(text: bytes) -> Any:
    return json.loads(text.decode("utf-8"), object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"it names {twice!r:.60} more than once")
    return record


def _open_whole(name: str, stem: str, data: pa.Buffer, *, problem: str, within: Document | None = None) -> TypedTable:
    """Return a file that is one JSON value: an array of records, columns, scores by two keys, or one record."""
    if data.size > LARGEST_DOCUMENT:
        size = f"is one JSON value of more than {LARGEST_DOCUMENT >> 20} MiB"
        raise ReadError(f"{problem or f'{name} {size}'}: write one record a line")
    try:
        whole = _load(data.to_pybytes())
    except (ValueError, RecursionError) as error:
        problem = problem or f"{name} is not JSON ({reason_of(error)})"
        raise ReadError(f"{problem}: fix it, or write one record a line") from error
    if isinstance(whole, list):
        return open_records(name, stem, whole)
    if within is not None and isinstance(whole.get(within.records), list):
        _check_header(name, whole, within)
        return open_records(name, stem, whole[within.records])
    if "kind" in whole and "signature" in whole:
        raise ReadError(f"{name} is a saved result of holdsup, not a table of scores")
    if all(isinstance(values, list) for values in whole.values()):
        return open_frame(name, stem, whole)
    if is_nested(whole):
        return open_frame(name, stem, unnest(whole))
    if holds_items(whole):
        return open_frame(name, stem, {"item": list(whole), "score": list(whole.values())})
    return open_records(name, stem, [whole])


def _check_header(name: str, whole: Mapping[str, Any], within: Document) -> None:
    for field, wanted in within.header.items():
        found = whole.get(field, wanted)
        if found != wanted or isinstance(found, bool):  # true is 1 to Python
            raise ReadError(
                f"{name} is a document whose {field} is {found!r:.60}; the one that can be read here is {wanted!r}: "
                "correct it, or use the version of holdsup that wrote it"
            )


def is_shallow(data: pa.Buffer) -> bool:
    """Return whether text is lines of JSON objects that nest too little to overrun a parser's stack.

    Each line must begin with "{" and end with "}": no value can then go on in the next line, so that no
    line is nested deeper than it has opening brackets, those in its text included.
    """
    text = np.frombuffer(data, np.uint8)
    start = 0
    while start < len(text):
        piece = text[start : start + LONGEST_LINE]
        breaks = np.flatnonzero(piece == NEWLINE)
        if start + len(piece) < len(text):
            if not len(breaks):
                return True  # a line beyond the limit: the reader refuses it before it parses it
            piece = piece[: breaks[-1] + 1]
        if not _has_shallow_lines(piece, breaks):
            return False
        start += len(piece)
    return True


def _has_shallow_lines(piece: NDArray[np.uint8], breaks: NDArray[np.intp]) -> bool:
    ends = breaks if len(breaks) and breaks[-1] == len(piece) - 1 else np.append(breaks, len(piece))
    starts = np.append(0, ends[:-1] + 1)
    ends = ends - (piece[ends - 1] == RETURN)  # at the very first byte this looks at the last one: no harm
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    if not len(starts):
        return True
    if (piece[starts] != OPENING).any() or (piece[ends - 1] != CLOSING).any():
        return False
    opened = (piece | 0x20) == OPENING  # "[" becomes "{"
    return bool(np.add.reduceat(opened, starts, dtype=np.int32).max() <= DEEPEST)
