"""Splitters where scikit-learn routes metadata: they ask for groups, as its own group splitters do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, RepeatedHoldOut, Splitter

rng = np.random.default_rng(0)
Y = np.arange(120) % 2
X = rng.normal(size=(120, 3)) + Y[:, None]
GROUPS = np.arange(120) // 4


@pytest.fixture(autouse=True)
def _routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("cv", [HoldOut(), RepeatedHoldOut(), KFold(), JKFold(), BlockedCV()], ids=repr)
def test_groups_that_are_routed_are_those_that_are_passed(cv: Splitter) -> None:
    routed = cross_val_score(GaussianNB(), X, Y, cv=cv, params={"groups": GROUPS})
    by_hand = [GaussianNB().fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in cv.split(X, Y, GROUPS)]
    assert routed.tolist() == by_hand
    assert routed.tolist() != cross_val_score(GaussianNB(), X, Y, cv=cv).tolist()


def test_a_search_routes_groups_too() -> None:
    grid = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=KFold()).fit(X, Y, groups=GROUPS)
    train, test = KFold().split_at(0, X, Y, GROUPS)
    alone = GaussianNB().fit(X[train], Y[train]).score(X[test], Y[test])
    assert grid.cv_results_["split0_test_score"][0] == alone


def test_groups_may_have_another_name_or_be_declined() -> None:
    renamed = KFold().set_split_request(groups="document")
    assert renamed == KFold()
    scores = cross_val_score(GaussianNB(), X, Y, cv=renamed, params={"document": GROUPS})
    assert scores.tolist() == cross_val_score(GaussianNB(), X, Y, cv=KFold(), params={"groups": GROUPS}).tolist()
    with pytest.raises(TypeError, match="not routed"):
        cross_val_score(GaussianNB(), X, Y, cv=KFold().set_split_request(groups=False), params={"groups": GROUPS})
