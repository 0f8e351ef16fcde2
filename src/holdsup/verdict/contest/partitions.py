"""What a contest is judged from: trained instances of systems, partition by partition of one corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.errors import MetricError, SplitError, list_names

STRATEGIES = ("blocked", "repeated", "kfold", "holdout")  # the first one that there is decides


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trained:
    """One trained instance of a system, and what it made of items that it had not seen."""

    repetition: int  # which repetition of the partition, from 1
    fold: int  # which fold of the repetition, from 1
    test: NDArray[np.intp] | None = None  # places in the corpus of the items tested; None where there are only counts
    # what it predicted for each of them; None where there are only counts, and then there is no vote
    predictions: Sequence[Any] | None = None
    # of each label, shape (items, labels), to break ties; of sequences, all tokens one after the other
    probabilities: ArrayLike | None = None
    labels: tuple[Any, ...] = ()  # the labels that the columns of `probabilities` stand for
    counts: ArrayLike | None = None  # the metric's counts summed over the items tested; None to count the predictions

    def __post_init__(self) -> None:
        if self.test is not None:
            object.__setattr__(self, "test", np.asarray(self.test, dtype=np.intp))

    @property
    def place(self) -> str:
        """Where it belongs, for a message."""
        return f"fold {self.fold} of repetition {self.repetition}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """One cut of the corpus, and all that was trained on it."""

    strategy: str  # blocked (m x 2 cross-validation), holdout (one split), repeated (several), or kfold
    trained: Mapping[str, tuple[Trained, ...]]  # the trained instances of each system, all on the same splits


def check_partitions(partitions: Sequence[Partition], items: int | None) -> None:
    """Refuse partitions that cannot be judged together."""
    if not partitions:
        raise SplitError("a contest needs at least one partition of the corpus, and there is none: give some")
    systems = list(partitions[0].trained)
    if len(systems) < 2:
        raise SplitError(
            f"a contest needs two systems or more, and there is only {list_names(systems) or 'none'}: add a system"
        )
    sizes: dict[str, int] = {}
    for number, partition in enumerate(partitions, start=1):
        if partition.strategy not in STRATEGIES:
            raise SplitError(
                f"partition {number} has the unknown strategy {partition.strategy!r}: use {', '.join(STRATEGIES)}"
            )
        if set(partition.trained) != set(systems):
            found, first = list_names(partition.trained), list_names(systems)
            raise SplitError(f"partition {number} has {found}, but partition 1 has {first}: train all systems on both")
        _check_splits(partition, number)
        splits = len(partition.trained[systems[0]])
        if splits != (usual := sizes.setdefault(partition.strategy, splits)):
            raise SplitError(
                f"partition {number} ({partition.strategy}) has {splits} splits, but earlier ones have {usual}: leave "
                "out incomplete partitions"
            )
        for system, instances in partition.trained.items():
            for trained in instances:
                _check_trained(trained, f"{system} in {trained.place}, partition {number}", items)


def _check_splits(partition: Partition, number: int) -> None:
    """Refuse systems that were not tested on the same items."""
    (first, reference), *others = partition.trained.items()
    for system, instances in others:
        same = len(instances) == len(reference) and all(map(_same_split, reference, instances))
        if not same:
            raise SplitError(
                f"{first!r} and {system!r} were not tested on the same splits in partition {number}: give all systems "
                "the same splits, in the same order"
            )
    if not reference:
        raise SplitError(f"nothing was trained in partition {number}: leave it out")
    places = [(trained.repetition, trained.fold) for trained in reference]
    if partition.strategy == "blocked" and places != [*product(range(1, len(places) // 2 + 1), (1, 2))]:
        raise SplitError(
            f"partition {number} is blocked and needs folds 1 and 2 of each repetition, in order, but its (repetition, "
            f"fold) pairs are {places}: complete or reorder them"
        )


def _same_split(left: Trained, right: Trained) -> bool:
    if (left.repetition, left.fold) != (right.repetition, right.fold):
        return False
    return left.test is None or right.test is None or np.array_equal(left.test, right.test)


def _check_trained(trained: Trained, where: str, items: int | None) -> None:
    if trained.predictions is None and trained.counts is None:
        raise MetricError(f"{where} has neither predictions nor counts: give one or the other")
    if trained.predictions is None:
        return
    if trained.test is None or items is None:
        raise SplitError(f"{where} has predictions but no items to score them on: give test and targets")
    if len(trained.predictions) != len(trained.test):
        raise MetricError(
            f"{where} has {len(trained.predictions):,} predictions for {len(trained.test):,} items: give one for each"
        )
    if len(trained.test) == 0 or trained.test.min() < 0 or trained.test.max() >= items:
        raise SplitError(f"{where} was tested on items outside the {items:,} targets: give the places of items, from 0")
