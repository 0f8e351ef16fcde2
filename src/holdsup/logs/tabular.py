"""Tables that a tool wrote with a row for each run: CSV, and JSON as pandas and the tools themselves lay it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdsup.columns import open_tables
from holdsup.logs.files import read_document, read_head

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
BOM = b"\xef\xbb\xbf"
# Names by which a table is known: results of a search, and runs as they come from an API or from a page.
SEARCH, SPLIT = {"mean_fit_time", "mean_score_time"}, "split0_test_"
API, PAGE = {"summary", "config", "name"}, {"Name", "Created", "Runtime"}


def is_delimited(path: Path | str) -> bool:
    """Return whether a file is a delimited table by its name: most of these are scores, and no log."""
    return str(path).lower().endswith(ENDINGS)


def find_tool(path: Path) -> str | None:
    """Return the reader of a delimited file, as its first line tells; None where it is a table of scores."""
    header = read_header(path)
    if header >= SEARCH and any(name.startswith(SPLIT) for name in header):
        return "cv_results"
    return "wandb" if header >= API or header >= PAGE else None


def read_header(path: Path) -> frozenset[str]:
    """Return the names in the first line of a delimited file, without looking at the rest of it."""
    line = read_head(path).removeprefix(BOM).partition(b"\n")[0].decode("utf-8", "replace").strip()
    mark = max(",;\t", key=line.count)
    return frozenset(name.strip().strip('"') for name in line.split(mark))


def read_table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table, of a delimited one as text; None where a cell has nothing in it."""
    if is_delimited(path):
        (table,) = open_tables(path)
        columns = table.read(dict.fromkeys(table.columns, "label"))
        held = {name: column.to_pylist() for name, column in columns.items()}
    else:
        document = read_document(path)
        if isinstance(document, list):
            return document
        # pandas writes each column as an object of numbered cells, others as a list.
        held = {name: list(cells.values()) if isinstance(cells, dict) else cells for name, cells in document.items()}
    rows = zip(*held.values(), strict=True)
    return [{name: None if cell == "" else cell for name, cell in zip(held, row, strict=True)} for row in rows]
