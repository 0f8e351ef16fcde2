"""What input may ask of this machine. Input is hostile until it is read; every limit lives here."""

from __future__ import annotations

__all__ = ["LARGEST_STREAM", "LONGEST_LINE", "MOST_COLUMNS", "MOST_ROWS", "check_expansion"]

LONGEST_LINE = 4 * 2**20  # bytes; a row of scores has hundreds, a row with a text a few thousand
LARGEST_STREAM = 8 * 2**30  # bytes taken from a pipe or out of a compressed file; Parquet has no such limit
MOST_COLUMNS = 20_000
MOST_ROWS = 2**31 - 1  # codes are 32-bit
MOST_EXPANSION = 200  # decompressed / compressed; text reaches 20, bombs 1,000
HARMLESS = 64 * 2**20  # bytes that any machine can hold, whatever the ratio


def check_expansion(name: str, compressed: int, expanded: int) -> str | None:
    """Return what is wrong when `expanded` bytes came out of `compressed` ones, or None."""
    if expanded > LARGEST_STREAM:
        return f"{name} unpacks to more than {LARGEST_STREAM >> 30} GiB: convert it to Parquet"
    if expanded > HARMLESS and expanded > MOST_EXPANSION * compressed:
        return f"{name} unpacks to more than {MOST_EXPANSION} times its size: it is no table of scores"
    return None
