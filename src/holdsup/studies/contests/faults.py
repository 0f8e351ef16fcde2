"""What is wrong with a corpus, before hours are spent on it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.errors import SplitError, list_names
from holdsup.experiment.corpora import Corpus
from holdsup.metrics import Metric
from holdsup.metrics.labels import AveragedMetric, LabelMetric
from holdsup.metrics.means import Agreement
from holdsup.rendering.numbers import format_count
from holdsup.results import Caution
from holdsup.splits import Split
from holdsup.splits.routing import warn_of_unrouted
from holdsup.studies.contests.fields import Strategy
from holdsup.studies.contests.identities import as_plain

MOST = 20  # partitions that are looked through for absent classes
FEW = 5  # items of a class, on average, below which targets are texts of their own rather than classes


def check_corpus(corpus: Corpus, metric: Metric, strategy: Strategy, repeats: int) -> tuple[Caution, ...]:
    """Refuse a corpus that cannot be split, or has nothing to tell; return cautions about the rest."""
    splitter = strategy.make(min(repeats, MOST))
    splits = list(splitter.split(corpus.inputs, corpus.targets, corpus.groups))
    found = (warn_of_copies(corpus.inputs, splits), _warn_of_classes(corpus, metric, strategy, splits))
    return tuple(caution for caution in found if caution is not None)


def warn_of_systems(systems: Mapping[str, Any], corpus: Corpus) -> tuple[Caution, ...]:
    """Return cautions about estimators in memory: a seed that is not kept, validation sets cut through groups."""
    estimators = {name: system for name, system in systems.items() if hasattr(system, "get_params")}
    torn = (said for estimator in estimators.values() for said in warn_of_unrouted(estimator, corpus.groups))
    return (*_warn_of_seeds(estimators), *torn)


def _warn_of_seeds(estimators: Mapping[str, Any]) -> list[Caution]:
    """Return a caution about systems whose random_state is replaced by the seed of each split."""
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
    caution = Caution(
        code="seed-replaced",
        severity="note",
        message=f"The random_state of {list_names(seeded)} was not used: every split trains with its own seed, so the "
        "luck of the seed counts, too.",
        advice="To keep one seed, give a function that ignores its seed.",
        count=len(seeded),
    )
    return [caution]


def _warn_of_classes(corpus: Corpus, metric: Metric, strategy: Strategy, splits: Sequence[Split]) -> Caution | None:
    """Return a caution about classes that some splits do not train on; refuse a corpus that has only one."""
    if not isinstance(metric, Agreement | LabelMetric | AveragedMetric):
        return None
    classes = Counter(tuple(target) if isinstance(target, list) else target for target in corpus.targets)
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
    return Caution(
        code="class-not-trained",
        about="data",
        message=f"In some splits, {counted} ({names}) {'is' if len(absent) == 1 else 'are'} missing from training.",
        advice="Set stratify, or merge rare classes.",
        count=len(absent),
    )


def _missing(names: Sequence[Any], targets: Sequence[Any]) -> list[Any]:
    found = set(map(tuple, targets)) if isinstance(targets[0], list) else set(targets)
    return [name for name in names if name not in found]


def warn_of_copies(inputs: Any, splits: Sequence[Split]) -> Caution | None:
    """Return a caution that counts the items tested in some split after training on equal inputs; None without any."""
    numbers: dict[Hashable, int] = {}
    same = np.array([numbers.setdefault(key, len(numbers)) for key in _keys(inputs)])
    if len(numbers) == len(same):
        return None
    torn = np.zeros(len(same), dtype=bool)
    for split in splits:
        torn[split.test] |= np.isin(same[split.test], same[split.train])
    if not torn.any():
        return None
    return Caution(
        code="tested-on-training",
        about="data",
        message=f"{format_count(int(torn.sum()))} of {format_count(len(same))} items are tested by systems that were "
        "trained on the same inputs.",
        advice="If they are copies, leave them out, or give groups to keep them together.",
        count=int(torn.sum()),
    )


def _keys(inputs: Any) -> Iterator[Hashable]:
    """Yield what is equal for equal inputs."""
    if isinstance(inputs, np.ndarray) and inputs.dtype != object:
        yield from (row.tobytes() for row in np.ascontiguousarray(inputs))
    elif hasattr(inputs, "tocsr"):
        rows = inputs.tocsr().sorted_indices()
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            yield rows.indices[start:end].tobytes(), rows.data[start:end].tobytes()
    elif hasattr(inputs, "columns"):  # a frame of whatever make
        columns = pa.table(inputs).columns[: len(inputs.columns)]  # what follows is an index
        yield from map(_key, zip(*(column.to_pylist() for column in columns), strict=True))
    else:
        yield from map(_key, inputs)


def _key(value: Any) -> Hashable:
    return value if isinstance(value, str | int | float) else json.dumps(value, default=as_plain)
