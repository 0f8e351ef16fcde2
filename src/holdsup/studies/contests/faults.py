"""What is wrong with a corpus, before hours are spent on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holdsup.errors import SplitError, list_names
from holdsup.experiment.corpora import Corpus
from holdsup.metrics import Metric
from holdsup.metrics.labels import AveragedMetric, LabelMetric
from holdsup.metrics.means import Agreement
from holdsup.splits import Split
from holdsup.splits.routing import warn_of_unrouted
from holdsup.studies.contests.copies import warn_of_copies
from holdsup.studies.contests.strategies import Strategy

__all__ = ["check_corpus", "warn_of_systems"]

MOST = 20  # partitions that are looked through for absent classes
FEW = 5  # items of a class, on average, below which targets are texts of their own rather than classes


def check_corpus(corpus: Corpus, metric: Metric, strategy: Strategy, repeats: int) -> tuple[str, ...]:
    """Refuse a corpus that cannot be split, or has nothing to tell; return warnings about the rest."""
    splitter = strategy.make(min(repeats, MOST))
    splits = list(splitter.split(corpus.inputs, corpus.targets, corpus.groups))
    found = (warn_of_copies(corpus.inputs, splits), _warn_of_classes(corpus, metric, strategy, splits))
    return tuple(warning for warning in found if warning is not None)


def warn_of_systems(systems: Mapping[str, Any], corpus: Corpus) -> tuple[str, ...]:
    """Return warnings about estimators in memory: a seed that is not kept, validation sets cut through groups."""
    estimators = {name: system for name, system in systems.items() if hasattr(system, "get_params")}
    torn = (said for estimator in estimators.values() for said in warn_of_unrouted(estimator, corpus.groups))
    return (*_warn_of_seeds(estimators), *torn)


def _warn_of_seeds(estimators: Mapping[str, Any]) -> list[str]:
    """Return a warning about systems whose random_state is replaced by the seed of each split."""
    seeded = [
        name
        for name, estimator in estimators.items()
        if any(
            key.rpartition("__")[2] == "random_state" and value is not None
            for key, value in estimator.get_params(deep=True).items()
        )
    ]
    if not seeded:
        return []
    return [
        f"The random_state given to {list_names(seeded)} was not used: every split trains with a seed of its own, so "
        "that the luck of the seed is part of what varies. To keep one, give a function that ignores its seed."
    ]


def _warn_of_classes(corpus: Corpus, metric: Metric, strategy: Strategy, splits: Sequence[Split]) -> str | None:
    """Return a warning about classes that some splits do not train on; refuse a corpus that has only one."""
    if not isinstance(metric, Agreement | LabelMetric | AveragedMetric):
        return None
    classes = _count_classes(corpus.targets)
    if len(classes) == 1:
        raise SplitError(
            f"all {len(corpus):,} items have the target {next(iter(classes))!r}: there is nothing to compare systems by"
        )
    if len(corpus) < FEW * len(classes):
        return None
    rare = [name for name, count in classes.items() if count < len(corpus) / strategy.splits]
    absent = dict.fromkeys(
        name for split in splits for name in _missing(rare, [corpus.targets[i] for i in split.train.tolist()])
    )
    if not absent:
        return None
    counted = f"{len(absent):,} {'class' if len(absent) == 1 else 'classes'}"
    names = list_names(absent)
    return f"In some splits nothing of {counted} is trained on ({names}): set stratify, or merge rare classes."


def _count_classes(targets: Sequence[Any]) -> Counter[Any]:
    return Counter(tuple(target) if isinstance(target, list) else target for target in targets)


def _missing(names: Sequence[Any], targets: Sequence[Any]) -> list[Any]:
    found = set(map(tuple, targets)) if isinstance(targets[0], list) else set(targets)
    return [name for name in names if name not in found]
