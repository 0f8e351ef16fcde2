"""Files, frames and streams as typed, encoded columns; every limit on input lives here."""

from holdsup.columns.encoding import Labels
from holdsup.columns.opening import OpenTable, open_tables
from holdsup.columns.reading import Column, Columns, Numbers, read_columns

__all__ = ["Column", "Columns", "Labels", "Numbers", "OpenTable", "open_tables", "read_columns"]
