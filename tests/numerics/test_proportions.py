"""Shares near the ends of their scale: against published intervals and exact enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from holdsup.numerics.proportions import PairedShares, wilson


@pytest.mark.parametrize(("items", "wins", "losses"), [(50, 12, 2), (100, 5, 0), (44, 1, 1), (30, 20, 9)])
def test_the_deviate_is_that_of_the_restricted_likelihood(items: int, wins: int, losses: int) -> None:
    """Tango (1998): the variance of the difference is taken where the likelihood is largest under the null."""
    for difference in (-0.3, -0.05, 0.02, 0.25):

        def surprise(lost: float, d: float = difference) -> float:
            won, rest = lost + d, 1 - 2 * lost - d
            counts, shares = (wins, losses, items - wins - losses), (won, lost, rest)
            return -sum(n * np.log(max(p, 1e-300)) for n, p in zip(counts, shares, strict=True))

        bounds = max(0.0, -difference), (1 - difference) / 2
        lost = optimize.minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        variance = items * (2 * lost + difference * (1 - difference)) + 1  # one item more on which they differ
        wanted = (wins - losses - items * difference) / np.sqrt(variance)
        assert float(PairedShares(items, wins, losses).deviate(difference)) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("items", [5, 30, 100])
def test_p_and_interval_agree_for_every_table(items: int) -> None:
    wins, losses = np.array([(b, c) for b in range(items + 1) for c in range(items + 1 - b)]).T
    pair = PairedShares(items, wins, losses)
    for level in (0.9, 0.95, 0.999):
        low, high = pair.interval(level)
        rejects = np.abs(pair.deviate()) > stats.norm.ppf((1 + level) / 2)
        assert np.array_equal(rejects, (low > 0) | (high < 0))
        assert (low < high).all()
        assert (low >= -1).all()
        assert (high <= 1).all()
        assert ((low <= pair.estimate) & (pair.estimate <= high)).all()


def test_at_zero_it_is_mcnemar_s_test_with_one_disagreement_more() -> None:
    wins, losses = np.array([9, 40, 0]), np.array([1, 30, 7])
    np.testing.assert_allclose(
        PairedShares(100, wins, losses).deviate() ** 2, (wins - losses) ** 2 / (wins + losses + 1)
    )


def test_no_true_null_is_rejected_too_often() -> None:
    """Every table of 10 to 100 items: at most 5.7% at 5% for shares of disagreement up to .8."""
    for items in (10, 30, 100):
        for share in (0.02, 0.1, 0.3, 0.8):
            total = np.arange(items + 1)
            rate = 0.0
            for count, chance in zip(total, stats.binom.pmf(total, items, share), strict=True):
                wins = np.arange(count + 1)
                rejects = np.abs(PairedShares(items, wins, count - wins).deviate()) > stats.norm.ppf(0.975)
                rate += chance * stats.binom.pmf(wins, count, 0.5) @ rejects
            assert rate < 0.057


def test_an_exchange_of_the_systems_flips_the_interval() -> None:
    one, other = PairedShares(80, 13, 4).interval(0.95), PairedShares(80, 4, 13).interval(0.95)
    np.testing.assert_allclose(one, [-other[1], -other[0]], atol=1e-12)


def test_wilson_s_interval_is_the_published_one() -> None:
    """81 of 263: .255 to .366 (Newcombe 1998, table I, method 3), and 0 of 20: 0 to .161."""
    low, high = wilson(81 / 263, 81 / 263 * 182 / 263 / 263, 263, stats.norm.ppf(0.975))
    assert (round(float(low), 4), round(float(high), 4)) == (0.2553, 0.3662)
    low, high = wilson(0.0, 0.0, 20, stats.norm.ppf(0.975))
    assert (float(low), round(float(high), 4)) == (0.0, 0.1611)


def test_a_scale_of_its_own_only_scales() -> None:
    one = np.array(wilson(0.7, 0.002, 50, 2.0))
    np.testing.assert_allclose(wilson(70.0, 20.0, 50, 2.0, 0.0, 100.0), 100 * one)
    np.testing.assert_allclose(wilson(1 + 4 * 0.7, 16 * 0.002, 50, 2.0, 1.0, 5.0), 1 + 4 * one)
