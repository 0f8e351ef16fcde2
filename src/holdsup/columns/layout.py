"""How a text file is laid out (delimiter, header, decimal mark), found from its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

from holdsup.columns.encoding import MISSING_TOKENS, parse_number
from holdsup.columns.limits import LONGEST_LINE, MOST_COLUMNS
from holdsup.errors import ReadError, list_names

__all__ = ["BLANKS", "Layout", "find_layout"]

SAMPLE_ROWS = 200
BLANKS = " \t"  # a pseudo-delimiter: any run of blanks
COMMA_NUMBER = re.compile(r"[-+]?\d+,\d+")
POINT_NUMBER = re.compile(r"[-+]?\d*\.\d+")
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a delimited file looks like.

    Attributes
    ----------
    delimiter : what stands between two fields; `BLANKS` for runs of blanks
    columns : their names; made up for a file without a header line
    header : whether the first line holds the names
    decimal : "." or ","
    numeric : columns whose first rows hold nothing but numbers
    """

    delimiter: str
    columns: tuple[str, ...]
    header: bool
    decimal: str
    numeric: frozenset[str]


def find_layout(name: str, sample: str, *, complete: bool) -> Layout:
    """Return the layout of a file from its beginning; `complete` when `sample` is all of it."""
    lines = sample.splitlines(keepends=True)
    if not complete and len(lines) > 1:
        lines.pop()  # cut in the middle
    if not complete and len(lines[0]) >= len(sample):
        raise ReadError(f"line 1 of {name} is longer than {LONGEST_LINE >> 20} MiB: this is no table")
    delimiter = _find_delimiter(lines)
    rows = _rows(lines, delimiter)
    if not rows:
        raise ReadError(f"{name} is empty: a table needs a header line and rows")
    header = not _looks_like_scores(rows)
    columns = _column_names(name, rows[0]) if header else ("item", "score")[-len(rows[0]) :]
    body = rows[1:] if header else rows
    values = {c: [row[i] for row in body if i < len(row)] for i, c in enumerate(columns)}
    decimal = _find_decimal(name, values, delimiter)
    numeric = frozenset(c for c, column in values.items() if _all_numbers(column, decimal))
    return Layout(delimiter, columns, header, decimal, numeric)


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Return the first rows of fields, empty lines passed over as every reader does."""
    if delimiter == BLANKS:
        return [line.split() for line in lines[:SAMPLE_ROWS] if line.strip()]
    rows: list[list[str]] = []
    try:
        for row in csv.reader(_filled(lines), delimiter=delimiter):
            rows.append(row)
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:  # a field beyond the csv module's limit: what came before it has to do
        pass
    return rows


def _filled(lines: Iterable[str]) -> Iterable[str]:
    return (line for line in lines if line.strip())


def _find_delimiter(lines: list[str]) -> str:
    """Return the delimiter that cuts most lines into as many fields as the first one."""
    best, found = (0, 0, 0), ","
    for rank, delimiter in enumerate(["\t", ",", ";", "|", BLANKS]):
        rows = _rows(lines, delimiter)
        if not rows or len(rows[0]) < 2:
            continue
        alike = sum(len(row) == len(rows[0]) for row in rows)
        merit = (alike * 100 // len(rows), len(rows[0]) if delimiter != BLANKS else 0, -rank)
        if merit > best:
            best, found = merit, delimiter
    return found


def _looks_like_scores(rows: list[list[str]]) -> bool:
    """Return whether there is no header: lines of one number, or of an id and a number."""
    first = rows[0]
    return len(first) <= 2 and _is_number(first[-1]) and all(len(row) == len(first) for row in rows[1:20])


def _is_number(token: str, decimal: str = ".") -> bool:
    if decimal == "," and "." in token:
        return False
    return parse_number(token.strip().replace(decimal, ".")) is not None


def _all_numbers(values: list[str], decimal: str) -> bool:
    known = [value for value in values if value.strip() not in MISSING_TOKENS]
    return bool(known) and all(_is_number(value, decimal) for value in known)


def _column_names(name: str, header: list[str]) -> tuple[str, ...]:
    if len(header) > MOST_COLUMNS:
        raise ReadError(f"{name} has {len(header):,} columns, more than the {MOST_COLUMNS:,} that holdsup takes")
    names = [column.strip() or f"unnamed_{i}" for i, column in enumerate(header, start=1)]
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise ReadError(f"{name} has more than one column named {list_names(twice)}: rename all but one")
    return tuple(names)


def _find_decimal(name: str, values: dict[str, list[str]], delimiter: str) -> str:
    """Return the decimal mark; a column in which it cannot be told is refused, never misread."""
    found = "."
    for column, tokens in values.items():
        known = [token.strip() for token in tokens if token.strip() not in MISSING_TOKENS]
        with_comma = [token for token in known if COMMA_NUMBER.fullmatch(token) or THOUSANDS.fullmatch(token)]
        if not with_comma or not all(COMMA_NUMBER.fullmatch(t) or _is_number(t) or t in with_comma for t in known):
            continue
        where = f"column {column!r} of {name} holds {with_comma[0]!r}"
        if any(POINT_NUMBER.fullmatch(token) for token in known):
            raise ReadError(f"{where} as well as numbers with a decimal point: write all of them with a point")
        if all(THOUSANDS.fullmatch(token) for token in with_comma):
            raise ReadError(
                f"{where}: the comma may mark decimals or thousands; write the numbers with a decimal point"
            )
        if delimiter == ",":
            raise ReadError(f"{where}: decimal commas in a comma-separated file; write them with a decimal point")
        found = ","
    return found
