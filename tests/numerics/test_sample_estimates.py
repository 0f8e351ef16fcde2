"""pass@k, pass^k and their variance against enumeration; the difference over new samples of the same items."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.samples import (
    compare_these_items,
    jackknife_share,
    share_of_all,
    share_of_any,
    weigh_cells,
)

CELLS = [(n, c, k) for n in range(1, 8) for c in range(n + 1) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "c", "k"), CELLS)
def test_they_are_the_shares_of_all_subsets_of_k_samples(n: int, c: int, k: int) -> None:
    subsets = list(itertools.combinations([1] * c + [0] * (n - c), k))
    assert share_of_any(c, n, k) == pytest.approx(np.mean([max(each) for each in subsets]))
    assert share_of_all(c, n, k) == pytest.approx(np.mean([min(each) for each in subsets]))


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 3), (10, 5), (10, 10)])
def test_they_are_unbiased(n: int, k: int) -> None:
    p, c = 0.3, np.arange(n + 1)
    chances = stats.binom.pmf(c, n, p)
    assert chances @ share_of_any(c, n, k) == pytest.approx(1 - (1 - p) ** k)
    assert chances @ share_of_all(c, n, k) == pytest.approx(p**k)


def test_hundreds_of_samples_keep_their_digits() -> None:
    exact = 1 - math.comb(700, 100) / math.comb(1000, 100)
    assert share_of_any(300, 1000, 100) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [cell for cell in CELLS if cell[0] > cell[2]])
def test_the_variance_is_that_of_leaving_out_one_sample_at_a_time(n: int, c: int, k: int) -> None:
    samples = [1] * c + [0] * (n - c)
    left_out = [share_of_all(sum(samples) - own, n - 1, k) for own in samples]
    assert jackknife_share(c, n, k) == pytest.approx((n - 1) * np.var(left_out))


@pytest.mark.parametrize(("n", "k", "p"), [(10, 5, 0.3), (10, 9, 0.1), (6, 2, 0.8)])
def test_the_variance_is_never_too_small_on_average(n: int, k: int, p: float) -> None:
    c = np.arange(n + 1)
    chances, found = stats.binom.pmf(c, n, p), share_of_all(c, n, k)
    true = chances @ found**2 - (chances @ found) ** 2
    assert chances @ jackknife_share(c, n, k) >= true
    exact = chances @ jackknife_share(c, n, 1)
    assert exact == pytest.approx(p * (1 - p) / n)


def test_without_more_samples_than_k_there_is_no_variance() -> None:
    assert np.isnan(share_of_all(1, 2, 3))
    assert np.isnan(jackknife_share([0, 3], [3, 3], 3)).all()
    assert jackknife_share(4, 4, 3) == 0


def test_runs_of_a_setting_and_settings_weigh_the_same() -> None:
    scores = np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 1.0], [np.nan, np.nan, 1.0]])
    assert weigh_cells(scores, np.array([0, 0, 1])).tolist() == [[0.25, 0.25, 0.5], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
    assert weigh_cells(scores, None)[0].tolist() == pytest.approx([1 / 3] * 3)


def test_the_difference_over_new_samples_is_welch_on_one_item() -> None:
    a, b = np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.5, 1.0, 2.5])
    x, y = np.array([[a.mean()]]), np.array([[b.mean()]])
    of = [np.array([[each.var(ddof=1) / len(each)]]) for each in (a, b)]
    counts = np.array([[4.0]]), np.array([[3.0]])
    found = compare_these_items(x, y, weights=np.ones(1), variances=(of[0], of[1]), counts=counts)
    test = stats.ttest_ind(a, b, equal_var=False)
    assert (found.estimate, found.p) == (pytest.approx(a.mean() - b.mean()), pytest.approx(test.pvalue))


def test_items_count_by_their_weights() -> None:
    x, y = np.array([[1.0], [0.0]]), np.zeros((2, 1))
    noise, count = np.array([[0.04], [0.09]]), np.full((2, 1), 3.0)
    found = compare_these_items(x, y, weights=np.array([3.0, 1.0]), variances=(noise, 0 * noise), counts=(count, count))
    assert found.estimate == 0.75
    assert found.se == pytest.approx(math.sqrt(0.75**2 * 0.04 + 0.25**2 * 0.09))
