"""How often do the limits of `variance --by` cover the lines of levels, and how often is an interaction found in vain?

    python benchmarks/facet_lines.py [--tables 300] [--seed 1]

Levels of a learning rate have lines in a property x of the items, and so have the runs (seeds) at each level; items
have effects with a standard deviation of .5, chance .3. Coverage is that of a level's distance from the average of the
levels, at low, middle and high values of x. `p` and `published` are how often the test of the interaction is below .05,
ours and that of Hagmann et al. (2023); where slopes of levels have no spread both should be 5% at most.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

import holdsup
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record


class Design(NamedTuple):
    """Numbers of levels, runs a level and items; sds of levels and their slopes, of runs and theirs."""

    levels: int
    runs: int
    items: int
    level: float
    slope: float
    run: float
    run_slope: float


DESIGNS = (
    Design(4, 3, 150, 0.10, 0.05, 0.05, 0.03),
    Design(4, 3, 150, 0.10, 0.00, 0.05, 0.03),
    Design(4, 3, 150, 0.05, 0.02, 0.10, 0.06),
    Design(3, 2, 100, 0.10, 0.05, 0.05, 0.03),
    Design(3, 2, 100, 0.10, 0.00, 0.05, 0.03),
    Design(5, 5, 50, 0.05, 0.02, 0.03, 0.02),
    Design(8, 2, 60, 0.10, 0.05, 0.05, 0.03),
    Design(6, 1, 100, 0.10, 0.05, 0.00, 0.00),
    Design(6, 1, 100, 0.10, 0.00, 0.00, 0.00),
)


def cover(design: Design, tables: int, seed: int) -> dict[str, float]:
    """Return how often lines were covered, and how often either test found an interaction."""
    rng = np.random.default_rng(seed)
    shape = (design.levels, design.runs, design.items)
    level, run, item = (axis.ravel() for axis in np.indices(shape))
    covered, found, published = [], [], []
    for _ in range(tables):
        x, own = rng.normal(size=design.items), rng.normal(0, design.level, design.levels)
        slope = rng.normal(0, design.slope, design.levels)
        score = 0.05 * x[item] + rng.normal(0, 0.5, design.items)[item] + rng.normal(0, 0.3, len(item))
        score += own[level] + slope[level] * x[item] + rng.normal(0, design.run, shape[:2])[level, run]
        score += rng.normal(0, design.run_slope, shape[:2])[level, run] * x[item]
        table = {"system": ["A"] * len(item), "item": item, "rate": level, "x": x[item], "score": score}
        facets = ["rate"]
        if design.runs > 1:
            table["seed"], facets = run + design.runs * level, ["rate", "seed"]
        answer = holdsup.decompose_variance(table, facets=facets, by="x")
        lines = next(f for f in answer.properties if f.facet == "rate")
        found.append(lines.p < 0.05)
        published.append(lines.paper is not None and lines.paper.p < 0.05)
        for value in dict.fromkeys(p.value for p in lines.points):
            here = [p for p in lines.points if p.value == value]
            truth = np.array([own[int(p.level)] + slope[int(p.level)] * value for p in here])
            mean = np.array([p.mean for p in here])
            covered.append(np.abs(mean - mean.mean() - truth + truth.mean()) <= [p.high - p.mean for p in here])
    return {"covered": float(np.mean(covered)), "p": float(np.mean(found)), "published": float(np.mean(published))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = []
    for design in DESIGNS:
        rows.append((design, cover(design, options.tables, options.seed)))
        print(design, rows[-1][1], flush=True)
    shown = tuple(
        (f"{d.levels} x {d.runs} x {d.items}", d.level, d.slope, d.run, d.run_slope,
         *(f"{100 * row[name]:.1f}%" for name in ("covered", "p", "published")))
        for d, row in rows
    )  # fmt: skip
    columns = ("levels x runs x items", "sd level", "slope", "run", "run slope", "covered", "p", "published")
    title = f"Lines of levels by a property ({options.tables:,} tables a row)"
    print(render_text(Table(title=title, columns=columns, rows=shown), width=120))
    record("facet_lines", [{**d._asdict(), **row} for d, row in rows])


if __name__ == "__main__":
    main()
