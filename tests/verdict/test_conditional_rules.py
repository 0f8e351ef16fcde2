"""Trends and bands against direct computation: matrices written out, and the rules for means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.differences import compare_new_runs, compare_shared_seeds, compare_these_runs
from holdsup.numerics.spread import find_clusters
from holdsup.numerics.trends import (
    CENTRE,
    SLOPE,
    Trends,
    bound_line,
    decide_direction,
    find_ranges,
    joint_tail,
    measure_trends,
)

ITEMS = 60
CENTRING = 1 / ITEMS  # scores that stand for a coefficient are centred: their variance lacks the square of a mean


def draw(seed: int, runs: tuple[int, int] = (4, 3), slope: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    d = rng.gamma(2.0, size=ITEMS)
    item = rng.normal(0, 1, ITEMS)
    left, right = (
        (item + rng.normal(0, 0.3, ITEMS))[:, None] + rng.normal(0, 0.1, k) + rng.normal(0, 0.5, (ITEMS, k))
        for k in runs
    )
    return (d - d.mean()) / d.std(), left + slope * d[:, None], right


def trends_of(z: np.ndarray, *arms: np.ndarray, clusters: np.ndarray | None = None) -> Trends:
    design = np.column_stack([np.ones(len(z)), z])
    return measure_trends(arms, design, settings=(None,) * len(arms), clusters=find_clusters(clusters, len(z)))


def classes_of(design: np.ndarray, *arms: np.ndarray) -> Trends:
    """Trends on columns that tell classes, one of which may be all items."""
    clusters = find_clusters(None, len(design))
    return measure_trends(arms, design, settings=(None,) * len(arms), clusters=clusters, classes=True)


def robust(z: np.ndarray, difference: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients, HC3 covariance, residual maker and weights, by whole matrices."""
    X = np.column_stack([np.ones(len(z)), z])
    inverse = np.linalg.inv(X.T @ X)
    hat = X @ inverse @ X.T
    residual = difference - hat @ difference
    meat = X.T @ np.diag(residual**2 / (1 - np.diag(hat)) ** 2) @ X
    return inverse @ X.T @ difference, inverse @ meat @ inverse, np.eye(len(z)) - hat, X @ inverse


def test_over_new_items_the_slope_has_the_hc3_variance_and_bell_mccaffrey_degrees() -> None:
    z, left, right = draw(1)
    trends = trends_of(z, left, right)
    b, V, maker, weights = robust(z, left.mean(axis=1) - right.mean(axis=1))
    np.testing.assert_allclose(trends.coefficients, b, rtol=1e-10)
    np.testing.assert_allclose(trends.these, V, rtol=CENTRING)
    for direction in (CENTRE, SLOPE, np.array([0.6, -1.3])):
        product = maker @ np.diag((weights @ direction) ** 2 / np.diag(maker))
        assert trends.item_df(direction) == pytest.approx(
            np.trace(product) ** 2 / np.trace(product @ product), rel=1e-10
        )
    found = decide_direction(trends, SLOPE, new_runs=False, level=0.95)
    t = b[1] / np.sqrt(V[1, 1])
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), trends.item_df(SLOPE)), rel=CENTRING)


def test_with_a_constant_alone_the_rules_are_those_for_means() -> None:
    _, left, right = draw(2)
    trends = classes_of(np.ones((ITEMS, 1)), left, right)
    for new_runs, rule in ((True, compare_new_runs), (False, compare_these_runs)):
        found, wanted = decide_direction(trends, np.ones(1), new_runs=new_runs, level=0.9), rule(left, right, level=0.9)
        for name in ("estimate", "se", "df", "p", "low", "high"):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9), name


def test_the_difference_in_a_class_is_the_difference_of_its_items() -> None:
    _, left, right = draw(3)
    inside = np.arange(ITEMS) % 3 == 1
    design = np.column_stack([inside, ~inside]).astype(float)
    trends = classes_of(design, left, right)
    found = decide_direction(trends, CENTRE, new_runs=True, level=0.95)
    wanted = compare_new_runs(left[inside], right[inside])
    for name in ("estimate", "se", "df", "p", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9), name


def test_slopes_of_runs_are_compared_like_means_of_runs() -> None:
    z, left, right = draw(4)
    found = trends_of(z, left, right)
    by_run = [np.polyfit(z, scores, 1)[0] for scores in (left, right)]
    assert found.coefficients[1] == pytest.approx(by_run[0].mean() - by_run[1].mean(), rel=1e-10)
    for part, slopes in zip(found.runs, by_run, strict=True):
        assert part[1, 1] == pytest.approx(slopes.var(ddof=1) / len(slopes), rel=1e-10)


def test_the_parts_of_any_combination_follow_from_those_of_the_coefficients() -> None:
    z, left, right = draw(5)
    trends = trends_of(z, left, right)
    turned = np.column_stack([1 + z, 2 - z])  # c0 (1 + z) + c1 (2 - z): b0 = c0 + 2 c1, b1 = c0 - c1
    other = measure_trends((left, right), turned, settings=(None, None), clusters=find_clusters(None, ITEMS))
    direction = np.array([1.0, 1.7])
    mapped = np.array([[1.0, 2.0], [1.0, -1.0]]).T @ direction
    one, two = trends.spread(direction), other.spread(mapped)
    assert one.item_df == pytest.approx(two.item_df, rel=1e-9)
    both = ([each.estimate, each.these, *each.runs, *each.noise] for each in (one, two))
    for a, b in zip(*both, strict=True):
        assert float(a) == pytest.approx(float(b), rel=1e-9)


def test_shared_seeds_are_one_arm_of_differences() -> None:
    _, left, right = draw(6, runs=(4, 4))
    trends = classes_of(np.ones((ITEMS, 1)), left - right)
    found, wanted = decide_direction(trends, np.ones(1), new_runs=True, level=0.95), compare_shared_seeds(left, right)
    assert (found.p, found.low) == pytest.approx((wanted.p, wanted.low), rel=1e-9)


def test_missing_cells_leave_the_slope_near_that_of_the_whole_table() -> None:
    z, left, right = draw(7, slope=0.5)
    whole = trends_of(z, left, right).coefficients[1]
    holed = left.copy()
    holed[::7, 1] = np.nan
    found = trends_of(z, holed, right)
    se = np.sqrt(found.these[1, 1])
    assert found.coefficients[1] != whole
    assert abs(found.coefficients[1] - whole) < se / 2


def test_clusters_widen_a_slope_when_their_items_are_alike() -> None:
    rng = np.random.default_rng(8)
    codes = np.repeat(np.arange(15), 4)
    z = rng.normal(size=15)[codes]
    left = (rng.normal(size=15)[codes] + rng.normal(0, 0.1, 60))[:, None]
    alone, together = trends_of(z, left, np.zeros((60, 1))), trends_of(z, left, np.zeros((60, 1)), clusters=codes)
    assert together.these[1, 1] > 2 * alone.these[1, 1]
    assert together.item_df(SLOPE) <= 14 < alone.item_df(SLOPE)


def test_over_new_items_the_band_is_working_and_hotellings() -> None:
    z, left, right = draw(9, slope=0.4)
    trends = trends_of(z, left, right)
    b, V, _, _ = robust(z, left.mean(axis=1) - right.mean(axis=1))
    df = min(trends.item_df(CENTRE), trends.item_df(SLOPE))
    x = np.array([-1.0, 0.0, 2.5])
    se = np.array([np.sqrt(np.array([1, at]) @ V @ np.array([1, at])) for at in x])
    reach = np.sqrt(2 * stats.f.ppf(0.95, 2, df))
    np.testing.assert_allclose(bound_line(trends, x, new_runs=False, level=0.95), reach * se, rtol=CENTRING)
    joint = joint_tail(trends, new_runs=False)
    exact = stats.f.sf(b @ np.linalg.inv(trends.these) @ b / 2, 2, df)
    assert joint.p == pytest.approx(exact, rel=1e-8)


def test_over_new_runs_the_band_is_the_sum_of_two_limits_at_half_the_error() -> None:
    z, left, right = draw(10)
    trends = trends_of(z, left, right)
    centre, slope = (decide_direction(trends, each, new_runs=True, level=0.975) for each in (CENTRE, SLOPE))
    x = np.array([-2.0, 0.0, 1.0])
    wanted = (centre.high - centre.low) / 2 + np.abs(x) * (slope.high - slope.low) / 2
    np.testing.assert_allclose(bound_line(trends, x, new_runs=True, level=0.95), wanted, rtol=1e-12)
    assert joint_tail(trends, new_runs=True).p == pytest.approx(min(1.0, 2 * min(centre.p, slope.p)), rel=1e-12)


def test_ranges_end_where_the_band_crosses_zero() -> None:
    # |1 + 2 z| = 1.5 + |z| / 2: z = 1/3 on one side; -1 - 2 z = 1.5 - z / 2, z = -5/3 on the other.
    found = find_ranges(lambda z: 1 + 2 * z, lambda z: 1.5 + np.abs(z) / 2, -4.0, 3.0)
    assert [sign for *_, sign in found] == [-1, 1]
    np.testing.assert_allclose([end for a, b, _ in found for end in (a, b)], [-4, -5 / 3, 1 / 3, 3], rtol=1e-9)


def test_nothing_is_found_where_the_band_holds_zero() -> None:
    assert find_ranges(lambda z: 0 * z, lambda z: 1 + 0 * z, -1.0, 1.0) == []


@pytest.mark.parametrize("new_runs", [False, True])
def test_the_band_covers_the_whole_truth_at_once(new_runs: bool) -> None:
    """400 evaluations: at 95% some 380 are covered everywhere; below 365 has a chance of 1 in 2,000 or so."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        z = rng.normal(size=40)
        z = (z - z.mean()) / z.std()
        shared = rng.normal(0, 0.1, 40)
        runs = 4 if new_runs else 1
        left, right = (
            (shared + rng.normal(0, 0.03, 40))[:, None]
            + (rng.normal(0, 0.02, runs) + np.outer(z, rng.normal(0, 0.02, runs)) if new_runs else 0.0)
            + rng.normal(0, 0.07, (40, runs))
            for _ in range(2)
        )
        trends = trends_of(z, left + 0.1 + 0.05 * z[:, None], right)
        places = np.linspace(z.min(), z.max(), 21)
        off = trends.coefficients[0] + trends.coefficients[1] * places - (0.1 + 0.05 * places)
        covered += bool((np.abs(off) <= bound_line(trends, places, new_runs=new_runs, level=0.95)).all())
    assert covered >= 365


def test_more_coefficients_than_items_are_refused() -> None:
    with pytest.raises(ValueError, match="2 items are too few for 2 coefficients"):
        trends_of(np.array([-1.0, 1.0]), np.ones((2, 1)), np.zeros((2, 1)))
