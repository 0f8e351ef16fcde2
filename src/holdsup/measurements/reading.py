"""From any table to measurements, with every fault on the way: reading raises the first, validation lists all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdsup.errors import MeasurementError
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.measurements.rows import REQUIRED, Row, read_rows
from holdsup.measurements.units import (
    UnitError,
    group_measurements,
    guess_scales,
    parse_unit,
    parse_value,
    start_at,
    to_one_unit,
)


def read_measurements(source: Any, *, scale_minimum: float | None = None) -> tuple[Measurement, ...]:
    """Return the measurements in files, frames or records, each with its conditions.

    Parameters
    ----------
    source : a path to CSV, TSV, JSON lines or Parquet with a row for each measurement (columns object, measurand,
        value; scale_minimum, unit, source, time and conditions of measurement if there are any), to CSV with a row
        for each object and measurand and a column for each measurement, or to JSON as `write_template` gives it;
        anything with an Arrow stream (pandas, polars, pyarrow); a list of dicts, conditions flat or in a dict
        "conditions"; measurements that are read already
    scale_minimum : where the scale starts of measurements that do not say it: 0 by default, 1 where a measurand has
        ten whole numbers from 1 to 7 or more, and no others

    Raises
    ------
    MeasurementError : a row is no measurement (the first is named), or units or scales do not go together
    ColumnError : there is no column for the object, the measurand or the value
    ReadError : this is no table

    Examples
    --------
    >>> rows = [
    ...     {"object": "parser", "measurand": "UAS", "value": "91 %", "performed_by": "Ada"},
    ...     {"object": "parser", "measurand": "UAS", "value": 0.905, "performed_by": "Bob"},
    ... ]
    >>> [(one.value, one.unit, dict(one.conditions)) for one in read_measurements(rows)]
    [(91.0, 'percent', {'performed_by': 'Ada'}), (90.5, 'percent', {'performed_by': 'Bob'})]
    """
    draft = read_draft(source, scale_minimum=scale_minimum)
    if draft.faults:
        first, *others = draft.faults
        more = f" ({len(others)} more: see holdsup qra --validate)" if others else ""
        raise MeasurementError(f"{first}{more}")
    return draft.measurements


class Fault(NamedTuple):
    """Why a row, or a row beside others, is no usable measurement."""

    code: str  # its name, for programs
    row: Row  # the row
    message: str  # what was found, and what to do

    def __str__(self) -> str:
        return f"{self.row.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Draft:
    """What a source gives."""

    measurements: tuple[Measurement, ...]  # those that can be used
    rows: tuple[Row, ...]  # the row of each of them
    faults: tuple[Fault, ...]  # what keeps the others, or all together, from being used


def read_draft(source: Any, *, scale_minimum: float | None = None) -> Draft:
    """Return what files, frames, records or measurements give, with all their faults.

    `scale_minimum` is where the scale starts of measurements that do not say it.
    """
    faults: list[Fault] = []
    pairs: list[tuple[Row, Measurement]] = []
    if isinstance(source, Sequence) and source and all(isinstance(one, Measurement) for one in source):
        pairs = [(Row({}, one.conditions, i), one) for i, one in enumerate(source)]
    else:
        for row in read_rows(source):
            made = _measurement_of(row)
            if isinstance(made, Measurement):
                pairs.append((row, made))
            else:
                faults.extend(made)
    rows, given = [row for row, _ in pairs], [one for _, one in pairs]
    for members in group_measurements(given).values():
        try:
            for i, one in zip(members, to_one_unit([given[i] for i in members]), strict=True):
                given[i] = one
        except UnitError as error:
            at = members[error.member]
            faults.append(Fault("units", rows[at], f"{given[at].measurand} of {given[at].object} {error}"))
    given = guess_scales(given) if scale_minimum is None else [start_at(one, scale_minimum) for one in given]
    for members in group_measurements(given).values():
        faults.extend(_scale_faults([(rows[i], given[i]) for i in members]))
    return Draft(tuple(given), tuple(rows), tuple(faults))


def _measurement_of(row: Row) -> Measurement | list[Fault]:
    """Return the measurement that a row is, or what is wrong with it."""
    faults = [
        Fault(f"no-{name}", row, f"there is no {name}: fill it in") for name in REQUIRED if name not in row.fields
    ]
    if row.clash:
        faults.append(Fault("clash", row, f"two columns give {row.clash}: leave one of them empty"))
    value, written = _number(row, "value", "the value", faults)
    low, _ = _number(row, "scale_minimum", "the scale minimum", faults)
    unit = parse_unit(row.fields.get("unit", "")) or written
    if written and unit != written:
        faults.append(Fault("bad-unit", row, f"the value {row.fields['value']!r} has the unit {unit!r}: correct one"))
    elif unit == "proportion" and abs(value) > 1:
        faults.append(Fault("bad-unit", row, f"the value {value:g} isn't a proportion: correct the value or the unit"))
    elif not math.isfinite(value - low):
        faults.append(
            Fault("bad-scale-minimum", row, f"the value {value:g} is too far from the scale minimum, {low:g}")
        )
    if faults:
        return faults
    standard = {name: row.conditions[name] for name in CONDITIONS if name in row.conditions}
    return Measurement(
        object=row.fields["object"],
        measurand=row.fields["measurand"],
        value=value,
        scale_minimum=low,
        conditions={**standard, **row.conditions},
        source=row.fields.get("source", ""),
        time=row.fields.get("time", ""),
        unit=unit,
        reported=row.fields["value"],
        scale_from="stated" if "scale_minimum" in row.fields else "default",
    )


def _number(row: Row, name: str, words: str, faults: list[Fault]) -> tuple[float, str]:
    """Return the number in a cell and its unit, 0 if it is empty; what is no number is added to `faults`."""
    if name not in row.fields:
        return 0.0, ""
    try:
        return parse_value(row.fields[name])
    except ValueError as error:
        faults.append(Fault(f"bad-{name.replace('_', '-')}", row, f"{words} {error}"))
        return 0.0, ""


def _scale_faults(pairs: list[tuple[Row, Measurement]]) -> Iterator[Fault]:
    """Yield what is wrong with the scale of measurements of one object and measurand."""
    row, first = pairs[0]
    for other, one in pairs:
        if one.value < one.scale_minimum:
            message = (
                f"the value {one.value:g} of {one.measurand} of {one.object} is below the minimum of its scale, "
                f"{one.scale_minimum:g}: correct it, or give scale_minimum (-1 for a correlation)"
            )
            yield Fault("below-scale-minimum", other, message)
    if differing := next((pair for pair in pairs if pair[1].scale_minimum != first.scale_minimum), None):
        other, one = differing
        message = (
            f"the scale minimum of {first.measurand} of {first.object} is {first.scale_minimum:g} here and "
            f"{one.scale_minimum:g} in {other.where}: one scale has one minimum"
        )
        yield Fault("scale-minima", row, message)
