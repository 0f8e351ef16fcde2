"""Do the tables of Moss, Leslie and Rayson (2018) come out again?

    python replications/moss.py [FOLDER] [--figures FOLDER]

FOLDER holds moss_cv_grids.npz: mean cross-validated accuracies of all candidates on up to 1,200 partitions, as
published with the paper; by default it is ../shared/data/moss_jkfold from the project's folder. Prints published,
obtained and relative difference of every cell of Tables 1 to 5: standard deviations of the tuned parameters and of the
tuned model's accuracy (in percent), when tuning is done again with disjoint groups of J partitions. Exits with 1 if a
cell is farther off than 0.7%, or fewer than 63 of 70 agree to the three figures that were printed.

Facts that the paper leaves out: "1,000 partitions" are 999, and the LSTM has 284 to 1,200; max_features ends at 0.49,
not 0.5; of N partitions it makes N // J - 1 groups; candidates with equal means are left to the rounding of sums, which
decides about SVMs that predict alike. holdsup takes the first of them; how much that matters is printed beside it.

With --figures, draws how often each candidate is chosen (Figures 2, 5 and 6) and what J is worth (Figure 3), and prints
the estimates by K (Figure 4). Without the data, a small study of scikit-learn's wine data is printed. The experiments
from texts are in moss_texts.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from holdsup.numerics.tuning import Retuning, retune
from holdsup.plots import save_figure
from holdsup.plots.tuning import plot_choices, plot_returns
from holdsup.studies.tuning import TuningStudy, judge_pools, study_tuning

ROOT = Path(__file__).resolve().parent.parent
C_POS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100)
C_SVM = (1, 5, 10, 50, 100, 500, 1000, 5000, 10000)
GAMMA = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
L2 = (0.00001, 0.001, 0.1)
PERCENT = "accuracy, %"
LARGEST = 0.007  # relative difference
ENOUGH = 63  # cells of 70 that agree to three significant figures

Plan = tuple[int, int]  # J and K


class Published(NamedTuple):
    """A table of the paper: where its grids are, what each candidate is, and its cells by J and K, in columns."""

    title: str
    short: int  # partitions that the file has fewer than the experiment counted
    grids: Mapping[int, str]
    parameters: Mapping[str, Sequence[float]]
    cells: Mapping[Plan, Sequence[float]]


TABLES = [
    Published(
        "Table 1: IMDB, random forest",
        1,
        {5: "IMDB__MoviesRF_differentpartitions_1000_5_folds", 10: "IMDB__MoviesRF_differentpartitions_1000_10_folds",
         20: "IMDB__MoviesRF_differentpartitions_500_20_folds"},
        {"max_features": [i / 100 for i in range(1, 50)]},
        {(1, 10): (0.0396, 0.550), (2, 5): (0.0307, 0.528), (1, 20): (0.0337, 0.483), (2, 10): (0.0301, 0.400),
         (4, 5): (0.0278, 0.367)},
    ),
    Published(
        "Table 2: part-of-speech tagger, logistic regression",
        1,
        {5: "POS__POSLR_differentpartitions_1000_5_folds", 10: "POS__POSLR_differentpartitions_1000_10_folds"},
        {"C": C_POS},
        {(1, 10): (34.6, 0.0915), (2, 5): (31.0, 0.0874), (2, 10): (29.0, 0.0653), (4, 5): (27.3, 0.0653),
         (4, 10): (23.2, 0.0472), (8, 5): (24.4, 0.0439)},
    ),
    Published(
        "Table 3: Reuters, support vector machine",
        1,
        {5: "REUTERS__REUTERSSVM_differentpartitions_1000_5_folds",
         10: "REUTERS__REUTERSSVM_differentpartitions_1000_10_folds"},
        {"C": [c for c in C_SVM for _ in GAMMA], "gamma": [g for _ in C_SVM for g in GAMMA]},
        {(1, 10): (28.7, 0.121, 0.807), (2, 5): (30.7, 0.0987, 0.615), (2, 10): (21.3, 0.105, 0.580),
         (4, 5): (20.4, 0.0766, 0.445), (4, 10): (20.0, 0.0708, 0.407), (8, 5): (17.5, 0.0563, 0.330)},
    ),
    Published(
        "Table 4: LSTM, width",
        0,
        {5: "LSTM__LSTM_differentpartitions_514_5_folds", 10: "LSTM__LSTM_differentpartitions_283_10_folds"},
        {"width": range(10, 100, 10)},
        {(1, 10): (19.9, 0.293), (2, 5): (19.8, 0.240), (2, 10): (19.3, 0.213), (4, 5): (18.4, 0.205),
         (4, 10): (17.3, 0.169), (8, 5): (16.0, 0.166)},
    ),
    Published(
        "Table 5: LSTM, regularisation",
        0,
        {5: "LSTM__LSTM_differentpartitions_reg_1200_5_folds", 10: "LSTM__LSTM_differentpartitions_reg_566_10_folds"},
        {"bias": [b for b in L2 for _ in L2], "input": [i for _ in L2 for i in L2]},
        {(1, 10): (0.0404, 0.0160, 0.365), (2, 5): (0.0285, 0.00705, 0.284), (2, 10): (0.0358, 0.0166, 0.254),
         (4, 5): (0.0195, 0.00995, 0.206), (4, 10): (0.0280, 0.0185, 0.196), (8, 5): (0.00815, 0.000500, 0.148)},
    ),
]  # fmt: skip


def main() -> None:
    """Print every table, and exit with 1 if one is off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared/data/moss_jkfold")
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    file = options.folder / "moss_cv_grids.npz"
    if not file.is_file():
        print(f"{file} is not there. A small study of the same kind, on data that scikit-learn ships:\n")
        print(study_wine())
        return
    with np.load(file, allow_pickle=False) as grids:
        good = print_tables(grids)
        if options.figures:
            options.figures.mkdir(exist_ok=True)
            draw(grids, options.figures)
    sys.exit(int(not good))


def print_tables(grids: Mapping[str, np.ndarray]) -> bool:
    """Print every table, and return whether they agree."""
    cells = []
    heads = f"{'published':>10} {'obtained':>12} {'difference':>11} {'ties first':>12}"
    for table in TABLES:
        print(f"{table.title}\n  {'':12} {'sd of':14} {heads}")
        for plan, column, published, obtained, first in compare(table, grids):
            cells.append((published, obtained))
            off = obtained / published - 1
            print(f"  {plan:12} {column:14} {published:10.3g} {obtained:12.5g} {off:+11.2%} {first:12.5g}")
        print()
    exact = sum(f"{published:.3g}" == f"{obtained:.3g}" for published, obtained in cells)
    worst = max(abs(obtained / published - 1) for published, obtained in cells)
    print(f"{exact} of {len(cells)} cells agree to three figures; the farthest is off by {worst:.2%}.")
    return exact >= ENOUGH and worst <= LARGEST


def compare(table: Published, grids: Mapping[str, np.ndarray]) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield plan, column, published and obtained value of every cell, and that with ties to the first candidate."""
    for (j, k), published in table.cells.items():
        pool = grids[table.grids[k]]
        used = pool[: ((len(pool) + table.short) // j - 1) * j]
        obtained = spread(retune(used, j, ties="as summed"), table)
        first = spread(retune(used, j), table)
        for cell in zip((*table.parameters, PERCENT), published, obtained, first, strict=True):
            yield f"{j}-{k}-fold CV", *cell


def spread(again: Retuning, table: Published) -> list[float]:
    """Return the standard deviations of the chosen parameters, and of the estimate in percent."""
    return [*(again.sd_choice(np.asarray(values)) for values in table.parameters.values()), 100 * again.sd_estimate]


def draw(grids: Mapping[str, np.ndarray], folder: Path) -> None:
    """Draw Figures 2 to 6 from the grids."""
    for table in TABLES:
        values = zip(*table.parameters.values(), strict=True)
        candidates = [dict(zip(table.parameters, each, strict=True)) for each in values]
        name = table.title.partition(":")[2].strip().replace(", ", "-").replace(" ", "-")
        for k in (5, 10):
            pool = grids[table.grids[k]]
            study = judge_pools({k: pool}, candidates, j=[1, 8], metric="accuracy", retunings=None)
            save_figure(plot_choices(study), folder / f"choices-{name}-{k}.svg")
        study = judge_pools({5: grids[table.grids[5]]}, candidates, j=range(1, 11), metric="accuracy", retunings=None)
        save_figure(plot_returns(study), folder / f"returns-{name}.svg")
    for name, values in (("POS", grids["POS__POS_K_VAR"]), ("Reuters", grids["REUTERS__REUTERS_K_VAR"])):
        print_spread(name, dict(enumerate(values, start=2)))
    print_spread("LSTM", {k: grids[f"LSTM__K_VAR_{k}"].ravel() for k in range(2, 16)})


def print_spread(name: str, values: Mapping[int, np.ndarray]) -> None:
    """Print mean and standard deviation of estimates by K: what Figure 4 shows."""
    print(
        f"Figure 4, {name}: " + ", ".join(f"K={k} {v.mean():.4f} (sd {v.std(ddof=1):.4f})" for k, v in values.items())
    )


def study_wine() -> TuningStudy:
    """Return a small study: support vector machines on scikit-learn's wine data."""
    X, y = load_wine(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 0.3, 1, 3, 10, 30], "svc__gamma": [0.01, 0.03, 0.1]}
    return study_tuning(machine, grid, X, y, j=[1, 2, 4, 8], k=[5], partitions=40)


if __name__ == "__main__":
    main()
