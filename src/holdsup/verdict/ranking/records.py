"""The rows of a ranking: systems, contrasts, and terms of the fit."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = [
    "DIFFERENCES", "LEAST_SHARED", "NOT_TESTED", "WITH_RUNS",
    "Contribution", "InteractionEffect", "NuisanceEffect", "PredictionPart",
    "RankContrast", "RankedSystem", "TermVariance", "Tested", "Treatment", "WaterfallStep", "copy_test",
]  # fmt: skip

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
    rank_low: int  # the best place that Holm's tests of all pairs leave it, or its own
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
    p_adjusted: float  # Holm's over all pairs
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
