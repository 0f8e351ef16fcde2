"""Several systems' predictions as counts, by any metric: what resampling takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.metrics.metric import Counts, Floats, Metric
from holdsup.metrics.pairs import read_pairs

__all__ = ["Counted", "count_systems"]


class Counted(NamedTuple):
    """The counts of each system, and the score of their sums."""

    counts: tuple[Counts, ...]
    score: Callable[[NDArray[Any]], Floats]


def count_systems(metric: Metric, targets: Sequence[Any], *systems: Sequence[Any]) -> Counted:
    """Return the counts of each system's predictions, and what scores sums of them.

    A metric without counts gets them here: a count for each prediction of each system, which says how often it is in a
    set. Each set is then scored again from its predictions, which is as slow as the metric is.
    """
    metric = metric.for_targets(targets)
    if metric.columns:
        return Counted(tuple(metric.count(targets, predictions) for predictions in systems), metric.score)
    from scipy import sparse

    pairs = [read_pairs(targets, predictions) for predictions in systems]
    known = [value for targets, _ in pairs for value in targets]
    predicted = [value for _, predictions in pairs for value in predictions]
    which = sparse.eye_array(len(known), format="csr")
    places = np.split(np.arange(len(known)), len(systems))

    def score(sums: NDArray[Any]) -> Floats:
        sets = np.reshape(sums, (-1, len(known))).astype(np.intp)
        scores = [_score_set(metric, known, predicted, np.repeat(np.arange(len(known)), times)) for times in sets]
        return np.reshape(scores, np.shape(sums)[:-1])

    return Counted(tuple(which[rows] for rows in places), score)


def _score_set(metric: Metric, known: list[Any], predicted: list[Any], places: NDArray[np.intp]) -> float:
    return metric.evaluate([known[i] for i in places], [predicted[i] for i in places])
