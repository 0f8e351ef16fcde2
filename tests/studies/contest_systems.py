"""Systems that take no time to train, and a corpus for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Predict = Callable[[Sequence[Any]], list[str]]

CALLS: Counter[str] = Counter()  # trainings of `train_cut`, by name of its caller's choice


def corpus(items: int = 96, noise: float = 0.2) -> tuple[list[float], list[str]]:
    """Return numbers, and whether they are high; some targets are wrong."""
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=items).round(3)
    wrong = rng.random(items) < noise
    return inputs.tolist(), ["high" if (x > 0) != w else "low" for x, w in zip(inputs, wrong, strict=True)]


def train_cut(inputs: Sequence[float], targets: Sequence[str], *, seed: int) -> Predict:
    """Cut between the means of the classes."""
    CALLS["cut"] += 1
    means = [np.mean([x for x, y in zip(inputs, targets, strict=True) if y == label]) for label in ("low", "high")]
    return lambda unseen: ["high" if x > np.mean(means) else "low" for x in unseen]


def train_poor(inputs: Sequence[float], targets: Sequence[str], *, seed: int) -> Predict:
    """Cut far too high."""
    CALLS["poor"] += 1
    return lambda unseen: ["high" if x > 0.8 else "low" for x in unseen]


def train_coin(inputs: Sequence[float], targets: Sequence[str], *, seed: int) -> Predict:
    """Flip a coin."""
    rng = np.random.default_rng(seed)
    return lambda unseen: [str(label) for label in rng.choice(["low", "high"], len(unseen))]


def train_other_coin(inputs: Sequence[float], targets: Sequence[str], *, seed: int) -> Predict:
    """Flip another coin."""
    return train_coin(inputs, targets, seed=seed + 1_000_000)
