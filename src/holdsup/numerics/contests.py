"""Differences of two systems over splits of one corpus: signal to noise, how often the sign stays, tests, votes.

Equation numbers are those of Xue et al. (2023), "We Need to Talk About Reproducibility in NLP Model Comparison".
docs/maths/contest.md derives what is not in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.numerics.arithmetic import NOISE, find_root, without_noise
from holdsup.numerics.distributions import Tail, f_tail, t_tail

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Interval:
    """Lower and upper limit of a probability."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How an estimator of a difference behaves from partition to partition."""

    mean: float  # its mean
    sd: float  # its standard deviation; NaN for one partition
    snr: float  # signal to noise, mean over standard deviation, eq. 4; infinite where there is no noise
    bound: float  # what the probability of a positive sign is at least, eq. 3; 0 where the mean is not positive
    normal: float  # that probability if the estimator is normal, Phi(SNR)
    positive: int  # partitions in which it is above zero
    ties: int  # partitions in which neither sign is beyond the margin


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldTest:
    """A test of no difference from the folds of one corpus; `df2` is None for a t statistic."""

    difference: float
    se: float
    statistic: float
    df: float
    df2: float | None
    tail: Tail


def assess_stability(leads: Floats, *, margin: float = 0.0) -> Stability:
    """Return what leads beyond a margin, one for each partition, say about their sign.

    >>> assess_stability(np.array([1.0, 3.0, 2.0, 2.0])).positive
    4
    """
    scale = max(float(np.abs(leads).max()), margin)
    values, below = (without_noise(leads - by, scale) for by in (margin, -margin))
    mean = float(np.mean(values))
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    if sd <= NOISE * scale:  # the same lead in all partitions, but for rounding
        sd = 0.0
    snr = _signal_to_noise(mean, sd)
    return Stability(
        mean=mean,
        sd=sd,
        snr=snr,
        bound=share_bound(snr),
        normal=normal_share(snr),
        positive=int(np.count_nonzero(values > 0)),
        ties=len(values) - int(np.count_nonzero(values > 0)) - int(np.count_nonzero(below < 0)),
    )


def share_bound(snr: float) -> float:
    """Return what the probability of a positive sign is at least, by the one-sided Chebyshev inequality, eq. 3."""
    if snr <= 0 or math.isnan(snr):
        return 0.0 if snr <= 0 else math.nan
    return 1.0 if math.isinf(snr * snr) else snr * snr / (1 + snr * snr)


def normal_share(snr: float) -> float:
    """Return the probability of a positive sign of a normal estimator, Phi(SNR)."""
    return float(special.ndtr(snr))


def _signal_to_noise(mean: float, sd: float) -> float:
    if sd == 0:  # it never varies: there is no noise
        return math.copysign(math.inf, mean) if mean else math.nan
    return mean / sd


def mix_estimates(averaged: Floats, vote: Floats, *, symmetric: bool) -> Floats:
    """Return the mixture of two estimators of a difference, partition by partition.

    As published (eq. 8) it is the larger one. That is a maximum, so it leans to the system on the left. The symmetric
    form takes the one larger in absolute value, which does not depend on who stands on the left.
    """
    takes_vote = np.abs(vote) > np.abs(averaged) if symmetric else vote > averaged
    return np.where(takes_vote, vote, averaged)


def binomial_interval(positive: int, number: int, *, level: float) -> Interval:
    """Return Clopper and Pearson's (1934) limits of a probability, which cover it at least as often as `level` says."""
    tail = (1 - level) / 2
    low = 0.0 if positive == 0 else float(special.betaincinv(positive, number - positive + 1, tail))
    high = 1.0 if positive == number else float(special.betaincinv(positive + 1, number - positive, 1 - tail))
    return Interval(low, high)


def chance_share(number: int) -> float:
    """Return the mean share of the more frequent sign among `number` fair coins: what is found where nothing is.

    >>> round(chance_share(20), 3)
    0.588
    """
    heads = np.arange(number + 1)
    logs = special.gammaln(number + 1) - special.gammaln(heads + 1) - special.gammaln(number - heads + 1)
    return float(np.exp(logs - number * math.log(2)) @ (np.maximum(heads, number - heads) / number))


def confidence_sequence(positive: int, number: int, *, level: float) -> Interval:
    """Return limits of a probability that hold at all looks together, however often one looks and whenever one stops.

    Robbins' (1970) mixture: the likelihood ratio of Jeffreys' prior against p is a martingale if p is true, and by
    Ville's inequality it exceeds 1 / (1 - level) at any look with probability 1 - level at most.
    """
    if number == 0:
        return Interval(0.0, 1.0)
    negative = number - positive
    most = special.betaln(positive + 0.5, negative + 0.5) - special.betaln(0.5, 0.5) + math.log(1 - level)

    def excess(p: float) -> float:
        return float(special.xlogy(positive, p) + special.xlog1py(negative, -p) - most)

    share, edge = positive / number, 1e-15
    low = find_root(excess, edge, share) if positive and excess(edge) < 0 else 0.0
    high = find_root(excess, share, 1 - edge) if negative and excess(1 - edge) < 0 else 1.0
    return Interval(low, high)


def pool_freedom(own: float, partitions: int, units: float | None) -> float:
    """Return the degrees of freedom of a variance that is the mean over partitions of one corpus, `own` in each.

    All partitions deal the same `units` (items, or groups of them), so that they share what these have: `own` of
    `units` - 1. The result is the harmonic mean of the two, weighted by 1/R and 1 - 1/R, which has the variance that a
    mean of R random projections has (docs/maths/contest.md). Where units are not known, partitions count as
    independent.

    >>> [round(pool_freedom(3, partitions, 8), 1) for partitions in (1, 5, 20, 1000)]
    [3.0, 5.5, 6.6, 7.0]
    """
    if units is None:
        return own * partitions
    return 1 / (1 / (own * partitions) + (1 - 1 / partitions) / (units - 1))


def blocked_t(
    differences: Floats, *, units: float | None = None, margin: float = 0.0, published: bool = False
) -> FoldTest:
    """Return the t-test of blocked m x 2 cross-validation from fold differences, shape (partitions, 2m).

    The squared standard error is the mean squared deviation of the 2m differences (Wang et al. 2014): folds of
    different repetitions share half of their test items, so their spread is not divided by their number. Where
    training adds no noise, the 2m differences hold only m independent contrasts of blocks, and the statistic is t on m
    degrees of freedom exactly; `published` has 2m - 1. Further partitions of the corpus add to them as far as its
    `units` go (`pool_freedom`).
    """
    partitions, folds = differences.shape
    mean = float(differences.mean())
    se = math.sqrt(float(np.mean((differences - differences.mean(axis=1, keepdims=True)) ** 2)))
    return _t_test(mean, se, folds - 1 if published else pool_freedom(folds / 2, partitions, units), margin)


def resampled_t(differences: Floats, *, test_to_train: float, df: float | None = None, margin: float = 0.0) -> FoldTest:
    """Return the corrected resampled t-test (Nadeau & Bengio 2003) of differences on splits that share training items.

    `test_to_train` is the ratio of items tested to items trained on: 1/8 for 8:1, 1/(K - 1) for K folds (Bouckaert &
    Frank 2004). As published it has one degree of freedom less than there are splits; `df` says what is left of them.
    """
    number = differences.size
    se = math.sqrt((1 / number + test_to_train) * float(differences.var(ddof=1)))
    return _t_test(float(differences.mean()), se, number - 1 if df is None else df, margin)


def combined_f(differences: Floats) -> FoldTest:
    """Return Alpaydin's (1999) combined F-test of m x 2 cross-validation, from differences of shape (2m,).

    Two folds of a repetition follow each other.
    """
    pairs = differences.reshape(-1, 2)
    spread = float(((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum())
    total = float((pairs**2).sum())
    statistic = total / (2 * spread) if spread else math.inf if total else 0.0
    m = len(pairs)
    return FoldTest(
        difference=float(pairs.mean()), se=math.nan, statistic=statistic, df=2 * m, df2=m,
        tail=f_tail(statistic, 2 * m, m),
    )  # fmt: skip


def _t_test(mean: float, se: float, df: float, margin: float) -> FoldTest:
    """Return the test of |difference| <= margin."""
    if se <= NOISE * abs(mean):  # all differences are the same, but for rounding
        se = 0.0
    beyond = math.copysign(max(abs(mean) - margin, 0.0), mean)
    statistic = beyond / se if se > 0 else math.copysign(math.inf, mean) if beyond else 0.0
    return FoldTest(difference=mean, se=se, statistic=statistic, df=df, df2=None, tail=t_tail(statistic, df))


@dataclass(frozen=True, slots=True, eq=False)
class Election:
    """The winner of each vote, as a code, and where it took a rule to break a tie."""

    winner: Ints
    tied: NDArray[np.bool_]


def elect(ballots: Ints, support: NDArray[np.float64] | None = None) -> Election:
    """Return what most of some voters chose, vote by vote.

    Parameters
    ----------
    ballots : the codes chosen, shape (voters, votes); the earlier voter wins a tie
    support : summed probability of what each voter chose, shape (voters, votes), to break ties with first

    Examples
    --------
    >>> elect(np.array([[0, 1, 2], [1, 1, 0], [2, 0, 1]])).winner.tolist()
    [0, 1, 2]
    """
    agreeing = np.zeros(ballots.shape, dtype=np.intp)
    for own in ballots:
        agreeing += ballots == own
    most = agreeing == agreeing.max(axis=0)
    first = most.argmax(axis=0) if support is None else np.where(most, support, -np.inf).argmax(axis=0)
    winner = np.take_along_axis(ballots, first[None], axis=0)[0]
    return Election(winner, (most & (ballots != winner)).any(axis=0))
