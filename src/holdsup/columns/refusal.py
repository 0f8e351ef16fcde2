"""Why a column of numbers is refused: one line that names the row, the value and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdsup.columns.encoding import BadNumber
from holdsup.columns.layout import THOUSANDS
from holdsup.columns.values import MISSING_TOKENS, parse_number, to_dictionary
from holdsup.errors import ColumnError

if TYPE_CHECKING:
    from holdsup.columns.reading import OpenTable

__all__ = ["explain"]

NUMERAL = re.compile(r"[-+\d.,eE]*\d[-+\d.,eE]*")
RIGHT = "Write decimals with a point, and no mark for thousands."


def explain(table: OpenTable, column: str, bad: BadNumber, advice: str) -> ColumnError:
    """Return the error for a value that is not a number; `advice` is added where nothing else explains it."""
    where = f"{table.locate(bad.row)} of {table.name}"
    token = bad.value.strip()
    if token == column:
        return ColumnError(f"{where} repeats the header: were two files put together? Delete that line.")
    has = f"{where} has {bad.value!r:.60} in column {column!r}"
    if token.endswith("%") and parse_number(token[:-1].rstrip()) is not None:
        return ColumnError(f"{has}: remove the percent signs.")
    if NUMERAL.fullmatch(token) and (doubt := _doubt(table, column, token)):
        return ColumnError(f"{has}: {doubt}. {RIGHT}")
    known = " or ".join(MISSING_TOKENS[1:3])
    return ColumnError(
        f"{has}, which must hold numbers. Where there is no number, leave the field empty (or write {known}).{advice}"
    )


def _doubt(table: OpenTable, column: str, token: str) -> str | None:
    """Return what is unclear about the commas and points of a numeral, or None."""
    texts = to_dictionary(table.read({column: "label"})[column]).unify_dictionaries()
    numerals = [level for level in texts.chunk(0).dictionary.to_pylist() if NUMERAL.fullmatch(level.strip())]
    if all(any(mark in numeral for numeral in numerals) for mark in ",."):
        return "commas and points are mixed"
    if table.decimal(column) == ",":
        return "the file has decimal commas, so that the point may mark decimals or thousands"
    if THOUSANDS.fullmatch(token):
        return "the comma may mark decimals or thousands"
    return "a comma is not understood here" if "," in token else None
