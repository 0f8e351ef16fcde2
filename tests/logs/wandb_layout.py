"""A run as Weights & Biases keeps it: records of Protocol Buffers in the blocks of LevelDB's log, as both document it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

BLOCK = 2**15


def varint(value: int) -> bytes:
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def field(number: int, value: str | bytes) -> bytes:
    """A field that is a text or a message."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def changes(values: Mapping[str, Any], *, nested: bool = False, removed: Iterable[str] = ()) -> bytes:
    """Items of a config or a summary; a name with a slash is one within another where they are nested."""
    items = b""
    for name, value in values.items():
        keys = b"".join(field(2, key) for key in name.split("/")) if nested else field(1, name)
        items += field(1, keys + field(16, json.dumps(value)))
    return items + b"".join(field(2, field(1, name)) for name in removed)


def run_record(ident: str, name: str, config: Mapping[str, Any], project: str = "quiz", group: str = "") -> bytes:
    body = field(1, ident) + field(3, project) + field(4, changes(config)) + field(8, name)
    return field(17, body + (field(6, group) if group else b""))


def exit_record(code: int = 0) -> bytes:
    return field(18, varint(1 << 3) + varint(code) if code else b"")


def write_log(path: Path, records: Iterable[bytes]) -> Path:
    """Write records in pieces that fill blocks of 32 KiB, each with a checksum, its length and its kind."""
    data = b":W&B" + (0xBEE1).to_bytes(2, "little") + b"\0"
    for record in records:
        first = True
        while True:
            room = BLOCK - len(data) % BLOCK
            if room < 7:
                data += bytes(room)
                continue
            piece, record = record[: room - 7], record[room - 7 :]
            kind = bytes([{(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}[first, not record]])
            data += zlib.crc32(kind + piece).to_bytes(4, "little") + len(piece).to_bytes(2, "little") + kind + piece
            first = False
            if not record:
                break
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
