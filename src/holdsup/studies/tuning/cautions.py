"""What limits trust in a search and can be seen before it: training that has no seed, classes that are too rare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from holdsup.errors import list_names
from holdsup.splits import JKFold
from holdsup.splits.routing import warn_of_unrouted
from holdsup.studies.tuning.candidates import Params

__all__ = ["find_unseeded", "list_cautions", "warn_of_weights"]

# Where scikit-learn's own estimators have a random_state that their settings leave unused.
STEADY: dict[str, Callable[[Params], bool]] = {
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


def list_cautions(estimators: Iterable[Any], splitter: JKFold, y: Any, groups: Any) -> Iterator[str]:
    """Yield what is said beside the verdict.

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
        yield (
            f"{list_names(unseeded)} {verb} None: if training is random, its luck is counted as luck of the partition, "
            "and the answer cannot be had again. Give a number."
        )
    if splitter.match is not None:
        yield from _rare_classes(np.asarray(y), splitter.k)
    yield from warn_of_unrouted(listed[0], groups)


def warn_of_weights(weights: Any) -> Iterator[str]:
    """Yield a warning about weights below zero, which scikit-learn lets pass."""
    if weights is not None and (negative := int(np.count_nonzero(np.asarray(weights) < 0))):
        yield (
            f"{negative:,} of {np.size(weights):,} sample weights are below zero: what their items score counts "
            "against a candidate. Leave such items out unless that is meant."
        )


def _is_steady(part: Any) -> bool:
    ours = type(part).__module__.startswith("sklearn.")
    rule = STEADY.get(type(part).__name__) if ours else None
    return rule is not None and rule(part.get_params(deep=False))


def _rare_classes(y: Any, k: int) -> Iterator[str]:
    classes, sizes = np.unique(np.ravel(y), return_counts=True)
    rare = int(sizes.argmin())
    if sizes[rare] < k:
        yield (
            f"Class {classes[rare].item()!r} has {sizes[rare]} items, fewer than there are folds ({k}): not all of "
            "them test it."
        )
