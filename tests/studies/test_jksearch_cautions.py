"""What a search says besides: no seed, rare classes, copies of partitions, validation sets that cut groups."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import Lasso, LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from holdsup import JKFold, KFold, TuningError, run_contest
from holdsup.splits.routing import route_groups
from holdsup.splits.splitter import find_copies
from holdsup.studies.tuning import EarlyStopping, JKSearchCV, judge_trials, optuna_objective, study_stopping

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
    assert f"{name}: random training counts as luck of the partition" in warn(estimator, candidates)


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
    assert "6 candidates were asked for, but only 2 are different" in warn(SVC(), {"C": [1, 2]}, n_candidates=6)


def test_equal_candidates_are_trained_once_and_told() -> None:
    grids = [{"C": [1, 2, np.float64(1)]}, {"C": [2, 1.0]}]
    search = JKSearchCV(SVC(), grids, j=2, k=3).fit(X, Y)
    assert [params["C"] for params in search.cv_results_["params"]] == [1, 2, 1.0]
    assert search.tuning_.fits == 2 * 3 * 3
    assert len(search.tuning_.different) == 2  # 1.0 has the scores of 1
    said = " ".join(search.tuning_.warnings)
    assert "5 candidates were asked for, but only 3 are different." in said
    assert "1 of 3 candidates repeat others and count once: C=1." in said
    assert {"fewer-candidates", "repeated-candidates"} <= {each.code for each in search.tuning_.cautions}
    scaled = {"standardscaler": [StandardScaler(), StandardScaler(), StandardScaler(with_mean=False)]}
    assert "3 candidates were asked for, but only 2 are different" in warn(
        make_pipeline(StandardScaler(), SVC()), scaled
    )


def test_a_class_with_fewer_items_than_folds_is_told() -> None:
    y = np.where(np.arange(150) < 2, 9, Y)
    assert "Class 9 has 2 items for 3 folds" in warn(SVC(), {"C": [1, 2]}, y=y)
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


class Seen(SGDClassifier):
    """Notes which items it is trained on, and which it predicts; the first column is their place."""

    log: ClassVar[list[tuple[str, Any]]] = []

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        self.log.append(("train", np.asarray(X)[:, 0].astype(int)))
        return super().partial_fit(X, y, classes, sample_weight)

    def predict(self, X: Any) -> Any:
        self.log.append(("validate", np.asarray(X)[:, 0].astype(int)))
        return super().predict(X)


def count_torn(groups: Any) -> tuple[int, int]:
    """Return how many validation or test sets share groups with what was trained before them, of how many."""
    torn, trained = [], None
    for what, items in Seen.log:
        if what == "train":
            trained = set(groups[items])
        elif trained is not None:
            torn.append(bool(trained & set(groups[items])))
    return sum(torn), len(torn)


STOPPED = EarlyStopping(Seen(random_state=0), epochs=2)
GROUPS = np.arange(150) % 30
NUMBERED = np.column_stack([np.arange(150), X])


def search_with(estimator: Any) -> None:
    alpha = next(name for name in estimator.get_params() if name.endswith("alpha"))
    JKSearchCV(estimator, {alpha: [1e-4, 1e-2]}, j=2, k=3).fit(NUMBERED, Y, groups=GROUPS)


def contest_with(estimator: Any) -> None:
    systems = {"stopped": estimator, "near": KNeighborsClassifier()}
    run_contest(systems, (NUMBERED, Y, GROUPS), "accuracy", KFold(k=3), 1)


def optimise_with(estimator: Any) -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    objective = optuna_objective(lambda _: estimator, NUMBERED, Y, groups=GROUPS, j=1, k=3)
    optuna.create_study(direction="maximize").optimize(objective, n_trials=1)


def study_with(estimator: Any) -> None:
    name = next(name for name in estimator.get_params() if name.rpartition("__")[2] == "seed")
    study_stopping(estimator, NUMBERED, Y, cut=name, groups=GROUPS, partitions=2, cuts=2, k=3)


@pytest.mark.parametrize("use", [search_with, contest_with, optimise_with, study_with])
@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    "wrap", [lambda stopped: stopped, lambda stopped: make_pipeline(FunctionTransformer(), stopped)]
)
def test_groups_reach_early_stopping_in_a_search_a_contest_an_objective_and_a_study(
    use: Any, routing: bool, wrap: Any
) -> None:
    Seen.log.clear()
    with sklearn.config_context(enable_metadata_routing=routing):
        use(wrap(STOPPED))
    torn, sets = count_torn(GROUPS)
    assert torn == 0
    assert sets > 6


def test_where_groups_do_not_reach_early_stopping_all_say_so() -> None:
    optuna = pytest.importorskip("optuna")
    said = "EarlyStopping inside OneVsRestClassifier cuts groups in two to validate"
    hidden = OneVsRestClassifier(EarlyStopping(SGDClassifier(random_state=0), epochs=2))
    assert said in warn(hidden, {"estimator__patience": [1, 2]}, groups=GROUPS)
    assert "EarlyStopping" not in warn(hidden, {"estimator__patience": [1, 2]})
    contest = run_contest({"a": hidden, "b": KNeighborsClassifier()}, (X, Y, GROUPS), "accuracy", KFold(k=3), 1)
    assert said in "\n".join(contest.warnings)
    study = optuna.create_study(direction="maximize")
    study.optimize(optuna_objective(lambda _: hidden, X, Y, groups=GROUPS, j=2, k=3), n_trials=1)
    assert said in "\n".join(judge_trials(study, k=3).warnings)


def test_a_search_inside_a_contest_is_given_the_groups() -> None:
    inner = JKSearchCV(KNeighborsClassifier(), NEIGHBOURS, j=1, k=3)
    assert list(route_groups(inner, GROUPS)) == ["groups"]
    assert list(route_groups(make_pipeline(StandardScaler(), inner), GROUPS)) == ["jksearchcv__groups"]


def test_weights_below_zero_are_told() -> None:
    weights = np.where(np.arange(150) < 3, -1.0, 1.0)
    search = JKSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, j=2, k=3)
    assert "3 of 150 sample weights are below zero" in "\n".join(
        search.fit(X, Y, sample_weight=weights).tuning_.warnings
    )
    assert "weights" not in "\n".join(search.fit(X, Y, sample_weight=np.ones(150)).tuning_.warnings)


@pytest.mark.parametrize("stratify", [None, False])
def test_a_search_can_take_the_way_out_that_is_offered_for_large_groups(stratify: bool | None) -> None:
    groups = np.where(np.arange(150) % 3 < 2, 0, np.arange(150) % 9)
    search = JKSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, j=1, k=3, stratify=stratify)
    with pytest.raises(TuningError, match="set uneven=True"):
        search.fit(X, Y, groups=groups)
    assert search.set_params(uneven=True).fit(X, Y, groups=groups).tuning_.partitions == 1


def test_early_stopping_refuses_groups_that_leave_nothing_to_validate_on() -> None:
    with pytest.raises(TuningError, match="no validation set can be cut from 150 items"):
        EarlyStopping(SGDRegressor(random_state=0)).fit(X, X[:, 0], groups=np.zeros(150))
