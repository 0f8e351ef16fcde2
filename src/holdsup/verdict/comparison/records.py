"""The rows of a comparison's tables."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.verdict.conditional.records import PaperConditional

__all__ = ["PAPER", "Equivalence", "PaperTest", "PickedRun", "SystemContrast", "SystemMean", "SystemTest"]

PAPER = "Hagmann et al. (2023)"  # whose tests stand beside ours; tables are published, where "ours" is their author's


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """The mean score of a system.

    Attributes
    ----------
    name : the system
    metric : the metric, null if there is only one
    claim : what its limits cover: as much of what is asked for as its own runs can carry
    mean : over its items, settings equally weighted
    se : standard error of the mean, for the claim
    df : degrees of freedom: limits are mean +- t(df) se, as far as the scale goes; null where there are no limits
    low : lower limit, no further than the scale of the scores goes where it is known
    high : upper limit, likewise
    runs : number of runs
    items : number of items, or datasets, with a score; 0 where runs have one score each
    note : why there are no limits; empty where there are
    """

    name: str
    metric: str | None
    claim: str
    mean: float
    se: float
    low: float
    high: float
    runs: int
    items: int
    df: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTest:
    """The test of all systems at once.

    Attributes
    ----------
    metric : the metric, null if there is only one
    model : the mixed model whose likelihood ratio is the statistic; null where there is none
    note : why there is no likelihood ratio; empty where there is one
    statistic : likelihood ratio of the systems in that model; null where there is none
    df : its degrees of freedom
    p_chi2 : its p by the chi-square, too small where runs are few
    log10_p_chi2 : its decimal logarithm
    p : the p that counts
    log10_p : its decimal logarithm
    p_method : where it comes from
    p_bootstrap : p of the likelihood ratio with a simulated reference; null if not asked for
    bootstrap_draws : how many responses were simulated
    bootstrap_failed : how many of them had no certain optimum; they count against a difference
    """

    metric: str | None
    model: str | None
    note: str
    statistic: float
    df: int
    p_chi2: float
    log10_p_chi2: float
    p: float
    log10_p: float
    p_method: str
    p_bootstrap: float | None = None
    bootstrap_draws: int = 0
    bootstrap_failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """What a margin adds to a contrast.

    Attributes
    ----------
    margin : differences below it do not matter
    p_equivalent : p of a difference of the margin or more, either way (two one-sided tests)
    p_not_worse : p of left being worse than right by the margin or more
    p_beyond : p of a difference of the margin or less, either way (two-sided)
    p_equivalent_adjusted : Holm's p over all pairs and metrics
    p_not_worse_adjusted : Holm's p over all pairs and metrics
    p_beyond_adjusted : Holm's p over all pairs and metrics
    """

    margin: float
    p_equivalent: float
    p_not_worse: float
    p_beyond: float
    p_equivalent_adjusted: float
    p_not_worse_adjusted: float
    p_beyond_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemContrast:
    """The difference of two systems.

    Attributes
    ----------
    left : the one
    right : the other; the baseline, if there is one
    metric : the metric, null if there is only one
    claim : what is claimed of this pair
    difference : left minus right, in the unit of the scores
    se : its standard error, by the test that gave p
    df : degrees of freedom of that test
    low : lower limit, for this pair alone; null where runs are too few to measure their spread
    high : upper limit, for this pair alone; null likewise
    se_limits : standard error that gave these limits, which are difference +- t(df_limits) se_limits; it may be another
        than that of p, for limits are the wider ones where two tests count
    df_limits : degrees of freedom that gave these limits
    low_simultaneous : lower limit, for all pairs and metrics at once (Bonferroni)
    high_simultaneous : upper limit, for all pairs and metrics at once (Bonferroni)
    se_simultaneous : standard error that gave the limits for all, with t at 1 - (1 - level) / pairs
    df_simultaneous : degrees of freedom that gave the limits for all
    p : p of no difference
    log10_p : its decimal logarithm
    p_adjusted : Holm's p over all pairs and metrics
    log10_p_adjusted : its decimal logarithm
    p_method : the test
    effect_size : difference over the residual standard deviation of the paper's model; null without items
    p_superior : probability that a new run of left has a better mean than a new run of right, the estimates taken for
        the truth; null for these-runs
    items : number of items, or datasets, that both have
    equivalence : what the margin adds; null without one
    lower_is_better : whether a lower score is a better one by this metric
    nested_runs : whether each of several datasets has runs of its own (true) or runs are one training each, evaluated
        on all of them (false); null where datasets and runs are not both drawn anew
    p_other_reading : p of no difference by the other reading of the runs; null where there is none
    low_other_reading : lower limit by it, for this pair alone
    high_other_reading : upper limit by it, for this pair alone
    """

    left: str
    right: str
    metric: str | None
    claim: str
    difference: float
    se: float
    df: float
    low: float
    high: float
    low_simultaneous: float
    high_simultaneous: float
    p: float
    log10_p: float
    p_adjusted: float
    log10_p_adjusted: float
    p_method: str
    effect_size: float | None
    p_superior: float | None
    items: int
    equivalence: Equivalence | None = None
    lower_is_better: bool = False
    se_limits: float | None = None
    df_limits: float | None = None
    se_simultaneous: float | None = None
    df_simultaneous: float | None = None
    nested_runs: bool | None = None
    p_other_reading: float | None = None
    low_other_reading: float | None = None
    high_other_reading: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedRun:
    """The run of a system that stands for it, because it is the best by a column.

    Attributes
    ----------
    system : the system
    run : the run that was picked
    value : what it has in that column
    runs : number of runs to pick from
    tied : number of runs with the same value, this one included
    """

    system: str
    run: str
    value: float
    runs: int
    tied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTest:
    """The test as published (Hagmann, Meier & Riezler 2023, eqs. 3 and 4).

    Attributes
    ----------
    metric : the metric, null if there is only one
    null : its null model
    alternative : its alternative
    statistic : likelihood ratio
    df : degrees of freedom
    p : p by the chi-square
    log10_p : its decimal logarithm
    sigma : residual standard deviation of the alternative
    note : what it does not allow for
    conditional : the tests conditional on each property asked for
    """

    metric: str | None
    null: str
    alternative: str
    statistic: float
    df: int
    p: float
    log10_p: float
    sigma: float
    note: str
    conditional: tuple[PaperConditional, ...] = ()
