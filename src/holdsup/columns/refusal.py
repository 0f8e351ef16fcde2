"""Why a column of numbers is refused: one line that names the row, the value and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdsup.columns.encoding import BadNumber
from holdsup.columns.layout import THOUSANDS
from holdsup.columns.values import MISSING_TOKENS, parse_number, to_dictionary
from holdsup.errors import ColumnError, quote_text

if TYPE_CHECKING:
    from holdsup.columns.opening import OpenTable

__all__ = ["explain"]

NUMERAL = re.compile(r"[-+\d.,eE]*\d[-+\d.,eE]*")
RIGHT = "Write decimals with a point, and no mark for thousands."


def explain(table: OpenTable, column: str, bad: BadNumber, advice: str) -> ColumnError:
    """Return the error for values that are not numbers; `advice` is added where nothing else explains the first."""
    return ColumnError(f"{_explain_first(table, column, bad, advice)}{_list_others(table, bad)}")


def _list_others(table: OpenTable, bad: BadNumber) -> str:
    """Return a sentence that names further values, so that all can be mended at once."""
    if bad.count == 1:
        return ""
    others = ", ".join(f"{quote_text(value.strip())} in {table.locate(row)}" for value, row in bad.others)
    rest = bad.count - 1 - len(bad.others)
    more = f"{rest:,} more {'cell' if rest == 1 else 'cells'} of text" if rest else ""
    return f" The same column has {' and '.join(part for part in (others, more) if part)}."


def _explain_first(table: OpenTable, column: str, bad: BadNumber, advice: str) -> str:
    where = f"{table.locate(bad.row)} of {table.name}"
    token = bad.value.strip()
    if token == column:
        return f"{where} repeats the header: were two files put together? Delete that line."
    has = f"{where} has {bad.value!r:.60} in column {column!r}"
    if token.endswith("%") and parse_number(token[:-1].rstrip()) is not None:
        return f"{has}: remove the percent signs."
    if NUMERAL.fullmatch(token) and (doubt := _doubt(table, column, token)):
        return f"{has}: {doubt}. {RIGHT}"
    known = " or ".join(MISSING_TOKENS[1:3])
    return (
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
    return "a comma marks decimals only where a column has nothing but numbers" if "," in token else None
