"""Metrics of which each item has its own score: the score of a set is the mean, or comes from it."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.metric import BadItem, Counts, Floats, Metric, read_pairs, read_sequences, show

ARTICLE = re.compile(r"\b(a|an|the)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, kw_only=True)
class MeanMetric(Metric):
    """A sum over something, divided by how many there are."""

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return the means of summed counts."""
        total, number = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
        mean = np.full(total.shape, np.nan)
        np.divide(total, number, out=mean, where=number > 0)
        return mean

    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why a sum of counts has no score."""
        return None if sums[1] > 0 else f"there are no {self.columns[1]}"


@dataclass(frozen=True, kw_only=True)
class Agreement(MeanMetric):
    """The share of items whose prediction is the target: accuracy, exact match."""

    is_mean = True
    columns = ("correct", "items")
    parts = ((0, 1),)
    # whether texts are compared as SQuAD does: without case, punctuation, articles and extra blanks
    normalize: bool = False

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return whether each item is correct, and 1."""
        known, predicted = read_pairs(targets, predictions)
        _check_kinds(known, predicted)
        if self.normalize:
            known, predicted = [_normal(value) for value in known], [_normal(value) for value in predicted]
        correct = [_as_list(left) == _as_list(right) for left, right in zip(known, predicted, strict=True)]
        return np.stack([np.array(correct, dtype=np.intp), np.ones(len(known), dtype=np.intp)], axis=1)


@dataclass(frozen=True, kw_only=True)
class TokenAgreement(MeanMetric):
    """The share of correct tags over all tokens, as conlleval's accuracy; long items weigh more."""

    columns = ("correct", "tokens")
    parts = ((0, 1),)

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return how many tags of each item are correct, and how many there are."""
        known, predicted = read_sequences(targets, predictions)
        correct = [sum(map(eq, tags, guesses)) for tags, guesses in zip(known, predicted, strict=True)]
        return np.stack([np.array(correct, dtype=np.intp), np.array(list(map(len, known)), dtype=np.intp)], axis=1)


@dataclass(frozen=True, kw_only=True)
class NumberError(MeanMetric):
    """How far predicted numbers are from targets: mean squared error (mse), its root (rmse), or mean absolute error."""

    higher_is_better = False

    @property
    def is_mean(self) -> bool:
        """Whether the score of a set is the mean of its items' scores."""
        return self.name != "rmse"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the counts."""
        return ("absolute error" if self.name == "mae" else "squared error", "items")

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return the error of each item, and 1."""
        known, predicted = map(_numbers, read_pairs(targets, predictions))
        error = np.abs(predicted - known)
        return np.stack([error if self.name == "mae" else error**2, np.ones(len(known))], axis=1)

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return the mean error, or its root."""
        mean = super().score(sums)
        return np.sqrt(mean) if self.name == "rmse" else mean


@dataclass(frozen=True, kw_only=True)
class Perplexity(MeanMetric):
    """What a token surprises: e to the mean negative log-likelihood (in nats) of the tokens of a corpus."""

    columns = ("nll", "tokens")
    higher_is_better = False

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Refuse: predictions are no likelihoods."""
        raise MetricError(
            f"{self.name} is of likelihoods, not of predictions: give the columns {' and '.join(self.columns)}."
        )

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return the perplexities of summed counts."""
        return np.exp(super().score(sums))


def _numbers(values: list[Any]) -> Floats:
    for item, value in enumerate(values):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise BadItem("", item, f" is {show(value)}, but must be a finite number.")
    return np.array(values, dtype=np.float64)


def _check_kinds(known: list[Any], predicted: list[Any]) -> None:
    """Refuse predictions that cannot be right: "1" is never 1, and a score of 0 would hide it."""
    kinds = [
        {str if isinstance(value, str) else list if isinstance(value, list | tuple) else float for value in values}
        for values in (known, predicted)
    ]
    if known and not kinds[0] & kinds[1]:
        raise MetricError(
            f"targets such as {show(known[0])} and predictions such as {show(predicted[0])} are of different kinds: "
            "no prediction could be right. Give both as text, or both as numbers."
        )


def _as_list(value: Any) -> Any:
    """Return a tuple as the list that it is in JSON."""
    return list(value) if isinstance(value, tuple) else value


def _normal(value: Any) -> Any:
    """Return a text as SQuAD compares it."""
    if not isinstance(value, str):
        return value
    return " ".join(ARTICLE.sub(" ", value.lower().translate(NO_PUNCTUATION)).split())
