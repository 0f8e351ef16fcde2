"""The rows of a ranking's tables."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Answer",
    "Contribution",
    "InteractionEffect",
    "NuisanceEffect",
    "PredictionPart",
    "RankContrast",
    "RankedSystem",
    "TermVariance",
    "Treatment",
    "WaterfallStep",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """A system's adjusted mean and its place.

    Attributes
    ----------
    name : the system
    mean : adjusted mean: datasets equally weighted, levels of fixed nuisance factors too, numbers at their mean
    se : its standard error, for new datasets like these
    df : its degrees of freedom
    low : lower limit
    high : upper limit
    rank : its place by the adjusted mean, 1 for the best
    rank_low : the best place that Holm's tests of all pairs leave it
    rank_high : the worst one
    p_best : share of draws from the joint distribution of the means in which it is the best, systems fixed
    p_best_shrunken : the same from predicted effects of random systems, which shrink to their mean
    shrunken : the predicted mean of a random system
    raw_mean : mean of its rows, as they are
    scores : number of its rows
    datasets : number of datasets with a score of it
    """

    name: str
    mean: float
    se: float
    df: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    p_best: float
    p_best_shrunken: float | None
    shrunken: float | None
    raw_mean: float
    scores: int
    datasets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankContrast:
    """The difference of two systems' adjusted means.

    Attributes
    ----------
    left : the one, the better by its adjusted mean
    right : the other
    difference : left - right
    se : standard error
    df : degrees of freedom
    low : lower limit, unadjusted
    high : upper limit, unadjusted
    p : two-sided p
    log10_p : its decimal logarithm
    p_adjusted : Holm's over all pairs
    log10_p_adjusted : its decimal logarithm
    low_simultaneous : lower limit that holds for all pairs at once
    high_simultaneous : upper limit that holds for all pairs at once
    method : where se, df, p and limits come from: "dataset differences" or "pooled"
    datasets : datasets with scores of both
    pooled_difference : left - right by the fit
    pooled_se : its standard error by the fit, the variances being those of all systems together
    pooled_df : Satterthwaite's degrees of freedom
    pooled_p : two-sided p by these
    """

    left: str
    right: str
    difference: float
    se: float
    df: float
    low: float
    high: float
    p: float
    log10_p: float
    p_adjusted: float
    log10_p_adjusted: float
    low_simultaneous: float
    high_simultaneous: float
    method: str
    datasets: int
    pooled_difference: float
    pooled_se: float
    pooled_df: float
    pooled_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NuisanceEffect:
    """A fixed effect of a nuisance factor, or the intercept.

    Attributes
    ----------
    name : the effect, such as "lr 1e-5", or "(Intercept)"
    factor : the column, null for the intercept
    level : its level, null for a number
    reference : the level that it is compared with, null for a number
    estimate : its value; of a number, per unit
    se : standard error
    df : Satterthwaite's degrees of freedom
    t : estimate / se
    p : two-sided p
    log10_p : its decimal logarithm
    low : lower limit
    high : upper limit
    """

    name: str
    factor: str | None
    level: str | None
    reference: str | None
    estimate: float
    se: float
    df: float
    t: float
    p: float
    log10_p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What an ingredient of some systems adds, as a fixed effect.

    Attributes
    ----------
    name : the column
    systems : the systems that have it
    estimate : points that it adds
    se : standard error
    df : degrees of freedom
    t : estimate / se
    p : two-sided p
    log10_p : its decimal logarithm
    low : lower limit
    high : upper limit
    saturated : whether the ingredients tell all systems apart, so that no variance of systems is left
    method : where these come from: "dataset differences" or "pooled"
    pooled_p : two-sided p by Satterthwaite's t of the fit
    """

    name: str
    systems: tuple[str, ...]
    estimate: float
    se: float
    df: float
    t: float
    p: float
    log10_p: float
    low: float
    high: float
    saturated: bool
    method: str
    pooled_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TermVariance:
    """One random term of the fit in which systems are random.

    Attributes
    ----------
    group : what it varies between, such as "system:dataset", or "Residual"
    term : "(Intercept)", or the slope that varies
    levels : number of its levels; of the residual, of rows
    variance : its variance
    sd : the root of it
    percent : its share in the sum of all variances, 0-100, as the paper has it
    percent_exact : its share with slopes weighed by their regressors, 0-100
    lrt : how much the REML criterion rises without it; null for the residual
    df : number of variances taken out; null for the residual
    p : of this rise; null for the residual
    method : where it comes from: "simulated null and mixture" (the larger p), or "chi-square mixture" for many levels
    p_ranova : by chi-square, as lmerTest's ranova has it
    log10_p_ranova : its decimal logarithm
    """

    group: str
    term: str
    levels: int
    variance: float
    sd: float
    percent: float
    percent_exact: float
    lrt: float | None
    df: int | None
    p: float | None
    method: str | None
    p_ranova: float | None
    log10_p_ranova: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionEffect:
    """What a system does on a dataset beyond its own mean and the dataset's.

    Attributes
    ----------
    system : the system
    dataset : the dataset
    effect : the predicted effect
    sd : its standard deviation given the rows
    low : lower limit
    high : upper limit
    scores : rows of this system on this dataset; 0 where the effect is only the mean, zero
    """

    system: str
    dataset: str
    effect: float
    sd: float
    low: float
    high: float
    scores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallStep:
    """One bar between the raw gap of two systems and the isolated one.

    Attributes
    ----------
    left : the one
    right : the other
    step : what is isolated here
    change : what it adds to the gap; the first bar is the raw gap itself
    gap : left - right after it
    """

    left: str
    right: str
    step: str
    change: float
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """What the form makes of a nuisance column.

    Attributes
    ----------
    name : the column
    levels : number of its distinct values
    treated : "fixed", "random", "numeric" or "left out"
    reference : the level that its effects are compared with; null where there is none
    why : the rule, or why it is left out
    """

    name: str
    levels: int
    treated: str
    reference: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPart:
    """One term of the predicted score of a configuration.

    Attributes
    ----------
    term : what adds to the score, such as "(Intercept)" or "seed 20 in system:dataset"
    kind : "fixed" or "random"
    value : what it adds
    known : whether the fit has seen this level; one that it has not seen adds its mean, zero
    """

    term: str
    kind: str
    value: float
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One of the questions, answered in words.

    Attributes
    ----------
    question : what is asked
    answer : a sentence, by rule from the numbers
    """

    question: str
    answer: str
