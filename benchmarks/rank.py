"""How long does a whole ranking take, against lmerTest's `lmer`, its t-tests and `ranova` on the same rows?

    python benchmarks/rank.py [--repeats 3] [--skip R]

One table of 5,154 runs, drawn from Sanchez Carmona et al. (2025): 4 systems, 13 datasets, 3 seeds, 5 learning rates, 2
batch sizes, epochs. Ours is the whole public call, `rank_systems`: both fits, Satterthwaite's tests, a p for each of 11
random terms by a simulated null, contrasts, R2, 10-fold cross-validation of all forms, influence, companion.
lmerTest's is `lmer`, `summary` and `ranova` of the paper's form alone. Each runs in a process of its own. Nothing is
printed unless both find the same likelihood ratios.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from holdsup.data import simulate_carmona2025
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

INDICATORS = {"seed": ("20", "47"), "lr": ("1e-5", "2e-5", "3e-5", "4e-5"), "batch": ("16",)}
SETUP = """import holdsup, pyarrow.parquet
from holdsup.data import simulate_scores
table = pyarrow.parquet.read_table({path!r})
holdsup.fit_lmm("score ~ system + (1 | item)", simulate_scores({{"A": 0.5, "B": 0.6}}))  # what is imported late is"""
RANK = """found = holdsup.rank_systems(table, nuisance=["seed", "lr", "batch", "num_epochs"],
    treat={{"num_epochs": "numeric"}}, paper={paper})
return [term.lrt for term in found.random if term.lrt is not None]"""
CLOSE = 0.01  # by how much likelihood ratios may differ: lmer's optimizer stops early


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="of ours; the best counts")
    parser.add_argument("--skip", default="", help="R, to leave lmerTest out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = simulate_carmona2025(seed=1)
        path = Path(folder) / "runs.parquet"
        pyarrow.parquet.write_table(table, path)
        rows: list[dict[str, object]] = []
        for who, paper in (("holdsup, default form", False), ("holdsup, paper's form", True)):
            body = RANK.format(paper=paper)
            rows.append({"who": who, **measure(SETUP.format(path=str(path)), body, repeats=options.repeats)})
        if options.skip != "R" and shutil.which("Rscript"):
            peers = with_lmertest(table, Path(folder))
            differences = [abs(a - b) for a, b in zip(rows[1]["answer"], peers[-1].pop("lrt"), strict=True)]
            assert max(differences) < CLOSE, differences
            rows.extend(peers)
    print(render_text(tabulate(rows)))
    record("rank", rows)


def with_lmertest(table: pa.Table, folder: Path) -> list[dict[str, object]]:
    """Return how long lmerTest takes for the paper's form, without and with the tests of random terms."""
    slopes = []
    for factor, levels in INDICATORS.items():
        for level in levels:
            slopes.append(f"{factor}_{level.replace('-', '')}")
            table = table.append_column(slopes[-1], pa.compute.equal(table[factor], level).cast(pa.int8()))
    slopes.append("num_epochs")
    random = ["(1 | system)", "(1 | dataset)", "(1 | system:dataset)", *(f"(0 + {x} | system:dataset)" for x in slopes)]
    pyarrow.csv.write_csv(table, folder / "runs.csv")
    formula = f"score ~ {' + '.join([*slopes, *random])}"
    script = Path(__file__).parent / "rank.R"
    command = ["Rscript", str(script), str(folder / "runs.csv"), formula, "system,dataset"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    both = {key: found["fit"][key] + found["ranova"][key] for key in ("wall", "cpu")}
    return [
        {"who": f"lmerTest {found['version']}: lmer, summary", **found["fit"]},
        {"who": "... and ranova", **both, "lrt": found["lrt"]},
    ]


def tabulate(rows: list[dict[str, object]]) -> Table:
    """Return seconds, and CPU time by that of our paper's form, which is what lmerTest fits."""
    ours = float(str(rows[1]["cpu"]))
    body = tuple(
        (
            str(row["who"]),
            *(f"{float(str(row[key])):.2f}" for key in ("wall", "cpu")),
            f"{float(str(row['cpu'])) / ours:.1f}",
        )
        for row in rows
    )
    return Table(title="rank: 5,154 rows", columns=("who", "wall s", "CPU s", "CPU / ours"), rows=body)


if __name__ == "__main__":
    main()
