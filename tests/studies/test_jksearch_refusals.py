"""Bad input gets one clear line, before anything is trained where that is possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from holdsup.errors import HoldsupError, TuningError
from holdsup.studies.tuning import EarlyStopping, JKSearchCV

X, Y = load_iris(return_X_y=True)
GRID = {"C": [0.1, 1]}


def refuse(match: str, candidates: Any = GRID, estimator: Any = None, groups: Any = None, **options: Any) -> None:
    search = JKSearchCV(estimator or SVC(), candidates, **{"j": 2, "k": 3, **options})
    with pytest.raises(TuningError, match=match) as refused:
        search.fit(X, Y, groups=groups)
    assert isinstance(refused.value, HoldsupError)
    assert "\n" not in str(refused.value)


def test_a_parameter_that_does_not_exist_is_refused_with_the_nearest_name() -> None:
    refuse("SVC has no parameter 'gama'. Did you mean 'gamma'?", {"gama": [1]})
    refuse("Did you mean 'svc__C'", {"svc_C": [1]}, make_pipeline(StandardScaler(), SVC()))


@pytest.mark.parametrize(
    ("match", "candidates"),
    [
        ("no candidates", []),
        ("no candidates|cannot be listed", {"C": []}),
        ("cannot be listed", {"C": 1}),
        ("give a dict", "C"),
        ("give a dict", None),
        ("distribution: say how many", {"C": uniform()}),
    ],
)
def test_candidates_that_cannot_be_listed_are_refused(match: str, candidates: Any) -> None:
    refuse(match, candidates)


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("fewer than 3 folds training sets do not overlap", {"k": 2}),
        ("k is 'a'", {"k": "a"}),
        ("j is 0", {"j": 0}),
        ("n_samples=150", {"k": 151}),
        ("level is 1.5", {"level": 1.5}),
        ("margin is -1", {"margin": -1}),
        ("A number would rank", {"error_score": 0}),
        ("budget is 11 fits, but 2 candidates on 2 x 3 folds take 12", {"budget": 11}),
        ("budget is 5 fits, but 2 candidates on 1 x 3 folds take 6", {"budget": 5, "adaptive": True}),
        ("no scorer 'acuracy'. Did you mean 'accuracy'", {"scoring": "acuracy"}),
        ("name the one to rank by", {"scoring": ["accuracy", "f1_macro"]}),
        ("seed of JKFold is -1", {"seed": -1}),
        ("an array of shape \\(50,\\)", {"scoring": lambda est, X, y: est.predict(X) == y}),
        ("the scorer gave 'good'", {"scoring": lambda est, X, y: "good"}),
    ],
)
def test_options_that_make_no_sense_are_refused(match: str, options: dict[str, Any]) -> None:
    refuse(match, **options)


def test_fewer_groups_than_folds_are_refused() -> None:
    refuse("there are only 2 groups", groups=np.arange(150) % 2)


def test_when_every_candidate_fails_the_first_reason_is_given() -> None:
    refuse("all 2 candidates failed; candidate 1 on fold 1 of partition 1: .*InvalidParameterError", {"C": [-1, -2]})


def test_an_error_can_end_the_search() -> None:
    search = JKSearchCV(SVC(), {"C": [1, -1]}, j=2, k=3, error_score="raise")
    with pytest.raises(ValueError, match="C"):
        search.fit(X, Y)


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ({"param_grid": GRID}, "has no param_grid=: give the grid as candidates="),
        ({"cv": 5}, "has no cv=: say how many folds with k= and how many partitions with j="),
        ({"verbose": 1}, "has no verbose=: leave it out"),
        ({"return_train_score": True}, "has no return_train_score=: leave it out"),
        ({"n_iter": 9}, "has no n_iter=: .*n_candidates="),
        ({"random_state": 1}, "has no random_state=: give seed="),
        ({"colour": 1}, "has no colour="),
    ],
)
def test_arguments_of_other_searches_are_refused_with_the_way_to_say_it_here(given: dict[str, Any], way: str) -> None:
    with pytest.raises(TypeError, match=way):
        JKSearchCV(SVC(), GRID, **given)


def test_a_grid_by_its_name_in_scikit_learn_alone_is_told_what_it_is_called_here() -> None:
    with pytest.raises(TypeError, match="give the grid as candidates="):
        JKSearchCV(SVC(), param_grid=GRID)


class Untrained(SVC):
    """Fails the test if it is trained."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise AssertionError("trained before options were checked")


@pytest.mark.parametrize("refit", [True, "auc"])
def test_a_refit_that_names_no_metric_is_refused_before_anything_is_trained(refit: Any) -> None:
    options = {"scoring": ["accuracy", "f1_macro"], "refit": refit, "error_score": "raise"}
    refuse("there are the metrics accuracy, f1_macro: name the one", estimator=Untrained(), **options)


def test_metrics_that_only_a_function_knows_are_checked_after_the_first_partition() -> None:
    seen = []

    def score(estimator: Any, X: Any, y: Any) -> dict[str, float]:
        seen.append(len(y))
        return {"a": 1.0, "b": 2.0}

    refuse("there are the metrics a, b", scoring=score, refit="c", j=8)
    assert len(seen) == 2 * 3  # candidates x folds of one partition


def test_weights_that_are_not_one_for_each_item_are_refused() -> None:
    with pytest.raises(TuningError, match="there are 150 items, but groups has 149"):
        JKSearchCV(SVC(), {"C": [1]}).fit(X, Y, groups=np.arange(149))
    with pytest.raises(TuningError, match="there are 150 items, but sample_weight has 100"):
        JKSearchCV(Untrained(), GRID, error_score="raise").fit(X, Y, sample_weight=np.ones(100))


def test_a_function_that_chooses_no_place_is_refused() -> None:
    with pytest.raises(TypeError, match=r"refit returned 0\.5"):
        JKSearchCV(SVC(), GRID, j=2, k=3, refit=lambda table: 0.5).fit(X, Y)


def test_a_budget_can_be_met_by_fewer_partitions() -> None:
    refuse("lower j or k", budget=5)


def test_a_parameter_of_a_step_is_found_by_its_own_name() -> None:
    refuse("Did you mean 'svc__shrinking'", {"shrinking": [True]}, make_pipeline(StandardScaler(), SVC()))


def test_a_class_of_one_item_cannot_be_validated_on() -> None:
    from sklearn.linear_model import SGDClassifier

    with pytest.raises(TuningError, match="class 9 has 1 of 150 items") as refused:
        EarlyStopping(SGDClassifier()).fit(X, np.where(np.arange(150) == 0, 9, Y))
    assert "match" not in str(refused.value)
