"""What do whole commands cost on eight million rows?

    python benchmarks/large.py [--items 200000] [--repeats 3]

CPU time and peak memory of `holdsup check` and `holdsup compare`, each a process of its own, best of three, on a CSV
file of 8 systems x 5 seeds x 200,000 items, and on the same rows with their items in ten datasets; beside them
pyarrow's bare read. Goals: at most 3 and 4 s, and 1.2 GB.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure_program, record

SYSTEMS, SEEDS, DATASETS = 8, 5, 10
GOALS = {"holdsup check": 3.0, "holdsup compare": 4.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200_000, help="40 rows an item")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, datasets in {"": 1, f", {DATASETS} datasets": DATASETS}.items():
            file = Path(folder) / f"{datasets}.csv"
            pyarrow.csv.write_csv(make_table(asked.items, datasets), file)
            read = f"import pyarrow.csv; assert pyarrow.csv.read_csv({str(file)!r}).num_rows == {40 * asked.items}"
            programs = {"pyarrow, bare read": ["-c", read], **{who: ["-m", *who.split(), str(file)] for who in GOALS}}
            for who, words in programs.items():
                measured = measure_program(words, asked.repeats)
                rows.append({"who": who + name, "mb": file.stat().st_size / 1e6, "goal": GOALS.get(who), **measured})
    record("large", rows)
    cells = tuple((r["who"], round(r["mb"]), round(r["cpu"], 2), round(r["peak_mb"]), r["goal"]) for r in rows)
    columns = ("who", "MB of CSV", "CPU s", "peak MB", "goal")
    print(render_text(Table(title=f"Whole processes on {40 * asked.items:,} rows", columns=columns, rows=cells)))


def make_table(items: int, datasets: int = 1) -> pa.Table:
    """Return scores of all systems in all runs on all items, from a crossed model; each item is in one dataset."""
    rng = np.random.default_rng(1)
    system, seed, item = (axis.ravel() for axis in np.indices((SYSTEMS, SEEDS, items)))
    score = 0.01 * system + rng.normal(size=items)[item] + 0.02 * rng.normal(size=(SYSTEMS, SEEDS))[system, seed]
    score += 0.5 * rng.normal(size=len(system))
    names = [f"system{i}" for i in range(SYSTEMS)], [f"item{i}" for i in range(items)]
    columns = (pa.DictionaryArray.from_arrays(codes, each) for codes, each in zip((system, item), names, strict=True))
    labels = [column.cast(pa.string()) for column in columns]
    table = pa.table({"system": labels[0], "seed": seed + 1, "item": labels[1], "score": score.round(12)})
    if datasets == 1:
        return table
    places = [f"dataset{i}" for i in range(datasets)]
    dataset = pa.DictionaryArray.from_arrays(item * datasets // items, places).cast(pa.string())
    return table.append_column("dataset", dataset)


if __name__ == "__main__":
    main()
