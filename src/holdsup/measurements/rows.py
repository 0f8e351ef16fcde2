"""Tables of measurements as rows of text: one measurement a row, or a column for each measurement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from holdsup.columns import Labels, OpenTable, open_tables, read_columns
from holdsup.columns.jsonl import Document
from holdsup.columns.layout import UNNAMED
from holdsup.columns.limits import MOST_MEASUREMENTS
from holdsup.columns.values import MISSING_TOKENS
from holdsup.errors import ColumnError, MeasurementError, quote_text
from holdsup.measurements.fields import PREFIX, Place, place_of, require_columns
from holdsup.measurements.values import parse_value

__all__ = ["COMMENT", "DOCUMENT", "RECORDS", "Row", "read_rows"]

COMMENT = "#"
RECORDS = "measurements"  # the field of a JSON document that holds its records
DOCUMENT = Document(RECORDS, {"kind": "measurements", "schema": 1})
SUMMARIES = re.compile(r"n|sample[ _]size|mean|average|median|sd|std|stdev.*|var|variance|ci|cv\W*|rank", re.IGNORECASE)
NUMBERED = re.compile(r"(random[ _])?seed|run|id|version|epochs?|batch[ _]size", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement as its source has it.

    Attributes
    ----------
    fields : the cells that are filled, by the field of the record
    conditions : the conditions that are filled, by name
    number : its row in the table, from 0
    table : the table that it is from; None for a measurement that is none of a table
    clash : a field or condition that two columns fill, if there is one
    """

    fields: Mapping[str, str]
    conditions: Mapping[str, str]
    number: int
    table: OpenTable | None = None
    clash: str = ""

    @property
    def where(self) -> str:
        """Where it stands, in words; found only when asked, because it takes a look at the whole file."""
        if self.table is None:
            return f"measurement {self.number + 1}"
        return f"{self.table.locate(self.number)} of {self.table.name}"


def read_rows(source: Any) -> list[Row]:
    """Return the rows of files, frames or records; a wide table gives one for each cell that is a value."""
    tables = open_tables(source, comment=COMMENT, within=DOCUMENT)
    rows: list[Row] = []
    for table in tables:
        if table.columns:
            rows.extend(islice(_rows_of(table), MOST_MEASUREMENTS + 1))
        if len(rows) > MOST_MEASUREMENTS:
            raise MeasurementError(
                f"{table.name} has more than {MOST_MEASUREMENTS:,} measurements: if these are scores of items or runs, "
                "compare systems with them (holdsup compare)"
            )
    if not rows:
        names = ", ".join(table.name for table in tables)
        raise MeasurementError(f"{names} holds no measurement yet: fill in a row for each measured value")
    return rows


def _rows_of(table: OpenTable) -> Iterator[Row]:
    require_columns(table.columns, ["object", "measurand"], where=table.name)
    cells = _read_cells(table)
    places = {column: place_of(column) for column in table.columns if not _numbers_rows(table, column, cells[column])}
    is_tidy = Place(False, "value") in places.values()
    values = [] if is_tidy else _value_columns(table, places, cells)
    columns = {column: place or Place(True, column) for column, place in places.items() if column not in values}
    for number in range(len(next(iter(cells.values())))):
        there = [(place, cells[column][number]) for column, place in columns.items() if cells[column][number]]
        if is_tidy:
            if there:  # spreadsheets leave empty rows
                yield _row(table, number, there)
            continue
        for column in values:
            if cells[column][number] not in MISSING_TOKENS:
                yield _row(table, number, [*_from_head(there, column), (Place(False, "value"), cells[column][number])])


def _from_head(there: list[tuple[Place, str]], head: str) -> list[tuple[Place, str]]:
    """Return the cells of a row with the head of a column of values in the source: it says whose measurement it is."""
    source = Place(False, "source")
    others = [(place, text) for place, text in there if place != source]
    return [*others, (source, ", ".join([text for place, text in there if place == source] + [head]))]


def _row(table: OpenTable, number: int, there: list[tuple[Place, str]]) -> Row:
    fields: dict[str, str] = {}
    conditions: dict[str, str] = {}
    clash = ""
    for place, text in there:
        cells = conditions if place.is_condition else fields
        clash = place.name if place.name in cells else clash
        cells[place.name] = text
    return Row(fields, conditions, number, table, clash)


def _read_cells(table: OpenTable) -> dict[str, list[str]]:
    """Return the text of every column, without blanks around it; empty where there is nothing."""
    for column in table.columns:
        if table.guess(column) == "other":
            raise ColumnError(
                f"column {column!r} of {table.name} holds lists or bytes: write one word or number, or a dict of "
                "conditions under the name conditions"
            )
    named = read_columns([table], labels=table.columns).named
    cells = {}
    for column, labels in named.items():
        assert isinstance(labels, Labels)  # asked for as labels
        names = [name.strip() for name in labels.names]
        cells[column] = [names[code] if code >= 0 else "" for code in labels.codes]
    return cells


def _numbers_rows(table: OpenTable, column: str, texts: list[str]) -> bool:
    """Return whether a column without a head is empty or numbers the rows: the index of a frame that was saved."""
    if not UNNAMED.fullmatch(column):
        return False
    if any(texts) and not (all(text.isdigit() for text in texts) and len(set(texts)) == len(texts)):
        text = next(filter(None, texts))
        raise ColumnError(f"a column of {table.name} has no name, and holds {quote_text(text)}: name it, or delete it")
    return True


def _value_columns(table: OpenTable, places: Mapping[str, Place | None], cells: dict[str, list[str]]) -> list[str]:
    """Return the columns of a wide table that hold values: those without a known name, all of them numbers or gaps."""
    unknown = [column for column, place in places.items() if not place]
    for column in unknown:
        _check_head(table, column)
    texts = {column: [text for text in cells[column] if text not in MISSING_TOKENS] for column in unknown}
    if not any(_is_number(text) for column in unknown for text in texts[column]):
        raise ColumnError.not_found("value", table.columns, where=table.name)
    for column in unknown:
        text = next((text for text in texts[column] if not _is_number(text)), "")
        if text and any(map(_is_number, texts[column])):
            raise ColumnError(
                f"column {column!r} of {table.name} holds numbers and {quote_text(text)}: is it a column of values? "
                f"Correct that cell; a condition of measurement is named {PREFIX}{column}"
            )
        if text:
            raise ColumnError(
                f"column {column!r} of {table.name} holds {quote_text(text)}: it is neither a condition of the list "
                f"nor numbers; name it {PREFIX}{column} if it is a condition of measurement"
            )
    return unknown


def _check_head(table: OpenTable, column: str) -> None:
    if SUMMARIES.fullmatch(column):
        raise ColumnError(
            f"column {column!r} of {table.name} seems to sum up the measurements beside it: leave it out, or rename it"
        )
    if NUMBERED.fullmatch(column):
        raise ColumnError(
            f"column {column!r} of {table.name} stands among columns of values: if it is a condition of measurement, "
            f"name it {PREFIX}{column}"
        )


def _is_number(text: str) -> bool:
    try:
        parse_value(text)
    except ValueError:
        return False
    return True
