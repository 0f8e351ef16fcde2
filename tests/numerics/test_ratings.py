"""Ratings adjusted for who rated what: closed forms for complete tables, lme4 for uneven ones."""

import numpy as np
import pytest
from tables_of_ratings import rate_unevenly

from holdsup.numerics.decisions import decide
from holdsup.numerics.differences import compare_shared_seeds, new_runs_test, these_runs_test
from holdsup.numerics.ratings import Ratings, Regression

LMER = (0.507608850286, 0.250254094271, 0.3345203045302, 0.8412876832064)


def complete(systems: int = 2, raters: int = 4, items: int = 12, ratio: float = 0.5) -> Ratings:
    rng = np.random.default_rng(3)
    s, i, r = (each.ravel() for each in np.indices((systems, items, raters)))
    score = rng.normal(0, 1, items)[i] + rng.normal(0, 1, raters)[r] + rng.normal(0, 0.5, (systems, raters))[s, r]
    return Ratings(score + rng.normal(0, 1, len(s)), s, r, i, i, ratio)


def test_in_a_complete_table_raters_are_paired_as_shared_seeds_are() -> None:
    ratings = complete()
    grid = np.empty((2, 12, 4))
    grid[ratings.system, ratings.item, ratings.rater] = ratings.score
    paired = compare_shared_seeds(grid[0], grid[1])
    spread = ratings.new(0, 1, None)
    by_rater = (grid[0] - grid[1]).mean(axis=0)
    assert float(spread.estimate) == pytest.approx(paired.estimate)
    assert float(sum(spread.runs)) == pytest.approx(by_rater.var(ddof=1) / 4)
    assert spread.run_df == pytest.approx((3.0,))
    found = decide(float(spread.estimate), [new_runs_test([spread]), these_runs_test([spread])], 10, 0.95)
    assert found.p == pytest.approx(paired.p, rel=0.05)


def test_the_variance_of_tastes_is_that_of_an_analysis_of_variance() -> None:
    ratings = complete(systems=3)
    cells, system, rater = ratings.cells
    table = np.zeros((3, 4))
    table[system, rater] = cells.beta
    left = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
    mean_square = (left**2).sum() / 6
    noise = cells.sigma2 * np.diag(cells.inverse).mean() - cells.sigma2 * cells.inverse[0, 1]
    assert ratings.drawn[1] == pytest.approx(mean_square - noise, rel=1e-6)


@pytest.mark.parametrize("items", [8, 260])
def test_errors_of_a_mean_are_those_between_clusters(items: int) -> None:
    # Of clusters of one size the variance is s^2 / C, on C - 1 degrees of freedom, with and without the leverages.
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(items), 3)
    y = rng.normal(0, 1, items)[cluster] + rng.normal(0, 1, len(cluster))
    found = Regression.of(np.ones((len(y), 1)), y, cluster, items - 1.0)
    means = y.reshape(items, 3).mean(axis=1)
    assert found.variance(np.ones(1)) == pytest.approx(means.var(ddof=1) / items)
    assert found.degrees(np.ones(1)) == pytest.approx(items - 1)


def test_uneven_ratings_are_adjusted_as_lme4_adjusts_them() -> None:
    # R 4.2, lme4 1.1-31: lmer(score ~ system + rater + (1 | item)), variances of items and of ratings, b - a and c - a
    table = rate_unevenly()
    item, residual, b, c = LMER
    ratings = Ratings(table.score, table.system, table.rater, table.item, table.item, item / residual)
    for system, expected in ((1, b), (2, c)):
        weights = np.array([-1.0, 0.0, 0.0])
        weights[system] = 1.0
        assert float(ratings.these(weights).estimate) == pytest.approx(expected, abs=1e-6)
    raw = table.score[table.system == 1].mean() - table.score[table.system == 0].mean()
    assert abs(raw - b) > 0.2  # the adjustment matters


def test_systems_that_share_no_rater_are_told_apart_from_those_that_do() -> None:
    system, rater = np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 2, 2])
    rows = np.arange(5)
    groups = Ratings(rows * 1.0, system, rater, rows, rows, 1.0).connected()
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_names_of_raters_and_the_order_of_rows_do_not_matter() -> None:
    ratings = complete(systems=3)
    order = np.random.default_rng(1).permutation(len(ratings.score))
    other = Ratings(
        ratings.score[order], ratings.system[order], 3 - ratings.rater[order], ratings.item[order],
        ratings.item[order], ratings.ratio,
    )  # fmt: skip
    one, two = ratings.new(0, 2, None), other.new(0, 2, None)
    assert float(one.variance()) == pytest.approx(float(two.variance()))
    assert float(one.estimate) == pytest.approx(float(two.estimate))
