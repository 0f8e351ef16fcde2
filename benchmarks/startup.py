"""What does a command cost on a table so small that the answer itself costs nothing?

    python benchmarks/startup.py [--repeats 5]

The CPU time of whole processes, best of five, on the 119 rows of `examples/scores.csv`; beside them Python alone and
what any answer needs: NumPy, SciPy and Arrow. Goals: at most 0.35 s for `check`, 0.55 s for `compare`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure_program, record

ROWS = Path(__file__).resolve().parent.parent / "examples" / "scores.csv"
NEEDED = "import numpy, pyarrow.csv, pyarrow.compute, scipy.special, scipy.linalg, scipy.sparse"
GOALS = {"check": 0.35, "compare": 0.55}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    programs = {"python": ["-c", "pass"], "numpy, scipy, pyarrow": ["-c", NEEDED], "holdsup --help": ["--help"]}
    programs |= {f"holdsup {command}": [command, str(ROWS)] for command in ("check", "compare", "variance")}
    rows = [
        {"who": who, **measure_program([*(["-m", "holdsup"] if who.startswith("holdsup") else []), *words], repeats)}
        for who, words in programs.items()
    ]
    record("startup", rows)
    cells = tuple(
        (str(r["who"]), round(float(r["cpu"]), 3), round(float(r["peak_mb"])), GOALS.get(str(r["who"]).split()[-1]))
        for r in rows
    )
    columns = ("who", "CPU s", "peak MB", "goal")
    title = f"Whole processes on {ROWS.name}, Python {sys.version.split()[0]}"
    print(render_text(Table(title=title, columns=columns, rows=cells)))


if __name__ == "__main__":
    main()
