"""`Contest`: the answer of `judge_contest`."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.rendering import Answer, Table
from holdsup.results import Method
from holdsup.verdict.contest.records import ContestNumbers
from holdsup.verdict.contest.tables import (
    tabulate_curve,
    tabulate_estimators,
    tabulate_signs,
    tabulate_tests,
    tabulate_votes,
)
from holdsup.verdict.contest.words import describe_method, write_answer

__all__ = ["Contest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest(ContestNumbers):
    """Systems trained and tested on splits of one corpus: would another split say the same?"""

    def answer(self) -> Answer:
        """Return who leads, by how much, and whether another split would say the same."""
        return write_answer(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the estimators, ties, fold signs, tests, votes and the learning curve, as far as there are any."""
        return (
            *tabulate_estimators(self), *tabulate_signs(self), *tabulate_tests(self),
            *tabulate_votes(self), *tabulate_curve(self),
        )  # fmt: skip

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self)
