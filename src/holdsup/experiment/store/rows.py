"""The checksum of a row: over its table, its id and all its values, in a form that no two rows share."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any

__all__ = ["checksum", "is_sound"]

DIGEST = 16  # bytes


def checksum(table: str, ident: int, values: Sequence[Any]) -> bytes:
    """Return the checksum of a row: each value goes in with its kind and its length."""
    parts = [table.encode(), b"%d" % ident]
    for value in values:
        kind, content = _written(value)
        parts.append(b"%c%d:" % (kind, len(content)))
        parts.append(content)
    return hashlib.blake2b(b"\n".join(parts), digest_size=DIGEST).digest()


def is_sound(table: str, ident: int, values: Sequence[Any], stamp: Any) -> bool:
    """Return whether a row is the one that was written."""
    try:
        return bool(checksum(table, ident, values) == stamp)
    except (TypeError, UnicodeEncodeError):
        return False


def _written(value: Any) -> tuple[bytes, bytes]:
    if isinstance(value, str):
        return b"s", value.encode()
    if isinstance(value, bytes):
        return b"b", value
    if isinstance(value, float):
        return b"f", struct.pack(">d", value)
    if isinstance(value, int):
        return b"i", b"%d" % value
    if value is None:
        return b"n", b""
    raise TypeError(f"a row holds {type(value).__name__}")
