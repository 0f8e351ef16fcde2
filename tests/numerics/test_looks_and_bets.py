"""Limits that hold at every look: bets on items, and levels of planned looks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.betting import find_capital, find_limit, find_p, place_bets
from holdsup.numerics.looks import find_levels, repeat_p


def cross_by_multivariate_normal(shares: tuple[float, ...], levels: tuple[float, ...]) -> float:
    """Return the probability that a Brownian motion crosses any of the boundaries, by another algorithm."""
    at = np.array(shares)
    correlation = np.sqrt(np.minimum.outer(at, at) / np.maximum.outer(at, at))
    edges = stats.norm.isf(levels)
    return 1 - float(stats.multivariate_normal(np.zeros(len(at)), correlation, seed=1).cdf(edges))


@pytest.mark.parametrize("shares", [(0.5, 1.0), (0.4, 0.6, 1.0), (0.25, 0.5, 0.75, 1.0)])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_planned_looks_spend_the_error_they_are_allowed_and_no_more(shares: tuple[float, ...], alpha: float) -> None:
    levels = find_levels(shares, alpha)
    assert levels[0] == pytest.approx(alpha * shares[0] ** 2, rel=1e-9)
    for count in range(2, len(shares) + 1):
        spent = alpha * shares[count - 1] ** 2
        assert cross_by_multivariate_normal(shares[:count], levels[:count]) == pytest.approx(spent, abs=3e-5)


def test_a_level_is_no_more_than_a_single_look_would_have() -> None:
    assert find_levels((1.0,), 0.03) == pytest.approx((0.03,))
    assert all(level < 0.05 for level in find_levels((0.3, 0.6, 1.0), 0.05))


def test_a_repeated_p_is_at_a_level_where_the_boundary_of_that_level_is_reached() -> None:
    shares = (0.5, 0.75, 1.0)
    for look in range(3):
        level = find_levels(shares, 0.025)[look]
        assert 10 ** repeat_p(shares, look, np.log10(2 * level)) == pytest.approx(0.05, rel=1e-6)
    assert repeat_p(shares, 0, 0.0) == 0.0


def test_a_fair_bet_wins_nothing_on_average() -> None:
    """Each factor of the capital has mean 1 under the mean that is bet on: here, over all 2^9 outcomes."""
    outcomes = np.array(np.meshgrid(*[[0.0, 1.0]] * 9)).reshape(9, -1).T
    chance = np.where(outcomes == 1, 0.3, 0.7).prod(1)
    bets = place_bets(outcomes)
    for above in (True, False):
        m = 0.3
        stake = np.minimum(bets, 0.75 / (m if above else 1 - m))
        capital = (1 + stake * (outcomes - m) * (1 if above else -1)).prod(1)
        assert chance @ capital == pytest.approx(1.0)
        assert (np.exp(find_capital(outcomes, bets, m, above=above)) >= capital * (1 - 1e-9)).all()


def test_a_bet_is_made_before_its_item_is_seen() -> None:
    x = np.random.default_rng(1).random(30)
    other = x.copy()
    other[20:] = 0.0
    np.testing.assert_array_equal(place_bets(x)[:21], place_bets(other)[:21])


def test_limits_hold_at_all_looks_at_once() -> None:
    rng = np.random.default_rng(2)
    for p in (0.5, 0.1):
        x = (rng.random((4000, 400)) < p).astype(float)
        bets = place_bets(x)
        for above in (True, False):
            missed = (find_capital(x, bets, p, above=above) >= np.log(1 / 0.05)).mean()
            assert 0 < missed < 0.05


def test_the_limit_and_p_say_the_same() -> None:
    x = np.random.default_rng(3).beta(3, 2, 150)
    for level in (0.1, 0.01):
        low, high = (float(find_limit(x, level / 2, lower=lower)) for lower in (True, False))
        for end in (low, high):
            assert 10 ** float(find_p(x, end)) == pytest.approx(level, rel=1e-3)
        assert low < 0.6 < high


def test_more_items_make_limits_narrower_and_limits_turn_with_the_scale() -> None:
    x = np.random.default_rng(4).beta(8, 2, 1000)
    widths = [
        float(find_limit(x[:n], 0.05, lower=False) - find_limit(x[:n], 0.05, lower=True)) for n in (50, 200, 1000)
    ]
    assert widths == sorted(widths, reverse=True)
    assert float(find_limit(1 - x, 0.05, lower=True)) == pytest.approx(1 - float(find_limit(x, 0.05, lower=False)))
