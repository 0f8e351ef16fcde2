"""How long does a mixed model of more rows than one wants to hold take, and how much memory?

    python benchmarks/streaming.py [--items 1000000] [--folder FOLDER]

50 rows an item in a Parquet file, in the order of items and shuffled. Side by side, each in a fresh process, best of
three: pyarrow's bare read of the six columns, batch by batch; DuckDB's grouped aggregations over the file, one of two
numbers by item, one that reads all six columns; `fit_lmm` on the path. Goals: under 2 GiB, and at most three times
DuckDB's wall time for one grouped aggregation over the same columns. With --folder the files are kept and used again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cases import large_evaluation
from holdsup.columns import limits
from holdsup.fit import fit_lmm
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

FORMULA = "y ~ system * readability + (1 | item) + (1 | lam) + (1 | seed)"
AT_A_TIME = 20_000  # items drawn together
DUCKDB = "import duckdb; duckdb.execute('set enable_progress_bar = false')"
GROUPED = """return duckdb.execute('''select count(*), sum(a), sum(b){outer} from (
    select {by}, sum(y) as a, sum(readability) as b{inner} from '{path}' group by {by})''').fetchall()[0][0]"""
BARE = """file = pq.ParquetFile({path!r}, read_dictionary=["system", "lam", "seed"])
return sum(batch.num_rows for batch in file.iter_batches(2**20, use_threads=True))"""
OURS = "return [fit.n for fit in [fit_lmm({formula!r}, {path!r})] if fit.converged][0]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000, help="50 rows an item")
    parser.add_argument("--folder", type=Path, help="where the files are kept")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    check()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        rows = []
        for order in ("by item", "shuffled"):
            file = folder / f"{options.items}-{order.replace(' ', '-')}.parquet"
            if not file.exists():
                write(file, options.items, shuffled=order == "shuffled")
            rows.extend({"rows": order, **row} for row in contest(str(file), options.items, options.repeats))
    record("streaming", rows)
    print(render_text(tabulate(rows, 50 * options.items)))


def write(file: Path, items: int, *, shuffled: bool) -> None:
    """Write the scores of 2 systems x 5 settings x 5 seeds on many items, a million rows at a time.

    Shuffled, each row is one of these at random, so that every group of rows has most items.
    """
    rng = np.random.default_rng(5)
    readability, ease = np.round(rng.normal(size=items), 6), rng.normal(0, 0.1, items)
    shifts = [np.array([0, 0.01]), rng.normal(0, 0.01, 5), rng.normal(0, 0.004, 5)]
    names = [np.array(n) for n in (["baseline", "sota"], [f"l{i}" for i in range(5)], [f"s{i}" for i in range(5)])]
    grid = [axis.ravel() for axis in np.indices((2, 5, 5))]
    writer = None
    for start in range(0, items, AT_A_TIME):
        count = min(AT_A_TIME, items - start)
        if shuffled:
            item = rng.integers(0, items, 50 * count)
            codes = [rng.integers(0, len(n), len(item)) for n in names]
        else:
            item = np.repeat(np.arange(start, start + count), 50)
            codes = [np.tile(axis, count) for axis in grid]
        score = 0.4 + ease[item] - 0.02 * readability[item] + rng.normal(0, 0.07, len(item))
        score += sum(shift[code] for shift, code in zip(shifts, codes, strict=True))
        labels = {k: n[c] for k, n, c in zip(("system", "lam", "seed"), names, codes, strict=True)}
        numbers = {"readability": readability[item], "y": np.round(score, 6)}
        table = pa.table({"item": item.astype(np.int32), **labels, **numbers})
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def check() -> None:
    """Never time a wrong answer: on a small table, batches give the fit of the table in memory."""
    table, before = large_evaluation(500), limits.MOST_IN_MEMORY
    limits.MOST_IN_MEMORY = 0
    found, wanted = fit_lmm(FORMULA, iter(table.to_batches(max_chunksize=999))), fit_lmm(FORMULA, table)
    limits.MOST_IN_MEMORY = before
    assert not found.model().design.holds_rows
    assert abs(found.criterion - wanted.criterion) < 1e-9 * abs(wanted.criterion)


def contest(path: str, items: int, repeats: int) -> list[dict[str, object]]:
    """Return the measurements of all contestants on one file."""
    by_item = GROUPED.format(by="item", path=path, inner="", outer="")
    inner, outer = ", min(lam) as c, min(seed) as d", ", min(c), min(d)"
    by_both = GROUPED.format(by="item, system", path=path, inner=inner, outer=outer)
    contestants = {
        "pyarrow, bare read": ("import pyarrow.parquet as pq", BARE.format(path=path), 50 * items),
        "DuckDB, by item": (DUCKDB, by_item, items),
        "DuckDB, by item and system, all columns": (DUCKDB, by_both, 2 * items),
        "holdsup, fit_lmm": ("from holdsup.fit import fit_lmm", OURS.format(formula=FORMULA, path=path), 50 * items),
    }
    found = []
    for who, (setup, body, answer) in contestants.items():
        measured = measure(setup, body, repeats=repeats)
        assert measured["answer"] == answer, (who, measured["answer"])
        found.append({"who": who, **measured})
    return found


def tabulate(rows: list[dict[str, object]], count: int) -> Table:
    """Return seconds, memory, and our wall time as a multiple of each."""
    ours = {row["rows"]: float(row["wall"]) for row in rows if row["who"] == "holdsup, fit_lmm"}
    cells = tuple(
        (
            str(row["rows"]), str(row["who"]), round(float(row["wall"]), 2), round(float(row["cpu"]), 2),
            round(float(row["peak_mb"])), round(ours[row["rows"]] / float(row["wall"]), 2),
        )
        for row in rows
    )  # fmt: skip
    columns = ("rows", "who", "wall s", "CPU s", "peak MB", "ours / wall")
    return Table(title=f"{count:,} rows of Parquet", columns=columns, rows=cells)


if __name__ == "__main__":
    main()
