"""Files of logs, read within limits: JSON documents, and lines of JSON one at a time."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from holdsup.columns.limits import LARGEST_DOCUMENT, check_ratio, reason_of
from holdsup.errors import ReadError

HEAD = 2**16  # bytes by which a file is recognised
LONGEST = 2**28  # bytes of one line of a log: a whole conversation, with its pictures
UNREADABLE = (OSError, EOFError, zlib.error)  # what a file that is locked, cut off or damaged raises


def read_head(path: Path, size: int = HEAD) -> bytes:
    """Return the first bytes of a file; none where it cannot be read, so that no reader recognises it."""
    try:
        with open_file(path) as file:
            return file.read(size)
    except UNREADABLE:
        return b""


def open_file(path: Path) -> BinaryIO:
    """Return a file open for reading, unpacked if its first bytes say that it is packed by gzip."""
    file = path.open("rb")
    if file.read(2) == b"\x1f\x8b":
        file.close()
        return io.BufferedReader(gzip.GzipFile(path))
    file.seek(0)
    return file


def read_document(path: Path) -> Any:
    """Return a file that is one JSON value."""
    try:
        with open_file(path) as file:
            data = file.read(LARGEST_DOCUMENT + 1)
    except UNREADABLE as error:
        raise ReadError(f"cannot read {path}: {reason_of(error)}") from error
    if len(data) > LARGEST_DOCUMENT:
        raise ReadError(f"{path} is one JSON value of more than {LARGEST_DOCUMENT >> 20} MiB: split it")
    return parse(data, str(path))


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line of a file that is not blank."""
    taken = number = 0
    packed = path.stat().st_size
    try:
        with open_file(path) as file:
            while line := file.readline(LONGEST + 1):
                number += 1
                taken += len(line)
                if len(line) > LONGEST:
                    raise ReadError(f"line {number} of {path} is longer than {LONGEST >> 20} MiB: this is not a log")
                if problem := check_ratio(str(path), packed, taken):
                    raise ReadError(problem)
                if line.strip():
                    yield number, line
    except UNREADABLE as error:
        raise ReadError(f"cannot read {path} beyond line {number}: {reason_of(error)}") from error


def parse(data: bytes, name: str) -> Any:
    """Return what JSON text says; `name` is what it is part of, for messages."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReadError(
            f"{name} is not whole JSON ({explain(error)}): it was cut off, or is still being written"
        ) from error


def explain(error: Exception) -> str:
    """Return what is wrong with JSON text, as part of a line."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "it holds bytes that are no text"


def mapping(value: object) -> dict[str, Any]:
    """Return a value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


def clean(text: str) -> str:
    """Return text that can be written: JSON may hold halves of characters."""
    return text.encode("utf-8", "replace").decode()


def digest(*parts: object) -> str:
    """Return a short digest of texts, or of anything that JSON can hold, to tell whether two logs hold the same."""
    text = parts[0] if len(parts) == 1 and isinstance(parts[0], str) else json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def flat(values: Iterable[object]) -> str:
    """Return values as one text, for a condition that is a list."""
    return ", ".join(str(value) for value in values)
