"""The records of a reproduction's results: what tables, words and pictures are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

MOST_CROSSED = 12  # conditions that are tried two by two: 66 pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Something about the measurements of one measurand of one object."""

    object: str  # what was measured
    measurand: str  # the quantity measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment(Measured):
    """How closely the measurements of one measurand of one object agree."""

    n: int  # number of measurements
    mean: float  # mean of the values, shifted so that their scale starts at zero
    sd: float  # unbiased standard deviation s*
    sd_se: float  # its standard error
    sd_low: float  # lower end of the CI of s* as published, by Student's t; may be negative
    sd_high: float  # its upper end
    sd_low_chi2: float  # lower end of the exact CI of the standard deviation, by chi-square
    sd_high_chi2: float  # its upper end
    cv: float  # CV* as published, in percent of the mean
    cv_plain: float  # s* over the mean, in percent: corrected once, not twice
    cv_low: float  # lower end of the exact CI of the standard deviation over the mean, in percent, by noncentral t
    cv_high: float  # its upper end, null where there is none
    next_low: float  # lower end of the prediction interval of the next measurement, in the unit of the values
    next_high: float  # its upper end
    # true if all conditions of measurement agree, false if one differs (then it is reproducibility), null if no
    # condition is reported for all measurements
    repeatability: bool | None
    differing: tuple[str, ...]  # conditions that differ
    agreeing: tuple[str, ...]  # conditions that agree
    # conditions that some or all measurements leave open; one may differ among the others
    not_reported: tuple[str, ...]
    more_reproducible_than: int | None  # how many of the paper's results have a larger CV*; null if not asked for
    of: int | None  # how many results the paper has; null if not asked for
    align_next: str  # what to align, or to find out, before the next measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue(Measured):
    """One measurement, as it was given."""

    label: str  # what tables and pictures call the measurement
    value: float  # its value
    reported: str  # the value as it was written
    scale_minimum: float  # the lowest value of the scale
    unit: str  # "percent" or "proportion" where that is known, otherwise empty
    source: str  # where the value is published
    time: str  # when it was measured
    conditions: Mapping[str, str]  # the conditions of measurement as they are written
    # who says so: "stated" by the source, a "guess" from the values, or the "default", 0
    scale_from: Literal["stated", "guess", "default"] = "stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRow(Measured):
    """A row of the conditions matrix: one condition over the measurements of an assessment."""

    condition: str  # the condition
    group: str  # what it is a condition of: object, method, procedure, or other
    # whether all measurements have the same value, null if some do not report it and the others agree
    agrees: bool | None
    values: tuple[str | None, ...]  # the value in each measurement, null where it is not reported
    # whether each value is that of the first measurement, null where one of the two is not reported
    same_as_first: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpread:
    """Measurements that agree in some conditions."""

    values: tuple[str, ...]  # what they agree in, one value a condition
    n: int  # number of measurements
    mean: float  # their mean, shifted
    cv: float | None  # their CV*, as published; null for a single measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSpread(Measured):
    """How much of the spread one condition explains, or two."""

    conditions: tuple[str, ...]  # the condition, or the two
    # other conditions, or pairs, that divide the measurements in the same way: they can't be told apart
    same_groups: tuple[str, ...]
    groups: tuple[GroupSpread, ...]  # the measurements that agree in them
    cv: float  # CV* of all measurements
    cv_within: float  # standard deviation within groups over the mean, in percent; compare it with `cv_plain`
    explained: float  # percentage of the variance between groups, adjusted for their number; at most 0 if there is none
    chance: float  # how often a random division into groups of these sizes explains as much or more


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionVariance:
    """The variance between the values of a condition, over all objects."""

    condition: str  # the condition, with those that change together with it; or "Residual"
    levels: int  # number of values; for the residual, of measurements
    cv: float  # standard deviation, in percent of an object's mean
    percent: float  # share of the variance, 0-100
    low: float  # lower end of the CI of the standard deviation
    high: float  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionModel:
    """A mixed model of all measurements of a measurand, over the conditions that differ."""

    measurand: str  # the quantity measured
    formula: str  # the model, fitted by REML to values in percent of the mean of their object
    n: int  # number of measurements
    objects: int  # number of objects
    components: tuple[ConditionVariance, ...]  # the variances
    method: str  # where the CIs come from


@dataclass(frozen=True, slots=True)
class Part:
    """One assessment, and what belongs to it: its measurements, rows of the conditions matrix and spreads."""

    assessment: Assessment
    measurements: Sequence[MeasuredValue]
    conditions: Sequence[ConditionRow]
    spread: Sequence[ConditionSpread]


Row = TypeVar("Row", bound=Measured)


def sort_rows(rows: Iterable[Row]) -> Mapping[tuple[str, str], Sequence[Row]]:
    """Return rows by object and measurand, each looked at once: there may be many assessments."""
    own: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        own[row.object, row.measurand].append(row)
    return own


def show_condition(name: str) -> str:
    """Return a condition's name as people write it.

    >>> show_condition("performed_by")
    'performed by'
    """
    return name.replace("_", " ")
