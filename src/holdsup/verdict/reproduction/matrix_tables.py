"""The conditions matrix as tables: one for all objects that were measured under the same conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdsup.rendering import Table
from holdsup.rendering.numbers import format_counted
from holdsup.verdict.reproduction.parts import Part
from holdsup.verdict.reproduction.records import Assessment, ConditionRow
from holdsup.verdict.reproduction.sentences import show_condition

__all__ = ["tabulate_conditions", "tabulate_matrix"]

MOST_NAMED = 3
MOST_ROWS = 40


def tabulate_conditions(parts: Sequence[Part]) -> Iterator[Table]:
    """Yield a table for each matrix that occurs; of several assessments, only those in which something differs."""
    matrices: dict[tuple[object, ...], list[Part]] = {}
    for part in parts:
        rows = part.conditions
        if rows and (len(parts) == 1 or not all(row.agrees for row in rows)):
            labels = tuple(m.label for m in part.measurements)
            matrices.setdefault((labels, *((row.condition, row.values) for row in rows)), []).append(part)
    for several in matrices.values():
        yield tabulate_matrix(several)


def tabulate_matrix(several: Sequence[Part]) -> Table:
    """Return the matrix of assessments that have the same one: a row a measurement, a column a condition that differs.

    The values are in it if there is one assessment.
    """
    first = several[0]
    rows, measured = first.conditions, first.measurements
    shown = [row for row in rows if not row.agrees]
    same, unreported = _agreeing(rows), _unreported(first.assessment, rows)
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
            *([f"In the JSON only: {format_counted(left, 'measurement')}."] if left > 0 else []),
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


def _names(several: Sequence[Part]) -> str:
    names = [f"{part.assessment.object} ({part.assessment.measurand})" for part in several[:MOST_NAMED]]
    more = len(several) - MOST_NAMED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
