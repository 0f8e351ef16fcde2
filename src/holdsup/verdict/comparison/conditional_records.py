"""What a comparison finds along a property of the items: lines, where the lead holds, tests."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from holdsup.numerics.layout import Floats
from holdsup.verdict.scales import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalTest:
    """A test of systems against a property."""

    statistic: float | None  # likelihood ratio in a mixed model; null where there is none
    df: int | None  # its degrees of freedom; null where there is none
    p_chi2: float | None  # its p by the chi-square, too small where runs are few; null where there is none
    p: float  # the p that counts, for this property alone
    log10_p: float  # its decimal logarithm
    p_adjusted: float  # Holm's p over all properties and metrics
    log10_p_adjusted: float  # its decimal logarithm
    p_method: str  # where it comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperConditional:
    """The test conditional on a property as published (Hagmann, Meier & Riezler 2023, eqs. 6 and 7)."""

    property: str  # the property
    alternative: str  # eq. 6
    null: str  # eq. 7: no system at all
    without_interaction: str  # systems differ, but by the same amount at every value
    statistic: float  # likelihood ratio of eq. 6 against eq. 7
    df: int  # its degrees of freedom
    p: float  # its p by the chi-square
    log10_p: float  # its decimal logarithm
    interaction_statistic: float  # likelihood ratio of the interaction alone
    interaction_df: int  # its degrees of freedom
    interaction_p: float  # its p by the chi-square
    interaction_log10_p: float  # its decimal logarithm


@dataclass(frozen=True, slots=True)
class Line:
    """Values along a property, with limits."""

    at: tuple[float, ...]  # values of the property; of classes, their places in `classes`, from 0
    value: tuple[float, ...]  # what is predicted there
    low: tuple[float, ...]  # lower ends of the CIs
    high: tuple[float, ...]  # upper ends of the CIs

    @classmethod
    def around(cls, at: Iterable[float], value: Floats, half: Floats) -> Line:
        """Return a line from its values and the half-widths of their limits."""
        ends = (tuple(each.tolist()) for each in (value, value - half, value + half))
        return cls(tuple(map(float, at)), *ends)

    def as_rates(self) -> Line:
        """Return a line of log-odds as one of rates."""
        ends = (tuple((1 + math.tanh(x / 2)) / 2 for x in each) for each in (self.value, self.low, self.high))
        return Line(self.at, *ends)

    def cut(self, scale: Scale) -> Line:
        """Return a line of means whose limits go no further than a scale."""
        low, high = zip(*map(scale.cut, self.low, self.high, self.value), strict=True)
        return Line(self.at, self.value, low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTrend:
    """How the scores of one system depend on a property."""

    system: str  # its name
    claim: str  # what the CI covers: these-runs, or new-runs where its own runs can carry it
    # change of the score, or of its log-odds, with one unit of the property; null for classes
    slope: float | None = None
    se: float | None = None  # its standard error
    df: float | None = None  # degrees of freedom
    low: float | None = None  # lower end of the CI of the slope
    high: float | None = None  # upper end of the CI of the slope
    line: Line  # mean score along the property (by a logistic regression, of log-odds), CIs for each place alone


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTrend:
    """How the difference of two systems depends on a property."""

    left: str  # the one
    right: str  # the other
    claim: str  # what is claimed of this pair
    slope: float | None = None  # change of left minus right with one unit of the property; null for classes
    se: float | None = None  # its standard error
    df: float | None = None  # degrees of freedom
    low: float | None = None  # lower end of the CI of the slope, for this pair alone
    high: float | None = None  # upper end of the CI of the slope, for this pair alone
    p_joint: float  # p of no difference at any value, for this pair alone
    log10_p_joint: float  # its decimal logarithm
    p_interaction: float  # p of the same difference at all values, for this pair alone
    log10_p_interaction: float  # its decimal logarithm
    line: Line  # left minus right along the property, CIs for all places and pairs at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A range, or a class, in which the difference of two systems holds."""

    left: str  # the one
    right: str  # the other
    better: str  # which of them is better there
    low: float | None  # where it begins; null for a class
    high: float | None  # where it ends; null for a class
    level: str | None  # the class; null for a range
    items: int  # number of items inside
    percent: float  # share of the pair's items inside, 0-100


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional:
    """Systems compared along one property of the items."""

    property: str  # its name
    metric: str | None  # the metric, null if there is only one
    claim: str  # what is claimed of most pairs
    scale: str = "score"  # what differences and slopes are of: "score", or the log-odds of scores from 0 to 1, "logit"
    classes: tuple[str, ...]  # the classes of the property; empty for a number
    sizes: tuple[int, ...]  # number of items of each class
    items: int  # number of items with a value
    without: int  # number of items without one; they are left out here
    model: str | None  # the mixed model whose likelihood ratios are shown with our tests; null where there is none
    joint: ConditionalTest  # no difference between systems at any value
    interaction: ConditionalTest  # the same differences at all values
    # the interaction given those of all other properties asked for; null for a single one
    given_others: ConditionalTest | None
    slopes: tuple[SystemTrend, ...]  # how each system depends on the property
    differences: tuple[PairTrend, ...]  # how each pair does
    limits: str  # by what rule the CIs of differences hold at all places at once
    significant_where: tuple[Where, ...]  # where differences hold; empty where the adjusted p of `joint` is too large
