"""The checksums of a write-ahead log: how far is it as it was written?

Each frame's checksum goes on from that of the frame before it, as SQLite's file format says (section 4.2 of its
description). A log is sound up to the first frame whose checksum is wrong.
"""

from __future__ import annotations

import struct
from pathlib import Path

from holdsup.experiment.store.pages import FRAME_HEADER, WAL_HEADER
from holdsup.experiment.store.schema import PAGE

__all__ = ["count_sound_frames"]

BIG_ENDIAN = 0x377F0683  # the log's first word, where its checksums are sums of big-endian words; else one less
HEADER_SUMMED, FRAME_SUMMED = 24, 8  # bytes of the log's header, and of a frame's, that checksums cover
WORD = 0xFFFFFFFF


def count_sound_frames(wal: Path) -> int:
    """Return how many frames from the beginning of a log have the checksum and the salts that they should have."""
    try:
        content = wal.read_bytes()
    except FileNotFoundError:
        return 0
    if len(content) < WAL_HEADER:
        return 0
    order = ">" if struct.unpack_from(">I", content)[0] == BIG_ENDIAN else "<"
    sums = _add(content[:HEADER_SUMMED], (0, 0), order)
    if sums != struct.unpack_from(">II", content, HEADER_SUMMED):
        return 0
    salts, size = content[16:24], FRAME_HEADER + PAGE
    for frame, start in enumerate(range(WAL_HEADER, len(content) - size + 1, size)):
        sums = _add(content[start : start + FRAME_SUMMED], sums, order)
        sums = _add(content[start + FRAME_HEADER : start + size], sums, order)
        if content[start + 8 : start + 16] != salts or sums != struct.unpack_from(">II", content, start + 16):
            return frame
    return (len(content) - WAL_HEADER) // size


def _add(content: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the checksum, gone on over more words."""
    first, second = sums
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & WORD
        second = (second + odd + first) & WORD
    return first, second
