"""Pair by pair: which system is said to be better, and how well that stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from holdsup.errors import ScoresError
from holdsup.metrics import Metric
from holdsup.results.extras import list_extras
from holdsup.verdict.contest.curve import LearningCurve, check_sign
from holdsup.verdict.contest.estimates import Duel, count_signs, describe_estimators, make_duel, order_strategies
from holdsup.verdict.contest.fold_tests import adjust_tests, find_ratio, run_tests
from holdsup.verdict.contest.records import Conclusion, ContestTest, CurveCheck, EstimatorRow, FoldSigns
from holdsup.verdict.contest.scoring import Scored
from holdsup.verdict.contest.sequential import TARGET

__all__ = ["Judged", "Question", "find_decider", "judge_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked of a contest (see `judge_contest`); `winner` is winner and loser, `units` what is dealt."""

    metric: Metric
    level: float
    margin: float
    pairs: tuple[tuple[str, str], ...]
    winner: tuple[str, str] | None
    estimator: str | None
    correction: str
    items: int | None
    units: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The answers about all pairs (see `Contest`)."""

    conclusions: tuple[Conclusion, ...]
    estimators: tuple[EstimatorRow, ...]
    signs: tuple[FoldSigns, ...]
    tests: tuple[ContestTest, ...]
    checks: tuple[CurveCheck, ...]


def judge_pairs(scored: Sequence[Scored], question: Question, curve: LearningCurve | None, said: list[str]) -> Judged:
    """Return the answers; all strategies of a pair speak of the conclusion that the first one draws.

    `said` gets what is missing beside them.
    """
    higher = question.metric.higher_is_better
    strategies = {name: [one for one in scored if one.partition.strategy == name] for name in order_strategies(scored)}
    ratios = {name: find_ratio(own, question.items) for name, own in strategies.items()}
    conclusions: list[Conclusion] = []
    estimators: list[EstimatorRow] = []
    signs: list[FoldSigns] = []
    tests: list[ContestTest] = []
    checks: list[CurveCheck] = []
    for left, right in question.pairs:
        duels = [make_duel(own, left, right, higher_is_better=higher) for own in strategies.values()]
        if _is_turned(duels[0], question):
            duels = [duel.turned() for duel in duels]
        if curve is not None:
            checks.append(check_sign(curve, duels[0].left, duels[0].right, items=question.items))
        rows: list[EstimatorRow] = []
        for duel in duels:
            rows += describe_estimators(duel, margin=question.margin, level=question.level, higher_is_better=higher)
            name = f"the tests of {duel.left} - {duel.right}"
            compute = partial(
                run_tests, duel, margin=question.margin, ratio=ratios[duel.strategy], units=question.units,
                higher_is_better=higher,
            )  # fmt: skip
            tests += list_extras(name, compute, said)
            signs.append(count_signs(duel))
        estimators += rows
        conclusions.append(_conclude(duels[0], rows, checks[-1] if checks else None, question))
    return Judged(
        conclusions=tuple(conclusions),
        estimators=tuple(estimators),
        signs=tuple(signs),
        tests=adjust_tests(tests),
        checks=tuple(checks),
    )


def _is_turned(duel: Duel, question: Question) -> bool:
    """Return whether the conclusion is that right is better: as it was given, or by the sign of the mean."""
    names = list(dict.fromkeys(name for name, _, _ in duel.estimates()))
    if question.estimator is not None and question.estimator not in names:
        raise ScoresError(
            f"there is no {question.estimator} estimator of these {duel.strategy} splits; there is {', '.join(names)}"
        )
    if question.winner is not None and set(question.winner) == {duel.left, duel.right}:
        return question.winner[0] == duel.right
    # The mixture as published leans to whoever stands on the left, so it cannot say who should.
    chooser = duel.decider if question.estimator in (None, "mixture") else question.estimator
    return bool(duel.lead(chooser).mean() < 0)


def _conclude(duel: Duel, rows: Sequence[EstimatorRow], check: CurveCheck | None, question: Question) -> Conclusion:
    estimator = question.estimator or duel.decider
    row = find_decider(rows, duel.strategy, estimator)
    sign_at_n = None
    if duel.strategy == "blocked":  # trained on half of the corpus
        sign_at_n = "unchecked" if check is None else check.status
    return Conclusion(
        left=duel.left,
        right=duel.right,
        named=question.winner == (duel.left, duel.right),
        strategy=duel.strategy,
        estimator=estimator,
        partitions=row.partitions,
        wins=row.wins,
        ties=row.ties,
        status=_status(row),
        sign_at_n=sign_at_n,
    )


def find_decider(rows: Sequence[EstimatorRow], strategy: str, estimator: str) -> EstimatorRow:
    """Return the row of a pair that a conclusion rests on: its estimator, made of most trained instances."""
    return max((row for row in rows if (row.strategy, row.estimator) == (strategy, estimator)), key=lambda r: r.trained)


def _status(row: EstimatorRow) -> str:
    if row.is_tied:
        return "equal"
    if row.low is None or row.high is None:
        return "too few"
    if row.high < 0.5 and row.snr < 0:  # not where most partitions are ties
        return "refuted"
    return "survives" if row.low >= TARGET else "likely" if row.low > 0.5 else "unsure"
