"""What a metric is: targets and predictions of each item become counts, and the sum of counts a score.

A metric that is made of counts never reads a prediction twice. Any set of items, a bootstrap draw among them, is
a sum of rows, and `score` takes thousands of such sums at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.results import Caution

SHOWN = 40  # characters of a value in a message


class BadItem(MetricError):
    """One item cannot be counted.

    Attributes
    ----------
    item : its place, counted from 0; predictions that are read after all targets count on
    """

    def __init__(self, before: str, item: int, after: str) -> None:
        super().__init__(f"{before}item {item} (counted from 0){after}")
        self.item = item
        self._parts = (before, after)

    def naming(self, names: Sequence[str]) -> str:
        """Return the message with the name of the item instead of its place.

        >>> BadItem("the target of ", 1, " is missing.").naming(["q7", "q8"])
        "the target of item 'q8' is missing."
        """
        before, after = self._parts
        return f"{before}item {names[self.item % len(names)]!r}{after}"


def read_pairs(targets: Sequence[Any], predictions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return targets and predictions as plain values; one of each for every item, none of them missing."""
    known, predicted = plain_values(targets), plain_values(predictions)
    if len(known) != len(predicted):
        raise MetricError(
            f"there are {len(known)} targets but {len(predicted)} predictions: one prediction is needed for each item."
        )
    for what, values in (("target", known), ("prediction", predicted)):
        for item, value in enumerate(values):
            if value is None or value != value:  # only NaN is not equal to itself
                raise BadItem(f"the {what} of ", item, f" is missing: it is {value}.")
    return known, predicted


def read_sequences(targets: Sequence[Any], predictions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return targets and predictions that are lists of tags, equally long for each item."""
    known, predicted = read_pairs(targets, predictions)
    require_lists(known)
    require_lists(predicted)
    for item, (tags, guesses) in enumerate(zip(known, predicted, strict=True)):
        if len(tags) != len(guesses):
            were = f"{len(guesses)} were predicted: one tag is needed for each token."
            raise BadItem("", item, f" has {len(tags)} tags, but {were}")
    return known, predicted


def require_lists(values: Sequence[Any]) -> None:
    """Refuse an item that is no list of tags."""
    for item, value in enumerate(values):
        if not isinstance(value, list | tuple):
            raise BadItem("", item, f" is {show(value)}, but must be a list of tags.")


def plain_values(values: Sequence[Any]) -> list[Any]:
    """Return values as Python's own, so that a NumPy label and a JSON label are the same label."""
    if isinstance(values, str):
        raise MetricError(f"give a list with one value per item, not one text: {show(values)}.")
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [value.tolist() if hasattr(value, "tolist") else value for value in values]


def show(value: object) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


Floats = NDArray[np.float64]
Counts = Any  # an array (items, counts), or a scipy.sparse.csr_array where every label has its counts
MATCHES = ("matched", "predicted", "expected")  # the three counts of precision, recall and F1


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """How predictions are scored: `count` gives a row of counts for each item, `score` the score of summed rows."""

    name: str  # what it is called, as in a spec

    @property
    def is_mean(self) -> bool:
        """Whether the score of a set is the mean of its items' scores."""
        return False

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better one."""
        return True

    @property
    def signature(self) -> str:
        """How predictions are counted and scored, where the name does not say it all."""
        return ""

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Places of counts of which the first can be no larger than the second."""
        return ()

    @property
    def cautions(self) -> tuple[Caution, ...]:
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


@dataclass(frozen=True, kw_only=True)
class RatioMetric(Metric):
    """Precision, recall or F1 of something that is to be found in items."""

    measure: str  # precision, recall or f1
    zero_division: float = 0.0  # the precision where nothing was predicted, the recall where nothing is to be found

    def __post_init__(self) -> None:
        if self.zero_division not in (0, 1) and not math.isnan(self.zero_division):
            raise MetricError(f"zero_division = {self.zero_division!r} stands for 0/0: it must be 0, 1 or nan.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the counts."""
        return MATCHES

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Which counts are part of which: what was matched was predicted and expected."""
        return (0, 1), (0, 2)

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


class Counted(NamedTuple):
    """The counts of each system, and the score of their sums."""

    counts: tuple[Counts, ...]
    score: Callable[[NDArray[Any]], Floats]


def count_systems(metric: Metric, targets: Sequence[Any], *systems: Sequence[Any]) -> Counted:
    """Return the counts of each system's predictions, and what scores sums of them.

    A metric without counts gets them here: a count for each prediction of each system, which says how often it is in a
    set. Each set is then scored again from its predictions, which is as slow as the metric is.
    """
    metric = metric.for_targets(targets)
    if metric.columns:
        return Counted(tuple(metric.count(targets, predictions) for predictions in systems), metric.score)
    from scipy import sparse

    pairs = [read_pairs(targets, predictions) for predictions in systems]
    known = [value for targets, _ in pairs for value in targets]
    predicted = [value for _, predictions in pairs for value in predictions]
    which = sparse.eye_array(len(known), format="csr")
    places = np.split(np.arange(len(known)), len(systems))

    def score(sums: NDArray[Any]) -> Floats:
        sets = np.reshape(sums, (-1, len(known))).astype(np.intp)
        drawn = [np.repeat(np.arange(len(known)), times) for times in sets]
        scores = [metric.evaluate([known[i] for i in those], [predicted[i] for i in those]) for those in drawn]
        return np.reshape(scores, np.shape(sums)[:-1])

    return Counted(tuple(which[rows] for rows in places), score)
