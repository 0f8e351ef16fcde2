"""Measurements to files that give the same measurements when read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdsup.errors import MeasurementError
from holdsup.measurements.fields import PREFIX, place_of
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.measurements.rows import DOCUMENT, RECORDS
from holdsup.rendering.spreadsheet import disarm_text
from holdsup.results import write_file

__all__ = ["HEADER", "document", "write_measurements"]

HEADER = ("object", "measurand", "value", "unit", "scale_minimum", *CONDITIONS, "source", "time")


def write_measurements(measurements: Iterable[Measurement], path: str | Path) -> None:
    """Write measurements to a file with a row for each (.csv), or to a document (.json).

    In CSV a text that begins with = + - or @ is written behind an apostrophe, so that no spreadsheet runs it;
    reading takes the apostrophe away.
    """
    given = list(measurements)
    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".json"):
        raise MeasurementError(f"cannot write measurements to {path}: its name must end in .csv or .json")
    write_file(path, (_as_csv(given) if ending == ".csv" else _as_json(given)).encode())


def document(records: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return the JSON document that holds records of measurements."""
    return {**DOCUMENT.header, **more, RECORDS: records}


def _as_json(given: list[Measurement]) -> str:
    records = [
        {
            "object": one.object,
            "measurand": one.measurand,
            "value": one.value,
            "unit": one.unit,
            "scale_minimum": one.scale_minimum,
            "conditions": dict(one.conditions),
            "source": one.source,
            "time": one.time,
        }
        for one in given
    ]
    return json.dumps(document(records), indent=2, ensure_ascii=False) + "\n"


def _as_csv(given: list[Measurement]) -> str:
    extra = list(dict.fromkeys(name for one in given for name in one.conditions if name not in CONDITIONS))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*HEADER, *(_head(name) for name in extra)])
    for one in given:
        words = {name: disarm_text(one.conditions.get(name, "")) for name in (*CONDITIONS, *extra)}
        cells = {**words, **_cells(one)}  # a condition may be called value, and has a column of its own
        writer.writerow([*(cells[name] for name in HEADER), *(words[name] for name in extra)])
    return text.getvalue()


def _cells(one: Measurement) -> Mapping[str, str]:
    words = {name: disarm_text(getattr(one, name)) for name in ("object", "measurand", "unit", "source", "time")}
    return {**words, "value": repr(one.value), "scale_minimum": repr(one.scale_minimum)}


def _head(name: str) -> str:
    """Return the head of the column of a condition, with the prefix where its name would say something else."""
    plain = place_of(name) is None and disarm_text(name) == name
    return name if plain else f"{PREFIX}{name}"
