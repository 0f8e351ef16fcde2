"""How do time and memory grow with the size of an evaluation, against lme4 and mixedlm?

    python benchmarks/growth.py --docs docs     # everything: measure, print, write the figures and tables of the docs
    python benchmarks/growth.py --sweep missing --tools holdsup
    python benchmarks/growth.py --plot benchmarks/results/growth.jsonl     # draw and write again, measure nothing

Five sweeps (`sweeps.py`), each of which varies one property: rows, items, levels of a second factor, variance
components, share of missing cells. Every fit (maximum likelihood) runs in a process of its own. The table is in
memory, labels encoded, when the clock starts (`file`: it is a Parquet file, and reading counts). Peak memory is the
whole process's. A tool goes no further in a sweep after a fit of more than `--budget` CPU seconds, or when it fails;
no process may take more than 80% of the machine's memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from curves import load
from engine import OURS, with_lme4, with_mixedlm
from measuring import measure, record
from pictures import printed, write_documents
from sweeps import SWEEPS, Point, Sweep, write_csv, write_parquet

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "growth.jsonl"
TOOLS = ("holdsup", "file", "mixedlm", "lme4")
QUICK = 2  # points of each sweep that --quick takes
PATIENCE = 10  # a process is ended when it takes this many budgets
BRIEF = 2.0  # CPU seconds up to which the best of three fits counts
MEMORY_SHARE = 0.8
READY = """import holdsup, pandas
table = holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=50)
holdsup.fit_lmm("score ~ system + (1|item)", table)  # what is imported late is imported
"""


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.plot is not None:
        write_documents(load(options.plot), options.docs or ROOT / "docs")
        return
    limit_memory()
    for name in list(SWEEPS) if options.sweep == "all" else [options.sweep]:
        sweep = SWEEPS[name]
        points = sweep.points[:QUICK] if options.quick else sweep.points
        tools = [tool for tool in options.tools.split(",") if tool != "file" or name == "rows"]
        record("growth", run_sweep(sweep, points, tools, budget=options.budget), options.output)
        print(printed(load(options.output), name), flush=True)
    if options.docs is not None:
        write_documents(load(options.output), options.docs)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweep", choices=[*SWEEPS, "all"], default="all")
    parser.add_argument("--tools", default=",".join(TOOLS), help=f"comma-separated, of {', '.join(TOOLS)}")
    parser.add_argument("--budget", type=float, default=60, help="CPU seconds of a fit after which a tool stops")
    parser.add_argument("--quick", action="store_true", help="the smallest points only")
    parser.add_argument("--output", type=Path, default=RESULTS, help="file to which each sweep is appended")
    parser.add_argument("--docs", type=Path, help="folder whose growth.md and figures are written from the results")
    parser.add_argument("--plot", type=Path, metavar="RESULTS", help="measure nothing; write the docs from this file")
    options = parser.parse_args(arguments)
    unknown = [tool for tool in options.tools.split(",") if tool not in TOOLS]
    if unknown:
        parser.error(f"--tools: {', '.join(unknown)} is not one of {', '.join(TOOLS)}")
    return options


def limit_memory() -> None:
    """Give this process and those it starts a share of the machine's memory, so that one fit cannot bring it down."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_AS, (int(MEMORY_SHARE * memory), resource.RLIM_INFINITY))


def run_sweep(sweep: Sweep, points: Sequence[Point], tools: list[str], *, budget: float) -> list[dict[str, object]]:
    """Return the measurements of one sweep, tool by tool at each point."""
    found: list[dict[str, object]] = []
    last: dict[str, dict[str, object]] = {}
    for point in points:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "case.parquet"
            rows = write_parquet(point.evaluation, path)
            for tool in tools:
                last[tool] = attempt(tool, point, path, last.get(tool, {}), budget=budget)
                found.append({"sweep": sweep.name, "size": point.size, "rows": rows, "who": tool, **last[tool]})
                shown = last[tool].get("stopped") or f"{last[tool]['cpu']:.3f} s, {last[tool]['peak_mb']:.0f} MB"
                print(f"{sweep.name} {point.size:g}: {tool}: {shown}", file=sys.stderr, flush=True)
    return found


def attempt(tool: str, point: Point, path: Path, before: dict[str, object], *, budget: float) -> dict[str, object]:
    """Return a tool's measurement, or why there is none (`stopped`), given its measurement at the point `before`."""
    if "stopped" in before:
        return before
    seconds = float(before.get("cpu", 0))
    if seconds > budget:
        return {"stopped": f"after {seconds:.0f} s"}
    limit = PATIENCE * budget
    try:
        return fit(tool, point, path, repeats=3 if seconds < BRIEF else 1, limit=limit) or {"stopped": "failed"}
    except subprocess.TimeoutExpired:
        return {"stopped": f"ended at {limit:.0f} s"}
    except RuntimeError as error:
        return {"stopped": str(error).strip().splitlines()[-1]}


def fit(tool: str, point: Point, path: Path, *, repeats: int, limit: float) -> dict[str, object]:
    """Return the measurement of one tool on one table; nothing if it failed or is not installed."""
    factors = point.evaluation.factors
    if tool == "mixedlm":
        return with_mixedlm(path, point.formula, factors, reml=False, limit=limit)
    if tool == "lme4":
        if not shutil.which("Rscript"):
            return {}
        csv = path.with_suffix(".csv")
        write_csv(path, csv)
        return with_lme4(csv, point.formula, factors, reml=False, limit=limit)
    body = OURS.format(formula=point.formula, method="ml")
    setup = READY + (f"frame = {str(path)!r}" if tool == "file" else f"frame = pandas.read_parquet({str(path)!r})")
    return dict(measure(setup, body, repeats=repeats, limit=limit))


if __name__ == "__main__":
    main()
