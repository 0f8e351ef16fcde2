"""A table as CSV that a spreadsheet opens as text and numbers, never as formulas."""

from __future__ import annotations

import csv
import io

from holdsup.rendering.numbers import MISSING
from holdsup.rendering.table import Table

__all__ = ["render_csv"]

FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what a cell begins with that a spreadsheet would run


def render_csv(table: Table) -> str:
    """Return the cells of a table as CSV under its column names; title and notes have no place there."""
    shown = table.shown()
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in line] for line in (shown.columns, *shown.rows))
    return written.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell with an apostrophe before it if a spreadsheet would take it for a formula.

    >>> _harmless("=1+1"), _harmless("-0.25"), _harmless("-")
    ("'=1+1", '-0.25', '-')
    """
    return f"'{cell}" if cell.startswith(FORMULAS) and cell != MISSING and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "").rstrip("%"))
    except ValueError:
        return False
    return True
