"""Differences between two systems: against explicit formulas, SciPy and dense least squares; laws; a known truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.decisions import Criterion, Difference, reach_of
from holdsup.numerics.differences import (
    compare_new_runs,
    compare_over_datasets,
    compare_run_scores,
    compare_shared_seeds,
    compare_these_runs,
    dataset_means,
)
from holdsup.numerics.least_squares import fit_additive
from holdsup.numerics.settings import compare_settings
from holdsup.numerics.spread import (
    Spread,
    at_common_mean,
    cautious_df,
    find_clusters,
    measure_arm,
    measure_run_spread,
    measure_spread,
    satterthwaite_df,
    total_variance,
)
from holdsup.numerics.these_datasets import compare_runs_on_datasets, compare_these_datasets

RTOL = 1e-10  # a few hundred additions apart
NUMBERS = ("estimate", "se", "df", "p", "log10_p", "low", "high")


def scores(
    seed: int, *, items: int = 30, runs: tuple[int, int] = (5, 4), sd_run: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Two systems on the same items, with effects of items, of items within systems, of runs, and chance."""
    rng = np.random.default_rng(seed)
    item = rng.normal(0, 1, (items, 1))
    left, right = (
        item + rng.normal(0, 0.3, (items, 1)) + rng.normal(0, sd_run, (1, k)) + rng.normal(0, 0.7, (items, k))
        for k in runs
    )
    return left + 0.2, right


def holes(table: np.ndarray, seed: int, share: float = 0.15) -> np.ndarray:
    table = table.copy()
    table[np.random.default_rng(seed).random(table.shape) < share] = np.nan
    assert not np.isnan(table).all(1).any()
    return table


def same(found: Difference, expected: Difference, *, rtol: float = RTOL) -> None:
    for name in NUMBERS:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=rtol, abs=1e-13), name


def two_way(left: np.ndarray, right: np.ndarray) -> tuple[float, float, float, float]:
    """V, the variance for these runs, and the parts by their definitions, spelled out."""
    count = len(left)
    parts, noise = [], []
    for table in (left, right):
        k = table.shape[1]
        residual = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
        parts.append(table.mean(0).var(ddof=1) / k)
        noise.append((residual**2).sum() / ((k - 1) * (count - 1)) / (k * count))
    these = (left.mean(1) - right.mean(1)).var(ddof=1) / count
    return sum(parts) + max(0, these - sum(noise)), these, parts[0], parts[1]


# Complete data


def test_these_runs_are_the_paired_t_test_on_item_means() -> None:
    left, right = scores(1)
    expected = stats.ttest_rel(left.mean(1), right.mean(1))
    found = compare_these_runs(left, right)
    assert (found.p, found.df) == pytest.approx((expected.pvalue, expected.df), rel=RTOL)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()), rel=RTOL)


def test_new_runs_have_the_variance_of_the_formula() -> None:
    left, right = scores(2)
    variance, *_ = two_way(left, right)
    found = compare_new_runs(left, right)
    assert found.claim == "new-runs"
    assert found.se == pytest.approx(np.sqrt(variance), rel=RTOL)
    assert found.estimate == pytest.approx(left.mean() - right.mean(), rel=RTOL)


def test_plain_degrees_of_freedom_are_satterthwaites() -> None:
    left, right = scores(3)
    variance, these, a, b = two_way(left, right)
    count, kinds = len(left), find_clusters(None, len(left))
    arms = [measure_arm(table, None, kinds) for table in (left, right)]
    spread = measure_spread(arms, arms[0].items - arms[1].items, kinds)
    noise = [float(arm.noise) for arm in arms]
    items = (these**2 + noise[0] ** 2 / 4 + noise[1] ** 2 / 3) / (count - 1)
    assert these > sum(noise)
    assert satterthwaite_df([spread]) == pytest.approx(variance**2 / (a**2 / 4 + b**2 / 3 + items), rel=RTOL)


def test_cautious_degrees_of_freedom_are_the_smallest_with_a_part_at_its_limit() -> None:
    left, right = np.random.default_rng(4).normal(0, 1, 4), np.random.default_rng(5).normal(0, 3, 3)
    a, b = left.var(ddof=1) / 4, right.var(ddof=1) / 3
    luck = 0.05**0.35
    raised = [(a * 3 / stats.chi2.ppf(luck, 3), b), (a, b * 2 / stats.chi2.ppf(luck, 2)), (a, b)]
    expected = min((x + y) ** 2 / (x**2 / 3 + y**2 / 2) for x, y in raised)
    found = compare_run_scores(left, right)
    half = stats.t.ppf(0.975, expected) * np.sqrt(a + b)
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half), rel=1e-8)


def test_with_two_runs_a_part_is_at_a_limit_of_its_own() -> None:
    left, right = np.array([0.1, 0.4]), np.random.default_rng(5).normal(0, 3, 4)
    a, b = left.var(ddof=1) / 2, right.var(ddof=1) / 4
    raised = [(a / stats.chi2.ppf(2 * 0.05**0.7, 1), b), (a, b * 3 / stats.chi2.ppf(0.05**0.35, 3)), (a, b)]
    expected = max(1.0, min((x + y) ** 2 / (x**2 + y**2 / 3) for x, y in raised))
    assert cautious_df([measure_run_spread(left, right)], 0.05) == pytest.approx(expected, rel=1e-8)


def test_p_is_the_level_at_which_the_interval_just_reaches_zero() -> None:
    left, right = scores(6, sd_run=0.05)
    found = compare_new_runs(left + 0.3, right)
    assert 1e-6 < found.p < 0.05
    again = compare_new_runs(left + 0.3, right, level=1 - found.p)
    assert again.low == pytest.approx(0, abs=1e-8 * found.se)
    assert found.p == pytest.approx(2 * stats.t.sf(found.estimate / found.se, found.df), rel=1e-9)
    assert found.p == pytest.approx(10**found.log10_p, rel=1e-9)


def test_p_and_limits_agree_in_every_small_design() -> None:
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        left, right = scores(
            seed, items=int(rng.integers(4, 30)), runs=(2 + seed % 4, 3), sd_run=rng.choice([0, 0.1, 1])
        )
        clusters = np.arange(len(left)) % 3 if seed % 2 else None
        found = compare_new_runs(left, right, clusters=clusters)
        again = compare_new_runs(left, right, clusters=clusters, level=1 - found.p)
        nearest = min(abs(again.low), abs(again.high))
        assert nearest == pytest.approx(0, abs=1e-6 * (again.high - again.low)), seed
        compared += 0.001 < found.p < 0.999
    assert compared > 30


def test_a_level_leaves_out_zero_where_p_is_below_it_when_items_vary_less_than_their_noise() -> None:
    """3 to 5 items, nothing but noise, and a lead: the degrees of freedom once grew again at small levels."""
    told, unmeasured = 0, 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        left, right = rng.normal(0, 1, (2, int(rng.integers(3, 6)), int(rng.integers(2, 6))))
        lead = 10 ** rng.uniform(0, 2)
        p = compare_new_runs(left + lead, right).p
        for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
            found = compare_new_runs(left + lead, right, level=level)
            assert (p < 1 - level) == (found.low > 0 or found.high < 0), (seed, level)
            told += p < 1 - level
            unmeasured += p < 1 - level and found.df_limits < 1
    assert told > 200
    assert unmeasured > 20


def test_degrees_of_freedom_never_grow_as_the_level_falls() -> None:
    """Parts of two systems x 5 runs x 4 items, of which the items vary less than their noise."""
    luck = Spread(np.ones(()), np.asarray(0.0082), 3, (np.asarray(0.0038), np.asarray(0.006)),
                  (np.asarray(0.0138), np.asarray(0.004)), (4, 4))  # fmt: skip
    df = [float(cautious_df([luck], alpha)) for alpha in np.geomspace(1, 1e-8, 200)]
    assert df[0] == pytest.approx(float(satterthwaite_df([luck])))
    assert (np.diff(df) <= 0).all()
    assert min(df) >= 1


def test_new_runs_never_promise_more_than_these_runs() -> None:
    for seed in range(40):
        left, right = scores(seed, items=12, sd_run=0.0)
        new, these = compare_new_runs(left, right), compare_these_runs(left, right)
        assert new.log10_p >= these.log10_p
        assert new.high - new.low >= these.high - these.low


def test_shared_seeds_are_one_system_of_differences() -> None:
    left, right = scores(7, runs=(5, 5))
    gap = left - right
    residual = gap - gap.mean(1, keepdims=True) - gap.mean(0) + gap.mean()
    noise = (residual**2).sum() / (4 * 29) / (5 * 30)
    variance = gap.mean(0).var(ddof=1) / 5 + max(0, gap.mean(1).var(ddof=1) / 30 - noise)
    found = compare_shared_seeds(left, right)
    assert found.claim == "new-runs"
    assert found.se == pytest.approx(np.sqrt(variance), rel=RTOL)


def test_seeds_that_help_both_systems_alike_cost_nothing_when_shared() -> None:
    left, right = scores(8, runs=(5, 5))
    luck = np.random.default_rng(8).normal(0, 5, 5)
    same(compare_shared_seeds(left + luck, right + luck), compare_shared_seeds(left, right), rtol=1e-7)
    assert compare_new_runs(left + luck, right + luck).se > 10 * compare_new_runs(left, right).se


def test_run_scores_have_welchs_standard_error_and_at_most_his_degrees_of_freedom() -> None:
    left, right = [0.61, 0.64, 0.60, 0.66, 0.62], [0.58, 0.55, 0.60]
    expected = stats.ttest_ind(left, right, equal_var=False)
    found = compare_run_scores(left, right)
    assert found.estimate / found.se == pytest.approx(expected.statistic, rel=RTOL)
    assert found.df < expected.df
    assert found.p > expected.pvalue


def test_a_well_measured_variance_leaves_welchs_p() -> None:
    rng = np.random.default_rng(9)
    left, right = rng.normal(0.03, 1, 4000), rng.normal(0, 1, 4000)
    assert compare_run_scores(left, right).p == pytest.approx(
        stats.ttest_ind(left, right, equal_var=False).pvalue, rel=1e-3
    )


def test_settings_weigh_the_same_and_runs_are_compared_within_them() -> None:
    left, right = scores(10, runs=(6, 4))
    settings = np.array([0, 0, 0, 0, 1, 1])
    shifted = left + np.where(settings == 1, 50.0, 0.0)
    found = compare_new_runs(shifted, right, left_settings=settings)
    first, second = shifted[:, :4], shifted[:, 4:]
    assert found.estimate == pytest.approx((first.mean() + second.mean()) / 2 - right.mean(), rel=RTOL)
    still = compare_new_runs(left, right, left_settings=settings)
    assert (found.se, found.high - found.low) == pytest.approx((still.se, still.high - still.low), rel=1e-6)
    pooled = (3 * first.mean(0).var(ddof=1) + second.mean(0).var(ddof=1)) / 4
    arm = measure_arm(shifted, settings, find_clusters(None, 30))
    assert arm.part == pytest.approx(pooled * (1 / 4 + 1 / 2) / 4, rel=1e-8)
    assert arm.df == 4


def test_one_setting_is_no_setting() -> None:
    left, right = scores(11)
    same(compare_new_runs(left, right, left_settings=np.zeros(5, int)), compare_new_runs(left, right))


# Missing cells


def dense_fit(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Item means, run means and residual mean square by least squares on the dense design."""
    count, k = table.shape
    item, run = np.nonzero(~np.isnan(table))
    X = np.zeros((len(item), count + k))
    X[np.arange(len(item)), item] = 1
    X[np.arange(len(item)), count + run] = 1
    y = table[item, run]
    beta = np.linalg.lstsq(X, y, rcond=None)[0]
    effects = beta[count:] - beta[count:].mean()
    items = beta[:count] + beta[count:].mean()
    residual = y - X @ beta
    return items, effects + items.mean(), float(residual @ residual) / (len(y) - count - k + 1)


def test_missing_cells_are_fitted_as_by_dense_least_squares() -> None:
    table = holes(scores(12)[0], 12)
    items, runs, square = dense_fit(table)
    found = fit_additive(table)
    np.testing.assert_allclose(found.items, items, rtol=1e-9)
    np.testing.assert_allclose(found.runs, runs, rtol=1e-9)
    assert found.mean_square == pytest.approx(square, rel=1e-9)


def test_with_missing_cells_the_expected_variance_is_that_of_the_estimate() -> None:
    """E(V), from the covariance of the estimates under the dense design, equals the variance of the difference."""
    left, right = (holes(table, 13) for table in scores(13, items=8, runs=(4, 3)))
    sd_run, sd_item, sd_residual = 0.7, 0.4, 1.3
    variance = expected = 0.0
    for table in (left, right):
        count, k = table.shape
        item, run = np.nonzero(~np.isnan(table))
        basis = np.zeros((len(item), *table.shape))
        basis[np.arange(len(item)), item, run] = 1
        filled = np.where(np.isnan(table), np.nan, 0.0)
        fits = [fit_additive(filled + unit) for unit in basis]  # the fit is linear: its value on every unit
        to_items, to_runs = np.array([f.items for f in fits]).T, np.array([f.runs for f in fits]).T
        same_item, same_run = item[:, None] == item, run[:, None] == run
        sigma = sd_run**2 * same_run + sd_item**2 * same_item + sd_residual**2 * np.eye(len(item))
        mean = to_items.mean(0)
        variance += mean @ sigma @ mean
        centre_runs, centre_items = np.eye(k) - 1 / k, np.eye(count) - 1 / count
        v = np.trace(centre_runs @ to_runs @ sigma @ to_runs.T) / (k - 1) / k
        # Items are the same drawn effects in d; runs and residual reach it as well.
        s2 = np.trace(centre_items @ to_items @ sigma @ to_items.T) / (count - 1) / count
        arm = fit_additive(table)
        expected += v + s2 + sd_residual**2 * float(arm.lacking) - sd_residual**2 * float(arm.run_noise) / k
    assert expected == pytest.approx(variance, rel=1e-9)


def test_one_missing_cell_moves_little_and_a_filled_one_nothing() -> None:
    left, right = scores(14)
    gap = left.copy()
    gap[3, 2] = np.nan
    whole, part = compare_new_runs(left, right), compare_new_runs(gap, right)
    assert part.estimate == pytest.approx(whole.estimate, abs=0.2 * whole.se)
    gap[3, 2] = left[3, 2]
    same(compare_new_runs(gap, right), whole)


def test_many_tables_at_once_are_each_as_alone() -> None:
    tables = np.stack([holes(scores(seed)[0], seed) for seed in (15, 16, 17)])
    together = fit_additive(tables)
    for at, table in enumerate(tables):
        alone = fit_additive(table)
        for name in ("items", "runs", "residual", "mean_square", "run_noise", "lacking"):
            np.testing.assert_allclose(getattr(together, name)[at], getattr(alone, name), rtol=1e-9, atol=1e-12)


# Clusters and datasets


def test_clusters_of_one_size_give_the_t_test_on_cluster_means() -> None:
    left, right = scores(18)
    codes = np.arange(30) % 6
    expected = stats.ttest_1samp([left[codes == c].mean() - right[codes == c].mean() for c in range(6)], 0)
    found = compare_these_runs(left, right, clusters=codes)
    assert (found.p, found.df) == pytest.approx((expected.pvalue, 5), rel=1e-9)


def test_clusters_of_unequal_size_keep_the_mean_over_items_and_have_the_jackknife_variance() -> None:
    left, right = scores(19)
    codes = np.repeat(np.arange(5), [1, 2, 5, 10, 12])
    gap = left.mean(1) - right.mean(1)
    without = np.array([gap[codes != c].mean() for c in range(5)])
    found = compare_these_runs(left, right, clusters=codes)
    assert found.estimate == pytest.approx(gap.mean(), rel=RTOL)
    assert found.se**2 == pytest.approx(4 / 5 * ((without - gap.mean()) ** 2).sum(), rel=1e-9)
    assert found.df < 4


def test_degrees_of_freedom_of_unequal_clusters_are_those_of_the_quadratic_form() -> None:
    sizes = np.array([1, 2, 5, 10, 12])
    share = sizes / sizes.sum()
    M = np.eye(5) - share
    A = M.T @ np.diag((share / (1 - share)) ** 2) @ M
    found = find_clusters(np.repeat(np.arange(5), sizes), 30).df
    assert found == pytest.approx(np.trace(A) ** 2 / np.trace(A @ A), rel=1e-9)


def test_clusters_of_one_item_are_items() -> None:
    left, right = scores(20)
    codes = np.random.default_rng(20).permutation(30)
    for compare in (compare_these_runs, compare_new_runs):
        same(compare(left, right, clusters=codes), compare(left, right))


def test_one_dataset_is_no_dataset() -> None:
    left, right = scores(21)
    same(compare_these_datasets(left, right, np.zeros(30, int)), compare_new_runs(left, right))


def compare_new_datasets(left: np.ndarray, right: np.ndarray, datasets: np.ndarray) -> Difference:
    return compare_over_datasets(dataset_means(left, datasets), dataset_means(right, datasets), nested=(True, True))


def test_datasets_weigh_the_same_whatever_their_number_of_items() -> None:
    left, right = scores(22)
    datasets = np.repeat([0, 1, 2], [3, 7, 20])
    gaps = [left[datasets == d].mean() - right[datasets == d].mean() for d in range(3)]
    these, new = compare_these_datasets(left, right, datasets), compare_new_datasets(left, right, datasets)
    assert these.estimate == pytest.approx(np.mean(gaps), rel=RTOL)
    expected = stats.ttest_1samp(gaps, 0)
    assert (new.estimate, new.p, new.df) == pytest.approx((np.mean(gaps), expected.pvalue, 2), rel=1e-9)
    assert new.claim == "new-datasets"


def test_variances_of_these_datasets_add_up() -> None:
    left, right = scores(23)
    datasets = np.repeat([0, 1], 15)
    parts = [two_way(left[datasets == d], right[datasets == d])[0] for d in range(2)]
    found = compare_these_datasets(left, right, datasets)
    assert found.claim == "new-runs"
    assert found.se == pytest.approx(np.sqrt(sum(parts)) / 2, rel=RTOL)


def test_a_column_that_a_dataset_does_not_use_is_no_run_of_it() -> None:
    left, right = scores(24)
    datasets = np.repeat([0, 1], 15)
    left[:15, 4] = np.nan
    wide = np.hstack([left, np.full((30, 1), np.nan)])
    same(compare_these_datasets(wide, right, datasets), compare_these_datasets(left, right, datasets))
    assert compare_new_datasets(left, right, datasets).estimate == pytest.approx(
        (left[:15, :4].mean() - right[:15].mean() + left[15:].mean() - right[15:].mean()) / 2, rel=RTOL
    )


def test_dataset_means_are_run_means_within_datasets() -> None:
    left, _ = scores(25)
    datasets = np.repeat([4, 9], 15)
    np.testing.assert_allclose(dataset_means(left, datasets), [left[:15].mean(0), left[15:].mean(0)], rtol=RTOL)


# Laws

DESIGNS: dict[str, Callable[..., Difference]] = {
    "these runs": compare_these_runs,
    "new runs": compare_new_runs,
    "shared": compare_shared_seeds,
    "clusters": lambda a, b: compare_new_runs(a, b, clusters=np.repeat(np.arange(6), [1, 2, 3, 4, 8, 12])),
    "these datasets": lambda a, b: compare_these_datasets(a, b, np.arange(30) // 10),
    "new datasets": lambda a, b: compare_new_datasets(a, b, np.arange(30) // 10),
    "run scores": lambda a, b: compare_run_scores(np.nanmean(a, 0), np.nanmean(b, 0)),
}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("design", DESIGNS)
def test_swapping_systems_shifting_scaling_and_permuting_change_nothing_else(design: str, missing: bool) -> None:
    left, right = scores(26, runs=(4, 4))
    if missing:
        left, right = holes(left, 26), holes(right, 27)
    compare = DESIGNS[design]
    found = compare(left, right)
    swapped = compare(right, left)
    assert (swapped.estimate, swapped.low, swapped.high) == pytest.approx((-found.estimate, -found.high, -found.low))
    assert swapped.p == pytest.approx(found.p, rel=1e-9)
    same(compare(left + 7, right + 7), found, rtol=1e-8)
    scaled = compare(100 * left, 100 * right)
    assert (scaled.p, scaled.df, scaled.se) == pytest.approx((found.p, found.df, 100 * found.se), rel=1e-9)
    runs = np.random.default_rng(28).permutation(4)
    same(compare(left[:, runs], right[:, runs]), found, rtol=1e-8)
    if design in ("these runs", "new runs", "shared", "run scores"):
        items = np.random.default_rng(29).permutation(30)
        same(compare(left[items], right[items]), found, rtol=1e-8)


def test_p_keeps_its_logarithm_where_it_underflows() -> None:
    left, right = scores(30, items=3000)
    found = compare_these_runs(left + 50, right)
    assert found.p == 0.0
    assert -10_000 < found.log10_p < -1000


def test_components_are_those_of_the_balanced_analysis_of_variance() -> None:
    left, right = scores(31)
    found = compare_new_runs(left, right)
    residuals = []
    for table, run_variance, residual in zip((left, right), found.run_variance, found.residual_variance, strict=True):
        k = table.shape[1]
        centred = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
        square = (centred**2).sum() / ((k - 1) * 29)
        residuals.append(square / k)
        assert residual == pytest.approx(square, rel=RTOL)
        assert run_variance == pytest.approx(max(0, table.mean(0).var(ddof=1) - square / 30), rel=RTOL)
    between = (left.mean(1) - right.mean(1)).var(ddof=1)
    assert found.item_variance == pytest.approx(max(0, between - sum(residuals)), rel=1e-9)
    assert compare_these_runs(left[:, :1], right).run_variance[0] is None


# Where there is no answer


def test_equal_systems_are_equal() -> None:
    left, _ = scores(32)
    for found in (compare_these_runs(left, left), compare_shared_seeds(left, left)):
        assert (found.estimate, found.se, found.p, found.low, found.high) == (0, 0, 1, 0, 0)


def test_rounding_is_not_taken_for_spread() -> None:
    left = np.full((10, 3), 0.1) + np.linspace(0, 1, 10)[:, None]
    with pytest.raises(ValueError, match=r"all differences equal 0\.3: a test needs their spread"):
        compare_new_runs(left + 0.3, left)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, b: compare_new_runs(a[:, :1], b), "one run only"),
        (lambda a, b: compare_new_runs(a[:1], b[:1]), "fewer than two items"),
        (lambda a, b: compare_new_runs(a, b[:5]), r"shapes are \(30, 5\) and \(5, 4\)"),
        (lambda a, b: compare_new_runs(a + np.inf, b), "infinite"),
        (lambda a, b: compare_shared_seeds(a, b), "one system has 5 and the other 4"),
        (lambda a, b: compare_new_runs(a, b, clusters=np.zeros(30, int)), "all items are in one cluster"),
        (lambda a, b: compare_new_runs(a, b, clusters=np.zeros(3, int)), "each of 30 items"),
        (lambda a, b: compare_new_runs(a, b, left_settings=np.arange(5)), "one run only"),
        (lambda a, b: compare_new_runs(a, b, left_settings=np.arange(3)), "each of 5 runs"),
        (lambda a, b: compare_new_datasets(a, b, np.zeros(30, int)), "fewer than two items"),
        (lambda a, b: compare_these_datasets(a, b, np.zeros(3, int)), "each of 30 items"),
        (lambda a, b: compare_run_scores(a[0, :1], b[0]), "two finite run scores"),
        (lambda a, b: compare_new_runs(np.vstack([a[:-1], np.full((1, 5), np.nan)]), b), "1 items have no score"),
        (lambda a, b: compare_new_runs(np.full((30, 5), np.nan), b), "30 items have no score"),
        (lambda a, b: compare_new_runs(np.where(np.eye(30, 5) > 0, a, np.nan)[:5], b[:5]), "tell items from runs"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(call: Callable[..., Difference], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        call(*scores(33))
    assert "\n" not in str(refused.value)


def test_runs_that_share_no_items_are_refused() -> None:
    left, right = scores(34, runs=(4, 4))
    left[:15, :2] = left[15:, 2:] = np.nan
    with pytest.raises(ValueError, match="tell items from runs"):
        compare_new_runs(left, right)


# A known truth


def test_true_nulls_are_rejected_at_most_as_often_as_promised_where_plain_welch_fails() -> None:
    """18 v 2 runs, run sd 0 v .02, 1,000 items: 4,000 nulls at 5% have a 99.9% band of 3.9 to 6.1%."""
    rng = np.random.default_rng(1)
    count, items = 4000, 1000
    runs = [rng.chisquare(k - 1, count) / (k - 1) * (sd**2 + 0.068**2 / items) / k for k, sd in ((18, 0), (2, 0.02))]
    noise = [np.full(count, 0.068**2 / items / k) for k in (18, 2)]
    these = np.full(count, 2 * 0.03**2 / items + sum(n[0] for n in noise))
    truth = sum((sd**2 + 0.068**2 / items) / k for k, sd in ((18, 0), (2, 0.02))) + 2 * 0.03**2 / items
    estimate = rng.normal(0, np.sqrt(truth), count)
    spread = Spread(estimate, these, items - 1, tuple(runs), tuple(noise), (17, 1))
    t = np.abs(estimate) / np.sqrt(total_variance([spread]))
    plain, ours = (
        (t > stats.t.ppf(0.975, df)).mean() for df in (satterthwaite_df([spread]), cautious_df([spread], 0.05))
    )
    assert plain > 0.08
    assert ours < 0.061


@pytest.mark.parametrize(("share", "most", "least"), [((0.97, 0.0), 0.0605, 0.04), ((0.2, 0.2), 0.05, 0.01)])
def test_two_runs_each_keep_the_level_and_are_not_mute(share: tuple[float, float], most: float, least: float) -> None:
    """40,000 nulls: 5.6% where one system has nearly all of the variance (99.9% band 5.2 to 6.0%), 1.5% where items do."""
    rng = np.random.default_rng(3)
    count = 40_000
    parts = tuple(each * rng.chisquare(1, count) for each in share)
    spread = Spread(rng.normal(0, 1, count), np.full(count, 1 - sum(share)), 1e9, parts, (0.0, 0.0), (1, 1))
    t = np.abs(spread.estimate) / np.sqrt(total_variance([spread]))
    rejected = (t > stats.t.ppf(0.975, cautious_df([spread], 0.05))).mean()
    assert least < rejected < most


def test_a_test_on_items_finds_what_new_runs_do_not_show() -> None:
    """4 runs, 100 items, run sd .011: 2,000 nulls at 5% stay below 6.9% in all but one of ten thousand repetitions."""
    rng = np.random.default_rng(2)
    item, kinds = rng.normal(0, 0.096, (2000, 100, 1)), find_clusters(None, 100)
    tables = [
        item
        + rng.normal(0, 0.03, (2000, 100, 1))
        + rng.normal(0, 0.011, (2000, 1, 4))
        + rng.normal(0, 0.068, (2000, 100, 4))
        for _ in range(2)
    ]
    arms = [measure_arm(table, None, kinds) for table in tables]
    spread = measure_spread(arms, arms[0].items - arms[1].items, kinds)
    size = np.abs(spread.estimate)
    naive = size > stats.t.ppf(0.975, 99) * np.sqrt(spread.these)
    ours = naive & (size > stats.t.ppf(0.975, cautious_df([spread], 0.05)) * np.sqrt(total_variance([spread])))
    assert naive.mean() > 0.15
    assert ours.mean() < 0.069
    one = compare_new_runs(tables[0][0], tables[1][0])  # what was counted is what the library says
    assert (one.p < 0.05) == bool(ours[0])


def test_records_are_frozen_and_plain() -> None:
    found = compare_new_runs(*scores(35))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p = 0.0  # type: ignore[misc]
    assert all(isinstance(getattr(found, name), float) for name in NUMBERS)


def test_one_degree_of_freedom_but_for_rounding_has_limits() -> None:
    """Two datasets have one; the same scores in another unit may have one less the last digit."""
    for df in (1.0, 1 - 2**-52):
        assert reach_of(Criterion("these-runs", 1.0, lambda _, df=df: df), 0.95) == pytest.approx(12.7062, rel=1e-5)
    assert reach_of(Criterion("these-runs", 1.0, lambda _: 0.99), 0.95) == np.inf


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_runs_near_an_end_vary_as_they_would_half_way_between_the_means(unit: float) -> None:
    variance = 0.02**2 * unit**2
    spread = Spread(0.04 * unit, variance, 50.0, (variance, variance), (variance / 4, variance / 4), (4, 4))
    high, low = 0.98 * unit, 0.94 * unit
    found = at_common_mean(spread, [(high, low), (low, high)], (0.0, unit))
    ratio = 0.96 * 0.04 / (0.98 * 0.02)  # of m (1 - m), once for the binomial residual, twice for runs
    assert found.runs[0] == pytest.approx((ratio / 4 + ratio**2 * 3 / 4) * variance)
    assert found.runs[1] == variance  # further from the end they vary more: nothing is taken away
    amounts = at_common_mean(spread, [(high, low), (low, high)], (0.0, np.inf))
    assert amounts.runs[0] == variance
    assert amounts.runs[1] == pytest.approx((0.96 / 0.94 / 4 + (0.96 / 0.94) ** 2 * 3 / 4) * variance)
    far = at_common_mean(spread, [(high, 0.1 * unit), (0.1 * unit, high)], (0.0, unit))
    reach = 3 * float(np.sqrt(spread.variance())) / unit  # no further than three standard errors
    assert far.runs[0] < (((0.98 - reach) * (0.02 + reach)) / (0.98 * 0.02)) ** 2 * variance


def test_runs_that_are_all_right_do_not_vary_and_equal_means_change_nothing() -> None:
    spread = Spread(0.0, 1e-4, 50.0, (0.0, 1e-4), (0.0, 5e-5), (2, 2))
    assert at_common_mean(spread, [(1.0, 1.0), (1.0, 1.0)], (0.0, 1.0)).runs == (0.0, 1e-4)
    assert at_common_mean(spread, [(1.0, 0.9), (0.9, 1.0)], (0.0, 1.0)).runs == (0.0, 1e-4)


@pytest.mark.parametrize("up", [0.0, 0.02])
def test_every_design_has_run_variances_under_the_null_near_an_end(up: float) -> None:
    """What one dataset, settings of one level and new runs say is the same, and a raised score moves no end."""
    rng = np.random.default_rng(40)
    left, right = (rng.binomial(4, share, (60, 4)) / 4 for share in ((0.99, 0.95, 0.97, 0.98), (0.9, 0.92, 0.85, 0.88)))
    near, plain = (compare_new_runs(left, right, room=room, up=up) for room in ((0.0, 1.0), None))
    assert near.estimate == pytest.approx(left.mean() - right.mean() + up)
    assert near.se > 1.05 * plain.se
    same(compare_these_datasets(left, right, np.zeros(60, int), room=(0.0, 1.0), up=up), near)
    assert compare_settings(left, right, room=(0.0, 1.0), up=up).p == pytest.approx(near.p, rel=1e-12)
    halves = np.arange(60) % 2
    for compare in (compare_these_datasets, compare_runs_on_datasets):
        wide, narrow = (compare(left, right, halves, room=room, up=up) for room in ((0.0, 1.0), None))
        assert wide.estimate == narrow.estimate == pytest.approx(near.estimate)
        assert wide.se > 1.05 * narrow.se


def test_shared_seeds_near_an_end_vary_as_much_more_as_both_systems_together() -> None:
    rng = np.random.default_rng(41)
    left, right = (rng.binomial(4, share, (60, 4)) / 4 for share in ((0.99, 0.95, 0.97, 0.98), (0.9, 0.92, 0.85, 0.88)))
    none = find_clusters(None, 60)
    arms, arm = [measure_arm(each, None, none) for each in (left, right)], measure_arm(left - right, None, none)
    parts = [float(each.part) for each in arms]
    means = left.mean(), right.mean()
    both = Spread(0.0, float(measure_spread(arms, left.mean(1) - right.mean(1), none).these), 59, tuple(parts),
                  tuple(float(each.noise) for each in arms), (3, 3))  # fmt: skip
    grown = at_common_mean(both, [means, means[::-1]], (0.0, 1.0)).runs
    alone = measure_spread([arm], arm.items, none)
    wanted = dataclasses.replace(alone, runs=(alone.runs[0] * sum(grown) / sum(parts),))
    found = compare_shared_seeds(left, right, room=(0.0, 1.0), up=0.01)
    assert found.se == pytest.approx(float(np.sqrt(wanted.variance())), rel=1e-9)
    assert found.estimate == pytest.approx(float(alone.estimate) + 0.01)
