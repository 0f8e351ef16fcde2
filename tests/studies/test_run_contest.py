"""`run_contest`: every system trained once on every split, and judged by what comes out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from contest_systems import CALLS, corpus, train_coin, train_cut, train_other_coin, train_poor
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from holdsup import (
    BlockedCV,
    Contest,
    HoldOut,
    KFold,
    RepeatedHoldOut,
    RunError,
    SplitError,
    TaskError,
    compare_systems,
    run_contest,
)
from holdsup.experiment import sources
from holdsup.experiment.identity import identify
from holdsup.studies.contests.identities import identify_estimator

TWO = {"cut": train_cut, "poor": train_poor}


def values(contest: Contest, estimator: str) -> tuple[float, ...]:
    (row,) = (row for row in contest.estimators if row.estimator == estimator)
    return row.values


def test_estimates_are_those_of_training_the_same_splits_by_hand() -> None:
    X, y = load_iris(return_X_y=True)
    systems = {"bayes": GaussianNB(), "centroid": NearestCentroid()}
    splitter = BlockedCV(m=3, repeats=4, seed=7)
    contest = run_contest(systems, (X, y), "accuracy", splitter, conclusion="bayes>centroid")
    averaged, voted = [], []
    splits = list(splitter.split(X))
    for cut in range(4):
        fold_scores: dict[str, list[float]] = {name: [] for name in systems}
        ballots = {name: np.zeros((len(y), 3), dtype=int) for name in systems}
        for train, test in splits[6 * cut : 6 * cut + 6]:
            for name, system in systems.items():
                predicted = clone(system).fit(X[train], y[train]).predict(X[test])
                fold_scores[name].append(np.mean(predicted == y[test]))
                ballots[name][test, predicted] += 1
        averaged.append(np.mean(fold_scores["bayes"]) - np.mean(fold_scores["centroid"]))
        assert all((votes.max(axis=1) >= 2).all() for votes in ballots.values())  # or a tie would decide
        right = {name: np.mean(votes.argmax(axis=1) == y) for name, votes in ballots.items()}
        voted.append(right["bayes"] - right["centroid"])
    assert values(contest, "averaged") == pytest.approx(averaged, abs=1e-12)
    assert values(contest, "vote") == pytest.approx(voted, abs=1e-12)
    assert np.ptp(averaged) > 0


def test_each_system_is_trained_once_on_each_split() -> None:
    CALLS.clear()
    contest = run_contest(TWO, corpus(), "accuracy", BlockedCV(m=3), repeats=5)
    assert CALLS == {"cut": 30, "poor": 30}
    assert contest.rows.used == 60
    assert {row.estimator for row in contest.estimators} == {"holdout", "averaged", "vote", "mixture", "symmetric"}


def test_more_repeats_train_only_what_is_new(tmp_path: Path) -> None:
    first = run_contest(TWO, corpus(), "accuracy", repeats=2, store=tmp_path / "c.db")
    CALLS.clear()
    again = run_contest(TWO, corpus(), "accuracy", repeats=2, store=tmp_path / "c.db")
    assert (CALLS.total(), again) == (0, first)
    more = run_contest(TWO, corpus(), "accuracy", repeats=3, store=tmp_path / "c.db")
    assert CALLS == {"cut": 6, "poor": 6}
    assert values(more, "averaged")[:2] == values(first, "averaged")


def test_another_metric_needs_no_training(tmp_path: Path) -> None:
    run_contest(TWO, corpus(), "accuracy", repeats=2, store=tmp_path / "c.db")
    CALLS.clear()
    contest = run_contest(TWO, corpus(), {"name": "f1", "average": "macro"}, repeats=2, store=tmp_path / "c.db")
    assert (CALLS.total(), contest.metric) == (0, "f1")


def test_estimators_are_known_by_their_parameters_also_those_within() -> None:
    def make(**changed: Any) -> Any:
        steps = [
            ("impute", SimpleImputer()),
            ("words", CountVectorizer(stop_words=["the"] * 500)),
            ("bayes", GaussianNB()),
        ]
        return Pipeline(steps).set_params(**changed)

    first = identify_estimator(make(), "a")
    assert identify(first) == identify(identify_estimator(make(), "a"))
    for changed in (
        {"bayes__priors": np.array([0.5])},
        {"words__stop_words": ["the"] * 499},
        {"impute": "passthrough"},
    ):
        assert identify(identify_estimator(make(**changed), "a")) != identify(first)


def test_another_corpus_is_another_training(tmp_path: Path) -> None:
    run_contest(TWO, corpus(), "accuracy", repeats=1, store=tmp_path / "c.db")
    CALLS.clear()
    run_contest(TWO, corpus(noise=0.1), "accuracy", repeats=1, store=tmp_path / "c.db")
    assert CALLS.total() == 12


def fragile(*seeds: int) -> Any:
    """Return a system that fails where it is trained with one of these seeds."""

    def train(inputs: list[float], targets: list[str], *, seed: int) -> Any:
        if seed in seeds:
            raise ValueError("the cable is loose.")
        return train_cut(inputs, targets, seed=seed)

    return train


def test_partitions_without_failures_are_judged_and_the_others_counted() -> None:
    systems = {"fragile": fragile(4, 5, 130), "poor": train_poor}
    found = run_contest(systems, corpus(), "accuracy", repeats=22)
    assert found.conclusions[0].partitions == 20
    (failed,) = [each for each in found.cautions if each.code == "failed-trainings"]
    assert failed.message == (
        "2 of 22 partitions are left out: 3 trainings failed, which can bias the answer. The first was 'fragile' on "
        "split 5: ValueError: the cable is loose."
    )
    assert failed.message[:50] in str(found)
    assert (found.rows.planned, found.rows.used) == (22 * 12, 20 * 12)
    assert found.rows.reasons == {"a failed training in their partition": 24}


def test_failures_that_leave_too_few_partitions_for_a_reproducibility_are_refused() -> None:
    with pytest.raises(RunError, match=r"1 of 240 trainings failed, so that 19 of 20 .* needs 20, the first of 'frag"):
        run_contest({"fragile": fragile(4), "poor": train_poor}, corpus(), "accuracy")


def test_a_training_that_failed_is_told_and_can_be_tried_again(tmp_path: Path) -> None:
    CALLS.clear()
    asked: dict[str, Any] = {"store": tmp_path / "c.db", "repeats": 1, "key": "one"}

    def train_fragile(inputs: list[float], targets: list[str], *, seed: int) -> Any:
        if seed == 4 and fails:
            raise ValueError("the cable is loose")
        return train_cut(inputs, targets, seed=seed)

    fails = True
    with pytest.raises(
        RunError, match=r"1 of 12 trainings failed, the first of 'fragile' on split 5: ValueError: .*cable is loose"
    ):
        run_contest({"fragile": train_fragile, "poor": train_poor}, corpus(), "accuracy", **asked)
    fails = False
    CALLS.clear()
    contest = run_contest(
        {"fragile": train_fragile, "poor": train_poor}, corpus(), "accuracy", retry_failed=True, **asked
    )
    assert (CALLS["cut"], CALLS["poor"], contest.rows.used) == (1, 0, 12)


def test_systems_share_a_seed_on_a_split_and_splits_have_seeds_of_their_own() -> None:
    seeds: dict[str, list[int]] = {"a": [], "b": []}

    def note(name: str) -> Any:
        def train(inputs: list[float], targets: list[str], *, seed: int) -> Any:
            seeds[name].append(seed)
            return lambda unseen: ["low" if name == "a" else "high"] * len(unseen)

        return train

    run_contest({"a": note("a"), "b": note("b")}, corpus(), "accuracy", repeats=2, seed=40)
    assert seeds["a"] == seeds["b"] == list(range(40, 52))


def test_groups_never_straddle() -> None:
    groups = [i // 4 for i in range(96)]

    def train(inputs: list[float], targets: list[str], *, seed: int) -> Any:
        trained = {int(x) // 4 for x in inputs}
        return lambda unseen: ["low" if int(x) // 4 in trained else "high" for x in unseen]

    data = (list(range(96)), ["high"] * 90 + ["low"] * 6, groups)
    contest = run_contest({"told": train, "poor": train_poor}, data, "accuracy", HoldOut(), repeats=3, key="groups")
    told = [row.score for row in contest.scores if row.system == "told"]
    without = run_contest({"told": train, "poor": train_poor}, data[:2], "accuracy", HoldOut(), repeats=3, key="none")
    assert min(told) >= 0.5  # it says "high" wherever it was given nothing of the group
    assert max(row.score for row in without.scores if row.system == "told") < 0.5


@pytest.mark.parametrize(
    ("splitter", "strategy", "folds"),
    [
        (HoldOut(test=0.25), "holdout", 1),
        (RepeatedHoldOut(test=0.25, repeats=4), "repeated", 4),
        (KFold(k=3), "kfold", 3),
    ],
    ids=lambda value: str(value),
)
def test_other_splits_are_partitioned_again_and_again_too(splitter: Any, strategy: str, folds: int) -> None:
    contest = run_contest(TWO, corpus(), "accuracy", splitter, repeats=3)
    assert contest.conclusions[0].strategy == strategy
    assert [row.folds for row in contest.signs] == [3 * folds]
    first = [row for row in contest.scores if row.system == "cut"][:folds]
    inputs, targets = corpus()
    for (train, test), row in zip(splitter.split(inputs), first, strict=True):
        predict = train_cut([inputs[i] for i in train], [targets[i] for i in train], seed=0)
        right = [said == targets[i] for said, i in zip(predict([inputs[i] for i in test]), test, strict=True)]
        assert row.score == pytest.approx(np.mean(right))


def test_more_than_two_systems_are_judged_pair_by_pair_on_the_same_trainings() -> None:
    CALLS.clear()
    contest = run_contest({**TWO, "coin": train_coin}, corpus(), "accuracy", repeats=2)
    assert CALLS == {"cut": 12, "poor": 12}
    pairs = {frozenset((c.left, c.right)) for c in contest.conclusions}
    assert pairs == set(map(frozenset, combinations(("cut", "poor", "coin"), 2)))
    tests = [test for test in contest.tests if not test.paper]
    assert [test.p_bonferroni for test in tests] == pytest.approx([min(1.0, 3 * test.p) for test in tests])


def test_a_clear_difference_stops_a_sequential_contest_early_and_equal_systems_use_up_the_budget(
    tmp_path: Path,
) -> None:
    CALLS.clear()
    clear = run_contest(TWO, corpus(noise=0.02), "accuracy", repeats=60, sequential=0.8, store=tmp_path / "c.db")
    assert CALLS["cut"] == 6 * clear.conclusions[0].partitions < 6 * 60
    assert [decision.outcome for decision in clear.decisions] == ["left"]
    assert (clear.state, "when the answer was safe" in str(clear)) == ("yes", True)
    coins = {"coin": train_coin, "other": train_other_coin}
    budget = run_contest(coins, corpus(), "accuracy", HoldOut(), repeats=25, sequential=0.8)
    assert budget.conclusions[0].partitions == 25
    assert [decision.outcome for decision in budget.decisions] == ["budget"]
    assert "after 25 of at most 25 partitions, with no clear answer" in str(budget)


def test_repeats_after_a_sequential_contest_train_only_what_is_new(tmp_path: Path) -> None:
    data = corpus(noise=0.02)
    done = run_contest(TWO, data, "accuracy", repeats=60, sequential=0.8, store=tmp_path / "c.db")
    CALLS.clear()
    run_contest(TWO, data, "accuracy", repeats=done.conclusions[0].partitions + 1, store=tmp_path / "c.db")
    assert CALLS == {"cut": 6, "poor": 6}


def test_a_learning_curve_shows_a_sign_that_changes() -> None:
    inputs, targets = list(range(96)), ["high" if i % 2 else "low" for i in range(96)]

    def train_young(inputs: list[float], known: list[str], *, seed: int) -> Any:
        right = 0.8 if len(inputs) < 60 else 0.6
        rng = np.random.default_rng(seed)
        return lambda unseen: [targets[i] if rng.random() < right else "low" for i in unseen]

    def train_steady(inputs: list[float], known: list[str], *, seed: int) -> Any:
        rng = np.random.default_rng(seed + 10**6)
        return lambda unseen: [targets[i] if rng.random() < 0.7 else "low" for i in unseen]

    contest = run_contest(
        {"young": train_young, "steady": train_steady}, (inputs, targets), "accuracy", repeats=2, learning_curve=True,
        conclusion="young>steady",
    )  # fmt: skip
    assert sorted({point.size for point in contest.curve}) == [24, 48, 72, 85]
    assert {point.repeats for point in contest.curve} == {10}
    (check,) = contest.curve_checks
    assert check.half_difference > 0 > check.full_difference


def test_threads_give_what_one_thread_gives() -> None:
    alone = run_contest(TWO, corpus(), "accuracy", repeats=2)
    with ThreadPoolExecutor(2) as executor:
        assert run_contest(TWO, corpus(), "accuracy", repeats=2, executor=executor) == alone


class Named(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predicts by the column called b, so that it needs a frame."""

    def fit(self, X: pd.DataFrame, y: Any) -> Named:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: pd.DataFrame) -> list[str]:
        return ["high" if b > 0 else "low" for b in X["b"]]


def test_estimators_are_given_arrays_frames_and_sparse_matrices_as_they_are() -> None:
    inputs, targets = corpus()
    frame = pd.DataFrame({"a": 0.0, "b": inputs}, index=range(1_000, 1_096))
    for systems, X in (
        ({"named": Named(), "bayes": GaussianNB()}, frame),
        ({"named": Named(), "bayes": GaussianNB()}, pl.DataFrame({"a": [0.0] * 96, "b": inputs})),
        ({"bayes": GaussianNB(), "rough": GaussianNB(var_smoothing=1.0)}, frame.to_numpy()),
    ):
        contest = run_contest(systems, (X, np.array(targets)), "accuracy", repeats=2)
        assert contest.rows.used == 24
    sparse = sp.csr_matrix(frame.to_numpy())
    systems = {"zero": BernoulliNB(), "half": BernoulliNB(binarize=0.5)}
    contest = run_contest(systems, (sparse, targets), "accuracy", repeats=1)
    dense = run_contest(systems, (sparse.toarray(), targets), "accuracy", repeats=1)
    assert values(contest, "averaged") == pytest.approx(values(dense, "averaged"))


def test_what_is_exported_is_what_compare_takes(tmp_path: Path) -> None:
    coins = {"coin": train_coin, "other": train_other_coin}
    contest = run_contest(coins, corpus(), "accuracy", repeats=2, export=tmp_path / "scores.parquet")
    compared = compare_systems(tmp_path / "scores.parquet")
    means = {system.name: system.mean for system in compared.systems}
    for system, mean in means.items():
        scores = [row.score for row in contest.scores if row.system == system]
        assert mean == pytest.approx(np.mean(scores), abs=1e-12)
    assert compared.rows.used == 2 * 6 * 96  # each item is tested three times in each of two partitions


def test_splits_of_one_corpus_are_not_exported_as_new_runs(tmp_path: Path) -> None:
    coins = {"coin": train_coin, "other": train_other_coin}
    run_contest(coins, corpus(), "accuracy", repeats=2, export=tmp_path / "scores.parquet")
    table = pd.read_parquet(tmp_path / "scores.parquet")
    assert set(table["resplit"]) == set(range(1, 7))
    assert compare_systems(tmp_path / "scores.parquet").claim == "these-runs"


def test_groups_are_exported_as_clusters_which_compare_takes(tmp_path: Path) -> None:
    inputs, targets = corpus()
    groups = [f"text {i // 8}" for i in range(96)]
    systems = {"cut": train_cut, "poor": train_poor}
    run_contest(systems, (inputs, targets, groups), "accuracy", repeats=2, export=tmp_path / "scores.csv")
    table = pd.read_csv(tmp_path / "scores.csv")
    assert dict(zip(table["item"], table["cluster"], strict=True)) == dict(enumerate(groups, start=1))
    compared = compare_systems(tmp_path / "scores.csv")
    assert "clusters-by-name" in {caution.code for caution in compared.cautions}
    mean = table.groupby(["system", "cluster"])["score"].mean()
    lead = (mean["cut"] - mean["poor"]).to_numpy()  # clusters of equal size: a t-test of their means
    expected = stats.ttest_1samp(lead, 0).pvalue
    assert compared.contrasts[0].p == pytest.approx(expected, rel=1e-6)


def test_copies_of_a_partition_are_trained_and_counted_once() -> None:
    CALLS.clear()
    inputs, targets = corpus()
    groups = [i // 24 for i in range(96)]  # four documents: a quarter is one of them
    contest = run_contest(TWO, (inputs, targets, groups), "accuracy", HoldOut(test=0.25), repeats=30)
    assert CALLS == {"cut": 4, "poor": 4}
    assert contest.conclusions[0].partitions == 4
    assert "26 of 30 partitions are copies of others and left out" in " ".join(contest.warnings)
    assert "copied-partitions" in {each.code for each in contest.cautions}


def test_a_sequential_contest_says_that_neither_lead_survives() -> None:
    coins = {"coin": train_coin, "other": train_other_coin}
    found = run_contest(coins, corpus(), "accuracy", HoldOut(test=0.5), repeats=200, sequential=0.8)
    assert (found.state, found.decisions[0].outcome) == ("no", "neither")
    low, _, high = found.headline.partition("95% CI ")[2].partition(")")[0].split()
    assert float(low) < float(high) < 0.8  # also as it is printed


def sign_contest(systems: dict[str, Any], data: Any, metric: Any = "accuracy") -> dict[str, str]:
    """Return the parts of a signature."""
    found = run_contest(systems, data, metric, HoldOut(), repeats=1)
    return dict(part.split(":", 1) for part in found.signature.split("|")[1:])


def test_the_signature_tells_systems_metrics_corpora_and_groups_apart() -> None:
    X, y = load_iris(return_X_y=True)
    plain = sign_contest({"a": GaussianNB(), "b": NearestCentroid()}, (X, y))
    assert plain["systems"] == "a=GaussianNB(), b=NearestCentroid()"
    smoothed = sign_contest({"a": GaussianNB(var_smoothing=0.1), "b": NearestCentroid()}, (X, y))
    assert smoothed["systems"] == "a=GaussianNB(var_smoothing=0.1), b=NearestCentroid()"
    assert {name for name in plain if plain[name] != smoothed[name]} == {"systems"}
    macro = sign_contest({"a": GaussianNB(), "b": NearestCentroid()}, (X, y), {"name": "f1", "average": "macro"})
    assert macro["metric"] == "f1,average=macro"
    grouped = sign_contest({"a": GaussianNB(), "b": NearestCentroid()}, (X, y, np.arange(150) // 2))
    assert (grouped["groups"], "groups" in plain) == ("given", False)
    assert grouped["corpus"] != plain["corpus"]
    cut, coin = (sign_contest({"a": one, "b": train_poor}, corpus())["systems"] for one in (train_cut, train_coin))
    assert cut.split(",")[0].startswith("a=train_cut#")
    assert cut.split(",")[1] == coin.split(",")[1]
    assert cut.split(",")[0] != coin.split(",")[0]


def test_data_may_be_a_file_and_a_system_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, targets = corpus(32)
    lines = [f'{{"input": {x}, "target": "{y}"}}' for x, y in zip(inputs, targets, strict=True)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "cut.py").write_text(
        "import json, sys\n"
        "with open(sys.argv[2], 'w') as out:\n"
        "    for line in open(sys.argv[1]):\n"
        "        out.write(json.dumps('high' if json.loads(line)['input'] > 0 else 'low') + '\\n')\n"
    )
    monkeypatch.chdir(tmp_path)
    program = ["{python}", "cut.py", "{test}", "{out}"]
    contest = run_contest({"program": program, "poor": train_poor}, "corpus.jsonl", "accuracy", HoldOut(), repeats=1)
    held = run_contest(
        {"program": lambda i, t, *, seed: lambda unseen: ["high" if x > 0 else "low" for x in unseen], "poor": train_poor},
        (inputs, targets), "accuracy", HoldOut(), repeats=1,
    )  # fmt: skip
    assert [row.score for row in contest.scores] == [row.score for row in held.scores]


def test_nothing_stays_in_memory() -> None:
    run_contest(TWO, corpus(), "accuracy", HoldOut(), repeats=1)
    assert sources._held == {}


def test_a_contest_that_is_refused_holds_nothing() -> None:
    inputs, targets = corpus()[:2]
    with pytest.raises(SplitError, match="has no target"):
        run_contest(TWO, (inputs, [None, *list(targets)[1:]]), "accuracy", HoldOut(), repeats=1)
    assert sources._held == {}


def test_what_another_process_holds_is_not_found() -> None:
    with pytest.raises(TaskError, match="is in the memory of the process that planned this task"):
        sources.find_held("the corpus (no. 0)")


def test_a_learning_curve_of_groups_has_all_its_samples_at_each_size() -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.random.default_rng(0).integers(0, 40, 150)
    systems = {"bayes": GaussianNB(), "centroid": NearestCentroid()}
    found = run_contest(systems, (X, y, groups), "accuracy", repeats=1, learning_curve=True)
    assert [point.repeats for point in found.curve] == [10] * 8
    assert found.curve_checks[0].full == pytest.approx(150 * 8 / 9, abs=8)
    assert np.isfinite(found.curve_checks[0].full_se)
    assert found.rows.used == 6 * 2 + 80


def test_a_random_state_that_is_overwritten_is_told() -> None:
    X, y = load_iris(return_X_y=True)
    systems = {"tree": DecisionTreeClassifier(random_state=7), "bayes": GaussianNB()}
    said = " ".join(run_contest(systems, (X, y), "accuracy", HoldOut(), repeats=1).warnings)
    assert "The random_state of 'tree' was not used" in said
    systems["tree"] = DecisionTreeClassifier()
    said = " ".join(run_contest(systems, (X, y), "accuracy", HoldOut(), repeats=1).warnings)
    assert "random_state" not in said


def test_groups_of_the_corpus_limit_the_degrees_of_freedom() -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 10
    systems = {"bayes": GaussianNB(), "centroid": NearestCentroid()}
    found = run_contest(systems, (X, y, groups), "accuracy", repeats=5)
    assert found.tests[0].df == pytest.approx(1 / (1 / 15 + 0.8 / 9))


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_indicator_rows_are_scored_as_by_scikit_learn(average: str) -> None:
    X, y = make_multilabel_classification(60, 6, n_classes=3, random_state=0)
    systems = {"near": KNeighborsClassifier(), "nearest": KNeighborsClassifier(1)}
    splits = HoldOut(test=0.5, seed=0)
    found = run_contest(systems, (X, y), {"name": "f1", "average": average}, splits, repeats=1)
    train, test = next(iter(splits.split(X)))
    for score in found.scores:
        predicted = clone(systems[score.system]).fit(X[train], y[train]).predict(X[test])
        assert score.score == pytest.approx(f1_score(y[test], predicted, average=average))
