"""`Contest`: the answer of `judge_contest`, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from holdsup.numerics.contests import chance_share
from holdsup.rendering import Answer, Cell, Estimate, Interval, PValue, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Method
from holdsup.verdict.contest.records import ENOUGH, PAPER, ContestNumbers, EstimatorRow
from holdsup.verdict.contest.words import describe_method, write_answer
from holdsup.verdict.phrases import say_groups, say_level

SPELT_OUT = 3  # pairs that have a table each
CONSERVATIVE = (
    "The blocked t-test is conservative: its se includes noise of training on one half, most of which averages out. "
    "Its df grow with the partitions, up to the number of items, or groups of items, that they all share. In "
    "simulations without a difference, p was below .05 for 0 to 6% of the corpora."
)
ROUNDED = 0.1  # uncertainty that shares and ratios are rounded by


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest(ContestNumbers):
    """Systems trained and tested on splits of one corpus: would another split say the same?"""

    def answer(self) -> Answer:
        """Return who leads, by how much, and whether another split would say the same."""
        return write_answer(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the estimators, ties, fold signs, tests, votes and the learning curve, as far as there are any."""
        return (
            *_tabulate_estimators(self), *_tabulate_signs(self), *_tabulate_tests(self),
            *_tabulate_votes(self), *_tabulate_curve(self),
        )  # fmt: skip

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self)


def _tabulate_estimators(contest: ContestNumbers) -> Iterator[Table]:
    """Yield a table of each pair; of many pairs, one with the estimators that decide."""
    most = max(row.partitions for row in contest.estimators)
    over = f"over {format_counted(most, 'partition')} of the corpus"
    if len(contest.conclusions) > SPELT_OUT:
        rows = [(c.pair, contest.decider(c)) for c in contest.conclusions]
        title = f"Differences {over} ({contest.conclusions[0].estimator})"
        yield _lay_out(contest, title, "pair", rows, _explain(contest, most))
        return
    for number, c in enumerate(contest.conclusions, start=1):
        own = [(row.strategy, row) for row in contest.estimators if (row.left, row.right) == (c.left, c.right)]
        last = number == len(contest.conclusions)
        yield _lay_out(contest, f"{c.pair} {over}", "splits", own, _explain(contest, most) if last else ())


def _lay_out(
    contest: ContestNumbers, title: str, head: str, rows: Iterable[tuple[str, EstimatorRow]], notes: Iterable[str]
) -> Table:
    columns: dict[str, Callable[[EstimatorRow], Cell]] = {
        "estimator": lambda row: f"{row.estimator} ({PAPER})" if row.paper else row.estimator,
        "trained": lambda row: row.trained,
        "difference": lambda row: Estimate(row.mean, row.sd),
    }
    if max(row.partitions for row in contest.estimators) > 1:
        columns |= {
            "sd": lambda row: Estimate(row.sd, row.sd),
            "SNR": lambda row: Estimate(row.snr if row.sd else None, ROUNDED),
            "bound": lambda row: Estimate(row.bound, ROUNDED),
            "Phi(SNR)": lambda row: Estimate(row.normal, ROUNDED),
            "won": lambda row: f"{row.wins} of {row.partitions}",
        }
    if min(row.partitions for row in contest.estimators) >= ENOUGH:
        columns["won"] = lambda row: Estimate(row.reproducibility, ROUNDED)
        columns[f"{say_level(contest.level)} CI"] = lambda row: Interval(row.low, row.high, drawn=False)
    cells = tuple((name, *(cell(row) for cell in columns.values())) for name, row in rows)
    return Table(name="estimators", title=title, columns=(head, *columns), rows=cells, notes=tuple(notes))


def _explain(contest: ContestNumbers, most: int) -> Iterator[str]:
    if contest.margin:
        yield f"A system wins where it leads by more than {contest.margin:g}; the SNR is of its lead beyond that."
    if any(row.estimator == "mixture" for row in contest.estimators):
        yield (
            "vote: an ensemble of instances, each trained on half of the corpus; not the systems as they are trained. "
            f"mixture ({PAPER}): the larger of vote and averaged, which favours the system named first even where "
            "there is no difference. symmetric: the one larger in absolute value."
        )
    if contest.grouped is not None:
        yield say_groups(contest.grouped)
    if any(row.strategy == "repeated" for row in contest.estimators):
        yield "A partition is all hold-outs that are averaged, drawn anew."
    if most > 1:
        yield (
            "won: the share of partitions won, the reproducibility. bound: the share that the SNR guarantees. "
            "Phi(SNR): the share if the estimator is normal."
        )
    if most > 1 and not all(c.named or c.status == "equal" for c in contest.conclusions):
        yield (
            "The winner is whoever these partitions favour. If splitting alone made the difference, that system would "
            f"win {chance_share(most):.2f} of them on average."
        )


def _tabulate_signs(contest: ContestNumbers) -> Iterator[Table]:
    """Yield in how many partitions each system is ahead, where there are ties, and in how many folds."""
    heads = ("first ahead", "second ahead", "ties")
    if any(c.ties and c.partitions > 1 for c in contest.conclusions):
        yield Table(
            name="conclusions",
            title="Partitions in which each system is ahead",
            columns=("pair", "estimator", "partitions", *heads),
            rows=tuple(
                (c.pair, c.estimator, c.partitions, c.wins, contest.decider(c).losses, c.ties)
                for c in contest.conclusions
            ),
            notes=("The share won is of all partitions: a tie is not won.",),
        )
    yield Table(
        name="signs",
        title="Folds in which each system is ahead",
        columns=("pair", "splits", "folds", *heads),
        rows=tuple((s.pair, s.strategy, s.folds, s.left_ahead, s.right_ahead, s.ties) for s in contest.signs),
    )


def _tabulate_tests(contest: ContestNumbers) -> Iterator[Table]:
    """Yield the tests, adjusted over several pairs."""
    if not contest.tests:
        return
    several = len(contest.conclusions) > 1
    null = f"a difference of {contest.margin:g} or less" if contest.margin else "no difference"
    notes = ["The statistic is of the difference beyond the margin."] if contest.margin else []
    if any(t.strategy == "blocked" for t in contest.tests):
        notes.append(CONSERVATIVE)
    yield Table(
        name="tests",
        title=f"Tests of {null}, over new corpora like this one",
        columns=("pair", "test", "difference", "se", "statistic", "df", "p",
                 *(("p (Holm)", "p (Bonferroni)") if several else ())),
        rows=tuple(
            (t.pair, t.name, Estimate(t.difference, t.se),
             Estimate(t.se, t.se), t.statistic, f"{t.df:.4g}" if t.df2 is None else f"{t.df:g}, {t.df2:g}",
             PValue(t.p), *((PValue(t.p_holm), PValue(t.p_bonferroni)) if several else ()))
            for t in contest.tests
        ),
        notes=tuple(notes),
    )  # fmt: skip


def _tabulate_votes(contest: ContestNumbers) -> Iterator[Table]:
    """Yield how votes went, where there were any."""
    if contest.votes:
        yield Table(
            name="votes",
            title="Votes",
            columns=("system", "votes", "ties", "broken by probability", "tags repaired"),
            rows=tuple((v.system, v.votes, v.ties, v.by_probability, v.repaired) for v in contest.votes),
            notes=("Other ties go to the earlier repetition.",) if any(v.ties for v in contest.votes) else (),
        )


def _tabulate_curve(contest: ContestNumbers) -> Iterator[Table]:
    """Yield the differences along the learning curve, where there is one."""
    if not contest.curve_checks:
        return
    samples = format_counted(contest.curve_checks[0].samples, "sample")
    instances = format_count(sum(point.repeats for point in contest.curve))
    yield Table(
        name="curve_checks",
        title="Differences along the learning curve",
        columns=("pair", "trained on", "difference", "se", "trained on ", "difference ", "se ", "sign"),
        rows=tuple(
            (c.pair, c.half, Estimate(c.half_difference, c.half_se), c.half_se, c.full,
             Estimate(c.full_difference, c.full_se), c.full_se, c.status)
            for c in contest.curve_checks
        ),
        notes=(
            f"From {samples} of items of each size; {instances} of the trained instances are for the curve. se: from "
            "sample to sample of this corpus.",
        ),
    )  # fmt: skip
