"""`read_measurements`: from any table of measurements to records."""

from __future__ import annotations

from typing import Any

from holdsup.errors import MeasurementError
from holdsup.measurements.drafts import read_draft
from holdsup.measurements.record import Measurement

__all__ = ["read_measurements"]


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
