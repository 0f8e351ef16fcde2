"""Limits of the items' share where items are not normal: 0/1 scores, heavy tails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

import holdsup
from holdsup.numerics import item_share
from holdsup.numerics.item_share import binary_share_interval, find_reaches

Z = 1.959963984540054


def test_limits_of_a_correlation_are_those_of_scipys_beta_binomial() -> None:
    rng = np.random.default_rng(1)
    trials = rng.integers(2, 6, 60)
    successes = rng.binomial(trials, rng.beta(3, 1, 60))
    low, high = binary_share_interval(successes, trials, level=0.9)

    def profile(rho: float) -> float:
        def minus_twice(mu: float) -> float:
            total = 1 / rho - 1
            return -2 * float(stats.betabinom.logpmf(successes, trials, mu * total, (1 - mu) * total).sum())

        return float(optimize.minimize_scalar(minus_twice, bounds=(1e-6, 1 - 1e-6), method="bounded").fun)

    best = optimize.minimize_scalar(profile, bounds=(1e-4, 0.99), method="bounded").fun
    quantile = stats.chi2.ppf(0.9, 1)
    assert profile(high) - best == pytest.approx(quantile, abs=1e-3)
    assert low == 0 or profile(low) - best == pytest.approx(quantile, abs=1e-3)


def test_a_correlation_without_an_item_that_fails_twice_may_still_be_large() -> None:
    low, high = binary_share_interval(np.array([2] * 95 + [1] * 5), np.full(100, 2), level=0.95)
    assert low == 0
    assert 0.4 < high < 0.6


@pytest.mark.parametrize("rare", ["failure", "success"])
def test_where_no_item_fails_twice_one_that_does_is_reckoned_with(rare: str) -> None:
    """100 x 5 scores of accuracy .98: misses were tables with 7 to 11 items that failed once, their limits .15 to .09."""

    def limits(fails: list[int]) -> tuple[float, float]:
        counts = np.array(fails + [0] * (100 - len(fails)))
        return binary_share_interval(5 - counts if rare == "failure" else counts, np.full(100, 5), level=0.95)

    low, high = limits([1] * 8)
    assert low == 0
    assert high == pytest.approx(limits([1] * 8 + [2])[1], abs=0.01)  # one of 101 items here, of 100 there
    assert high > 0.155  # phi; it was 0.13


def test_reaches_are_those_of_the_normal_where_items_are() -> None:
    rng = np.random.default_rng(3)
    items = np.repeat(np.arange(20_000), 3)
    deviations = rng.normal(0, 1, 20_000)[items] + rng.normal(0, 0.7, len(items))
    assert find_reaches(deviations, items, 1 / 0.49, level=0.95) == pytest.approx((Z, Z), rel=0.03)


def test_reaches_grow_with_the_kurtosis_of_the_items_as_theory_says() -> None:
    rng = np.random.default_rng(4)
    items = np.repeat(np.arange(20_000), 2)
    effects = rng.exponential(1, 20_000) - 1  # an excess kurtosis of 6
    ratio = 1 / 0.49
    low, high = find_reaches(effects[items] + rng.normal(0, 0.7, len(items)), items, ratio, level=0.95)
    expected = Z * np.sqrt(1 + 6 * (ratio / (ratio + 0.5)) ** 2 / 4)
    assert (low + high) / 2 == pytest.approx(expected, rel=0.05)
    assert low < high


@pytest.mark.parametrize("runs", [2, 3])
def test_with_two_scores_an_item_the_upper_end_allows_for_more_items_that_were_not_drawn(
    monkeypatch: pytest.MonkeyPatch, runs: int
) -> None:
    """Of log-normal items in two runs 90 to 92 in 100 CIs held phi, which was above nearly all of the others."""
    rng = np.random.default_rng(6)
    items = np.repeat(np.arange(50), runs)
    deviations = rng.standard_t(3, 50)[items] + rng.normal(0, 0.7, len(items))
    found = {}
    for count in (item_share.UNSEEN, item_share.UNSEEN_IN_TWO):
        monkeypatch.setattr(item_share, "UNSEEN_IN_TWO", count)
        found[count] = (
            find_reaches(deviations, items, 2.0, level=0.95),
            find_reaches(deviations, items, 2.0, level=0.95, skewed=False),
        )
    ((low, high), of_two_values), (wider, still) = found.values()
    assert of_two_values == still  # of 0/1 scores, whose items end where the scale does
    assert low == wider[0]
    assert wider[1] > 1.05 * high if runs == 2 else wider[1] == high


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [("0/1", 92), ("t3", 84), ("log-normal", 86), ("normal", 92)])
def test_limits_of_phi_cover_it_whatever_the_items(kind: str, least: int) -> None:
    """The plain profile covers 61, 75, 61 and 95 in 100 of these; a table of 100 is below `least` once in a hundred times."""
    rng = np.random.default_rng(5)
    truth = 0.226 if kind == "0/1" else 1 / 1.49
    item, seed = (axis.ravel() for axis in np.indices((100, 2)))
    covered = 0
    for _ in range(100):
        if kind == "0/1":
            score = (rng.random(200) < 1 / (1 + np.exp(-4.4225 - rng.normal(0, 2, 100)[item]))).astype(float)
        else:
            effects = rng.standard_t(3, 100) / np.sqrt(3) if kind == "t3" else rng.normal(size=100)
            if kind == "log-normal":
                effects = (np.exp(effects) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1))
            score = effects[item] + rng.normal(0, 0.7, 200)
        table = {"system": ["A"] * 200, "item": item, "seed": seed, "score": score}
        found = holdsup.decompose_variance(table).reliability
        assert found is not None
        covered += found.low <= truth <= found.high
    assert covered >= least


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("within", [0.0, 1.0])
def test_items_that_do_not_vary_reach_as_far_as_normal_ones(within: float) -> None:
    # all equal within items, or all items equal: each is then as it is expected to be
    deviations = np.array([1.0, 1.0, -1.0, -1.0]) if within == 0 else np.array([1.0, -1.0, 1.0, -1.0])
    assert find_reaches(deviations, np.array([0, 0, 1, 1]), 1.0, level=0.95) == pytest.approx((Z, Z))
