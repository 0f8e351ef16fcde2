"""Estimators of the difference of two systems, and how each behaves over re-partitions of the corpus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.contests import assess_stability, binomial_limits, mix_estimates
from holdsup.numerics.rounding import without_noise
from holdsup.verdict.contest.partitions import STRATEGIES
from holdsup.verdict.contest.records import EstimatorRow, FoldSigns
from holdsup.verdict.contest.scoring import Scored

__all__ = ["ENOUGH", "ESTIMATORS", "Duel", "count_signs", "describe_estimators", "make_duel", "order_strategies"]

ESTIMATORS = ("holdout", "averaged", "vote", "mixture", "symmetric")
ENOUGH = 20  # partitions that a reproducibility needs: with fewer, its limits leave anything possible

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duel:
    """Two systems on the splits of one strategy, differences as left's lead: positive where left is better.

    Attributes
    ----------
    left : the one
    right : the other
    strategy : how the corpus was split
    folds : lead of left in each fold, shape (partitions, folds)
    voted : lead of left by votes, shape (partitions,); None where there are none
    """

    left: str
    right: str
    strategy: str
    folds: Floats
    voted: Floats | None

    def turned(self) -> Duel:
        """Return the same with left and right exchanged."""
        voted = None if self.voted is None else -self.voted
        return Duel(left=self.right, right=self.left, strategy=self.strategy, folds=-self.folds, voted=voted)

    @property
    def decider(self) -> str:
        """The estimator that decides by default: of systems as they are trained, not of votes of their instances."""
        return "averaged" if self.folds.shape[1] > 1 else "holdout"

    def estimates(self) -> Iterator[tuple[str, int, Floats]]:
        """Yield each estimator: its name, how many trained instances of a system it uses, its value by partition."""
        folds = self.folds.shape[1]
        yield "holdout", 1, self.folds[:, 0]
        # Repetitions of a hold-out can be fewer; folds of a cross-validation belong together.
        for used in range(2 if self.strategy == "repeated" else folds, folds + 1):
            if used > 1:
                yield "averaged", used, self._average(used)
        if self.voted is not None:
            averaged = self._average(folds)
            yield "vote", folds, self.voted
            yield "mixture", folds, mix_estimates(averaged, self.voted, symmetric=False)
            yield "symmetric", folds, mix_estimates(averaged, self.voted, symmetric=True)

    def _average(self, used: int) -> Floats:
        """Return the mean lead in the first folds; leads that cancel out are a tie, whatever their rounding."""
        folds = self.folds[:, :used]
        return without_noise(folds.mean(axis=1), np.abs(folds).max(axis=1))

    def lead(self, estimator: str) -> Floats:
        """Return the values of an estimator, that of most trained instances."""
        return {name: values for name, _, values in self.estimates()}[estimator]


def make_duel(scored: Sequence[Scored], left: str, right: str, *, higher_is_better: bool) -> Duel:
    """Return two systems on partitions that are all of one strategy."""
    sign = 1.0 if higher_is_better else -1.0
    folds = sign * _subtract(*(np.stack([one.folds[system] for one in scored]) for system in (left, right)))
    voted = None
    if all(one.voted for one in scored):
        voted = sign * _subtract(*(np.array([one.voted[system] for one in scored]) for system in (left, right)))
    return Duel(left=left, right=right, strategy=scored[0].partition.strategy, folds=folds, voted=voted)


def _subtract(left: Floats, right: Floats) -> Floats:
    return without_noise(left - right, np.maximum(np.abs(left), np.abs(right)))


def describe_estimators(duel: Duel, *, margin: float, level: float, higher_is_better: bool) -> Iterator[EstimatorRow]:
    """Yield a row for each estimator."""
    sign = 1.0 if higher_is_better else -1.0
    for name, trained, lead in duel.estimates():
        beyond = assess_stability(lead, margin=margin)
        number = len(lead)
        tells = number >= ENOUGH and lead.any()  # without any lead there is nothing to reproduce
        limits = binomial_limits(beyond.positive, number, level=level) if tells else None
        yield EstimatorRow(
            left=duel.left,
            right=duel.right,
            strategy=duel.strategy,
            estimator=name,
            paper=name == "mixture",
            trained=trained,
            partitions=number,
            mean=sign * math.fsum(lead) / number,  # exact, so that the order of partitions does not matter
            sd=beyond.sd,
            snr=beyond.snr,
            bound=beyond.bound,
            normal=beyond.normal,
            wins=beyond.positive,
            ties=beyond.ties,
            reproducibility=beyond.positive / number if limits else None,
            low=limits.low if limits else None,
            high=limits.high if limits else None,
            values=tuple((sign * lead).tolist()),
        )


def count_signs(duel: Duel) -> FoldSigns:
    """Return in how many folds each system is ahead."""
    return FoldSigns(
        left=duel.left,
        right=duel.right,
        strategy=duel.strategy,
        folds=duel.folds.size,
        left_ahead=int(np.count_nonzero(duel.folds > 0)),
        right_ahead=int(np.count_nonzero(duel.folds < 0)),
        ties=int(np.count_nonzero(duel.folds == 0)),
    )


def order_strategies(scored: Sequence[Scored]) -> list[str]:
    """Return the strategies that there are, the one that decides first."""
    found = {one.partition.strategy for one in scored}
    return [strategy for strategy in STRATEGIES if strategy in found]
