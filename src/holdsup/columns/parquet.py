"""Parquet files: opened, and held to what they say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdsup.columns.limits import check_ratio, reason_of
from holdsup.errors import ReadError

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

__all__ = ["check_parquet", "damaged", "parquet_file"]


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
