"""Trainings that failed: what is judged without them, and what that can do to the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdsup.errors import RunError
from holdsup.rendering.numbers import format_counted
from holdsup.results import Rows
from holdsup.verdict.contest import Contest

__all__ = ["Losses", "tell_failures"]


@dataclass(frozen=True, slots=True)
class Losses:
    """Trainings that failed.

    Attributes
    ----------
    trainings : how many
    partitions : how many partitions lack one or more of them
    first : the first, with its error
    """

    trainings: int = 0
    partitions: int = 0
    first: str = ""

    def __bool__(self) -> bool:
        return self.trainings > 0

    def joined(self, later: Losses) -> Losses:
        """Return these and later ones together."""
        return Losses(self.trainings + later.trainings, self.partitions + later.partitions, self.first or later.first)

    def refuse(self, trainings: int, needed: str = "") -> RunError:
        """Return the error for so many losses that nothing can be judged."""
        return RunError(
            f"{self.trainings:,} of {trainings:,} trainings failed{needed}, the first of {self.first}. When the cause "
            "is gone, run the same with --retry-failed (retry_failed=True)"
        )


def tell_failures(contest: Contest, lost: Losses, *, of: int) -> Contest:
    """Return a contest that says how much of what was planned it does not rest on."""
    per_partition = contest.rows.planned // max(1, of - lost.partitions)
    left = lost.partitions * per_partition
    said = (
        f"{lost.partitions} of {format_counted(of, 're-partition')} are left out, because "
        f"{format_counted(lost.trainings, 'training')} failed; failures are seldom at random, so this can bias the "
        "answer."
    )
    return replace(
        contest,
        verdict=f"{contest.verdict} {said}",
        warnings=(
            *contest.warnings,
            f"{format_counted(lost.trainings, 'training')} failed, the first of {lost.first}.",
        ),
        rows=Rows(
            contest.rows.planned + left,
            contest.rows.used,
            {**contest.rows.reasons, "a failed training in their partition": left},
        ),
    )
