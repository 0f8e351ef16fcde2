"""The numbers of results of all kinds, as JSON gives them: what a change of words or of code must not move.

PYTHONPATH=tests python tests/results/kept_numbers.py writes those of today. Write them only when a change is meant to move numbers, and
tell of it in the changelog.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import holdsup
from every_kind import make_results
from holdsup.data import belz2022, text_classifiers

EXAMPLE = Path(__file__).parents[2] / "examples" / "scores.csv"
KEPT = Path(__file__).with_name("kept_numbers.json")
# What tells of the result and is no number of it.
ASIDE = {"schema", "version", "asked", "cautions", "findings", "warnings"}


def simulate(systems: int, *, items: int, runs: int, seed: int, **more: Any) -> Any:
    return holdsup.simulate_scores(
        {f"S{i}": 0.6 + 0.02 * i for i in range(systems)}, items=items, runs=runs, seed=seed, **more
    )


def over_datasets(seed: int, *, systems: int = 4, datasets: int = 6, runs: int = 3) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    cells = [(s, d, r) for s in range(systems) for d in range(datasets) for r in range(runs)]
    base = rng.normal(0.7, 0.1, datasets)
    own = rng.normal(0, 0.02, (systems, datasets))
    return {
        "system": [f"S{s}" for s, _, _ in cells],
        "dataset": [f"D{d}" for _, d, _ in cells],
        "seed": [r for _, _, r in cells],
        "score": [base[d] + 0.02 * s + own[s, d] + rng.normal(0, 0.01) for s, d, _ in cells],
    }


def right_or_wrong(seed: int) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    cells = [(s, i, r) for s in range(3) for i in range(60) for r in range(3)]
    hard = rng.normal(0.8, 1.0, 60)
    return {
        "system": [f"S{s}" for s, _, _ in cells],
        "item": [f"i{i}" for _, i, _ in cells],
        "seed": [r for _, _, r in cells],
        "correct": [int(rng.random() < 1 / (1 + math.exp(-hard[i] - 0.3 * s))) for s, i, _ in cells],
    }


MAKERS: dict[str, Callable[[], Any]] = {
    "compare example": lambda: holdsup.compare_systems(EXAMPLE),
    "compare example margin": lambda: holdsup.compare_systems(EXAMPLE, margin=0.1, baseline="baseline", bootstrap=50),
    "compare five": lambda: holdsup.compare_systems(simulate(5, items=80, runs=3, seed=1)),
    "compare single": lambda: holdsup.compare_systems(simulate(3, items=50, runs=1, seed=2)),
    "compare shared": lambda: holdsup.compare_systems(simulate(2, items=60, runs=4, seed=3), shared=["seed"]),
    "compare datasets": lambda: holdsup.compare_systems(over_datasets(4)),
    "compare right or wrong": lambda: holdsup.compare_systems(right_or_wrong(5)),
    "variance example": lambda: holdsup.decompose_variance(EXAMPLE),
    "variance right or wrong": lambda: holdsup.decompose_variance(right_or_wrong(6)),
    "variance simulated": lambda: holdsup.decompose_variance(simulate(2, items=100, runs=5, seed=7)),
    "rank datasets": lambda: holdsup.rank_systems(over_datasets(8), folds=5),
    "rank paper": lambda: holdsup.rank_systems(over_datasets(9, systems=5), paper=True, folds=0),
    "rank classifiers": lambda: holdsup.rank_systems(text_classifiers(), nested_runs=True, folds=0),
    "qra shipped": lambda: holdsup.assess_reproduction(belz2022()[:40]),
    "fit example": lambda: holdsup.fit_lmm("f1 ~ model + (1 | question_id)", EXAMPLE),
    "check example": lambda: holdsup.audit_scores(EXAMPLE, score_range=(0, 1)),
}


def list_numbers(plain: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a JSON object, and where it is."""
    if isinstance(plain, bool) or plain is None or isinstance(plain, str):
        return
    if isinstance(plain, int | float):
        yield path, plain
    elif isinstance(plain, list):
        for place, each in enumerate(plain):
            yield from list_numbers(each, f"{path}[{place}]")
    else:
        for name, each in plain.items():
            if name not in ASIDE:
                yield from list_numbers(each, f"{path}.{name}")


def make_numbers() -> dict[str, dict[str, float]]:
    """Return the numbers of every result."""
    found = {name: make() for name, make in MAKERS.items()}
    found |= {f"every kind: {result.kind}": result for result in make_results()}
    return {name: dict(list_numbers(json.loads(result.to_json()))) for name, result in found.items()}


if __name__ == "__main__":
    kept = {name: {path: float(f"{value:.10g}") for path, value in own.items()} for name, own in make_numbers().items()}
    KEPT.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
