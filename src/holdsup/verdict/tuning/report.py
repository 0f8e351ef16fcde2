"""`Tuning`: the answer of `judge_tuning`, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Estimate, Percent, Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import Result
from holdsup.verdict.phrases import say_groups
from holdsup.verdict.tuning.records import CandidateRow, FailedFit

__all__ = ["Tuning"]

SHOWN = 20  # candidates in the table; all are in the JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(Result):
    """The pick of a tuning by J-K-fold cross-validation, and how sure it is.

    Attributes
    ----------
    metric : what the scores are
    higher_is_better : whether larger scores are better
    level : confidence of the limits
    partitions : how many, J
    copies : how many more were asked for, but are copies of others and were left out: few groups allow few partitions
    k : folds of a partition
    fits : how many fits were made
    budget : the most fits, null if there was no limit
    margin : a difference in score that does not matter
    adaptive : whether candidates were dropped on the way
    grouped : whether partitions kept groups of items whole; null where that is not known
    stop : why an adaptive tuning ended: within margin, budget spent, all partitions run
    best : name of the pick
    best_index : its place among the candidates, from 0
    probability : that the pick is the best over all partitions of this corpus, 0-1; null with one partition
    regret : upper limit of how much better than the pick the best candidate is, over all partitions; null with one
    candidates : all of them, in their order
    failures : fits that gave no score
    next : what more partitions would bring
    """

    kind: ClassVar[str] = "tune"

    metric: str
    higher_is_better: bool
    level: float
    partitions: int
    copies: int
    k: int
    fits: int
    budget: int | None
    margin: float
    adaptive: bool
    grouped: bool | None
    stop: str | None
    best: str
    best_index: int
    probability: float
    regret: float
    candidates: tuple[CandidateRow, ...]
    failures: tuple[FailedFit, ...]
    next: tuple[str, ...]

    @property
    def pick(self) -> CandidateRow:
        """The candidate to take."""
        return self.candidates[self.best_index]

    @property
    def alike(self) -> tuple[CandidateRow, ...]:
        """The candidates that cannot be told from the pick, without it."""
        return tuple(row for row in self.candidates if row.status == "alike")

    @property
    def different(self) -> tuple[CandidateRow, ...]:
        """The candidates, each setting once."""
        return tuple(row for row in self.candidates if row.status != "same")

    def tables(self) -> tuple[Table, ...]:
        """Return the candidates, the best first, and the fits that failed."""
        return (self._candidates(), *self._failures())

    def ranked(self) -> list[CandidateRow]:
        """Return the candidates in the order of their status and means: the pick, then the best; failed ones last."""
        sign = -1 if self.higher_is_better else 1
        order = {"pick": 0, "alike": 1, "worse": 1, "dropped": 2, "failed": 3, "same": 4}

        def place(row: CandidateRow) -> tuple[int, float, int]:
            return order[row.status], 0.0 if row.status in ("failed", "same") else sign * row.mean, row.index

        return sorted(self.candidates, key=place)

    def _candidates(self) -> Table:
        rows = self.ranked()
        equal = any(row.same_as is not None and row.status != "same" for row in rows)
        notes = [
            "wins: partitions on which it is the best, alone or with others. P(best): over all partitions of this "
            "corpus, not on new data; a posterior, which believes a lead the less, the more candidates are near it."
            + (" Candidates with the same scores are the best together." if equal else ""),
            f"lead: the most that it may be better than the pick by, all limits together at {self.level:.0%}.",
            *self._about_dropped(),
            *self.next,
        ]
        if self.grouped is not None:
            notes.append(say_groups(self.grouped))
        if len(rows) > SHOWN:
            notes.append(f"{format_counted(len(rows) - SHOWN, 'more candidate')}: in the JSON.")
        return Table(
            title=f"Candidates by {self.metric}, J={self.partitions} partitions of K={self.k} folds",
            columns=("candidate", "mean", "se", "difference", "lead", "wins", "P(best)", ""),
            rows=tuple(
                (
                    row.name,
                    Estimate(row.mean, row.se),
                    row.se,
                    row.difference,
                    row.lead,
                    Percent(100 * row.wins),
                    Estimate(row.p_best, 0.01),
                    _remark(row, self.candidates),
                )
                for row in rows[:SHOWN]
            ),
            notes=tuple(notes),
        )

    def _about_dropped(self) -> Iterator[str]:
        if any(row.status == "dropped" for row in self.candidates):
            yield (
                "A candidate that was dropped has its difference and lead from the partitions before: beside the pick"
                " of the end, where dropping it looked at the leader of the moment."
                if self.adaptive
                else "A candidate that stopped early has its difference and lead from the partitions that it has."
            )

    def _failures(self) -> Iterator[Table]:
        if self.failures:
            notes = ["A candidate that failed on one fold is not ranked, whatever its other folds say."]
            if len(self.failures) > SHOWN:
                notes.append(f"{format_counted(len(self.failures) - SHOWN, 'more failure')}: in the JSON.")
            yield Table(
                title="Fits that failed",
                columns=("candidate", "partition", "fold", "error"),
                rows=tuple(
                    (self.candidates[f.candidate].name, f.partition + 1, f.fold + 1, f.error)
                    for f in self.failures[:SHOWN]
                ),
                notes=tuple(notes),
            )


def _remark(row: CandidateRow, candidates: tuple[CandidateRow, ...]) -> str:
    if row.same_as is not None:
        return f"same {'setting' if row.status == 'same' else 'scores'} as {candidates[row.same_as].name}"
    if row.status == "dropped":
        return f"dropped after {row.partitions}"
    return {"alike": "not told apart", "worse": ""}.get(row.status, row.status)
