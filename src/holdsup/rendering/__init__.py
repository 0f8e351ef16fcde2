"""Tables and pages as text, Markdown, HTML and LaTeX: the only place that rounds and formats."""

from holdsup.rendering.page import Page
from holdsup.rendering.table import Cell, Estimate, Interval, Percent, PValue, Table

__all__ = ["Cell", "Estimate", "Interval", "PValue", "Page", "Percent", "Table"]
