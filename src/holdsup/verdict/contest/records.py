"""The rows of a contest's tables."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "PAPER",
    "Conclusion",
    "ContestTest",
    "CurveCheck",
    "CurvePoint",
    "EstimatorRow",
    "FoldScore",
    "FoldSigns",
    "VoteCount",
]

PAPER = "Xue et al. 2023"  # whose form of an estimator stands beside ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Which of two systems is said to be better, and how well that stands.

    Attributes
    ----------
    left : the system said to be better
    right : the other
    named : whether the conclusion was given; else it is the sign of the mean over these partitions
    strategy : the splits that decide
    estimator : the estimator that decides
    partitions : how many re-partitions of the corpus there are
    wins : in how many of them left is better
    ties : in how many neither is better by more than the margin
    status : survives, likely, unsure or refuted (by the limits of the reproducibility: above .8, above .5, around it,
        below it), too few (partitions for it), or equal (neither is ever ahead: there is no conclusion)
    sign_at_n : whether the sign at half of the corpus is that at all of it: same, differs, unsure, unchecked; null
        where systems were trained on more than half
    """

    left: str
    right: str
    named: bool
    strategy: str
    estimator: str
    partitions: int
    wins: int
    ties: int
    status: str
    sign_at_n: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorRow:
    """One estimator of the difference of two systems over re-partitions of the corpus.

    Attributes
    ----------
    left : the system said to be better
    right : the other
    strategy : how the corpus was split: blocked, holdout, repeated or kfold
    estimator : holdout, averaged, vote, mixture or symmetric
    paper : whether it is the form of the paper beside which there is one that keeps its promise
    trained : trained instances of each system that it uses
    partitions : how many re-partitions of the corpus there are
    mean : its mean, left - right in raw units
    sd : its standard deviation from partition to partition; null for one
    snr : signal to noise ratio of left being better by more than the margin, eq. 4; null where there is no noise
    bound : lower bound of the reproducibility, eq. 3
    normal : the reproducibility if the estimator is normal, Phi(SNR)
    wins : partitions in which left is better by more than the margin
    ties : partitions in which neither is better by more than the margin
    reproducibility : wins of all partitions, ties among them; null with fewer than 20, or if neither ever is
    low : lower limit of the reproducibility
    high : upper limit of the reproducibility
    values : its value in each partition
    """

    left: str
    right: str
    strategy: str
    estimator: str
    paper: bool
    trained: int
    partitions: int
    mean: float
    sd: float
    snr: float
    bound: float
    normal: float
    wins: int
    ties: int
    reproducibility: float | None
    low: float | None
    high: float | None
    values: tuple[float, ...]

    @property
    def losses(self) -> int:
        """Partitions in which right is better by more than the margin."""
        return self.partitions - self.wins - self.ties

    @property
    def is_mostly_tied(self) -> bool:
        """Whether neither is better in half of the partitions or more."""
        return 2 * self.ties >= self.partitions

    @property
    def is_tied(self) -> bool:
        """Whether the systems are equal in every partition."""
        return not any(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestTest:
    """A test of the averaged difference of two systems, over new corpora like this one.

    Attributes
    ----------
    left : the system said to be better
    right : the other
    strategy : how the corpus was split
    name : the test
    paper : whether it is the published form beside which there is one that keeps its promise
    difference : left - right in raw units
    se : its standard error, null where the test has none
    statistic : t, of the difference beyond the margin and with its sign, or F
    df : degrees of freedom
    df2 : those of the denominator of F, null for t
    p : its p
    log10_p : decimal logarithm of p
    p_holm : p adjusted by Holm's method over all pairs
    p_bonferroni : p times the number of pairs
    """

    left: str
    right: str
    strategy: str
    name: str
    paper: bool
    difference: float
    se: float
    statistic: float
    df: float
    df2: float | None
    p: float
    log10_p: float
    p_holm: float
    p_bonferroni: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSigns:
    """In how many folds each of two systems is ahead.

    Attributes
    ----------
    left : the system said to be better
    right : the other
    strategy : how the corpus was split
    folds : number of folds of all partitions
    left_ahead : folds in which left is better
    right_ahead : folds in which right is better
    ties : folds in which they are equal
    """

    left: str
    right: str
    strategy: str
    folds: int
    left_ahead: int
    right_ahead: int
    ties: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCount:
    """How the votes of a system's trained instances went, over all partitions.

    Attributes
    ----------
    system : the system
    votes : number of votes: items, or tokens where items are sequences
    ties : votes that several predictions shared
    by_probability : ties broken by summed probabilities; the others went to the earlier repetition
    repaired : tags changed because the voted sequence was not valid in its scheme
    """

    system: str
    votes: int
    ties: int
    by_probability: int
    repaired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldScore:
    """The score of one trained instance.

    Attributes
    ----------
    strategy : how the corpus was split
    partition : which re-partition, from 1
    repetition : which repetition in it, from 1
    fold : which fold in that, from 1
    system : the system
    items : number of items tested, null where only counts were given
    score : its score; null where the metric is not defined
    """

    strategy: str
    partition: int
    repetition: int
    fold: int
    system: str
    items: int | None
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The score of a system trained on some of the items.

    Attributes
    ----------
    system : the system
    size : number of items trained on
    mean : mean score
    se : its standard error, null for one score
    repeats : number of scores
    """

    system: str
    size: int
    mean: float
    se: float
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveCheck:
    """Whether the difference of two systems has the same sign at half of the corpus and near all of it.

    Attributes
    ----------
    left : the system said to be better
    right : the other
    half : size nearest to half of the corpus
    half_difference : left - right there
    half_se : its standard error, null for one score
    full : the largest size
    full_difference : left - right there
    full_se : its standard error, null for one score
    samples : how many samples of items each of the two rests on
    status : same, differs, or unsure (one of them cannot be told from zero)
    """

    left: str
    right: str
    half: int
    half_difference: float
    half_se: float
    full: int
    full_difference: float
    full_se: float
    samples: int
    status: str
