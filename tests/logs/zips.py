"""Zip archives of which the members are packed by any method; Python's zipfile packs by zstd from 3.14 only."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

STORED, DEFLATED, ZSTD = 0, 8, 93
FRAME = 500  # bytes that a frame of zstd holds, so that members have several


def pack(data: bytes, method: int) -> bytes:
    """What stands in an archive for these bytes."""
    if method == ZSTD:
        frames = range(0, max(len(data), 1), FRAME)
        return b"".join(bytes(pa.compress(data[at : at + FRAME], codec="zstd")) for at in frames)
    if method == DEFLATED:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()
    return data


def write_zip(path: Path, members: Iterable[tuple[str, bytes]], *, method: int = ZSTD, flags: int = 0) -> Path:
    """An archive with these members in this order, as the specification of the format lays it out."""
    directory, at = [], 0
    with path.open("wb") as file:
        for name, data in members:
            packed = pack(data, method)
            common = struct.pack(
                "<5H3I2H", 20, flags, method, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0
            )
            file.write(b"PK\x03\x04" + common[:26] + name.encode() + packed)
            directory.append(b"PK\x01\x02\x14\x00" + common + struct.pack("<3H2I", 0, 0, 0, 0, at) + name.encode())
            at += 30 + len(name) + len(packed)
        listing = b"".join(directory)
        file.write(listing + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, *[len(directory)] * 2, len(listing), at, 0))
    return path
