"""Precision, recall and F1 of labels: of one label, of all together, or averaged over labels.

An item has one label, a list of them, or a row of indicators, whose columns are the labels. Averages over labels need
three counts of each label, of which an item has two or three that are not 0: they come as a sparse array. 100,000 items
with 100 labels take 5 MB, not 240 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.encoding import check_labels, find_labels, find_width, list_columns, match_labels
from holdsup.metrics.metric import Counts, Floats
from holdsup.metrics.pairs import read_pairs, show
from holdsup.metrics.ratios import MATCHES, RatioMetric, ratio

__all__ = ["AveragedMetric", "LabelMetric"]


@dataclass(frozen=True, kw_only=True)
class LabelMetric(RatioMetric):
    """Precision, recall or F1 of one label, or of all labels together (micro).

    Attributes
    ----------
    name : as in a spec
    measure : precision, recall or f1
    zero_division : the precision where nothing was predicted, the recall where nothing is to be found
    labels : the labels that count, None for all that targets have; the others are as if they were not there
    allow_unknown : whether a prediction may be a label that no target has; it is then wrong
    known : all labels of the targets, None as long as they have not been seen
    width : how many columns targets have that are indicator rows, 0 where they are not; None as long as not seen
    """

    labels: tuple[Any, ...] | None = None
    allow_unknown: bool = False
    known: tuple[Any, ...] | None = None
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
            advice = "Name all labels with labels = [...], or set allow_unknown = true to take it for a wrong answer."
            check_labels(predicted, {*self.known, *(self.labels or ())}, what="prediction", advice=advice)
        return known, predicted, self.known if self.labels is None else self.labels


@dataclass(frozen=True, kw_only=True)
class AveragedMetric(LabelMetric):
    """The mean over labels of precision, recall or F1: plain (macro), or each as often as it is expected (weighted).

    A label that a set does not have and that was not predicted in it has no part in that set's mean, which is what
    scikit-learn does when it is not told the labels. Indicator rows tell them: a column of zeros counts as
    `zero_division`, there and here.

    Attributes
    ----------
    name : as in a spec
    measure : precision, recall or f1
    zero_division : the precision of a label that was never predicted, the recall of one that is nowhere to be found
    labels : the labels that count, None for all that targets have; the others are as if they were not there
    allow_unknown : whether a prediction may be a label that no target has; it then finds nothing, and is not averaged
    known : all labels of the targets, None as long as they have not been seen
    width : how many columns targets have that are indicator rows, 0 where they are not; None as long as not seen
    is_weighted : whether labels are weighted by how often they are expected
    """

    is_weighted: bool

    @property
    def keeps_counts(self) -> bool:
        """Whether counts are kept for each item: they are not, since targets and predictions say the same in less."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the counts: three of each label, or just the three while labels are not known."""
        labels = self.known if self.labels is None else self.labels
        return MATCHES if labels is None else tuple(f"{match} {label}" for match in MATCHES for label in labels)

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
