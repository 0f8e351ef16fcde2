"""Pair by pair: which system is said to be better, how well that holds up, and whether more partitions are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.arguments import check_level
from holdsup.errors import ScoresError, list_names
from holdsup.metrics import Metric
from holdsup.numerics.contests import confidence_sequence
from holdsup.results import Caution
from holdsup.results.extras import list_extras
from holdsup.verdict.contest.estimates import (
    Duel,
    adjust_tests,
    count_signs,
    describe_estimators,
    find_ratio,
    make_duel,
    order_strategies,
    run_tests,
)
from holdsup.verdict.contest.records import (
    ENOUGH,
    TARGET,
    Conclusion,
    ContestTest,
    CurveCheck,
    CurvePoint,
    Decision,
    EstimatorRow,
    FoldSigns,
)
from holdsup.verdict.contest.scoring import Scored

LearningCurve = Mapping[str, Mapping[int, Sequence[float]]]  # scores by system and number of items trained on

TOLD = 2.0  # standard errors from zero at which a sign counts as known
NEAR_ALL = 0.7  # share of the corpus that the largest size must reach to speak for all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestQuestion:
    """What was asked of a contest (see `judge_contest`); `winner` is winner and loser, `units` what is dealt."""

    metric: Metric
    level: float
    threshold: float
    margin: float
    pairs: tuple[tuple[str, str], ...]
    winner: tuple[str, str] | None
    estimator: str | None
    correction: str
    items: int | None
    units: float | None


def judge_pairs(
    scored: Sequence[Scored], question: ContestQuestion, curve: LearningCurve | None, said: list[Caution]
) -> dict[str, Any]:
    """Return the answers as fields of a `Contest`; all strategies of a pair follow the conclusion of the first one.

    `said` gets what is missing.
    """
    strategies = {name: [one for one in scored if one.partition.strategy == name] for name in order_strategies(scored)}
    conclusions: list[Conclusion] = []
    estimators: list[EstimatorRow] = []
    signs: list[FoldSigns] = []
    tests: list[ContestTest] = []
    checks: list[CurveCheck] = []
    for left, right in question.pairs:
        duels = [
            make_duel(own, left, right, higher_is_better=question.metric.higher_is_better)
            for own in strategies.values()
        ]
        if _is_turned(duels[0], question):
            duels = [duel.turned() for duel in duels]
        if curve is not None:
            checks.append(_check_sign(curve, duels[0].left, duels[0].right, items=question.items))
        rows: list[EstimatorRow] = []
        for duel in duels:
            rows += describe_estimators(duel, margin=question.margin, level=question.level)
            name = f"the tests of {duel.left} - {duel.right}"
            ratio = find_ratio(strategies[duel.strategy], question.items)
            compute = partial(run_tests, duel, margin=question.margin, ratio=ratio, units=question.units)
            tests += list_extras(name, compute, said, about="table:tests")
            signs.append(count_signs(duel))
        estimators += rows
        conclusions.append(_conclude(duels[0], rows, checks[-1] if checks else None, question))
    return {
        "conclusions": tuple(conclusions), "estimators": tuple(estimators), "signs": tuple(signs),
        "tests": adjust_tests(tests), "curve_checks": tuple(checks),
    }  # fmt: skip


def _is_turned(duel: Duel, question: ContestQuestion) -> bool:
    """Return whether the conclusion is that right is better: as it was given, or by the sign of the mean."""
    names = list(dict.fromkeys(name for name, _, _ in duel.estimates()))
    if question.estimator is not None and question.estimator not in names:
        raise ScoresError(
            f"{duel.strategy} splits have no {question.estimator} estimator here: choose from {', '.join(names)}"
        )
    if question.winner is not None and set(question.winner) == {duel.left, duel.right}:
        return question.winner[0] == duel.right
    # The mixture as published leans to whoever stands on the left, so it cannot say who should.
    chooser = duel.decider if question.estimator in (None, "mixture") else question.estimator
    return bool(duel.lead(chooser).mean() < 0)


def _conclude(
    duel: Duel, rows: Sequence[EstimatorRow], check: CurveCheck | None, question: ContestQuestion
) -> Conclusion:
    estimator = question.estimator or duel.decider
    row = [row for row in rows if (row.strategy, row.estimator) == (duel.strategy, estimator)][-1]  # of most instances
    sign_at_n = None
    if duel.strategy == "blocked":  # trained on half of the corpus
        sign_at_n = "unchecked" if check is None else check.status
    return Conclusion(
        **duel.who(),
        named=question.winner == (duel.left, duel.right),
        estimator=estimator,
        partitions=row.partitions,
        wins=row.wins,
        ties=row.ties,
        status=_status(row, question.threshold),
        sign_at_n=sign_at_n,
    )


def _status(row: EstimatorRow, threshold: float) -> str:
    if row.is_tied:
        return "equal"
    if row.low is None or row.high is None:
        return "too few"
    if row.high < 0.5 and row.snr < 0:  # not where most partitions are ties
        return "refuted"
    return "survives" if row.low >= threshold else "likely" if row.low > 0.5 else "unsure"


def check_curve(curve: LearningCurve, systems: Sequence[str]) -> None:
    """Refuse a learning curve that does not let systems be compared size by size."""
    if missing := [system for system in systems if system not in curve]:
        raise ScoresError(f"the learning curve lacks {list_names(missing)}: give scores for every system")
    sizes = {size: len(scores) for size, scores in curve[systems[0]].items()}
    if len(sizes) < 2 or not all(sizes.values()):
        raise ScoresError("a learning curve needs two sizes or more, with at least one score at each: add sizes")
    for system in systems:
        if {size: len(scores) for size, scores in curve[system].items()} != sizes:
            raise ScoresError(
                f"the learning curves of {systems[0]!r} and {system!r} differ in sizes or numbers of scores: train "
                "both on the same samples of items"
            )
        if not np.isfinite(np.concatenate([*map(np.asarray, curve[system].values())])).all():
            raise ScoresError(
                f"the learning curve of {system!r} has a score that is not a finite number: leave that sample out"
            )


def list_points(curve: LearningCurve, systems: Sequence[str]) -> tuple[CurvePoint, ...]:
    """Return mean scores by system and size."""
    return tuple(
        CurvePoint(
            system=system, size=size, mean=float(np.mean(scores)), se=_se(np.asarray(scores)), repeats=len(scores)
        )
        for system in systems
        for size, scores in sorted(curve[system].items())
    )


def _check_sign(curve: LearningCurve, left: str, right: str, *, items: int | None) -> CurveCheck:
    """Return whether the difference has one sign at half of the corpus and near all of it."""
    sizes = sorted(curve[left])
    corpus = items or sizes[-1]
    half, full = min(sizes, key=lambda size: abs(size - corpus / 2)), sizes[-1]
    gaps = {size: np.asarray(curve[left][size]) - np.asarray(curve[right][size]) for size in (half, full)}
    means = {size: float(gap.mean()) for size, gap in gaps.items()}
    errors = {size: _se(gap) for size, gap in gaps.items()}
    known = all(abs(means[size]) > TOLD * errors[size] for size in (half, full))  # never, if an error is not known
    if half == full or full < NEAR_ALL * corpus or not known:
        status = "unsure"
    else:
        status = "same" if means[half] * means[full] > 0 else "differs"
    return CurveCheck(
        left=left, right=right, half=half, half_difference=means[half], half_se=errors[half],
        full=full, full_difference=means[full], full_se=errors[full],
        samples=len(gaps[half]), status=status,
    )  # fmt: skip


def _se(scores: NDArray[np.float64]) -> float:
    return float(scores.std(ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else math.nan


def decide_sequentially(
    leads: Sequence[float],
    *,
    target: float = TARGET,
    level: float = 0.95,
    least: int = ENOUGH,
    budget: int | None = None,
) -> Decision:
    """Return whether the leads of the left system, one for each re-partition so far, settle the matter.

    It may be asked after each partition: the CI holds at all looks together, so that a final outcome is wrong with
    probability 1 - level at most. A lead of zero counts for neither system.

    Parameters
    ----------
    leads : lead of left over right, positive where left is better
    target : probability of a lead from which it survives another split, above .5
    level : how sure an outcome must be
    least : partitions before which nothing is settled
    budget : partitions after which to stop in any case

    Examples
    --------
    >>> decide_sequentially([0.01] * 30).outcome
    'left'
    """
    if not 0.5 < target < 1:
        raise ScoresError(f"target is {target!r}; it must lie between 0.5 and 1, such as 0.8")
    check_level(level)
    number, left, right = len(leads), sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    for_left = confidence_sequence(left, number, level=level)
    for_right = confidence_sequence(right, number, level=level)
    outcome = "more"
    if number >= least:
        if for_left.low >= target:
            outcome = "left"
        elif for_right.low >= target:
            outcome = "right"
        elif max(for_left.high, for_right.high) < target:
            outcome = "neither"
    if outcome == "more" and budget is not None and number >= budget:
        outcome = "budget"
    return Decision(
        outcome=outcome, partitions=number, left_share=left / number if number else float("nan"),
        low=for_left.low, high=for_left.high, target=target, budget=budget,
    )  # fmt: skip
