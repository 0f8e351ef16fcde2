"""What a metric is: counts of each item, and the score of their sum.

A metric that is made of counts never reads a prediction twice. Any set of items, a bootstrap draw among them, is
a sum of rows, and `score` takes thousands of such sums at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "Floats", "Metric"]

Floats = NDArray[np.float64]
Counts = Any  # an array (items, counts), or a scipy.sparse.csr_array where every label has its counts


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """How predictions are scored: `count` gives a row of counts for each item, `score` the score of summed rows.

    Attributes
    ----------
    name : what it is called, as in a spec
    """

    name: str

    @property
    def is_mean(self) -> bool:
        """Whether the score of a set is the mean of its items' scores."""
        return False

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better one."""
        return True

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader of the scores must know."""
        return ()

    @property
    def keeps_counts(self) -> bool:
        """Whether counts are few enough to be kept for each item; others are made again from predictions."""
        return True

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the counts; none where a metric has no counts and scores predictions again each time."""

    @abstractmethod
    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return the counts of each item, shape (items, counts)."""

    @abstractmethod
    def score(self, sums: NDArray[Any]) -> Floats:
        """Return the scores of summed counts, (..., counts) -> (...); NaN where `why_undefined` has a reason."""

    @abstractmethod
    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why one sum of counts, shape (counts,), has no score; None where it has one."""

    def for_targets(self, targets: Sequence[Any]) -> Self:
        """Return the metric that knows the labels of these targets, where it needs them."""
        return self

    def evaluate(self, targets: Sequence[Any], predictions: Sequence[Any]) -> float:
        """Return the score of all predictions; NaN where it is undefined."""
        metric = self.for_targets(targets)
        return float(metric.score(metric.count(targets, predictions).sum(axis=0)))
