"""Which system is best on real tables of systems, datasets and nuisance factors?

    python replications/rankings.py [FOLDER] [--only automl,atari]

FOLDER holds automlbenchmark, dopamine_atari, hagmann_statnlp and pythia_evals; by default it is ../shared/data from the
project's folder. Where it is not there, only the grid that ships is ranked. Prints the five answers of `rank_systems`
for each table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from holdsup import rank_systems
from holdsup.data import text_classifiers

ROOT = Path(__file__).resolve().parent.parent
Case = tuple[pa.Table, dict[str, Any]]


def text_grid(_: Path) -> Case:
    """Four families of text classifiers that ship with the package: 8 datasets, 5 seeds, a grid of settings."""
    return text_classifiers(), {"nuisance": ["seed", "learning_rate", "batch_size", "epochs"], "nested_runs": True}


def automl(folder: Path) -> Case:
    """Seven AutoML frameworks on 35 tasks, 10 folds, with one hour and with four on 8 cores: accuracy.

    The predictor of the largest class, no contestant, is left out. A fold is the same rows for all frameworks.
    """
    parts = []
    for size in ("small", "medium"):
        for budget in ("8c1h", "8c4h"):
            for kind in ("", "_ref"):
                table = pyarrow.csv.read_csv(folder / "automlbenchmark" / f"results_{size}-{budget}{kind}.csv")
                part = table.select(["task", "framework", "fold", "acc"])
                parts.append(part.append_column("budget", pa.array([budget[2:]] * len(part))))
    table = pa.concat_tables(parts, promote_options="permissive")
    table = table.filter(pc.not_equal(table["framework"], "constantpredictor_enc"))
    columns = {"score": "acc", "system": "framework", "dataset": "task"}
    return table, {**columns, "nuisance": ["budget", "fold"], "shared": ["fold"]}


def atari(folder: Path, *, normalized: bool = True) -> Case:
    """Six agents of Dopamine on 60 games, five runs: points, from the lowest run of a game (0) to its highest (1)."""
    table = pyarrow.csv.read_csv(folder / "dopamine_atari/dopamine_final5_by_run.csv.gz")
    score = table["score_last5_mean"].to_numpy()
    if normalized:
        _, game = np.unique(table["game"].to_numpy(zero_copy_only=False), return_inverse=True)
        lowest, highest = np.full(game.max() + 1, np.inf), np.full(game.max() + 1, -np.inf)
        np.minimum.at(lowest, game, score)
        np.maximum.at(highest, game, score)
        score = (score - lowest[game]) / (highest - lowest)[game]
    table = table.select(["game", "agent", "run"]).append_column("score", pa.array(score))
    return table, {
        "system": "agent",
        "dataset": "game",
        "nuisance": ["run"],
        "replicates": ["run"],
        "nested_runs": True,
    }


def atari_points(folder: Path) -> Case:
    """The same in points as they are: a game with a million of them counts a million times one with one."""
    return atari(folder, normalized=False)


def liver(folder: Path) -> Case:
    """One network for a medical task, trained 12,150 times: how many layers, over seeds in the place of datasets."""
    table = pyarrow.csv.read_csv(folder / "hagmann_statnlp/reliability_gridsearch_results.csv.gz").drop_columns(
        "system"
    )
    nuisance = ["dropout", "hidden_size_max", "learning_rate", "batch_size", "epochs"]
    columns = {"score": "accuracy", "system": "hidden_number", "dataset": "random_seed"}
    return table, {**columns, "nuisance": nuisance, "treat": {"batch_size": "fixed"}, "nested_runs": True}


def pythia(folder: Path) -> Case:
    """Sixteen Pythia models on 65 tasks, zero-shot accuracy at the 14 checkpoints from step 13,000 on."""
    table = pyarrow.csv.read_csv(folder / "pythia_evals/pythia_v1_evals_long.csv.gz")
    chosen = pc.and_(pc.equal(table["shots"], "zero-shot"), pc.equal(table["metric"], "acc"))
    table = table.filter(pc.and_(chosen, pc.greater_equal(table["step"], 13_000)))
    table = table.select(["model", "task", "value"]).append_column("log2_step", pc.log2(table["step"]))
    return table, {"score": "value", "system": "model", "dataset": "task", "nuisance": ["log2_step"]}


CASES: dict[str, Callable[[Path], Case]] = {
    "text_grid": text_grid, "automl": automl, "atari": atari, "atari_points": atari_points, "liver": liver,
    "pythia": pythia,
}  # fmt: skip


def main() -> None:
    """Rank the systems of each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared/data")
    parser.add_argument("--only", default=",".join(CASES), help="names of tables, comma-separated")
    options = parser.parse_args()
    for name in options.only.split(","):
        if name != "text_grid" and not options.folder.is_dir():
            print(f"{name}: {options.folder} is not there, left out")
            continue
        table, arguments = CASES[name](options.folder)
        print(f"== {name}: {(CASES[name].__doc__ or '').splitlines()[0]}\n")
        print(rank_systems(table, **arguments))


if __name__ == "__main__":
    main()
