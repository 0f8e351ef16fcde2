"""`Labels` and numbers: the two forms in which every later step sees a column."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = [
    "MISSING_TOKENS",
    "TEXT",
    "BadNumber",
    "Labels",
    "declared_order",
    "encode_labels",
    "encode_numbers",
    "parse_number",
    "to_dictionary",
]

TEXT = pa.dictionary(pa.int32(), pa.string())
# In a column of numbers these say "there is none"; in a column of labels they are labels.
MISSING_TOKENS = (
    "",
    "NA",
    "N/A",
    "n/a",
    "na",
    "null",
    "NULL",
    "Null",
    "None",
    "none",
    "NONE",
    "#N/A",
    "<NA>",
)
TRUTHS = {"true": 1.0, "false": 0.0}


class BadNumber(ValueError):
    """A column of numbers holds something else: `value`, first at `row` (from 0)."""

    def __init__(self, value: str, row: int) -> None:
        super().__init__(value, row)
        self.value, self.row = value, row


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of labels, as codes into sorted levels.

    Attributes
    ----------
    codes : level of each row, shape (n,), -1 where there is none
    levels : the labels that occur, in code-point order unless the column declares another
    declared : whether the column itself declares the order of its levels
    """

    codes: NDArray[np.int32]
    levels: pa.StringArray
    declared: bool = False

    @classmethod
    def of(cls, codes: NDArray[Any], names: Sequence[str]) -> Labels:
        """Return labels from codes into `names`, which need be neither sorted nor all in use."""
        return _tidy(codes.astype(np.int32), pa.array(names, pa.string()), declared=False, ordered=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The levels as Python strings."""
        return tuple(self.levels.to_pylist())

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def count(self) -> int:
        """How many levels occur."""
        return len(self.levels)

    def take(self, rows: NDArray[Any]) -> Labels:
        """Return the labels of some rows (indices or a mask), levels that no longer occur dropped."""
        return _tidy(self.codes[rows], self.levels, declared=self.declared, ordered=True)


def encode_labels(chunks: pa.ChunkedArray, *, declared: bool = False) -> Labels:
    """Return a dictionary-encoded Arrow column as `Labels`; the empty string counts as no label."""
    unified = chunks.unify_dictionaries()
    if unified.num_chunks == 0:
        return Labels(np.empty(0, np.int32), pa.array([], pa.string()))
    levels = unified.chunk(unified.num_chunks - 1).dictionary  # the last chunk knows all levels
    levels = levels if levels.type == pa.string() else levels.cast(pa.string())
    indices = [pc.fill_null(chunk.indices, -1).to_numpy(zero_copy_only=False) for chunk in unified.chunks]
    codes = np.concatenate(indices).astype(np.int32, copy=False)
    return _tidy(codes, levels, declared=declared, ordered=declared)


def _tidy(codes: NDArray[np.int32], levels: pa.StringArray, *, declared: bool, ordered: bool) -> Labels:
    """Return labels whose levels all occur, sorted unless they are `ordered` already."""
    occurs = np.bincount(codes + 1, minlength=len(levels) + 1)[1:] > 0
    empty = pc.index(levels, "").as_py()
    if empty >= 0:
        occurs[empty] = False
    order = np.arange(len(levels)) if ordered else pc.sort_indices(levels).to_numpy()
    kept = order[occurs[order]]
    if len(kept) == len(levels) and np.array_equal(kept, np.arange(len(levels))):
        return Labels(codes, levels, declared)
    recode = np.full(len(levels) + 1, -1, np.int32)  # the extra last place serves code -1
    recode[kept] = np.arange(len(kept), dtype=np.int32)
    return Labels(recode[codes], levels.take(pa.array(kept)), declared)


def encode_numbers(chunks: pa.ChunkedArray) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return an Arrow column as floats, and where it holds no value (as opposed to NaN).

    Raises
    ------
    BadNumber : text that is no number
    """
    kind = chunks.type
    if pa.types.is_dictionary(kind) or _is_text(kind) or pa.types.is_null(kind):
        return _parse(encode_labels(to_dictionary(chunks)))
    absent = pc.is_null(chunks).to_numpy() if chunks.null_count else np.zeros(len(chunks), bool)
    floats = chunks if kind == pa.float64() else chunks.cast(pa.float64(), safe=False)
    values = np.array(pc.fill_null(floats, math.nan) if chunks.null_count else floats, dtype=np.float64)
    return values, absent


def _parse(labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return labels read as numbers: each level is parsed once."""
    values = np.full(labels.count + 1, math.nan)
    absent = np.zeros(labels.count + 1, bool)
    absent[-1] = True
    for code, name in enumerate(labels.names):
        token = name.strip()
        if token in MISSING_TOKENS:
            absent[code] = True
        elif (number := parse_number(token)) is not None:
            values[code] = number
        else:
            rows = [np.flatnonzero(labels.codes == c)[0] for c, n in enumerate(labels.names) if _is_bad(n)]
            row = int(min(rows))
            raise BadNumber(labels.names[labels.codes[row]], row)
    return values[labels.codes], absent[labels.codes]


def _is_bad(name: str) -> bool:
    return name.strip() not in MISSING_TOKENS and parse_number(name.strip()) is None


def parse_number(token: str) -> float | None:
    """Return the number or truth value that `token` is, or None; Python's 1_000 is no number here."""
    if token.lower() in TRUTHS:
        return TRUTHS[token.lower()]
    try:
        return float(token) if "_" not in token else None
    except ValueError:
        return None


def to_dictionary(chunks: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return any scalar Arrow column as dictionary<int32, string>, each value written as a label."""
    kind = chunks.type
    if kind == TEXT:
        return chunks
    if pa.types.is_dictionary(kind):
        return _encoded(chunks)
    if pa.types.is_null(kind):
        return chunks.cast(pa.string()).cast(TEXT)
    if pa.types.is_floating(kind):
        chunks = pc.if_else(pc.is_nan(chunks), pa.scalar(None, kind), chunks)
    if not isinstance(chunks, pa.ChunkedArray):
        chunks = pa.chunked_array([chunks])
    if _is_text(kind) and kind != pa.string():
        chunks = chunks.cast(pa.string())
    return _encoded(chunks.dictionary_encode())


def _encoded(chunks: pa.ChunkedArray) -> pa.ChunkedArray:
    pieces = []
    for chunk in chunks.unify_dictionaries().chunks:
        levels = write_labels(chunk.dictionary)
        pieces.append(pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), levels))
    merged = pa.chunked_array(pieces, TEXT)
    # Two values may be written alike (1 and true, say): encode again so that a level stands once.
    if pieces and pc.count_distinct(pieces[-1].dictionary).as_py() < len(pieces[-1].dictionary):
        return merged.cast(pa.string()).dictionary_encode()
    return merged


def write_labels(values: pa.Array) -> pa.StringArray:
    """Return distinct values as labels: 0.1 becomes "0.1", integers stay exact at any size.

    Floats that are all whole numbers are written as integers: they are ids that passed through a
    frame which turned integers with a gap into floats.
    """
    kind = values.type
    if pa.types.is_boolean(kind):
        return pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())
    if not pa.types.is_floating(kind):
        return values.cast(pa.string())
    floats = values.to_pylist()
    whole = all(v is None or (math.isfinite(v) and v == int(v)) for v in floats)
    return pa.array([None if v is None else str(int(v)) if whole else repr(v) for v in floats], pa.string())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def declared_order(schema: pa.Schema, column: str) -> bool:
    """Return whether a column declares the order of its levels: an ordered or a pandas categorical."""
    kind = schema.field(column).type
    if not pa.types.is_dictionary(kind):
        return False
    if kind.ordered:
        return True
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("columns", [])
        return any(c.get("name") == column and c.get("pandas_type") == "categorical" for c in described)
    except (ValueError, AttributeError):
        return False
