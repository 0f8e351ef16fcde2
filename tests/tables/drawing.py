"""Ordinary tables, drawn at random: what people bring, not what breaks readers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

__all__ = ["SHAPES", "DrawnTable", "draw_table"]

SHAPES = ("normal", "uniform", "0/1", "Likert", "rounded", "mostly zero", "constant items", "tied runs")
MOST_ROWS = 4000


@dataclass(frozen=True)
class DrawnTable:
    """A table of scores and how it was drawn."""

    seed: int
    words: str
    table: pa.Table


def draw_table(seed: int) -> DrawnTable:
    """Return the table of a seed; the same seed gives the same table."""
    rng = np.random.default_rng([seed, 2026])
    systems, runs = int(rng.choice([2, 2, 2, 3, 3, 4, 5, 6, 7, 8])), int(rng.choice([1, 2, 2, 3, 3, 4, 5]))
    datasets = int(rng.choice([1, 1, 2, 3, 4, 5, 6]))
    items = int(np.exp(rng.uniform(np.log(3), np.log(200))))
    settings = int(rng.choice([1, 1, 1, 2, 3]))
    shape, missing = str(rng.choice(SHAPES)), float(rng.choice([0, 0, 0.05, 0.3]))
    clustered, per_run, unequal = rng.random() < 0.2, rng.random() < 0.1, rng.random() < 0.25
    items = 1 if per_run else max(3, min(items, MOST_ROWS // (systems * runs * datasets * settings)))

    size = (systems, settings, runs, datasets, items)
    score = _score(rng, shape, size)
    codes = [axis.ravel() for axis in np.indices(size)]
    kept = rng.random(len(codes[0])) >= missing
    if unequal:  # each system has runs of its own number
        kept &= codes[2] < rng.integers(1, runs + 1, systems)[codes[0]]
    kept |= (codes[2] == 0) & (codes[4] < 2) & (codes[1] == 0)  # no system is lost
    columns = {"system": _labels("system ", codes[0])}
    if settings > 1:
        columns["learning_rate"] = np.array([0.1, 0.01, 0.001])[codes[1]]
    if runs > 1:
        columns["seed"] = codes[2] + 1
    if datasets > 1:
        columns["dataset"] = _labels("data ", codes[3])
    if not per_run:
        columns["item"] = _labels("q", codes[4] + 1000 * codes[3])
    if clustered and not per_run:
        columns["document"] = _labels("doc ", codes[4] // 3 + 1000 * codes[3])
    columns["score"] = score.ravel()
    words = (
        f"{systems} systems x {settings} settings x {runs} runs{' at most' * unequal} x {datasets} datasets x "
        f"{items} items, {shape}, {missing:.0%} missing{', in documents' * clustered}{', one score a run' * per_run}"
    )
    return DrawnTable(seed, words, pa.table({name: values[kept] for name, values in columns.items()}))


def _labels(prefix: str, codes: np.ndarray) -> np.ndarray:
    return np.array([f"{prefix}{code}" for code in range(int(codes.max()) + 1)])[codes]


def _score(rng: np.random.Generator, shape: str, size: tuple[int, ...]) -> np.ndarray:
    """Return scores: systems, settings, runs, datasets and items each add something, most of them."""

    def draw(sd: float, *over: int) -> np.ndarray:
        return rng.normal(0, sd, [n if axis in over else 1 for axis, n in enumerate(size)])

    sds = rng.choice([0, 0.02, 0.1, 0.5], 6)
    parts = [(0,), (0, 1), (0, 2), (3,), (0, 3), (3, 4)]
    latent = 0.7 + sum((draw(sd, *over) for sd, over in zip(sds, parts, strict=True)), np.zeros(size))
    noisy = latent + draw(float(rng.choice([0.05, 0.3, 1])), 0, 1, 2, 3, 4)
    match shape:
        case "uniform":
            return rng.random(size)
        case "0/1":
            return (rng.random(size) < 1 / (1 + np.exp(-2 * latent))).astype(float)
        case "Likert":
            return np.clip(np.rint(noisy * 2 + 2), 1, 5)
        case "rounded":
            return np.round(noisy, 1)
        case "mostly zero":
            return np.where(rng.random(size) < 0.9, 0.0, noisy)
        case "constant items":
            return np.where(rng.random(size[-1]) < 0.6, 1.0, noisy)
        case "tied runs":
            return np.broadcast_to(noisy[:, :, :1], size) + np.zeros(size)
        case _:
            return noisy
