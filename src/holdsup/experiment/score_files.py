"""Tables of scores as files: Parquet or CSV, by the ending of the name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from holdsup.errors import ResultError
from holdsup.rendering.spreadsheet import disarm_text
from holdsup.results import write_file
from holdsup.scores.stated import state_in_names

__all__ = ["ENDINGS", "check_ending", "write_scores"]

ENDINGS = (".parquet", ".csv")


def check_ending(path: Path) -> None:
    """Raise if the name of a file does not say what to write."""
    if path.suffix.lower() not in ENDINGS:
        raise ResultError(f"cannot export to {path}: its name must end in {' or '.join(ENDINGS)}")


def write_scores(table: pa.Table, path: Path) -> None:
    """Write a table of scores, whole or not at all."""
    check_ending(path)
    sink = pa.BufferOutputStream()
    if path.suffix.lower() == ".parquet":
        pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    else:
        pa_csv.write_csv(state_in_names(_disarm(table)), sink)
    write_file(path, sink.getvalue().to_pybytes())


def _disarm(table: pa.Table) -> pa.Table:
    """Return a table whose texts no spreadsheet runs; `read_scores` takes them back to what they were."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [text if text is None else disarm_text(text) for text in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table
