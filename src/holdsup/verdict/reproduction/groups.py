"""Measurements sorted into assessments: those of one measurand of one object, checked and ready to be assessed."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MeasurementError, list_names
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.numerics.precision import Precision, measure_precision
from holdsup.verdict.rows import write_values

__all__ = ["Group", "digest_measurements", "group_measurements", "select_measurements"]

SINGLE = "no second measurement of the same object and measurand"
ZERO = "a mean of zero after the shift, which leaves no CV*"
OTHER = "other values than asked for"
WHOLE = {"percent": 100.0, "proportion": 1.0}
FIELDS = ("object", "measurand", "source", "time", "unit")


@dataclass(frozen=True, eq=False)
class Group:
    """The measurements of one measurand of one object, on one scale.

    Attributes
    ----------
    measurements : as they were given
    """

    measurements: tuple[Measurement, ...]

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


def group_measurements(measurements: Sequence[Measurement]) -> tuple[list[Group], dict[str, int], list[str]]:
    """Return what can be assessed, and why the rest cannot: measurements by reason, and a line for each case.

    Different objects and measurands are never pooled. Where nothing is left, that is an error.
    """
    sorted_out: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in measurements:
        sorted_out.setdefault((measurement.object, measurement.measurand), []).append(measurement)
    groups: list[Group] = []
    reasons: Counter[str] = Counter()
    lines = []
    for (name, measurand), members in sorted_out.items():
        group = Group(tuple(members))
        if len(members) < 2:
            reasons[SINGLE] += 1
            lines.append(f"{name}, {measurand}: one measurement has no spread, so that it is not assessed.")
        elif not group.values.any():
            reasons[ZERO] += len(members)
            lines.append(f"{name}, {measurand}: all values are at the minimum of the scale, so that there is no CV*.")
        else:
            groups.append(group)
    if not groups:
        raise _nothing_left(sorted_out, reasons)
    return groups, dict(reasons), lines


def _nothing_left(sorted_out: Mapping[tuple[str, str], Sequence[Measurement]], reasons: Mapping[str, int]) -> Exception:
    if not sorted_out:
        return MeasurementError("there are no measurements: give two or more of the same object and measurand")
    if ZERO in reasons:
        name, measurand = next(key for key, members in sorted_out.items() if len(members) > 1)
        return MeasurementError(
            f"the mean of {measurand} of {name} is zero after the shift to a scale that starts at zero: CV*, a ratio "
            "to the mean, is not defined; check the values and scale_minimum"
        )
    listed = list_names(f"{name}, {measurand}" for name, measurand in sorted_out)
    if len(sorted_out) == 1:
        return MeasurementError(f"there is one measurement, of {listed}: add a second one, a reproduction say")
    return MeasurementError(
        f"each object and measurand has one measurement only: {listed}. Different objects or measurands are never "
        "pooled: add a second measurement of one of them, or correct the names if they are meant to be the same"
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
                f"there is no condition {name!r} to select by; there is {list_names([*FIELDS, *names])}"
            )
        if not there & allowed:
            listed = " or ".join(map(repr, sorted(allowed)))
            raise MeasurementError(f"no measurement has {name} {listed}; there is {list_names(sorted(there))}")
        chosen = [m for m in chosen if _read(m, name) in allowed]
    if not chosen:
        raise MeasurementError("no measurement fits all that was asked for: ask for less")
    return chosen, {OTHER: len(measurements) - len(chosen)} if len(chosen) < len(measurements) else {}


def _read(measurement: Measurement, name: str) -> str | None:
    if name in FIELDS:
        return str(getattr(measurement, name))
    return measurement.conditions.get(name)


def digest_measurements(measurements: Sequence[Measurement]) -> str:
    """Return eight hex digits that change when any value or condition does, but not with the order of measurements."""
    lines = sorted(
        repr((m.object, m.measurand, m.value, m.scale_minimum, sorted(m.conditions.items()), m.source, m.time))
        for m in measurements
    )
    return hashlib.blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
