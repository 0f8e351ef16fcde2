"""The difference between two systems, with a test and an interval that keep their promise.

One function for each design. Scores are arrays of items x runs, one for each system, rows aligned on
the items that both have, NaN where a cell is missing. Which rule carries which claim was decided by
measured calibration: docs/calibration.md, docs/decisions/0009-compare-rule.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.clusters import find_clusters
from holdsup.numerics.decisions import FEWEST_DF, ROUNDING, Criterion, Difference, decide, reach_of
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import (
    Arm,
    Spread,
    cautious_df,
    measure_arm,
    measure_run_spread,
    measure_spread,
    total_variance,
)

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


def compare_these_runs(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
    tails: bool = True,
) -> Difference:
    """Return the difference over new items, for these trained runs: the paired t-test on item differences.

    Says nothing about other runs of the same systems. Settings, where given, weigh the same. Without `tails` there are
    limits, and no p.

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
    return with_components(
        decide(float(spread.estimate), [these_runs_test([spread])], scale, level, tails=tails), arms, spread
    )


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
    tails: bool = True,
) -> Difference:
    """Return the difference over new items and new seeds, where column r of both systems is the same seed.

    The differences of the two systems are the scores of one: seeds are paired, and k seeds leave k - 1
    degrees of freedom. A cell that either system lacks is missing. Without `tails` there are limits, and no p.
    """
    left, right, scale = read_pair(left, right)
    if left.shape != right.shape:
        raise ValueError(f"shared seeds pair runs, but one system has {left.shape[1]} and the other {right.shape[1]}.")
    found = find_clusters(clusters, len(left))
    arm = measure_arm(left - right, settings, found)
    spread = measure_spread([arm], arm.items, found)
    tests = [new_runs_test([spread]), these_runs_test([spread])]
    return with_components(decide(float(spread.estimate), tests, scale, level, tails=tails), [arm], spread)


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
    total = np.maximum(0.0, np.asarray(sum(each.these for each in spreads)))  # missing cells may add a rounding below
    uncertainty = np.asarray(sum(each.these**2 / each.item_df for each in spreads))
    some = uncertainty > 0
    df = np.where(some, total**2 / np.where(some, uncertainty, 1.0), np.inf)
    return Criterion(claim, np.sqrt(total), lambda _: df)


def new_runs_test(spreads: Sequence[Spread]) -> Criterion:
    """Return the test over new items and new runs, of the sum of independent differences."""
    if min(np.min(df) for each in spreads for df in each.run_df) < 1:
        raise ValueError("new runs are claimed, but a system has one run only: how much runs differ is not measured.")
    return Criterion("new-runs", np.sqrt(total_variance(spreads)), lambda alpha: cautious_df(spreads, alpha))


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
