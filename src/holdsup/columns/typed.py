"""Tables whose columns already have types: Parquet files and anything that gives an Arrow stream."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdsup.columns.limits import FLATTENED, LONGEST_NAME, MOST_COLUMNS, MOST_ROWS, check_ratio, reason_of
from holdsup.columns.objects import from_columns, from_records, to_arrow
from holdsup.errors import ReadError, list_names

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

ROLES = "holdsup.roles"  # key in the metadata of a schema: the roles of columns, as JSON
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # what Arrow calls the index of a pandas frame that has no name


@dataclass(frozen=True, slots=True, eq=False)
class TypedTable:
    """A table with an Arrow schema; `file` is set when the columns still lie in a Parquet file."""

    name: str  # what messages call it
    stem: str  # a short name for what is in it
    schema: pa.Schema  # names and types; a field of an object is a column of its own: metrics.f1
    columns: tuple[str, ...]  # the names in the schema
    ordered: frozenset[str]  # the columns that declare the order of their levels
    table: pa.Table | None = None  # the columns themselves, unless they lie in a file
    file: ParquetFile | None = field(default=None, repr=False)  # the Parquet file
    path: Path | None = None  # where it is, if it can be read again from there
    start: int = 0  # rows before the first one, in a batch of a larger table

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if self.table is not None:
            return int(self.table.num_rows)
        assert self.file is not None  # one of the two is always set
        return int(self.file.metadata.num_rows)

    @property
    def stated(self) -> Any:
        """What the metadata say about the roles of columns."""
        text = (self.schema.metadata or {}).get(ROLES.encode(), b"{}")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text

    def guess(self, column: str) -> str:
        """Return "number", "label" (a categorical of numbers too), or "other" for what is neither (lists, bytes)."""
        kind = self.schema.field(column).type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return "number"
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_nested(kind) or _is_bytes(kind) or isinstance(kind, pa.BaseExtensionType):
            return "other"
        return "label"

    def declares_order(self, column: str) -> bool:
        """Return whether the column is a categorical that declares the order of its levels."""
        return column in self.ordered

    def decimal(self, column: str) -> str:
        """Numbers written as text have a decimal point."""
        return "."

    def read(self, kinds: Mapping[str, str]) -> dict[str, pa.ChunkedArray]:
        """Return the columns asked for, as they are typed."""
        if self.table is not None:
            return {column: self.table[column] for column in kinds}
        assert self.file is not None  # one of the two is always set
        if self.file.metadata.num_rows > MOST_ROWS:
            raise ReadError(
                f"{self.name} has {self.file.metadata.num_rows:,} rows, more than the {MOST_ROWS:,} that holdsup holds"
            )
        try:
            found = flatten(self.name, self.file.read(columns=list(kinds)))
            columns = {column: found[column] for column in kinds}
        except Exception as error:  # whatever Arrow makes of damaged bytes
            raise damaged(self.name, error) from error
        if kinds and found.num_rows != self.file.metadata.num_rows:
            raise damaged(self.name, ValueError(f"{found.num_rows:,} of {self.file.metadata.num_rows:,} rows"))
        return columns

    def locate(self, row: int) -> str:
        """Return where the data row `row` (from 0) stands."""
        return f"row {self.start + row + 1}"


def _is_bytes(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary
        )
    )  # fmt: skip


def check_width(name: str, columns: int) -> None:
    """Raise if a table has too many columns."""
    if columns > MOST_COLUMNS:
        raise ReadError(f"{name} has {columns:,} columns, more than the {MOST_COLUMNS:,} that holdsup takes")


def check_names(name: str, columns: list[str] | tuple[str, ...]) -> None:
    """Raise if a table has too many columns, two of one name, or a name that is none."""
    check_width(name, len(columns))
    long = next((i for i, column in enumerate(columns, start=1) if len(column) > LONGEST_NAME), None)
    if long:
        raise ReadError(f"the name of column {long} of {name} is longer than {LONGEST_NAME:,} characters: shorten it")
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise ReadError(f"{name} has more than one column named {list_names(twice)}: rename all but one")


def hold_table(name: str, stem: str, table: pa.Table) -> TypedTable:
    """Return an Arrow table as one whose columns can be read."""
    table = flatten(name, table)
    return _typed(name, stem, table.schema, table=table)


def flatten(name: str, table: pa.Table) -> pa.Table:
    """Return a table in which the fields of objects are columns: f1 in metrics becomes metrics.f1."""
    check_names(name, table.column_names)
    for _ in range(FLATTENED):
        if not any(pa.types.is_struct(kind) for kind in table.schema.types):
            break
        widths = (kind.num_fields if pa.types.is_struct(kind) else 1 for kind in table.schema.types)
        check_width(name, sum(widths))
        table = table.flatten()
        check_names(name, table.column_names)
    return table


def _typed(name: str, stem: str, schema: pa.Schema, **held: Any) -> TypedTable:
    """Return a table with all its columns but an index without a name, which only says where rows once stood."""
    check_names(name, schema.names)
    schema = pa.schema([f for f in schema if not UNNAMED_INDEX.fullmatch(f.name)], schema.metadata)
    categoricals = _pandas_categoricals(schema)
    ordered = frozenset(
        f.name for f in schema if pa.types.is_dictionary(f.type) and (f.type.ordered or f.name in categoricals)
    )
    return TypedTable(name, stem, schema, tuple(schema.names), ordered, **held)


def _pandas_categoricals(schema: pa.Schema) -> set[str]:
    """Return the columns that were pandas categoricals, whose categories have an order even if none is declared."""
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("columns", [])
        return {str(c.get("name")) for c in described if c.get("pandas_type") == "categorical"}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return set()


def open_parquet(name: str, stem: str, data: pa.Buffer, *, path: Path | None = None) -> TypedTable:
    """Return a Parquet file as a table; `path` is where its bytes are from."""
    try:
        file = parquet_file(pa.BufferReader(data))
        check_parquet(name, file.metadata, data.size)
        schema = flatten(name, file.schema_arrow.empty_table()).schema
        return _typed(name, stem, schema, file=file, path=path)
    except ReadError:
        raise
    except Exception as error:  # whatever Arrow makes of damaged bytes
        raise damaged(name, error) from error


def open_frame(name: str, stem: str, frame: Any) -> TypedTable:
    """Return a pandas, polars, pyarrow or DuckDB object, a dict of columns or a list of records as a table."""
    if isinstance(frame, Mapping):
        return hold_table(name, stem, from_columns(name, frame))
    if isinstance(frame, list | tuple):
        return open_records(name, stem, frame)
    return hold_table(name, stem, to_arrow(name, frame))


def open_records(name: str, stem: str, records: list[Any] | tuple[Any, ...]) -> TypedTable:
    """Return a list of dicts as a table; a key that a record lacks is a missing value."""
    table = from_records(name, records)  # flat already
    return _typed(name, stem, table.schema, table=table)


def parquet_file(source: Any) -> ParquetFile:
    """Return a Parquet file whose strings are read as the dictionaries they are stored as."""
    import pyarrow.parquet as pq  # only here: it brings file systems, TLS and more

    schema = pq.read_schema(source)
    strings = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
    return pq.ParquetFile(source, read_dictionary=strings, page_checksum_verification=True)


def check_parquet(name: str, metadata: Any, size: int) -> None:
    """Raise if a file claims more than it can hold.

    Only what the groups of rows say is looked at: asking Arrow about a damaged column chunk ends the process.
    """
    rows = metadata.num_rows
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if rows < 0 or sum(group.num_rows for group in groups) != rows:
        raise ValueError("its numbers of rows disagree")
    # A run of equal values takes no room in the file, but eight bytes a row once it is read.
    for expanded, packed in ((sum(group.total_byte_size for group in groups), size), (8 * rows, 8 * size)):
        if problem := check_ratio(name, packed, expanded):
            raise ReadError(problem)


def damaged(name: str, error: Exception) -> ReadError:
    """Return the error for a Parquet file that cannot be read."""
    return ReadError(f"{name} is a damaged Parquet file ({reason_of(error)}): copy or write it again")
