"""`JKSearchCV` against scikit-learn's own searches on the same splits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from holdsup.splits import JKFold
from holdsup.studies.tuning import JKSearchCV

X, Y = load_iris(return_X_y=True)
GRID = {"C": [0.01, 1, 100], "gamma": [0.01, 1]}


def make_search(**options: Any) -> JKSearchCV:
    return JKSearchCV(SVC(), GRID, **{"j": 3, "k": 4, **options})


@pytest.fixture(scope="module")
def search() -> JKSearchCV:
    return make_search().fit(X, Y)


@pytest.fixture(scope="module")
def grid_search() -> GridSearchCV:
    return GridSearchCV(SVC(), GRID, cv=JKFold(j=3, k=4, stratify=True)).fit(X, Y)


def test_scores_of_all_splits_are_those_of_grid_search_cv(search: JKSearchCV, grid_search: GridSearchCV) -> None:
    names = [name for name in grid_search.cv_results_ if "test_score" in name]
    assert len(names) == 12 + 3
    for name in names:
        np.testing.assert_allclose(search.cv_results_[name], grid_search.cv_results_[name], rtol=1e-13, err_msg=name)
    assert set(grid_search.cv_results_) <= set(search.cv_results_)


def test_the_choice_is_that_of_grid_search_cv(search: JKSearchCV, grid_search: GridSearchCV) -> None:
    assert search.best_params_ == grid_search.best_params_
    assert search.best_index_ == grid_search.best_index_
    assert search.best_score_ == pytest.approx(grid_search.best_score_, rel=1e-13)
    np.testing.assert_array_equal(search.predict(X), grid_search.predict(X))
    assert search.score(X, Y) == grid_search.score(X, Y)


def test_the_verdict_is_about_the_same_choice(search: JKSearchCV) -> None:
    assert search.tuning_.best_index == search.best_index_
    assert search.tuning_.fits == 3 * 4 * 6
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert search.tuning_.pick.mean == pytest.approx(search.best_score_, rel=1e-13)


def test_standard_errors_are_between_partitions(search: JKSearchCV) -> None:
    splits = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(12)])
    partitions = splits.reshape(3, 4, 6).mean(axis=1)
    np.testing.assert_allclose(search.cv_results_["se_test_score"], partitions.std(axis=0, ddof=1) / np.sqrt(3))


def test_more_partitions_leave_the_earlier_ones_as_they_are(search: JKSearchCV) -> None:
    longer = make_search(j=5).fit(X, Y)
    for i in range(12):
        name = f"split{i}_test_score"
        np.testing.assert_array_equal(longer.cv_results_[name], search.cv_results_[name])


@pytest.mark.slow
def test_scores_do_not_depend_on_the_number_of_processes(search: JKSearchCV) -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    alone, together = (
        JKSearchCV(pipeline, {"logisticregression__C": [0.1, 1, 10]}, j=2, k=3, n_jobs=n).fit(X, Y) for n in (None, 2)
    )
    for i in range(6):
        name = f"split{i}_test_score"
        np.testing.assert_array_equal(alone.cv_results_[name], together.cv_results_[name])
    assert alone.tuning_ == together.tuning_


def test_of_candidates_that_tie_the_first_wins() -> None:
    search = JKSearchCV(DecisionTreeClassifier(random_state=0), {"max_features": [None, 4, 1.0]}, j=2, k=3).fit(X, Y)
    assert search.best_index_ == 0
    assert search.cv_results_["rank_test_score"].tolist() == [1, 1, 1]
    assert "same" in search.tuning_.verdict


def test_a_grid_of_one_is_scored_and_said_to_be_no_choice() -> None:
    search = JKSearchCV(SVC(), {"C": [1]}, j=2, k=3).fit(X, Y)
    expected = cross_val_score(SVC(C=1), X, Y, cv=JKFold(j=2, k=3, stratify=True)).mean()
    assert search.best_score_ == pytest.approx(expected, rel=1e-13)
    assert "only candidate" in search.tuning_.verdict


def test_random_candidates_are_those_of_the_seed() -> None:
    drawn = {"C": loguniform(1e-2, 1e2), "kernel": ["rbf", "linear"]}
    first, again, other = (
        JKSearchCV(SVC(), drawn, n_candidates=4, j=2, k=3, seed=seed).fit(X, Y) for seed in (0, 0, 1)
    )
    assert first.cv_results_["params"] == again.cv_results_["params"]
    assert first.cv_results_["params"] != other.cv_results_["params"]
    assert len(first.cv_results_["params"]) == 4


def test_a_list_of_grids_masks_what_a_candidate_does_not_set() -> None:
    grids = [{"kernel": ["linear"], "C": [1, 10]}, {"kernel": ["rbf"], "gamma": [0.1]}]
    search = JKSearchCV(SVC(), grids, j=2, k=3).fit(X, Y)
    assert np.ma.getmaskarray(search.cv_results_["param_gamma"]).tolist() == [True, True, False]
    assert search.cv_results_["param_C"][:2].tolist() == [1, 10]


def test_regressors_are_not_stratified() -> None:
    data, targets = load_diabetes(return_X_y=True)
    ours = JKSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, j=2, k=3).fit(data, targets)
    theirs = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=JKFold(j=2, k=3)).fit(data, targets)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)


TEXTS = [f"a{i % 3} b{i % 5} c" for i in range(60)]
KERNEL = X @ X.T
INPUTS: dict[str, tuple[Any, Any, Any, Any]] = {
    "a list of texts": (
        make_pipeline(TfidfVectorizer(), SVC()),
        {"svc__C": [0.1, 1]},
        TEXTS,
        [int("a0" in t) for t in TEXTS],
    ),
    "named classes": (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1]}, X, np.array(["a", "b", "c"])[Y]),
    "kernels": (make_pipeline(KernelCenterer(), SVC(kernel="precomputed")), {"svc__C": [0.1, 1]}, KERNEL, Y),
    "sparse": (SVC(), {"C": [0.1, 1]}, csr_array(X), Y),
    "no targets": (KMeans(random_state=0, n_init=2), {"n_clusters": [2, 3]}, X, None),
}


@pytest.mark.parametrize("case", INPUTS)
def test_what_grid_search_cv_takes_is_taken(case: str) -> None:
    estimator, grid, data, targets = INPUTS[case]
    ours = JKSearchCV(estimator, grid, j=2, k=3).fit(data, targets)
    theirs = GridSearchCV(estimator, grid, cv=JKFold(j=2, k=3, stratify=targets is not None)).fit(data, targets)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)


def test_a_frame_keeps_its_names() -> None:
    frame, targets = load_iris(as_frame=True, return_X_y=True)
    columns = ["sepal length (cm)", "petal width (cm)"]
    pipeline = make_pipeline(make_column_transformer((StandardScaler(), columns)), SVC()).set_output(transform="pandas")
    ours = JKSearchCV(pipeline, {"svc__C": [0.1, 1]}, j=2, k=3).fit(frame, targets)
    theirs = GridSearchCV(pipeline, {"svc__C": [0.1, 1]}, cv=JKFold(j=2, k=3, stratify=True)).fit(frame, targets)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-13)
    assert ours.feature_names_in_.tolist() == list(frame.columns)


def test_groups_never_straddle() -> None:
    groups = np.arange(len(Y)) % 12

    class Witness(BaseEstimator, ClassifierMixin):
        def __init__(self, a: int = 0) -> None:
            self.a = a

        def fit(self, X: Any, y: Any) -> Witness:
            self.classes_, self.seen_ = np.unique(y), set(X[:, 0])
            return self

        def predict(self, X: Any) -> Any:
            assert not self.seen_ & set(X[:, 0])
            return np.zeros(len(X), int)

    column = groups[:, None].astype(float)
    search = JKSearchCV(Witness(), {"a": [1, 2]}, j=2, k=3, error_score="raise").fit(column, Y, groups=groups)
    assert search.n_splits_ == 6


def test_several_metrics_are_ranked_by_the_one_that_refit_names() -> None:
    cancer = load_breast_cancer(return_X_y=True)
    options: dict[str, Any] = {"scoring": ["accuracy", "recall"], "refit": "recall"}
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}
    ours = JKSearchCV(tree, grid, j=2, k=3, **options).fit(*cancer)
    theirs = GridSearchCV(tree, grid, cv=JKFold(j=2, k=3, stratify=True), **options).fit(*cancer)
    for name in ("mean_test_accuracy", "mean_test_recall", "rank_test_recall"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-13)
    assert ours.best_params_ == theirs.best_params_
    assert ours.score(*cancer) == theirs.score(*cancer)
    assert ours.tuning_.metric == "recall"


@pytest.mark.parametrize("refit", [False, lambda table: int(np.argmax(table["mean_test_recall"]))])
def test_several_metrics_without_a_name_are_judged_by_the_first(refit: Any) -> None:
    cancer = load_breast_cancer(return_X_y=True)
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}
    options: dict[str, Any] = {"scoring": ["accuracy", "recall"], "refit": refit}
    ours = JKSearchCV(tree, grid, j=2, k=3, **options).fit(*cancer)
    assert ours.tuning_.metric == "accuracy"
    assert ours.tuning_.best_index == int(np.argmax(ours.cv_results_["mean_test_accuracy"]))
    if refit:
        theirs = GridSearchCV(tree, grid, cv=JKFold(j=2, k=3, stratify=True), **options).fit(*cancer)
        assert ours.best_params_ == theirs.best_params_


def test_a_function_may_refit_the_candidate_it_likes() -> None:
    search = make_search(refit=lambda table: len(table["params"]) - 1).fit(X, Y)
    assert search.best_params_ == {"C": 100, "gamma": 1}


def test_the_verdict_says_how_a_candidate_stands_that_a_function_chose() -> None:
    search = make_search(refit=lambda table: 0).fit(X, Y)
    assert search.best_index_ == 0 != search.tuning_.best_index
    row = search.tuning_.candidates[0]
    assert (search.tuning_.taken, search.tuning_.state) == (0, "no")
    assert search.tuning_.headline.startswith(f"{row.name} was taken; the mean score of {search.tuning_.best} is 0.")
    with pytest.raises(IndexError, match="refit chose candidate 99"):
        make_search(refit=lambda table: 99).fit(X, Y)


def sign_search(estimator: Any, y: Any = Y, groups: Any = None, **options: Any) -> dict[str, str]:
    """Return the parts of a signature."""
    search = JKSearchCV(estimator, {"C": [1, 2]}, j=2, k=3, refit=False, **options).fit(X, y, groups=groups)
    return dict(part.split(":", 1) for part in search.tuning_.signature.split("|")[1:])


def test_the_signature_names_corpus_groups_splits_estimator_and_scorer() -> None:
    plain = sign_search(SVC())
    assert plain["system"] == "SVC()"
    assert plain == sign_search(SVC())
    assert sign_search(SVC(gamma=0.5))["system"] == "SVC(gamma=0.5)"
    assert sign_search(SVC(), y=Y[::-1])["corpus"] != plain["corpus"]
    assert sign_search(SVC(), stratify=False)["splitter"] != plain["splitter"]
    assert "beta=2" in sign_search(SVC(), scoring=make_scorer(fbeta_score, beta=2, average="macro"))["scoring"]
    grouped = sign_search(SVC(), groups=np.arange(150) // 2)
    assert (grouped["groups"], "groups" in plain) == ("given", False)
    assert grouped["corpus"] != plain["corpus"]


def test_without_refit_there_is_a_choice_but_no_estimator() -> None:
    search = make_search(refit=False).fit(X, Y)
    assert search.best_params_
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")


@pytest.mark.parametrize("scoring", [make_scorer(f1_score, average="macro"), lambda est, X, y: float(est.score(X, y))])
def test_any_scorer_will_do(scoring: Any) -> None:
    ours = make_search(scoring=scoring).fit(X, Y)
    theirs = GridSearchCV(SVC(), GRID, cv=JKFold(j=3, k=4, stratify=True), scoring=scoring).fit(X, Y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-13)


def test_weights_reach_the_estimator_and_the_scorer() -> None:
    weights = np.where(Y == 1, 5.0, 0.5)
    weighted = make_search().fit(X, Y, sample_weight=weights)
    theirs = GridSearchCV(SVC(), GRID, cv=JKFold(j=3, k=4, stratify=True)).fit(X, Y, sample_weight=weights)
    plain = make_search().fit(X, Y)
    ours = weighted.cv_results_["mean_test_score"]
    np.testing.assert_allclose(ours, theirs.cv_results_["mean_test_score"], rtol=1e-13)
    assert not np.allclose(ours, plain.cv_results_["mean_test_score"])


def test_weights_of_a_step_reach_it_through_a_shared_pipeline() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC())
    weights = {"svc__sample_weight": np.where(Y == 1, 5.0, 0.5)}
    grid = {"svc__C": [0.1, 1]}
    ours = JKSearchCV(pipeline, grid, j=2, k=3).fit(X, Y, **weights)
    theirs = GridSearchCV(pipeline, grid, cv=JKFold(j=2, k=3, stratify=True)).fit(X, Y, **weights)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-13)


def test_metadata_are_routed_where_they_are_asked_for() -> None:
    weights, groups = np.where(Y == 1, 5.0, 0.5), np.arange(len(Y)) % 30
    with sklearn.config_context(enable_metadata_routing=True):
        svc = SVC().set_fit_request(sample_weight=True)
        scorer = make_scorer(f1_score, average="macro").set_score_request(sample_weight=False)
        pipeline = Pipeline([("scale", StandardScaler().set_fit_request(sample_weight=False)), ("svc", svc)])
        search = JKSearchCV(pipeline, {"svc__C": [0.1, 1]}, j=2, k=3, scoring=scorer)
        search.set_fit_request(groups=True)
        search.fit(X, Y, sample_weight=weights, groups=groups)
    split = next(iter(JKFold(j=2, k=3, stratify=True).split(X, Y, groups)))
    with sklearn.config_context(enable_metadata_routing=True):
        fitted = (
            clone(pipeline)
            .set_params(svc__C=0.1)
            .fit(X[split.train], Y[split.train], sample_weight=weights[split.train])
        )
    expected = f1_score(Y[split.test], fitted.predict(X[split.test]), average="macro")
    assert search.cv_results_["split0_test_score"][0] == expected


class Fragile(DecisionTreeClassifier):
    """Fails when a certain item is in its training set, if its depth is 2."""

    def fit(self, X: Any, y: Any) -> Fragile:
        if self.max_depth == 2 and (X[:, 0] == X[:, 0].max()).any() and X[:, 0].max() > 7.8:
            raise RuntimeError("the tree\nfell")
        super().fit(X, y)
        return self


def test_a_candidate_that_fails_on_some_folds_is_recorded_and_ranked_last() -> None:
    search = JKSearchCV(Fragile(random_state=0), {"max_depth": [2, 1, 3]}, j=2, k=3)
    with pytest.warns(FitFailedWarning, match="max_depth.*the tree fell"):
        search.fit(X, Y)
    failures = search.tuning_.failures
    assert 0 < len(failures) < 6
    assert {failure.candidate for failure in failures} == {0}
    assert failures[0].error == "RuntimeError: the tree fell"
    assert search.cv_results_["rank_test_score"][0] == 3
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert search.best_params_ != {"max_depth": 2}
    assert search.tuning_.candidates[0].status == "failed"


def test_a_score_that_is_no_number_is_a_failure_too() -> None:
    scoring = lambda est, X, y: float("nan") if est.C == 1 else est.score(X, y)  # noqa: E731
    with pytest.warns(FitFailedWarning):
        search = make_search(scoring=scoring).fit(X, Y)
    assert search.best_params_["C"] != 1
    assert {search.cv_results_["params"][f.candidate]["C"] for f in search.tuning_.failures} == {1}


def test_adaptive_j_drops_what_cannot_win_and_keeps_to_its_budget() -> None:
    grid = {"C": [1e-4, 1e-3, 1e-2, 1, 10, 100]}
    fixed = JKSearchCV(SVC(), grid, j=8, k=3).fit(X, Y)
    adaptive = JKSearchCV(SVC(), grid, j=8, k=3, adaptive=True, budget=100).fit(X, Y)
    ran = adaptive.cv_results_["partitions"]
    assert adaptive.tuning_.adaptive
    assert adaptive.tuning_.fits == 3 * ran.sum() <= 100 < 3 * 8 * 6
    assert ran.min() < ran.max()
    for i in range(adaptive.n_splits_):  # the same partitions as with fixed J, as far as it went
        name, split = f"split{i}_test_score", adaptive.cv_results_[f"split{i}_test_score"]
        there = np.isfinite(split)
        assert there.any()
        np.testing.assert_array_equal(split[there], fixed.cv_results_[name][there])
    assert ran[adaptive.best_index_] == ran.max()


def test_a_rare_class_does_not_stop_the_search() -> None:
    targets = np.where(np.arange(len(Y)) < 2, 2, Y % 2)
    search = JKSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, j=2, k=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, targets)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
