"""Measurements sorted by object and measurand, checked, and their conditions compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MeasurementError, list_names
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.measurements.units import HIGHEST, LOWEST, group_measurements as sort_out, is_open, may_be_ratings
from holdsup.numerics.precision import Precision, measure_precision
from holdsup.results import Caution
from holdsup.verdict.intake import write_values
from holdsup.verdict.phrases import join_names
from holdsup.verdict.reproduction.records import ConditionRow

SINGLE = "no second measurement of the same object and measurand"
ZERO = "a mean of zero after the shift, which leaves no CV*"
OTHER = "other values than asked for"
WHOLE = {"percent": 100.0, "proportion": 1.0}
FIELDS = ("object", "measurand", "source", "time", "unit")


@dataclass(frozen=True, eq=False)
class Group:
    """The measurements of one measurand of one object, on one scale."""

    measurements: tuple[Measurement, ...]  # as they were given

    @property
    def name(self) -> str:
        """What was measured of what."""
        return f"{self.object} {self.measurand}"

    @property
    def object(self) -> str:
        """What was measured."""
        return self.measurements[0].object

    @property
    def measurand(self) -> str:
        """The quantity measured."""
        return self.measurements[0].measurand

    @property
    def scale_minimum(self) -> float:
        """Where the scale starts."""
        return self.measurements[0].scale_minimum

    @property
    def scale_maximum(self) -> float:
        """Where the scale ends: that of shares of a whole, unless a value lies beyond it."""
        top = WHOLE.get(self.measurements[0].unit, math.inf)
        return top if max(m.value for m in self.measurements) <= top else math.inf

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The values on a scale that starts at zero, shape (n,)."""
        return np.array([m.value - m.scale_minimum for m in self.measurements])

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that any measurement reports: the standard ones first."""
        there = dict.fromkeys(name for m in self.measurements for name in m.known)
        return (*(name for name in CONDITIONS if name in there), *(name for name in there if name not in CONDITIONS))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What tables call the measurements: their sources if these differ, or else who performed them, counted."""
        sources = [m.source for m in self.measurements]
        if all(sources) and len(set(sources)) == len(sources):
            return tuple(sources)
        names = [m.known.get("performed_by") or m.source or "measurement" for m in self.measurements]
        repeated, seen = Counter(names), Counter[str]()
        labels = []
        for name in names:
            seen[name] += 1
            labels.append(f"{name} {seen[name]}" if repeated[name] > 1 else name)
        return tuple(labels)

    def column(self, condition: str) -> tuple[str | None, ...]:
        """Return the value of a condition in each measurement, None where it is not reported."""
        return tuple(m.known.get(condition) for m in self.measurements)

    def precision(self, level: float) -> Precision:
        """Return how closely the values agree."""
        return measure_precision(self.values, level=level)


def group_measurements(measurements: Sequence[Measurement]) -> tuple[list[Group], dict[str, int], list[Caution]]:
    """Return what can be assessed, and why the rest cannot: measurements by reason, and cautions.

    Different objects and measurands are never pooled. Where nothing is left, that is an error.
    """
    everyone = [Group(tuple(measurements[i] for i in members)) for members in sort_out(measurements).values()]
    single = [group for group in everyone if len(group.measurements) < 2]
    zero = [group for group in everyone if len(group.measurements) > 1 and not group.values.any()]
    groups = [group for group in everyone if len(group.measurements) > 1 and group.values.any()]
    if not groups:
        raise _nothing_left(single, zero)
    reasons = {SINGLE: len(single), ZERO: sum(len(group.measurements) for group in zero)}
    return groups, {why: count for why, count in reasons.items() if count}, [*_left_out(single, zero)]


def _left_out(single: Sequence[Group], zero: Sequence[Group]) -> Iterator[Caution]:
    if single:
        yield Caution(
            code="single",
            about="table:assessments",
            message=f"Left out: {join_names([group.name for group in single], most=3)}, measured once only.",
            advice="Add a second measurement: the original, or a reproduction.",
            count=len(single),
        )
    if zero:
        names = join_names([group.name for group in zero], most=3)
        yield Caution(
            code="zero-mean",
            about="table:assessments",
            message=f"Left out: {names}. All values are at the minimum of the scale, so there is no CV*.",
            advice="Check the values and scale_minimum.",
            count=len(zero),
        )


def _nothing_left(single: Sequence[Group], zero: Sequence[Group]) -> MeasurementError:
    if not single and not zero:
        return MeasurementError("there are no measurements: give two or more of the same object and measurand")
    if zero:
        return MeasurementError(
            f"the mean of {zero[0].name} is zero once the scale starts at zero: CV*, a ratio to the mean, is not "
            "defined. Check the values and scale_minimum"
        )
    if len(single) == 1:
        return MeasurementError(f"{single[0].name} has one measurement: add a second one, such as a reproduction")
    return MeasurementError(
        f"each object and measurand has one measurement only: {list_names(group.name for group in single)}. Different "
        "objects or measurands are never pooled: add a second measurement of one of them, or correct the names"
    )


def caution_scales(groups: Sequence[Group]) -> Iterator[Caution]:
    """Yield a caution if values may be ratings from 1 on and nothing says so, with what that would change."""
    asked = [
        group
        for group in groups
        if all(map(is_open, group.measurements)) and may_be_ratings(group.values) and (group.values > LOWEST).any()
    ]
    if asked:
        from_0, from_1 = (measure_precision(asked[0].values - low).cv for low in (0, LOWEST))
        yield Caution(
            code="scale-minimum",
            about="table:assessments",
            message=f"{join_names([group.name for group in asked], most=1)}: is it rated from {LOWEST} to {HIGHEST}? "
            f"Counted from 0, CV* is {from_0:.3f}; from 1, it is {from_1:.3f}.",
            advice="Say where the scale starts: --scale-minimum 1 or 0 (scale_minimum= in Python).",
            count=len(asked),
        )


def select_measurements(
    measurements: Sequence[Measurement], where: Mapping[str, Any]
) -> tuple[list[Measurement], dict[str, int]]:
    """Return the measurements whose object, measurand, source or conditions have one of the values asked for."""
    chosen = list(measurements)
    for name, asked in where.items():
        allowed = set(write_values(name, asked))
        there = {read for m in measurements if (read := _read(m, name)) is not None}
        if not there:
            names = dict.fromkeys(condition for m in measurements for condition in m.conditions)
            raise MeasurementError(
                f"there is no condition {name!r} to select by: choose from {list_names([*FIELDS, *names])}"
            )
        if not there & allowed:
            listed = " or ".join(map(repr, sorted(allowed)))
            raise MeasurementError(f"no measurement has {name} {listed}: choose from {list_names(sorted(there))}")
        chosen = [m for m in chosen if _read(m, name) in allowed]
    if not chosen:
        raise MeasurementError("no measurement has all the values asked for: ask for fewer at once")
    return chosen, {OTHER: len(measurements) - len(chosen)} if len(chosen) < len(measurements) else {}


def _read(measurement: Measurement, name: str) -> str | None:
    if name in FIELDS:
        return str(getattr(measurement, name))
    return measurement.conditions.get(name)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The conditions of an assessment, sorted by whether they agree."""

    agreeing: tuple[str, ...]  # reported for all measurements, with one value
    differing: tuple[str, ...]  # reported with two values or more
    # those that some or all measurements leave open, among them standard conditions that nobody reports
    not_reported: tuple[str, ...]

    @property
    def repeatability(self) -> bool | None:
        """Whether all conditions agree; None if none is known to."""
        if self.differing:
            return False
        return True if self.agreeing else None


def sort_conditions(group: Group) -> Agreement:
    """Return which conditions agree, which differ, and which are not known."""
    rows = list(compare_conditions(group))
    unknown = [row.condition for row in rows if None in row.values]
    return Agreement(
        agreeing=tuple(row.condition for row in rows if row.agrees),
        differing=tuple(row.condition for row in rows if row.agrees is False),
        not_reported=(*unknown, *(name for name in CONDITIONS if name not in group.conditions)),
    )


def compare_conditions(group: Group) -> Iterator[ConditionRow]:
    """Yield the rows of the matrix: the conditions that any measurement reports."""
    for condition in group.conditions:
        values = group.column(condition)
        reported = {value for value in values if value is not None}
        agrees = False if len(reported) > 1 else None if None in values else True
        first = values[0]
        yield ConditionRow(
            object=group.object,
            measurand=group.measurand,
            condition=condition,
            group=CONDITIONS[condition].group if condition in CONDITIONS else "other",
            agrees=agrees,
            values=values,
            same_as_first=tuple(None if first is None or value is None else value == first for value in values),
        )


def number_values(values: Iterable[Hashable]) -> tuple[int, ...]:
    """Return the number of each value, counted as they come: conditions with the same numbers divide alike.

    >>> number_values(["b", "a", "b"])
    (0, 1, 0)
    """
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)
