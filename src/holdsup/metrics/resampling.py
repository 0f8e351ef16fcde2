"""Bootstrap and permutation over items, from counts: a matrix of weights times the counts gives all sums at once.

Items with equal counts are interchangeable. How often each different row is drawn is multinomial, how many of its
items are swapped between systems is binomial: the weights have a column for each different row, not for each item,
and the sums have the same distribution. The order of items does not matter to the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdsup.metrics.metric import Counts, Floats

Score = Callable[[Floats], Floats]  # (..., counts) -> (...)
BLOCK = 2**22  # weights that are held at once
DEAR = 5  # a binomial number costs about as much as drawing five items
TIE = 1e-12  # a difference that is this close to the observed one, relative to the scores, is as large


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """What a score, or a difference of scores, is in samples drawn with replacement."""

    estimate: float  # in the data
    draws: Floats  # in each sample; NaN where it is undefined

    @property
    def undefined(self) -> int:
        """The number of samples without a score; standard error and interval are of the others."""
        return int(np.isnan(self.draws).sum())

    @property
    def se(self) -> float:
        """The standard error: the standard deviation between samples, NaN with fewer than two."""
        defined = self.draws[~np.isnan(self.draws)]
        return float(defined.std(ddof=1)) if len(defined) > 1 else float("nan")

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the percentile interval."""
        defined = self.draws[~np.isnan(self.draws)]
        if not len(defined):
            return float("nan"), float("nan")
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


@dataclass(frozen=True, slots=True, eq=False)
class Permutation:
    """A randomisation test of two systems: what their difference would be if it did not matter who predicted what."""

    difference: float  # left minus right, in the data
    extreme: int  # number of draws whose difference is as large, either way; draws without a score are among them
    draws: int  # number of draws
    undefined: int  # number of draws without a score

    @property
    def p(self) -> float:
        """The two-sided p-value, (1 + k) / (N + 1); NaN where the difference itself is undefined."""
        return float("nan") if np.isnan(self.difference) else (1 + self.extreme) / (1 + self.draws)


def bootstrap_score(
    counts: Counts, score: Score, *, draws: int, seed: int, clusters: NDArray[np.integer] | None = None
) -> Bootstrap:
    """Return the score of `draws` samples of the items, or of the clusters, as many as there are.

    Parameters
    ----------
    counts : a row for each item, shape (items, counts)
    score : the score of summed counts
    draws : number of samples
    seed : of the generator
    clusters : the cluster of each item, drawn as a whole; None draws items
    """
    counts = _prepare(counts, clusters)
    rows, number = _distinct(counts)
    rng = np.random.default_rng(seed)
    scores = [score(_times(_draw(rng, number, size), rows)) for size in _blocks(draws, counts.shape[0])]
    return Bootstrap(float(score(_sum(counts))), np.concatenate(scores))


def bootstrap_difference(
    left: Counts, right: Counts, score: Score, *, draws: int, seed: int, clusters: NDArray[np.integer] | None = None
) -> Bootstrap:
    """Return the score of left minus that of right in samples of items; both systems are scored on the same items."""
    _check_pair(left, right)
    width = left.shape[1]
    return bootstrap_score(
        _beside(left, right),
        lambda sums: score(sums[..., :width]) - score(sums[..., width:]),
        draws=draws,
        seed=seed,
        clusters=clusters,
    )


def permute_systems(
    left: Counts, right: Counts, score: Score, *, draws: int, seed: int, clusters: NDArray[np.integer] | None = None
) -> Permutation:
    """Return the test of left against right that swaps the two, with probability 1/2, on each item or cluster.

    Approximate randomisation: Noreen (1989); Yeh (2000) for F1. Takes the arguments of `bootstrap_difference`.
    """
    _check_pair(left, right)
    left, right = _prepare(left, clusters), _prepare(right, clusters)
    total_left, total_right = _sum(left), _sum(right)
    rows, number = _distinct(right - left)  # what left gains, and right loses, when an item is swapped
    observed = float(score(total_left) - score(total_right))
    rng = np.random.default_rng(seed)
    extreme = undefined = 0
    for size in _blocks(draws, len(number)):
        moved = _times(rng.binomial(number, 0.5, (size, len(number))), rows)
        ours, theirs = score(total_left + moved), score(total_right - moved)
        smaller = np.abs(ours - theirs) < abs(observed) - TIE * (np.abs(ours) + np.abs(theirs))
        extreme += size - int(smaller.sum())
        undefined += int(np.isnan(ours - theirs).sum())
    return Permutation(observed, extreme, draws, undefined)


def _check_pair(left: Counts, right: Counts) -> None:
    if left.shape != right.shape:
        raise ValueError(f"two systems need the same items and counts, but there are {left.shape} and {right.shape}.")


def _prepare(counts: Counts, clusters: NDArray[np.integer] | None) -> Counts:
    """Return the counts of each cluster, or of each item where there are none, as floats: they will be subtracted."""
    if not counts.shape[0] or not counts.shape[1]:
        raise ValueError(f"items with counts are needed to draw from, but there is an array of {counts.shape}.")
    counts = counts.astype(np.float64)
    if clusters is None:
        return counts
    if np.shape(clusters) != (counts.shape[0],):
        raise ValueError(f"a cluster is needed for each of {counts.shape[0]} items, not {np.size(clusters)}.")
    names, code = np.unique(clusters, return_inverse=True)
    belongs = sp.csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape=(len(names), len(code)))
    return belongs @ counts


def _draw(rng: np.random.Generator, number: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Return how often each different row is drawn in `size` samples, given the number of items of each."""
    items = int(number.sum())
    if DEAR * len(number) < items:
        return rng.multinomial(items, number / items, size)
    rows = np.repeat(np.arange(len(number)), number)[rng.integers(items, size=(size, items))]
    rows += len(number) * np.arange(size)[:, None]
    return np.bincount(rows.ravel(), minlength=size * len(number)).reshape(size, -1)


def draw_weights(items: int, draws: int, seed: int) -> Iterator[Floats]:
    """Yield, for some of the samples at once, how often each item is in each."""
    rng = np.random.default_rng(seed)
    for size in _blocks(draws, items):
        yield _draw(rng, np.ones(items, dtype=np.intp), size).astype(np.float64)


def _blocks(draws: int, width: int) -> Iterator[int]:
    """Yield how many draws to make at once, so that their weights stay small."""
    if draws < 1:
        raise ValueError(f"at least one draw is needed, not {draws}.")
    most = max(1, BLOCK // width)
    for done in range(0, draws, most):
        yield min(most, draws - done)


def _distinct(counts: Counts) -> tuple[Counts, NDArray[np.intp]]:
    """Return the different rows of counts, in an order that is theirs, and the number of items of each."""
    keys = counts
    if sp.issparse(counts):  # a sparse row as its places and values, the short ones filled up
        counts = sp.csr_array(counts)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        lengths = np.diff(counts.indptr)
        at = np.repeat(np.arange(counts.shape[0]), lengths)
        within = np.arange(len(at)) - np.repeat(counts.indptr[:-1], lengths)
        keys = np.full((counts.shape[0], 2 * int(lengths.max(initial=1))), -1.0)
        keys[at, 2 * within], keys[at, 2 * within + 1] = counts.indices, counts.data
    _, first, number = np.unique(keys, axis=0, return_index=True, return_counts=True)
    return counts[first], number


def _times(weights: NDArray[np.integer], rows: Counts) -> Floats:
    return np.asarray(weights.astype(np.float64) @ rows)


def _sum(counts: Counts) -> Floats:
    return np.asarray(counts.sum(axis=0), dtype=np.float64)


def _beside(left: Counts, right: Counts) -> Counts:
    return sp.csr_array(sp.hstack([left, right])) if sp.issparse(left) else np.hstack([left, right])
