"""Text as bytes, before it is parsed: lines counted, comments and blanks out of the way."""

from __future__ import annotations

import io
import re

import numpy as np
import pyarrow as pa

from holdsup.columns.limits import LONGEST_LINE
from holdsup.errors import ReadError

__all__ = [
    "Extended",
    "blank_comments",
    "count_lines",
    "drop_last_blanks",
    "find_bad_line",
    "say_too_long",
    "tab_blanks",
]

MARK = b"\xef\xbb\xbf"  # of the order of bytes, in UTF-8
PIECE = 2**18  # bytes looked at together: they stay in the cache


class Extended(io.RawIOBase):
    """A buffer, its last line ended, and a last row after it."""

    def __init__(self, body: pa.Buffer, last: bytes) -> None:
        ended = body.size == 0 or body[body.size - 1 :].to_pybytes() in b"\r\n"
        marked = body[: min(3, body.size)].to_pybytes() == MARK  # Arrow drops one at the start, also a label's own
        self._parts = [
            memoryview(MARK if marked else b""),
            memoryview(body),
            memoryview(last if ended else b"\n" + last),
        ]

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; without a size, all of them."""
        taken = b""
        while self._parts and (size < 0 or len(taken) < size):
            part = self._parts.pop(0)
            room = len(part) if size < 0 else size - len(taken)
            taken += part[:room]
            if room < len(part):
                self._parts.insert(0, part[room:])
        return taken


def blank_comments(data: pa.Buffer, mark: bytes) -> pa.Buffer:
    """Return text with empty lines for those at its beginning that begin with `mark`: rows keep their line numbers.

    Below the header a line that begins with the mark is a row. A spreadsheet puts a comment that holds a
    comma between quotation marks.
    """
    stream = io.BufferedReader(pa.BufferReader(data))
    lines, end = 0, 0
    while line := stream.readline(LONGEST_LINE):
        if line.strip() and not line.startswith((mark, b'"' + mark)):
            break
        lines, end = lines + 1, end + len(line)
    return pa.py_buffer(b"\n" * lines + data[end:].to_pybytes()) if lines else data


def tab_blanks(name: str, body: pa.Buffer) -> pa.Buffer:
    """Return text with a tab for each run of blanks between fields, and none around them."""
    out = pa.BufferOutputStream()
    start = 0
    while start < body.size:
        piece = body[start : min(start + LONGEST_LINE, body.size)].to_pybytes()
        if start + len(piece) < body.size:
            piece = piece[: max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1]
            if not piece:
                raise ReadError(say_too_long(name))
        bare = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", piece)
        out.write(re.sub(rb"[ \t]+", b"\t", bare))
        start += len(piece)
    return out.getvalue()


def drop_last_blanks(body: pa.Buffer) -> pa.Buffer:
    """Return text without the blanks and empty lines at its end."""
    while body.size:
        last = body[max(0, body.size - PIECE) :].to_pybytes()
        blanks = len(last) - len(last.rstrip())
        body = body[: body.size - blanks]
        if blanks < len(last):
            break
    return body


def say_too_long(name: str) -> str:
    """Return what is wrong with a file whose lines do not end."""
    return f"{name} has a line longer than {LONGEST_LINE >> 20} MiB: this is not a table of scores"


def count_lines(body: pa.Buffer) -> int | None:
    """Return how many lines a text has, or None if they do not all end in a bare line feed."""
    text = np.frombuffer(body, np.uint8)
    lines = 0
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        if (piece == ord("\r")).any():
            return None
        lines += int(np.count_nonzero(piece == ord("\n")))
    return lines + int(len(text) > 0 and text[-1] != ord("\n"))


def find_bad_line(data: pa.Buffer) -> int:
    """Return the first line, from 1, that is not UTF-8."""
    raw: bytes = data.to_pybytes()
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return raw.count(b"\n", 0, error.start) + 1
    return 1
