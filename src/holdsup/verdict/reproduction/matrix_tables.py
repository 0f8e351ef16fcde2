"""The conditions matrix as tables: one for all objects that were measured under the same conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from holdsup.rendering import Table
from holdsup.verdict.reproduction.records import Assessment, ConditionRow, MeasuredValue
from holdsup.verdict.reproduction.sentences import show_condition

if TYPE_CHECKING:
    from holdsup.verdict.reproduction.report import Reproduction

__all__ = ["own_conditions", "own_measurements", "tabulate_conditions", "tabulate_matrix"]

MOST_NAMED = 3
MOST_ROWS = 40


def own_measurements(found: Reproduction, a: Assessment) -> tuple[MeasuredValue, ...]:
    """Return the measurements of one assessment."""
    return tuple(m for m in found.measurements if (m.object, m.measurand) == (a.object, a.measurand))


def own_conditions(found: Reproduction, a: Assessment) -> tuple[ConditionRow, ...]:
    """Return the rows of the matrix of one assessment."""
    return tuple(row for row in found.conditions if (row.object, row.measurand) == (a.object, a.measurand))


def tabulate_conditions(found: Reproduction) -> Iterator[Table]:
    """Yield a table for each matrix that occurs; of several assessments, only those in which something differs."""
    matrices: dict[tuple[object, ...], list[Assessment]] = {}
    for a in found.assessments:
        rows = own_conditions(found, a)
        if rows and (len(found.assessments) == 1 or not all(row.agrees for row in rows)):
            labels = tuple(m.label for m in own_measurements(found, a))
            matrices.setdefault((labels, *((row.condition, row.values) for row in rows)), []).append(a)
    for several in matrices.values():
        yield tabulate_matrix(found, several)


def tabulate_matrix(found: Reproduction, several: Sequence[Assessment]) -> Table:
    """Return the matrix of assessments that have the same one: a row a measurement, a column a condition that differs.

    The values are in it if there is one assessment.
    """
    first = several[0]
    rows = own_conditions(found, first)
    measured = own_measurements(found, first)
    shown = [row for row in rows if not row.agrees]
    same, unreported = _agreeing(rows), _unreported(first, rows)
    one = len(several) == 1
    left = len(measured) - MOST_ROWS
    return Table(
        title=f"Conditions of measurement: {_names(several)}",
        columns=("measurement", *(["value"] if one else []), *(show_condition(row.condition) for row in shown)),
        rows=tuple(
            (m.label, *([m.value] if one else []), *(row.values[i] for row in shown))
            for i, m in enumerate(measured[:MOST_ROWS])
        ),
        notes=(
            *([f"{left} more measurements are in the JSON."] if left > 0 else []),
            *([f"The same in all: {same}"] if same else []),
            *([f"Not reported: {unreported}"] if unreported else []),
        ),
    )


def _agreeing(rows: Sequence[ConditionRow]) -> str:
    """Return the conditions that agree, those with the same value together."""
    by_value: dict[str | None, list[str]] = {}
    for row in rows:
        if row.agrees:
            by_value.setdefault(row.values[0], []).append(show_condition(row.condition))
    return "; ".join(f"{', '.join(names)}: {value}" for value, names in by_value.items())


def _unreported(a: Assessment, rows: Sequence[ConditionRow]) -> str:
    shown = {row.condition for row in rows}
    return ", ".join(show_condition(name) for name in a.not_reported if name not in shown)


def _names(several: Sequence[Assessment]) -> str:
    names = [f"{a.object} ({a.measurand})" for a in several[:MOST_NAMED]]
    more = len(several) - MOST_NAMED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
