"""How long does one logistic mixed model take, against glmer and statsmodels, and who finds the better optimum?

    python benchmarks/logistic.py [--cases few,many,wide,verbagg,large] [--skip glmer] [--statsmodels PYTHON] [--growth]

Each fit runs in a process of its own, on one BLAS thread. Ours is the whole public call, `holdsup.fit_glmm`, from a
pandas frame: formula, encoding, cells, fit, certificate, standard errors, rates. glmer's time is `glmer` alone, without
its second derivatives. Criteria of one method can be compared: Laplace's with glmer's (nAGQ = 1). VerbAgg is read from
R's lme4. On the large case glmer is asked for nAGQ = 0. statsmodels needs a Python that has it; it is ended after 120
seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cases import right_or_wrong
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
ALL = "y ~ system + (1|item) + (1|system:item) + (1|system:run)"
FORMULAS = {
    "few": ALL,
    "many": ALL,
    "wide": "y ~ system + (1|item)",
    "verbagg": "y ~ Anger + Gender + btype + situ + (1|id) + (1|item)",
    "large": "y ~ system + (1|item) + (1|system:run)",
}
# systems, items, runs; sd of items, of systems on items, of runs; highest log-odds
SIZES = {
    "few": ((2, 500, 5), (1.5, 0.7, 0.15), 1.3),
    "many": ((10, 1000, 3), (1.5, 0.7, 0.15), 2.0),
    "wide": ((4, 30_000, 1), (1.2, 0.0, 0.0), 1.4),
    "large": ((10, 20_000, 5), (1.5, 0.0, 0.15), 2.0),
}
GLMER = {  # nodes, optimizer
    "few": [(1, "default"), (1, "bobyqa")],
    "many": [(1, "default"), (1, "bobyqa")],
    "wide": [(1, "default"), (25, "default")],
    "verbagg": [(1, "default")],
    "large": [(0, "default")],
}
GOALS = {"few": 30, "many": 100, "wide": 1000}
SETUP = """import holdsup, pandas
frame = pandas.read_parquet({path!r})
holdsup.fit_glmm("y ~ 1 + (1|g)", {{"y": [0, 1, 1, 0] * 4, "g": list("aabbccdd") * 2}})
"""  # what is imported late is imported
OURS = """fit = holdsup.fit_glmm({formula!r}, frame, method={method!r})
return [fit.criterion, fit.method, [c.sd for c in fit.random[:-1]], fit.optimizer.evaluations]"""
STATSMODELS = """
import json, sys, time, pandas
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
frame = pandas.read_csv(sys.argv[1])
frame["unit"], frame["sr"] = frame.system + ":" + frame.item, frame.system + ":" + frame.run
start = time.process_time()
parts = {"item": "0 + C(item)", "unit": "0 + C(unit)", "run": "0 + C(sr)"}
model = BinomialBayesMixedGLM.from_formula("y ~ system", parts, frame)
model.fit_map()
print(json.dumps(time.process_time() - start))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(FORMULAS))
    parser.add_argument("--skip", default="", help="peers to leave out: glmer")
    parser.add_argument("--statsmodels", metavar="PYTHON", help="a Python that has statsmodels")
    parser.add_argument("--growth", action="store_true", help="CPU time against items, runs and factors")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for case in options.cases.split(",") if options.cases else ():
        with tempfile.TemporaryDirectory() as folder:
            rows.extend(contest(case, Path(folder), skipped=options.skip.split(","), python=options.statsmodels))
        print(render_text(tabulate([row for row in rows if row["case"] == case])), flush=True)
    if options.growth:
        grown = list(growth())
        print(render_text(tabulate_growth(grown)))
        rows.extend(grown)
    record("logistic", rows)


def contest(case: str, folder: Path, *, skipped: list[str], python: str | None) -> list[dict[str, object]]:
    """Return the measurements of all contestants on one case."""
    table = make(case, folder)
    if table is None:
        print(f"{case}: R with lme4 is not on this machine, left out")
        return []
    path, csv = folder / "case.parquet", folder / "case.csv"
    pyarrow.parquet.write_table(table, path)
    pyarrow.csv.write_csv(table, csv)
    setup, formula = SETUP.format(path=str(path)), FORMULAS[case]
    found: list[dict[str, object]] = []
    for method in ("laplace", "quadrature"):
        told = measure(setup, OURS.format(formula=formula, method=method), repeats=1 if case == "large" else 3)
        criterion, how, sd, evaluations = told.pop("answer")  # type: ignore[misc]
        found.append({"who": f"holdsup, {how}", **told, "criterion": criterion, "sd": sd, "evaluations": evaluations})
    if "glmer" not in skipped and shutil.which("Rscript"):
        found.extend(with_glmer(csv, formula, table, *each) for each in GLMER[case])
    if python and case == "few":
        found.append({"who": "statsmodels, fit_map", "cpu": with_statsmodels(python, csv)})
    return [{"case": case, "rows": table.num_rows, **row} for row in found]


def make(case: str, folder: Path) -> pa.Table | None:
    """Return the table of a case."""
    if case in SIZES:
        return right_or_wrong(*SIZES[case], seed=list(SIZES).index(case) + 1)
    script = f'd <- lme4::VerbAgg; d$y <- as.integer(d$r2 == "Y"); write.csv(d, "{folder}/v.csv", row.names = FALSE)'
    if (
        not shutil.which("Rscript")
        or subprocess.run(["Rscript", "-e", script], capture_output=True, check=False).returncode
    ):
        return None
    text = pyarrow.csv.read_csv(folder / "v.csv")
    return text.set_column(text.column_names.index("id"), "id", text["id"].cast(pa.string()))


def with_glmer(csv: Path, formula: str, table: pa.Table, nodes: int, optimizer: str) -> dict[str, object]:
    """Return glmer's measurement."""
    factors = [name for name in table.column_names if pa.types.is_string(table[name].type)]
    words = ["Rscript", str(Path(__file__).parent / "glmer_fit.R"), str(csv), formula, str(nodes), optimizer]
    done = subprocess.run([*words, ",".join(factors)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return {"who": f"glmer, nAGQ = {nodes}, {optimizer}", **told, "criterion": told.pop("answer")}


def with_statsmodels(python: str, path: Path) -> float | None:
    """Return the CPU seconds of statsmodels' penalized fit; None where there is no answer in time."""
    try:
        done = subprocess.run(
            [python, "-c", STATSMODELS, str(path)], capture_output=True, text=True, timeout=120, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    return float(done.stdout.splitlines()[-1])


def growth() -> list[dict[str, object]]:
    """Return the CPU seconds of both methods as items, runs and factors grow."""
    base = (4, 1000, 3)
    sizes = [(4, items, 3) for items in (250, 1000, 4000, 16_000)] + [(4, 1000, runs) for runs in (1, 12)]
    asked = [(size, ALL if size[2] > 1 else FORMULAS["wide"]) for size in sizes]
    asked += [(base, FORMULAS["wide"]), (base, FORMULAS["large"])]
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size, formula in asked:
            path = Path(folder) / "case.parquet"
            table = right_or_wrong(size, (1.3, 0.6, 0.2), 1.5, seed=9)
            pyarrow.parquet.write_table(table, path)
            row: dict[str, object] = {
                "case": "growth",
                "size": size,
                "rows": table.num_rows,
                "terms": formula.count("("),
            }
            for method in ("laplace", "quadrature"):
                told = measure(SETUP.format(path=str(path)), OURS.format(formula=formula, method=method), repeats=1)
                row |= {method: told["cpu"], f"{method} MB": told["peak_mb"]}
            found.append(row)
    return found


def tabulate(rows: list[dict[str, object]]) -> Table:
    ours = {str(row["who"]).split(", ")[-1]: float(str(row["cpu"])) for row in rows if "holdsup" in str(row["who"])}
    base = ours["laplace"]
    shown = tuple(
        (
            row["who"],
            "none in 120" if row["cpu"] is None else f"{row['cpu']:.3f}",
            f"{row['peak_mb']:.0f}" if "peak_mb" in row else "",
            f"{row['criterion']:.3f}" if "criterion" in row else "",
            " ".join(f"{x:.3f}" for x in row["sd"]) if "sd" in row else "",
            "" if row["cpu"] is None else f"{float(str(row['cpu'])) / base:.1f}",
        )
        for row in rows
    )
    goal = GOALS.get(str(rows[0]["case"]))
    title = f"{rows[0]['case']}: {rows[0]['rows']:,} rows{f' (goal: {goal}x)' if goal else ''}"
    return Table(title=title, columns=("who", "CPU s", "peak MB", "criterion", "sd", "CPU / our Laplace"), rows=shown)


def tabulate_growth(rows: list[dict[str, object]]) -> Table:
    columns = ("systems x items x runs", "rows", "random terms", "Laplace s", "MB", "quadrature s", "MB")
    return Table(
        title="growth",
        columns=columns,
        rows=tuple(
            (
                " x ".join(f"{n:,}" for n in row["size"]), f"{row['rows']:,}", row["terms"],
                f"{row['laplace']:.3f}", f"{row['laplace MB']:.0f}",
                f"{row['quadrature']:.3f}", f"{row['quadrature MB']:.0f}",
            )
            for row in rows
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
