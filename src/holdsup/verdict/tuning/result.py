"""`Tuning`: the answer of `judge_tuning`, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdsup.rendering import Answer, Estimate, Percent, Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import Method
from holdsup.verdict.phrases import say_groups, say_level
from holdsup.verdict.tuning.candidates import CandidateRow, TuningNumbers
from holdsup.verdict.tuning.words import describe_method, write_answer

SHOWN = 20  # candidates in the table; all are in the JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(TuningNumbers):
    """The pick of a tuning by J-K-fold cross-validation, and how sure it is."""

    def answer(self) -> Answer:
        """Return whether the pick is safe from the luck of the partition."""
        return write_answer(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the candidates, the best first, and the fits that failed."""
        return (_tabulate_candidates(self), *_tabulate_failures(self))

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self)


def _tabulate_candidates(tuning: TuningNumbers) -> Table:
    """Return the candidates, the best first."""
    rows = tuning.ranked()
    return Table(
        name="candidates",
        title=f"Candidates by {tuning.metric}, J={tuning.partitions} partitions of K={tuning.k} folds",
        columns=("candidate", "mean", "se", "difference", "lead", "wins", "P(best)", ""),
        rows=tuple(
            (
                row.name,
                Estimate(row.mean, row.se),
                Estimate(row.se, row.se),
                row.difference,
                row.lead,
                Percent(100 * row.wins),
                Estimate(row.p_best, 0.1),
                _remark(row, tuning),
            )
            for row in rows[:SHOWN]
        ),
        notes=tuple(_explain(tuning, len(rows))),
    )


def _explain(tuning: TuningNumbers, count: int) -> Iterator[str]:
    equal = any(row.same_as is not None and row.status != "same" for row in tuning.candidates)
    best = "highest" if tuning.higher_is_better else "lowest"
    yield (
        f"Best: the {best} mean over all partitions of this corpus, not on new data. wins: partitions on which it is "
        "the best, alone or tied. P(best): the posterior probability that it is the best; it trusts a lead less when "
        "many candidates are close." + (" Candidates with the same scores share theirs." if equal else "")
    )
    yield f"lead: the most that it could be better than the pick ({say_level(tuning.level)} confidence, all at once)."
    if any(row.status == "dropped" for row in tuning.candidates):
        yield "Dropped candidates are compared with the pick on the partitions they ran on." + (
            " Each was too far behind the leader when it was dropped." if tuning.adaptive else ""
        )
    if tuning.grouped is not None:
        yield say_groups(tuning.grouped)
    if count > SHOWN:
        yield f"{format_counted(count - SHOWN, 'more candidate')}: in the JSON."


def _remark(row: CandidateRow, tuning: TuningNumbers) -> str:
    if row.same_as is not None:
        return f"same {'setting' if row.status == 'same' else 'scores'} as {tuning.candidates[row.same_as].name}"
    if row.status == "dropped":
        return f"dropped after {row.partitions}"
    return {"alike": "can't tell apart", "worse": ""}.get(row.status, row.status)


def _tabulate_failures(tuning: TuningNumbers) -> Iterator[Table]:
    """Yield the fits that failed, if any did."""
    if tuning.failures:
        more = len(tuning.failures) - SHOWN
        yield Table(
            name="failures",
            title="Fits that failed",
            columns=("candidate", "partition", "fold", "error"),
            rows=tuple(
                (tuning.candidates[f.candidate].name, f.partition + 1, f.fold + 1, f.error)
                for f in tuning.failures[:SHOWN]
            ),
            notes=(
                "A candidate that failed on any fold is not ranked.",
                *((f"{format_counted(more, 'more failure')}: in the JSON.",) if more > 0 else ()),
            ),
        )
