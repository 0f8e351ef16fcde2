"""Chunk precision, recall and F1: a predicted chunk is right when its place and its type are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdsup.metrics.metric import Counts
from holdsup.metrics.pairs import read_sequences
from holdsup.metrics.ratios import RatioMetric
from holdsup.metrics.tags import Chunks, decode_chunks, require_scheme

__all__ = ["ChunkMetric"]


@dataclass(frozen=True, kw_only=True)
class ChunkMetric(RatioMetric):
    """Precision, recall or F1 of chunks of all types together, as conlleval has them overall.

    Attributes
    ----------
    name : as in a spec
    measure : precision, recall or f1
    zero_division : the precision where no chunk was predicted, the recall where there is none to find
    scheme : how chunks are written as tags: iob1, iob2, iobes or bilou
    """

    scheme: str

    def __post_init__(self) -> None:
        super().__post_init__()
        require_scheme(self.scheme)

    @property
    def noun(self) -> str:
        """What is to be found."""
        return "chunk"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return how many chunks of each item were matched, predicted and expected."""
        known, predicted = read_sequences(targets, predictions)
        chunks = decode_chunks([*known, *predicted], self.scheme)  # in one go, so that types have the same codes
        return _count_matches(chunks, items=len(known))


def _count_matches(chunks: Chunks, *, items: int) -> Counts:
    """Return the three counts of each item, given the chunks of all targets and then of all predictions."""
    lengths = chunks.lengths[:items]
    item = np.where(chunks.item < items, chunks.item, chunks.item - items)
    token = (np.cumsum(lengths) - lengths)[item] + chunks.start  # at most one expected chunk starts at a token
    is_expected = chunks.item < items
    stop, kind = np.full((2, int(lengths.sum())), -1)
    stop[token[is_expected]], kind[token[is_expected]] = chunks.stop[is_expected], chunks.kind[is_expected]
    is_match = ~is_expected & (stop[token] == chunks.stop) & (kind[token] == chunks.kind)
    return np.stack([np.bincount(item[them], minlength=items) for them in (is_match, ~is_expected, is_expected)], 1)
