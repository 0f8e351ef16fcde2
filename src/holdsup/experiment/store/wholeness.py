"""Is all of a store's file there, and all of its log? What is missing at their ends shows in no gap of row numbers."""

from __future__ import annotations

import struct
from pathlib import Path

from holdsup.experiment.store.pages import FRAME_HEADER, WAL_HEADER, find_pages
from holdsup.experiment.store.schema import PAGE

__all__ = ["MAGIC", "find_cut", "is_log_cut_off"]

MAGIC = b"SQLite format 3\0"
PAGES, CHANGES, COUNTED_AT = 28, 24, 92  # places in the header: number of pages, of changes, of changes at that count
INDEX_HEADER = 100  # bytes of a log's index that we read: number of frames at 16, of those copied at 96


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
    there = sum(page <= said for page in find_pages(path))  # some may be in the log alone
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
    return bool(copied < frames and content < frames * (FRAME_HEADER + PAGE))
