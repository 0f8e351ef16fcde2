"""`advise_tuning`: which J and K a budget is best spent on, from the first partitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.errors import TuningError
from holdsup.numerics.tuning_plans import LEAST_K, BudgetPlan, advise_plans
from holdsup.rendering import Answer, Estimate, Table
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import KINDS, Asked, Caution, Method, Result, Rows, write_caveats

Floats = NDArray[np.float64]
LITTLE = 0.5  # percent of a squared error that are written as 0
SHOWN = 5  # plans of the short answer


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningAdvice(Result):
    """J and K for a budget of fits."""

    kind: ClassVar[str] = "tune-advice"

    metric: str  # what the scores are
    budget: int  # the most fits
    candidates: int  # how many there are
    j: int  # partitions to use
    k: int  # folds to use
    plans: tuple[BudgetPlan, ...]  # what the budget pays for, the best first
    spent: int | None = None  # fits that were made for this advice; null where that is not known

    def answer(self) -> Answer:
        """Return the best way to spend the budget."""
        best = self.plans[0]
        made = f"{format_counted(self.spent or 0, 'fit')}; those with K={self.k} are the first of the tuning"
        return Answer(
            question=KINDS[self.kind].question,
            state=None,
            headline=_headline(best, self.metric),
            parts=(self._tabulate(SHOWN),),
            foot=(
                *((("made from", made),) if self.spent is not None else ()),
                *((("bias", _say_bias(best)),) if best.error > 0 and not math.isnan(best.bias_difference) else ()),
                ("holds for", f"these {self.candidates} candidates on this corpus"),
                *write_caveats(self.cautions),
            ),
            more=("--full (all plans)",),
            signature=self.signature,
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        done = "The error of a difference between candidates was projected from the first partitions of each K."
        return Method(question=KINDS[self.kind].question, sentences=(done,), citations=("moss2018",))

    def tables(self) -> tuple[Table, ...]:
        """Return the plans, the best first."""
        return (self._tabulate(len(self.plans)),)

    def _tabulate(self, most: int) -> Table:
        more = len(self.plans) - most
        return Table(
            name="plans",
            title=f"Ways to spend {format_counted(self.budget, 'fit')} on {self.candidates} candidates",
            columns=("J", "K", "fits", "error of a difference", "its se", "its bias (sd)"),
            rows=tuple(
                (p.j, p.k, p.fits, _round(p.error), _round(p.se_difference), _round(p.bias_difference))
                for p in self.plans[:most]
            ),
            notes=(f"{more} more: --full",) if more > 0 else (
                "Variance falls with J, bias with K. A bias that all candidates share does not change the choice.",
            ),
        )  # fmt: skip


def _round(error: float) -> Estimate:
    return Estimate(error, abs(error) or None)


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
    counts = {table.shape[1] for table in tables.values()}
    if len(counts) != 1:
        raise TuningError(
            f"each K needs the same candidates, but there are {sorted(counts) or 'none'}: score all on each"
        )
    (candidates,) = counts
    sign_of = 1.0 if higher_is_better else -1.0
    plans = advise_plans({k: sign_of * table for k, table in tables.items()}, budget)
    if not plans:
        least = min((k for k in tables if k >= LEAST_K), default=LEAST_K)
        raise TuningError(
            f"a budget of {format_counted(budget, 'fit')} does not pay for one partition of {candidates} candidates "
            f"with {least} folds: give {candidates * least:,} or more"
        )
    cells = sum(table.size for table in tables.values())
    return TuningAdvice(
        asked=Asked.about("tune-advice", k=",".join(map(str, tables)), candidates=candidates, budget=budget),
        seed=None,
        cautions=tuple(_warn(tables)),
        rows=Rows(cells, cells),
        metric=metric_name,
        budget=budget,
        candidates=candidates,
        j=plans[0].j,
        k=plans[0].k,
        plans=tuple(replace(plan, bias_estimate=sign_of * plan.bias_estimate) for plan in plans),
    )


def _check(scores: ArrayLike, k: int) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
        raise TuningError(
            f"advice needs scores of all candidates on two partitions or more, but those of K={k} have shape "
            f"{table.shape}{'' if np.isfinite(table).all() else ', and some are missing'}: add what is missing"
        )
    return table


def _warn(tables: Mapping[int, Floats]) -> Iterator[Caution]:
    for k in tables:
        if k < LEAST_K:
            message = f"K={k} is left out: with two folds, estimates vary more."
            yield Caution(code="few-folds", about="table:plans", message=message, advice=f"Use K of {LEAST_K} or more.")
    if len(tables) == 1:
        message = "Only one K was tried, so nothing is known about bias."
        yield Caution(code="one-k", about="table:plans", message=message, advice="Try others, such as 3, 5 and 10.")


def _headline(best: BudgetPlan, metric: str) -> str:
    if best.error == 0:
        return (
            "These partitions agree on every difference near the top, so nothing favours one J and K: "
            f"use J=4 or more of K={best.k}."
        )
    error = format_number(best.error, uncertainty=best.error)
    return (
        f"Use J={best.j} partitions of K={best.k} folds ({format_counted(best.fits, 'fit')}): differences between top "
        f"candidates then have an error of {error} {metric}."
    )


def _say_bias(best: BudgetPlan) -> str:
    """Return how much of the squared error of a difference is bias: training sets are smaller than the corpus."""
    percent = 200 * best.bias_difference**2 / best.error**2
    if percent < LITTLE:
        return "none found: more folds would not help"
    return f"{percent:.0f}% of the squared error; more folds would lower it"
