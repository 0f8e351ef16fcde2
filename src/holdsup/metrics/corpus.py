"""The score of a corpus as a mean over items: influence values, by which what holds for means holds for it.

BLEU, a micro F1 or a WER is a function of summed counts, f(c_1 + ... + c_I), and no mean. Leaving out an item shows
what it adds: y_i = f + (I - 1) (m - f_i), with f_i the score without item i and m the mean of these. The mean of y is f
itself, and its variance the jackknife's (Efron & Stein, 1981): docs/maths/corpus.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.labels import AveragedMetric, LabelMetric
from holdsup.metrics.metric import Floats, Metric

TITLES = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER", "wer": "WER", "cer": "CER"}


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The counts of rows that have a score together, and what makes the score of their sum."""

    metric: Metric
    counts: Floats  # shape (rows, counts), NaN where a row has none
    signature: str = ""  # how texts were counted, where they were counted here
    pooled: bool = False  # whether several datasets are one corpus
    asked: str = ""  # how the estimate was asked for

    @property
    def title(self) -> str:
        """What the score is called: BLEU, chunk F1."""
        name, words = self.metric.name, getattr(self.metric, "word_order", 0)
        title = TITLES.get(name, name.replace("_", " ").replace("f1", "F1")) + "+" * words
        if isinstance(self.metric, AveragedMetric):
            return f"{'weighted' if self.metric.is_weighted else 'macro'} {title}"
        return f"micro {title}" if isinstance(self.metric, LabelMetric) and self.metric.labels is None else title

    def take(self, rows: NDArray[Any]) -> Corpus:
        """Return the counts of some rows (indices or a mask)."""
        return replace(self, counts=self.counts[rows])

    def influences(self, rows: NDArray[np.integer]) -> Floats:
        """Return the influence values of rows that are scored together; their mean is the score.

        Raises
        ------
        MetricError : there is no score, or none without one of the rows
        """
        counts = self.counts[rows]
        total = counts.sum(axis=0)
        if why := self.metric.why_undefined(total):
            raise MetricError(why)
        score, number = float(self.metric.score(total)), len(counts)
        if number < 2:
            return np.full(number, score)
        without = self.metric.score(total - counts)
        if not np.isfinite(without).all():
            raise Alone(int(np.flatnonzero(~np.isfinite(without))[0]))
        return np.asarray(score + (number - 1) * (without.mean() - without))

    def bootstrap(
        self,
        runs: Sequence[NDArray[np.integer]],
        weights: Floats,
        *,
        draws: int,
        seed: int,
        clusters: NDArray[np.integer] | None = None,
    ) -> Floats:
        """Return the scores of systems in samples of the items, the same for all: shape (draws, systems).

        Parameters
        ----------
        runs : the rows of each run, item by item in the same order
        weights : what each run adds to the score of each system, shape (systems, runs)
        draws, seed : number of samples, and of the generator
        clusters : the cluster of each item, drawn as a whole
        """
        from holdsup.metrics.resampling import draw_weights  # only here: it brings scipy.sparse

        beside = np.stack([self.counts[rows] for rows in runs], axis=1)  # (items, runs, counts)
        if clusters is not None:
            together = np.zeros((int(clusters.max()) + 1, *beside.shape[1:]))
            np.add.at(together, clusters, beside)
            beside = together
        flat = beside.reshape(len(beside), -1)
        scores = [
            self.metric.score((drawn @ flat).reshape(len(drawn), *beside.shape[1:])) @ weights.T
            for drawn in draw_weights(len(beside), draws, seed)
        ]
        return np.asarray(np.concatenate(scores))


class Alone(MetricError):
    """There is no score without one of the rows.

    Attributes
    ----------
    row : its place among them
    """

    def __init__(self, row: int) -> None:
        super().__init__("all that is to be found is in one item, so nothing tells how far off the score is")
        self.row = row
