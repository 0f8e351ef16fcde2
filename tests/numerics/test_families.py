"""Adjusted p-values and simultaneous intervals of many pairs: against Tukey's studentized range."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.families import Family, Systems, draw_family
from holdsup.numerics.pooling import Pool
from holdsup.numerics.spread import Spread, satterthwaite_df, total_variance


def pairs_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    left, right = zip(*itertools.combinations(range(count), 2), strict=True)
    return np.array(left), np.array(right)


def make(part: np.ndarray, df: int, items: float, item_df: float) -> tuple[Systems, Spread]:
    """Return systems with variances of their runs and the same variance of their items, and the pooled parts."""
    count = len(part)
    left, right = pairs_of(count)
    dfs, nothing = np.full(count, float(df)), np.zeros(count)
    pool = Pool.of([df + 1] * count, dfs, part)
    spread = Spread(
        estimate=np.zeros(len(left)), these=np.full(len(left), 2 * items), item_df=item_df,
        runs=(part[left], part[right]), noise=(nothing[left], nothing[right]), run_df=(dfs[left], dfs[right]),
    )  # fmt: skip
    shared = pool.share(spread, part, dfs, left, right)
    covariance = items * np.eye(count)
    return Systems(np.arange(count, dtype=float), part, nothing, dfs, covariance, item_df, pool, left, right), shared


@pytest.mark.parametrize("count", [3, 5, 10])
def test_with_one_variance_for_all_it_is_tukey_s_range(count: int) -> None:
    """Many items, no runs: the level of a pair is that of the studentized range."""
    systems, spread = make(np.zeros(count), 2, 1.0, 1e6)
    share = draw_family(systems, spread, 0.05, new_runs=False).share(0.05)
    wanted = 2 * stats.norm.sf(stats.studentized_range.ppf(0.95, count, np.inf) / np.sqrt(2))
    assert share == pytest.approx(wanted, rel=0.1)


def test_two_runs_each_are_trusted_less() -> None:
    """Eight systems of two runs, one of them loud, had 8.2% false positives where draws count as with three runs."""
    part = np.array([1e-2, *[1e-4] * 7])
    two, three = (draw_family(*make(part, df, 1e-5, 99.0), 0.05, new_runs=True) for df in (1, 2))
    assert (two.trust, three.trust) == (0.7, pytest.approx(8 / 9))
    grown = Family(two.count, two.smallest, 8 / 9)
    assert two.adjust(-3.0) > grown.adjust(-3.0)


def test_the_level_of_a_pair_and_its_adjusted_p_agree() -> None:
    systems, spread = make(np.array([1.0, 2.0, 0.5, 1.5]), 3, 0.3, 40.0)
    family = draw_family(systems, spread, 0.05, new_runs=True)
    for level in (0.2, 0.05, 0.01, 1e-6):
        share = family.share(level)
        assert family.adjust(np.log10(share * 0.999)) <= np.log10(level)
        assert family.adjust(np.log10(share * 1.01)) > np.log10(level)
        assert level / family.count <= share * 1.0001
        assert share < level


def test_adjusting_keeps_the_order_and_its_bounds() -> None:
    systems, spread = make(np.array([1.0, 2.0, 0.5, 1.5, 1.0]), 2, 0.3, 40.0)
    family = draw_family(systems, spread, 0.05, new_runs=True)
    logs = np.linspace(-40, 0, 4001)
    adjusted = family.adjust(logs)
    assert (np.diff(adjusted) >= 0).all()
    assert (adjusted >= logs).all()
    assert (adjusted <= np.minimum(0, logs + np.log10(family.count)) + 1e-12).all()
    assert adjusted[0] == pytest.approx(-40 + np.log10(family.count))  # far out, Bonferroni's bound


def test_names_do_not_matter() -> None:
    part = np.array([1.0, 2.0, 0.5, 1.5])
    systems, spread = make(part, 3, 0.3, 40.0)
    order = np.array([2, 0, 3, 1])
    again, other = make(part[order], 3, 0.3, 40.0)
    again = Systems(systems.means[order], *(getattr(again, name) for name in Systems.__slots__[1:]))
    one, two = (draw_family(s, p, 0.05, new_runs=True) for s, p in ((systems, spread), (again, other)))
    np.testing.assert_allclose(one.smallest, two.smallest, rtol=1e-9)


def test_many_pairs_have_bonferroni_s_bound() -> None:
    systems, spread = make(np.ones(60), 2, 1.0, 100.0)
    assert draw_family(systems, spread, 0.05, new_runs=True).share(0.05) == pytest.approx(0.05 / 1770, rel=1e-6)
    assert Family(1).share(0.05) == pytest.approx(0.05)


class TestPool:
    def test_two_systems_share_nothing(self) -> None:
        pool = Pool.of([3, 3], np.array([2.0, 2.0]), np.array([1.0, 4.0]))
        assert pool.moderate(np.array([1.0, 4.0])).tolist() == [1.0, 4.0]

    def test_only_alike_systems_share(self) -> None:
        """Five runs, three runs, two, and one that does not vary."""
        runs, part = [5, 5, 5, 5, 3, 3, 2, 2, 2, 5], np.array([1.0, 2, 3, 6, 1, 9, 1, 2, 3, 0])
        pool = Pool.of(runs, np.array(runs) - 1.0, part)
        assert pool.moderate(part).tolist() == [2.0, 2.5, 3.0, 4.5, 1, 9, 1, 2, 3, 0]

    def test_of_three_a_third_is_shared(self) -> None:
        part = np.array([1.0, 2.0, 6.0])
        pool = Pool.of([4] * 3, np.full(3, 3.0), part)
        np.testing.assert_allclose(pool.moderate(part), 2 / 3 * part + 1)

    def test_the_parts_of_a_pair_are_its_moderated_variances(self) -> None:
        """And their degrees of freedom Satterthwaite's of a sum over all systems, weight by weight."""
        rng = np.random.default_rng(0)
        runs, part = [4] * 4 + [6] * 3, rng.chisquare(3, 7)
        df, (left, right) = np.array(runs) - 1.0, pairs_of(7)
        pool = Pool.of(runs, df, part)
        nothing = np.zeros(len(left))
        spread = Spread(
            estimate=nothing, these=nothing, item_df=50.0, runs=(part[left], part[right]), noise=(nothing, nothing),
            run_df=(df[left], df[right]),
        )  # fmt: skip
        shared = pool.share(spread, part, df, left, right)
        moderated = pool.moderate(part)
        np.testing.assert_allclose(total_variance([shared]), moderated[left] + moderated[right])
        weights = np.stack([pool.moderate(row) for row in np.eye(7)], axis=1)  # v~ = weights @ v
        both = weights[left] + weights[right]
        wanted = (both @ part) ** 2 / ((both * part) ** 2 / df).sum(1)
        np.testing.assert_allclose(satterthwaite_df([shared]), wanted)
