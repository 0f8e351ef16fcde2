"""The conditions matrix: which conditions of measurement agree, over all measurements and pair by pair."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from holdsup.measurements.record import CONDITIONS
from holdsup.verdict.reproduction.groups import Group
from holdsup.verdict.reproduction.records import ConditionRow, MeasurementPair

__all__ = [
    "MOST_CROSSED",
    "MOST_PAIRED",
    "Agreement",
    "compare_conditions",
    "number_values",
    "pair_measurements",
    "sort_conditions",
]

MOST_PAIRED = 30  # measurements of which all pairs are listed: 435 pairs
MOST_CROSSED = 12  # conditions that are tried two by two: 66 pairs


@dataclass(frozen=True, slots=True)
class Agreement:
    """The conditions of an assessment, sorted by whether they agree.

    Attributes
    ----------
    agreeing : reported for all measurements, with one value
    differing : reported with two values or more
    not_reported : those that some or all measurements leave open, among them standard conditions that nobody reports
    """

    agreeing: tuple[str, ...]
    differing: tuple[str, ...]
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


def pair_measurements(group: Group) -> Iterator[MeasurementPair]:
    """Yield each pair of measurements with the share of conditions in which the two agree."""
    numbered = zip(group.measurements, group.labels, group.values.tolist(), strict=True)
    for (one, left, a), (other, right, b) in itertools.combinations(numbered, 2):
        shared = [name for name in one.known if name in other.known]
        agree = sum(one.known[name] == other.known[name] for name in shared)
        mean = a / 2 + b / 2  # halved first: the sum of the largest numbers is none
        yield MeasurementPair(
            object=group.object,
            measurand=group.measurand,
            left=left,
            right=right,
            agree=agree,
            of=len(shared),
            similarity=agree / len(shared) if shared else float("nan"),
            difference=one.value - other.value,
            percent=100 * (abs(a - b) / mean) if mean > 0 else 0.0,
        )


def number_values(values: Iterable[Hashable]) -> tuple[int, ...]:
    """Return the number of each value, counted as they come: conditions with the same numbers divide alike.

    >>> number_values(["b", "a", "b"])
    (0, 1, 0)
    """
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)
