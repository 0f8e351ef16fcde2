"""Tables too large to hold, read in batches: Parquet files, and iterators that are written to one first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from holdsup.columns import limits
from holdsup.columns.opening import OpenTable, open_tables
from holdsup.columns.parquet import damaged, parquet_file
from holdsup.columns.partitions import Partitions, is_dask
from holdsup.columns.spool import spool
from holdsup.columns.typed import TypedTable, flatten
from holdsup.progress import Progress, no_progress

__all__ = ["Accumulator", "Batches", "FileBatches", "open_data"]

BATCH = 2**20  # rows read at a time
AHEAD = 2  # batches that are prepared while an earlier one is added
T = TypeVar("T")
P = TypeVar("P")


class Accumulator(Protocol):
    """Something that batches are added to; what one has added up can be added to another."""

    def prepare(self, batch: OpenTable) -> Any:
        """Return what is to be added of a batch; called from several threads at once, and in any order."""

    def add(self, prepared: Any) -> None:
        """Add what was prepared, in the order of the batches."""

    def part(self) -> Any:
        """Return what was added up, as a small value that can be sent to another process."""

    def add_part(self, part: Any) -> None:
        """Add what another one has added up."""


A = TypeVar("A", bound=Accumulator)


class Batches(Protocol):
    """A table that is read in batches, as often as needed."""

    @property
    def tables(self) -> Sequence[OpenTable]:
        """Tables without rows in memory that show the columns and their types."""

    def fold(self, make: Callable[[], A], columns: Sequence[str], *, label: str, progress: Progress = no_progress) -> A:
        """Return an accumulator, made by `make`, to which these columns of all rows were added."""


@dataclass(frozen=True, slots=True)
class FileBatches:
    """Parquet files, one under the other, read in batches of some million rows."""

    tables: list[TypedTable]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(table.rows for table in self.tables)

    def fold(self, make: Callable[[], A], columns: Sequence[str], *, label: str, progress: Progress = no_progress) -> A:
        """Return an accumulator to which all batches were added, in their order; later ones are read meanwhile."""
        accumulator, done, total = make(), 0, self.rows
        progress(done, total, label)
        for rows, prepared in _ahead(lambda batch: (batch.rows, accumulator.prepare(batch)), self._read(columns)):
            accumulator.add(prepared)
            done += rows
            progress(done, total, label)
        return accumulator

    def _read(self, columns: Sequence[str]) -> Iterator[TypedTable]:
        for table in self.tables:
            wanted = [column for column in columns if column in table.columns]
            start = 0
            for piece in _pieces(table, wanted):
                yield replace(table, table=piece, file=None, schema=piece.schema, start=start)
                start += len(piece)
            if start != table.rows:
                raise damaged(table.name, ValueError(f"{start:,} of {table.rows:,} rows"))


def _pieces(table: TypedTable, columns: list[str]) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file: small groups of rows together, large ones cut."""
    try:
        # Read, not mapped: pages of a mapped file would count as memory of this process.
        file = table.file if table.path is None else parquet_file(str(table.path))
        assert file is not None  # batches are read from files only
        for groups, rows in _runs(file.metadata):
            if rows <= BATCH:
                yield flatten(table.name, file.read_row_groups(groups, columns=columns, use_threads=False))
            else:
                for cut in file.iter_batches(BATCH, row_groups=groups, columns=columns, use_threads=False):
                    yield flatten(table.name, pa.Table.from_batches([cut]))
    except (OSError, ValueError, pa.ArrowException) as error:  # what Arrow makes of damaged bytes
        raise damaged(table.name, error) from error


def _runs(metadata: Any) -> Iterator[tuple[list[int], int]]:
    """Yield groups of rows that follow each other and together fit into a batch, with their number of rows."""
    run: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        more = metadata.row_group(group).num_rows
        if run and rows + more > BATCH:
            yield run, rows
            run, rows = [], 0
        run.append(group)
        rows += more
    if run:
        yield run, rows


def _ahead(prepare: Callable[[T], P], items: Iterator[T]) -> Iterator[P]:
    """Yield what `prepare` makes of each item, in their order.

    One thread gets the items (decodes Parquet, that is) and others prepare them, a few ahead of the caller.
    """
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(AHEAD) as workers:
        waiting: deque[Future[P]] = deque()
        following = reader.submit(next, items, None)
        while (item := following.result()) is not None:
            following = reader.submit(next, items, None)
            waiting.append(workers.submit(prepare, item))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def open_data(
    data: Any,
    columns: Sequence[str],
    *,
    numbers: Sequence[str] = (),
    either: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Iterator[list[OpenTable] | Batches]:
    """Give the tables that `data` stands for, as `open_tables` does, or batches where they are too large to hold.

    An iterator of batches can be read once only: `columns` of it are written to a temporary file first, those in
    `numbers` as numbers, those in `either` as what the first batch has.
    """
    if is_dask(data):
        yield Partitions.of(data)
    elif hasattr(data, "__next__"):
        with spool(data, columns, numbers=numbers, either=either, progress=progress) as tables:
            yield _sized(tables)
    else:
        yield _sized(open_tables(data, progress=progress))


def _sized(tables: list[OpenTable]) -> list[OpenTable] | Batches:
    files = [table for table in tables if isinstance(table, TypedTable) and table.file is not None]
    if len(files) < len(tables) or FileBatches(files).rows <= limits.MOST_IN_MEMORY:
        return tables
    return FileBatches(files)
