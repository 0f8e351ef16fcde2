"""What do whole commands cost on eight million rows?

    python benchmarks/large.py [--items 200000] [--repeats 3]

CPU time and peak memory of `holdsup check` and `holdsup compare`, each a process of its own, best of three, on a CSV
file of 8 systems x 5 seeds x 200,000 items; beside them pyarrow's bare read. Goals: at most 3 and 4 s, and 1.2 GB.
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

SYSTEMS, SEEDS = 8, 5
GOALS = {"holdsup check": 3.0, "holdsup compare": 4.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200_000, help="40 rows an item")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.csv"
        pyarrow.csv.write_csv(make_table(asked.items), file)
        bare = ["-c", f"import pyarrow.csv; assert pyarrow.csv.read_csv({str(file)!r}).num_rows == {40 * asked.items}"]
        programs = {"pyarrow, bare read": bare}
        programs |= {name: ["-m", *name.split(), str(file)] for name in GOALS}
        rows = [{"who": who, **measure_program(words, asked.repeats)} for who, words in programs.items()]
        size = file.stat().st_size / 1e6
    record("large", rows)
    cells = tuple((str(r["who"]), round(r["cpu"], 2), round(r["peak_mb"]), GOALS.get(str(r["who"]))) for r in rows)
    title = f"Whole processes on {40 * asked.items:,} rows ({size:.0f} MB of CSV)"
    print(render_text(Table(title=title, columns=("who", "CPU s", "peak MB", "goal"), rows=cells)))


def make_table(items: int) -> pa.Table:
    """Return scores of all systems in all runs on all items, drawn from a crossed model."""
    rng = np.random.default_rng(1)
    system, seed, item = (axis.ravel() for axis in np.indices((SYSTEMS, SEEDS, items)))
    score = 0.01 * system + rng.normal(size=items)[item] + 0.02 * rng.normal(size=(SYSTEMS, SEEDS))[system, seed]
    score += 0.5 * rng.normal(size=len(system))
    names = [f"system{i}" for i in range(SYSTEMS)], [f"item{i}" for i in range(items)]
    columns = (pa.DictionaryArray.from_arrays(codes, each) for codes, each in zip((system, item), names, strict=True))
    labels = [column.cast(pa.string()) for column in columns]
    return pa.table({"system": labels[0], "seed": seed + 1, "item": labels[1], "score": score.round(12)})


if __name__ == "__main__":
    main()
