"""How long do 1,000 bootstrap likelihood-ratio tests take, and one refit?

    python benchmarks/bootstrap.py [--cases crossed,sleep] [--draws 1000] [--skip lme4]

Ours is `holdsup.fit.bootstrap_test`: responses drawn from the null, null and alternative fitted to each. lme4 does the
same by `simulate` and `refit`, for a few draws, and its time for all of them is extrapolated. Both fits
are made before the clock starts. The mean of the statistics shows that both do the same.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cases import crossed_evaluation
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

CROSSED = "(1|item) + (1|lam) + (1|seed) + (1|noise)"
FORMULAS = {
    "crossed": (f"y ~ readability + {CROSSED}", f"y ~ system*readability + {CROSSED}"),
    "sleep": ("y ~ 1 + (1+day|subject)", "y ~ day + (1+day|subject)"),
}
FACTORS = ("item", "system", "lam", "seed", "noise", "subject")
LME4_DRAWS = {"crossed": 1, "sleep": 100}
SETUP = """import holdsup
from holdsup.fit import bootstrap_test
null, alternative = (holdsup.fit_lmm(formula, {path!r}, "ml") for formula in {formulas!r})
bootstrap_test(null, alternative, 100)  # what is loaded once is loaded"""
BODY = "return float(bootstrap_test(null, alternative, {draws}, seed=1, processes=1).statistics.mean())"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(FORMULAS))
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--skip", default="", help="lme4, to leave it out")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for case in options.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            found = contest(case, Path(folder), options.draws, with_lme4=options.skip != "lme4")
        print(render_text(tabulate(found)), flush=True)
        rows.extend(found)
    record("bootstrap", rows)


def contest(case: str, folder: Path, draws: int, *, with_lme4: bool) -> list[dict[str, object]]:
    """Return the measurements of one case."""
    table = crossed_evaluation() if case == "crossed" else sleep()
    path, csv = folder / "case.parquet", folder / "case.csv"
    pyarrow.parquet.write_table(table, path)
    pyarrow.csv.write_csv(table, csv)
    setup, body = SETUP.format(path=str(path), formulas=FORMULAS[case]), BODY.format(draws=draws)
    found = [{"who": "holdsup", "draws": draws, **measure(setup, body)}]
    if with_lme4 and shutil.which("Rscript"):
        factors = [name for name in FACTORS if name in table.column_names]
        script = Path(__file__).parent / "bootstrap.R"
        command = ["Rscript", script, csv, *FORMULAS[case], str(LME4_DRAWS[case]), ",".join(factors)]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
        found.append({"who": "lme4", **json.loads(done.stdout.splitlines()[-1])})
    return [{"case": case, "rows": table.num_rows, **row} for row in found]


def sleep() -> pa.Table:
    """Return 18 subjects on 10 days with the variances of lme4's sleepstudy, in the sample as in the truth."""
    rng = np.random.default_rng(11)
    subject, day = np.repeat(np.arange(18), 10), np.tile(np.arange(10.0), 18)
    effects = np.linalg.qr(rng.normal(size=(18, 2)))[0] * np.sqrt(18) * [25, 6]
    y = 250 + 3 * day + effects[subject, 0] + effects[subject, 1] * day + rng.normal(size=180) * 25
    return pa.table({"y": y, "day": day, "subject": [f"s{i:02d}" for i in subject]})


def tabulate(rows: list[dict[str, object]]) -> Table:
    """Return CPU seconds, microseconds a refit and ratios; lme4's time is that of its draws, multiplied."""
    draws = int(str(rows[0]["draws"]))
    cpu = {str(row["who"]): float(str(row["cpu"])) * draws / int(str(row["draws"])) for row in rows}
    cells = tuple(
        (
            str(row["who"]), str(row["draws"]), f"{cpu[str(row['who'])]:,.2f}",
            f"{1e6 * cpu[str(row['who'])] / (2 * draws):,.0f}", f"{cpu[str(row['who'])] / cpu['holdsup']:,.1f}",
            f"{float(str(row['answer'])):.2f}",
        )
        for row in rows
    )  # fmt: skip
    columns = ("who", "draws made", f"CPU s for {draws:,}", "microseconds a refit", "CPU / ours", "mean statistic")
    return Table(title=f"{rows[0]['case']}: {rows[0]['rows']:,} rows", columns=columns, rows=cells)


if __name__ == "__main__":
    main()
