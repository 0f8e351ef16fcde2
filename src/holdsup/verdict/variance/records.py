"""The rows of a decomposition's tables, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from holdsup.results import Result
from holdsup.verdict.items import DeadItems, ItemRating

PAPER = "Hagmann et al. (2023)"  # who published the test of an interaction
JIANG = 0.80  # the threshold of Jiang (2018)
OBJECTS = ("item", "cluster", "dataset")  # what is measured, items first


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScores:
    """What was decomposed."""

    system: str  # the system
    metric: str | None  # the metric, null if there is only one
    model: str  # the mixed model, fitted by REML
    scores: int  # number of scores
    items: int  # number of items, 0 where runs have one score each
    runs: int  # number of runs
    mean: float  # the mean score, by the model
    variance: float  # the total of the components


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponent:
    """One source of the variance of a system's scores."""

    system: str  # the system
    metric: str | None  # the metric, null if there is only one
    name: str  # the items, their clusters or datasets, a facet, an interaction such as item:seed, or "Residual"
    levels: int  # how many levels it has; for the residual, how many scores
    variance: float  # its variance; zero where the scores vary no more than without it
    percent: float  # its share of the total, 0-100
    low: float  # lower end of its CI
    high: float  # upper end, null if there is none
    method: str  # where the CI comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How much of the variance of a single score is variance between items, their clusters and datasets included."""

    system: str  # the system
    metric: str | None  # the metric, null if there is only one
    phi: float  # variance between items, clusters and datasets over total variance, 0-1
    low: float  # lower end of its CI
    high: float  # upper end
    band: str  # Koo and Li's words for every value in the CI
    above_80: str  # whether phi reaches Jiang's .80: "yes" and "no" if the whole CI agrees, else "unsure"
    method: str  # where the CI comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What other numbers of levels would give: a row of the decision study."""

    system: str  # the system
    metric: str | None  # the metric, null if there is only one
    counts: Mapping[str, int]  # number of levels of each facet that scores are averaged over
    repeats: float  # number of scores of an item at each combination of levels, as many as now
    current: bool  # whether these are the numbers that there are now
    phi: float  # reliability of such averages
    se: float  # absolute standard error of an item's average
    se_mean: float  # standard error of the mean over the items, clusters and datasets that there are


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetPoint:
    """The predicted score of a level of a facet at a value of a property."""

    level: str  # the level
    value: float | str  # the value of the property: a number, or a class
    mean: float  # predicted score
    low: float  # lower end of the CI of how far the level is from the average of the levels
    high: float  # upper end, likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedInteraction:
    """The paper's test of an interaction: levels of the facet fixed, by ML."""

    model: str  # the mixed model with the interaction
    statistic: float  # likelihood ratio of the interaction
    df: int  # its degrees of freedom
    p: float  # its p, by chi-square
    log10_p: float  # its decimal logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetByProperty:
    """How the effect of a facet changes with a property of the items."""

    system: str  # the system
    metric: str | None  # the metric, null if there is only one
    facet: str  # the facet
    property: str  # the property
    model: str  # the mixed model, fitted by REML
    # of the interaction: of the slopes, per standard deviation of the property, or of levels within classes
    variance: float
    percent: float  # its share of the total variance, 0-100
    slope: float | None  # the mean slope, in scores per unit of the property; null for classes
    statistic: float  # likelihood ratio of the interaction
    p: float  # its p, by the mixture of chi-squares that a variance of zero calls for
    log10_p: float  # its decimal logarithm
    # predicted scores of each level, at low, middle and high values of the property or in each class
    points: tuple[FacetPoint, ...]
    paper: PublishedInteraction | None  # the test as published; null where it failed


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencePlan:
    """What other numbers of items, runs and settings would tell about the difference of two systems."""

    left: str  # the one
    right: str  # the other
    metric: str | None  # the metric, null if there is only one
    claim: str  # new-runs, or new-settings where settings are drawn as well
    current: bool  # whether these are the numbers that there are now
    items: int  # number of items
    left_runs: int  # number of runs of left; of seeds, where they are shared
    right_runs: int  # number of runs of right
    left_settings: int  # number of settings of left
    right_settings: int  # number of settings of right
    se: float  # standard error of the difference
    df: float  # its degrees of freedom, cautious as those of compare at 5%
    # the smallest difference that a two-sided test at 5% finds with 80% power; null where its df are too few to find
    # any
    detectable: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentScale:
    """The components of a system's right and wrong on the scale of log-odds, by a logistic mixed model."""

    system: str  # the system
    metric: str | None  # the metric, null if there is only one
    sd: Mapping[str, float]  # standard deviation of each source, in logits
    phi: float  # variance between items, clusters and datasets over total variance, whose noise is pi^2/3
    method: str  # of the likelihood: "quadrature" or "laplace"
    converged: bool  # whether its optimum is certified


@dataclass(frozen=True, slots=True, kw_only=True)
class DecompositionNumbers(Result):
    """All that is known of the variance of each system's scores, which words and tables are made from."""

    kind: ClassVar[str] = "variance"

    level: float  # coverage of the intervals
    threshold: float = JIANG  # the reliability that a single score should have
    components: tuple[VarianceComponent, ...]  # the sources of variance of each system
    reliability: Reliability | None  # how reliable the first system's scores are; null without items
    reliabilities: tuple[Reliability, ...]  # the same for each system and metric
    systems: tuple[SystemScores, ...]  # what was decomposed
    study: tuple[StudyPlan, ...]  # what other numbers of facet levels would give
    properties: tuple[FacetByProperty, ...]  # how the effects of facets change with properties of the items
    # what other numbers of items, runs and settings would tell about differences of systems
    differences: tuple[DifferencePlan, ...]
    next: tuple[str, ...]  # what more runs are worth
    latent: tuple[LatentScale, ...] = ()  # the components of right and wrong on log-odds
    dead: tuple[DeadItems, ...] = ()  # items that tell no systems apart
    items: tuple[ItemRating, ...] = ()  # the hardest others, and those that tell systems apart least

    def list_objects(self) -> list[str]:
        """Return which of the sources are what is measured, the items first."""
        names = {c.name for c in self.components}
        return [name for name in OBJECTS if name in names]


def name_of(system: str, metric: str | None) -> str:
    """Return the name of a system, with the metric where there are several."""
    return system if metric is None else f"{system} ({metric})"
