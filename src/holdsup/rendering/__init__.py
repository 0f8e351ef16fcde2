"""Answers, pages and tables as text, Markdown, HTML and LaTeX: the only place that rounds and formats."""

from holdsup.rendering.answer import Answer, State
from holdsup.rendering.gauge import Gauge
from holdsup.rendering.page import Page
from holdsup.rendering.table import Cell, Estimate, Interval, Percent, PValue, Table
from holdsup.rendering.text import shorten

__all__ = [
    "Answer", "Cell", "Estimate", "Gauge", "Interval", "PValue", "Page", "Percent", "State", "Table", "shorten",
]  # fmt: skip
