"""The ends of the scale that scores are on, where they are known: the CI of a mean goes no further."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.outliers import l_skewness
from holdsup.numerics.proportions import wilson
from holdsup.results.direction_names import find_direction
from holdsup.scores import Scores

Row = TypeVar("Row")  # a record of a table that has a mean, low and high
PERCENT = re.compile(  # names of metrics that are shares, or are told in per cent
    r"%|(?<![a-z])(percent|pct|(acc(uracy)?|f1|precision|recall|exact.match|(sacre)?bleu|chrf|rouge(l|lsum)?)(?![a-z]))",
    re.IGNORECASE,
)
MOST_STEPS, ROUNDING, FEW = 20, 1e-6, 1000  # of scores that are shares of n
PILE, FEWEST_AT_END = 0.05, 5  # share and number of scores at an end near which they are
SKEWED, ENOUGH = 0.25, 10**6  # L-skewness of scores (of exponential ones 1/3); scores whose shape is that of all
NEAR = 0.1  # part of the scale that is near an end of it
RATINGS = (5.0, 7.0)  # upper ends of scales of whole numbers from 1 on
FEWEST_RATINGS = 3  # different ones


@dataclass(frozen=True, slots=True)
class Scale:
    """The lowest and the highest score that can occur; infinite where nobody knows."""

    low: float = -math.inf
    high: float = math.inf
    name: str = field(default="", compare=False)  # what scores are, in words
    two_valued: bool = field(default=False, compare=False)  # whether no other score occurs
    piled: bool = field(default=False, compare=False)  # whether many scores are at an end of it

    def cut(self, low: float, high: float, mean: float) -> tuple[float, float]:
        """Return a CI of a mean that goes no further than the scale, but to the mean itself.

        >>> Scale(0, 1).cut(-0.1, 0.7, 0.3), Scale().cut(-0.1, 0.7, 0.3)
        ((0, 0.7), (-0.1, 0.7))
        """
        if not (math.isfinite(low) and math.isfinite(high)):  # there is none
            return low, high
        return max(low, min(self.low, mean)), min(high, max(self.high, mean))

    def limit(self, row: Row) -> Row:
        """Return a row of a table with the CI of its mean cut."""
        found: Any = row
        low, high = self.cut(found.low, found.high, found.mean)
        return replace(found, low=low, high=high)  # type: ignore[no-any-return]

    def bound(self, row: Row, count: int, level: float) -> Row:
        """Return a row of a table with Wilson's interval of its mean, where Student's does not fit the scale.

        That is where scores have two values, near an end of the scale if many scores are there, and where the interval
        would leave the scale.

        Parameters
        ----------
        count : independent items, or clusters, that count where nothing varies
        """
        found: Any = row
        if not math.isfinite(self.high + found.low + found.high):
            return row
        inside = self.low <= found.low and found.high <= self.high
        reach = NEAR * (self.high - self.low)
        shaped = self.two_valued or (self.piled and not self.low + reach < found.mean < self.high - reach)
        if not shaped and inside and (found.low < found.high or self.low < found.mean < self.high):
            return row
        measured = found.se > 0 and found.df is not None and found.df >= 1
        df = found.df if measured else max(count - 1, 1)
        quantile = t_quantile((1 + level) / 2, df)
        low, high = wilson(found.mean, found.se**2, count, quantile, self.low, self.high)
        return replace(found, low=float(low), high=float(high))  # type: ignore[no-any-return]


def find_ends(scores: Scores) -> tuple[float, float] | None:
    """Return the two values that all scores have, such as 0 and 1; None where they have more.

    Scores of two systems that never vary have two values as well, which are no scale, unless one of them is 0. Items
    that all systems got right, or wrong, have 0 and 1, or 0 and 100 if they are all 100.
    """
    values = scores.score
    low, high = float(values.min()), float(values.max())
    if low == high and low in (0.0, 1.0, 100.0) and scores.item is not None:
        return 0.0, max(high, 1.0)
    if not low < high or not ((values == low) | (values == high)).all():
        return None
    if scores.item is None and low != 0:  # means of runs that happen to have two values
        return None
    at_top = np.bincount(scores.system.codes, values == high, scores.system.count)
    varied = (at_top > 0) & (at_top < np.bincount(scores.system.codes, minlength=scores.system.count))
    return (low, high) if low == 0 or varied.any() else None


def find_scale(scores: Scores, metric: str | None) -> Scale:
    """Return the scale of one metric's scores: two values, shares, ratings, and percentages that are named so.

    Where a name says that lower is better, as a latency or a WER, scores between 0 and 1 may as well be above.
    """
    values, column = scores.score[np.isfinite(scores.score)], scores.roles.score
    name = metric or (column if isinstance(column, str) else "")
    if not len(values):
        return Scale()
    low, high = float(values.min()), float(values.max())
    if len(values) == len(scores) and (ends := find_ends(scores)) is not None:
        return Scale(*ends, f"one of two values ({ends[0]:g} and {ends[1]:g})", two_valued=True)
    if low >= 1 and 1 < high <= RATINGS[-1] and (values == np.round(values)).all():
        top = next(end for end in RATINGS if high <= end)
        ratings = len(np.unique(values)) >= FEWEST_RATINGS and find_direction(name) != "lower"
        return Scale(1.0, top, f"ratings from 1 to {top:g}") if ratings else Scale()
    if low < 0 or high > 100:
        return Scale()
    if high <= 1:
        shares = f"shares of {n} (0 to 1)" if (n := _count_trials(values)) else "shares (0 to 1)"
        return Scale(0.0, 1.0, shares) if find_direction(name) != "lower" else Scale()
    return Scale(0.0, 100.0, "percentages (0 to 100)") if PERCENT.search(name) is not None else Scale()


def find_room(scores: Scores) -> tuple[float, float] | None:
    """Return the ends of scores whose runs vary less near an end, whatever the unit; None of others.

    Many scores are at an end of their scale: of two values, k of n, ratings, or an F1 that is often 1. Amounts, such as
    costs or times, have one long tail from zero up.
    """
    values = scores.score[np.isfinite(scores.score)]
    if (ends := find_ends(scores)) is not None or not len(values):
        return ends
    low, high = float(values.min()), float(values.max())
    at_end = max(np.count_nonzero(values == low), np.count_nonzero(values == high))
    if low < high and at_end >= max(PILE * len(values), FEWEST_AT_END):
        return low, high
    return (0.0, math.inf) if low > 0 and is_skewed(values) else None


def find_scale_and_piles(scores: Scores, metric: str | None) -> Scale:
    """Return the scale, and whether many scores are at an end of it."""
    scale, room = find_scale(scores, metric), find_room(scores)
    return scale if room is None else replace(scale, piled=scale.low == room[0] or scale.high == room[1] < math.inf)


def is_skewed(values: Floats) -> bool:
    """Return whether scores have one long tail, as exponential ones have; of very many some of them tell."""
    return abs(float(l_skewness(values.ravel()[:: math.ceil(values.size / ENOUGH)]))) > SKEWED


def _count_trials(values: Floats) -> int:
    """Return the n of which scores between 0 and 1 are the share that was right; 0 where there is none up to 20.

    >>> _count_trials(np.array([0, 0.25, 0.5])), _count_trials(np.array([0.3141, 0.5]))
    (4, 0)
    """
    few = values[:FEW]  # tell soon of most tables that there is none
    for n in range(2, MOST_STEPS + 1):
        if all((np.abs(some * n - np.round(some * n)) < ROUNDING).all() for some in (few, values)):
            return n
    return 0
