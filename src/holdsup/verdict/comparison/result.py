"""`Comparison`: the answer of `compare_systems`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdsup.rendering import Answer, Page, Table
from holdsup.results import Method
from holdsup.verdict.comparison.records import Compared
from holdsup.verdict.comparison.short import answer_at, shorten
from holdsup.verdict.comparison.tables import tabulate
from holdsup.verdict.comparison.words import describe_method, headline


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Compared):
    """Systems compared with each other."""

    def answer(self) -> Answer:
        """Return what the comparison says in ten seconds."""
        return shorten(self)

    @property
    def headline(self) -> str:
        """The answer in one sentence, names as they are."""
        return headline(self)

    @property
    def verdict(self) -> str:
        """The answer, and what it holds for."""
        return answer_at(self).sentence()

    def page(self) -> Page:
        """Return the whole result, ready to be rendered; no name is cut."""
        return replace(Compared.page(self), answer=answer_at(self))

    def tables(self) -> tuple[Table, ...]:
        """Return the systems, their differences, the tests of all at once, and what was asked of properties."""
        return tuple(tabulate(self))

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return describe_method(self)
