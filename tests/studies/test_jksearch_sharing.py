"""Steps that candidates set alike are fitted once per fold, and nothing changes by it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from holdsup.studies.tuning import JKSearchCV

X, Y = load_breast_cancer(return_X_y=True)
TEXTS = np.array([f"{'good' if i % 3 else 'bad'} film number {i % 7} of {i % 5} in {i}" for i in range(90)])
TOPICS = np.array([int(i % 3 > 0) for i in range(90)])
FITS: Counter[str] = Counter()


class Counted(TransformerMixin, BaseEstimator):
    """Adds `shift`, and counts how often it is fitted."""

    def __init__(self, name: str = "a", shift: float = 0.0) -> None:
        self.name = name
        self.shift = shift

    def fit(self, X: Any, y: Any = None) -> Counted:
        FITS[self.name] += 1
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X: Any) -> Any:
        return X - self.mean_ + self.shift


def both(pipeline: Pipeline, grid: Any, data: Any, **options: Any) -> tuple[JKSearchCV, JKSearchCV]:
    settings = {"j": 2, "k": 3, "error_score": "raise", **options}
    shared, apart = (JKSearchCV(pipeline, grid, share_steps=share, **settings).fit(*data) for share in (True, False))
    return shared, apart


CASES: dict[str, tuple[list[tuple[str, Any]], Any, Any]] = {
    "the last step varies": (
        [("scale", StandardScaler()), ("pca", PCA(5, random_state=0)), ("svc", SVC())],
        {"svc__C": [0.1, 1, 10]}, (X, Y),
    ),
    "two steps vary": (
        [("scale", StandardScaler()), ("best", SelectKBest()), ("svc", SVC())],
        {"best__k": [3, 8], "svc__C": [0.1, 1]}, (X, Y),
    ),
    "a step is replaced or left out": (
        [("scale", StandardScaler()), ("pca", PCA(5, random_state=0)), ("svc", SVC())],
        {"scale": [MinMaxScaler(), StandardScaler(), "passthrough"], "svc__C": [0.1, 1]}, (X, Y),
    ),
    "texts": (
        [("count", CountVectorizer()), ("tfidf", TfidfTransformer()), ("nb", ComplementNB())],
        {"tfidf__use_idf": [True, False], "nb__alpha": [0.1, 1.0]}, (TEXTS, TOPICS),
    ),
    "steps that work in place": (
        [("scale", StandardScaler()), ("again", MinMaxScaler(copy=False)), ("line", LinearRegression(copy_X=False))],
        {"line__fit_intercept": [True, False], "again__feature_range": [(0, 1), (0, 2)]}, (X, Y.astype(float)),
    ),
    "only the first step varies": (
        [("scale", StandardScaler()), ("svc", SVC())], {"scale__with_mean": [True, False]}, (X, Y),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_shared_work_changes_no_bit_of_a_score(case: str) -> None:
    steps, grid, data = CASES[case]
    shared, apart = both(Pipeline(steps), grid, data)
    for i in range(6):
        name = f"split{i}_test_score"
        np.testing.assert_array_equal(shared.cv_results_[name], apart.cv_results_[name])
    assert shared.best_params_ == apart.best_params_


def count_fits(grid: Any, **options: Any) -> Counter[str]:
    FITS.clear()
    steps = [("a", Counted("a")), ("b", Counted("b")), ("c", Counted("c")), ("lr", LogisticRegression(max_iter=5000))]
    JKSearchCV(Pipeline(steps), grid, j=2, k=3, refit=False, **options).fit(StandardScaler().fit_transform(X), Y)
    return FITS


def test_steps_before_the_first_difference_are_fitted_once_per_fold() -> None:
    assert count_fits({"lr__C": [0.1, 1, 10]}) == {"a": 6, "b": 6, "c": 6}
    assert count_fits({"lr__C": [0.1, 1, 10]}, share_steps=False) == {"a": 18, "b": 18, "c": 18}


def test_each_setting_of_a_step_is_fitted_once_per_fold() -> None:
    assert count_fits({"b__shift": [0.0, 1.0], "lr__C": [0.1, 1, 10]}) == {"a": 6, "b": 12, "c": 12}


def test_a_function_that_scores_sees_the_items_and_the_whole_pipeline() -> None:
    seen = []

    def scoring(fitted: Any, items: Any, targets: Any) -> float:
        seen.append((type(items[0]), [name for name, _ in fitted.steps]))
        return float(fitted.score(items, targets))

    steps, grid, data = CASES["texts"]
    shared, apart = both(Pipeline(steps), grid, data, scoring=scoring)
    assert seen == [(np.str_, ["count", "tfidf", "nb"])] * len(seen)
    assert len(seen) == 2 * 6 * 4
    np.testing.assert_array_equal(shared.cv_results_["mean_test_score"], apart.cv_results_["mean_test_score"])


def test_a_shared_step_that_fails_fails_all_that_share_it() -> None:
    pipeline = Pipeline([("best", SelectKBest()), ("svc", SVC())])
    search = JKSearchCV(pipeline, {"best__k": [3, -1], "svc__C": [0.1, 1]}, j=2, k=3)
    with pytest.warns(Warning, match="failed"):
        search.fit(X, Y)
    assert [row.status == "failed" for row in search.tuning_.candidates] == [False, False, True, True]
    assert len(search.tuning_.failures) == 12
