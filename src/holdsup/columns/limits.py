"""What input may ask of this machine. Input is hostile until it is read; every limit lives here."""

from __future__ import annotations

LONGEST_LINE = 4 * 2**20  # bytes; a row of scores has hundreds, a row with a text a few thousand
LARGEST_STREAM = 8 * 2**30  # bytes taken from a pipe or out of a compressed file; Parquet has no such limit
LARGEST_DOCUMENT = 256 * 2**20  # bytes of JSON that is one value, not a record a line
LONGEST_NAME = 1_000  # characters in the name of a column
MOST_COLUMNS = 20_000
MOST_FILES = 100_000  # in a folder of logs
MOST_ROWS = 2**31 - 1  # in memory: codes are 32-bit
MOST_IN_MEMORY = 2**24  # rows; a fit holds some 150 bytes a row, so 2.5 GiB. Parquet beyond it is read in batches
MOST_MEASUREMENTS = 100_000  # published values, of which there are a few; more are scores
DEEPEST = 1_000  # levels of nesting in JSON; Arrow's parser overruns its stack at some 10,000
FLATTENED = 4  # levels of objects in records whose fields become columns: metrics.f1
MOST_EXPANSION = 200  # decompressed / compressed; text reaches 20, bombs 1,000
HARMLESS = 64 * 2**20  # bytes that any machine can hold, whatever the ratio


def check_expansion(name: str, compressed: int, expanded: int) -> str | None:
    """Return what is wrong when `expanded` bytes came out of `compressed` ones, or None."""
    if expanded > LARGEST_STREAM:
        return f"{name} unpacks to more than {LARGEST_STREAM >> 30} GiB: convert it to Parquet"
    return check_ratio(name, compressed, expanded)


def check_ratio(name: str, compressed: int, expanded: int) -> str | None:
    """Return what is wrong when so few bytes give so many, whatever their number, or None."""
    if expanded > HARMLESS and expanded > MOST_EXPANSION * compressed:
        return f"{name} unpacks to more than {MOST_EXPANSION} times its size: this is not a table of scores"
    return None


def reason_of(error: BaseException) -> str:
    r"""Return what another library says is wrong, as part of a line.

    >>> reason_of(ValueError("bad\n  thing"))
    'bad thing'
    """
    words = " ".join(str(error).split()) or type(error).__name__
    text = "".join(c if c.isprintable() else "?" for c in words)
    return text if len(text) <= 120 else text[:117] + "..."
