"""From whatever a user has to tables whose columns are known: paths, folders, patterns, streams, frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from holdsup.columns.delimited import blank_comments, open_delimited
from holdsup.columns.jsonl import Document, open_json
from holdsup.columns.sources import Source, find_sources, read_bytes
from holdsup.columns.typed import open_frame, open_parquet
from holdsup.errors import ReadError
from holdsup.progress import Progress, no_progress


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

    @property
    def stated(self) -> Any:
        """What the table itself says about the roles of its columns, as it says it; empty if nothing."""

    def guess(self, column: str) -> str:
        """Return "number", "label" or "other" for what a column seems to hold."""

    def declares_order(self, column: str) -> bool:
        """Return whether the column declares the order of its levels."""

    def decimal(self, column: str) -> str:
        """Return the decimal mark of numbers that come as text."""

    def read(self, kinds: Mapping[str, str]) -> dict[str, pa.ChunkedArray]:
        """Return columns, each to be used as the kind given: "number", "label", or "text" as it stands there."""

    def locate(self, row: int) -> str:
        """Return in words where a row (from 0) stands."""


def open_tables(
    data: Any, *, comment: str = "", within: Document | None = None, progress: Progress = no_progress
) -> list[OpenTable]:
    """Return the tables that `data` stands for: paths, folders, patterns, "-", frames, or several of these.

    Parameters
    ----------
    comment : what lines above the header begin with that are not part of the table
    within : where a JSON document holds its records, and what else it says, if it is one
    """
    if isinstance(data, str | Path):
        sources = find_sources(data)
        tables = []
        for i, source in enumerate(sources):
            progress(i, len(sources), f"opening {source.name}")
            tables.append(_open_file(source, comment, within))
        return tables
    if isinstance(data, list | tuple) and data and all(_is_table(piece) for piece in data):
        return [
            table for piece in data for table in open_tables(piece, comment=comment, within=within, progress=progress)
        ]
    kind = type(data).__name__
    return [open_frame(f"the {kind} given", kind, data)]


def _is_table(piece: Any) -> bool:
    return isinstance(piece, str | Path) or hasattr(piece, "__arrow_c_stream__")


def _open_file(source: Source, comment: str, within: Document | None) -> OpenTable:
    data = read_bytes(source)
    if data[: min(4, data.size)].to_pybytes() == b"PAR1":
        return open_parquet(source.name, source.stem, data, path=_where(source))
    data = _as_utf8(source.name, data)
    if comment:
        data = blank_comments(data, comment.encode())
    head = data[: min(1024, data.size)].to_pybytes().lstrip()
    if data.size == 0:
        raise ReadError(f"{source.name} is empty: a table needs a header line and rows")
    if head.startswith((b"{", b"[")):
        return open_json(source.name, source.stem, data, within=within)
    return open_delimited(source.name, source.stem, data)


def _where(source: Source) -> Path | None:
    """Return the path of a Parquet file that can be read from there again: not a pipe, and not packed."""
    if source.path is None or not source.path.is_file():
        return None
    with source.path.open("rb") as file:
        return source.path if file.read(4) == b"PAR1" else None


def _as_utf8(name: str, data: pa.Buffer) -> pa.Buffer:
    """Return text without its byte-order mark, in UTF-8."""
    head = data[: min(3, data.size)].to_pybytes()
    if head == b"\xef\xbb\xbf":
        return data[3:]
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data
    try:
        return pa.py_buffer(data.to_pybytes().decode("utf-16").encode())
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} begins as UTF-16 but breaks off at byte {error.start:,}: copy it again") from error
