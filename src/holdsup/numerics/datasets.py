"""The difference between two systems over several datasets, each of the same weight or, if asked for, of its items.

Three readings, which differ in what is drawn anew:

- these datasets: new items and new runs in each, datasets as given;
- new datasets, where each dataset has runs of its own (a system is trained on each);
- new datasets, where the same runs are scored on all (one trained system, many benchmarks): a run that
  is lucky is lucky everywhere, so runs are a source of their own.

`dataset_means` makes a table of datasets x runs, of which `compare_over_datasets` tests both of the last.
Where items weigh the same, datasets are clusters of items: large ones weigh more, and the mean is a ratio of two
sums over datasets (`clusters`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from holdsup.numerics.additive import fit_additive
from holdsup.numerics.clusters import find_clusters
from holdsup.numerics.differences import (
    Codes,
    Difference,
    decide,
    new_runs_test,
    read_pair,
    these_runs_test,
    with_components,
)
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import Arm, Spread, measure_arm, measure_spread

__all__ = ["compare_new_datasets", "compare_over_datasets", "compare_these_datasets", "dataset_means"]


def compare_these_datasets(
    left: ArrayLike,
    right: ArrayLike,
    datasets: Codes,
    *,
    clusters: Codes | None = None,
    new_runs: bool = True,
    by_items: bool = False,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items, and new runs, of these datasets, each with runs of its own.

    The variances of the datasets' differences add up; each part keeps its degrees of freedom. A column
    that a dataset does not use is NaN throughout it. With `by_items` a dataset has the weight of its items.
    """
    left, right, scale = read_pair(left, right)
    rows = _rows(datasets, len(left))
    spreads = [
        _spread(left[at], right[at], None if clusters is None else clusters[at]).scaled(
            len(at) / len(left) if by_items else 1 / len(rows)
        )
        for at in rows
    ]
    tests = [new_runs_test(spreads), these_runs_test(spreads)] if new_runs else [these_runs_test(spreads)]
    return decide(float(sum(each.estimate for each in spreads)), tests, scale, level)


def compare_new_datasets(left: ArrayLike, right: ArrayLike, datasets: Codes, *, level: float = 0.95) -> Difference:
    """Return the difference over new datasets, each with runs of its own: the t-test on dataset differences.

    What items and runs add is in the differences between datasets already.
    """
    left, right, scale = read_pair(left, right)
    means = [[fit_additive(_used(scores[at])).items.mean() for scores in (left, right)]
             for at in _rows(datasets, len(left))]  # fmt: skip
    differences = np.array([first - second for first, second in means])
    if len(differences) < 2:
        raise ValueError("new datasets are claimed, but there is one: how much datasets differ is not measured.")
    spread = measure_spread([], differences, find_clusters(None, len(differences)))
    return decide(float(spread.estimate), [these_runs_test([spread], "new-datasets")], scale, level)


def compare_over_datasets(
    left: ArrayLike,
    right: ArrayLike,
    *,
    left_settings: Codes | None = None,
    right_settings: Codes | None = None,
    nested: tuple[bool, bool] = (False, False),
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new datasets and new runs, of scores by datasets x runs.

    Where a side is `nested`, each dataset has runs of its own, whose luck is in the spread between datasets; where not,
    a column is one run, scored on all of them. Settings, a code for each run, weigh the same. With `clusters`, the
    dataset of each item, scores are by items x runs, and items weigh the same.

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
            means.append(_mean_of_settings(scores, settings))
        else:
            arms.append(measure_arm(scores, settings, found))
            means.append(arms[-1].items)
    spread = measure_spread(arms, means[0] - means[1], found)
    if not arms:
        return decide(float(spread.estimate), [these_runs_test([spread], "new-datasets")], scale, level)
    tests = [new_runs_test([spread]), these_runs_test([spread])]
    return with_components(decide(float(spread.estimate), tests, scale, level), arms, spread)


def _mean_of_settings(scores: Floats, settings: Codes | None) -> Floats:
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
    for at in _rows(datasets, scores.shape[-2]):
        part = scores[..., at, :]
        used = ~np.isnan(part).all(axis=tuple(range(part.ndim - 1)))
        means.append(np.full((*part.shape[:-2], part.shape[-1]), np.nan))
        means[-1][..., used] = fit_additive(part[..., used]).runs
    return np.stack(means, axis=-2)


def _spread(left: Floats, right: Floats, clusters: Codes | None) -> Spread:
    """Return the parts of the variance of one dataset's difference."""
    left, right, _ = read_pair(_used(left), _used(right))
    found = find_clusters(clusters, len(left))
    arms = [measure_arm(scores, None, found) for scores in (left, right)]
    return measure_spread(arms, arms[0].items - arms[1].items, found)


def _used(scores: Floats) -> Floats:
    """Return the columns that hold a score."""
    return scores[:, ~np.isnan(scores).all(0)]


def _rows(datasets: Codes, count: int) -> list[Codes]:
    """Return the rows of each dataset."""
    if np.shape(datasets) != (count,):
        raise ValueError(f"a dataset is needed for each of {count} items, but there are {np.size(datasets)} codes.")
    return [np.flatnonzero(np.asarray(datasets) == code) for code in np.unique(datasets)]
