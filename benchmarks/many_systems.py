"""How long does it take to compare two hundred systems, or two thousand: all pairs of them?

    python benchmarks/many_systems.py [--systems 2000]

A table of 200 systems x 3 runs x 50 items, a row a score, and one of so many systems, each a column, on 100 items.
Each is compared in a fresh process, start and printing included. Goals: 2 and 60 CPU seconds. Then ordinary tables in
a process that runs: 2 systems x 5 runs x 500 items (goal: .05 s) and 10 x 5 x 1,000 (.5 s); `--ordinary` measures them
alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

RNG_SEED = 1
REPEATS = 15  # of ordinary tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=2000, help="of the wide table")
    parser.add_argument("--ordinary", action="store_true")
    options = parser.parse_args()
    rows = [*measure_ordinary()] if options.ordinary else [*measure_large(options.systems), *measure_ordinary()]
    record("many_systems", rows)
    cells = tuple((r["table"], f"{r['cpu']:.2g}", f"{r['peak_mb']:,.0f}") for r in rows)
    print(render_text(Table(title="All pairs compared", columns=("table", "CPU s", "MB"), rows=cells)))


def measure_ordinary() -> Iterator[dict[str, object]]:
    """Yield the least CPU seconds of comparisons of tables that are in memory."""
    for systems, runs, items in ((2, 5, 500), (10, 5, 1000)):
        setup = f"""
from holdsup import compare_systems, simulate_scores
truth = {{f"s{{i}}": 0.7 + i / 50 for i in range({systems})}}
table = simulate_scores(truth, items={items}, runs={runs}, seed={RNG_SEED})
"""
        found = measure(setup, "return len(compare_systems(table).contrasts)", repeats=REPEATS)
        assert found["answer"] == systems * (systems - 1) / 2
        yield {
            "table": f"{systems} systems x {runs} runs x {items:,} items, in process",
            "cpu": found["cpu"], "peak_mb": found["peak_mb"],
        }  # fmt: skip


def measure_large(systems: int) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            {"table": "200 systems x 3 runs x 50 items", **compare(write_long(Path(folder), 200, 3, 50))},
            {"table": f"{systems:,} systems x 100 items, wide", **compare(*write_wide(Path(folder), systems, 100))},
        ]


def write_long(folder: Path, systems: int, runs: int, items: int) -> tuple[str, ...]:
    rng = np.random.default_rng(RNG_SEED)
    lines = ["system,seed,item,score"]
    hard = rng.normal(0, 0.2, items)
    for system in range(systems):
        scores = 0.6 + rng.normal(0, 0.02) + rng.normal(0, 0.01, (runs, 1)) + hard + rng.normal(0, 0.1, (runs, items))
        lines += [f"s{system},{run},i{item},{scores[run, item]:.5f}" for run in range(runs) for item in range(items)]
    file = folder / "long.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return (str(file),)


def write_wide(folder: Path, systems: int, items: int) -> tuple[str, ...]:
    rng = np.random.default_rng(RNG_SEED)
    scores = 0.6 + rng.normal(0, 0.02, systems) + rng.normal(0, 0.2, (items, 1)) + rng.normal(0, 0.1, (items, systems))
    names = ",".join(f"s{system}" for system in range(systems))
    lines = [f"item,{names}", *(f"i{i}," + ",".join(f"{x:.5f}" for x in row) for i, row in enumerate(scores))]
    file = folder / "wide.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file), "--wide", f"system={names}"


def compare(*arguments: str | tuple[str, ...]) -> dict[str, float]:
    """Return CPU seconds and peak memory of `holdsup compare`, in a process of its own."""
    words = [word for each in arguments for word in ([each] if isinstance(each, str) else each)]
    command = [sys.executable, "-m", "holdsup", "compare", *words, "--quiet", "-o", os.devnull]
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, used = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return {"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


if __name__ == "__main__":
    main()
