"""How long does one mixed model take, against lme4 and mixedlm, and who finds the better optimum?

    python benchmarks/engine.py [--cases crossed,slopes,many,insteval,large] [--reml] [--skip lme4,mixedlm]

Each fit runs in a process of its own. Ours is the whole public call, `holdsup.fit_lmm`: formula,
encoding, fit, Satterthwaite table; from a pandas frame with categorical columns (what lme4 gets: factors),
from text columns, and with numba left out. lme4's time is `lmer` alone; mixedlm's `lmer` from a pandas frame.
lme4 takes minutes on the larger cases. InstEval is read from R's lme4 and left out without it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cases import crossed_evaluation, large_evaluation, many_slopes
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

SLOPES = " + ".join(f"(0+x{i}|cell)" for i in range(1, 9))
FORMULAS = {
    "crossed": "y ~ system*readability + (1|item) + (1|lam) + (1|seed) + (1|noise)",
    "slopes": "y ~ system*readability + (1+system|item) + (1|lam) + (1|seed) + (1|noise)",
    "many": f"y ~ x1+x2+x3+x4+x5+x6+x7+x8 + (1|system) + (1|dataset) + (1|cell) + {SLOPES}",
    "insteval": "y ~ 1 + (1|s) + (1|d) + (1|ds)",
    "large": "y ~ system*readability + (1|item) + (1|lam) + (1|seed)",
}
GOALS = {"crossed": (500, 30), "slopes": (500, 50), "many": (60, 2), "insteval": (20, 3), "large": (400, 30)}
FACTORS = ("item", "system", "lam", "seed", "noise", "dataset", "cell", "s", "d", "ds")
OURS = "return holdsup.fit_lmm({formula!r}, frame, {method!r}).criterion"
FRAME = """import holdsup, pandas
frame = pandas.read_parquet({path!r})
for name in {factors!r}:
    frame[name] = frame[name].astype({kind!r})
holdsup.fit_lmm("y ~ 1 + (1|{group})", frame.head(2000))  # what is imported late is imported"""
NO_NUMBA = """
from holdsup.numerics import compiled
compiled.available = lambda: False"""
MIXEDLM = """import mixedlm, pandas
frame = pandas.read_parquet({path!r})
for name in {factors!r}:
    frame[name] = frame[name].astype(str)"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(FORMULAS))
    parser.add_argument("--reml", action="store_true", help="REML instead of ML")
    parser.add_argument("--skip", default="", help="peers to leave out, comma-separated: lme4,mixedlm")
    options = parser.parse_args()
    rows = []
    for case in options.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            rows.extend(contest(case, Path(folder), reml=options.reml, skipped=options.skip.split(",")))
        print(render_text(tabulate([row for row in rows if row["case"] == case])), flush=True)
    record("engine", rows)


def contest(case: str, folder: Path, *, reml: bool, skipped: list[str]) -> list[dict[str, object]]:
    """Return the measurements of all contestants on one case."""
    table = make(case, folder)
    if table is None:
        print(f"{case}: R with lme4 is not on this machine, left out")
        return []
    path, csv = folder / "case.parquet", folder / "case.csv"
    pyarrow.parquet.write_table(table, path)
    pyarrow.csv.write_csv(table, csv)
    factors = [name for name in FACTORS if name in table.column_names]
    formula, method = FORMULAS[case], "reml" if reml else "ml"
    found = []
    ours = (("holdsup", "category", ""), ("holdsup, from text", "str", ""), ("holdsup, no numba", "category", NO_NUMBA))
    for who, kind, more in ours:
        setup = FRAME.format(path=str(path), factors=factors, kind=kind, group=factors[0]) + more
        found.append({"who": who, **measure(setup, OURS.format(formula=formula, method=method))})
    if "mixedlm" not in skipped:
        found.append({"who": "mixedlm", **with_mixedlm(path, formula, factors, reml=reml)})
    if "lme4" not in skipped and shutil.which("Rscript"):
        found.append({"who": "lme4", **with_lme4(csv, formula, factors, reml=reml)})
    return [{"case": case, "rows": table.num_rows, "method": method, **row} for row in found if "wall" in row]


def make(case: str, folder: Path) -> pa.Table | None:
    """Return the table of a case."""
    if case in ("crossed", "slopes"):
        return crossed_evaluation()
    if case == "many":
        return many_slopes()
    if case == "large":
        return large_evaluation()
    script = f'write.csv(with(lme4::InstEval, data.frame(s, d, ds = paste(dept, service), y)), "{folder}/i.csv")'
    if (
        not shutil.which("Rscript")
        or subprocess.run(["Rscript", "-e", script], capture_output=True, check=False).returncode
    ):
        return None
    text = pyarrow.csv.read_csv(folder / "i.csv")
    names = {name: text[name].cast(pa.string()) for name in ("s", "d", "ds")}
    return pa.table({**names, "y": text["y"].cast(pa.float64())})


def with_mixedlm(
    path: Path, formula: str, factors: list[str], *, reml: bool, limit: float | None = None
) -> dict[str, object]:
    """Return mixedlm's measurement; nothing if it is not installed."""
    plain = formula.replace(SLOPES, "(0+x1+x2+x3+x4+x5+x6+x7+x8||cell)")
    body = f"fit = mixedlm.lmer({plain!r}, frame, REML={reml})\nlikelihood = fit.logLik()\n"
    body += "return -2 * float(getattr(likelihood, 'value', likelihood))"
    try:
        return measure(MIXEDLM.format(path=str(path), factors=factors), body, repeats=1, limit=limit)
    except RuntimeError as error:
        print(f"mixedlm failed: {str(error).strip().splitlines()[-1]}")
        return {}


def with_lme4(
    csv: Path, formula: str, factors: list[str], *, reml: bool, limit: float | None = None
) -> dict[str, object]:
    """Return lme4's measurement."""
    script = Path(__file__).parent / "lme4_fit.R"
    command = ["Rscript", str(script), str(csv), formula, str(int(reml)), ",".join(factors)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    if done.returncode:
        print(f"lme4 failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def tabulate(rows: list[dict[str, object]]) -> Table:
    """Return seconds, memory, criterion and ratios to our own CPU time."""
    if not rows:
        return Table(title="no measurement", columns=("",), rows=())
    ours = next(row for row in rows if row["who"] == "holdsup")
    best = min(float(row["answer"]) for row in rows)
    goal = dict(zip(("lme4", "mixedlm"), GOALS[str(ours["case"])], strict=True))
    cells = tuple(
        (
            str(row["who"]), f"{float(row['wall']):.3f}", f"{float(row['cpu']):.3f}", round(float(row["peak_mb"])),
            f"{float(row['answer']) - best:.1e}", f"{float(row['cpu']) / float(ours['cpu']):.1f}",
            f"{goal[str(row['who'])]}" if row["who"] in goal else "",
        )
        for row in rows
    )  # fmt: skip
    columns = ("who", "wall s", "CPU s", "peak MB", "above the best criterion", "CPU / ours", "goal")
    return Table(title=f"{ours['case']}: {ours['rows']:,} rows, {ours['method'].upper()}", columns=columns, rows=cells)


if __name__ == "__main__":
    main()
