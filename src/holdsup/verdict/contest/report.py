"""`Contest`: the answer of `judge_contest`, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from holdsup.numerics.contests import chance_share
from holdsup.rendering import Estimate, Interval, Page, PValue, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.rendering.table import Cell
from holdsup.results import Result
from holdsup.verdict.contest.estimates import ENOUGH
from holdsup.verdict.contest.pairs import find_decider
from holdsup.verdict.contest.records import (
    PAPER,
    Conclusion,
    ContestTest,
    CurveCheck,
    CurvePoint,
    EstimatorRow,
    FoldScore,
    FoldSigns,
    VoteCount,
)
from holdsup.verdict.phrases import say_groups

__all__ = ["Contest"]

SPELT_OUT = 3  # pairs that have a table each
CAUTIOUS = (
    "The blocked t-test is cautious: its se holds noise of training on one half, most of which the mean is rid of. Its "
    "df grow with the partitions, but never beyond the items, or groups of items, that all of them share. In "
    "simulations without a difference p was below .05 for 0 to 6% of the corpora."
)
ROUNDED = 0.1  # uncertainty that shares and ratios are rounded by


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest(Result):
    """Systems trained and tested on splits of one corpus: would the conclusion survive another split?

    Attributes
    ----------
    metric : the metric
    lower_is_better : whether a lower score is a better one
    level : coverage of the limits
    margin : lead from which a system counts as better
    correction : how p-values of several pairs are adjusted in the verdict: holm or bonferroni
    items : number of items of the corpus, null where only counts were given
    grouped : whether splits kept groups of items whole; null where that is not known
    conclusions : which system of each pair is said to be better, and how well that stands
    estimators : estimators of each difference over re-partitions
    signs : in how many folds each system is ahead
    tests : tests of each difference
    votes : how votes went
    curve : the learning curve, as far as there is one
    curve_checks : whether differences have one sign along it
    scores : the score of each trained instance
    """

    kind: ClassVar[str] = "contest"

    metric: str
    lower_is_better: bool
    level: float
    margin: float
    correction: str
    items: int | None
    grouped: bool | None
    conclusions: tuple[Conclusion, ...]
    estimators: tuple[EstimatorRow, ...]
    signs: tuple[FoldSigns, ...]
    tests: tuple[ContestTest, ...]
    votes: tuple[VoteCount, ...]
    curve: tuple[CurvePoint, ...]
    curve_checks: tuple[CurveCheck, ...]
    scores: tuple[FoldScore, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the estimators, ties, fold signs, tests, votes and the learning curve, as far as there are any."""
        return (
            *self._estimators(), *self._ties(), self._signs(), *self._tests(), *self._votes(), *self._curve(),
        )  # fmt: skip

    def page(self) -> Page:
        """Return the whole answer; what is counted are trained instances."""
        why = ", ".join(f"{format_count(count)} with {reason}" for reason, count in self.rows.reasons.items())
        counted = f"{format_count(self.rows.used)} of {format_counted(self.rows.planned, 'trained instance')} used"
        return Page(
            verdict=self.verdict,
            tables=self.tables(),
            warnings=self.warnings,
            rows=f"{counted}{f' ({why})' if why else ''}.",
            signature=self.signature,
        )

    def _estimators(self) -> Iterator[Table]:
        """Yield a table of each pair; of many pairs, one with the estimators that decide."""
        most = max(row.partitions for row in self.estimators)
        over = f"over {format_counted(most, 'partition')} of the corpus"
        if len(self.conclusions) > SPELT_OUT:
            rows = [(f"{c.left} - {c.right}", self._decider(c)) for c in self.conclusions]
            yield self._table(f"Differences {over}, {self.conclusions[0].estimator}", "", rows, self._notes(most))
            return
        for number, c in enumerate(self.conclusions, start=1):
            own = [(row.strategy, row) for row in self.estimators if (row.left, row.right) == (c.left, c.right)]
            last = number == len(self.conclusions)
            yield self._table(f"{c.left} - {c.right} {over}", "splits", own, self._notes(most) if last else ())

    def _table(self, title: str, head: str, rows: Iterable[tuple[str, EstimatorRow]], notes: Iterable[str]) -> Table:
        columns: dict[str, Callable[[EstimatorRow], Cell]] = {
            "estimator": lambda row: f"{row.estimator} ({PAPER})" if row.paper else row.estimator,
            "trained": lambda row: row.trained,
            "difference": lambda row: Estimate(row.mean, row.sd),
        }
        if max(row.partitions for row in self.estimators) > 1:
            columns |= {
                "sd": lambda row: Estimate(row.sd, row.sd),
                "SNR": lambda row: Estimate(row.snr if row.sd else None, ROUNDED),
                "bound": lambda row: Estimate(row.bound, ROUNDED),
                "Phi(SNR)": lambda row: Estimate(row.normal, ROUNDED),
                "won": lambda row: f"{row.wins} of {row.partitions}",
            }
        if min(row.partitions for row in self.estimators) >= ENOUGH:
            columns["won"] = lambda row: Estimate(row.reproducibility, ROUNDED)
            columns["limits"] = lambda row: Interval(row.low, row.high, drawn=False)
        cells = tuple((name, *(cell(row) for cell in columns.values())) for name, row in rows)
        return Table(title=title, columns=(head, *columns), rows=cells, notes=tuple(notes))

    def _decider(self, c: Conclusion) -> EstimatorRow:
        own = [row for row in self.estimators if (row.left, row.right) == (c.left, c.right)]
        return find_decider(own, c.strategy, c.estimator)

    def _notes(self, most: int) -> Iterator[str]:
        if self.margin:
            yield f"A system wins where it leads by more than {self.margin:g}; the SNR is of its lead beyond that."
        if any(row.estimator == "mixture" for row in self.estimators):
            yield (
                "vote: of several instances trained on half of the corpus, so not of the systems as they are trained. "
                f"mixture ({PAPER}): the larger of vote and averaged, which leans to the system named first even where "
                "there is no difference. symmetric: the one larger in absolute value."
            )
        if self.grouped is not None:
            yield say_groups(self.grouped)
        if any(row.strategy == "repeated" for row in self.estimators):
            yield "A partition is all hold-outs that are averaged, drawn anew."
        if most > 1:
            yield "bound: the share that the SNR guarantees; Phi(SNR): the share if the estimator is normal."
        if most > 1 and not all(c.named or c.status == "equal" for c in self.conclusions):
            yield (
                "The winner is the one that these partitions favour: of differences that come from splitting alone, it "
                f"wins {chance_share(most):.2f} on average."
            )

    def _ties(self) -> Iterator[Table]:
        """Yield how the partitions went, where in some of them neither system is ahead."""
        if any(c.ties and c.partitions > 1 for c in self.conclusions):
            yield Table(
                title="Partitions in which each system is ahead",
                columns=("", "estimator", "partitions", "first ahead", "second ahead", "ties"),
                rows=tuple(
                    (f"{c.left} - {c.right}", c.estimator, c.partitions, c.wins, self._decider(c).losses, c.ties)
                    for c in self.conclusions
                ),
                notes=("won, and its limits, are of all partitions: one that is a tie is not won.",),
            )

    def _signs(self) -> Table:
        return Table(
            title="Folds in which each system is ahead",
            columns=("", "splits", "folds", "first ahead", "second ahead", "ties"),
            rows=tuple(
                (f"{s.left} - {s.right}", s.strategy, s.folds, s.left_ahead, s.right_ahead, s.ties) for s in self.signs
            ),
        )

    def _tests(self) -> Iterator[Table]:
        several = len(self.conclusions) > 1
        null = f"a difference of {self.margin:g} or less" if self.margin else "no difference"
        if self.tests:
            yield Table(
                title=f"Tests of {null}, over new corpora like this one",
                columns=("", "test", "difference", "se", "statistic", "df", "p",
                         *(("p (Holm)", "p (Bonferroni)") if several else ())),
                rows=tuple(
                    (f"{t.left} - {t.right}", t.name, Estimate(t.difference, t.se),
                     t.se, t.statistic, f"{t.df:.4g}" if t.df2 is None else f"{t.df:g}, {t.df2:g}",
                     PValue(t.p, t.log10_p), *((PValue(t.p_holm), PValue(t.p_bonferroni)) if several else ()))
                    for t in self.tests
                ),
                notes=tuple(self._test_notes()),
            )  # fmt: skip

    def _test_notes(self) -> Iterator[str]:
        if self.margin:
            yield "The statistic is of what the difference is beyond that."
        if any(t.name.startswith("blocked") for t in self.tests):
            yield CAUTIOUS

    def _votes(self) -> Iterator[Table]:
        if self.votes:
            yield Table(
                title="Votes",
                columns=("system", "votes", "ties", "broken by probability", "tags repaired"),
                rows=tuple((v.system, v.votes, v.ties, v.by_probability, v.repaired) for v in self.votes),
                notes=("Other ties go to the earlier repetition.",) if any(v.ties for v in self.votes) else (),
            )

    def _curve(self) -> Iterator[Table]:
        if self.curve_checks:
            yield Table(
                title="Differences along the learning curve",
                columns=("", "trained on", "difference", "se", "trained on ", "difference ", "se ", "sign"),
                rows=tuple(
                    (f"{c.left} - {c.right}", c.half, Estimate(c.half_difference, c.half_se), c.half_se, c.full,
                     Estimate(c.full_difference, c.full_se), c.full_se, c.status)
                    for c in self.curve_checks
                ),
                notes=(self._say_samples(),),
            )  # fmt: skip

    def _say_samples(self) -> str:
        samples = format_counted(self.curve_checks[0].samples, "sample")
        instances = format_count(sum(point.repeats for point in self.curve))
        return (
            f"Of {samples} of items of each size; {instances} of the trained instances are for the curve. se: from "
            "sample to sample of this corpus."
        )
