"""Measurements to files: as they are, as an empty template, and the schema of both."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdsup.errors import MeasurementError
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.measurements.rows import COMMENT, DOCUMENT, PREFIX, RECORDS, meaning_of
from holdsup.rendering.spreadsheet import disarm_text
from holdsup.results import write_file

EXPLANATIONS = {
    "object": "what was measured: the system, or the variant of it",
    "measurand": "the quantity measured, such as BLEU or fluency",
    "value": "the measured value, such as 84.51 or 91 %",
    "unit": "percent or proportion, or another word; may stay empty",
    "scale_minimum": "the lowest value that the scale has; 0 if empty, 1 for ratings from 1 to 7",
    **{name: condition.explanation for name, condition in CONDITIONS.items()},
    "source": "where the value is published",
    "time": "when it was measured",
}
HEADER = tuple(EXPLANATIONS)  # of a file with a row for each measurement

GUIDE = (
    "Measurements of the same thing by different people, for holdsup qra.",
    "One row for each measured value, below the line of column names; the original measurement is one of them.",
    "Rows with the same object and measurand are compared. Write a condition in the same words where it is the same.",
    "Leave a condition empty where it is not reported. Add columns for further conditions, such as seed.",
    "Put a text that holds a comma into quotation marks. Lines like these explain only above the column names: below "
    "them, a line is a row whatever it begins with.",
)


def write_measurements(measurements: Iterable[Measurement], path: str | Path) -> None:
    """Write measurements to a file with a row for each (.csv), or to a document (.json).

    In CSV a text that begins with = + - or @ is written behind an apostrophe, so that no spreadsheet runs it;
    reading takes the apostrophe away.
    """
    given = list(measurements)
    is_csv = _require_ending(path, "measurements") == ".csv"
    write_file(path, (_as_csv(given) if is_csv else _as_json([_record(one) for one in given])).encode())


def _require_ending(path: str | Path, what: str) -> str:
    """Return the ending of a file that can be written; refuse any other."""
    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".json"):
        raise MeasurementError(f"cannot write {what} to {path}: its name must end in .csv or .json")
    return ending


def _record(one: Measurement) -> dict[str, Any]:
    names = ("object", "measurand", "value", "unit", "scale_minimum", "conditions", "source", "time")
    return {**{name: getattr(one, name) for name in names}, "conditions": dict(one.conditions)}


def _as_json(records: list[dict[str, Any]], **more: Any) -> str:
    """Return the JSON document that holds records of measurements."""
    return json.dumps({**DOCUMENT.header, **more, RECORDS: records}, indent=2, ensure_ascii=False) + "\n"


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
    written = {name: getattr(one, name) for name in HEADER if name not in CONDITIONS}
    return {name: disarm_text(cell) if isinstance(cell, str) else repr(cell) for name, cell in written.items()}


def _head(name: str) -> str:
    """Return the head of the column of a condition, with the prefix where its name would say something else."""
    plain = meaning_of(name) is None and disarm_text(name) == name
    return name if plain else f"{PREFIX}{name}"


def write_template(path: str | Path) -> None:
    """Write an empty file to fill in: .csv with explanations above the columns, or .json with them inside."""
    ending = _require_ending(path, "a template")
    if Path(path).exists():
        raise MeasurementError(f"cannot write a template to {path}: the file exists, and might be filled in already")
    write_file(path, (_csv_template() if ending == ".csv" else _json_template()).encode())


def _csv_template() -> str:
    explained = (f"{name}: {EXPLANATIONS[name]}" for name in HEADER)
    comments = "".join(f"{COMMENT} {line}\n" for line in (*GUIDE, *explained))
    return f"{comments}{','.join(HEADER)}\n"


def _json_template() -> str:
    empty = {name: "" for name in HEADER if name not in CONDITIONS}
    record = {**empty, "conditions": dict.fromkeys(CONDITIONS, "")}
    guide = {"guide": " ".join(GUIDE), **EXPLANATIONS}
    return _as_json([record], explanations=guide)


def schema_of_measurements() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a document of measurements."""
    text = {"type": "string"}
    kinds = {"value": {"type": ["number", "string"]}, "scale_minimum": {"type": ["number", "string", "null"]}}
    described = {name: {**kinds.get(name, text), "description": said} for name, said in EXPLANATIONS.items()}
    conditions = {name: described.pop(name) for name in CONDITIONS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "holdsup measurements, version 1",
        "description": "Measured values with the conditions under which they were measured.",
        "type": "object",
        "properties": {
            **{field: {"const": value} for field, value in DOCUMENT.header.items()},
            "explanations": {"type": "object", "additionalProperties": text},
            RECORDS: {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        **described,
                        "conditions": {
                            "type": "object",
                            "description": "conditions of measurement; one that is left out or empty is not reported",
                            "properties": conditions,
                            "additionalProperties": text,
                        },
                    },
                    "required": ["object", "measurand", "value"],
                },
            },
        },
        "required": [*DOCUMENT.header, RECORDS],
    }
