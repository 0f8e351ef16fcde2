"""Small tables whose ranking can be computed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from holdsup import Ranking, read_scores
from holdsup.verdict.ranking.fits import RankFits, fit_form
from holdsup.verdict.ranking.forms import make_default
from holdsup.verdict.ranking.table import RunTable, lay_out_runs

Table = dict[str, Any]


def make_grid(
    seed: int = 0, *, systems: str = "ABCD", datasets: int = 8, means: Mapping[str, float] | None = None
) -> Table:
    """Return scores of systems on datasets at two rates, three seeds each."""
    rng = np.random.default_rng(seed)
    axes = np.meshgrid(range(len(systems)), range(datasets), range(2), range(3), indexing="ij")
    s, d, rate, repeat = (axis.ravel() for axis in axes)
    cell = s * datasets + d
    names = np.array(list(systems))
    truth = np.array([(means or {}).get(name, float(i)) for i, name in enumerate(systems)])
    y = 70 + truth[s] + rng.normal(0, 4, datasets)[d] + rng.normal(0, 1, cell.max() + 1)[cell]
    y += rng.normal(0, 0.8, (cell.max() + 1, 2))[cell, rate] + rate + rng.normal(0, 1, len(s))
    return {
        "score": y,
        "system": names[s],
        "dataset": np.array([f"d{i}" for i in range(datasets)])[d],
        "lr": np.array(["0.1", "0.2"])[rate],
        "seed": np.array(["1", "2", "3"])[repeat],
    }


def take(table: Table, rows: Any) -> Table:
    """Return some rows of a table."""
    return {name: values[rows] for name, values in table.items()}


def lay_out(table: Table) -> RunTable:
    """Return a table as the rows that systems are ranked by."""
    return lay_out_runs(read_scores(table), [name for name in ("lr", "seed") if name in table], (), nested_runs=True)


def fit_default(table: Table) -> RankFits:
    """Return both fits of the default form."""
    runs = lay_out(table)
    return fit_form(make_default(runs, treat={}), runs, level=0.95)


def codes(found: Ranking) -> set[str]:
    """Return the codes of what limits a ranking."""
    return {caution.code for caution in found.cautions}


def messages(found: Ranking, code: str) -> str:
    """Return all that is said under a code."""
    return " ".join(caution.sentence() for caution in found.cautions if caution.code == code)
