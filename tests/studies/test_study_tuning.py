"""Studies of stability: pools that are trained once, and what is read from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from holdsup.errors import TuningError
from holdsup.numerics.tuning import retune
from holdsup.splits import HoldOut, JKFold
from holdsup.studies.tuning import (
    EarlyStopping,
    EstimateStudy,
    StoppingStudy,
    TuningStudy,
    judge_pools,
    study_estimates,
    study_stopping,
    study_tuning,
)
from holdsup.studies.tuning.estimates import limit_share

X, Y = load_iris(return_X_y=True)
DEPTHS = {"max_depth": [1, 2, 5]}
FITS: list[int] = []


class Counted(DecisionTreeClassifier):
    def fit(self, X: Any, y: Any) -> Counted:
        FITS.append(len(y))
        super().fit(X, y)
        return self


def pool_directly(j: int, k: int) -> np.ndarray:
    columns = [
        cross_val_score(DecisionTreeClassifier(max_depth=d, random_state=0), X, Y, cv=JKFold(j=j, k=k, stratify=True))
        for d in DEPTHS["max_depth"]
    ]
    return np.array(columns).T.reshape(j, k, len(columns)).mean(axis=1)


def test_a_thousand_retunings_cost_no_more_fits_than_the_pool() -> None:
    FITS.clear()
    study = study_tuning(Counted(random_state=0), DEPTHS, X, Y, j=[1, 2], k=[3, 5], partitions=6, retunings=1000)
    assert len(FITS) == study.fits == 6 * (3 + 5) * 3
    assert [(p.j, p.k, p.retunings, p.fits) for p in study.procedures] == [
        (1, 3, 1000, 9), (2, 3, 1000, 18), (1, 5, 1000, 15), (2, 5, 1000, 30),
    ]  # fmt: skip


def test_the_study_reads_the_scores_that_cross_validation_gives() -> None:
    pool = pool_directly(8, 3)
    study = study_tuning(DecisionTreeClassifier(random_state=0), DEPTHS, X, Y, j=[8], k=[3], partitions=8, retunings=5)
    again = retune(pool, 8, repeats=5, seed=0)
    (procedure,) = study.procedures
    assert procedure.sd_estimate == pytest.approx(again.sd_estimate, rel=1e-10)
    assert procedure.estimate == pytest.approx(again.estimates.mean(), rel=1e-13)
    means = pool.mean(axis=0)
    assert procedure.regret == pytest.approx((means.max() - means[again.picks]).mean(), abs=1e-13)
    assert "is measured from only 8 partitions" in study.warnings[0]
    assert (study.cautions[0].code, study.cautions[0].about) == ("small-pool", "table:procedures")
    assert (study.state, len(str(study).splitlines()) <= 24) == (None, True)
    assert "from a pool of 8, with replacement" in study.page().text()


def test_disjoint_groups_give_the_spread_by_hand() -> None:
    pool = np.array([[0.1, 0.2], [0.4, 0.2], [0.1, 0.3], [0.3, 0.1]])
    study = judge_pools({5: pool}, [{"C": 1.0}, {"C": 10.0}], j=[1, 2], metric="accuracy", retunings=None)
    one, two = study.procedures
    assert (one.retunings, two.retunings) == (4, 2)
    assert one.share == 0.5
    assert one.sd_estimate == pytest.approx(np.std([0.2, 0.4, 0.3, 0.3], ddof=1))
    assert two.sd_estimate == pytest.approx(np.std([0.25, 0.2], ddof=1))
    assert one.regret == pytest.approx((0.225 - 0.2) / 2)
    assert one.worst_regret == pytest.approx(0.025)
    assert [spread.sd for spread in study.parameters] == [pytest.approx(np.std([10, 1, 10, 1], ddof=1)), 0]
    assert {choice.candidate: choice.share for choice in study.choices if choice.j == 1} == {"C=1": 0.5, "C=10": 0.5}


def test_estimates_of_splits_and_folds_are_those_of_cross_validation() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    study = study_estimates(tree, X, Y, k=[2, 5], partitions=4)
    assert [(e.scheme, e.k, e.fits) for e in study.estimates] == [
        ("split", 2, 1), ("split", 5, 1), ("folds", 2, 2), ("folds", 5, 5),
    ]  # fmt: skip
    scores = cross_val_score(tree, X, Y, cv=JKFold(j=4, k=5, stratify=True)).reshape(4, 5)
    np.testing.assert_allclose(study.estimates[1].values, scores[:, 0], rtol=1e-13)
    np.testing.assert_allclose(study.estimates[3].values, scores.mean(axis=1), rtol=1e-13)
    assert study.estimates[3].sd == pytest.approx(scores.mean(axis=1).std(ddof=1))
    assert study.fits == 4 * 7


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("numbers from 1 to the 3 partitions", {"partitions": 3, "j": [4]}),
        ("k is 2", {"k": [2]}),
        ("no parameter 'deep'", {"candidates": {"deep": [1]}}),
        ("6 of 12 fits failed", {"candidates": {"max_depth": [1, -1]}, "partitions": 2, "j": [1], "k": [3]}),
        ("give one metric", {"scoring": ["accuracy", "f1_macro"], "partitions": 2, "j": [1], "k": [3]}),
    ],
)
def test_studies_that_cannot_be_made_are_refused(match: str, options: dict[str, Any]) -> None:
    with pytest.raises(TuningError, match=match):
        study_tuning(**{"estimator": DecisionTreeClassifier(), "candidates": DEPTHS, "X": X, "y": Y, **options})


def test_results_survive_their_json() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    tuned = study_tuning(DecisionTreeClassifier(random_state=0), DEPTHS, X, Y, j=[1], k=[3], partitions=5)
    assert TuningStudy.from_dict(tuned.to_dict()) == tuned
    estimated = study_estimates(tree, X, Y, k=[3], partitions=3)
    assert EstimateStudy.from_dict(estimated.to_dict()) == estimated
    assert len(tuned.to_frame("choices")) == len(tuned.choices)


def test_early_stopping_validates_on_a_part_of_what_it_is_given_and_keeps_the_best_epoch() -> None:
    data = StandardScaler().fit_transform(X)
    stopped = EarlyStopping(SGDClassifier(random_state=0), validation=0.3, patience=3, seed=4).fit(data, Y)
    split = next(iter(HoldOut(test=0.3, seed=4, stratify=True).split(data, Y)))
    best = int(stopped.validation_scores_.argmax())
    assert stopped.epochs_ == best + 1 + 3  # it waited for three epochs more
    by_hand = SGDClassifier(random_state=0)
    for _ in range(best + 1):
        by_hand.partial_fit(data[split.train], Y[split.train], classes=np.unique(Y))
    np.testing.assert_array_equal(stopped.estimator_.coef_, by_hand.coef_)
    assert stopped.validation_scores_[best] == by_hand.score(data[split.test], Y[split.test])
    np.testing.assert_array_equal(stopped.predict(data), by_hand.predict(data))


def test_an_estimator_without_epochs_cannot_be_stopped_early() -> None:
    with pytest.raises(TuningError, match="LinearRegression has no partial_fit"):
        EarlyStopping(LinearRegression()).fit(X, Y)


def test_the_effect_of_the_cut_is_its_component_of_variance() -> None:
    data, targets = load_breast_cancer(return_X_y=True)
    stopped = make_pipeline(StandardScaler(), EarlyStopping(SGDClassifier(random_state=0), epochs=10))
    study = study_stopping(stopped, data, targets, cut="earlystopping__seed", partitions=4, cuts=3, k=3)
    means = np.array(
        [
            cross_val_score(
                stopped.set_params(earlystopping__seed=s), data, targets, cv=JKFold(j=4, k=3, stratify=True)
            )
            .reshape(4, 3)
            .mean(axis=1)
            for s in range(3)
        ]
    ).T
    within = means.var(axis=1, ddof=1).mean()
    between = max(0, means.mean(axis=1).var(ddof=1) - within / 3)
    assert study.sd_cut == pytest.approx(np.sqrt(within))
    assert study.sd_partition == pytest.approx(np.sqrt(between))
    assert study.share == pytest.approx(within / (within + between))
    assert np.isnan(study.sd_whole)
    assert StoppingStudy.from_dict(study.to_dict()).share == study.share


@pytest.mark.parametrize(("j", "close"), [(8, 0.1), (20, 0.2)])
def test_a_study_of_a_pool_finds_what_tuning_on_new_partitions_does(j: int, close: float) -> None:
    rng = np.random.default_rng(1)
    truth, values = np.array([0.0, -0.1, -0.2, -0.4]), np.array([1, 2, 5, 9])
    new = (truth + rng.standard_normal((20_000, j, 4))).mean(axis=1)  # tuned on partitions of their own
    picks = new.argmax(axis=1)
    candidates = [{"C": int(value)} for value in values]
    studies = [
        judge_pools({5: truth + rng.standard_normal((40, 4))}, candidates, j=[j], metric="accuracy", retunings=300)
        for _ in range(300)
    ]
    spread = np.mean([study.procedures[0].sd_estimate for study in studies])
    assert spread == pytest.approx(new.max(axis=1).std(), rel=0.04)  # drawn without replacement: .9 and .7 of it
    regret = np.mean([study.procedures[0].regret for study in studies])
    assert regret == pytest.approx(-truth[picks].mean(), rel=close)
    assert np.mean([study.parameters[0].sd for study in studies]) == pytest.approx(values[picks].std(), rel=close)


def test_limits_of_the_share_of_the_cut_cover_it() -> None:
    rng = np.random.default_rng(2)
    rows, cuts, share, inside = 5, 4, 0.4, 0
    for _ in range(2000):
        scores = np.sqrt(1 - share) * rng.standard_normal((rows, 1)) + np.sqrt(share) * rng.standard_normal(
            (rows, cuts)
        )
        low, high = limit_share(scores)
        inside += low <= share <= high
    assert inside / 2000 == pytest.approx(0.95, abs=0.02)  # four standard errors


def test_the_sentence_of_a_stopping_study_has_limits() -> None:
    stopped = EarlyStopping(SGDClassifier(random_state=0), patience=2, epochs=5)
    found = study_stopping(stopped, X, Y, partitions=3, cuts=2, k=3)
    assert f"(95% CI {100 * found.share_low:.0f}% to {100 * found.share_high:.0f}%)" in found.headline
    assert (found.state, len(found.headline.split()) <= 25, len(str(found).splitlines()) <= 24) == (None, True, True)
    assert found.share_low <= found.share <= found.share_high
    with pytest.raises(TuningError, match="Did you mean 'earlystopping__seed'"):
        study_stopping(make_pipeline(StandardScaler(), stopped), X, Y, partitions=2, cuts=2, k=3)
