"""What a result says about each of its assessments, sorted once: looking for it anew takes time when there are many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from holdsup.verdict.reproduction.records import (
    Assessment,
    ConditionRow,
    ConditionSpread,
    MeasuredValue,
    MeasurementPair,
)

if TYPE_CHECKING:
    from holdsup.verdict.reproduction.report import Reproduction

__all__ = ["Part", "split_result"]


class _Belongs(Protocol):
    @property
    def object(self) -> str: ...
    @property
    def measurand(self) -> str: ...


T = TypeVar("T", bound=_Belongs)


@dataclass(frozen=True, slots=True)
class Part:
    """One assessment and what belongs to it.

    Attributes
    ----------
    assessment : the assessment
    measurements : its measurements
    conditions : its rows of the conditions matrix
    pairs : its pairs of measurements
    spread : how much of its spread goes with each condition
    """

    assessment: Assessment
    measurements: tuple[MeasuredValue, ...]
    conditions: tuple[ConditionRow, ...]
    pairs: tuple[MeasurementPair, ...]
    spread: tuple[ConditionSpread, ...]


def split_result(found: Reproduction) -> tuple[Part, ...]:
    """Return the parts of a result, in the order of its assessments."""
    measurements, conditions = _sort(found.measurements), _sort(found.conditions)
    pairs, spread = _sort(found.pairs), _sort(found.spread)
    return tuple(
        Part(
            assessment=a,
            measurements=tuple(measurements.get((a.object, a.measurand), ())),
            conditions=tuple(conditions.get((a.object, a.measurand), ())),
            pairs=tuple(pairs.get((a.object, a.measurand), ())),
            spread=tuple(spread.get((a.object, a.measurand), ())),
        )
        for a in found.assessments
    )


def _sort(rows: Iterable[T]) -> dict[tuple[str, str], list[T]]:
    own: dict[tuple[str, str], list[T]] = {}
    for row in rows:
        own.setdefault((row.object, row.measurand), []).append(row)
    return own
