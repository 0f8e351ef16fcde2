"""The rows of an assessment's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Assessment",
    "ConditionModel",
    "ConditionRow",
    "ConditionSpread",
    "ConditionVariance",
    "GroupSpread",
    "MeasuredValue",
    "MeasurementPair",
    "Measures",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The other measures of precision of the paper's section 3.2.

    Attributes
    ----------
    s : standard deviation, divisor n - 1, uncorrected
    cv : s over the mean, in percent, uncorrected
    within_1 : percentage of values within one s of the mean
    within_2 : percentage of values within two s of the mean; always 100 up to n = 5
    """

    s: float
    cv: float
    within_1: float
    within_2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """How closely the measurements of one measurand of one object agree.

    Attributes
    ----------
    object : what was measured
    measurand : the quantity measured
    n : number of measurements
    mean : mean of the values, shifted so that their scale starts at zero
    sd : unbiased standard deviation s*
    sd_se : its standard error
    sd_low : lower limit of s* as published, by Student's t; may be negative
    sd_high : upper limit of s* as published
    sd_low_chi2 : lower limit of the standard deviation, by chi-square
    sd_high_chi2 : upper limit of the standard deviation, by chi-square
    cv : CV* as published, in percent of the mean
    cv_plain : s* over the mean, in percent: corrected once, not twice
    cv_low : lower limit of the standard deviation over the mean, in percent, by noncentral t
    cv_high : its upper limit, null where there is none
    next_low : lower limit of the next measurement, in the unit of the values
    next_high : upper limit of the next measurement, in the unit of the values
    repeatability : true if all conditions of measurement agree, false if one differs (then it is reproducibility), null
        if no condition is reported for all measurements
    differing : conditions that differ
    agreeing : conditions that agree
    not_reported : conditions that some or all measurements leave open; one may differ among the others
    more_reproducible_than : how many of the paper's results have a larger CV*; null if not asked for
    of : how many results the paper has; null if not asked for
    align_next : what to align, or to find out, before the next measurement
    measures : other measures of precision; null if not asked for
    """

    object: str
    measurand: str
    n: int
    mean: float
    sd: float
    sd_se: float
    sd_low: float
    sd_high: float
    sd_low_chi2: float
    sd_high_chi2: float
    cv: float
    cv_plain: float
    cv_low: float
    cv_high: float
    next_low: float
    next_high: float
    repeatability: bool | None
    differing: tuple[str, ...]
    agreeing: tuple[str, ...]
    not_reported: tuple[str, ...]
    more_reproducible_than: int | None
    of: int | None
    align_next: str
    measures: Measures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue:
    """One measurement, as it was given.

    Attributes
    ----------
    object : what was measured
    measurand : the quantity measured
    label : what tables and pictures call the measurement
    value : its value
    reported : the value as it was written
    scale_minimum : the lowest value that the scale has
    scale_from : who says so: "stated" by the source, a "guess" from the values, or the "default", 0
    unit : "percent" or "proportion" where that is known, otherwise empty
    source : where the value is published
    time : when it was measured
    conditions : the conditions of measurement as they are written
    """

    object: str
    measurand: str
    label: str
    value: float
    reported: str
    scale_minimum: float
    unit: str
    source: str
    time: str
    conditions: Mapping[str, str]
    scale_from: Literal["stated", "guess", "default"] = "stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRow:
    """A row of the conditions matrix: one condition over the measurements of an assessment.

    Attributes
    ----------
    object : what was measured
    measurand : the quantity measured
    condition : the condition
    group : what it is a condition of: object, method, procedure, or other
    agrees : whether all measurements have the same value, null if some do not report it and the others agree
    values : the value in each measurement, null where it is not reported
    same_as_first : whether each value is that of the first measurement, null where one of the two is not reported
    """

    object: str
    measurand: str
    condition: str
    group: str
    agrees: bool | None
    values: tuple[str | None, ...]
    same_as_first: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementPair:
    """How similar the conditions of two measurements are, and their values.

    Attributes
    ----------
    object : what was measured
    measurand : the quantity measured
    left : the one
    right : the other
    agree : number of conditions that agree
    of : number of conditions that both report
    similarity : their ratio, 0-1, null if there is none
    difference : left - right
    percent : absolute difference in percent of the mean of the two, both shifted
    """

    object: str
    measurand: str
    left: str
    right: str
    agree: int
    of: int
    similarity: float
    difference: float
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpread:
    """Measurements that agree in some conditions.

    Attributes
    ----------
    values : what they agree in, one value a condition
    n : number of measurements
    mean : their mean, shifted
    cv : their CV*, as published; null for a single measurement
    """

    values: tuple[str, ...]
    n: int
    mean: float
    cv: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSpread:
    """How much of the spread goes with one condition, or with two.

    Attributes
    ----------
    object : what was measured
    measurand : the quantity measured
    conditions : the condition, or the two
    same_groups : other conditions, or pairs, that divide the measurements in the same way: they cannot be told apart
    groups : the measurements that agree in them
    cv : CV* of all measurements
    cv_within : standard deviation within groups over the mean, in percent; compare it with `cv_plain`
    explained : percentage of the variance that lies between groups, adjusted for their number; not above 0 if none does
    chance : how often a random division into groups of these sizes explains as much or more
    """

    object: str
    measurand: str
    conditions: tuple[str, ...]
    same_groups: tuple[str, ...]
    groups: tuple[GroupSpread, ...]
    cv: float
    cv_within: float
    explained: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionVariance:
    """The variance between the values of a condition, over all objects.

    Attributes
    ----------
    condition : the condition, with those that change together with it; or "Residual"
    levels : number of values; for the residual, of measurements
    cv : standard deviation, in percent of an object's mean
    percent : share of the variance, 0-100
    low : lower limit of the standard deviation
    high : upper limit of the standard deviation
    """

    condition: str
    levels: int
    cv: float
    percent: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionModel:
    """A mixed model of all measurements of a measurand, over the conditions that differ.

    Attributes
    ----------
    measurand : the quantity measured
    formula : the model, fitted by REML to values in percent of the mean of their object
    n : number of measurements
    objects : number of objects
    components : the variances
    method : where the limits come from
    """

    measurand: str
    formula: str
    n: int
    objects: int
    components: tuple[ConditionVariance, ...]
    method: str
