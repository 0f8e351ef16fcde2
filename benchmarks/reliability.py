"""How often do 95% limits of the reliability coefficient phi cover it, where scores are not normal?

    python benchmarks/reliability.py [--tables 300] [--seed 1] [--only "0/1" "log-normal, 50 x 2"]

Tables of items x runs are drawn with a known phi: items normal, Student's t with 3 degrees of freedom or log-normal
beside normal chance (phi .67 without a run effect); 0/1 scores whose log-odds vary by 2 between items, with a mean of
.5 to .98. Runs have no effect, or one with a standard deviation of .3 (of log-odds, for 0/1). `given` is the share of
tables with limits at all: where all scores are equal there are none. Beside ours the plain profile likelihood, which
takes all effects for normal; `below` are tables whose upper limit lies below phi, `above` the others that miss it.
With 300 tables a share of 95% is known to 2.5 points, with 1,500 to 1.1. `--only` takes rows whose names begin so: a
name is the kind of items, the shape and the run effect ("0/1 0.98, 100 x 5, 0.3").
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import holdsup
from holdsup.fit import fit_lmm, profile_share
from holdsup.numerics.arithmetic import find_root
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.verdict.variance.reliability import find_share_interval
from measuring import record

SHAPES = ((50, 2), (100, 2), (100, 3), (100, 5), (500, 3))
CONTINUOUS, ACCURACIES = ("normal", "t3", "log-normal"), (0.5, 0.83, 0.95, 0.98)
CHANCE, LOG_ODDS, RUN = 0.7, 2.0, 0.3  # standard deviations
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
SHARES = WEIGHTS / WEIGHTS.sum()  # of a normal variable at the nodes


class Cell(NamedTuple):
    """A way of drawing tables: kind of items ("0/1 .95" has that accuracy), numbers, run effect, share missing."""

    kind: str
    items: int
    runs: int
    run_sd: float
    missing: float = 0.0

    @property
    def shape(self) -> str:
        """Items x runs, and what is missing."""
        return f"{self.items} x {self.runs}{f', {self.missing:.0%} missing' if self.missing else ''}"

    @property
    def name(self) -> str:
        """What `--only` goes by."""
        return f"{self.kind}, {self.shape}, {self.run_sd}"


def odds_of(accuracy: float) -> float:
    """Return the mean log-odds at which 0/1 scores have an accuracy."""
    return find_root(lambda mean: SHARES @ expit(mean + LOG_ODDS * NODES) - accuracy, -20, 20)


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def truth(cell: Cell) -> float:
    """Return phi."""
    if not cell.kind.startswith("0/1"):
        return 1 / (1 + CHANCE**2 + cell.run_sd**2)
    p = expit(odds_of(float(cell.kind[4:])) + LOG_ODDS * NODES[:, None] + cell.run_sd * NODES)
    own = p @ SHARES
    mean = float(SHARES @ own)
    return float(SHARES @ (own - mean) ** 2) / (mean * (1 - mean))


def draw(cell: Cell, rng: np.random.Generator) -> dict[str, np.ndarray]:
    shape = (cell.items, cell.runs)
    runs = rng.normal(0, cell.run_sd, (1, cell.runs)) if cell.run_sd else 0.0
    if cell.kind.startswith("0/1"):
        odds = odds_of(float(cell.kind[4:])) + rng.normal(0, LOG_ODDS, (cell.items, 1)) + runs
        score = (rng.random(shape) < expit(odds)).astype(float)
    else:
        score = draw_items(cell.kind, rng, cell.items)[:, None] + runs + rng.normal(0, CHANCE, shape)
    item, run = (axis.ravel() for axis in np.indices(shape))
    kept = rng.random(item.size) >= cell.missing
    return {"item": item[kept].astype(str), "seed": run[kept].astype(str), "score": score.ravel()[kept]}


def draw_items(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return effects with a variance of 1."""
    if kind == "normal":
        return rng.normal(size=n)
    if kind == "t3":
        return rng.standard_t(3, n) / math.sqrt(3)
    return (np.exp(rng.normal(size=n)) - math.exp(0.5)) / math.sqrt(math.e * (math.e - 1))


def cover(cell: Cell, tables: int, seed: int) -> dict[str, float]:
    """Return how often limits were given, ours and the profile's covered, and ours lay below or above."""
    phi, rng = truth(cell), np.random.default_rng(seed)
    found, plain = [], []
    for _ in range(tables):
        try:
            fit = fit_lmm("score ~ 1 + (1 | item) + (1 | seed)", draw(cell, rng))
            found.append(find_share_interval(fit, ["item"], level=0.95)[0])
        except holdsup.HoldsupError:
            continue
        limits = profile_share(fit, "item")
        plain.append(limits.low <= phi <= limits.high)
    low, high = np.array(found).T
    return {
        "phi": phi, "given": len(found) / tables, "profile": float(np.mean(plain)),
        "covered": float(((low <= phi) & (phi <= high)).mean()), "below": float((high < phi).mean()),
        "above": float((low > phi).mean()), "width": float(np.median(high - low)),
    }  # fmt: skip


def list_cells() -> Iterator[Cell]:
    for kind in (*CONTINUOUS, *(f"0/1 {accuracy:.2f}" for accuracy in ACCURACIES)):
        for items, runs in SHAPES:
            yield Cell(kind, items, runs, 0.0)
            yield Cell(kind, items, runs, RUN)
        yield Cell(kind, 100, 3, RUN, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[""], help="rows whose names begin so")
    options = parser.parse_args()
    rows = []
    for cell in (cell for cell in list_cells() if cell.name.startswith(tuple(options.only))):
        rows.append((cell, cover(cell, options.tables, options.seed)))
        print(cell, {name: round(value, 3) for name, value in rows[-1][1].items()}, flush=True)
    shares = ("profile", "covered", "below", "above", "given")
    shown = tuple(
        (
            cell.kind, cell.shape, cell.run_sd, f"{row['phi']:.2f}",
            *(f"{100 * row[name]:.1f}%" for name in shares), f"{row['width']:.2f}",
        )
        for cell, row in rows
    )  # fmt: skip
    columns = ("items", "shape", "run sd", "phi", "profile", "ours", "below", "above", "given", "width")
    title = f"Coverage of 95% CIs of phi ({options.tables:,} tables per row)"
    print(render_text(Table(title=title, columns=columns, rows=shown), width=120))
    record("reliability", [{**cell._asdict(), **row} for cell, row in rows])


if __name__ == "__main__":
    main()
