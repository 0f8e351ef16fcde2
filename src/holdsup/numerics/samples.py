"""Several answers of one system to one item: the chance that some, or all, of k are right, and its variance.

With c of n answers right, the unbiased estimates are those of Chen et al. (2021) and Yao et al. (2024),

    pass@k = 1 - C(n-c, k) / C(n, k),   pass^k = C(c, k) / C(n, k),

and their mean over items varies over new items and new samples as any mean of scores does. For these items alone its
variance is that of the samples: by the jackknife, which leaves out one answer at a time and so needs more than k of
them. Its expectation is never too small for such statistics (Efron & Stein 1981), and exact for k = 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.decisions import Criterion, Difference, decide
from holdsup.numerics.layout import Floats

Codes = NDArray[np.integer]


def share_of_all(right: ArrayLike, samples: ArrayLike, k: int) -> Floats:
    """Return C(c, k) / C(n, k), the estimated chance that k samples are all right; NaN with fewer than k of them.

    >>> share_of_all([3, 2, 0], [4, 2, 1], 2).tolist()
    [0.5, 1.0, nan]
    """
    c, n = np.broadcast_arrays(np.asarray(right, float), np.asarray(samples, float))
    found = np.ones(c.shape)
    for j in range(k):
        found = found * np.maximum(c - j, 0) / np.maximum(n - j, 1)
    return np.asarray(np.where(n >= k, found, np.nan))


def share_of_any(right: ArrayLike, samples: ArrayLike, k: int) -> Floats:
    """Return 1 - C(n-c, k) / C(n, k), the estimated chance that one of k samples is right.

    >>> share_of_any([3, 0], [4, 4], 2).tolist()
    [1.0, 0.0]
    """
    return 1 - share_of_all(np.asarray(samples) - np.asarray(right), samples, k)


def jackknife_share(right: ArrayLike, samples: ArrayLike, k: int) -> Floats:
    """Return the variance of `share_of_all` over new samples; NaN where there are no more than k of them.

    For k = 1 it is that of a mean, s^2 / n:

    >>> jackknife_share([1, 2], [2, 2], 1).tolist()
    [0.25, 0.0]
    """
    c, n = np.broadcast_arrays(np.asarray(right, float), np.asarray(samples, float))
    without_right, without_wrong = (share_of_all(np.maximum(each, 0), n - 1, k) for each in (c - 1, c))
    return np.asarray((n - 1) / n * c * (n - c) / n * (without_right - without_wrong) ** 2)


def weigh_cells(scores: Floats, settings: Codes | None) -> Floats:
    """Return the weight of each run in the mean of an item, shape (items, runs): settings weigh the same."""
    codes = np.zeros(scores.shape[1], int) if settings is None else np.asarray(settings)
    there = ~np.isnan(scores)
    weights = np.zeros(scores.shape)
    for code in np.unique(codes):
        own = there & (codes == code)
        weights += own / np.maximum(own.sum(axis=1, keepdims=True), 1)
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1))


def compare_these_items(
    left: Floats, right: Floats, *, weights: Floats, variances: tuple[Floats, Floats], counts: tuple[Floats, Floats],
    settings: tuple[Codes | None, Codes | None] = (None, None), level: float = 0.95,
) -> Difference:  # fmt: skip
    """Return the difference over new samples, of these runs on these items.

    Parameters
    ----------
    left, right : scores by items x runs, each the mean of samples or an estimate from them; NaN where there is none
    weights : the weight of each item in the mean
    variances : of each of both systems' scores over new samples, likewise by items x runs
    counts : how many samples each score is of
    settings : of each of both systems, the setting of each run, where there are several

    Examples
    --------
    >>> x, y, v, n = np.array([[0.5], [1.0]]), np.array([[0.5], [0.5]]), np.full((2, 1), 0.25), np.full((2, 1), 2)
    >>> found = compare_these_items(x, y, weights=np.ones(2), variances=(v, v), counts=(n, n))
    >>> found.estimate, found.se, found.df
    (0.25, 0.5, 4.0)
    """
    share = (weights / weights.sum())[:, None]
    estimate, parts, degrees = 0.0, list[Floats](), list[Floats]()
    scored = zip((1, -1), (left, right), variances, counts, settings, strict=True)
    for sign, scores, variance, count, own in scored:
        cells, there = share * weigh_cells(scores, own), ~np.isnan(scores)
        estimate += sign * float((cells[there] * scores[there]).sum())
        parts.append(cells[there] ** 2 * variance[there])
        degrees.append(count[there] - 1.0)
    part, df = np.concatenate(parts), np.concatenate(degrees)
    total = part.sum()
    found = np.asarray(total**2 / (part**2 / df).sum() if total > 0 else np.inf)
    largest = max(float(np.nanmax(np.abs(each))) for each in (left, right))
    return decide(estimate, [Criterion("these-items", np.sqrt(total), lambda _: found)], largest, level)
