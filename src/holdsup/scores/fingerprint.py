"""Rows as 64-bit hashes whose sum does not depend on their order: the data's part of a signature."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels

__all__ = ["digest_rows", "hash_rows"]

PIECE = 2**16  # rows worked on together: they stay in the cache


def hash_rows(
    labels: Mapping[str, Labels], numbers: Mapping[str, NDArray[Any]]
) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """Yield rows, piece by piece, with a hash of each, made of its labels and numbers and the names of their columns.

    Each label has a hash (BLAKE2b), and each number its bits times a hash of its column; the sum over the
    columns is mixed by the finalizer of SplitMix64, so that rows which swap a label get other hashes.
    """
    tables = [(column.codes, _hash_levels(name, column)) for name, column in labels.items()]
    factors = [(values, _hash(f"{name}\0") | np.uint64(1)) for name, values in numbers.items()]
    count = len(tables[0][0] if tables else factors[0][0])
    for start in range(0, count, PIECE):
        rows = slice(start, min(start + PIECE, count))
        hashes = np.zeros(rows.stop - start, np.uint64)
        for codes, of_level in tables:
            hashes += of_level[codes[rows]]
        for values, factor in factors:
            hashes += _bits(values[rows].astype(np.float64, copy=False)) * factor
        _mix(hashes)
        yield rows, hashes


def digest_rows(labels: Mapping[str, Labels], numbers: Mapping[str, NDArray[Any]]) -> str:
    """Return eight hex digits of the sum of the hashes of all rows, modulo 2^64."""
    total = sum(int(hashes.sum(dtype=np.uint64)) for _, hashes in hash_rows(labels, numbers)) % 2**64
    return f"{total >> 32 ^ total & 0xFFFFFFFF:08x}"


def _hash_levels(name: str, column: Labels) -> NDArray[np.uint64]:
    """Return a hash for each level, and last (where code -1 leads) one for no label."""
    texts = (*(f"{name}\0{level}" for level in column.names), name)
    return np.frombuffer(b"".join(map(_digest, texts)), "<u8").astype(np.uint64)


def _hash(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(_digest(text), "little"))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the bits of numbers; every NaN has the same, and 0 and -0."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    return plain.view(np.uint64)


def _mix(state: NDArray[np.uint64]) -> None:
    """Mix each word in place: Steele, Lea & Flood (2014), SplitMix64."""
    state ^= state >> np.uint64(30)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(27)
    state *= np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
