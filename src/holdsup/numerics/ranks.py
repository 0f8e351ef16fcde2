"""Systems ranked on each of several datasets: the tests of Friedman and Wilcoxon, and Nemenyi's critical difference.

Names and equations follow Demsar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7:1-30,
sections 3.1.3 and 3.2.2: N datasets, k systems, r_ij the rank of system j on dataset i, R_j their means over datasets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from holdsup.numerics.distributions import Tail, chi2_tail, f_tail
from holdsup.numerics.layout import Floats, Ints

ALIKE = 1e-9  # average ranks that differ by less are the same: they are sums of halves, divided by N
MOST_EXACT = 50  # differences whose signed ranks are counted out
DIGITS = 10  # of the scale, to which differences are compared: what is less is rounding


@dataclass(frozen=True, slots=True)
class FriedmanTest:
    """Friedman's test of "all systems rank alike", and Iman and Davenport's form of it."""

    chi2: float  # Friedman's statistic, corrected for ties
    df: int  # its degrees of freedom, k - 1
    chi2_tail: Tail  # its p
    f: float  # Iman and Davenport's F; infinite where every dataset ranks the systems alike
    df1: int  # k - 1
    df2: int  # (k - 1)(N - 1)
    f_tail: Tail  # its p
    spread: float  # what share of the ranks' spread the ties leave; 1 without ties


def rank_each(scores: ArrayLike) -> Floats:
    """Return the ranks within each row of `scores`, shape (N, k): 1 for the highest, the mean rank where some tie."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-np.asarray(scores, float), axis=1))


def share_wins(ranks: Floats) -> Floats:
    """Return on how many datasets each system is the best; a first place that m share counts 1 / m for each."""
    first = ranks == ranks.min(axis=1, keepdims=True)
    return np.asarray((first / first.sum(axis=1, keepdims=True)).sum(axis=0))


def friedman_test(ranks: Floats) -> FriedmanTest:
    """Return Friedman's test of ranks, shape (N, k), with N and k of 2 or more.

    chi2 = (k - 1) N^2 sum_j (R_j - (k+1)/2)^2 / sum_ij (r_ij - (k+1)/2)^2, which without ties is Demsar's
    12 N / (k (k+1)) [sum R_j^2 - k (k+1)^2 / 4]; and F = (N - 1) chi2 / (N (k - 1) - chi2). Where all systems tie on
    every dataset there is no sign of a difference: chi2 is 0.
    """
    N, k = ranks.shape
    middle = (k + 1) / 2
    spread = float(((ranks - middle) ** 2).sum())
    between = float(((ranks.mean(axis=0) - middle) ** 2).sum())
    df1, df2 = k - 1, (k - 1) * (N - 1)
    chi2 = min((k - 1) * N**2 * between / spread, N * (k - 1.0)) if spread else 0.0
    left = N * (k - 1) - chi2
    if left > ALIKE * chi2:
        f = (N - 1) * chi2 / left
        tail = f_tail(f, df1, df2)
    else:  # the same order on all datasets, which has chance 1 / k! on each after the first
        f, log10_p = math.inf, -(N - 1) * math.lgamma(k + 1) / math.log(10)
        tail = Tail(10**log10_p, log10_p)
    return FriedmanTest(chi2, df1, chi2_tail(chi2, df1), f, df1, df2, tail, spread * 12 / (N * k * (k**2 - 1)))


def signed_rank_test(differences: Floats, *, scale: float) -> Floats:
    """Return two-sided p of Wilcoxon's signed-rank test of each row, in which NaN is a dataset that is lacking.

    Differences of zero are dropped, as Wilcoxon did; equal ones share their mean rank. Up to 50 are counted out, ties
    as they are; more have the normal approximation with its variance corrected for ties. No difference at all: p is 1.

    Parameters
    ----------
    differences : shape (rows, N)
    scale : size of the scores, which tells zero and ties from rounding
    """
    from scipy.stats import rankdata

    rounded = np.round(differences / (scale or 1.0), DIGITS)
    found = np.ones(len(rounded))
    for row, values in enumerate(rounded):
        values = values[np.isfinite(values) & (values != 0)]
        if not len(values):
            continue
        doubled = np.rint(2 * rankdata(np.abs(values))).astype(np.int64)  # whole numbers, ties or not
        total, above = int(doubled.sum()), int(doubled[values > 0].sum())
        least = min(above, total - above)
        if len(values) <= MOST_EXACT:
            found[row] = min(1.0, 2 * _signed_rank_tails(tuple(np.sort(doubled).tolist()))[least])
        else:
            found[row] = 2 * special.ndtr((least - total / 2) / math.sqrt((doubled**2).sum() / 4))
    return np.minimum(found, 1.0)


@lru_cache(maxsize=1024)
def _signed_rank_tails(ranks: tuple[int, ...]) -> Floats:
    """Return the probability that the ranks of positive differences sum to 0, 1, ... or less, each sign a coin."""
    chance = np.zeros(sum(ranks) + 1)
    chance[0] = 1.0
    for rank in ranks:
        chance[rank:] = (chance[rank:] + chance[:-rank]) / 2
        chance[:rank] /= 2
    return np.asarray(np.cumsum(chance))


def critical_difference(datasets: int, systems: int, *, level: float = 0.95) -> float:
    """Return Nemenyi's critical difference of average ranks, q sqrt(k (k+1) / (6 N)).

    q is the quantile of the studentized range of k normal values, divided by sqrt(2).
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, systems, math.inf)) / math.sqrt(2)
    return q * math.sqrt(systems * (systems + 1) / (6 * datasets))


def find_cliques(average_ranks: Sequence[float] | Floats, difference: float) -> list[Ints]:
    """Return the largest groups of two systems or more whose average ranks all lie within less than `difference`.

    Each is an array of places in `average_ranks`, from the best rank to the worst.
    """
    ranks = np.asarray(average_ranks, float)
    order = np.argsort(ranks, kind="stable")
    ends = np.searchsorted(ranks[order], ranks[order] + difference - ALIKE, side="left")
    cliques, reached = [], 0
    for start, end in enumerate(ends):
        if end > max(reached, start + 1):  # a group within an earlier one, or of one system, says nothing
            cliques.append(order[start:end])
            reached = int(end)
    return cliques
