"""`advise_tuning`: which J and K a budget is best spent on, from the first partitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.errors import TuningError
from holdsup.numerics.tuning import Plan, advise_plans
from holdsup.numerics.tuning.advice import LEAST_K
from holdsup.rendering import Table
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Result, Rows, sign

__all__ = ["PlanRow", "TuningAdvice", "advise_tuning"]

Floats = NDArray[np.float64]
LITTLE = 0.5  # percent of a squared error that are written as 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """One way to spend the budget.

    Attributes
    ----------
    j : partitions
    k : folds
    fits : fits that all candidates take
    se_difference : standard error of a difference between candidates near the top
    se_estimate : standard error of a mean score, between partitions
    bias_estimate : bias of a mean score, as training sets are smaller than the corpus; null where one K was tried
    bias_difference : standard deviation of that bias between candidates near the top; null where one K was tried
    error : root mean square error of a difference: variance and bias together
    """

    j: int
    k: int
    fits: int
    se_difference: float
    se_estimate: float
    bias_estimate: float
    bias_difference: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningAdvice(Result):
    """J and K for a budget of fits.

    Attributes
    ----------
    metric : what the scores are
    budget : the most fits
    candidates : how many there are
    j : partitions to use
    k : folds to use
    plans : what the budget pays for, the best first
    """

    kind: ClassVar[str] = "tune-advice"

    metric: str
    budget: int
    candidates: int
    j: int
    k: int
    plans: tuple[PlanRow, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the plans, the best first."""
        return (
            Table(
                title=f"Ways to spend {format_counted(self.budget, 'fit')} on {self.candidates} candidates",
                columns=("J", "K", "fits", "se of a difference", "its bias (sd)", "error of a difference",
                         "se of the estimate", "its bias"),
                rows=tuple(
                    (p.j, p.k, p.fits, p.se_difference, p.bias_difference, p.error, p.se_estimate, p.bias_estimate)
                    for p in self.plans
                ),
                notes=(
                    "Variance falls with J, bias with K. A bias that all candidates share does not change the choice.",
                ),
            ),
        )  # fmt: skip


def advise_tuning(
    samples: Mapping[int, ArrayLike], *, budget: int, metric_name: str, higher_is_better: bool = True
) -> TuningAdvice:
    """Return the J and K that a budget of fits is best spent on.

    Parameters
    ----------
    samples : for each K that was tried, scores of the first partitions, shape (two or more, candidates)
    budget : the most fits of the tuning to come
    metric_name : what the scores are
    higher_is_better : whether larger scores are better

    Examples
    --------
    >>> five = [[0.80, 0.83, 0.82], [0.81, 0.83, 0.81]]
    >>> ten = [[0.81, 0.84, 0.83], [0.82, 0.84, 0.82]]
    >>> advice = advise_tuning({5: five, 10: ten}, budget=120, metric_name="accuracy")
    >>> advice.j, advice.k
    (8, 5)
    """
    tables = {k: _check(scores, k) for k, scores in samples.items()}
    candidates = _count_candidates(tables)
    sign_of = 1.0 if higher_is_better else -1.0
    plans = advise_plans({k: sign_of * table for k, table in tables.items()}, budget)
    if not plans:
        least = min((k for k in tables if k >= LEAST_K), default=LEAST_K)
        raise TuningError(
            f"a budget of {format_counted(budget, 'fit')} does not pay for one partition of {candidates} candidates "
            f"with {least} folds: that takes {candidates * least:,}"
        )
    cells = sum(table.size for table in tables.values())
    return TuningAdvice(
        signature=sign("tune-advice", k=",".join(map(str, tables)), candidates=candidates, budget=budget),
        seed=None,
        warnings=tuple(_warn(tables)),
        rows=Rows(cells, cells),
        verdict=_write(plans[0], plans, metric_name),
        metric=metric_name,
        budget=budget,
        candidates=candidates,
        j=plans[0].j,
        k=plans[0].k,
        plans=tuple(_row(plan, sign_of) for plan in plans),
    )


def _check(scores: ArrayLike, k: int) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
        raise TuningError(
            f"advice needs scores of all candidates on two partitions or more; those of K={k} have shape "
            f"{table.shape}{'' if np.isfinite(table).all() else ', and some are missing'}"
        )
    return table


def _count_candidates(tables: Mapping[int, Floats]) -> int:
    counts = {table.shape[1] for table in tables.values()}
    if len(counts) != 1:
        raise TuningError(f"each K needs the same candidates, but there are {sorted(counts) or 'none'}")
    return int(counts.pop())


def _row(plan: Plan, sign_of: float) -> PlanRow:
    return PlanRow(
        j=plan.j, k=plan.k, fits=plan.fits, se_difference=plan.se_difference, se_estimate=plan.se_estimate,
        bias_estimate=sign_of * plan.bias_estimate, bias_difference=plan.bias_difference, error=plan.error,
    )  # fmt: skip


def _warn(tables: Mapping[int, Floats]) -> Sequence[str]:
    said = [f"K={k} is left out: use K of {LEAST_K} or more." for k in tables if k < LEAST_K]
    if len(tables) == 1:
        said.append("One K was tried, so that nothing is known about bias: try another, such as 3, 5 and 10.")
    return said


def _write(best: Plan, plans: Sequence[Plan], metric: str) -> str:
    if best.error == 0:
        return (
            f"The partitions looked at agree on every difference between candidates near the top: how far {metric} "
            "spreads from partition to partition is not measured yet, and nothing speaks for one J and K or another. "
            f"Tune with J=4 or more of K={best.k}, which tells."
        )
    error = format_number(best.error, uncertainty=best.error)
    said = (
        f"Use J={best.j} partitions of K={best.k} folds ({format_counted(best.fits, 'fit')}): the difference of two "
        f"candidates near the top is then known to within {error} in {metric} (root mean square error)."
    )
    if len(plans) > 1:
        worst = plans[-1]
        other = format_number(worst.error, uncertainty=worst.error)
        said += f" J={worst.j} of K={worst.k} would leave {other}."
    if math.isnan(best.bias_difference):
        return said
    part = 200 * best.bias_difference**2 / best.error**2 if best.error > 0 else 0.0
    return f"{said} {_say_bias(part)}"


def _say_bias(percent: float) -> str:
    """Return how much of the squared error of a difference is bias: training sets are smaller than the corpus."""
    if percent < LITTLE:
        return "Candidates gain alike from larger training sets, as far as can be told: more folds would not help."
    return (
        f"{percent:.0f}% of its square is bias: some candidates gain more than others from larger training sets, as "
        "more folds would have."
    )
