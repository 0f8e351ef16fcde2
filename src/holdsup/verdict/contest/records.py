"""The rows of a contest's tables, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.results import Result

PAPER = "Xue et al. 2023"  # whose form of an estimator is shown next to ours
ENOUGH = 20  # partitions that a reproducibility needs: with fewer, its CI leaves anything possible
TARGET = 0.8  # reproducibility from which a conclusion holds up, unless told


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two systems."""

    left: str  # the system said to be better
    right: str  # the other

    @property
    def pair(self) -> str:
        """Both, as tables name them."""
        return f"{self.left} - {self.right}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duelled(Pair):
    """Two systems on splits of one kind."""

    strategy: str  # how the corpus was split: blocked, holdout, repeated or kfold

    def is_of(self, other: Duelled) -> bool:
        """Return whether this is about the same systems on the same splits."""
        return (self.left, self.right, self.strategy) == (other.left, other.right, other.strategy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion(Duelled):
    """Which of two systems is said to be better, and how well that stands."""

    named: bool  # whether the conclusion was given; else it is the sign of the mean over these partitions
    estimator: str  # the estimator that decides
    partitions: int  # how many re-partitions of the corpus there are
    wins: int  # in how many of them left is better
    ties: int  # in how many neither is better by more than the margin
    # survives, likely, unsure or refuted (by the CI of the reproducibility: above the threshold, above .5, around it,
    # below it), too few (partitions for it), or equal (neither is ever ahead: there is no conclusion)
    status: str
    # whether the sign at half of the corpus is that at all of it: same, differs, unsure, unchecked; null where systems
    # were trained on more than half
    sign_at_n: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorRow(Duelled):
    """One estimator of the difference of two systems over re-partitions of the corpus."""

    estimator: str  # holdout, averaged, vote, mixture or symmetric
    paper: bool  # whether it is the form of the paper, next to ours, which keeps its promise
    trained: int  # trained instances of each system that it uses
    partitions: int  # how many re-partitions of the corpus there are
    mean: float  # its mean, left - right in raw units
    sd: float  # its standard deviation from partition to partition; null for one
    # signal to noise ratio of left being better by more than the margin, eq. 4; null where there is no noise
    snr: float
    bound: float  # lower bound of the reproducibility, eq. 3
    normal: float  # the reproducibility if the estimator is normal, Phi(SNR)
    wins: int  # partitions in which left is better by more than the margin
    ties: int  # partitions in which neither is better by more than the margin
    # wins of all partitions, ties among them; null with fewer than 20, or if neither ever is
    reproducibility: float | None
    low: float | None  # lower end of its CI
    high: float | None  # upper end of its CI
    values: tuple[float, ...]  # its value in each partition

    @property
    def losses(self) -> int:
        """Partitions in which right is better by more than the margin."""
        return self.partitions - self.wins - self.ties

    @property
    def is_tied(self) -> bool:
        """Whether the systems are equal in every partition."""
        return not any(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestTest(Duelled):
    """A test of the averaged difference of two systems, over new corpora like this one."""

    name: str  # the test
    paper: bool  # whether it is the published form, next to ours, which keeps its promise
    difference: float  # left - right in raw units
    se: float  # its standard error, null where the test has none
    statistic: float  # t, of the difference beyond the margin and with its sign, or F
    df: float  # degrees of freedom
    df2: float | None  # those of the denominator of F, null for t
    p: float  # its p
    log10_p: float  # decimal logarithm of p
    p_holm: float  # p adjusted by Holm's method over all pairs
    p_bonferroni: float  # p times the number of pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSigns(Duelled):
    """In how many folds each of two systems is ahead."""

    folds: int  # number of folds of all partitions
    left_ahead: int  # folds in which left is better
    right_ahead: int  # folds in which right is better
    ties: int  # folds in which they are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCount:
    """How the votes of a system's trained instances went, over all partitions."""

    system: str  # the system
    votes: int  # number of votes: items, or tokens where items are sequences
    ties: int  # votes that several predictions shared
    by_probability: int  # ties broken by summed probabilities; the others went to the earlier repetition
    repaired: int  # tags changed because the voted sequence was not valid in its scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldScore:
    """The score of one trained instance."""

    strategy: str  # how the corpus was split
    partition: int  # which re-partition, from 1
    repetition: int  # which repetition in it, from 1
    fold: int  # which fold in that, from 1
    system: str  # the system
    items: int | None  # number of items tested, null where only counts were given
    score: float  # its score; null where the metric is not defined


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The score of a system trained on some of the items."""

    system: str  # the system
    size: int  # number of items trained on
    mean: float  # mean score
    se: float  # its standard error, null for one score
    repeats: int  # number of scores


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveCheck(Pair):
    """Whether the difference of two systems has the same sign at half of the corpus and near all of it."""

    half: int  # size nearest to half of the corpus
    half_difference: float  # left - right there
    half_se: float  # its standard error, null for one score
    full: int  # the largest size
    full_difference: float  # left - right there
    full_se: float  # its standard error, null for one score
    samples: int  # how many samples of items each of the two rests on
    status: str  # same, differs, or unsure (one of them could be zero)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether more re-partitions are needed, and what is known so far."""

    # left or right (its lead is reproduced often enough), neither (no lead is), more, or budget (it ended)
    outcome: str
    partitions: int  # how many re-partitions there are
    left_share: float  # share in which left is better
    low: float  # lower end of its CI, at all looks together
    high: float  # upper end of it
    target: float  # reproducibility that a lead must have
    budget: int | None = None  # how many re-partitions there could be at most; null without a limit

    @property
    def is_final(self) -> bool:
        """Whether to stop."""
        return self.outcome != "more"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestNumbers(Result):
    """All that is known of a contest, which its words and tables are made from."""

    kind: ClassVar[str] = "contest"
    counted: ClassVar[str] = "trained instance"
    main_table: ClassVar[str] = "conclusions"

    metric: str  # the metric
    lower_is_better: bool  # whether a lower score is a better one
    level: float  # coverage of the CIs
    threshold: float = TARGET  # the reproducibility from which a conclusion holds up
    margin: float  # lead from which a system counts as better
    correction: str  # how p-values of several pairs are adjusted in the answer: holm or bonferroni
    items: int | None  # number of items of the corpus, null where only counts were given
    grouped: bool | None  # whether splits kept groups of items whole; null where that is not known
    conclusions: tuple[Conclusion, ...]  # which system of each pair is said to be better, and how well that holds up
    # where training stopped as soon as it was safe: what was known of each pair then
    decisions: tuple[Decision, ...] = ()
    estimators: tuple[EstimatorRow, ...]  # estimators of each difference over re-partitions
    signs: tuple[FoldSigns, ...]  # in how many folds each system is ahead
    tests: tuple[ContestTest, ...]  # tests of each difference
    votes: tuple[VoteCount, ...]  # how votes went
    curve: tuple[CurvePoint, ...]  # the learning curve, as far as there is one
    curve_checks: tuple[CurveCheck, ...]  # whether differences have one sign along it
    scores: tuple[FoldScore, ...]  # the score of each trained instance

    def decider(self, c: Conclusion) -> EstimatorRow:
        """Return the row that a conclusion rests on: its estimator, made of most trained instances."""
        own = [row for row in self.estimators if row.is_of(c) and row.estimator == c.estimator]
        return max(own, key=lambda row: row.trained)

    def interval(self, c: Conclusion) -> tuple[float, float] | None:
        """Return the CI of the reproducibility: where training stopped when it was safe, that of all looks together."""
        row = self.decider(c)
        if row.low is None or row.high is None:
            return None
        if self.decisions:
            decision = self.decisions[self.conclusions.index(c)]
            return decision.low, decision.high
        return row.low, row.high
