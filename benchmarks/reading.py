"""How long does it take to read and encode five million scores?

    python benchmarks/reading.py [--items 100000]

Side by side, each in a fresh process, best of three: pyarrow's bare read (no encoding), pandas' read
and `factorize` of the four label columns, and `holdsup.columns` (labels encoded, numbers checked).
Goals: at most 2x pyarrow's bare read, at least 3x faster than pandas.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet

from cases import large_evaluation
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

OURS = """table = read_columns(open_tables({path!r}), labels=["item", "system", "lam", "seed"],
                     numbers=["y"], either=["readability"])
return [table.named[c].count for c in ("item", "system", "lam", "seed")]"""
PANDAS = """frame = pandas.{read}({path!r})
return [len(pandas.factorize(frame[c])[1]) for c in ("item", "system", "lam", "seed")]"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000, help="50 rows an item")
    items = parser.parse_args().items
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder) / "e.csv", Path(folder) / "e.parquet"
        table = large_evaluation(items)
        pyarrow.csv.write_csv(table, csv)
        pyarrow.parquet.write_table(table, parquet)
        rows = [row for kind, path in (("CSV", csv), ("Parquet", parquet)) for row in contest(kind, str(path), items)]
    record("reading", rows)
    print(render_text(tabulate(rows, items)))


def contest(kind: str, path: str, items: int) -> list[dict[str, object]]:
    """Return the measurements of all contestants on one file."""
    bare = "csv.read_csv" if kind == "CSV" else "parquet.read_table"
    read = "read_csv" if kind == "CSV" else "read_parquet"
    contestants = {
        "pyarrow, bare read": (f"import pyarrow.{bare.partition('.')[0]}", f"return pyarrow.{bare}({path!r}).num_rows"),
        "pandas, read + factorize": ("import pandas", PANDAS.format(read=read, path=path)),
        "holdsup.columns": ("from holdsup.columns import open_tables, read_columns", OURS.format(path=path)),
    }
    found = [{"file": kind, "who": who, **measure(*code)} for who, code in contestants.items()]
    assert found[0]["answer"] == 50 * items  # never time a wrong answer
    assert found[1]["answer"] == found[2]["answer"] == [items, 2, 5, 5]
    return found


def tabulate(rows: list[dict[str, object]], items: int) -> Table:
    """Return seconds, memory and ratios to our own time."""
    ours = {row["file"]: row for row in rows if row["who"] == "holdsup.columns"}
    cells = tuple(
        (
            str(row["file"]), str(row["who"]), round(float(row["wall"]), 3), round(float(row["cpu"]), 3),
            round(float(row["peak_mb"])), round(float(row["wall"]) / float(ours[row["file"]]["wall"]), 2),
        )
        for row in rows
    )  # fmt: skip
    columns = ("file", "who", "wall s", "CPU s", "peak MB", "wall / ours")
    return Table(title=f"Reading and encoding {50 * items:,} rows", columns=columns, rows=cells)


if __name__ == "__main__":
    main()
