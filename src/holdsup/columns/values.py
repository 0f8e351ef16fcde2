"""One value as a label, and text as a number: the two conversions that every reader shares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

TEXT = pa.dictionary(pa.int32(), pa.string())
# In a column of numbers these say "there is none"; in a column of labels they are labels.
DASHES = ("-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "\N{MINUS SIGN}")
MISSING_TOKENS = ("", "NA", "N/A", "n/a", "na", "null", "NULL", "Null", "None", "none", "NONE", "#N/A", "<NA>", *DASHES)
TRUTHS = {"true": 1.0, "false": 0.0}
EXACT = 2**53  # below this a float that is whole is the integer it shows


def parse_number(token: str, decimal: str = ".") -> float | None:
    """Return the number or truth value that `token` is, or None; Python's 1_000 is no number here."""
    if token.lower() in TRUTHS:
        return TRUTHS[token.lower()]
    if decimal != ".":
        if "." in token:  # it might mark thousands
            return None
        token = token.replace(decimal, ".")
    try:
        return float(token) if "_" not in token and token.isascii() else None
    except ValueError:
        return None


def write_value(value: Any) -> str | None:
    """Return a value as the label that it is in any format: 0.1 as "0.1", 3.0 as "3"; None where there is none.

    A whole float is written as an integer because frames turn integers with a gap into floats, and
    because the same id must be the same label whatever else stands in its column.

    >>> write_value(0.1), write_value(3.0), write_value("007"), write_value(float("nan"))
    ('0.1', '3', '007', None)
    """
    if isinstance(value, str):
        return value
    if value is None or _is_missing(value):
        return None
    if isinstance(value, float | np.floating):
        number = float(value)
        whole = math.isfinite(number) and abs(number) < EXACT and number == int(number)
        return str(int(number)) if whole else str(value)
    return str(value.item() if isinstance(value, np.generic) else value)


def _is_missing(value: Any) -> bool:
    try:
        return bool(value != value)  # NaN, NaT
    except (TypeError, ValueError, ArithmeticError):
        return str(value) == "<NA>"  # pandas' NA has no truth value


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is text of some layout."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def to_dictionary(chunks: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return any scalar Arrow column as dictionary<int32, string>, each value written as a label.

    Raises
    ------
    pyarrow.ArrowException : values that are no labels (lists, structs, raw bytes), or damaged ones
    """
    kind = chunks.type
    if pa.types.is_null(kind):
        return chunks.cast(pa.string()).cast(TEXT)
    if pa.types.is_fixed_size_binary(kind):  # what polars makes of Python objects: addresses, not values
        raise pa.ArrowTypeError(f"{kind} is not a label")
    if not pa.types.is_dictionary(kind):
        chunks = (chunks.cast(pa.string()) if is_text(kind) else chunks).dictionary_encode()
    pieces: list[pa.DictionaryArray] = []
    levels, labels = None, None
    for chunk in chunks.chunks:
        if levels is None or not same_buffers(chunk.dictionary, levels):  # chunks encoded together share theirs
            levels, labels = chunk.dictionary, _Written(chunk.dictionary)
        assert labels is not None  # set with the levels
        pieces.append(labels.over(chunk.indices))
    return pa.chunked_array(pieces, TEXT)


def same_buffers(left: pa.Array, right: pa.Array) -> bool:
    """Return whether two arrays are the same memory."""
    sides = [[(b.address, b.size) for b in array.buffers() if b is not None] for array in (left, right)]
    return len(left) == len(right) and left.offset == right.offset and sides[0] == sides[1]


class _Written:
    """The levels of a dictionary as distinct labels, in their order: 1 and true may be written alike."""

    def __init__(self, levels: pa.Array) -> None:
        written = _write_labels(levels)
        written.validate(full=True)  # Parquet does not look whether its text is UTF-8
        self.labels = written.unique().drop_null()
        alike = len(self.labels) < len(written)
        self.place = pc.index_in(written, self.labels) if alike else None

    def over(self, indices: pa.Array) -> pa.DictionaryArray:
        """Return rows of the dictionary as rows of labels."""
        codes = indices if indices.type == pa.int32() else indices.cast(pa.int32())
        codes = codes if self.place is None else self.place.take(codes)
        return pa.DictionaryArray.from_arrays(codes, self.labels)


def _write_labels(values: pa.Array) -> pa.StringArray:
    kind = values.type
    if kind == pa.string():
        return values
    if pa.types.is_boolean(kind):
        return pa.array([write_value(v) for v in values.to_pylist()], pa.string())
    if pa.types.is_floating(kind):  # as NumPy has them: a 32-bit 0.1 is "0.1"
        return pa.array([write_value(v) for v in values.to_numpy(zero_copy_only=False)], pa.string())
    return values.cast(pa.string())
