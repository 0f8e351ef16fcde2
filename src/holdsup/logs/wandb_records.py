"""The file that Weights & Biases keeps of a run (`run-ID.wandb`): records of Protocol Buffers in a log of blocks.

Each block of 32 KiB holds pieces of records, each with a checksum, a length and a kind: the layout of LevelDB's log. Of
a record, fields are pairs of a number and a value. Only a few are needed here, and none has been renumbered since 2020.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.columns.limits import reason_of
from holdsup.errors import ReadError
from holdsup.logs.files import LONGEST, UNREADABLE, parse

MAGIC = b":W&B"
HEAD, BLOCK = 7, 2**15  # bytes of the file's own header; of a block
PIECE = struct.Struct("<IHB")  # checksum, length, kind
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4  # kinds of pieces
LARGEST_SHIFT = 63  # bits of a whole number
SUMMARY, CONFIG, RUN, EXIT = 3, 5, 17, 18  # kinds of records, by their field
UPDATE, REMOVE = 1, 2  # fields of a summary and of a config
KEY, NESTED, JSON = 1, 2, 16  # fields of an item of these
IDENT, PROJECT, OWN_CONFIG, OWN_SUMMARY, GROUP, NAME = 1, 3, 4, 5, 6, 8  # fields of a run


class Kept(NamedTuple):
    """What a file says of its run."""

    about: dict[int, str]  # text of a run by its field
    config: dict[str, Any]
    summary: dict[str, Any]
    ended: bool  # whether the run came to its end, and well


def read_run(path: Path) -> Kept:
    """Return what a file says of its run: its settings, and the last value of each metric as the tool summed it up."""
    kept, about, ended = {CONFIG: dict[str, Any](), SUMMARY: dict[str, Any]()}, dict[int, str](), False
    for record in _records(path):
        for kind, body in _fields(record, path):
            if kind == RUN:
                for field, value in _fields(body, path):
                    if field in (OWN_CONFIG, OWN_SUMMARY):
                        _apply(kept[CONFIG if field == OWN_CONFIG else SUMMARY], value, path)
                    elif isinstance(value, bytes):
                        about[field] = value.decode("utf-8", "replace")
            elif kind in (CONFIG, SUMMARY):
                _apply(kept[kind], body, path)
            elif kind == EXIT:
                ended = not dict(_fields(body, path)).get(1)  # the exit code; a 0 is not written
    return Kept(about, kept[CONFIG], kept[SUMMARY], ended)


def _records(path: Path) -> Iterator[bytes]:
    """Yield the whole records of a file; the last may be missing, as the run may still be going on."""
    held = list[bytes]()
    try:
        with path.open("rb") as file:
            block, start = file.read(BLOCK), HEAD
            while block:
                at = start
                while at + PIECE.size <= len(block):
                    checksum, length, kind = PIECE.unpack_from(block, at)
                    piece = block[at + PIECE.size : at + PIECE.size + length]
                    if len(piece) < length or not kind:
                        break  # cut off, or the padding at the end of a block
                    if checksum != zlib.crc32(bytes([kind]) + piece) or len(held) > LONGEST // BLOCK:
                        raise ReadError(f"{path} is damaged: a checksum is wrong. Copy it again")
                    if kind in (WHOLE, FIRST):
                        held.clear()
                    held.append(piece)
                    if kind in (WHOLE, LAST):
                        yield b"".join(held)
                    at += PIECE.size + length
                block, start = file.read(BLOCK), 0
    except UNREADABLE as error:
        raise ReadError(f"cannot read {path}: {reason_of(error)}") from error


def _fields(body: Any, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a message: texts and messages as bytes, whole numbers as such, others not at all."""
    at = 0
    try:
        while at < len(body):
            tag, at = _number(body, at)
            field, kind = tag >> 3, tag & 7
            if kind == 0:
                value, at = _number(body, at)
                yield field, value
            elif kind == 2:
                length, at = _number(body, at)
                if at + length > len(body):
                    raise ReadError(f"{path} is damaged: a record ends too early. Copy it again")
                yield field, body[at : at + length]
                at += length
            else:
                at += {1: 8, 5: 4}[kind]
    except (LookupError, TypeError, ValueError) as error:
        raise ReadError(f"{path} holds a record that is none of Weights & Biases'") from error


def _number(body: bytes, at: int) -> tuple[int, int]:
    """Return a whole number, of which each byte gives seven bits, and where it ends."""
    value = shift = 0
    while True:
        byte = body[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > LARGEST_SHIFT:
            raise ValueError


def _apply(held: dict[str, Any], body: bytes, path: Path) -> None:
    """Change settings or values as a record says."""
    for field, item in _fields(body, path):
        parts = list(_fields(item, path)) if field in (UPDATE, REMOVE) else []
        keys = [value.decode("utf-8", "replace") for number, value in parts if number in (KEY, NESTED)]
        texts = [value for number, value in parts if number == JSON]
        if keys and field == UPDATE and texts:
            _put(held, keys, parse(texts[-1], f"{keys[-1]} in {path}"))
        elif keys and field == REMOVE:
            held.pop(keys[0], None)


def _put(held: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        inner = held.get(key)
        if not isinstance(inner, dict):
            inner = held[key] = {}
        held = inner
    held[keys[-1]] = value
