"""How often does a comparison conditional on a property find what is not there, at 5%?

    python benchmarks/conditional.py [--cells 3 runs,skewed] [--simulations 2000] [--fits 200] [--seed 1] [--jobs 2]

Scores are drawn with no difference between systems at any value of the property. Counted are false positives
of our tests (interaction and joint) and ranges found by the simultaneous band, and, on fewer simulations, those
of limits for each value alone, of Satterthwaite's F in the mixed model and of the paper's likelihood ratio
(eqs. 6 and 7). Of three systems all pairs are tested, by Holm.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from calibration import wilson
from holdsup.fit import fit_lmm, joint_test, likelihood_ratio_test
from holdsup.numerics.spread import find_clusters
from holdsup.numerics.trends import (
    CENTRE,
    SLOPE,
    Trends,
    bound_line,
    decide_direction,
    half_width,
    joint_tail,
    measure_trends,
)
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record

ALPHA = 0.05
PLACES = 41  # values at which a band is looked at
CHECKED = 3  # simulations on which the quick decisions are compared with those of the library
OURS = ("interaction", "joint", "a range")
METHODS = (
    *OURS, "a range, pointwise", "Satterthwaite interaction", "Satterthwaite joint", "paper interaction", "paper joint",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """How scores are drawn; standard deviations as in `cells.py`, `sd_slope` that of a run's slope on the property."""

    name: str
    runs: tuple[int, ...] = (5, 5)
    sd_slope: tuple[float, ...] = (0.0, 0.0, 0.0)
    sd_run: tuple[float, ...] = (0.011, 0.011, 0.011)
    items: int = 100
    skewed: bool = False
    unequal: bool = False
    clusters: int = 0
    classes: int = 0
    new_runs: bool = True


BASE = [
    Cell(f"{k} runs, {systems} systems, {'slopes of runs differ' if sd else 'no slopes'}", (k,) * systems, (sd,) * 3)
    for systems in (2, 3) for k in (2, 3, 5, 10) for sd in (0.0, 0.02)
]  # fmt: skip
MORE = [
    Cell("18 v 2 runs, slopes sd .002 v .04", (18, 2), (0.002, 0.04), (0.002, 0.02)),
    Cell("10 v 3 runs, slopes sd .002 v .04", (10, 3), (0.002, 0.04), (0.002, 0.02)),
    Cell("skewed property", sd_slope=(0.011, 0.011), skewed=True),
    Cell("skewed property, 30 items", skewed=True, items=30),
    Cell("variance grows with the property", sd_slope=(0.011, 0.011), unequal=True),
    Cell("20 clusters of 5 items", sd_slope=(0.011, 0.011), clusters=20),
    Cell("these runs: one each", (1, 1), (0.0, 0.0), (0.0, 0.0), new_runs=False),
    Cell("these runs: one each, variance grows", (1, 1), (0, 0), (0, 0), unequal=True, skewed=True, new_runs=False),
    Cell("these runs: 5 each", (5, 5), (0.0, 0.0), (0.0, 0.0), new_runs=False),
    Cell("3 classes, 3 runs", (3, 3), (0.02, 0.02), classes=3),
    Cell("3 classes, 5 runs", (5, 5), (0.02, 0.02), classes=3),
    Cell("these runs: 5 classes, one each", (1, 1), (0.0, 0.0), (0.0, 0.0), classes=5, new_runs=False),
]
CELLS = (*BASE, *MORE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="", help="parts of the names of cells, comma-separated; all if empty")
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--fits", type=int, default=200, help="simulations of what stands beside our rules")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    wanted = [cell for cell in CELLS if any(part in cell.name for part in options.cells.split(","))]
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = []
        for row in pool.map(calibrate, wanted, itertools.repeat(options)):
            rows.append(row)
            print(row["cell"], *(_shown(row.get(name), name) for name in METHODS), flush=True)
    print(render_text(tabulate(rows), width=200), flush=True)
    record("conditional", [{"seed": options.seed, **row} for row in rows])


def calibrate(cell: Cell, options: argparse.Namespace) -> dict[str, object]:
    """Return the rate of each method, with its Wilson interval."""
    rng = np.random.default_rng([options.seed, CELLS.index(cell)])
    hits: Counter[str] = Counter()
    for number in range(options.simulations):
        d, scores, clusters = simulate(cell, rng)
        hits.update(
            name for name, hit in decide_pairs(cell, d, scores, clusters, check=number < CHECKED).items() if hit
        )
        if number < options.fits and not cell.classes:
            hits.update(name for name, hit in by_others(cell, d, scores).items() if hit)
    row: dict[str, object] = {"cell": cell.name}
    for name in METHODS:
        count = options.simulations if name in OURS else options.fits
        if count and (name in OURS or not cell.classes):
            low, high = wilson(hits[name], count)
            row[name] = {"rate": hits[name] / count, "low": low, "high": high, "simulations": count}
    return row


def simulate(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray], np.ndarray | None]:
    """Return the property, the scores of each system, items x runs, and the cluster of each item."""
    clusters = np.arange(cell.items) % cell.clusters if cell.clusters else None
    d = rng.exponential(size=cell.items) if cell.skewed else rng.normal(size=cell.items)
    if cell.classes:  # of unequal sizes
        d = np.digitize(d, np.linspace(-0.8, 1.2, cell.classes - 1)).astype(float)
    if clusters is not None:  # items of a cluster are alike in the property
        d = rng.normal(size=cell.clusters)[clusters] + d / 2
    wider = np.exp(d / 2) if cell.unequal else np.ones(cell.items)
    item = 0.02 * d + rng.normal(0, 0.096, cell.items)
    scores = []
    for k, sd_slope, sd_run in zip(cell.runs, cell.sd_slope, cell.sd_run, strict=False):
        own = wider * rng.normal(0, 0.03, cell.items)
        if clusters is not None:
            own = own + rng.normal(0, 0.03, cell.clusters)[clusters]
        along = rng.normal(0, sd_run, k) + np.outer(d, rng.normal(0, sd_slope, k))
        scores.append((item + own)[:, None] + along + wider[:, None] * rng.normal(0, 0.068, (cell.items, k)))
    return d, scores, clusters


def decide_pairs(
    cell: Cell, d: np.ndarray, scores: list[np.ndarray], clusters: np.ndarray | None, *, check: bool
) -> dict[str, bool]:
    """Return what our rules find in any pair."""
    found = dict.fromkeys(OURS, False)
    z, pairs = standardize(d), list(itertools.combinations(scores, 2))
    for pair in pairs:
        if cell.classes:
            hits = decide_classes(d, pair, cell.new_runs, ALPHA / len(pairs))
        else:
            hits = decide_pair(follow(z, pair, clusters), z, cell.new_runs, ALPHA / len(pairs), check=check)
        for name, hit in hits.items():
            found[name] |= hit
    return found


def decide_classes(d: np.ndarray, pair: tuple[np.ndarray, ...], new_runs: bool, alpha: float) -> dict[str, bool]:
    """Return what is found in classes: a difference in some, or one that differs from the rest."""
    classes, sizes = np.unique(d, return_counts=True)
    design = (d[:, None] == classes).astype(float)
    trends = measure_trends(pair, design, settings=(None, None), clusters=find_clusters(None, len(d)), classes=True)
    count = len(classes)
    some = any(exceeds(trends, row, new_runs, alpha / count) for row in np.eye(count))
    rest = [np.where(np.arange(count) == i, 1.0, -sizes / (len(d) - sizes[i])) for i in range(count)]
    return {
        "interaction": any(exceeds(trends, row, new_runs, alpha / count) for row in rest), "joint": some,
        "a range": some,
    }  # fmt: skip


def decide_pair(trends: Trends, z: np.ndarray, new_runs: bool, alpha: float, *, check: bool) -> dict[str, bool]:
    """Return what our rules find in one pair; the p-values themselves, which cost more, only where checked."""
    interaction = exceeds(trends, SLOPE, new_runs, alpha)
    if new_runs:
        joint = exceeds(trends, CENTRE, True, alpha / 2) or exceeds(trends, SLOPE, True, alpha / 2)
    else:
        joint = joint_tail(trends, new_runs=False).p < alpha
    if check:  # never count by another rule than the library's
        assert interaction == (decide_direction(trends, SLOPE, new_runs=new_runs, level=0.95).p < alpha)
        assert joint == (joint_tail(trends, new_runs=new_runs).p < alpha)
    places = np.linspace(z.min(), z.max(), PLACES)
    line = trends.coefficients[0] + trends.coefficients[1] * places
    some = np.abs(line) > bound_line(trends, places, new_runs=new_runs, level=1 - alpha)
    return {"interaction": interaction, "joint": joint, "a range": bool(some.any())}


def standardize(d: np.ndarray) -> np.ndarray:
    return (d - d.mean()) / d.std()


def follow(z: np.ndarray, pair: tuple[np.ndarray, ...], clusters: np.ndarray | None) -> Trends:
    design = np.column_stack([np.ones(len(z)), z])
    return measure_trends(pair, design, settings=(None, None), clusters=find_clusters(clusters, len(z)))


def exceeds(trends: Trends, direction: np.ndarray, new_runs: bool, alpha: float) -> bool:
    return abs(trends.estimate(direction)) > half_width(trends, direction, new_runs=new_runs, level=1 - alpha)


def by_others(cell: Cell, d: np.ndarray, scores: list[np.ndarray]) -> dict[str, bool]:
    """Return what limits for each value alone find, Satterthwaite's F of our mixed model, and the paper's test."""
    table = tabulate_scores(d, scores)
    several = len(scores[0][0]) > 1
    random = "(1 | item)" + (" + (1 | system:item)" if several else "")
    random += " + (1 + d | system:run)" if several and cell.new_runs else ""
    fit = fit_lmm(f"score ~ system * d + {random}", table)
    slopes = [e.name for e in fit.fixed if ":" in e.name]
    systems = [e.name for e in fit.fixed if e.name.startswith("system")]
    paper = [fit_lmm(f"score ~ {fixed} + (1 | item)", table, "ml") for fixed in ("system * d", "system + d", "d")]
    return {
        "a range, pointwise": find_pointwise(cell, d, scores),
        "Satterthwaite interaction": joint_test(fit, slopes).p < ALPHA,
        "Satterthwaite joint": joint_test(fit, systems).p < ALPHA,
        "paper interaction": likelihood_ratio_test(paper[1], paper[0]).p < ALPHA,
        "paper joint": likelihood_ratio_test(paper[2], paper[0]).p < ALPHA,
    }


def find_pointwise(cell: Cell, d: np.ndarray, scores: list[np.ndarray]) -> bool:
    """Return whether, in the first pair, the limits for some value alone exclude zero."""
    z = standardize(d)
    trends = follow(z, tuple(scores[:2]), None)
    places = np.linspace(z.min(), z.max(), PLACES)
    return any(exceeds(trends, CENTRE + place * SLOPE, cell.new_runs, ALPHA) for place in places)


def tabulate_scores(d: np.ndarray, scores: list[np.ndarray]) -> pa.Table:
    parts = []
    for system, each in enumerate(scores):
        item, run = (axis.ravel() for axis in np.indices(each.shape))
        parts.append({"score": each.ravel(), "system": np.full(each.size, f"s{system}"), "item": item.astype(str),
                      "run": np.char.add(f"{system}/", run.astype(str)), "d": d[item]})  # fmt: skip
    return pa.table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def tabulate(rows: list[dict[str, object]]) -> Table:
    """Return rates in percent, a star where ours is above 6%."""
    return Table(
        title="False positives at 5%, %",
        columns=("cell", *METHODS),
        rows=tuple((str(row["cell"]), *(_shown(row.get(name), name) for name in METHODS)) for row in rows),
    )


def _shown(found: object, name: str) -> str:
    if not isinstance(found, dict):
        return "-"
    star = "*" if found["rate"] > 0.06 and name in OURS else ""
    return f"{100 * found['rate']:.1f}{star}"


if __name__ == "__main__":
    main()
