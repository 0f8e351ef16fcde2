"""The difference that a test finds four times in five: against the noncentral t, and by trying it out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.power import (
    _binomial,
    find_detectable,
    find_equivalence_power,
    find_power,
    pool_systems,
    share_level,
)
from holdsup.numerics.spread import Spread, cautious_df, find_clusters, measure_arm, measure_spread, total_variance

ITEMS, TRIALS = 60, 1500


@pytest.mark.parametrize("df", [2.0, 9.0, 400.0])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 6])
def test_over_items_alone_it_is_that_of_the_noncentral_t(df: float, alpha: float) -> None:
    spread = Spread(np.zeros(()), np.asarray(4.0), df, (), (), ())
    critical = stats.t.isf(alpha / 2, df)
    assert stats.nct.sf(critical, df, find_detectable(spread, alpha) / 2) == pytest.approx(0.8, abs=0.005)


def measured(runs: tuple[int, int], spreads: tuple[float, float], difference: float) -> Spread:
    """The parts as measured in many trials, two systems whose runs spread by these standard deviations."""
    rng = np.random.default_rng(5)
    clusters = find_clusters(None, ITEMS)
    arms = []
    for k, sd in zip(runs, spreads, strict=True):
        scores = rng.normal(0, 0.05, (TRIALS, ITEMS, 1)) + rng.normal(0, sd, (TRIALS, 1, k))
        arms.append(measure_arm(scores + rng.normal(0, 0.1, (TRIALS, ITEMS, k)), None, clusters))
    return measure_spread(arms, difference + arms[0].items - arms[1].items, clusters)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 6])
@pytest.mark.parametrize(
    ("runs", "spreads"),
    [((3, 3), (0.03, 0.03)), ((5, 5), (0.03, 0.0)), ((3, 8), (0.0, 0.02)), ((12, 12), (0.01, 0.02))],
)
def test_the_test_of_compare_finds_it_four_times_in_five(
    runs: tuple[int, int], spreads: tuple[float, float], alpha: float
) -> None:
    """With few runs, too, where 2.8 standard errors, or the quantiles of t at the planned df, promise too much."""
    noise = [0.1**2 / (k * ITEMS) for k in runs]
    truth = Spread(
        estimate=np.zeros(()), these=np.asarray(2 * 0.05**2 / ITEMS + sum(noise)), item_df=ITEMS - 1.0,
        runs=tuple(np.asarray(sd**2 / k + e) for sd, k, e in zip(spreads, runs, noise, strict=True)),
        noise=tuple(map(np.asarray, noise)), run_df=tuple(k - 1 for k in runs),
    )  # fmt: skip
    found = measured(runs, spreads, find_detectable(truth, alpha))
    t = abs(found.estimate) / np.sqrt(total_variance([found]))
    told = (t > stats.t.isf(alpha / 2, cautious_df([found], alpha))) & (
        abs(found.estimate) > stats.t.isf(alpha / 2, ITEMS - 1) * np.sqrt(found.these)
    )
    assert 0.76 < told.mean() < 0.84  # 80%, and four standard errors of so many trials


def test_what_does_not_vary_is_found_and_what_is_not_measured_is_not() -> None:
    nothing = Spread(np.zeros(()), np.zeros(()), 9.0, (np.zeros(()),) * 2, (np.zeros(()),) * 2, (2, 2))
    assert find_detectable(nothing, 0.05) == 0
    unknown = Spread(np.zeros(()), np.ones(()), 0.5, (), (), ())
    assert find_detectable(unknown, 0.05) == math.inf


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
def test_any_small_table_has_an_answer_in_any_unit(alpha: float, unit: float) -> None:
    """Run means that tie by luck, or on purpose, leave draws on next to no degrees of freedom."""
    clusters = find_clusters(None, 10)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores = rng.normal(0, 0.1, (2, 10, 2))
        if seed % 3 == 1:
            scores = np.round(2 * scores) / 2
        if seed % 3 == 2:
            scores -= scores.mean(1, keepdims=True)
        arms = [measure_arm(each, None, clusters) for each in unit * scores]
        found = find_detectable(measure_spread(arms, arms[0].items - arms[1].items, clusters), alpha)
        assert found >= 0
        arms = [measure_arm(each, None, clusters) for each in scores]
        plain = find_detectable(measure_spread(arms, arms[0].items - arms[1].items, clusters), alpha)
        assert found == pytest.approx(unit * plain, rel=1e-6, abs=0)


def plain(k: int = 4, items: int = 300) -> Spread:
    noise = 0.1**2 / (k * items)
    return Spread(
        estimate=np.zeros(()), these=np.asarray(2 * 0.05**2 / items + 2 * noise), item_df=items - 1.0,
        runs=(np.asarray(0.01**2 / k + noise),) * 2, noise=(np.asarray(noise),) * 2, run_df=(k - 1,) * 2,
    )  # fmt: skip


@pytest.mark.parametrize(("count", "probability"), [(2600, 0.2), (41_000, 0.01), (10_000_000, 0.5)])
def test_quantiles_of_wide_binomial_distributions_are_right_to_a_count(count: int, probability: float) -> None:
    share = (np.arange(2000) + 0.5) / 2000
    found = _binomial(share, np.full(2000, float(count)), probability)
    exact = stats.binom.ppf(share, count, probability)
    assert np.abs(found - exact).max() <= 1
    assert (found == exact).mean() > 0.99


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_what_is_detectable_with_some_power_has_that_power(power: float) -> None:
    assert find_power(plain(), find_detectable(plain(), 0.05, power), 0.05) == pytest.approx(power, abs=1e-6)


def test_where_nothing_differs_power_is_half_the_level_of_a_test_of_known_variance() -> None:
    known = Spread(np.zeros(()), np.asarray(4.0), 1e8, (), (), ())
    assert find_power(known, 0.0, 0.05) == pytest.approx(0.025, abs=1e-4)
    assert find_equivalence_power(known, 2 * stats.norm.isf(0.05), 0.05) == pytest.approx(0.0, abs=1e-4)


def test_moderated_parts_of_systems_that_are_alike_have_the_same_variance_and_more_degrees_of_freedom() -> None:
    pooled = pool_systems(plain(), 5)
    assert float(total_variance([pooled])) == pytest.approx(float(total_variance([plain()])), rel=1e-12)
    assert float(cautious_df([pooled], 0.01)) > float(cautious_df([plain()], 0.01))
    assert pool_systems(plain(), 2).runs == plain().runs


def test_the_level_of_a_pair_is_that_at_which_all_pairs_keep_theirs() -> None:
    """For three systems whose runs do not vary it is that of Tukey's studentized range."""
    items = Spread(np.zeros(()), np.asarray(1.0), 1e6, (), (), ())
    tukey = 2 * stats.norm.sf(stats.studentized_range.isf(0.05, 3, 1e6) / math.sqrt(2))
    assert share_level(items, 3, 0.05) == pytest.approx(tukey, rel=0.08)  # of 10,000 draws
    assert 0.05 / 10 < share_level(plain(), 5, 0.05) < 0.05 / 4
