"""scikit-learn's own checks of estimators."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from holdsup.studies.tuning import JKSearchCV

SEARCHES = [
    JKSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, j=2, k=3, error_score="raise"),
    JKSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, j=2, k=3, error_score="raise"),
    JKSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, j=4, k=3, adaptive=True, error_score="raise"),
    JKSearchCV(
        Pipeline([("pca", PCA()), ("ridge", Ridge())]), {"ridge__alpha": [0.1, 1.0]}, j=2, k=3, error_score="raise"
    ),
    JKSearchCV(
        Pipeline([("pca", PCA()), ("lr", LogisticRegression())]), {"lr__C": [0.1, 1.0]}, j=2, k=3, error_score="raise"
    ),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning", "ignore::FutureWarning")
@parametrize_with_checks(SEARCHES)
def test_scikit_learn_finds_no_fault(estimator: Any, check: Any) -> None:
    check(estimator)
