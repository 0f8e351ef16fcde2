"""Scorers: what scikit-learn's `scoring` stands for, and what must be known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sklearn.metrics import check_scoring, get_scorer_names

from holdsup.errors import TuningError

__all__ = [
    "ONE_METRIC",
    "choose_metric",
    "find_scorer",
    "list_metrics",
    "name_metric",
    "scorer_sees_items",
    "takes_weights",
]

ONE_METRIC = "score"  # what scikit-learn calls the score when there is only one


def find_scorer(estimator: Any, scoring: Any) -> Any:
    """Return the scorer that `scoring` (None, a name, a function, several of them) stands for."""
    several = isinstance(scoring, list | tuple | set)
    for name in scoring if several else [scoring]:
        if isinstance(name, str) and name not in get_scorer_names():
            near = get_close_matches(name, get_scorer_names(), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "sklearn.metrics.get_scorer_names() lists them"
            raise TuningError(f"scikit-learn has no scorer {name!r}: {hint}")
    return check_scoring(estimator, scoring)


def list_metrics(scoring: Any) -> list[str] | None:
    """Return the names of the metrics, in their order; None where only a function of the user's knows them."""
    if isinstance(scoring, Mapping | list | tuple):
        return list(scoring)
    if isinstance(scoring, set | frozenset):  # which has no order
        return sorted(scoring)
    return None if scorer_sees_items(scoring) else [ONE_METRIC]


def choose_metric(names: Sequence[str], refit: Any) -> str:
    """Return the metric to rank by: the only one, the one that `refit` names, or the first where it need not name one.

    It need not where nothing is refitted, or where a function chooses: scikit-learn allows several metrics there.
    """
    if list(names) == [ONE_METRIC]:
        return ONE_METRIC
    if isinstance(refit, str) and refit in names:
        return refit
    if refit is False or callable(refit):
        return names[0]
    raise TuningError(f"refit is {refit!r}, but there are the metrics {', '.join(names)}: name the one to rank by")


def name_metric(scoring: Any, metric: str = ONE_METRIC) -> str:
    """Return what to call the score that candidates are ranked by."""
    if metric != ONE_METRIC:
        return metric
    if scoring is None or isinstance(scoring, str):
        return scoring or ONE_METRIC
    function = getattr(scoring, "_score_func", scoring)
    return str(getattr(function, "__name__", ONE_METRIC))


def scorer_sees_items(scoring: Any) -> bool:
    """Return whether a function of the user's is among the scorers: it may look at the items, or into the pipeline."""
    if isinstance(scoring, Mapping):
        return any(map(scorer_sees_items, scoring.values()))
    return callable(scoring) and not hasattr(scoring, "_score_func")  # make_scorer's see targets and predictions alone


def takes_weights(scorer: Any) -> bool:
    """Return whether a scorer takes weights of items, by the rule of the GridSearchCV that is installed."""
    asks = getattr(scorer, "_accept_sample_weight", None)
    return bool(asks and asks())
