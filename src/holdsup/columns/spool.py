"""An iterator of batches, which can be read once, written to temporary Parquet files, which can be read again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdsup.columns.opening import OpenTable
from holdsup.columns.reading import convert_numbers
from holdsup.columns.typed import TypedTable, open_frame, open_parquet
from holdsup.errors import ColumnError, ReadError
from holdsup.progress import Progress, no_progress

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetWriter

__all__ = ["spool"]

GROUP = 2**20  # rows that are written together: batches may be small


@contextmanager
def spool(
    batches: Iterator[Any],
    columns: Sequence[str],
    *,
    numbers: Sequence[str],
    either: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Iterator[list[OpenTable]]:
    """Give tables of the columns of all batches; the files behind them are deleted afterwards.

    Batches may order their columns differently and type them differently: each change begins a new file. But a column
    in `either`, which is used as what it holds, must hold numbers in all batches or in none. A batch is whatever
    `fit_lmm` takes as a table in memory.
    """
    kind = type(batches).__name__
    with tempfile.TemporaryDirectory(prefix="holdsup-", ignore_cleanup_errors=True) as folder:
        writer, rows, seen = _Writer(Path(folder)), 0, dict[str, None]()
        kinds = _Kinds(either)
        number = 0
        for number, batch in enumerate(batches, start=1):
            progress(rows, None, f"keeping batch {number:,}")
            if isinstance(batch, str | Path):
                raise ReadError(f"batch {number} is a path ({str(batch)!r:.60}): give tables, or a list of the paths")
            table = open_frame(f"batch {number}", kind, batch)
            seen.update(dict.fromkeys(table.columns))
            rows += writer.write(_chosen(table, columns, (*numbers, *kinds.numbers(table))))
        if not number:
            raise ReadError(f"the {kind} given held no batches: if it was used before, make a new one")
        if missing := [column for column in columns if column not in seen]:
            raise ColumnError.not_found(missing[0], seen, where=f"the {number} batches given")
        yield writer.finish(f"the {kind} given", kind)


class _Kinds:
    """What the columns hold that are used as what they hold: numbers, or labels."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self.first: dict[str, tuple[bool, str]] = {}

    def numbers(self, table: TypedTable) -> list[str]:
        """Return the columns of a batch that hold numbers; one that held something else before is an error."""
        found = []
        for column in self.columns:
            if column not in table.columns or pa.types.is_null(table.schema.field(column).type):
                continue
            is_number = table.guess(column) == "number"
            before, where = self.first.setdefault(column, (is_number, table.name))
            if before == is_number:
                found += [column] if is_number else []
            elif not before or not _parses(table, column):
                now, then = ("numbers", "labels") if is_number else ("labels", "numbers")
                raise ColumnError(
                    f"column {column!r} holds {then} in {where} and {now} in {table.name}: make them alike, or write "
                    f"factor({column}) to use it as a factor"
                )
            else:
                found.append(column)
        return found


def _parses(table: TypedTable, column: str) -> bool:
    """Return whether text holds numbers only."""
    try:
        convert_numbers(table, column, table.read({column: "number"})[column])
    except ColumnError:
        return False
    return True


def _chosen(table: TypedTable, columns: Sequence[str], numbers: Sequence[str]) -> pa.Table:
    """Return columns of a batch as they are kept."""
    held = table.read({column: "" for column in columns if column in table.columns})
    kept: dict[str, Any] = {}
    for column, values in held.items():
        if column in numbers:
            kept[column] = pa.array(convert_numbers(table, column, values)[0])
        elif table.declares_order(column):
            kept[column] = _declared(values)
        elif not pa.types.is_null(values.type):  # no value at all: it is of no type
            kept[column] = values
    return pa.table(kept)


def _declared(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a categorical whose type says that its levels are in order, which only pandas' metadata did."""
    chunks = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary, ordered=True) for c in values.chunks]
    return pa.chunked_array(chunks, pa.dictionary(values.type.index_type, values.type.value_type, ordered=True))


class _Writer:
    """Parquet files in a folder: rows of one schema go to one file, in groups of a good size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Path] = []
        self.waiting: list[pa.Table] = []
        self.rows = 0
        self.writer: ParquetWriter | None = None

    def write(self, table: pa.Table) -> int:
        """Write a batch and return how many rows it has."""
        if self.waiting and not _alike(self.waiting[-1], table):
            self._close()
        self.waiting.append(table)
        self.rows += len(table)
        if self.rows >= GROUP:
            self._flush()
        return len(table)

    def _flush(self) -> None:
        """Write what waits; the last batch stays, without rows, to compare the next one with."""
        if self.writer is None:
            self.files.append(self.folder / f"{len(self.files)}.parquet")
            from pyarrow.parquet import ParquetWriter  # only here: it brings file systems, TLS and more

            self.writer = ParquetWriter(self.files[-1], self.waiting[0].schema)
        self.writer.write_table(pa.concat_tables(self.waiting), row_group_size=GROUP)
        self.waiting, self.rows = [self.waiting[-1].slice(0, 0)], 0

    def _close(self) -> None:
        self._flush()
        assert self.writer is not None  # set by writing
        self.writer.close()
        self.writer, self.waiting = None, []

    def finish(self, name: str, stem: str) -> list[OpenTable]:
        """Return the files as tables."""
        self._close()
        return [open_parquet(name, stem, pa.memory_map(str(f)).read_buffer(), path=f) for f in self.files]


def _alike(left: pa.Table, right: pa.Table) -> bool:
    """Return whether two batches can stand in one file: same columns, types and, where declared, levels."""
    return bool(left.schema.equals(right.schema)) and all(
        _levels(left[f.name]) == _levels(right[f.name])
        for f in left.schema
        if pa.types.is_dictionary(f.type) and f.type.ordered
    )


def _levels(column: pa.ChunkedArray) -> list[Any]:
    return [chunk.dictionary.to_pylist() for chunk in column.chunks[:1]]
