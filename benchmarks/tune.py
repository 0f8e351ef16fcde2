"""What does J-K-fold tuning cost beside GridSearchCV, and what does adaptive J save?

    python benchmarks/tune.py [--rounds N] [--repeats N] [--grids FILE]

Fixed J: the same candidates on as many splits of the same sizes, by GridSearchCV with RepeatedKFold and by JKSearchCV,
with and without shared steps, one thread each, contestants taking turns, each in a process of its own. Before anything
is timed, scores on the same splits must agree. Adaptive J: on the grids of Moss, Leslie & Rayson (2018), against fixed
J = 8, by the race of `tune_rules.py`; FILE is where that looks for them, and the part is left out without it. Results
go to benchmarks/results/tune.jsonl.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from measuring import measure, record
from tune_rules import FILE, GRIDS, race

Row = dict[str, object]
COMMON = """
import os
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from holdsup.splits import JKFold
from holdsup.studies.tuning import JKSearchCV
rng = np.random.default_rng(0)
"""
CASES = {
    "SVM, 569 items, 12 candidates": """
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
estimator, grid = SVC(), {"C": [0.1, 1, 10, 100], "gamma": [0.001, 0.01, 0.1]}
""",
    "ridge, 20,000 x 200 numbers, 6 candidates": """
X = rng.standard_normal((20_000, 200))
y = X[:, :5].sum(axis=1) + rng.standard_normal(20_000)
estimator, grid = Ridge(), {"alpha": [0.01, 0.1, 1, 10, 100, 1000]}
""",
    "tf-idf and linear SVM, 1,000 texts, 8 candidates": """
words = np.array([f"w{i}" for i in range(20_000)])
X = [" ".join(words[np.minimum(rng.zipf(1.3, 80), 20_000) - 1]) for _ in range(1_000)]
y = np.array([(text.count("w7") + rng.random() > 2.5) for text in X]).astype(int)
estimator = make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0))
grid = {"linearsvc__C": [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]}
""",
}
THEIRS = """
GridSearchCV(estimator, grid, cv=RepeatedKFold(n_splits=5, n_repeats=4, random_state=0)).fit(X, y)
"""
OURS = """
JKSearchCV(estimator, grid, j=4, k=5, stratify=False, share_steps={share}).fit(X, y)
"""
AGREE = """
theirs = GridSearchCV(estimator, grid, cv=JKFold(j=2, k=5)).fit(X, y).cv_results_["mean_test_score"]
ours = JKSearchCV(estimator, grid, j=2, k=5, stratify=False).fit(X, y).cv_results_["mean_test_score"]
return float(np.abs(ours - theirs).max())
"""
CONTESTANTS = {
    "GridSearchCV": THEIRS,
    "JKSearchCV, steps not shared": OURS.format(share=False),
    "JKSearchCV": OURS.format(share=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="turns of each contestant; the best counts")
    parser.add_argument("--repeats", type=int, default=100, help="repeats on the published grids")
    parser.add_argument("--grids", type=Path, default=FILE)
    options = parser.parse_args()
    rows = [row for case in CASES for row in compare(case, options.rounds)]
    if options.grids.exists():
        rows += save_fits(options.grids, options.repeats)
    record("tune", rows)


def compare(case: str, rounds: int) -> list[Row]:
    """Return CPU time and peak memory of each contestant, and their ratios to GridSearchCV's."""
    setup = COMMON + CASES[case]
    gap = measure(setup, AGREE, repeats=1)["answer"]
    if gap > 1e-10:
        raise SystemExit(f"{case}: scores on the same splits differ by {gap}")
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
    for _ in range(rounds):
        for name, body in CONTESTANTS.items():
            runs[name].append(measure(setup, body, repeats=2))  # the first run of a process loads modules too
    best = {
        name: {key: min(run[key] for run in mine) for key in ("cpu", "wall", "peak_mb")} for name, mine in runs.items()
    }
    rows = []
    for name, values in best.items():
        ratios = {f"{key} ratio": values[key] / best["GridSearchCV"][key] for key in values}
        rows.append({"case": case, "contestant": name, "rounds": rounds, **values, **ratios})
        print(
            f"{case:50} {name:30} cpu {values['cpu']:6.2f} s ({ratios['cpu ratio']:.2f}x)"
            f"  peak {values['peak_mb']:4.0f} MB ({ratios['peak_mb ratio']:.2f}x)",
            flush=True,
        )
    return rows


def save_fits(file: Path, repeats: int) -> list[Row]:
    """Return fits and regret of adaptive J beside fixed J = 8, with 95% intervals of their means."""
    with np.load(file, allow_pickle=False) as grids:
        rows = race({name: grids[GRIDS[name]] for name in ("Reuters", "POS")}, repeats)
    print()
    for row in rows:
        fits, regret = (f"{row[key]:.3g} ± {1.96 * float(row[f'{key} se']):.2g}" for key in ("fits", "regret"))
        print(
            f"{row['grid']:8} {row['rule']:9} fits {fits:16} of J = 8   regret {regret:20} margin {row['margin']:.2g}"
            f"   beyond it {row['beyond margin']:.0%}   right one dropped {row['best dropped']:.0%}"
        )
    return rows


if __name__ == "__main__":
    main()
