"""Where each candidate stands: its mean over partitions beside that of the pick, on the same partitions.

Scores have a row for each partition and a column for each candidate; larger is better. NaN is a partition on which a
candidate was not run. A column without any number is a candidate that is out. Everything is about differences between
candidates on the same partition: what a partition adds to all of them cancels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.numerics.layout import Floats
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.rounding import largest, without_noise

__all__ = ["PRIOR_DF", "Standing", "count_wins", "measure_standing", "pick_best", "round_means"]

PRIOR_DF = 8  # the most degrees of freedom that the pooled variance is worth beside a candidate's own
REACH = 0.995  # a candidate farther below the pick than this quantile of Student's t is no contender
LEAST_OWN = 3  # partitions that a candidate's own variance needs: of two, a limit by it would say nothing
POOLED = 4  # candidates, at least, that the pooled variance comes from: of two it would have one degree of freedom


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Candidates beside the pick.

    Attributes
    ----------
    pick : the candidate with the largest mean, the first of several
    means : of each candidate over its partitions; NaN for one that is out
    counts : number of partitions of each candidate
    gaps : mean difference from the pick, on the same partitions; zero or less for complete candidates
    residuals : what is left of those differences, shape (partitions, candidates); zero where a candidate was not run
    twins : the first candidate that has the same scores, itself if none has
    contenders : which candidates lie near the top; one of those with the same scores
    variance : of a difference between two candidates near the top on one partition, pooled; NaN with one partition
    weight : degrees of freedom that the pooled variance is worth beside a candidate's own
    """

    pick: int
    means: Floats
    counts: NDArray[np.intp]
    gaps: Floats
    residuals: Floats
    twins: NDArray[np.intp]
    contenders: NDArray[np.bool_]
    variance: float
    weight: float

    @property
    def rivals(self) -> NDArray[np.intp]:
        """The candidates, one of those with the same scores, that are in and not the pick.

        In the order of their scores, so that what is drawn for each does not depend on who was named first.
        """
        own = np.arange(len(self.means))
        found = np.flatnonzero((self.counts > 0) & (self.twins == own) & (own != self.pick))
        return found[np.lexsort((*self.residuals[:, found], self.gaps[found]))]

    @property
    def df(self) -> Floats:
        """Degrees of freedom of the variance of each candidate's difference."""
        return np.asarray(self.weight + np.maximum(self.counts, 1) - 1.0)

    @property
    def errors(self) -> Floats:
        """Standard errors of the gaps: each variance is drawn towards the pooled one.

        The posterior mean under an inverse chi-square prior that is worth `weight` degrees of freedom.
        """
        own = (self.residuals**2).sum(0)
        return np.asarray(np.sqrt((self.weight * self.variance + own) / self.df / np.maximum(self.counts, 1)))

    def own_reach(self, level: float) -> Floats:
        """Return how far above its gap a candidate may lie by its own variance alone; zero with few partitions.

        Student's limit of a paired difference: one that varies more than those the variance is pooled over needs it.
        """
        df = np.maximum(self.counts, 2) - 1.0
        error = np.sqrt((self.residuals**2).sum(0) / (df * np.maximum(self.counts, 1)))
        return np.where(self.counts < LEAST_OWN, 0.0, special.stdtrit(df, level) * error)


def pick_best(scores: Floats) -> int:
    """Return the complete candidate with the largest mean; the first of several.

    >>> pick_best(np.array([[0.7, 0.9, np.nan], [0.8, 0.6, 1.0]]))
    0
    """
    complete = np.flatnonzero(np.isfinite(scores).all(axis=0))
    if not len(complete):
        raise ValueError("no candidate has a score on every partition.")
    return int(complete[np.argmax(round_means(scores[:, complete].mean(axis=0)))])


def round_means(means: Floats) -> Floats:
    """Return means without the last digits, by which sums of equal scores in another order would differ."""
    known = np.abs(means[np.isfinite(means)])
    scale = float(known.max(initial=0.0))
    return np.round(means / scale, 13) if scale > 0 else means


def count_wins(scores: Floats) -> Floats:
    """Return the share of partitions on which each candidate is the best; of several that are, each wins.

    >>> count_wins(np.array([[0.7, 0.9], [0.8, 0.6], [0.5, 0.5], [0.1, 0.2]])).tolist()
    [0.5, 0.75]
    """
    filled = np.where(np.isfinite(scores), scores, -np.inf)
    behind = without_noise(filled - filled.max(axis=1, keepdims=True), largest(scores))
    return np.asarray((behind == 0).mean(axis=0))


def measure_standing(scores: Floats) -> Standing:
    """Return where each candidate stands beside the pick."""
    pick = pick_best(scores)
    run = np.isfinite(scores)
    counts = run.sum(axis=0)
    total = np.where(run, scores, 0.0).sum(axis=0)
    scale = largest(scores)
    differences = without_noise(np.where(run, scores - scores[:, [pick]], 0.0), scale)
    at_least_one = np.maximum(counts, 1)
    gaps = np.where(counts > 0, without_noise(differences.sum(axis=0) / at_least_one, scale), np.nan)
    residuals = np.where(run, differences - gaps, 0.0)
    twins = _find_twins(scores)
    contenders, variance, weight = _find_contenders(scores, pick, gaps, twins)
    means = np.where(counts > 0, total / at_least_one, np.nan)
    return Standing(pick, means, counts, gaps, residuals, twins, contenders, variance, weight)


def _find_twins(scores: Floats) -> NDArray[np.intp]:
    """Return for each candidate the first one with the same score on every partition of it, run no less often."""
    run = np.isfinite(scores)
    counts = run.sum(axis=0)
    twins = np.arange(len(counts))
    for c in np.flatnonzero(counts):
        rows = run[:, c]
        same = np.flatnonzero((scores[rows] == scores[rows, c][:, None]).all(axis=0))
        twins[c] = same[np.argmax(counts[same])]
    return twins


def _find_contenders(
    scores: Floats, pick: int, gaps: Floats, twins: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], float, float]:
    """Return the candidates within reach of the pick, two at least, the variance of differences, and its weight.

    They depend on each other: candidates leave until none is beyond reach. All are seen on the same partitions, as
    many as at least two have.
    """
    own = twins == np.arange(len(twins))
    shared = int(np.sort(np.isfinite(scores[:, own]).sum(axis=0))[-2:][0])
    scores = scores[: max(shared, 1)]
    near = own & np.isfinite(scores).all(axis=0)
    nearest = sorted(np.flatnonzero(near), key=lambda c: (c != pick, -gaps[c], *scores[:, c]))
    while True:
        pooled = near.copy()
        pooled[nearest[:POOLED]] = True
        variance, df = _pool(scores[:, pooled])
        weight = min(PRIOR_DF, df)
        if not df:
            return near, variance, weight
        reach = t_quantile(REACH, weight + len(scores) - 1) * np.sqrt(variance / len(scores))
        staying = near & (gaps >= -reach)
        staying[nearest[:2]] = True
        if (staying == near).all():
            return near, variance, weight
        near = staying


def _pool(scores: Floats) -> tuple[float, float]:
    """Return the variance of a difference, twice the mean square of partition by candidate, and its df."""
    partitions, count = scores.shape
    df = float((partitions - 1) * (count - 1))
    if not df:
        return (0.0 if partitions > 1 else float("nan")), df
    left = scores - scores.mean(axis=0)
    left -= left.mean(axis=1, keepdims=True)
    return float(2 * (without_noise(left, largest(scores)) ** 2).sum() / df), df
