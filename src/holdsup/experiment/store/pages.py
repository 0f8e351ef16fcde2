"""The file of a store and its write-ahead log, read page by page without SQLite: their rows, and whether all is there.

Rows are found wherever a page of a table lies, whatever has become of the header, the schema and the tree
above it: as rows are never changed, every copy of a row whose checksum is right is that row. What is missing at the
end of the file or of the log shows in no gap of row numbers. The format is SQLite's
(https://www.sqlite.org/fileformat2.html): sections 1.3 (header), 1.6 (b-tree pages), 2.1 (records), 4 (WAL).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.experiment.store.schema import PAGE

MAGIC = b"SQLite format 3\0"
PAGES, CHANGES, COUNTED_AT = 28, 24, 92  # places in the header: number of pages, of changes, of changes at that count
INDEX_HEADER = 100  # bytes of a log's index that we read: number of frames at 16, of those copied at 96
LEAF = 0x0D  # first byte of a page that holds rows of a table
HEADER = 100  # bytes before the first page's own header
WAL_HEADER, FRAME_HEADER = 32, 24
FRAME = FRAME_HEADER + PAGE
MOST_COLUMNS = 32
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer by serial type
BIG_ENDIAN = 0x377F0683  # the log's first word, where its checksums are sums of big-endian words; else one less
HEADER_SUMMED, FRAME_SUMMED = 24, 8  # bytes of the log's header, and of a frame's, that checksums cover
WORD = 0xFFFFFFFF


class Found(NamedTuple):
    """A row as it lies in the file: its rowid, and its columns in order, the first of them NULL for the rowid."""

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
    log = list(_committed_pages(path, frames))
    pages = {**_pages_of(path), **dict(log)} if log else {}
    for number, page in log:
        yield from _rows_of(number, page, pages)


def find_cut(path: Path) -> str | None:
    """Return in what way a file or its log is cut off; None where nothing shows that it is."""
    if is_log_cut_off(path):
        return "the log is cut off"
    with path.open("rb") as stream:
        header = stream.read(PAGE)
    said = 0
    if header.startswith(MAGIC) and header[CHANGES : CHANGES + 4] == header[COUNTED_AT : COUNTED_AT + 4]:
        (said,) = struct.unpack_from(">I", header, PAGES)
    if not said:  # the header is damaged, but pages are written whole
        return "the file is cut off within a page" if path.stat().st_size % PAGE else None
    whole = {number for number, page in _pages_of(path).items() if len(page) == PAGE}
    there = sum(page <= said for page in whole | dict(_committed_pages(path)).keys())  # some may be in the log alone
    return f"the file is cut off ({there:,} of its {said:,} pages are there)" if there < said else None


def is_log_cut_off(path: Path) -> bool:
    """Return whether the log is shorter than its index, which a killed process leaves behind, says.

    A log that was all copied into the file may be gone. The index is in the machine's own byte order.
    """
    log, index = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    try:
        with index.open("rb") as stream:
            header = stream.read(INDEX_HEADER)
    except OSError:
        return False
    if len(header) < INDEX_HEADER:
        return False
    (frames,), (copied,) = struct.unpack_from("=I", header, 16), struct.unpack_from("=I", header, 96)
    content = log.stat().st_size - WAL_HEADER if log.exists() else 0
    return bool(copied < frames and content < frames * FRAME)


def count_sound_frames(path: Path) -> int:
    """Return how many frames from the beginning of a file's log have the checksum and the salts that they should have.

    Each frame's checksum goes on from that of the frame before it.
    """
    content = _read_log(path)
    if len(content) < WAL_HEADER:
        return 0
    order = ">" if struct.unpack_from(">I", content)[0] == BIG_ENDIAN else "<"
    sums = _add(content[:HEADER_SUMMED], (0, 0), order)
    if sums != struct.unpack_from(">II", content, HEADER_SUMMED):
        return 0
    for number, start in enumerate(range(WAL_HEADER, len(content) - FRAME + 1, FRAME)):
        sums = _add(content[start : start + FRAME_SUMMED], sums, order)
        sums = _add(content[start + FRAME_HEADER : start + FRAME], sums, order)
        if content[start + 8 : start + 16] != content[16:24] or sums != struct.unpack_from(">II", content, start + 16):
            return number
    return (len(content) - WAL_HEADER) // FRAME


def _pages_of(path: Path) -> dict[int, memoryview]:
    content = memoryview(path.read_bytes())
    return {start // PAGE + 1: content[start : start + PAGE] for start in range(0, len(content), PAGE)}


def _read_log(path: Path) -> bytes:
    """Return the log beside a file; nothing where there is none, or another process has just put it away."""
    try:
        return path.with_name(path.name + "-wal").read_bytes()
    except FileNotFoundError:
        return b""


def _committed_pages(path: Path, frames: int | None = None) -> Iterator[tuple[int, memoryview]]:
    """Yield the pages of all transactions in a log, or in its first frames, that were committed.

    Those from before the log was last begun anew are among them: rows never change, so old pages are as good.
    """
    content = memoryview(_read_log(path))
    if frames is not None:
        content = content[: WAL_HEADER + frames * FRAME]
    salts = b""
    waiting: list[tuple[int, memoryview]] = []
    for start in range(WAL_HEADER, len(content) - FRAME + 1, FRAME):
        number, size = struct.unpack_from(">II", content, start)
        if content[start + 8 : start + 16] != salts:
            salts, waiting = bytes(content[start + 8 : start + 16]), []
        waiting.append((number, content[start + FRAME_HEADER : start + FRAME]))
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
            yield _row_at(page, struct.unpack_from(">H", page, place)[0], pages)
        except (IndexError, struct.error, ValueError, KeyError):
            continue  # no row can be read here; what is missing shows in the gaps of the ids


def _row_at(page: memoryview, place: int, pages: dict[int, memoryview]) -> Found:
    size, place = _varint(page, place)
    ident, place = _varint(page, place)
    most = PAGE - 35  # bytes of a row that stay on its page; section 1.6 has the rule for longer ones
    if size <= most:
        return Found(ident, _record(bytes(page[place : place + size])))
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
    return Found(ident, _record(b"".join(parts)))


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


def _add(content: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the checksum, gone on over more words."""
    first, second = sums
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & WORD
        second = (second + odd + first) & WORD
    return first, second
