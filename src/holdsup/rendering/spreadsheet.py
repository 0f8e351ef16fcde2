"""CSV that a spreadsheet opens as text and numbers, never as formulas: an apostrophe before what it would run."""

from __future__ import annotations

import csv
import io
import re

from holdsup.rendering.numbers import MISSING
from holdsup.rendering.table import Table

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # with these a spreadsheet begins to compute, unless an apostrophe is before


def disarm_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    One that already begins so gets a second apostrophe, so that each can be told from the other afterwards.

    >>> disarm_text("=2"), disarm_text("'=2"), disarm_text("a=2")
    ("'=2", "''=2", 'a=2')
    """
    return f"'{text}" if FORMULA.match(text) else text


def render_csv(table: Table) -> str:
    """Return the cells of a table as CSV under its column names; title and notes have no place there."""
    shown = table.shown()
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in line] for line in (shown.columns, *shown.rows))
    return written.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell of a table that runs nothing: numbers, intervals and the sign of nothing may begin with a minus.

    >>> _harmless("=1+1"), _harmless("-0.25"), _harmless("-0.02 to 0.07"), _harmless("-")
    ("'=1+1", '-0.25', '-0.02 to 0.07', '-')
    """
    return cell if cell == MISSING or all(map(_is_number, cell.split(" to "))) else disarm_text(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "").rstrip("%"))
    except ValueError:
        return False
    return True
