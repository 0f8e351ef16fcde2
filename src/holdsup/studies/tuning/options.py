"""Options of a search: scorers, what makes no sense, and what limits trust."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names

from holdsup.arguments import check_level, is_number
from holdsup.errors import TuningError, hint_at, list_names
from holdsup.results import Caution
from holdsup.splits import JKFold
from holdsup.splits.routing import warn_of_unrouted

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

ONE_METRIC = "score"  # what scikit-learn calls the score when there is only one

# Where scikit-learn's own estimators have a random_state that their settings leave unused.
STEADY: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "SVC": lambda params: params["probability"] is not True,
    "NuSVC": lambda params: params["probability"] is not True,
    "LogisticRegression": lambda params: params["solver"] in ("lbfgs", "newton-cg", "newton-cholesky"),
    "Ridge": lambda params: params["solver"] not in ("sag", "saga"),
    "RidgeClassifier": lambda params: params["solver"] not in ("sag", "saga"),
    "Lasso": lambda params: params["selection"] == "cyclic",
    "ElasticNet": lambda params: params["selection"] == "cyclic",
    "PCA": lambda params: params["svd_solver"] in ("full", "covariance_eigh"),
    "GaussianProcessClassifier": lambda params: params["n_restarts_optimizer"] == 0,
    "GaussianProcessRegressor": lambda params: params["n_restarts_optimizer"] == 0,
    "DummyClassifier": lambda params: params["strategy"] not in ("stratified", "uniform"),
}


def refuse_unknown(given: Mapping[str, Any]) -> None:
    """Refuse arguments that `JKSearchCV` does not have, and say what stands for those of scikit-learn's searches."""
    for name in given:
        how = f": {ELSEWHERE[name]}" if name in ELSEWHERE else ""
        raise TypeError(f"JKSearchCV has no {name}={how}")


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
            raise TuningError(f"{name} is {value!r}: give a whole number, 1 or more")


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


def find_scorer(estimator: Any, scoring: Any) -> Any:
    """Return the scorer that `scoring` (None, a name, a function, several of them) stands for."""
    several = isinstance(scoring, list | tuple | set)
    for name in scoring if several else [scoring]:
        if isinstance(name, str) and name not in get_scorer_names():
            hint = hint_at(name, get_scorer_names()) or " sklearn.metrics.get_scorer_names() lists them."
            raise TuningError(f"scikit-learn has no scorer {name!r}.{hint}")
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


def find_unseeded(estimator: Any) -> list[str]:
    """Return the names of the parameters that leave a part of the estimator without a seed.

    >>> from sklearn.svm import SVC
    >>> find_unseeded(SVC()), find_unseeded(SVC(probability=True))
    ([], ['random_state'])
    """
    params = estimator.get_params(deep=True)
    found = []
    for name in params:
        owner = name.removesuffix("random_state")
        if name.rpartition("__")[2] == "random_state" and params[name] is None:
            part = params.get(owner.removesuffix("__"), estimator)
            if not _is_steady(part):
                found.append(name)
    return found


def list_cautions(estimators: Iterable[Any], splitter: JKFold, y: Any, groups: Any) -> Iterator[Caution]:
    """Yield what limits the answer, whatever the scores.

    Parameters
    ----------
    estimators : each candidate, unfitted
    splitter : what deals the partitions
    y : targets, if there are any
    groups : what each item belongs to, if that is known
    """
    listed = list(estimators)
    if unseeded := list(dict.fromkeys(name for estimator in listed for name in find_unseeded(estimator))):
        verb = "is" if len(unseeded) == 1 else "are"
        yield Caution(
            code="no-seed",
            message=f"{list_names(unseeded)} {verb} None: random training counts as luck of the partition, and the "
            "answer can't be repeated.",
            advice="Give a number.",
            count=len(unseeded),
        )
    if splitter.match is not None:
        yield from _rare_classes(np.asarray(y), splitter.k)
    yield from warn_of_unrouted(listed[0], groups)


def warn_of_weights(weights: Any) -> Iterator[Caution]:
    """Yield a caution about weights below zero, which scikit-learn lets pass."""
    if weights is not None and (negative := int(np.count_nonzero(np.asarray(weights) < 0))):
        yield Caution(
            code="negative-weights",
            about="data",
            message=f"{negative:,} of {np.size(weights):,} sample weights are below zero, so good scores on these "
            "items count against a candidate.",
            advice="Leave such items out unless you mean that.",
            count=negative,
        )


def _is_steady(part: Any) -> bool:
    ours = type(part).__module__.startswith("sklearn.")
    rule = STEADY.get(type(part).__name__) if ours else None
    return rule is not None and rule(part.get_params(deep=False))


def _rare_classes(y: Any, k: int) -> Iterator[Caution]:
    classes, sizes = np.unique(np.ravel(y), return_counts=True)
    rare = int(sizes.argmin())
    if sizes[rare] < k:
        yield Caution(
            code="rare-class",
            about="data",
            message=f"Class {classes[rare].item()!r} has {sizes[rare]} items for {k} folds: some folds don't test it.",
            advice="Use fewer folds, or merge rare classes.",
        )
