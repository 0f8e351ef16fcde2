"""Tables of the sizes that evaluations have, drawn by seeded rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["crossed_evaluation", "large_evaluation", "many_slopes", "right_or_wrong"]


def crossed_evaluation(items: int = 11_490, *, seed: int = 1) -> pa.Table:
    """Return a baseline with 18 seeds and a new system on a grid of 3 x 5 x 2 settings: 48 runs on every item."""
    rng = np.random.default_rng(seed)
    lam, run, noise = (axis.ravel() for axis in np.indices((3, 5, 2)))
    system = np.repeat([0, 1], [18, 30])
    lam = np.concatenate([np.arange(18) % 3, lam])
    run = np.concatenate([np.arange(18), run])
    noise = np.concatenate([np.arange(18) % 2, noise])
    item = np.repeat(np.arange(items), 48)
    system, lam, run, noise = (np.tile(codes, items) for codes in (system, lam, run, noise))
    readability = np.round(rng.normal(size=items), 6)[item]
    score = (
        0.35 + 0.012 * system - 0.02 * readability + 0.004 * system * readability + rng.normal(0, 0.11, items)[item]
        + rng.normal(0, 0.008, 3)[lam] + rng.normal(0, 0.004, 18)[run] + rng.normal(0, 0.003, 2)[noise]
        + rng.normal(0, 0.06, len(item))
    )  # fmt: skip
    return pa.table(
        {
            "item": _labels(item, [f"doc-{i:06d}" for i in range(items)]),
            "system": _labels(system, ["baseline", "new"]),
            "lam": _labels(lam, ["0.1", "0.5", "1.0"]),
            "seed": _labels(run, [f"s{i:02d}" for i in range(18)]),
            "noise": _labels(noise, ["off", "on"]),
            "readability": readability,
            "y": np.round(score, 6),
        }
    )


def many_slopes(*, seed: int = 2) -> pa.Table:
    """Return 5,154 rows of 4 systems on 13 datasets, unbalanced, with eight regressors whose slopes vary."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(20, rng.multinomial(5154, rng.dirichlet(np.full(52, 30.0))))
    sizes[np.argmax(sizes)] += 5154 - sizes.sum()
    cell = rng.permutation(np.repeat(np.arange(52), sizes))
    system, dataset = cell // 13, cell % 13
    X = np.round(rng.normal(size=(5154, 8)), 6)
    X[:, 5] = X[:, 5] > 0
    slopes = rng.normal(size=(52, 8)) * np.array([0.30, 0.20, 0.15, 0.10, 0.05, 0.0, 0.08, 0.0])
    score = (
        1 + X @ np.array([0.5, -0.3, 0.2, 0.1, 0, 0.05, -0.1, 0]) + (X * slopes[cell]).sum(axis=1)
        + rng.normal(0, 0.4, 4)[system] + rng.normal(0, 0.6, 13)[dataset] + rng.normal(0, 0.25, 52)[cell]
        + rng.normal(0, 1, 5154)
    )  # fmt: skip
    labels = {
        "system": _labels(system, [f"m{i}" for i in range(4)]),
        "dataset": _labels(dataset, [f"d{i:02d}" for i in range(13)]),
        "cell": _labels(cell, [f"c{i:02d}" for i in range(52)]),
    }
    return pa.table({**labels, **{f"x{i + 1}": X[:, i] for i in range(8)}, "y": np.round(score, 6)})


def large_evaluation(items: int = 100_000, *, seed: int = 5) -> pa.Table:
    """Return 2 systems x 5 settings x 5 seeds on every item (50 rows an item), with a property of items."""
    rng = np.random.default_rng(seed)
    system, lam, run = (axis.ravel() for axis in np.indices((2, 5, 5)))
    item = np.repeat(np.arange(items), 50)
    system, lam, run = (np.tile(codes, items) for codes in (system, lam, run))
    readability = rng.normal(size=items)
    score = (
        0.4 + 0.01 * system + rng.normal(0, 0.01, 5)[lam] + rng.normal(0, 0.004, 5)[run]
        + (rng.normal(0, 0.1, items) - 0.02 * readability)[item] + rng.normal(0, 0.07, len(item))
    )  # fmt: skip
    return pa.table(
        {
            "item": item,
            "system": _labels(system, ["baseline", "sota"]),
            "lam": _labels(lam, [f"l{i}" for i in range(5)]),
            "seed": _labels(run, [f"s{i}" for i in range(5)]),
            "readability": np.round(readability, 6)[item],
            "y": np.round(score, 6),
        }
    )


def _labels(codes: np.ndarray, names: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), names).cast(pa.string())


def right_or_wrong(
    size: tuple[int, int, int], sd: tuple[float, float, float], highest: float, *, seed: int
) -> pa.Table:
    """Return 0/1 outcomes of systems on items in runs, with normal effects of items, systems on items, and runs."""
    rng = np.random.default_rng(seed)
    s, i, r = np.indices(size).reshape(3, -1)
    log_odds = np.linspace(highest - 1, highest, size[0])[s]
    log_odds += sd[0] * rng.normal(size=size[1])[i] + sd[1] * rng.normal(size=size[:2])[s, i]
    log_odds += sd[2] * rng.normal(size=(size[0], size[2]))[s, r]
    return pa.table(
        {
            "system": [f"s{code:02d}" for code in s],
            "item": [f"q{code:05d}" for code in i],
            "run": [f"r{code}" for code in r],
            "y": (rng.random(len(s)) < 1 / (1 + np.exp(-log_odds))).astype(np.int64),
        }
    )
