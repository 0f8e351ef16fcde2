"""How long does a decomposition of variance take: CPU seconds of `decompose_variance`, in process, after imports?

    python benchmarks/variance.py [--repeats 3]

Tables are drawn with effects of items, datasets, clusters, facets and runs within datasets. The goal is one second for
any table of up to 50,000 rows and ten systems.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

import holdsup
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record

FACETS = ("seed", "learning_rate", "rater")
GOAL = 1.0


class Shape(NamedTuple):
    """Numbers of systems, datasets, items and clusters of each dataset, levels of facets; the share missing; 0/1?"""

    systems: int
    datasets: int
    items: int
    clusters: int
    facets: tuple[int, ...]
    missing: float = 0.0
    binary: bool = False


SHAPES = (
    Shape(2, 6, 33, 0, (5,)),
    Shape(2, 6, 28, 0, (3, 2)),
    Shape(8, 6, 40, 0, (5,)),
    Shape(10, 1, 1000, 0, (5,)),
    Shape(10, 1, 1000, 0, (5,), binary=True),
    Shape(10, 6, 46, 0, (3, 3, 2)),
    Shape(10, 1, 1000, 100, (5,)),
    Shape(10, 6, 166, 20, (5,)),
    Shape(10, 6, 140, 20, (3, 2), missing=0.03),
    Shape(10, 1, 1000, 500, (5,), missing=0.03),
    Shape(1, 6, 1666, 200, (5,)),
    Shape(1, 1, 10_000, 2000, (5,)),
)


def draw(shape: Shape, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = (shape.systems, shape.datasets, shape.items)
    system, dataset, item, *levels = np.indices((*sizes, *shape.facets)).reshape(3 + len(shape.facets), -1)
    score = 0.6 + rng.normal(0, 0.1, sizes[1:])[dataset, item] + rng.normal(0, 0.05, sizes)[system, dataset, item]
    score += rng.normal(0, 0.03, shape.datasets)[dataset] + rng.normal(0, 0.08, len(item))
    table = {"system": np.char.add("s", system.astype(str)), "item": dataset * shape.items + item}
    if shape.datasets > 1:
        table["dataset"] = np.char.add("d", dataset.astype(str))
    if shape.clusters:
        cluster = item * shape.clusters // shape.items
        score += rng.normal(0, 0.05, (shape.datasets, shape.clusters))[dataset, cluster]
        table["document"] = np.char.add("c", (dataset * shape.clusters + cluster).astype(str))
    for name, level, count in zip(FACETS, levels, shape.facets, strict=False):
        score += rng.normal(0, 0.03, (shape.systems, count))[system, level]
        score += rng.normal(0, 0.01, (shape.systems, shape.datasets, count))[system, dataset, level]
        table[name] = np.char.add(name, level.astype(str))
    table["score"] = (score > 0.5).astype(float) if shape.binary else score
    kept = rng.random(len(item)) >= shape.missing
    return {name: column[kept] for name, column in table.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    holdsup.decompose_variance(draw(SHAPES[0]), facets="seed")  # imports
    rows = []
    for shape in SHAPES:
        table, seconds = draw(shape), []
        for _ in range(options.repeats):
            start = time.process_time()
            holdsup.decompose_variance(table, facets=FACETS[: len(shape.facets)])
            seconds.append(time.process_time() - start)
        rows.append((shape, len(table["score"]), min(seconds)))
    shown = tuple(
        (f"{n:,}", s.systems, s.datasets, s.items, s.clusters or "", " x ".join(map(str, s.facets)),
         f"{s.missing:.0%}" if s.missing else "", "0/1" if s.binary else "", f"{seconds:.2f}", GOAL)
        for s, n, seconds in rows
    )  # fmt: skip
    columns = ("rows", "systems", "datasets", "items", "clusters", "facets", "missing", "", "CPU s", "goal")
    print(render_text(Table(title="Decompositions of variance", columns=columns, rows=shown), width=120))
    record("variance", [{**shape._asdict(), "rows": n, "cpu": seconds} for shape, n, seconds in rows])


if __name__ == "__main__":
    main()
