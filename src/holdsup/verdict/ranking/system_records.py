"""The rows of tables about systems: means, contrasts, the waterfall, and the answers in words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Answer", "RankContrast", "RankedSystem", "WaterfallStep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """A system's adjusted mean and its place.

    Attributes
    ----------
    name : the system
    mean : adjusted mean: datasets equally weighted, levels of fixed nuisance factors too, numbers at their mean
    se : its standard error, for new datasets like these
    df : its degrees of freedom
    low : lower limit, no further than the scale of the scores goes where it is known
    high : upper limit, likewise
    rank : its place by the adjusted mean, 1 for the best; systems with two datasets or fewer come after the others
    rank_low : the best place that Holm's tests of all pairs leave it, or its own
    rank_high : the worst one
    p_best : share of draws in which it is the best: means from a t with the contrasts' errors, not adjusted for pairs;
        null for a system with two datasets or fewer
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
    left : the one with the better rank
    right : the other
    difference : left - right; by "dataset differences" the mean over the datasets that both have
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
    method : where se, df, p and limits come from: "dataset differences"; "datasets and runs" where runs
        were each scored on all datasets; "pooled"; or "none" where fewer than two datasets are shared, or nothing
        varies: p is 1 then, and the difference is the fit's
    datasets : datasets with scores of both
    pooled_difference : left - right by the fit
    pooled_se : its standard error by the fit, the variances being those of all systems together
    pooled_df : Satterthwaite's degrees of freedom
    pooled_p : two-sided p by these
    p_other_reading : two-sided p by the other reading of runs on several datasets, nested or not; null where the same
    low_other_reading : lower limit by it, unadjusted
    high_other_reading : upper limit by it, unadjusted
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
    p_other_reading: float | None = None
    low_other_reading: float | None = None
    high_other_reading: float | None = None


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
class Answer:
    """One of the questions, answered in words.

    Attributes
    ----------
    question : what is asked
    answer : a sentence, by rule from the numbers
    """

    question: str
    answer: str
