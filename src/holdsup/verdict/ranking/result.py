"""`Ranking`: the answer of `rank_systems`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Answer, Table
from holdsup.results import Method, Result
from holdsup.verdict.ranking import tables, words
from holdsup.verdict.ranking.records import AnsweredQuestion, RankingNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(RankingNumbers):
    """Systems ranked over datasets, with nuisance factors isolated.

    Attributes
    ----------
    answers : the questions behind the ranking, each answered in a few words
    """

    kind: ClassVar[str] = "rank"
    main_table: ClassVar[str] = "systems"
    derived = {**Result.derived, "answers": tuple[AnsweredQuestion, ...]}  # noqa: RUF012 (a constant of the class)

    @property
    def answers(self) -> tuple[AnsweredQuestion, ...]:
        """The questions behind the ranking, each answered in a few words."""
        return words.answer_questions(self)

    def answer(self) -> Answer:
        """Return who is best, and how sure that is."""
        return words.write_answer(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the ranking first, then what it is made of, then how far to trust it."""
        return (words.tabulate_answers(self), *tables.tabulate(self))

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return words.describe_method(self)
