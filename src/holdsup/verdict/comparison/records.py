"""What a comparison finds: the rows of its tables, along a property of the items as well, and all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.results import Result
from holdsup.verdict.comparison.conditional_records import Conditional, PaperConditional
from holdsup.verdict.items import DeadItems

PAPER = "Hagmann et al. (2023)"  # whose tests are shown with ours; tables are published, where "ours" is their author's


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """The mean score of a system."""

    name: str  # the system
    metric: str | None  # the metric, null if there is only one
    claim: str  # what its limits cover: as much of what is asked for as its own runs can carry
    mean: float  # over its items, settings equally weighted
    se: float  # standard error of the mean, for the claim
    low: float  # lower end of the CI, no further than the scale of the scores goes where it is known
    high: float  # its upper end, likewise
    runs: int  # number of runs
    items: int  # number of items, or datasets, with a score; 0 where runs have one score each
    # degrees of freedom: the CI is mean +- t(df) se, as far as the scale goes; null where there is no CI
    df: float | None = None
    note: str = ""  # why there are no limits; empty where there are
    # its place by the metric, 1 for the best: by the means, or by the differences on what systems share, where one of
    # several lacks a fifth or the means tell a clear pair otherwise; null in results of earlier versions
    rank: int | None = None
    # two systems that share one can't be told apart by their adjusted p; empty where all pairs were not tested
    letters: tuple[str, ...] = ()
    missing: int = 0  # scores that its runs lack on items that other runs of it have
    averaged: int = 0  # scores that repeat a run and an item, and were averaged
    samples: int = 0  # samples of a run and an item, at most; 0 where no column tells them apart
    lacking: int = 0  # items, or datasets, that other systems have and it does not
    # what scores are, where that is known, such as shares (0 to 1): where t would take the CI beyond the ends of the
    # scale, and where there are two values only, it is Wilson's
    scale: str = ""
    deterministic: bool = False  # whether it was declared that another run would have the same scores


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTest:
    """The test of all systems at once."""

    metric: str | None  # the metric, null if there is only one
    model: str | None  # the mixed model whose likelihood ratio is the statistic; null where there is none
    note: str  # why there is no likelihood ratio; empty where there is one
    statistic: float  # likelihood ratio of the systems in that model; null where there is none
    df: int  # its degrees of freedom
    p_chi2: float  # its p by the chi-square, too small where runs are few
    log10_p_chi2: float  # its decimal logarithm
    p: float  # the p that counts
    log10_p: float  # its decimal logarithm
    p_method: str  # where it comes from
    p_bootstrap: float | None = None  # p of the likelihood ratio with a simulated reference; null if not asked for
    bootstrap_draws: int = 0  # how many responses were simulated
    bootstrap_failed: int = 0  # how many of them had no certain optimum; they count against a difference


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What a margin adds to a contrast."""

    margin: float  # differences below it do not matter
    p_equivalent: float  # p of a difference of the margin or more, either way (two one-sided tests)
    p_not_worse: float  # p of left being worse than right by the margin or more
    p_beyond: float  # p of a difference of the margin or less, either way (two-sided)
    p_equivalent_adjusted: float  # adjusted for all pairs and metrics
    p_not_worse_adjusted: float  # adjusted for all pairs and metrics
    p_beyond_adjusted: float  # adjusted for all pairs and metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemContrast:
    """The difference of two systems."""

    left: str  # the one
    right: str  # the other; the baseline, if there is one
    metric: str | None  # the metric, null if there is only one
    claim: str  # what is claimed of this pair
    difference: float  # left minus right, in the unit of the scores
    se: float  # its standard error, by the test that gave p
    df: float  # degrees of freedom of that test
    low: float  # lower end of the CI, for this pair alone; null where runs are too few to measure their spread
    high: float  # its upper end; null likewise
    low_simultaneous: float  # lower end of the CI, for all pairs and metrics at once
    high_simultaneous: float  # its upper end
    p: float  # p of no difference
    log10_p: float  # its decimal logarithm
    # p over all pairs and metrics at once: below a level where the interval for all of that level excludes zero; run
    # variances of all systems count, so that it may be below that of the pair alone
    p_adjusted: float
    log10_p_adjusted: float  # its decimal logarithm
    p_method: str  # the test
    # difference over the residual standard deviation of the paper's model; null without items
    effect_size: float | None
    # probability that a new run of left has a better mean than a new run of right, with the estimates as the truth;
    # null for these-runs
    p_superior: float | None
    items: int  # number of items, or datasets, that both have
    equivalence: Equivalence | None = None  # what the margin adds; null without one
    lower_is_better: bool = False  # whether a lower score is a better one by this metric
    # standard error behind the CI, which is difference +- t(df_limits) se_limits; it may differ from that of p: where
    # two tests count, the CI is the wider one
    se_limits: float | None = None
    df_limits: float | None = None  # degrees of freedom behind the CI
    se_simultaneous: float | None = None  # standard error behind the CI for all pairs
    df_simultaneous: float | None = None  # degrees of freedom behind the CI for all pairs
    level_simultaneous: float | None = None  # level of each CI for all pairs: together they keep the level asked for
    adjusted_by: str = ""  # how: single-step max-t or Bonferroni; empty for a single difference
    # the kind of test: welch, two-way-welch, two-way-paired, paired-t, score or samples; empty in results of earlier
    # versions
    rule: str = ""
    # whether each of several datasets has runs of its own (true) or runs are one training each, evaluated on all of
    # them (false); null where datasets and runs are not both drawn anew
    nested_runs: bool | None = None
    # p of no difference by the other reading of the runs; null where there is none
    p_other_reading: float | None = None
    low_other_reading: float | None = None  # lower end of the CI by it, for this pair alone
    high_other_reading: float | None = None  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """One of several raters."""

    name: str  # who it is
    effect: float  # how much higher than the average rater it scores, the same systems and items given
    scores: int  # how many scores it gave
    systems: int  # how many systems it rated


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedContrast:
    """The difference of two systems for the raters that the answer is not about: these, or new ones."""

    left: str  # the one
    right: str  # the other
    claim: str  # these-raters or new-raters
    difference: float  # left minus right
    low: float  # lower end of its CI, for this pair alone
    high: float  # upper end
    p: float  # p of no difference, for this pair alone
    raters: int  # how many raters rated both


@dataclass(frozen=True, slots=True, kw_only=True)
class Raters:
    """How much raters disagree by one metric."""

    metric: str | None  # the metric, null if there is only one
    column: str  # the column that names them
    count: int  # how many there are
    model: str  # the mixed model that gave the variances
    # share of the variance of one score that is how severe raters are, 0-100; null where the model can't be fitted
    percent: float | None
    percent_interaction: float | None  # the same of what a rater gives one system more than others
    # intraclass correlation: share of the variance of one score that another rater would see as well; null where no
    # output was rated twice
    icc: float | None
    raters: tuple[Rater, ...]  # each of them
    other: tuple[RatedContrast, ...]  # the differences by the claim that is not made


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabels:
    """What a judge's scores of all items add to human labels of some, for a difference of two systems."""

    metric: str | None  # the metric, null if there is only one
    left: str  # the one
    right: str  # the other
    column: str  # the column of the human labels
    labels: int  # items of both systems that have labels
    items: int  # items of both systems that the judge scored
    tuning: float  # weight of the judge's scores: 0 where they say nothing about labels
    alone: float  # the difference by the labels alone
    low_alone: float  # lower end of its CI
    high_alone: float  # upper end
    judge: float  # the difference by the judge's scores alone, whatever its bias


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedRun:
    """The run of a system that stands for it, because it is the best by a column."""

    system: str  # the system
    run: str  # the run that was picked
    value: float  # what it has in that column
    runs: int  # number of runs to pick from
    tied: int  # number of runs with the same value, this one included


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTest:
    """The test as published (Hagmann, Meier & Riezler 2023, eqs. 3 and 4)."""

    metric: str | None  # the metric, null if there is only one
    null: str  # its null model
    alternative: str  # its alternative
    statistic: float  # likelihood ratio
    df: int  # degrees of freedom
    p: float  # p by the chi-square
    log10_p: float  # its decimal logarithm
    sigma: float  # residual standard deviation of the alternative
    note: str  # what it does not allow for
    conditional: tuple[PaperConditional, ...] = ()  # the tests conditional on each property asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBootstrap:
    """What a paired bootstrap of items says of two systems: it is about these runs."""

    left: str  # the one
    right: str  # the other
    low: float  # lower end of the percentile interval of left minus right
    high: float  # its upper end
    p: float  # share of samples whose difference is as far from their mean as the observed one from 0, (1+k)/(N+1)
    p_sacrebleu: float  # what sacrebleu prints, about half of it: the share that is as far off to one side


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEstimate:
    """The score of a corpus, which is made of summed counts and is no mean of items."""

    name: str  # what it is called, such as BLEU
    signature: str  # how texts were counted, as sacrebleu writes it; empty where counts were given
    lower_is_better: bool  # whether a lower one is better
    draws: int  # samples of the bootstrap
    bootstrap: tuple[ItemBootstrap, ...]  # a row for each pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Result):
    """What was found of systems that were compared with each other."""

    kind: ClassVar[str] = "compare"
    main_table: ClassVar[str] = "contrasts"

    # what is claimed of all pairs, or else of most: these-items, these-runs, these-datasets, new-runs, new-settings,
    # these-raters or new-raters
    claim: str
    level: float  # coverage of the CIs
    lower_is_better: bool  # whether a lower score is a better one, by the first metric; each difference has its own
    baseline: str | None  # the system that all others are compared with, null if all pairs are
    unit: str | None  # what systems are scored on, items or datasets; null where runs have one score each
    # what weighs the same where there are several datasets of items: macro, datasets; micro, items; or as it was asked
    # for, such as weights:size and macro:group,subject
    average: str = "macro"
    best: tuple[PickedRun, ...] = ()  # the run of each system that was picked; empty where all runs count
    systems: tuple[SystemMean, ...]  # their means
    test: SystemTest  # the test of all systems by the first metric
    tests: tuple[SystemTest, ...]  # the same for each metric
    contrasts: tuple[SystemContrast, ...]  # the differences
    conditional: tuple[Conditional, ...] = ()  # differences along each property asked for
    paper: PaperTest | None  # the test as published, by the first metric; null without items
    papers: tuple[PaperTest, ...]  # the same for each metric
    next: tuple[str, ...]  # the cheapest way to a firmer answer
    # what there must be more of for it: samples, runs, items, "runs or items" (either), "runs and items" (both),
    # settings, datasets, raters or labels; null where nothing is advised
    settled_by: str | None = None
    datasets: int = 1  # number of datasets
    raters: tuple[Raters, ...] = ()  # how much raters disagree, by each metric; empty without raters
    human: tuple[HumanLabels, ...] = ()  # what the judge adds to human labels; empty without
    dead: tuple[DeadItems, ...] = ()  # items that tell no systems apart, where scores are right or wrong
    left_out: int = 0  # number of pairs that could not be compared
    # the score of a corpus, where that is compared: means of systems are those of the scores of their runs
    estimate: CorpusEstimate | None = None

    def ordered(self, metric: str | None = None) -> list[SystemMean]:
        """Return the means of the systems by one metric, or else metric by metric, the best first."""
        lower = {c.metric for c in self.contrasts if c.lower_is_better}
        own = [s for s in self.systems if metric is None or s.metric == metric]
        if all(s.rank for s in own):
            return sorted(own, key=lambda s: (str(s.metric), s.rank or 0))
        return sorted(own, key=lambda s: (str(s.metric), s.mean if s.metric in lower else -s.mean))
