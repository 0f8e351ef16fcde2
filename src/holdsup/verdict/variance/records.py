"""The rows of a decomposition's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PAPER = "Hagmann et al. (2023)"  # whose test stands beside ours

__all__ = [
    "PAPER",
    "DifferencePlan",
    "FacetByProperty",
    "FacetPoint",
    "PublishedInteraction",
    "Reliability",
    "StudyPlan",
    "SystemScores",
    "VarianceComponent",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScores:
    """What was decomposed.

    Attributes
    ----------
    system : the system
    metric : the metric, null if there is only one
    model : the mixed model, fitted by REML
    scores : number of scores
    items : number of items, 0 where runs have one score each
    runs : number of runs
    mean : the mean score, by the model
    variance : the total of the components
    """

    system: str
    metric: str | None
    model: str
    scores: int
    items: int
    runs: int
    mean: float
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponent:
    """One source of the variance of a system's scores.

    Attributes
    ----------
    system : the system
    metric : the metric, null if there is only one
    name : the items, their clusters or datasets, a facet, an interaction such as item:seed, or "Residual"
    levels : how many levels it has; for the residual, how many scores
    variance : its variance; zero where the scores vary no more than without it
    percent : its share of the total, 0-100
    low : lower limit of the variance
    high : upper limit of the variance, null if there is none
    method : where the limits come from
    """

    system: str
    metric: str | None
    name: str
    levels: int
    variance: float
    percent: float
    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How much of the variance of a single score is variance between items, their clusters and datasets included.

    Attributes
    ----------
    system : the system
    metric : the metric, null if there is only one
    phi : variance between items, clusters and datasets over total variance, 0-1
    low : lower limit
    high : upper limit
    band : Koo and Li's words for every value between the limits
    above_80 : whether phi reaches Jiang's .80: "yes" and "no" if the limits agree, else "unsure"
    method : where the limits come from
    """

    system: str
    metric: str | None
    phi: float
    low: float
    high: float
    band: str
    above_80: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What other numbers of levels would give: a row of the decision study.

    Attributes
    ----------
    system : the system
    metric : the metric, null if there is only one
    counts : number of levels of each facet that scores are averaged over
    repeats : number of scores of an item at each combination of levels, as many as now
    current : whether these are the numbers that there are now
    phi : reliability of such averages
    se : absolute standard error of an item's average
    se_mean : standard error of the mean over the items, clusters and datasets that there are
    """

    system: str
    metric: str | None
    counts: Mapping[str, int]
    repeats: float
    current: bool
    phi: float
    se: float
    se_mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetPoint:
    """The predicted score of a level of a facet at a value of a property.

    Attributes
    ----------
    level : the level
    value : the value of the property: a number, or a class
    mean : predicted score
    low : lower limit; how far the level lies from the average of the levels
    high : upper limit, likewise
    """

    level: str
    value: float | str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedInteraction:
    """The paper's test of an interaction: levels of the facet fixed, by ML.

    Attributes
    ----------
    model : the mixed model with the interaction
    statistic : likelihood ratio of the interaction
    df : its degrees of freedom
    p : its p, by chi-square
    log10_p : its decimal logarithm
    """

    model: str
    statistic: float
    df: int
    p: float
    log10_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetByProperty:
    """How the effect of a facet changes with a property of the items.

    Attributes
    ----------
    system : the system
    metric : the metric, null if there is only one
    facet : the facet
    property : the property
    model : the mixed model, fitted by REML
    variance : of the interaction: of the slopes, per standard deviation of the property, or of levels within classes
    percent : its share of the total variance, 0-100
    slope : the mean slope, in scores per unit of the property; null for classes
    statistic : likelihood ratio of the interaction
    p : its p, by the mixture of chi-squares that a variance of zero calls for
    log10_p : its decimal logarithm
    points : predicted scores of each level, at low, middle and high values of the property or in each class
    paper : the test as published; null where it failed
    """

    system: str
    metric: str | None
    facet: str
    property: str
    model: str
    variance: float
    percent: float
    slope: float | None
    statistic: float
    p: float
    log10_p: float
    points: tuple[FacetPoint, ...]
    paper: PublishedInteraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencePlan:
    """What other numbers of items, runs and settings would tell about the difference of two systems.

    Attributes
    ----------
    left : the one
    right : the other
    metric : the metric, null if there is only one
    claim : new-runs, or new-settings where settings are drawn as well
    current : whether these are the numbers that there are now
    items : number of items
    left_runs : number of runs of left; of seeds, where they are shared
    right_runs : number of runs of right
    left_settings : number of settings of left
    right_settings : number of settings of right
    se : standard error of the difference
    df : its degrees of freedom, cautious as those of compare at 5%
    detectable : the smallest difference that a two-sided test at 5% finds four times in five; null where its df are
        too few to find any
    """

    left: str
    right: str
    metric: str | None
    claim: str
    current: bool
    items: int
    left_runs: int
    right_runs: int
    left_settings: int
    right_settings: int
    se: float
    df: float
    detectable: float
