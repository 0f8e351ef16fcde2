"""Precision, recall and F1 as ratios of three counts: what was matched, what was predicted, what was expected."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.metric import Floats, Metric

__all__ = ["MATCHES", "RatioMetric", "check_zero_division", "ratio"]

MATCHES = ("matched", "predicted", "expected")  # the three counts


@dataclass(frozen=True, kw_only=True)
class RatioMetric(Metric):
    """Precision, recall or F1 of something that is to be found in items.

    Attributes
    ----------
    name : as in a spec
    measure : precision, recall or f1
    zero_division : the precision where nothing was predicted, the recall where nothing is to be found
    """

    measure: str
    zero_division: float = 0.0

    def __post_init__(self) -> None:
        check_zero_division(self.zero_division)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the three counts."""
        return MATCHES

    @property
    @abstractmethod
    def noun(self) -> str:
        """What is to be found."""

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return the scores of summed counts, (..., 3) -> (...)."""
        return ratio(self.measure, sums, zero_division=self.zero_division)

    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why a sum of counts has no score."""
        if not np.isnan(self.score(sums)):
            return None
        _, predicted, expected = sums
        if predicted + expected == 0:
            return f"there is no {self.noun} to find, and none was predicted"
        return f"no {self.noun} was predicted" if expected else f"there is no {self.noun} to find"


def ratio(measure: str, sums: NDArray[Any], *, zero_division: float) -> Floats:
    """Return precision, recall or F1 of counts (..., 3), in the order of `MATCHES`.

    Precision without a prediction and recall without anything to find are 0/0 and become `zero_division`, as in
    scikit-learn. Where nothing was predicted and nothing was to be found there is no score: NaN. F1 is
    2 matched / (predicted + expected), which is never 0/0 otherwise.
    """
    matched, predicted, expected = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    below = {"precision": predicted, "recall": expected, "f1": (predicted + expected) / 2}[measure]
    score = np.full(below.shape, float(zero_division))
    np.divide(matched, below, out=score, where=below > 0)
    score[predicted + expected == 0] = np.nan
    return score


def check_zero_division(value: object) -> None:
    """Refuse what cannot stand for 0/0."""
    if not isinstance(value, int | float) or not (value in (0, 1) or math.isnan(value)):
        raise MetricError(f"zero_division = {value!r} stands for 0/0: it must be 0, 1 or nan.")
