"""Tables of measurements as rows of text: one measurement a row, or a column for each measurement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, NamedTuple

from holdsup.columns import Labels, OpenTable, open_tables, read_columns
from holdsup.columns.jsonl import Document
from holdsup.columns.layout import UNNAMED
from holdsup.columns.limits import MOST_MEASUREMENTS
from holdsup.columns.values import MISSING_TOKENS
from holdsup.errors import ColumnError, MeasurementError, quote_text
from holdsup.measurements.record import CONDITIONS
from holdsup.measurements.units import parse_value

COMMENT = "#"
RECORDS = "measurements"  # the field of a JSON document that holds its records
DOCUMENT = Document(RECORDS, {"kind": "measurements", "schema": 1})
SUMMARIES = re.compile(r"n|sample[ _]size|mean|average|median|sd|std|stdev.*|var|variance|ci|cv\W*|rank", re.IGNORECASE)
NUMBERED = re.compile(r"(random[ _])?seed|run|id|version|epochs?|batch[ _]size", re.IGNORECASE)

REQUIRED = ("object", "measurand", "value")
FIELDS = (*REQUIRED, "unit", "scale_minimum", "source", "time")
PREFIX = "conditions."  # of a column that is a condition whatever it is called; nested in JSON, it has this name too
ALIASES = {  # heads of the paper's tables, its names of conditions, and what scores are called elsewhere
    "system": "object",
    "metric": "measurand",
    "evaluation_measure": "measurand",
    "score": "value",
    "measured_value": "value",
    "measured_quantity_value": "value",
    "scale_min": "scale_minimum",
    "paper": "source",
    "date": "time",
    "year": "time",
    "code_by": "code",
    "system_code": "code",
    "comp_trained_by": "compile_training",
    "compiled_trained_by": "compile_training",
    "compile_training_information": "compile_training",
    "method": "specification",
    "method_specification": "specification",
    "implem_by": "implementation",
    "implemented_by": "implementation",
}
# Columns that tables of judgements and scores have, and tables of measurements have not.
ITEM_NAMES = frozenset({"item", "item_id", "id", "sentence_id", "question_id"})
STUDY_NAMES = frozenset({"study", "rater", "annotator", "team"})
RUN_NAMES = frozenset({"seed", "random_seed", "run", "trial", "replicate"})


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement as its source has it."""

    fields: Mapping[str, str]  # the cells that are filled, by the field of the record
    conditions: Mapping[str, str]  # the conditions that are filled, by name
    number: int  # its row in the table, from 0
    table: OpenTable | None = None  # the table that it is from; None for a measurement that is none of a table
    clash: str = ""  # a field or condition that two columns fill, if there is one

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
                f"{table.name} has more than {MOST_MEASUREMENTS:,} measurements. Are these scores of items or "
                "runs? Then use holdsup compare"
            )
    if not rows:
        names = ", ".join(table.name for table in tables)
        raise MeasurementError(f"{names} has no measurements yet: add a row for each measured value")
    return rows


def _rows_of(table: OpenTable) -> Iterator[Row]:
    require_columns(table.columns, ["object", "measurand"], where=table.name)
    cells = _read_cells(table)
    meanings = {
        column: meaning_of(column) for column in table.columns if not _numbers_rows(table, column, cells[column])
    }
    is_tidy = Meaning(False, "value") in meanings.values()
    values = [] if is_tidy else _value_columns(table, meanings, cells)
    columns = {column: meaning or Meaning(True, column) for column, meaning in meanings.items() if column not in values}
    for number in range(len(next(iter(cells.values())))):
        there = [(meaning, cells[column][number]) for column, meaning in columns.items() if cells[column][number]]
        if is_tidy:
            if there:  # spreadsheets leave empty rows
                yield _row(table, number, there)
            continue
        for column in values:
            if cells[column][number] not in MISSING_TOKENS:
                yield _row(
                    table, number, [*_from_head(there, column), (Meaning(False, "value"), cells[column][number])]
                )


def _from_head(there: list[tuple[Meaning, str]], head: str) -> list[tuple[Meaning, str]]:
    """Return the cells of a row with the head of a column of values in the source: it says whose measurement it is."""
    source = Meaning(False, "source")
    others = [(meaning, text) for meaning, text in there if meaning != source]
    return [*others, (source, ", ".join([text for meaning, text in there if meaning == source] + [head]))]


def _row(table: OpenTable, number: int, there: list[tuple[Meaning, str]]) -> Row:
    fields: dict[str, str] = {}
    conditions: dict[str, str] = {}
    clash = ""
    for meaning, text in there:
        cells = conditions if meaning.is_condition else fields
        clash = meaning.name if meaning.name in cells else clash
        cells[meaning.name] = text
    return Row(fields, conditions, number, table, clash)


def _read_cells(table: OpenTable) -> dict[str, list[str]]:
    """Return the text of every column, without blanks around it; empty where there is nothing."""
    for column in table.columns:
        if table.guess(column) == "other":
            raise ColumnError(
                f"column {column!r} of {table.name} has lists or bytes in it: put one word or number in each "
                "cell, or conditions in a dict named conditions"
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
        raise ColumnError(
            f"a column of {table.name} has no name but has values, such as {quote_text(text)}: name it or delete it"
        )
    return True


def _value_columns(table: OpenTable, meanings: Mapping[str, Meaning | None], cells: dict[str, list[str]]) -> list[str]:
    """Return the columns of a wide table that hold values: those without a known name, all of them numbers or gaps."""
    unknown = [column for column, meaning in meanings.items() if not meaning]
    for column in unknown:
        _check_head(table, column)
    texts = {column: [text for text in cells[column] if text not in MISSING_TOKENS] for column in unknown}
    if not any(_is_number(text) for column in unknown for text in texts[column]):
        raise ColumnError.not_found("value", table.columns, where=table.name)
    for column in unknown:
        text = next((text for text in texts[column] if not _is_number(text)), "")
        if text and any(map(_is_number, texts[column])):
            raise ColumnError(
                f"column {column!r} of {table.name} mixes numbers with {quote_text(text)}: correct that cell if "
                f"these are measured values, or rename the column {PREFIX}{column} if they are a condition"
            )
        if text:
            raise ColumnError(
                f"column {column!r} of {table.name} has {quote_text(text)}, which is not a number, and is not a known "
                f"condition: rename it {PREFIX}{column} if it is a condition of measurement"
            )
    return unknown


def _check_head(table: OpenTable, column: str) -> None:
    if SUMMARIES.fullmatch(column):
        raise ColumnError(
            f"column {column!r} of {table.name} looks like a summary of the other columns: delete it or rename it"
        )
    if NUMBERED.fullmatch(column):
        raise ColumnError(
            f"column {column!r} of {table.name} would be read as measured values: if it is a condition of "
            f"measurement, rename it {PREFIX}{column}"
        )


def _is_number(text: str) -> bool:
    try:
        parse_value(text)
    except ValueError:
        return False
    return True


class Meaning(NamedTuple):
    """What the cells of a column are: a field of the record, or a condition under its name."""

    is_condition: bool
    name: str


def meaning_of(column: str) -> Meaning | None:
    """Return what the cells of a column are by its name; None for a name that says nothing.

    >>> meaning_of("Performed by"), meaning_of("seed")
    (Meaning(is_condition=True, name='performed_by'), None)
    >>> meaning_of("System"), meaning_of("conditions.seed")
    (Meaning(is_condition=False, name='object'), Meaning(is_condition=True, name='seed'))
    """
    bare = column.removeprefix(PREFIX)
    name = _standard(bare)
    if name in CONDITIONS:
        return Meaning(True, name)
    if bare != column:
        return Meaning(True, bare)
    return Meaning(False, name) if name in FIELDS else None


def near_field(name: str) -> str | None:
    """Return the field or standard condition that a name, which is neither, may be meant for.

    >>> near_field("preformed_by"), near_field("seed")
    ('performed_by', None)
    """
    near = get_close_matches(_standard(name), [*FIELDS, *CONDITIONS, *ALIASES], n=1, cutoff=0.8)
    return ALIASES.get(near[0], near[0]) if near else None


def require_columns(columns: Iterable[str], names: Iterable[str], *, where: str) -> None:
    """Raise if a table lacks a column for one of the fields in `names`."""
    columns = list(columns)
    there = {meaning.name for column in columns if (meaning := meaning_of(column)) and not meaning.is_condition}
    for name in names:
        if name not in there:
            raise ColumnError(f"{ColumnError.not_found(name, columns, where=where)}{_other_question(columns)}")


def _other_question(columns: Iterable[str]) -> str:
    """Return what to ask instead of a table that holds something else than measurements, by its columns."""
    there = {_standard(column) for column in columns}
    if there & ITEM_NAMES and there & {"label", "category"}:
        return " If studies labelled the same items, add --kind labels."
    if there & ITEM_NAMES and there & STUDY_NAMES:
        return " If studies scored the same items, add --kind scores."
    if there & ITEM_NAMES or there & RUN_NAMES:
        return " If these are scores of your own runs, add --seeds."
    return ""


def _standard(column: str) -> str:
    words = re.sub(r"[^0-9a-z]+", "_", column.lower()).strip("_")
    return ALIASES.get(words, words)
