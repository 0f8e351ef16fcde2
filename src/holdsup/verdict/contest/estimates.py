"""Two systems on the same splits: estimators of their difference over partitions of the corpus, and tests of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.arithmetic import without_noise
from holdsup.numerics.contests import (
    FoldTest,
    assess_stability,
    binomial_interval,
    blocked_t,
    combined_f,
    mix_estimates,
    pool_freedom,
    resampled_t,
)
from holdsup.numerics.distributions import adjust_holm
from holdsup.verdict.contest.partitions import STRATEGIES
from holdsup.verdict.contest.records import ENOUGH, ContestTest, EstimatorRow, FoldSigns
from holdsup.verdict.contest.scoring import Scored

ESTIMATORS = ("holdout", "averaged", "vote", "mixture", "symmetric")
PAPER_T = "Wang et al. 2014"  # whose form of the blocked t-test is shown next to ours

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Duel:
    """Two systems on the splits of one strategy, differences as left's lead: positive where left is better."""

    left: str  # the one
    right: str  # the other
    strategy: str  # how the corpus was split
    folds: Floats  # lead of left in each fold, shape (partitions, folds)
    voted: Floats | None  # lead of left by votes, shape (partitions,); None where there are none
    sign: float = 1.0  # -1 where a lower score is a better one: a lead times this is left - right

    def turned(self) -> Duel:
        """Return the same with left and right exchanged."""
        voted = None if self.voted is None else -self.voted
        return replace(self, left=self.right, right=self.left, folds=-self.folds, voted=voted)

    def who(self) -> dict[str, str]:
        """Return what every row about the duel has."""
        return {"left": self.left, "right": self.right, "strategy": self.strategy}

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
    strategy = scored[0].partition.strategy
    return Duel(left=left, right=right, strategy=strategy, folds=folds, voted=voted, sign=sign)


def _subtract(left: Floats, right: Floats) -> Floats:
    return without_noise(left - right, np.maximum(np.abs(left), np.abs(right)))


def describe_estimators(duel: Duel, *, margin: float, level: float) -> Iterator[EstimatorRow]:
    """Yield a row for each estimator."""
    for name, trained, lead in duel.estimates():
        beyond = assess_stability(lead, margin=margin)
        number = len(lead)
        tells = number >= ENOUGH and lead.any()  # without any lead there is nothing to reproduce
        limits = binomial_interval(beyond.positive, number, level=level) if tells else None
        yield EstimatorRow(
            **duel.who(),
            estimator=name,
            paper=name == "mixture",
            trained=trained,
            partitions=number,
            mean=duel.sign * math.fsum(lead) / number,  # exact, so that the order of partitions does not matter
            sd=beyond.sd,
            snr=beyond.snr,
            bound=beyond.bound,
            normal=beyond.normal,
            wins=beyond.positive,
            ties=beyond.ties,
            reproducibility=beyond.positive / number if limits else None,
            low=limits.low if limits else None,
            high=limits.high if limits else None,
            values=tuple((duel.sign * lead).tolist()),
        )


def count_signs(duel: Duel) -> FoldSigns:
    """Return in how many folds each system is ahead."""
    return FoldSigns(
        **duel.who(),
        folds=duel.folds.size,
        left_ahead=int(np.count_nonzero(duel.folds > 0)),
        right_ahead=int(np.count_nonzero(duel.folds < 0)),
        ties=int(np.count_nonzero(duel.folds == 0)),
    )


def order_strategies(scored: Sequence[Scored]) -> list[str]:
    """Return the strategies that there are, the one that decides first."""
    found = {one.partition.strategy for one in scored}
    return [strategy for strategy in STRATEGIES if strategy in found]


def run_tests(duel: Duel, *, margin: float, ratio: float | None, units: float | None) -> Iterator[ContestTest]:
    """Yield the tests that a strategy allows; ours first, the published form after it.

    `ratio` is the number of items tested over that of items trained on; without it, and for one hold-out, there is
    no test. `units` is what `count_units` gives.
    """
    folds = duel.folds
    m = folds.shape[1] // 2
    if duel.strategy == "blocked":
        yield _test_row(duel, f"blocked {m}x2 t", blocked_t(folds, units=units, margin=margin))
        if len(folds) == 1:
            published = blocked_t(folds, margin=margin, published=True)
            yield _test_row(duel, f"blocked {m}x2 t ({PAPER_T})", published, paper=True)
            if m == 5 and not margin:
                yield _test_row(duel, "combined 5x2 F (Alpaydin)", combined_f(folds[0]), paper=True)
    elif ratio is not None and folds.size > 1:
        # Hold-outs are dealt one by one; the folds of a cross-validation together, one of them by the others.
        own, deals = (folds.shape[1] - 1, len(folds)) if duel.strategy == "kfold" else (1 - 1 / folds.size, folds.size)
        found = resampled_t(folds, test_to_train=ratio, df=pool_freedom(own, deals, units), margin=margin)
        yield _test_row(duel, "corrected resampled t", found)


def count_units(items: int | None, groups: Sequence[Any] | None) -> float | None:
    """Return how many items a corpus has that are dealt one by one, or groups; unequal ones count as fewer (Kish 1965).

    >>> count_units(100, None), count_units(100, ["a"] * 50 + ["b"] * 50), count_units(100, ["a"] * 80 + ["b"] * 20)
    (100, 2.0, 1.4705882352941178)
    """
    if groups is None:
        return items
    sizes = Counter(groups).values()
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def find_ratio(scored: Sequence[Scored], items: int | None) -> float | None:
    """Return items tested over items trained on, the mean of all splits; None where it is not known."""
    tested = [
        len(trained.test)
        for one in scored
        for trained in next(iter(one.partition.trained.values()))
        if trained.test is not None
    ]
    if items is None or not tested:
        return None
    mean = sum(tested) / len(tested)
    return mean / (items - mean) if mean < items else None


def adjust_tests(tests: Sequence[ContestTest]) -> tuple[ContestTest, ...]:
    """Return tests with p-values adjusted over the pairs that one test was made of."""
    adjusted = list(tests)
    for kind in dict.fromkeys((test.strategy, test.name) for test in tests):
        places = [i for i, test in enumerate(tests) if (test.strategy, test.name) == kind]
        logs = [tests[i].log10_p for i in places]
        for i, holm in zip(places, adjust_holm(logs), strict=True):
            bonferroni = min(0.0, tests[i].log10_p + math.log10(len(places)))
            adjusted[i] = replace(tests[i], p_holm=10.0**holm, p_bonferroni=10.0**bonferroni)
    return tuple(adjusted)


def _test_row(duel: Duel, name: str, found: FoldTest, *, paper: bool = False) -> ContestTest:
    return ContestTest(
        **duel.who(),
        name=name,
        paper=paper,
        difference=duel.sign * found.difference,
        se=found.se,
        statistic=duel.sign * found.statistic if found.df2 is None else found.statistic,  # an F has no sign
        df=found.df,
        df2=found.df2,
        p=found.tail.p,
        log10_p=found.tail.log10_p,
        p_holm=found.tail.p,
        p_bonferroni=found.tail.p,
    )
