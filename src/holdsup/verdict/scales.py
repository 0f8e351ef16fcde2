"""The ends of the scale that scores are on, where they are known: limits of a mean go no further."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from holdsup.results.direction_names import find_direction
from holdsup.scores import Scores

Row = TypeVar("Row")  # a record of a table that has a mean, low and high
PERCENT = re.compile(r"%|(?<![a-z])(percent|pct)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scale:
    """The lowest and the highest score that can occur; infinite where nobody knows."""

    low: float = -math.inf
    high: float = math.inf

    def cut(self, low: float, high: float, mean: float) -> tuple[float, float]:
        """Return limits of a mean that go no further than the scale, but to the mean itself.

        >>> Scale(0, 1).cut(-0.1, 0.7, 0.3), Scale().cut(-0.1, 0.7, 0.3)
        ((0, 0.7), (-0.1, 0.7))
        """
        if not (math.isfinite(low) and math.isfinite(high)):  # there are none
            return low, high
        return max(low, min(self.low, mean)), min(high, max(self.high, mean))

    def limit(self, row: Row) -> Row:
        """Return a row of a table with the limits of its mean cut."""
        found: Any = row
        low, high = self.cut(found.low, found.high, found.mean)
        return replace(found, low=low, high=high)  # type: ignore[no-any-return]


def find_scale(scores: Scores, metric: str | None) -> Scale:
    """Return the scale of one metric's scores: shares, scores of 0 and 1, and percentages that are named so.

    Where a name says that lower is better, as a latency or a WER, scores between 0 and 1 may as well be above.
    """
    values, column = scores.score[np.isfinite(scores.score)], scores.roles.score
    name = metric or (column if isinstance(column, str) else "")
    end = 1.0 if values.max(initial=0) <= 1 else 100.0
    if not len(values) or values.min() < 0 or values.max() > end:
        return Scale()
    known = find_direction(name) != "lower" if end == 1 else PERCENT.search(name) is not None
    return Scale(0.0, end) if known or ((values == 0) | (values == end)).all() else Scale()
