"""The difference between two systems on these datasets: over new items and new runs, datasets as given.

Each dataset has runs of its own, or the same runs are scored on all. `numerics/differences.py` has the other designs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from holdsup.numerics.arithmetic import share_out
from holdsup.numerics.decisions import Difference, decide
from holdsup.numerics.differences import (
    Codes,
    choose_tests,
    dataset_means,
    measure_pair,
    read_pair,
    rows_of,
    sides_of,
    subtract,
    these_runs_test,
)
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import (
    Arm,
    Spread,
    at_common_mean,
    find_clusters,
    means_of_sides,
    measure_arm,
    measure_spread,
)


def compare_these_datasets(
    left: ArrayLike,
    right: ArrayLike,
    datasets: Codes,
    *,
    clusters: Codes | None = None,
    new_runs: bool = True,
    weights: ArrayLike | None = None,
    deterministic: bool = False,
    room: tuple[float, float] | None = None,
    up: float = 0.0,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items, and new runs, of these datasets, each with runs of its own.

    The variances of the datasets' differences add up; each part keeps its degrees of freedom. A column
    that a dataset does not use is NaN throughout it. `weights` are those of datasets, in the order of their codes;
    `room` and `up` are those of `compare_new_runs`.
    """
    left, right, scale = read_pair(left, right)
    rows = rows_of(datasets, len(left))
    spreads = []
    for at, share in zip(rows, share_out(weights, len(rows)), strict=True):
        inside = None if clusters is None else clusters[at]
        both = _used(left[at]), _used(right[at])
        arms, spread, _ = measure_pair(*both, None, None, inside, deterministic=deterministic)
        if room is not None and new_runs:
            spread = at_common_mean(spread, means_of_sides(arms, spread, *both), room)
        spreads.append(spread.scaled(share))
    total = float(sum(each.estimate for each in spreads)) + up
    return decide(total, choose_tests(spreads, new_runs=new_runs), scale + abs(up), level)


def compare_runs_on_datasets(
    left: ArrayLike,
    right: ArrayLike,
    datasets: Codes,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    deterministic: bool = False,
    clusters: Codes | None = None,
    weights: ArrayLike | None = None,
    room: tuple[float, float] | None = None,
    up: float = 0.0,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items and new runs on these datasets, a column one run scored on all of them.

    Runs vary by their means over all datasets, items within each. Datasets are as given, so that how a run does on one
    of them and not on another is the run's luck. `room` and `up` are those of `compare_new_runs`.
    """
    left, right, scale = read_pair(left, right)
    sides = sides_of(left, right, left_settings, right_settings, deterministic)
    arms, spread = measure_on_datasets(sides, datasets, clusters, weights)
    if room is not None:
        spread = at_common_mean(spread, means_of_sides(arms, spread, left, right), room)
    tests = choose_tests([spread], new_runs=True)
    return replace(
        decide(float(spread.estimate) + up, tests, scale + abs(up), level),
        run_variance=tuple(float(arm.run_variance) for arm in arms),
        residual_variance=tuple(len(left) * float(arm.residual_variance) for arm in arms),
    )


def measure_on_datasets(
    sides: Sequence[tuple[Floats, Codes | None]], datasets: Codes, clusters: Codes | None, weights: ArrayLike | None
) -> tuple[list[Arm], Spread]:
    """Return what runs say of means over these datasets, and the parts of the variance of their difference.

    `sides` are scores, shape (..., I, k), with a setting for each run, of two systems, or differences of two. The
    residual variance of an arm is what a run's mean over datasets has of it.
    """
    rows, arms = rows_of(datasets, sides[0][0].shape[-2]), list[Arm]()
    if min(map(len, rows)) < 2:
        raise ValueError("a dataset has one item: how much items differ is not measured.")
    if any(np.isnan(scores[..., at, :]).all(axis=-2).any() for scores, _ in sides for at in rows):
        raise ValueError("a run was not scored on all of these datasets.")
    weights = share_out(weights, len(rows))
    found = [find_clusters(None if clusters is None else clusters[at], len(at)) for at in rows]
    within = [
        [measure_arm(scores[..., at, :], settings, own) for scores, settings in sides]
        for at, own in zip(rows, found, strict=True)
    ]
    parts = [
        measure_spread(both, subtract(both), own).scaled(weight)
        for both, own, weight in zip(within, found, weights, strict=True)
    ]
    for (scores, settings), own in zip(sides, zip(*within, strict=True), strict=True):
        means = np.einsum("d,...dk->...k", weights, dataset_means(scores, datasets))
        whole = measure_arm(means[..., None, :], settings, find_clusters(None, 1))
        noise = np.asarray(sum(w**2 * arm.noise for w, arm in zip(weights, own, strict=True)))
        share, runs = np.minimum(1.0, noise / np.where(whole.part > 0, whole.part, 1.0)), whole.run_variance
        arms.append(replace(whole, noise=noise, run_variance=(1 - share) * runs, residual_variance=share * runs))
    items = these_runs_test(parts)
    return arms, Spread(
        estimate=np.asarray(sum(each.estimate for each in parts)),
        these=np.asarray(items.se, float) ** 2,
        item_df=cast("float", items.df(0.05)),
        runs=tuple(arm.part for arm in arms),
        noise=tuple(arm.noise for arm in arms),
        run_df=tuple(arm.df for arm in arms),
    )


def _used(scores: Floats) -> Floats:
    return scores[:, ~np.isnan(scores).all(0)]
