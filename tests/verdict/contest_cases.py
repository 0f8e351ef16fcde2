"""Contests with made-up predictions, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from holdsup.splits import BlockedCV, HoldOut, KFold, RepeatedHoldOut
from holdsup.verdict.contest import Partition, Trained

Predict = Callable[[np.random.Generator, list[Any]], list[Any]]

LABELS = ("a", "b", "c")
SPLITTERS = {
    "blocked": lambda seed, m: (BlockedCV(m=m, seed=seed), 2),
    "repeated": lambda seed, m: (RepeatedHoldOut(test=0.25, repeats=m, seed=seed), 1),
    "kfold": lambda seed, m: (KFold(k=m, seed=seed), m),
    "holdout": lambda seed, m: (HoldOut(test=0.25, seed=seed), 1),
}  # and how many folds a repetition has


def guess(accuracy: float) -> Predict:
    """Return a system that is right this often, and else says anything."""

    def predict(rng: np.random.Generator, targets: list[Any]) -> list[Any]:
        return [t if rng.random() < accuracy else str(rng.choice(LABELS)) for t in targets]

    return predict


def labels(number: int, seed: int = 0) -> list[str]:
    return [str(label) for label in np.random.default_rng(seed).choice(LABELS, number)]


def partitions(
    targets: Sequence[Any], systems: dict[str, Predict], *, number: int, strategy: str = "blocked", m: int = 3
) -> list[Partition]:
    """Return re-partitions of a corpus with predictions of each system."""
    made = []
    for seed in range(number):
        rng = np.random.default_rng([seed, m])
        splitter, folds = SPLITTERS[strategy](seed, m)
        trained: dict[str, list[Trained]] = {name: [] for name in systems}
        for place, split in enumerate(splitter.split(targets)):
            known = [targets[i] for i in split.test]
            for name, predict in systems.items():
                predictions = predict(rng, known)
                trained[name].append(
                    Trained(
                        repetition=place // folds + 1,
                        fold=place % folds + 1,
                        test=split.test,
                        predictions=predictions,
                    )
                )
        made.append(Partition(strategy=strategy, trained={name: tuple(own) for name, own in trained.items()}))
    return made
