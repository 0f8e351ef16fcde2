"""The rows of a damaged SQLite file, read page by page without SQLite.

Rows are found wherever a page of a table lies, whatever has become of the header, the schema and the tree
above it: as rows are never changed, every copy of a row whose checksum is right is that row. The format is
SQLite's (https://www.sqlite.org/fileformat2.html): sections 1.6 (b-tree pages), 2.1 (records), 4.1 (WAL).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.experiment.store.schema import PAGE

__all__ = ["FRAME_HEADER", "WAL_HEADER", "Found", "find_logged_rows", "find_pages", "find_rows"]

LEAF = 0x0D  # first byte of a page that holds rows of a table
HEADER = 100  # bytes before the first page's own header
WAL_HEADER, FRAME_HEADER = 32, 24
MOST_COLUMNS = 32
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer by serial type


class Found(NamedTuple):
    """A row as it lies in the file.

    Attributes
    ----------
    page : number of its page, from 1
    ident : its rowid
    values : its columns in order, the first of them NULL for the rowid
    """

    page: int
    ident: int
    values: list[Any]


def find_rows(path: Path) -> Iterator[Found]:
    """Yield everything in the file and in its write-ahead log that reads as a row of a table."""
    pages = _pages_of(path)
    for number, page in pages.items():
        yield from _rows_of(number, page, pages)
    yield from find_logged_rows(path)


def find_logged_rows(path: Path, frames: int | None = None) -> Iterator[Found]:
    """Yield everything in the write-ahead log beside a file, or its first frames, that reads as a row of a table."""
    log = list(_committed_pages(path.with_name(path.name + "-wal"), frames))
    pages = {**_pages_of(path), **dict(log)} if log else {}
    for number, page in log:
        yield from _rows_of(number, page, pages)


def find_pages(path: Path) -> set[int]:
    """Return the numbers of the pages that are whole, in the file or in its write-ahead log."""
    logged = {number for number, _ in _committed_pages(path.with_name(path.name + "-wal"), None)}
    return {number for number, page in _pages_of(path).items() if len(page) == PAGE} | logged


def _pages_of(path: Path) -> dict[int, memoryview]:
    content = memoryview(path.read_bytes())
    return {start // PAGE + 1: content[start : start + PAGE] for start in range(0, len(content), PAGE)}


def _committed_pages(wal: Path, frames: int | None) -> Iterator[tuple[int, memoryview]]:
    """Yield the pages of all transactions in a log that were committed.

    Those from before the log was last begun anew are among them: rows never change, so old pages are as good.
    """
    try:
        content = memoryview(wal.read_bytes())
    except FileNotFoundError:  # no log, or one that another process has just put away
        return
    if frames is not None:
        content = content[: WAL_HEADER + frames * (FRAME_HEADER + PAGE)]
    salts = b""
    waiting: list[tuple[int, memoryview]] = []
    for start in range(WAL_HEADER, len(content) - FRAME_HEADER - PAGE + 1, FRAME_HEADER + PAGE):
        number, size = struct.unpack_from(">II", content, start)
        if content[start + 8 : start + 16] != salts:
            salts, waiting = bytes(content[start + 8 : start + 16]), []
        waiting.append((number, content[start + FRAME_HEADER : start + FRAME_HEADER + PAGE]))
        if size:  # the last frame of a transaction
            yield from waiting
            waiting = []


def _rows_of(number: int, page: memoryview, pages: dict[int, memoryview]) -> Iterator[Found]:
    start = HEADER if number == 1 else 0
    if len(page) < PAGE or page[start] != LEAF:
        return
    (count,) = struct.unpack_from(">H", page, start + 3)
    for i in range(min(count, PAGE // 4)):
        place = start + 8 + 2 * i
        if place + 2 > PAGE:
            return
        try:
            yield _row_at(number, page, struct.unpack_from(">H", page, place)[0], pages)
        except (IndexError, struct.error, ValueError, KeyError):
            continue  # no row can be read here; what is missing shows in the gaps of the ids


def _row_at(number: int, page: memoryview, place: int, pages: dict[int, memoryview]) -> Found:
    size, place = _varint(page, place)
    ident, place = _varint(page, place)
    most = PAGE - 35  # bytes of a row that stay on its page; section 1.6 has the rule for longer ones
    if size <= most:
        return Found(number, ident, _record(bytes(page[place : place + size])))
    least = (PAGE - 12) * 32 // 255 - 23
    local = least + (size - least) % (PAGE - 4)
    local = local if local <= most else least
    parts, left = [page[place : place + local]], size - local
    (follow,) = struct.unpack_from(">I", page, place + local)
    while left > 0:
        overflow = pages[follow]
        (follow,) = struct.unpack_from(">I", overflow, 0)
        parts.append(overflow[4 : 4 + min(left, PAGE - 4)])
        left -= PAGE - 4
    return Found(number, ident, _record(b"".join(parts)))


def _record(payload: bytes) -> list[Any]:
    end, place = _varint(payload, 0)
    kinds = []
    while place < end:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    if len(kinds) > MOST_COLUMNS or place != end:
        raise ValueError("no record")
    values = []
    for kind in kinds:
        value, place = _value(payload, place, kind)
        values.append(value)
    if place != len(payload):
        raise ValueError("no record")
    return values


def _value(payload: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind], place
    if kind == 7:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    size = INTEGERS[kind] if kind < 12 else (kind - 12) // 2
    content = payload[place : place + size]
    if len(content) < size:
        raise ValueError("no record")
    if kind < 12:
        return int.from_bytes(content, "big", signed=True), place + size
    return (content.decode() if kind % 2 else content), place + size


def _varint(data: bytes | memoryview, place: int) -> tuple[int, int]:
    value = 0
    for i in range(8):
        byte = data[place + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + i + 1
    return value << 8 | data[place + 8], place + 9
