"""What a comparison says about a property of the items: the rows of its tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from holdsup.numerics.layout import Floats
from holdsup.verdict.scales import Scale

__all__ = ["Conditional", "ConditionalTest", "Line", "PairTrend", "PaperConditional", "SystemTrend", "Where"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalTest:
    """A test of systems against a property.

    Attributes
    ----------
    statistic : likelihood ratio in a mixed model; null where there is none
    df : its degrees of freedom; null where there is none
    p_chi2 : its p by the chi-square, too small where runs are few; null where there is none
    p : the p that counts, for this property alone
    log10_p : its decimal logarithm
    p_adjusted : Holm's p over all properties and metrics
    log10_p_adjusted : its decimal logarithm
    p_method : where it comes from
    """

    statistic: float | None
    df: int | None
    p_chi2: float | None
    p: float
    log10_p: float
    p_adjusted: float
    log10_p_adjusted: float
    p_method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperConditional:
    """The test conditional on a property as published (Hagmann, Meier & Riezler 2023, eqs. 6 and 7).

    Attributes
    ----------
    property : the property
    alternative : eq. 6
    null : eq. 7: no system at all
    without_interaction : systems differ, but by the same amount at every value
    statistic : likelihood ratio of eq. 6 against eq. 7
    df : its degrees of freedom
    p : its p by the chi-square
    log10_p : its decimal logarithm
    interaction_statistic : likelihood ratio of the interaction alone
    interaction_df : its degrees of freedom
    interaction_p : its p by the chi-square
    interaction_log10_p : its decimal logarithm
    """

    property: str
    alternative: str
    null: str
    without_interaction: str
    statistic: float
    df: int
    p: float
    log10_p: float
    interaction_statistic: float
    interaction_df: int
    interaction_p: float
    interaction_log10_p: float


@dataclass(frozen=True, slots=True)
class Line:
    """Values along a property, with limits.

    Attributes
    ----------
    at : values of the property; of classes, their places in `classes`, from 0
    value : what is predicted there
    low : lower limits
    high : upper limits
    """

    at: tuple[float, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def around(cls, at: Iterable[float], value: Floats, half: Floats) -> Line:
        """Return a line from its values and the half-widths of their limits."""
        ends = (tuple(each.tolist()) for each in (value, value - half, value + half))
        return cls(tuple(map(float, at)), *ends)

    def cut(self, scale: Scale) -> Line:
        """Return a line of means whose limits go no further than a scale."""
        low, high = zip(*map(scale.cut, self.low, self.high, self.value), strict=True)
        return Line(self.at, self.value, low, high)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTrend:
    """How the scores of one system depend on a property.

    Attributes
    ----------
    system : its name
    claim : what the limits cover: these-runs, or new-runs where its own runs can carry it
    slope : change of the score with one unit of the property; null for classes
    se : its standard error
    df : degrees of freedom
    low : lower limit of the slope
    high : upper limit of the slope
    line : mean score along the property, limits for each place alone
    """

    system: str
    claim: str
    slope: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTrend:
    """How the difference of two systems depends on a property.

    Attributes
    ----------
    left : the one
    right : the other
    claim : what is claimed of this pair
    slope : change of left minus right with one unit of the property; null for classes
    se : its standard error
    df : degrees of freedom
    low : lower limit of the slope, for this pair alone
    high : upper limit of the slope, for this pair alone
    p_joint : p of no difference at any value, for this pair alone
    log10_p_joint : its decimal logarithm
    p_interaction : p of the same difference at all values, for this pair alone
    log10_p_interaction : its decimal logarithm
    line : left minus right along the property, limits for all places and pairs at once
    """

    left: str
    right: str
    claim: str
    slope: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    p_joint: float
    log10_p_joint: float
    p_interaction: float
    log10_p_interaction: float
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A range, or a class, in which the difference of two systems holds.

    Attributes
    ----------
    left : the one
    right : the other
    better : which of them is better there
    low : where it begins; null for a class
    high : where it ends; null for a class
    level : the class; null for a range
    items : number of items inside
    percent : share of the pair's items inside, 0-100
    """

    left: str
    right: str
    better: str
    low: float | None
    high: float | None
    level: str | None
    items: int
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional:
    """Systems compared along one property of the items.

    Attributes
    ----------
    property : its name
    metric : the metric, null if there is only one
    claim : what is claimed of most pairs
    classes : the classes of the property; empty for a number
    sizes : number of items of each class
    items : number of items with a value
    without : number of items without one; they are left out here
    model : the mixed model whose likelihood ratios stand beside our tests; null where there is none
    joint : no difference between systems at any value
    interaction : the same differences at all values
    given_others : the interaction given those of all other properties asked for; null for a single one
    slopes : how each system depends on the property
    differences : how each pair does
    limits : by what rule the limits of differences hold at all places at once
    significant_where : where differences hold; empty where the adjusted p of `joint` is too large
    """

    property: str
    metric: str | None
    claim: str
    classes: tuple[str, ...]
    sizes: tuple[int, ...]
    items: int
    without: int
    model: str | None
    joint: ConditionalTest
    interaction: ConditionalTest
    given_others: ConditionalTest | None
    slopes: tuple[SystemTrend, ...]
    differences: tuple[PairTrend, ...]
    limits: str
    significant_where: tuple[Where, ...]
