"""An empty file of measurements that explains itself."""

from __future__ import annotations

import json
from pathlib import Path

from holdsup.errors import MeasurementError
from holdsup.measurements.record import CONDITIONS
from holdsup.measurements.rows import COMMENT
from holdsup.measurements.schema import EXPLANATIONS
from holdsup.measurements.writing import HEADER, document
from holdsup.results import write_file

__all__ = ["write_template"]

GUIDE = (
    "Measurements of the same thing by different people, for holdsup qra.",
    "One row for each measured value, below the line of column names; the original measurement is one of them.",
    "Rows with the same object and measurand are compared. Write a condition in the same words where it is the same.",
    "Leave a condition empty where it is not reported. Add columns for further conditions, such as seed.",
    "Put a text that holds a comma into quotation marks. Lines like these explain only above the column names: below "
    "them, a line is a row whatever it begins with.",
)


def write_template(path: str | Path) -> None:
    """Write an empty file to fill in: .csv with explanations above the columns, or .json with them inside."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".csv", ".json"):
        raise MeasurementError(f"cannot write a template to {path}: its name must end in .csv or .json")
    if file.exists():
        raise MeasurementError(f"cannot write a template to {path}: the file exists, and might be filled in already")
    write_file(file, (_csv_template() if ending == ".csv" else _json_template()).encode())


def _csv_template() -> str:
    explained = (f"{name}: {EXPLANATIONS[name]}" for name in HEADER)
    comments = "".join(f"{COMMENT} {line}\n" for line in (*GUIDE, *explained))
    return f"{comments}{','.join(HEADER)}\n"


def _json_template() -> str:
    empty = {name: "" for name in HEADER if name not in CONDITIONS}
    record = {**empty, "conditions": dict.fromkeys(CONDITIONS, "")}
    guide = {"guide": " ".join(GUIDE), **EXPLANATIONS}
    return json.dumps(document([record], explanations=guide), indent=2, ensure_ascii=False) + "\n"
