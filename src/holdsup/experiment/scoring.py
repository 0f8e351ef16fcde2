"""Predictions as scores, by any metric."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from holdsup.columns.limits import reason_of
from holdsup.errors import HoldsupError, MetricError, list_names
from holdsup.experiment.corpora import read_corpus
from holdsup.metrics import Metric, make_metric
from holdsup.metrics.labels import LabelMetric
from holdsup.metrics.pairs import BadItem

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 16  # metrics that know their labels, held by a process


class Scored(NamedTuple):
    """The score of a set of items, or why there is none (None where there is one)."""

    score: float | None
    reason: str | None


def find_metric(data: Mapping[str, Any], metric: Mapping[str, Any]) -> Metric:
    """Return the metric of a task, which knows the labels of the task's corpus."""
    return _find(json.dumps(data), json.dumps(metric))


@lru_cache(maxsize=KEPT)
def _find(data: str, metric: str) -> Metric:
    return make_metric(**json.loads(metric)).for_targets(read_corpus(json.loads(data)).targets)


def check_metric(metric: Metric, targets: Sequence[Any], items: Sequence[str]) -> None:
    """Refuse a metric that cannot score even the targets themselves; a function of the user's is not called.

    Parameters
    ----------
    items : what each item is called
    """
    known = metric.for_targets(targets)
    if not known.columns:
        return
    try:
        counts = known.count(targets, targets)
    except MetricError as error:
        why = _explain(error, items).rstrip(".")
        raise MetricError(f"{metric.name} does not go with these targets: {why}") from error
    reason = known.why_undefined(np.asarray(counts.sum(axis=0)))
    if reason and isinstance(known, LabelMetric):
        labels = list_names(map(str, known.known or ()), most=5)
        raise MetricError(f"{metric.name} has nothing to find: no target is {known.noun}; there are {labels}")
    if reason:
        raise MetricError(f"{metric.name} does not go with these targets: {reason}")


def score_predictions(
    metric: Metric, targets: Sequence[Any], predictions: Sequence[Any], items: Sequence[str]
) -> tuple[Scored, NDArray[Any] | None]:
    """Return the score of items, and their counts (None where they cannot be counted).

    Nothing is raised: a metric that fails must not lose the training whose predictions it was given.

    Parameters
    ----------
    items : what each item is called, so that a reason can name it
    """
    try:
        counts = metric.count(targets, predictions)
        if metric.columns:
            return score_counts(metric, np.asarray(counts.sum(axis=0))), counts
        score = metric.evaluate(targets, predictions)
    except Exception as error:  # a metric may be a function of the user's
        return Scored(None, _explain(error, items)), None
    return (Scored(score, None) if math.isfinite(score) else Scored(None, f"{metric.name} is {score}")), counts


def score_counts(metric: Metric, sums: NDArray[Any]) -> Scored:
    """Return the score of summed counts, shape (counts,)."""
    reason = metric.why_undefined(sums)
    return Scored(None, reason) if reason else Scored(float(metric.score(sums)), None)


def _explain(error: Exception, items: Sequence[str]) -> str:
    """Return why a metric fails: our own words whole, with what to do; those of others as part of a line."""
    if isinstance(error, BadItem):
        return error.naming(items)
    return str(error) if isinstance(error, HoldsupError) else reason_of(error)
