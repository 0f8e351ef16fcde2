"""Tests of a difference from the folds of one corpus, adjusted over all pairs of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log10
from typing import Any

from holdsup.numerics.adjustment import adjust_holm
from holdsup.numerics.contests import FoldTest, blocked_t, combined_f, pool_freedom, resampled_t
from holdsup.verdict.contest.estimates import Duel
from holdsup.verdict.contest.records import ContestTest
from holdsup.verdict.contest.scoring import Scored

__all__ = ["adjust_tests", "count_units", "find_ratio", "run_tests"]

PAPER = "Wang et al. 2014"  # whose form of the blocked t-test stands beside ours


def run_tests(
    duel: Duel, *, margin: float, ratio: float | None, units: float | None, higher_is_better: bool
) -> Iterator[ContestTest]:
    """Yield the tests that a strategy allows; ours first, the published form after it.

    `ratio` is the number of items tested over that of items trained on; without it, and for one hold-out, there is
    no test. `units` is what `count_units` gives.
    """
    folds = duel.folds
    m = folds.shape[1] // 2
    if duel.strategy == "blocked":
        yield _row(duel, f"blocked {m}x2 t", blocked_t(folds, units=units, margin=margin), higher_is_better)
        if len(folds) == 1:
            published = blocked_t(folds, margin=margin, published=True)
            yield _row(duel, f"blocked {m}x2 t ({PAPER})", published, higher_is_better, paper=True)
            if m == 5 and not margin:
                yield _row(duel, "combined 5x2 F (Alpaydin)", combined_f(folds[0]), higher_is_better, paper=True)
    elif ratio is not None and folds.size > 1:
        # Hold-outs are dealt one by one; the folds of a cross-validation together, one of them by the others.
        own, deals = (folds.shape[1] - 1, len(folds)) if duel.strategy == "kfold" else (1 - 1 / folds.size, folds.size)
        found = resampled_t(folds, test_to_train=ratio, df=pool_freedom(own, deals, units), margin=margin)
        yield _row(duel, "corrected resampled t", found, higher_is_better)


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
            bonferroni = min(0.0, tests[i].log10_p + log10(len(places)))
            adjusted[i] = replace(tests[i], p_holm=10.0**holm, p_bonferroni=10.0**bonferroni)
    return tuple(adjusted)


def _row(duel: Duel, name: str, found: FoldTest, higher_is_better: bool, *, paper: bool = False) -> ContestTest:
    sign = 1.0 if higher_is_better else -1.0
    return ContestTest(
        left=duel.left,
        right=duel.right,
        strategy=duel.strategy,
        name=name,
        paper=paper,
        difference=sign * found.difference,
        se=found.se,
        statistic=sign * found.statistic if found.df2 is None else found.statistic,  # an F has no sign
        df=found.df,
        df2=found.df2,
        p=found.tail.p,
        log10_p=found.tail.log10_p,
        p_holm=found.tail.p,
        p_bonferroni=found.tail.p,
    )
