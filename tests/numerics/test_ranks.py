"""Ranks over datasets, against Demsar (2006), SciPy and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.ranks import (
    critical_difference,
    find_cliques,
    friedman_test,
    rank_each,
    share_wins,
    signed_rank_test,
)

# Demsar (2006), Table 6: AUC of C4.5 with m = 0 or tuned and cf = 0 or tuned, on 14 datasets. On the last but one the
# table prints 0.975 twice and ranks them 2 and 3, from more digits; one is given here.
AUC = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip


def test_demsars_average_ranks_are_found() -> None:
    assert rank_each(AUC).mean(axis=0) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_demsars_statistics_are_found_when_the_correction_for_ties_is_taken_back() -> None:
    test = friedman_test(rank_each(AUC))
    uncorrected = test.chi2 * test.spread
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=5e-3)
    assert (test.df1, test.df2) == (3, 39)


def test_friedmans_statistic_is_scipys() -> None:
    theirs = stats.friedmanchisquare(*AUC.T)
    test = friedman_test(rank_each(AUC))
    assert test.chi2 == pytest.approx(theirs.statistic, rel=1e-12)
    assert test.chi2_tail.p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_iman_and_davenports_f_is_that_of_an_analysis_of_variance_of_the_ranks() -> None:
    # Systems against the residual of a two-way table, computed directly.
    ranks = rank_each(np.random.default_rng(1).normal(size=(9, 5)) + np.arange(5) / 3)
    systems = ranks.mean(axis=0) - ranks.mean()
    residual = ranks - ranks.mean(axis=1, keepdims=True) - systems
    f = (9 * systems @ systems / 4) / ((residual**2).sum() / (4 * 8))
    test = friedman_test(ranks)
    assert test.f == pytest.approx(f, rel=1e-12)
    assert test.f_tail.p == pytest.approx(stats.f.sf(f, 4, 32), rel=1e-10)


def test_the_same_order_everywhere_has_the_chance_of_repeating_the_first_order() -> None:
    test = friedman_test(rank_each(np.tile([3.0, 1.0, 2.0], (4, 1))))
    assert (test.chi2, test.f) == (8.0, math.inf)
    # Of all 6^4 ways to order three systems on four datasets, six are the same everywhere.
    ways = list(itertools.product(itertools.permutations(range(3)), repeat=4))
    assert test.f_tail.p == pytest.approx(sum(len(set(way)) == 1 for way in ways) / len(ways), rel=1e-12)


def test_ties_everywhere_are_no_sign_of_a_difference() -> None:
    test = friedman_test(rank_each(np.ones((5, 3))))
    assert (test.chi2, test.chi2_tail.p, test.f, test.f_tail.p) == (0.0, 1.0, 0.0, 1.0)


def test_demsars_critical_differences_are_found() -> None:
    assert critical_difference(14, 4) == pytest.approx(1.25, abs=5e-3)
    assert critical_difference(14, 4, level=0.9) == pytest.approx(1.12, abs=5e-3)


@pytest.mark.parametrize(
    ("systems", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)]
)
def test_critical_values_are_those_of_demsars_table_5(systems: int, q: float) -> None:
    found = critical_difference(1, systems) / math.sqrt(systems * (systems + 1) / 6)
    assert found == pytest.approx(q, abs=1e-3)


def test_two_systems_differ_at_the_quantile_of_the_sign_test() -> None:
    # With two systems R_1 - R_2 has standard deviation 1 / sqrt(N) under the null.
    assert critical_difference(25, 2) == pytest.approx(stats.norm.ppf(0.975) / 5, rel=1e-9)


def test_cliques_are_the_largest_groups_within_the_difference() -> None:
    ranks = [3.1, 1.2, 2.0, 4.9]
    assert [clique.tolist() for clique in find_cliques(ranks, 1.25)] == [[1, 2], [2, 0]]
    assert [clique.tolist() for clique in find_cliques(ranks, 2.0)] == [[1, 2, 0], [0, 3]]
    assert [clique.tolist() for clique in find_cliques(ranks, 9.0)] == [[1, 2, 0, 3]]
    assert find_cliques(ranks, 0.5) == []


def test_ranks_that_differ_by_the_critical_difference_are_told_apart() -> None:
    assert find_cliques([1.0, 2.0], 1.0) == []
    assert find_cliques([1.0, 1.1 + 0.9], 1.0) == []  # rounding does not matter


def test_cliques_are_those_of_a_search_through_all_groups() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        ranks = rng.integers(2, 20, size=7) / 3
        close = {
            frozenset(group)
            for size in range(2, 8)
            for group in itertools.combinations(range(7), size)
            if np.ptp(ranks[list(group)]) < 1.5 - 1e-6
        }
        largest = {group for group in close if not any(group < other for other in close)}
        assert {frozenset(clique.tolist()) for clique in find_cliques(ranks, 1.5)} == largest


def test_shared_first_places_count_in_parts() -> None:
    assert share_wins(rank_each([[2, 2, 1], [3, 1, 2], [0, 0, 0]])) == pytest.approx([11 / 6, 5 / 6, 1 / 3])


@pytest.mark.parametrize(("count", "digits", "method"), [
    (5, 9, "exact"), (20, 9, "exact"), (50, 9, "exact"), (10, 1, stats.PermutationMethod(n_resamples=np.inf)),
    (51, 9, "asymptotic"), (80, 1, "asymptotic"),
])  # fmt: skip
def test_signed_ranks_are_tested_as_scipy_does_with_zeros_dropped(count: int, digits: int, method: object) -> None:
    rng = np.random.default_rng(count)
    rows = np.round(rng.normal(0.3, 1, (8, count)), digits)
    expected = [stats.wilcoxon(row[row != 0], method=method).pvalue for row in rows]
    assert signed_rank_test(rows, scale=1.0) == pytest.approx(expected, rel=1e-9)
    lacking = np.column_stack([rows, np.full(len(rows), np.nan), np.full(len(rows), 1e-14)])
    assert signed_rank_test(lacking, scale=1.0) == pytest.approx(expected, rel=1e-9)


def test_without_a_difference_signed_ranks_say_nothing() -> None:
    assert signed_rank_test(np.zeros((2, 6)), scale=0.0).tolist() == [1.0, 1.0]
