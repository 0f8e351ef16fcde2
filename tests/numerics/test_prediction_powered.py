"""Human labels beside a judge: closed forms, a jackknife by hand, and ppi_py's estimate."""

from dataclasses import replace

import numpy as np
import pytest

from holdsup.numerics.prediction_powered import Labelled


def some(items: int = 60, labels: int = 20, seed: int = 1) -> Labelled:
    rng = np.random.default_rng(seed)
    judge = rng.normal(3, 2, items)
    label = np.full(items, np.nan)
    label[:labels] = 0.4 * judge[:labels] + rng.normal(0, 0.5, labels)
    return Labelled(label, judge, np.ones(items), np.arange(items))


def test_a_judge_that_is_always_right_gives_the_mean_of_all_items() -> None:
    one = some()
    found = replace(one, label=np.where(one.has, 2 + 3 * one.judge, np.nan)).correct()
    assert found.estimate == pytest.approx(2 + 3 * one.judge.mean())
    assert found.tuning == pytest.approx(3)


def test_a_judge_that_says_the_same_of_all_items_changes_nothing() -> None:
    one = replace(some(), judge=np.ones(60))
    labels = one.label[one.has]
    found = one.correct()
    assert (found.estimate, found.tuning) == (pytest.approx(labels.mean()), 0)
    assert one.correct(tuned=False).se == pytest.approx(labels.std(ddof=1) / len(labels) ** 0.5)


def test_the_unit_and_the_bias_of_the_judge_do_not_matter() -> None:
    one = some()
    plain, other = one.correct(), replace(one, judge=100 - 7 * one.judge).correct()
    assert (other.estimate, other.se) == (pytest.approx(plain.estimate), pytest.approx(plain.se))


def test_the_estimate_is_that_of_power_tuned_inference_with_other_items() -> None:
    # With f of the other items alone PPI++ has the weight cov / (1 + n / N) / var (Angelopoulos, Duchi & Zrnic 2023).
    one = some()
    h, f, others = one.label[one.has], one.judge[one.has], one.judge[~one.has]
    weight = np.cov(h, f)[0, 1] / np.var(f, ddof=1) / (1 + len(h) / len(others))
    assert one.correct().estimate == pytest.approx(h.mean() + weight * (others.mean() - f.mean()))


@pytest.mark.parametrize("clustered", [False, True])
def test_the_standard_error_is_the_jackknife_by_hand(clustered: bool) -> None:
    one = replace(some(), weight=np.linspace(1, 3, 60))
    one = replace(one, cluster=np.arange(60) // 4) if clustered else one
    without = []
    for code in np.unique(one.cluster):
        kept = one.cluster != code
        label, judge, weight = one.label[kept], one.judge[kept], one.weight[kept]
        has = ~np.isnan(label)
        h, f, w = label[has], judge[has], weight[has]
        slope = np.polyfit(f, h, 1, w=w)[0]  # numpy squares its weights
        without.append(np.average(h, weights=w) + slope * (judge.mean() - np.average(f, weights=w)))
    count = len(without)
    by_hand = ((count - 1) * np.var(without)) ** 0.5
    assert one.correct().se == pytest.approx(by_hand, rel=1e-9)


def test_the_corrected_difference_covers_the_truth_however_biased_the_judge_is() -> None:
    rng, inside = np.random.default_rng(2), 0
    for _ in range(400):
        human = rng.normal(0.1, 1, 300)
        judge = 2 + 0.8 * human + rng.normal(0, 0.6, 300)
        found = Labelled(np.where(np.arange(300) < 50, human, np.nan), judge, np.ones(300), np.arange(300)).correct()
        inside += abs(found.estimate - 0.1) <= 2.0106 * found.se  # t on 48 degrees of freedom
    assert 0.92 <= inside / 400 <= 0.98


def test_scores_far_from_zero_lose_no_digits() -> None:
    one = some()
    plain, far = one.correct(), replace(one, judge=one.judge + 1e6, label=one.label + 1e6).correct()
    assert far.se == pytest.approx(plain.se, rel=1e-6)
    assert far.estimate - 1e6 == pytest.approx(plain.estimate, abs=1e-6)
