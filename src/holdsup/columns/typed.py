"""Tables whose columns already have types: Parquet files and anything that gives an Arrow stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from holdsup.columns.encoding import declared_order
from holdsup.columns.limits import MOST_COLUMNS, MOST_ROWS, check_expansion
from holdsup.errors import ReadError, list_names

__all__ = ["TypedTable", "open_frame", "open_parquet", "open_records"]


@dataclass(frozen=True, slots=True, eq=False)
class TypedTable:
    """A table with an Arrow schema; `file` is set when the columns still lie in a Parquet file."""

    name: str
    stem: str
    schema: pa.Schema
    table: pa.Table | None = None
    file: pq.ParquetFile | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        names = self.schema.names
        if len(names) > MOST_COLUMNS:
            raise ReadError(f"{self.name} has {len(names):,} columns, more than the {MOST_COLUMNS:,} holdsup takes")
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise ReadError(f"{self.name} has more than one column named {list_names(twice)}: rename all but one")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the schema."""
        return tuple(self.schema.names)

    def guess(self, column: str) -> str:
        """Return "number", "label", or "other" for what is neither (lists, structs, bytes)."""
        kind = self.schema.field(column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return "number"
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return "other"
        return "label"

    def declares_order(self, column: str) -> bool:
        """Return whether the column is a categorical that declares the order of its levels."""
        return declared_order(self.schema, column)

    def read(self, kinds: Mapping[str, str]) -> dict[str, pa.ChunkedArray]:
        """Return the columns asked for, as they are typed."""
        if self.table is not None:
            return {column: self.table[column] for column in kinds}
        assert self.file is not None  # one of the two is always set
        try:
            found = self.file.read(columns=list(kinds))
        except (OSError, pa.ArrowException) as error:
            raise _damaged(self.name, error) from error
        return {column: found[column] for column in kinds}

    def locate(self, row: int) -> str:
        """Return where the data row `row` (from 0) stands."""
        return f"row {row + 1}"


def open_parquet(name: str, stem: str, data: pa.Buffer) -> TypedTable:
    """Return a Parquet file as a table; strings are read as the dictionaries they are stored as."""
    try:
        schema = pq.read_schema(pa.BufferReader(data))
        strings = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=strings)
        _check_parquet(name, file.metadata)
        return TypedTable(name, stem, file.schema_arrow, file=file)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(name, error) from error


def _check_parquet(name: str, metadata: Any) -> None:
    if metadata.num_rows > MOST_ROWS:
        raise ReadError(f"{name} has {metadata.num_rows:,} rows, more than the {MOST_ROWS:,} that holdsup takes")
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            problem = check_expansion(name, chunk.total_compressed_size, chunk.total_uncompressed_size)
            if problem:
                raise ReadError(problem)


def _damaged(name: str, error: Exception) -> ReadError:
    return ReadError(
        f"{name} is a damaged Parquet file ({str(error).partition(chr(10))[0]:.120}): copy or write it again"
    )


def open_frame(name: str, stem: str, frame: Any) -> TypedTable:
    """Return a pandas, polars, pyarrow or DuckDB object, a dict of columns or a list of records as a table."""
    if isinstance(frame, Mapping):
        return _from_columns(name, stem, {str(column): values for column, values in frame.items()})
    if isinstance(frame, Sequence) and not isinstance(frame, str | bytes):
        return open_records(name, stem, frame)
    try:
        table = pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        columns = getattr(frame, "columns", None)
        if columns is None:
            raise ReadError(f"{name} cannot be read as an Arrow table: {error}") from error
        return _from_columns(name, stem, {str(column): frame[column] for column in columns})
    except TypeError as error:
        raise ReadError(
            f"a {type(frame).__name__} is no table: pass a path, a frame with an Arrow stream (pandas 2.2+, "
            "polars, pyarrow, DuckDB), a dict of columns or a list of records"
        ) from error
    return TypedTable(name, stem, table.schema, table=table)


def open_records(name: str, stem: str, records: Sequence[Any]) -> TypedTable:
    """Return a list of dicts as a table; a key that a record lacks is a missing value."""
    columns: dict[str, list[Any]] = {}
    for i, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise ReadError(f"record {i + 1} of {name} is {record!r:.60}, not an object with named fields")
        for key in record:
            if str(key) not in columns:
                columns[str(key)] = [None] * i
        for key, values in columns.items():
            values.append(record.get(key))
    return _from_columns(name, stem, columns)


def _from_columns(name: str, stem: str, columns: Mapping[str, Any]) -> TypedTable:
    arrays = {column: _array(values) for column, values in columns.items()}
    lengths = {column: len(array) for column, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ReadError(f"the columns of {name} differ in length: {lengths}")
    table = pa.table(arrays)
    return TypedTable(name, stem, table.schema, table=table)


def _array(values: Any) -> Any:
    """Return a column as Arrow has it; values of mixed types, each written as a label."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if v is None or v != v else v if isinstance(v, str) else repr(v) for v in values])
