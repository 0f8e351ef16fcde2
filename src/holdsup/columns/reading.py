"""From whatever a user has to encoded columns: open the tables, then read what is needed of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.delimited import open_delimited
from holdsup.columns.encoding import (
    MISSING_TOKENS,
    TEXT,
    BadNumber,
    Labels,
    encode_labels,
    encode_numbers,
    parse_number,
    to_dictionary,
)
from holdsup.columns.jsonl import open_json
from holdsup.columns.sources import Source, find_sources, read_bytes
from holdsup.columns.typed import open_frame, open_parquet
from holdsup.errors import ColumnError, ReadError
from holdsup.progress import Progress, no_progress

__all__ = ["Column", "Columns", "Numbers", "OpenTable", "open_tables", "read_columns"]


class OpenTable(Protocol):
    """A table whose columns are known and can be read."""

    @property
    def name(self) -> str:
        """What messages call it: the path, or the type of the frame."""

    @property
    def stem(self) -> str:
        """A short name for what is in it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its column names."""

    def guess(self, column: str) -> str:
        """Return "number", "label" or "other" for what a column seems to hold."""

    def declares_order(self, column: str) -> bool:
        """Return whether the column declares the order of its levels."""

    def read(self, kinds: Mapping[str, str]) -> dict[str, pa.ChunkedArray]:
        """Return columns, each to be used as the kind ("number" or "label") given."""

    def locate(self, row: int) -> str:
        """Return in words where a row (from 0) stands."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers: `values` (NaN where there is none) and where the value is `absent`."""

    values: NDArray[np.float64]
    absent: NDArray[np.bool_]


Column = Labels | Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Encoded columns of several tables, one under the other.

    Attributes
    ----------
    named : the columns
    lengths : how many rows came from each table
    """

    named: Mapping[str, Column]
    lengths: tuple[int, ...]


def open_tables(data: Any, *, progress: Progress = no_progress) -> list[OpenTable]:
    """Return the tables that `data` stands for: paths, folders, patterns, "-", frames, or several of these."""
    if isinstance(data, str | Path):
        sources = find_sources(data)
        tables = []
        for i, source in enumerate(sources):
            progress(i, len(sources), f"opening {source.name}")
            tables.append(_open_file(source))
        return tables
    if isinstance(data, list | tuple) and data and all(_is_table(piece) for piece in data):
        return [table for piece in data for table in open_tables(piece, progress=progress)]
    kind = type(data).__name__
    return [open_frame(f"the {kind} given", kind, data)]


def _is_table(piece: Any) -> bool:
    return isinstance(piece, str | Path) or hasattr(piece, "__arrow_c_stream__")


def _open_file(source: Source) -> OpenTable:
    data = read_bytes(source)
    if data.size == 0:
        raise ReadError(f"{source.name} is empty: a table needs a header line and rows")
    head = data[: min(1024, data.size)].to_pybytes().removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return open_parquet(source.name, source.stem, data)
    if head.startswith((b"{", b"[")):
        return open_json(source.name, source.stem, data)
    return open_delimited(source.name, source.stem, data)


def read_columns(
    tables: list[OpenTable],
    *,
    labels: Iterable[str] = (),
    numbers: Iterable[str] = (),
    either: Iterable[str] = (),
    progress: Progress = no_progress,
) -> Columns:
    """Return columns of all tables, one under the other, encoded.

    Parameters
    ----------
    labels : columns to read as labels, whatever they hold
    numbers : columns that must hold numbers; text in them is an error that names the row
    either : columns to read as numbers if they hold nothing else, otherwise as labels
    """
    required = set(numbers)
    kinds = {**dict.fromkeys(labels, "label"), **dict.fromkeys(required, "number")}
    kinds.update({column: _guess(tables, column) for column in either if column not in kinds})
    parts = []
    for i, table in enumerate(tables):
        progress(i, len(tables), f"reading {table.name}")
        parts.append(table.read({column: kind for column, kind in kinds.items() if column in table.columns}))
    found: dict[str, Column] = {}
    for column, kind in kinds.items():
        pieces = [_piece(part, column) for part in parts]
        if kind == "label":
            found[column] = _join_labels(tables, column, pieces)
            continue
        try:
            found[column] = _join_numbers(tables, column, pieces)
        except ColumnError:
            if column in required:
                raise
            again = [table.read({column: "label"} if column in table.columns else {}) for table in tables]
            pieces = [_piece(part, column, like=piece) for part, piece in zip(again, pieces, strict=True)]
            found[column] = _join_labels(tables, column, pieces)
    return Columns(found, tuple(len(next(iter(part.values()), ())) for part in parts))


def _guess(tables: list[OpenTable], column: str) -> str:
    guesses = {table.guess(column) for table in tables if column in table.columns}
    return "number" if guesses == {"number"} else "label"


def _piece(part: Mapping[str, pa.ChunkedArray], column: str, *, like: pa.ChunkedArray | None = None) -> pa.ChunkedArray:
    """Return a table's part of a column; all missing, as long as the others, if it does not have it."""
    if column in part:
        return part[column]
    length = len(like) if like is not None else len(next(iter(part.values()), ()))
    return pa.chunked_array([pa.nulls(length)])


def _join_labels(tables: list[OpenTable], column: str, pieces: list[pa.ChunkedArray]) -> Labels:
    declared = all(table.declares_order(column) for table in tables if column in table.columns)
    chunks = [chunk for piece in pieces for chunk in to_dictionary(piece).chunks]
    return encode_labels(pa.chunked_array(chunks, TEXT), declared=declared)


def _join_numbers(tables: list[OpenTable], column: str, pieces: list[pa.ChunkedArray]) -> Numbers:
    encoded = []
    for table, piece in zip(tables, pieces, strict=True):
        try:
            encoded.append(encode_numbers(piece))
        except BadNumber as bad:
            raise _explain(table, column, bad) from None
    if len(encoded) == 1:
        return Numbers(*encoded[0])
    return Numbers(np.concatenate([v for v, _ in encoded]), np.concatenate([a for _, a in encoded]))


def _explain(table: OpenTable, column: str, bad: BadNumber) -> ColumnError:
    where = f"{table.locate(bad.row)} of {table.name}"
    if bad.value.strip() == column:
        return ColumnError(f"{where} repeats the header: were two files put together? Delete that line.")
    if "," in bad.value and parse_number(bad.value.replace(",", ".").strip()) is not None:
        return ColumnError(f"{where} has {bad.value!r} in column {column!r}: write decimals with a point.")
    known = ", ".join(token for token in MISSING_TOKENS[1:4])
    return ColumnError(
        f"{where} has {bad.value!r:.60} in column {column!r}, which must hold numbers; "
        f"write a number, or leave it empty ({known} do as well) if there is none."
    )
