"""The difference between two systems, with a test and an interval that keep their promise.

One function for each design. Scores are arrays of items x runs, one for each system, rows aligned on
the items that both have, NaN where a cell is missing. Which rule carries which claim was decided by
measured calibration: docs/calibration.md, docs/decisions/0009-compare-rule.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.clusters import find_clusters
from holdsup.numerics.layout import Floats
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.roots import find_root
from holdsup.numerics.spread import (
    Arm,
    Spread,
    cautious_df,
    measure_arm,
    measure_run_spread,
    measure_spread,
    total_variance,
)
from holdsup.numerics.tails import Tail, t_tail

__all__ = [
    "FEWEST_DF",
    "ROUNDING",
    "Codes",
    "Criterion",
    "Difference",
    "compare_new_runs",
    "compare_run_scores",
    "compare_shared_seeds",
    "compare_these_runs",
    "decide",
    "new_runs_test",
    "reach_of",
    "read_pair",
    "these_runs_test",
    "with_components",
]

Codes = NDArray[np.integer]
FEWEST_DF = 1.0  # below it a variance is not measured: limits would be millions of scores wide, and there are none
ROUNDING = 16 * np.finfo(float).eps  # of the largest score: a spread or a difference below it is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between two systems, left minus right.

    Attributes
    ----------
    estimate : the difference
    se, df : standard error and degrees of freedom of the test that gave `p`; the limits' df are at their level
    p, log10_p : two-sided p of no difference
    low, high : limits; the wider ones where two tests count, infinite where a variance has less than one df
    claim : the test that gave `p`: "new-runs", or "these-runs" where that is the larger p
    run_variance : variance between runs, residual taken out, of each system (of the seeds, where shared)
    item_variance : variance between items of the true difference
    residual_variance : of each system (of the difference, where seeds are shared)

    A component that the design cannot separate is None.
    """

    estimate: float
    se: float
    df: float
    p: float
    log10_p: float
    low: float
    high: float
    claim: str
    run_variance: tuple[float | None, ...] = ()
    item_variance: float | None = None
    residual_variance: tuple[float | None, ...] = ()


class Criterion(NamedTuple):
    """How a claim is tested: the standard error and degrees of freedom, given a level."""

    claim: str
    se: float
    df: Callable[[float], float]


def compare_these_runs(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items, for these trained runs: the paired t-test on item differences.

    Says nothing about other runs of the same systems. Settings, where given, weigh the same.

    Examples
    --------
    >>> found = compare_these_runs([[3.0], [5.0], [4.0]], [[1.0], [4.0], [4.0]])
    >>> found.estimate, found.df, round(found.p, 4)
    (1.0, 2.0, 0.2254)
    """
    left, right, scale = read_pair(left, right)
    found = find_clusters(clusters, len(left))
    arms = [measure_arm(left, left_settings, found), measure_arm(right, right_settings, found)]
    spread = measure_spread(arms, arms[0].items - arms[1].items, found)
    return with_components(decide(float(spread.estimate), [these_runs_test([spread])], scale, level), arms, spread)


def compare_new_runs(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items and new runs, runs nested in systems.

    Welch's test in two ways, items and runs, with cautious degrees of freedom; never a smaller p or a
    narrower interval than for these runs. With settings (a code for each run) it speaks of new seeds at
    these settings, equally weighted. With `clusters` (a code for each item) clusters replace items.

    Raises
    ------
    ValueError : a system has no setting with two runs, fewer than two items, or no spread at all

    Examples
    --------
    >>> found = compare_new_runs([[0.6, 0.7], [0.8, 0.8], [0.5, 0.7]], [[0.5, 0.5], [0.6, 0.8], [0.4, 0.5]])
    >>> round(found.estimate, 4), found.claim, found.p > 0.05
    (0.1333, 'new-runs', True)
    """
    left, right, scale = read_pair(left, right)
    found = find_clusters(clusters, len(left))
    arms = [measure_arm(left, left_settings, found), measure_arm(right, right_settings, found)]
    spread = measure_spread(arms, arms[0].items - arms[1].items, found)
    tests = [new_runs_test([spread]), these_runs_test([spread])]
    return with_components(decide(float(spread.estimate), tests, scale, level), arms, spread)


def compare_shared_seeds(
    left: ArrayLike,
    right: ArrayLike,
    *,
    settings: Codes | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items and new seeds, where column r of both systems is the same seed.

    The differences of the two systems are the scores of one: seeds are paired, and k seeds leave k - 1
    degrees of freedom. A cell that either system lacks is missing.
    """
    left, right, scale = read_pair(left, right)
    if left.shape != right.shape:
        raise ValueError(f"shared seeds pair runs, but one system has {left.shape[1]} and the other {right.shape[1]}.")
    found = find_clusters(clusters, len(left))
    arm = measure_arm(left - right, settings, found)
    spread = measure_spread([arm], arm.items, found)
    tests = [new_runs_test([spread]), these_runs_test([spread])]
    return with_components(decide(float(spread.estimate), tests, scale, level), [arm], spread)


def compare_run_scores(left: ArrayLike, right: ArrayLike, *, level: float = 0.95) -> Difference:
    """Return the difference over new runs where each run has one score and there are no items.

    Welch's test with cautious degrees of freedom; it claims nothing about other items.

    Examples
    --------
    >>> found = compare_run_scores([27.1, 27.9, 27.4], [26.0, 26.3, 26.1])
    >>> round(found.estimate, 4), round(found.p, 3)
    (1.3333, 0.03)
    """
    scores = [np.asarray(each, float) for each in (left, right)]
    for each in scores:
        if each.ndim != 1 or len(each) < 2 or not np.isfinite(each).all():
            raise ValueError(f"a system needs two finite run scores or more, but has {each.tolist()!s:.80}.")
    spread = measure_run_spread(*scores)
    return decide(float(spread.estimate), [new_runs_test([spread])], _largest(scores), level)


def read_pair(left: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats, float]:
    """Return both systems' scores as arrays of items x runs, checked, and the largest score."""
    scores = [np.asarray(each, float) for each in (left, right)]
    if any(each.ndim != 2 for each in scores) or len(scores[0]) != len(scores[1]):
        shapes = " and ".join(str(each.shape) for each in scores)
        raise ValueError(f"two tables of the same items x runs are needed, but their shapes are {shapes}.")
    if len(scores[0]) < 2 or min(each.shape[1] for each in scores) < 1:
        raise ValueError("fewer than two items: how much items differ is not measured. Compare run scores instead.")
    if any(np.isinf(each).any() for each in scores):
        raise ValueError("a score is infinite: give NaN where a score is missing.")
    return scores[0], scores[1], _largest(scores)


def these_runs_test(spreads: Sequence[Spread], claim: str = "these-runs") -> Criterion:
    """Return the test over new items alone, of the sum of independent differences."""
    total = float(sum(each.these for each in spreads))
    uncertainty = float(sum(each.these**2 / each.item_df for each in spreads))
    df = total**2 / uncertainty if uncertainty > 0 else np.inf
    return Criterion(claim, float(np.sqrt(total)), lambda _: df)


def new_runs_test(spreads: Sequence[Spread]) -> Criterion:
    """Return the test over new items and new runs, of the sum of independent differences."""
    if min(df for each in spreads for df in each.run_df) < 1:
        raise ValueError("new runs are claimed, but a system has one run only: how much runs differ is not measured.")
    return Criterion(
        "new-runs", float(np.sqrt(total_variance(spreads))), lambda alpha: float(cautious_df(spreads, alpha))
    )


def decide(estimate: float, tests: Sequence[Criterion], scale: float, level: float) -> Difference:
    """Return the largest p and the widest limits of all tests that a claim needs.

    A standard error that is rounding, relative to the largest score `scale`, counts as zero. Where all
    are, equal systems are equal, and a difference has no test.
    """
    telling = [test for test in tests if test.se > ROUNDING * scale]
    if not telling and abs(estimate) > ROUNDING * scale:
        raise ValueError(f"all differences equal {estimate:.6g}: a test needs their spread, and there is none.")
    if not telling:
        return Difference(
            estimate=0.0, se=0.0, df=math.inf, p=1.0, log10_p=0.0, low=0.0, high=0.0, claim=tests[0].claim
        )
    half = max(reach_of(test, level) for test in telling)
    found = [(*_find_tail(estimate, test), test) for test in telling]
    tail, df, binding = max(found, key=lambda each: each[0].log10_p)
    return Difference(
        estimate=estimate, se=binding.se, df=df, p=tail.p, log10_p=tail.log10_p,
        low=estimate - half, high=estimate + half, claim=binding.claim,
    )  # fmt: skip


def reach_of(test: Criterion, level: float) -> float:
    """Return the half-width of the limits of one test; infinite on less than one degree of freedom."""
    df = test.df(1 - level)
    return t_quantile((1 + level) / 2, df) * test.se if df >= FEWEST_DF else math.inf


def _find_tail(estimate: float, test: Criterion) -> tuple[Tail, float]:
    """Return the level at which the test just rejects, and its degrees of freedom there.

    The smaller the level, the fewer the degrees of freedom and the larger the tail: one level equals its tail.
    """

    def tail_at(log10_level: float) -> Tail:
        return t_tail(estimate / test.se, test.df(10**log10_level))

    level = first = tail_at(0.0).log10_p
    if tail_at(first).log10_p > first:
        level = find_root(lambda x: tail_at(x).log10_p - x, first, 0.0, xtol=1e-12)
    return tail_at(level), test.df(10**level)


def with_components(found: Difference, arms: Sequence[Arm], spread: Spread) -> Difference:
    """Return the difference with the variances that say where its uncertainty comes from."""
    several = all(arm.df > 0 for arm in arms)  # one run: neither runs nor residual can be told from items
    return replace(
        found,
        run_variance=tuple(float(arm.run_variance) if arm.df else None for arm in arms),
        item_variance=float(spread.items()) * arms[0].items.shape[-1] if several else None,
        residual_variance=tuple(float(arm.residual_variance) if arm.df else None for arm in arms),
    )


def _largest(scores: Sequence[Floats]) -> float:
    return max(float(np.abs(np.nan_to_num(each)).max()) for each in scores)
