"""A J-K-fold mean as Optuna's objective, in real studies on SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from holdsup.errors import MissingExtra, TuningError
from holdsup.splits import JKFold
from holdsup.studies.tuning import judge_trials, optuna_objective

optuna = pytest.importorskip("optuna")
X, Y = load_iris(return_X_y=True)


def make_tree(trial: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=trial.suggest_int("max_depth", 1, 4), random_state=0)


def make_study(path: Path, **options: Any) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(
        storage=f"sqlite:///{path / 'trials.db'}",
        study_name="trees",
        direction="maximize",
        load_if_exists=True,
        **options,
    )


@pytest.mark.slow
def test_a_study_on_sqlite_finds_what_j_k_fold_means_say_and_can_be_resumed(tmp_path: Path) -> None:
    objective = optuna_objective(make_tree, X, Y, j=3, k=4, seed=2)
    grid = optuna.samplers.GridSampler({"max_depth": [1, 2, 3, 4]}, seed=0)
    for trials in (2, 2):  # the second call goes on where the first stopped
        make_study(tmp_path, sampler=grid, pruner=optuna.pruners.NopPruner()).optimize(objective, n_trials=trials)
    found = make_study(tmp_path)
    assert len(found.trials) == 4
    for trial in found.trials:
        tree = DecisionTreeClassifier(**trial.params, random_state=0)
        scores = cross_val_score(tree, X, Y, cv=JKFold(j=3, k=4, seed=2, stratify=True)).reshape(3, 4).mean(axis=1)
        assert trial.value == pytest.approx(scores.mean(), rel=1e-13)
        assert trial.user_attrs["partitions"] == pytest.approx(scores.tolist(), rel=1e-13)
        assert list(trial.intermediate_values) == [1, 2, 3]
    assert found.best_value == max(trial.value for trial in found.trials)


@pytest.mark.slow
def test_a_hopeless_trial_is_pruned_between_partitions(tmp_path: Path) -> None:
    study = make_study(tmp_path, pruner=optuna.pruners.ThresholdPruner(lower=0.8))
    study.enqueue_trial({"max_depth": 1})
    study.enqueue_trial({"max_depth": 3})
    study.optimize(optuna_objective(make_tree, X, Y, j=4, k=3), n_trials=2)
    stump, tree = study.trials
    assert stump.state == optuna.trial.TrialState.PRUNED
    assert len(stump.user_attrs["partitions"]) == 1
    assert tree.state == optuna.trial.TrialState.COMPLETE
    assert len(tree.user_attrs["partitions"]) == 4


def test_an_error_of_the_estimator_is_optunas_to_record() -> None:
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    study = optuna.create_study(direction="maximize")
    objective = optuna_objective(lambda trial: DecisionTreeClassifier(max_depth=-1), X, Y, j=2, k=3)
    study.optimize(objective, n_trials=1, catch=ValueError)
    assert study.trials[0].state == optuna.trial.TrialState.FAIL


def test_two_folds_are_refused_before_any_trial() -> None:
    with pytest.raises(TuningError, match="k is 2"):
        optuna_objective(make_tree, X, Y, k=2)


def test_without_optuna_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"holdsup\[optuna\]"):
        optuna_objective(make_tree, X, Y)


def test_all_trials_see_the_same_partitions() -> None:
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    objective = optuna_objective(lambda trial: DecisionTreeClassifier(max_depth=2, random_state=0), X, Y, j=2, k=3)
    study.optimize(objective, n_trials=2)
    first, second = (np.array(trial.user_attrs["partitions"]) for trial in study.trials)
    np.testing.assert_array_equal(first, second)


def test_a_study_that_minimises_is_refused_at_the_first_trial() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    objective = optuna_objective(make_tree, X, Y, j=1, k=3)
    for options, said in (({"direction": "minimize"}, "minimize"), ({"directions": ["maximize"] * 2}, "maximize, max")):
        study = optuna.create_study(**options)
        with pytest.raises(TuningError, match=f"the study's direction is {said}"):
            study.optimize(objective, n_trials=1)


def test_a_finished_study_has_a_verdict() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    grid = optuna.samplers.GridSampler({"max_depth": [1, 2, 3]}, seed=0)
    study = optuna.create_study(direction="maximize", sampler=grid)
    study.optimize(optuna_objective(make_tree, X, Y, j=3, k=4, seed=2), n_trials=3)
    found = judge_trials(study, k=4, metric_name="accuracy")
    assert [row.params for row in found.candidates] == [trial.params for trial in study.trials]
    assert found.pick.params == study.best_params
    assert found.pick.mean == pytest.approx(study.best_value)
    assert (found.partitions, found.k, found.fits) == (3, 4, 36)
    depths = [trial.params["max_depth"] for trial in study.trials]
    direct = cross_val_score(
        DecisionTreeClassifier(max_depth=depths[0], random_state=0), X, Y, cv=JKFold(j=3, k=4, seed=2, stratify=True)
    )
    assert found.candidates[0].scores == pytest.approx(direct.reshape(3, 4).mean(axis=1))


def test_pruned_trials_stand_beside_the_pick_as_far_as_they_went() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize")
    for depth, scores in ((1, [0.6]), (2, [0.9, 0.91, 0.92]), (3, [0.9, 0.92, 0.93])):
        study.add_trial(
            optuna.create_trial(
                params={"depth": depth}, distributions={"depth": optuna.distributions.IntDistribution(1, 9)},
                value=float(np.mean(scores)), user_attrs={"partitions": scores},
            )
        )  # fmt: skip
    found = judge_trials(study)
    assert found.candidates[0].status == "dropped"
    assert found.best == "depth=3"
    assert "dropped after 1" in found.page().text()
    with pytest.raises(TuningError, match="no trial of the study has scores of partitions"):
        judge_trials(optuna.create_study())
