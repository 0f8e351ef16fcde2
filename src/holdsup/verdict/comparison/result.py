"""`Comparison`: the answer of `compare_systems`."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.rendering import Answer, Table
from holdsup.results import Method
from holdsup.verdict.comparison.records import Compared
from holdsup.verdict.comparison.short import shorten
from holdsup.verdict.comparison.tables import tabulate
from holdsup.verdict.comparison.words import describe_method

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Compared):
    """Systems compared with each other."""

    def answer(self) -> Answer:
        """Return what the comparison says in ten seconds."""
        return shorten(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the systems, their differences, the tests of all at once, and what was asked of properties."""
        return tuple(tabulate(self))

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return describe_method(self)
