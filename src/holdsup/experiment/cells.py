"""Columns of a corpus as Python's values: what is written as text becomes numbers only where nothing is lost by it.

Labels such as 1.1 and 1.10, 007 and 7, or ids of twenty digits look like numbers and are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from holdsup.columns import OpenTable
from holdsup.columns.values import MISSING_TOKENS, is_text, parse_number, to_dictionary
from holdsup.errors import ColumnError

__all__ = ["Cells", "read_cells", "read_numbers"]

# No sign of plus, no zeros in front: what is written so may be a code.
NUMERAL = re.compile(r"-?(?:0|[1-9]\d*|(?=\.\d))(?:\.\d*)?(?:[eE][-+]?\d+)?")


class Cells(NamedTuple):
    """The values of a column; `spelled` says why it is kept as it is written although it looks like numbers."""

    values: list[Any]
    spelled: str | None = None


def read_cells(table: OpenTable, column: str) -> Cells:
    """Return a column as text, numbers (whole ones as integers) or lists; none may be missing."""
    chunks = table.read({column: "text"})[column]
    written = chunks.type.value_type if hasattr(chunks.type, "value_type") else chunks.type
    if table.guess(column) != "number" or not is_text(written):
        return Cells(_whole(_present(table, column, chunks.to_pylist())))
    texts: list[str] = to_dictionary(chunks).to_pylist()
    decimal = table.decimal(column)
    known = {text: _clean(text) for text in dict.fromkeys(texts) if not _is_missing(text)}
    if any(parse_number(token, decimal) is None for token in known.values()):
        return Cells(texts)  # further down there is text
    if spelled := _find_loss(known.values(), decimal):
        return Cells(texts, spelled)
    numbers = {text: parse_number(token, decimal) for text, token in known.items()}
    return Cells(_whole(_present(table, column, [numbers.get(text) for text in texts])))


def read_numbers(table: OpenTable, column: str) -> list[Any]:
    """Return a column as numbers, however they are written; text that is none is an error which names its row."""
    found = _present(table, column, table.read({column: "text"})[column].to_pylist())
    numbers = []
    for row, value in enumerate(found):
        number = parse_number(_clean(value), table.decimal(column)) if isinstance(value, str) else value
        if not isinstance(number, int | float):
            raise ColumnError(
                f"{table.locate(row)} of {table.name} has {value!r:.60} as {column!r}, which is no number"
            )
        numbers.append(number)
    return _whole(numbers)


def _find_loss(tokens: Iterable[str], decimal: str) -> str | None:
    """Return what would be lost if these texts became numbers."""
    seen: dict[str, str] = {}
    for token in dict.fromkeys(tokens):
        plain = token.replace(decimal, ".")
        if not NUMERAL.fullmatch(plain):
            return f"{token!r} is not how a number is written"
        number = float(plain)
        if plain.lstrip("-").isdigit() and int(plain) != number:
            return f"{token!r} has more digits than a number keeps"
        other = seen.setdefault(repr(number), token)
        if other != token:
            return f"{other!r} and {token!r} would be one number"
    return None


def _present(table: OpenTable, column: str, values: list[Any]) -> list[Any]:
    for row, value in enumerate(values):
        if value is None or value != value:
            raise ColumnError(
                f"{table.locate(row)} of {table.name} has no {column!r}: fill it in, or leave the row out"
            )
    return values


def _whole(values: list[Any]) -> list[Any]:
    """Return floats that are all whole as integers, which is what they were before a gap made them floats."""
    if all(isinstance(value, float) and value.is_integer() for value in values):
        return [int(value) for value in values]
    return values


def _clean(text: str) -> str:
    return text.strip(" \t")


def _is_missing(text: str) -> bool:
    return _clean(text) in MISSING_TOKENS or _clean(text).lower() == "nan"
