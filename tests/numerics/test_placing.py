"""All pairs at once: Tukey's range where he has one, and agreement of p with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.placing import judge_pairs


@pytest.mark.parametrize(("count", "df"), [(3, 10.0), (5, 30.0), (8, 200.0)])
def test_adjusted_p_of_equal_independent_estimates_is_tukeys(count: int, df: float) -> None:
    estimates = np.zeros(count)
    estimates[0] = 3.4
    found = judge_pairs(estimates, [np.eye(count)], df, 0.05)
    assert found.p_adjusted[0] == pytest.approx(stats.studentized_range.sf(3.4, count, df), rel=0.1)


def test_p_is_small_exactly_where_the_interval_leaves_out_zero() -> None:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    found = judge_pairs(rng.normal(0, 3, 6), [root @ root.T, np.eye(6)], 12.0, 0.05)
    assert ((found.p <= 0.05) == ((found.low > 0) | (found.high < 0))).all()
    assert ((found.p_adjusted <= 0.05) == ((found.low_simultaneous > 0) | (found.high_simultaneous < 0))).all()


def test_a_variance_is_the_largest_by_any_way_of_clustering() -> None:
    found = judge_pairs(np.array([1.0, 0.0]), [np.eye(2), 4 * np.eye(2)], 9.0, 0.05)
    assert found.se == pytest.approx([8**0.5])
    assert found.adjusted_by == ""
    assert found.p_adjusted == pytest.approx(found.p)
