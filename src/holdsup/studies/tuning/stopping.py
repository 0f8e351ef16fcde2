"""Early stopping inside cross-validation: the validation set is cut from the training part of each fold."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from holdsup.errors import SplitError, TuningError
from holdsup.splits import HoldOut

Method = TypeVar("Method", bound=Callable[..., Any])


def _estimator_has(name: str) -> Callable[[Method], Method]:
    there: Callable[[Method], Method] = available_if(lambda stopped: hasattr(stopped.estimator, name))
    return there


class EarlyStopping(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Train epoch by epoch until the score on a validation set stops rising, and keep the best epoch.

    The validation set is a random part of what ``fit`` is given: inside cross-validation, of the training part of each
    fold, so that no tested item decides when to stop (Moss, Leslie & Rayson 2018, section 4.3). It is one more random
    cut; `study_stopping` measures what it adds to the spread of scores. It asks for groups, by scikit-learn's metadata
    request: a search, a contest and an objective of ours hand theirs on, with routing or without.

    Parameters
    ----------
    estimator : one with ``partial_fit``, each call of which is an epoch: SGDClassifier, MLPRegressor, ...
    validation : share of the items to validate on; with groups as nearly as they allow
    patience : how many epochs without a better score to wait for
    epochs : the most epochs
    seed : of the cut

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> stopped = EarlyStopping(SGDClassifier(random_state=0), patience=2).fit(*load_iris(return_X_y=True))
    >>> stopped.epochs_ == int(np.argmax(stopped.validation_scores_)) + 1 + 2
    True

    Attributes
    ----------
    estimator_ : as it was after the best epoch
    epochs_ : how many epochs were trained
    validation_scores_ : the score after each of them
    """

    __metadata_request__fit = {"groups": True}  # noqa: RUF012  scikit-learn's way to say so

    def __init__(
        self, estimator: Any, *, validation: float = 0.2, patience: int = 5, epochs: int = 100, seed: int = 0
    ) -> None:
        self.estimator = estimator
        self.validation = validation
        self.patience = patience
        self.epochs = epochs
        self.seed = seed

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> EarlyStopping:
        """Cut the validation set, then train until it says to stop.

        Parameters
        ----------
        X : the items
        y : their targets
        sample_weight : a weight for each item, in training and in the score on the validation set
        groups : what each item belongs to; the items of a group are all trained on, or all validated on
        """
        if not hasattr(self.estimator, "partial_fit"):
            raise TuningError(f"{type(self.estimator).__name__} has no partial_fit: it cannot be trained by epochs")
        X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
        train, test = self._cut(X, y, groups)
        held_out = _safe_indexing(X, test), _safe_indexing(y, test)
        items, targets = _safe_indexing(X, train), _safe_indexing(y, train)
        weights, held_weights = _weigh(sample_weight, train), _weigh(sample_weight, test)
        classes = {"classes": np.unique(np.asarray(y))} if is_classifier(self.estimator) else {}
        current = clone(self.estimator)
        scores: list[float] = []
        while len(scores) < self.epochs and len(scores) - _best(scores) < self.patience:
            current.partial_fit(items, targets, **classes, **weights)
            scores.append(float(current.score(*held_out, **held_weights)))
            if _best(scores) == len(scores):
                self.estimator_ = copy.deepcopy(current)
        self.epochs_, self.validation_scores_ = len(scores), np.array(scores)
        return self

    def _cut(self, X: Any, y: Any, groups: Any) -> tuple[Any, Any]:
        stratify = is_classifier(self.estimator)
        if stratify:
            _require_two_of_each(y)
        try:
            cut = HoldOut(test=self.validation, seed=self.seed, stratify=stratify, uneven=True)
            return next(iter(cut.split(X, y, groups)))
        except SplitError as error:
            raise TuningError(f"no validation set can be cut from {len(y):,} items: {error}") from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.input_tags.sparse = inner.estimator_type, inner.input_tags.sparse
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags

    @property
    def classes_(self) -> Any:
        """The classes, if there are any."""
        return self.estimator_.classes_

    @_estimator_has("predict")
    def predict(self, X: Any) -> Any:
        """Return what the best epoch predicts."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @_estimator_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return probabilities by the best epoch."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @_estimator_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return decision values by the best epoch."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @_estimator_has("score")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the best epoch."""
        check_is_fitted(self)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.estimator_.score(X, y, **weights))


def _weigh(sample_weight: Any, items: Any) -> dict[str, Any]:
    """Return the weights of some items as ``partial_fit`` and ``score`` take them, nothing if there are none."""
    return {} if sample_weight is None else {"sample_weight": _safe_indexing(sample_weight, items)}


def _require_two_of_each(y: Any) -> None:
    """Refuse a class with a single item, which cannot be on both sides of the cut."""
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    if counts.min() < 2:
        raise TuningError(
            f"no validation set can be cut: class {classes[counts.argmin()]} has 1 of {len(y):,} items, and training "
            "and validation need one each. Leave it out, or merge it with another class"
        )


def _best(scores: list[float]) -> int:
    """Return which epoch (from 1) has the best score, the first of several; 0 before the first."""
    return int(np.argmax(scores)) + 1 if scores else 0
