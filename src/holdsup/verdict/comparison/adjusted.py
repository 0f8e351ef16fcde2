"""Pairs whose differences are adjusted by a rule of their own: for raters, or by human labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from holdsup.errors import ScoresError
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.findings import CompareQuestion, Found, list_couples
from holdsup.verdict.comparison.records import SystemMean
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.repeats import Distinct


class Adjustment(Protocol):
    """What adjusts differences."""

    def compare(self, left: int, right: int, question: CompareQuestion) -> tuple[Pair, Sequence[Any]]:
        """Return a pair of systems, by their places, and what is shown with it."""

    def mean(self, place: int, pairs: Sequence[Pair], level: float) -> SystemMean:
        """Return the mean of a system."""

    def describe(self, beside: Sequence[Any]) -> dict[str, Any]:
        """Return the fields of `Found` that say how it was adjusted, from what is shown with the pairs."""


def find_adjusted(evaluation: Evaluation, question: CompareQuestion, adjust: Callable[[], Adjustment]) -> Found:
    """Return what one metric says once it is adjusted."""
    distinct = Distinct(evaluation, 0, frozenset(), ())
    pairs: list[Pair] = []
    beside: list[Any] = []
    refused: list[ScoresError] = []
    try:
        left, right = list_couples(evaluation, question)
        adjustment = adjust()
    except ScoresError as error:
        return Found(distinct, (), (error,))
    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        try:
            pair, said = adjustment.compare(one, other, question)
            if question.baseline is None and len(left) == 1 and pair.difference.estimate < 0:
                pair, said = adjustment.compare(other, one, question)
        except ScoresError as error:
            refused.append(error)
            continue
        pairs.append(pair)
        beside.extend(said)
    if not pairs:
        return Found(distinct, (), tuple(refused))
    means = tuple(adjustment.mean(place, pairs, question.level) for place in range(len(evaluation.systems)))
    lower = question.directions.is_lower(evaluation.metric)
    return Found(distinct, tuple(pairs), tuple(refused), lower, means, **adjustment.describe(beside))
