"""`Tuning`: the answer of `judge_tuning`."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.rendering import Answer, Table
from holdsup.results import Method
from holdsup.verdict.tuning.candidates import TuningNumbers
from holdsup.verdict.tuning.tables import tabulate_candidates, tabulate_failures
from holdsup.verdict.tuning.words import describe_method, write_answer

__all__ = ["Tuning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(TuningNumbers):
    """The pick of a tuning by J-K-fold cross-validation, and how sure it is."""

    def answer(self) -> Answer:
        """Return whether the pick is safe from the luck of the partition."""
        return write_answer(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the candidates, the best first, and the fits that failed."""
        return (tabulate_candidates(self), *tabulate_failures(self))

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self)
