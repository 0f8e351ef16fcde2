"""The difference between two systems, with a test and an interval that keep their promise: a function for each design.

Scores are arrays of items x runs, one for each system, rows aligned on the items that both have, NaN where a cell is
missing. Which rule carries which claim was decided by measured calibration: docs/calibration.md,
docs/decisions/0009-compare-rule.md.

Over several datasets, each of the same weight or, if asked for, of its items, three readings differ in what is drawn
anew:

- these datasets: new items and new runs, datasets as given, whether each has runs of its own or the same are scored
  on all;
- new datasets, where each dataset has its own runs (a system is trained on each);
- new datasets, where the same runs are scored on all (one trained system, many benchmarks): a run that
  is lucky is lucky everywhere, so runs are a source of their own.

`dataset_means` makes a table of datasets x runs, of which `compare_over_datasets` tests both of the last. Where items
weigh the same, datasets are clusters of items: the mean is a ratio of two sums over datasets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.decisions import Criterion, Difference, decide
from holdsup.numerics.layout import Floats
from holdsup.numerics.least_squares import fit_additive
from holdsup.numerics.spread import (
    Arm,
    Spread,
    at_common_mean,
    cautious_df,
    find_clusters,
    means_of_sides,
    measure_arm,
    measure_run_spread,
    measure_spread,
    pairs_at_common_mean,
    total_variance,
)  # fmt: skip

Codes = NDArray[np.integer]


def compare_these_runs(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    clusters: Codes | None = None,
    ends: tuple[float, float] | None = None,
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
    measured = measure_pair(left, right, left_settings, right_settings, clusters, ends)
    return _answer(*measured, level, new_runs=False, tails=tails)


def compare_new_runs(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    clusters: Codes | None = None,
    ends: tuple[float, float] | None = None,
    room: tuple[float, float] | None = None,
    up: float = 0.0,
    deterministic: bool = False,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items and new runs, left's scores raised by `up`, runs nested in systems.

    Welch's test in two ways, items and runs, with cautious degrees of freedom; never a smaller p or a
    narrower interval than for these runs. With settings (a code for each run) it speaks of new seeds at
    these settings, equally weighted. With `clusters` (a code for each item) clusters replace items. Where one system is
    `deterministic`, its one run would have the same scores again: differences from them are scores of the other. `ends`
    are the two values that scores have, if they have two; `room` the ends of a scale near which
    runs vary less.

    Examples
    --------
    >>> found = compare_new_runs([[0.6, 0.7], [0.8, 0.8], [0.5, 0.7]], [[0.5, 0.5], [0.6, 0.8], [0.4, 0.5]])
    >>> round(found.estimate, 4), found.claim, found.p > 0.05
    (0.1333, 'new-runs', True)
    """
    settings = (left_settings, right_settings)
    arms, spread, scale = measure_pair(left, right, *settings, clusters, ends, deterministic=deterministic)
    if room is not None:
        spread = at_common_mean(spread, means_of_sides(arms, spread, left, right), room)
    return _answer(arms, replace(spread, estimate=spread.estimate + up), scale + abs(up), level)


def compare_shared_seeds(
    left: ArrayLike, right: ArrayLike, *, settings: Codes | None = None, clusters: Codes | None = None,
    ends: tuple[float, float] | None = None, room: tuple[float, float] | None = None, up: float = 0.0,
    level: float = 0.95, tails: bool = True,
) -> Difference:  # fmt: skip
    """Return the difference over new items and new seeds, where column r of both systems is the same seed.

    The differences of the two systems are the scores of one: seeds are paired, and k seeds leave k - 1
    degrees of freedom. A cell that either system lacks is missing. `ends`, `room` and `up` are those of
    `compare_new_runs`. Without `tails` there are limits, and no p.
    """
    left, right, scale = read_pair(left, right)
    if left.shape != right.shape:
        raise ValueError(f"shared seeds pair runs, but one system has {left.shape[1]} and the other {right.shape[1]}.")
    found = find_clusters(clusters, len(left))
    arm = measure_arm(left - right, settings, found)
    spread = measure_spread([arm], arm.items, found, ends)
    if room is not None:
        spread = pairs_at_common_mean(spread, [measure_arm(each, settings, found) for each in (left, right)], room)
    return _answer([arm], replace(spread, estimate=spread.estimate + up), scale + abs(up), level, tails=tails)


def compare_run_scores(
    left: ArrayLike, right: ArrayLike, *, deterministic: bool = False, level: float = 0.95
) -> Difference:
    """Return the difference over new runs where each run has one score and there are no items.

    Welch's test with cautious degrees of freedom; it claims nothing about other items. The one score of a system that
    is `deterministic` does not vary.

    >>> found = compare_run_scores([27.1, 27.9, 27.4], [26.0, 26.3, 26.1])
    >>> round(found.estimate, 4), round(found.p, 3)
    (1.3333, 0.027)
    """
    scores = [np.asarray(each, float) for each in (left, right)]
    for each in scores:
        few = len(each) < 2 and not deterministic
        if each.ndim != 1 or few or not np.isfinite(each).all():
            raise ValueError(f"a system needs two finite run scores or more, but has {each.tolist()!s:.80}.")
    spread = measure_run_spread(*scores)
    return decide(float(spread.estimate), [new_runs_test([spread])], _largest(scores), level)


def compare_over_datasets(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    nested: tuple[bool, bool] = (False, False),
    clusters: Codes | None = None,
    room: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new datasets and new runs, of scores by datasets x runs.

    Where a side is `nested`, each dataset has its own runs, whose luck is in the spread between datasets; where not,
    a column is one run, scored on all of them. Settings, a code for each run, weigh the same. With `clusters`, the
    dataset of each item, scores are by items x runs, and items weigh the same. `room` is that of `compare_new_runs`;
    `rank` has none, so that answers only say what it would change.

    Examples
    --------
    >>> x, y = [[0.5, 0.7], [0.6, 0.8], [0.2, 0.7]], [[0.4, 0.5], [0.5, 0.6], [0.3, 0.5]]
    >>> [round(compare_over_datasets(x, y, nested=(own, own)).p, 3) for own in (True, False)]
    [0.073, 0.579]
    """
    left, right, scale = read_pair(left, right)
    found = find_clusters(clusters, len(left))
    arms: list[Arm] = []
    means: list[Floats] = []
    for scores, settings, own in zip((left, right), (left_settings, right_settings), nested, strict=True):
        if own:
            means.append(mean_of_settings(scores, settings))
        else:
            arms.append(measure_arm(scores, settings, found))
            means.append(arms[-1].items)
    spread = measure_spread(arms, means[0] - means[1], found)
    if not arms:
        return decide(float(spread.estimate), [these_runs_test([spread], "new-datasets")], scale, level)
    if room is not None:
        whole = [float(each.mean()) for each in means]
        sides = [pair for pair, own in zip((whole, whole[::-1]), nested, strict=True) if not own]
        spread = at_common_mean(spread, [(own, other) for own, other in sides], room)
    return _answer(arms, spread, scale, level)


def mean_of_settings(scores: Floats, settings: Codes | None) -> Floats:
    """Return the mean of each row over the settings that it has, each the mean of its columns."""
    codes = np.zeros(scores.shape[1], int) if settings is None else np.asarray(settings)
    there = ~np.isnan(scores)
    known, means = np.where(there, scores, 0.0), []
    for code in np.unique(codes):
        count = there[:, codes == code].sum(axis=1)
        means.append(np.where(count > 0, known[:, codes == code].sum(axis=1) / np.maximum(count, 1), np.nan))
    return np.asarray(np.nanmean(means, axis=0))


def dataset_means(scores: ArrayLike, datasets: Codes) -> Floats:
    """Return the mean of each run in each dataset, shape (..., datasets, runs).

    Missing cells are made up for by least squares within the dataset; a run without any score there has NaN.
    """
    scores = np.asarray(scores, float)
    means = []
    for at in rows_of(datasets, scores.shape[-2]):
        part = scores[..., at, :]
        used = ~np.isnan(part).all(axis=tuple(range(part.ndim - 1)))
        means.append(np.full((*part.shape[:-2], part.shape[-1]), np.nan))
        means[-1][..., used] = fit_additive(part[..., used]).runs
    return np.stack(means, axis=-2)


def rows_of(datasets: Codes, count: int) -> list[Codes]:
    """Return the rows of each dataset."""
    if np.shape(datasets) != (count,):
        raise ValueError(f"a dataset is needed for each of {count} items, but there are {np.size(datasets)} codes.")
    return [np.flatnonzero(np.asarray(datasets) == code) for code in np.unique(datasets)]


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


def measure_pair(
    left: ArrayLike, right: ArrayLike, left_settings: Codes | None, right_settings: Codes | None,
    clusters: Codes | None, ends: tuple[float, float] | None = None, *, deterministic: bool = False,
) -> tuple[list[Arm], Spread, float]:  # fmt: skip
    """Return what the runs of each system say, the parts of the variance of their difference, and the largest score."""
    left, right, scale = read_pair(left, right)
    found = find_clusters(clusters, len(left))
    sides = sides_of(left, right, left_settings, right_settings, deterministic)
    arms = [measure_arm(scores, settings, found) for scores, settings in sides]
    return arms, measure_spread(arms, subtract(arms), found, ends), scale


def sides_of(
    left: Floats, right: Floats, left_settings: Codes | None, right_settings: Codes | None, deterministic: bool
) -> list[tuple[Floats, Codes | None]]:
    """Return the scores whose runs vary, with their settings: of both systems, or differences from one run."""
    if not deterministic:
        return [(left, left_settings), (right, right_settings)]
    if min(left.shape[1], right.shape[1]) > 1:
        raise ValueError("a deterministic system has one run.")
    return [(left - right, left_settings if left.shape[1] > 1 else right_settings)]


def subtract(arms: Sequence[Arm]) -> Floats:
    """Return the difference of each item; one arm has differences already."""
    return arms[0].items if len(arms) == 1 else arms[0].items - arms[1].items


def _answer(
    arms: Sequence[Arm], spread: Spread, scale: float, level: float, *, new_runs: bool = True, tails: bool = True
) -> Difference:
    found = decide(float(spread.estimate), choose_tests([spread], new_runs=new_runs), scale, level, tails=tails)
    return with_components(found, arms, spread)


def choose_tests(spreads: Sequence[Spread], *, new_runs: bool) -> list[Criterion]:
    """Return the tests that a claim needs: one over new runs never says more than that over these."""
    return [new_runs_test(spreads), these_runs_test(spreads)] if new_runs else [these_runs_test(spreads)]


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
