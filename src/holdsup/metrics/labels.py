"""Precision, recall and F1 of labels: of one label, of all together, or averaged over labels.

An item has one label, a list of them, or a row of indicators, whose columns are the labels. Averages over labels need
three counts of each label, of which an item has two or three that are not 0: they come as a sparse array. 100,000 items
with 100 labels take 5 MB, not 240 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError, list_names
from holdsup.metrics.metric import MATCHES, BadItem, Counts, Floats, RatioMetric, plain_values, ratio, read_pairs, show

Ints = NDArray[np.intp]
SEVERAL = (list, tuple, set, frozenset)  # an item that is one of these has several labels


@dataclass(frozen=True, kw_only=True)
class LabelMetric(RatioMetric):
    """Precision, recall or F1 of one label, or of all labels together (micro)."""

    # the labels that count, None for all that targets have; the others are as if they were not there
    labels: tuple[Any, ...] | None = None
    allow_unknown: bool = False  # whether a prediction may be a label that no target has; it is then wrong
    known: tuple[Any, ...] | None = None  # all labels of the targets, None as long as they have not been seen
    # how many columns targets have that are indicator rows, 0 where they are not; None as long as not seen
    width: int | None = None

    @property
    def noun(self) -> str:
        """What is to be found."""
        return "label" if self.labels is None else " or ".join(repr(label) for label in self.labels)

    @property
    def keeps_counts(self) -> bool:
        """Whether counts are kept for each item: not of indicator rows, which earlier versions counted wrongly."""
        return not self.width

    def for_targets(self, targets: Sequence[Any]) -> Self:
        """Return the metric that knows the labels of these targets."""
        width = find_width(targets) if self.width is None else self.width  # a part of them is read as all are
        return replace(self, known=tuple(range(width)) if width else find_labels(targets), width=width)

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return how many labels of each item were matched, predicted and expected."""
        known, predicted, labels = self._read(targets, predictions)
        if self.labels is None:  # all labels together: a wrong answer is one, known or not
            labels = tuple({*labels, *find_labels(predicted)})
        matches = match_labels(known, predicted, labels)
        return np.stack([np.bincount(them.item, minlength=len(known)) for them in matches], axis=1)

    def _read(self, targets: Sequence[Any], predictions: Sequence[Any]) -> tuple[list[Any], list[Any], tuple[Any, ...]]:
        """Return the labels of targets and of predictions, and those that count; refuse what cannot be."""
        if self.known is None:
            return self.for_targets(targets)._read(targets, predictions)
        known, predicted = read_pairs(targets, predictions)
        if self.width:
            if self.labels is not None:
                raise MetricError(
                    f"{self.name} of {self.noun}: targets are indicator rows such as {show(known[0])}, whose columns "
                    "are the labels and have no names. Average over all, or give each item the list of its labels."
                )
            known = list_columns(known, self.width, what="target")
            predicted = list_columns(predicted, self.width, what="prediction")
        check_labels(known, self.known, what="target", advice="Call for_targets with all targets.")
        if not self.allow_unknown:
            advice = "Name all labels with labels = [...], or set allow_unknown = true to count it as wrong."
            check_labels(predicted, {*self.known, *(self.labels or ())}, what="prediction", advice=advice)
        return known, predicted, self.known if self.labels is None else self.labels


@dataclass(frozen=True, kw_only=True)
class AveragedMetric(LabelMetric):
    """The mean over labels of precision, recall or F1: plain (macro), or each as often as it is expected (weighted).

    A label that a set does not have and that was not predicted in it has no part in that set's mean, which is what
    scikit-learn does when it is not told the labels. Indicator rows tell them: a column of zeros counts as
    `zero_division`, there and here.
    """

    keeps_counts = False  # targets and predictions say the same in less
    is_weighted: bool  # whether labels are weighted by how often they are expected

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the counts: three of each label, or just the three while labels are not known."""
        labels = self.known if self.labels is None else self.labels
        return MATCHES if labels is None else tuple(f"{match} {label}" for match in MATCHES for label in labels)

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Which counts are part of which, label by label."""
        number = len(self.columns) // len(MATCHES)
        return tuple((i, i + number * whole) for i in range(number) for whole in (1, 2))

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return, for each label, whether each item matched, predicted and expected it, as a sparse array."""
        from scipy import sparse  # only here: a worker that needs no average should not wait for it

        known, predicted, labels = self._read(targets, predictions)
        matches = match_labels(known, predicted, labels)
        rows = np.concatenate([them.item for them in matches])
        places = np.concatenate([them.label + len(labels) * which for which, them in enumerate(matches)])
        return sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=(len(known), len(MATCHES) * len(labels)))

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return the scores of summed counts."""
        by_label = np.moveaxis(np.reshape(sums, (*np.shape(sums)[:-1], len(MATCHES), -1)), -2, -1)
        scores = ratio(self.measure, by_label, zero_division=self.zero_division)
        if self.width:
            empty = np.isnan(scores) & ~np.isnan(scores).all(-1, keepdims=True)
            scores = np.where(empty, self.zero_division, scores)
        weights = by_label[..., 2] if self.is_weighted else np.ones(scores.shape)
        weights = np.where(np.isnan(scores), 0.0, weights)
        total = weights.sum(-1)
        mean = np.full(total.shape, np.nan)
        np.divide((np.nan_to_num(scores) * weights).sum(-1), total, out=mean, where=total > 0)
        return mean

    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why a sum of counts has no score."""
        if not np.isnan(self.score(sums)):
            return None
        together = np.reshape(sums, (len(MATCHES), -1)).sum(-1)
        return super().why_undefined(together) or f"each {self.noun} is left out, with zero_division = nan"


class Labelled(NamedTuple):
    """Which items have which labels: a pair for each, with the label's place among those that count."""

    item: Ints
    label: Ints


def find_labels(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the different labels of items, sorted; an item has one, or a list of them.

    >>> find_labels(["b", "a", ["a", "c"]])
    ('a', 'b', 'c')
    """
    _, labels = _spread(plain_values(values))
    return tuple(sorted(set(labels), key=lambda label: (isinstance(label, str), label)))


def find_width(values: Sequence[Any]) -> int:
    """Return how many columns targets have that are indicator rows; 0 where they are labels, or lists of these.

    A row has a 0 or a 1 for each of two labels or more. Labels that are called 0 and 1 could look like it only if every
    item had both.

    >>> find_width([[1, 0, 0], [0, 0, 1]]), find_width([[1, 0], [1]]), find_width([["a", "b"], ["b", "c"]])
    (3, 0, 0)
    """
    rows = plain_values(values)
    lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if len(lengths) != 1 or min(lengths) < 2 or not all(map(_is_indicator, chain.from_iterable(rows))):
        return 0
    return min(lengths)


def list_columns(rows: list[Any], width: int, *, what: str) -> list[Any]:
    """Return indicator rows as lists of the columns that are 1, which are their labels."""
    for item, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != width or not all(map(_is_indicator, row)):
            after = f" is {show(row)}, but targets are indicator rows: it must be {width} numbers, each 0 or 1."
            raise BadItem(f"the {what} of ", item, after)
    return [[column for column, cell in enumerate(row) if cell] for row in rows]


def _is_indicator(cell: Any) -> bool:
    return isinstance(cell, int | float) and cell in (0, 1)


def check_labels(values: list[Any], labels: Iterable[Any], *, what: str, advice: str) -> None:
    """Refuse a label that is not among `labels`."""
    items, found = _spread(values)
    known = frozenset(labels)
    if strange := set(found) - known:
        place = next(place for place, label in enumerate(found) if label in strange)
        named = list_names(sorted(known, key=str))
        after = f", {show(found[place])}, is none of the labels {named}. {advice}"
        raise BadItem(f"the {what} of ", int(items[place]), after)


def match_labels(known: list[Any], predicted: list[Any], labels: Sequence[Any]) -> tuple[Labelled, Labelled, Labelled]:
    """Return what was matched, what was predicted and what was expected, of the labels that count."""
    book = {label: code for code, label in enumerate(labels)}
    expected, found = _cells(known, book), _cells(predicted, book)
    matched = np.intersect1d(expected, found, assume_unique=True)
    width = max(len(book), 1)
    return Labelled(*divmod(matched, width)), Labelled(*divmod(found, width)), Labelled(*divmod(expected, width))


def _cells(values: list[Any], book: dict[Any, int]) -> Ints:
    """Return which cells of a table of items and labels are filled, each once, counted row by row."""
    items, labels = _spread(values)
    codes = np.fromiter((book.get(label, -1) for label in labels), dtype=np.intp, count=len(labels))
    counts = codes >= 0
    return np.unique(items[counts] * len(book) + codes[counts])


def _spread(values: list[Any]) -> tuple[Ints, list[Any]]:
    """Return all labels one after the other, and the item of each."""
    items, labels = np.arange(len(values)), values
    if not set(map(type, values)).isdisjoint(SEVERAL):
        lists = [value if isinstance(value, SEVERAL) else (value,) for value in values]
        items, labels = np.repeat(items, list(map(len, lists))), list(chain.from_iterable(lists))
    for kind in set(map(type, labels)):
        if not issubclass(kind, str | int | float):
            found = next(label for label in labels if type(label) is kind)
            raise MetricError(
                f"a label must be text or a number, or an item a list of these, but here is {show(found)}."
            )
    if labels is not values and len(set(zip(items.tolist(), labels, strict=True))) < len(labels):
        _refuse_repeated(values)
    return items, labels


def _refuse_repeated(values: list[Any]) -> None:
    """Refuse the first item that has a label twice: it is no list of labels."""
    for item, value in enumerate(values):
        if isinstance(value, list | tuple) and len(set(value)) < len(value):
            raise BadItem(
                "",
                item,
                f" is {show(value)}, which has a label twice. Give a list of different labels, or an indicator row of "
                "0s and 1s, as long for every item. For one tag per token, use chunk_f1 or token_accuracy.",
            )
