"""What a search says besides: no seed, rare classes, copies of partitions, validation sets that cut groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import Lasso, LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from holdsup import JKFold
from holdsup.splits.copies import find_copies
from holdsup.studies.tuning import EarlyStopping, JKSearchCV

X, Y = load_iris(return_X_y=True)
NEIGHBOURS = {"n_neighbors": [1, 15, 60]}


def warn(estimator: Any, candidates: Any, y: Any = Y, groups: Any = None, **options: Any) -> str:
    """Return the warnings of a search as one text."""
    search = JKSearchCV(estimator, candidates, **{"j": 3, "k": 3, **options}).fit(X, y, groups=groups)
    return "\n".join(search.tuning_.warnings)


@pytest.mark.parametrize(
    ("estimator", "candidates", "name"),
    [
        (DecisionTreeClassifier(max_features=2), {"max_depth": [1, 2]}, "'random_state' is None"),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), {"decisiontreeclassifier__max_depth": [1]},
         "'decisiontreeclassifier__random_state' is None"),
        (Lasso(0.1), {"selection": ["cyclic", "random"]}, "'random_state' is None"),
    ],
)  # fmt: skip
def test_training_without_a_seed_is_warned_about(estimator: Any, candidates: Any, name: str) -> None:
    assert f"{name}: if training is random, its luck is counted as luck of the partition" in warn(estimator, candidates)


@pytest.mark.parametrize(
    ("estimator", "candidates"),
    [
        (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}),
        (DecisionTreeClassifier(), {"max_depth": [1, 2], "random_state": [0]}),
        (SVC(), {"C": [1, 2]}),
        (LogisticRegression(max_iter=5000), {"C": [0.1, 1]}),
        (Lasso(), {"alpha": [0.1, 1]}),
        (KNeighborsClassifier(), NEIGHBOURS),
    ],
)
def test_training_that_is_seeded_or_not_random_is_not_warned_about(estimator: Any, candidates: Any) -> None:
    assert "random" not in warn(estimator, candidates)


def test_fewer_candidates_than_asked_for_are_told() -> None:
    assert "6 candidates were asked for, but there are only 2" in warn(SVC(), {"C": [1, 2]}, n_candidates=6)


def test_a_class_with_fewer_items_than_folds_is_told() -> None:
    y = np.where(np.arange(150) < 2, 9, Y)
    assert "Class 9 has 2 items, fewer than there are folds (3)" in warn(SVC(), {"C": [1, 2]}, y=y)
    assert "Class" not in warn(SVC(), {"C": [1, 2]})


def test_partitions_that_are_copies_are_left_out() -> None:
    groups = np.random.default_rng(0).permutation(150) % 4
    splits = list(JKFold(j=8, k=3, stratify=True).split(X, Y, groups))
    distinct = len(set(find_copies(splits[at : at + 3] for at in range(0, 24, 3))))
    assert 1 < distinct < 8
    search = JKSearchCV(KNeighborsClassifier(), NEIGHBOURS, j=8, k=3).fit(X, Y, groups=groups)
    assert (search.tuning_.partitions, search.tuning_.copies) == (distinct, 8 - distinct)
    assert search.n_splits_ == 3 * distinct
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert f"{8 - distinct} of 8 partitions" in "\n".join(search.tuning_.warnings)


def test_adaptive_j_trains_on_no_copy() -> None:
    groups = np.random.default_rng(0).permutation(150) % 3
    search = JKSearchCV(KNeighborsClassifier(), NEIGHBOURS, j=8, k=3, adaptive=True).fit(X, Y, groups=groups)
    assert (search.tuning_.partitions, search.tuning_.copies, search.tuning_.fits) == (1, 7, 9)
    assert search.tuning_.stop == "all partitions run"


class Recorder(SGDClassifier):
    """Keeps what it was trained on."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        self.items_, self.weights_ = X[:, 0], sample_weight
        return super().partial_fit(X, y, classes, sample_weight)


def test_early_stopping_weighs_items_in_training_and_validation() -> None:
    weights = np.random.default_rng(0).uniform(0.1, 2, 150)
    numbered = np.column_stack([np.arange(150), X])
    stopped = EarlyStopping(Recorder(random_state=0), epochs=1).fit(numbered, Y, sample_weight=weights)
    trained = stopped.estimator_.items_.astype(int)
    np.testing.assert_array_equal(stopped.estimator_.weights_, weights[trained])
    held_out = np.setdiff1d(np.arange(150), trained)
    expected = stopped.estimator_.score(numbered[held_out], Y[held_out], sample_weight=weights[held_out])
    assert stopped.validation_scores_[0] == expected
    assert stopped.score(numbered, Y, weights) == stopped.estimator_.score(numbered, Y, weights)


def test_early_stopping_keeps_groups_whole_where_it_is_given_them() -> None:
    groups = np.arange(150) // 5
    numbered = np.column_stack([np.arange(150), X])
    stopped = EarlyStopping(Recorder(random_state=0), epochs=1).fit(numbered, Y, groups=groups)
    trained = groups[stopped.estimator_.items_.astype(int)]
    assert set(np.bincount(trained)[np.unique(trained)]) == {5}
    assert len(np.unique(trained)) < 30


def test_groups_are_routed_to_early_stopping_or_it_is_told_that_they_are_not() -> None:
    stopped = EarlyStopping(SGDClassifier(random_state=0), epochs=2)
    groups = np.arange(150) // 5
    assert "EarlyStopping cuts its validation sets item by item" in warn(stopped, {"patience": [1, 2]}, groups=groups)
    assert "EarlyStopping" not in warn(stopped, {"patience": [1, 2]})
    with sklearn.config_context(enable_metadata_routing=True):
        asks = EarlyStopping(SGDClassifier(random_state=0), epochs=2).set_fit_request(groups=True)
        assert "EarlyStopping" not in warn(asks, {"patience": [1, 2]}, groups=groups)


def test_early_stopping_refuses_groups_that_leave_nothing_to_validate_on() -> None:
    from holdsup import TuningError

    with pytest.raises(TuningError, match="no validation set can be cut from 150 items"):
        EarlyStopping(SGDRegressor(random_state=0)).fit(X, X[:, 0], groups=np.zeros(150))
