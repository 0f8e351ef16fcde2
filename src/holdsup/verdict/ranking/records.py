"""`RankingNumbers`: all that a ranking holds, and the rows it is made of."""

from __future__ import annotations

from dataclasses import dataclass, fields

from holdsup.fit.prediction import RSquared
from holdsup.rendering import State
from holdsup.results import Result
from holdsup.verdict.phrases import name_items

DIFFERENCES, WITH_RUNS, NOT_TESTED = "dataset differences", "datasets and runs", "none"  # where a test comes from
LEAST_SHARED = 2  # datasets of a pair, from which its differences have a spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """An effect and its test, not adjusted for others."""

    se: float  # standard error
    df: float  # degrees of freedom
    low: float  # lower end of the CI
    high: float  # upper end of the CI
    p: float  # two-sided p
    log10_p: float  # its decimal logarithm


def copy_test(found: object) -> dict[str, float]:
    """Return the estimate of an effect and its test, as a row of a table has them."""
    return {name: getattr(found, name) for name in ("estimate", "t", *(f.name for f in fields(Tested)))}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """A system's adjusted mean and its place."""

    name: str  # the system
    mean: float  # adjusted mean: datasets equally weighted, levels of fixed nuisance factors too, numbers at their mean
    se: float  # its standard error, for new datasets like these
    df: float  # its degrees of freedom
    low: float  # lower end of the CI, no further than the scale of the scores goes where it is known
    high: float  # upper end, likewise
    # its place by the adjusted mean, 1 for the best; systems with two datasets or fewer come after the others
    rank: int
    rank_low: int  # the best place that the adjusted tests of all pairs leave it, or its own
    rank_high: int  # the worst one
    p_best: float  # share of draws in which it is the best, not adjusted for pairs; null with two datasets or fewer
    p_best_shrunken: float | None  # the same from predicted effects of random systems, which shrink to their mean
    shrunken: float | None  # the predicted mean of a random system
    raw_mean: float  # mean of its rows, as they are
    scores: int  # number of its rows
    datasets: int  # number of datasets with a score of it
    # on how many of these its mean is the best, alone or tied; null in results of earlier versions
    best_on: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankContrast(Tested):
    """The difference of two systems' adjusted means."""

    left: str  # the one with the better rank
    right: str  # the other
    difference: float  # left - right; by "dataset differences" the mean over the datasets that both have
    # Bonferroni's over all pairs, p of the simultaneous CI: at most 1 - level exactly where that excludes zero
    p_adjusted: float
    log10_p_adjusted: float  # its decimal logarithm
    low_simultaneous: float  # lower end of the CI for all pairs at once
    high_simultaneous: float  # upper end of the CI for all pairs at once
    # where the test comes from: "dataset differences"; "datasets and runs" where runs were each scored on all datasets;
    # "pooled"; or "none" where too few datasets are shared or nothing varies: p is 1 then
    method: str
    datasets: int  # datasets with scores of both
    pooled_difference: float  # left - right by the fit
    pooled_se: float  # its standard error by the fit, the variances being those of all systems together
    pooled_df: float  # Satterthwaite's degrees of freedom
    pooled_p: float  # two-sided p by these
    # two-sided p by the other reading of runs on several datasets, nested or not; null where the same
    p_other_reading: float | None = None
    low_other_reading: float | None = None  # lower end of the CI by it, unadjusted
    high_other_reading: float | None = None  # upper end by it, unadjusted
    # Wilcoxon's signed-rank test of the differences between datasets, a companion; null where the pair has none
    p_signed_rank: float | None = None
    p_signed_rank_adjusted: float | None = None  # Bonferroni's over all pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallStep:
    """One bar between the raw gap of two systems and the isolated one."""

    left: str  # the one
    right: str  # the other
    step: str  # what is isolated here
    change: float  # what it adds to the gap; the first bar is the raw gap itself
    gap: float  # left - right after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """What the form makes of a nuisance column."""

    name: str  # the column
    levels: int  # number of its distinct values
    treated: str  # "fixed", "random", "numeric", "log" or "left out"
    reference: str | None  # the level that its effects are compared with; null where there is none
    why: str  # the rule, or why it is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class NuisanceEffect(Tested):
    """A fixed effect of a nuisance factor, or the intercept."""

    name: str  # the effect, such as "lr 1e-5", or "(Intercept)"
    factor: str | None  # the column, null for the intercept
    level: str | None  # its level, null for a number
    reference: str | None  # the level that it is compared with, null for a number
    estimate: float  # its value; of a number, per unit, of its logarithm, per tenfold
    t: float  # estimate / se


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(Tested):
    """What an ingredient of some systems adds, as a fixed effect."""

    name: str  # the column
    systems: tuple[str, ...]  # the systems that have it
    estimate: float  # points that it adds
    t: float  # estimate / se
    saturated: bool  # whether the ingredients tell all systems apart, so that no variance of systems is left
    method: str  # where these come from: "dataset differences" or "pooled"
    pooled_p: float  # two-sided p by Satterthwaite's t of the fit


@dataclass(frozen=True, slots=True, kw_only=True)
class TermVariance:
    """One random term of the fit in which systems are random."""

    group: str  # what it varies between, such as "system:dataset", or "Residual"
    term: str  # "(Intercept)", or the slope that varies
    levels: int  # number of its levels; of the residual, of rows
    variance: float  # its variance
    sd: float  # the root of it
    percent: float  # its share in the sum of all variances, 0-100, as the paper has it
    percent_exact: float  # its share with slopes weighed by their regressors, 0-100
    lrt: float | None  # how much the REML criterion rises without it; null for the residual
    df: int | None  # number of variances taken out; null for the residual
    p: float | None  # of this rise; null for the residual
    # where it comes from: "simulated null and mixture" (the larger p), or "chi-square mixture" for many levels
    method: str | None
    p_ranova: float | None  # by chi-square, as lmerTest's ranova has it
    log10_p_ranova: float | None  # its decimal logarithm
    p_at_most: bool = False  # whether `p` is the least that so many draws can give: it is that or smaller


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionEffect:
    """What a system does on a dataset beyond its own mean and the dataset's."""

    system: str  # the system
    dataset: str  # the dataset
    effect: float  # the predicted effect
    sd: float  # its standard deviation given the rows
    low: float  # lower end of the CI
    high: float  # upper end of the CI
    scores: int  # rows of this system on this dataset; 0 where the effect is only the mean, zero


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPart:
    """One term of the predicted score of a configuration."""

    term: str  # what adds to the score, such as "(Intercept)" or "seed 20 in system:dataset"
    kind: str  # "fixed" or "random"
    value: float  # what it adds
    known: bool  # whether the fit has seen this level; one that it has not seen adds its mean, zero


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """One of the questions behind a ranking, answered."""

    question: str  # what is asked
    state: State | None  # yes or unclear; null where the question has no yes or no
    answer: str  # a few words, by rule from the numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """How well a form predicts rows that it was not fitted to."""

    form: str  # "default", "paper", "formula", "slopes by system" or "plain regression"
    formula: str  # its formula
    held_out: str  # "rows", or "datasets" where whole ones are held out
    folds: int  # number of parts, each held out once
    mae: float  # mean absolute error
    rmse: float  # root of the mean squared error


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """The ranking with one dataset or one system left out."""

    kind: str  # "dataset" or "system"
    left_out: str  # its name
    ranking: tuple[str, ...]  # the systems from best to worst by their adjusted means
    leader: str  # the first of them
    gap: float  # its lead over the second, by adjusted means
    p: float | None  # two-sided p of the two, unadjusted, as in the contrasts; null where it could not be tested
    changed: bool  # whether the order of the systems that stay is another one
    largest_shift: float  # the largest change of a contrast between systems that stay


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRank:
    """A system's rank, averaged over datasets."""

    system: str  # the system
    average_rank: float  # mean over datasets of its rank among the systems, 1 for the best
    wins: float  # datasets on which it is the best, a shared first place in parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Friedman's test and Nemenyi's critical difference on the mean scores by dataset."""

    datasets: int  # datasets with a score of every system
    left_out: int  # datasets without
    ranks: tuple[AverageRank, ...]  # the average rank of each system, the best first
    chi2: float  # Friedman's statistic
    df: int  # its degrees of freedom
    p: float  # its p
    log10_p: float  # its decimal logarithm
    f: float  # Iman and Davenport's F
    df1: int  # its numerator degrees of freedom
    df2: int  # its denominator degrees of freedom
    p_f: float  # its p
    log10_p_f: float  # its decimal logarithm
    critical_difference: float  # average ranks that differ by this much differ by Nemenyi's test
    cliques: tuple[tuple[str, ...], ...]  # groups of systems that the test cannot tell apart
    parting: str  # where the ranking and the average ranks part, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The points of a normal Q-Q plot, thinned."""

    name: str  # "residuals", or the random term
    count: int  # how many values there are
    normal: tuple[float, ...]  # standard normal quantiles
    observed: tuple[float, ...]  # the values at these


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingNumbers(Result):
    """The numbers of a ranking."""

    level: float  # coverage of the intervals
    lower_is_better: bool  # whether the lowest mean is the best
    score: str  # the column of the scores
    form: str  # "default", "paper" or "formula"
    means_formula: str  # the model that gives means and contrasts, systems fixed
    formula: str  # the model that gives shares of variance, systems random
    datasets: int  # number of datasets
    scope: str  # what CIs of means are for: "new datasets" like these or, by some formulas, "these datasets" alone
    systems: tuple[RankedSystem, ...]  # the systems from best to worst
    contrasts: tuple[RankContrast, ...]  # all pairs
    fixed: tuple[NuisanceEffect, ...]  # effects of nuisance factors
    contributions: tuple[Contribution, ...]  # what ingredients of systems add
    random: tuple[TermVariance, ...]  # the random terms, the residual last
    interactions: tuple[InteractionEffect, ...]  # what each system does on each dataset beyond both their means
    waterfall: tuple[WaterfallStep, ...]  # from the raw gap of two systems to the adjusted one
    r2: RSquared  # shares of the variance that the fit with random systems explains
    cv: CrossValidation | None  # its cross-validated error, rows held out; null where none was asked for
    forms: tuple[CrossValidation, ...]  # cross-validated errors of all forms that were compared
    treatments: tuple[Treatment, ...]  # what is made of nuisance columns
    influence: tuple[Influence, ...]  # the ranking without each dataset and without each system
    # average ranks with Friedman's and Nemenyi's tests; null where too few datasets have all systems
    companion: Companion | None
    prediction: tuple[PredictionPart, ...]  # the score of one configuration, term by term; empty unless asked for
    diagnostics: tuple[Quantiles, ...]  # points of normal Q-Q plots
    # whether each dataset has training runs of its own, or runs are one training each, evaluated on all
    nested_runs: bool = False
    # what the tests generalise to: datasets, runs; empty where a formula lets them do neither
    covers: tuple[str, ...] = ("datasets",)

    @property
    def system_name(self) -> str:
        """The column of the systems, as terms of the fit name it."""
        return self._column("system")

    @property
    def dataset_name(self) -> str:
        """The column of the datasets."""
        return self._column("dataset")

    @property
    def items(self) -> str:
        """The user's own word for datasets."""
        return name_items(self.dataset_name, "datasets")

    def _column(self, role: str) -> str:
        column = self.asked.roles.get(role)
        return column if isinstance(column, str) else role

    def ahead(self, contrast: RankContrast) -> bool:
        """Return whether the left system of a pair is the better one where both were scored."""
        return (contrast.difference < 0) == self.lower_is_better and contrast.difference != 0

    def told(self, p: float | None) -> bool:
        """Return whether a p is small enough."""
        return p is not None and p <= 1 - self.level

    def find_cells(self) -> tuple[TermVariance, ...]:
        """Return the terms of systems on datasets: an intercept for each cell, or slopes of systems by dataset."""
        names = {self.system_name, self.dataset_name}
        return tuple(
            r
            for r in self.random
            if (set(r.group.split(":")) == names and r.term == "(Intercept)")
            or (r.group == self.dataset_name and r.term.startswith(self.system_name))
        )
