"""Tables too large to hold, read in batches: Parquet files, iterators that are written to some first, Dask's frames."""

from __future__ import annotations

import importlib
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from holdsup.columns import limits
from holdsup.columns.limits import reason_of
from holdsup.columns.opening import OpenTable, open_tables
from holdsup.columns.reading import convert_numbers
from holdsup.columns.typed import TypedTable, damaged, flatten, open_frame, open_parquet, parquet_file
from holdsup.errors import ColumnError, HoldsupError, MissingExtra, ReadError
from holdsup.progress import Progress, no_progress

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetWriter

BATCH = 2**20  # rows read at a time
AHEAD = 2  # batches that are prepared while an earlier one is added
T = TypeVar("T")
P = TypeVar("P")
GROUP = 2**20  # rows that are written together: batches may be small
AT_A_TIME = 8  # parts that one task adds up
LOOK, LONELY = 2.0, 60.0  # seconds between looks at a cluster, and without any worker after which nothing is hoped for


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


def is_dask(data: Any) -> bool:
    """Return whether an object is one of Dask's, without importing Dask."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")


@dataclass(frozen=True, slots=True)
class Partitions:
    """A Dask data frame; its tasks run wherever `dask.compute` runs them: threads here, or a cluster's workers."""

    frame: Any  # the collection
    tables: list[OpenTable]  # a table without rows that shows its columns

    @classmethod
    def of(cls, frame: Any) -> Partitions:
        """Return the partitions of a Dask data frame."""
        if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
            raise ReadError(f"a Dask {type(frame).__name__} is not a table: make a dask.dataframe of it")
        kind = type(frame).__name__
        return cls(frame, [open_frame(f"the Dask {kind} given", kind, frame._meta)])

    def fold(self, make: Callable[[], A], columns: Sequence[str], *, label: str, progress: Progress = no_progress) -> A:
        """Return an accumulator to which all partitions were added, on the workers and as a tree."""
        try:
            asyncio, dask = (importlib.import_module(name) for name in ("asyncio", "dask"))
        except ImportError:
            raise MissingExtra.named("dask", purpose="a Dask collection") from None
        partitions = self.frame[list(columns)].to_delayed()
        progress(0, None, f"{label}: {len(partitions):,} partitions")
        shared = dask.delayed(make, traverse=False)
        parts = [dask.delayed(_add)(shared, number, part) for number, part in enumerate(partitions, start=1)]
        while len(parts) > 1:
            starts = range(0, len(parts), AT_A_TIME)
            parts = [dask.delayed(_merge)(shared, parts[start : start + AT_A_TIME]) for start in starts]
        try:
            part = _compute(dask, parts[0])
        except HoldsupError:
            raise
        except (Exception, CancelledError, asyncio.CancelledError) as error:
            raise ReadError(
                f"Dask could not read a partition, or lost its workers: {type(error).__name__}, {reason_of(error)}"
            ) from error
        total = make()
        total.add_part(part)
        return total


def _compute(dask: Any, task: Any) -> Any:
    """Return what a task gives; a cluster that has lost all its workers would let us wait for ever."""
    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "scheduler_info"):  # threads or processes of this machine
        return dask.compute(task)[0]
    future, alone = client.compute(task), 0.0
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            if future.done():  # it is the task that ran out of time
                raise
        alone = 0.0 if client.scheduler_info()["workers"] else alone + LOOK
        if alone >= LONELY:
            future.cancel()
            raise ReadError(f"Dask has had no worker for {LONELY:.0f} seconds: start some, and fit again")


def _add(make: Callable[[], A], number: int, partition: Any) -> Any:
    """Return what a partition adds up to; runs on a worker."""
    accumulator = make()
    accumulator.add(accumulator.prepare(open_frame(f"partition {number}", "", partition)))
    return accumulator.part()


def _merge(make: Callable[[], A], parts: Sequence[Any]) -> Any:
    """Return what parts add up to; runs on a worker."""
    accumulator = make()
    for part in parts:
        accumulator.add_part(part)
    return accumulator.part()
