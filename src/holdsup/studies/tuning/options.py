"""Options of a search that make no sense, refused before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from holdsup.arguments import check_level, is_number
from holdsup.errors import TuningError
from holdsup.studies.tuning.scoring import choose_metric, list_metrics

__all__ = [
    "refuse_unknown",
    "require_budget",
    "require_folds",
    "require_lengths",
    "require_sense",
]

LEAST_FOLDS = 3  # Moss et al., section 3: with two, training sets do not overlap


ELSEWHERE = {  # what scikit-learn's searches take, and what to write here
    "param_grid": "give the grid as candidates=, or as the second argument",
    "param_distributions": "give the distributions as candidates=, and how many to draw as n_candidates=",
    "n_iter": "say how many candidates to draw with n_candidates=",
    "cv": "say how many folds with k= and how many partitions with j=; groups go to fit",
    "random_state": "give seed=",
    "verbose": "leave it out: nothing is printed on the way",
    "return_train_score": "leave it out: candidates are ranked by what they had not seen, and no other score is kept",
    "pre_dispatch": "leave it out: joblib.parallel_config says how work is handed out",
}


def refuse_unknown(given: Mapping[str, Any]) -> None:
    """Refuse arguments that `JKSearchCV` does not have, and say what stands for those of scikit-learn's searches."""
    for name in given:
        how = f": {ELSEWHERE[name]}" if name in ELSEWHERE else ""
        raise TypeError(f"JKSearchCV takes no {name}={how}")


def require_lengths(items: int, **columns: Any) -> None:
    """Refuse groups or weights that are not one for each item, which every fit would stumble over."""
    for name, column in columns.items():
        if column is not None and np.ndim(column) and len(column) != items:
            raise TuningError(f"there are {items:,} items, but {name} has {len(column):,}: give one for each")


def require_sense(search: Any, candidates: int, items: int) -> None:
    """Refuse options of a `JKSearchCV` that make no sense with so many candidates and items."""
    _require_counts(search)
    require_folds(search.k, items)
    check_level(search.level, TuningError)
    if search.margin is not None and not (is_number(search.margin) and 0 <= search.margin < np.inf):
        raise TuningError(f"margin is {search.margin!r}: give a difference in score that does not matter, 0 or more")
    _require_error_score(search.error_score)
    if (metrics := list_metrics(search.scoring)) is not None:
        choose_metric(metrics, search.refit)
    require_budget(search, candidates)


def require_folds(k: int, items: int) -> None:
    """Refuse to tune on fewer than three folds, or on more folds than items."""
    if k < LEAST_FOLDS:
        raise TuningError(
            f"k is {k}: with fewer than {LEAST_FOLDS} folds training sets do not overlap, and scores vary more."
            f" Use k of {LEAST_FOLDS} or more, and a larger j rather than a larger k"
        )
    if items < k:
        raise TuningError(f"{k} folds need as many items, but n_samples={items}: lower k, or give more items")


def _require_counts(search: Any) -> None:
    for name in ("j", "k", "budget", "n_candidates"):
        value = getattr(search, name)
        optional = name in ("budget", "n_candidates")
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not (whole and value >= 1) and not (optional and value is None):
            raise TuningError(f"{name} is {value!r}: give a whole number from 1 up")


def _require_error_score(given: Any) -> None:
    if given != "raise" and not (isinstance(given, float) and np.isnan(given)):
        raise TuningError(
            f"error_score is {given!r}: give 'raise', or NaN, which records failures."
            " A number would rank a candidate that failed"
        )


def require_budget(search: Any, candidates: int) -> None:
    """Refuse a budget that all partitions, or with adaptive J the first one, go beyond."""
    j = 1 if search.adaptive else search.j
    fits = j * search.k * candidates
    if search.budget is not None and search.budget < fits:
        how = (
            "lower k"
            if search.adaptive
            else "lower j or k, tune adaptively (adaptive=True; in a spec, adaptive = true)"
        )
        raise TuningError(
            f"the budget is {search.budget:,} fits, but {candidates:,} candidates on {j} x {search.k} folds take"
            f" {fits:,}: raise it, {how}, or give fewer candidates"
        )
