"""The vote of trained instances on items that none of them saw (Xue et al. 2023, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError, SplitError
from holdsup.metrics import Metric, repair_tags
from holdsup.metrics.chunks import ChunkMetric
from holdsup.metrics.means import NumberError, TokenAgreement
from holdsup.metrics.pairs import plain_values
from holdsup.numerics.voting import elect
from holdsup.verdict.contest.partitions import Trained

__all__ = ["Voted", "can_vote", "vote_on"]


class Voted(NamedTuple):
    """What most predicted for each item, and how the votes went (see `VoteCount`)."""

    predictions: list[Any]
    votes: int
    ties: int
    by_probability: int
    repaired: int


def can_vote(instances: Sequence[Trained], targets: Sequence[Any], metric: Metric) -> bool:
    """Return whether there are predictions that a majority can be found for: labels or tags, not measured numbers.

    A number with a decimal point is a label if it is one of the targets: 1.0 is the class 1.
    """
    if isinstance(metric, NumberError):
        return False
    labels = {target for target in plain_values(targets) if isinstance(target, int | float)}
    return all(
        trained.predictions is not None
        and not any(isinstance(value, float) and value not in labels for value in trained.predictions)
        for trained in instances
    )


def vote_on(instances: Sequence[Trained], targets: Sequence[Any], metric: Metric) -> Voted:
    """Return the majority for each item of the corpus over the instances that were tested on it.

    Items that are sequences of tags are voted on tag by tag, and what is not valid in the metric's scheme then is
    repaired. Any other prediction, a list of labels among them, is voted on as a whole. A tie goes to the summed
    probabilities if all instances have them, else to the earlier repetition.
    """
    is_sequence = isinstance(metric, ChunkMetric | TokenAgreement)
    lengths = np.array([len(target) if is_sequence else 1 for target in targets], dtype=np.intp)
    starts = np.cumsum(lengths) - lengths
    total, voters = int(lengths.sum()), len(instances) // 2
    ballots = np.full((voters, total), -1)
    book: dict[Any, int] = {}
    for trained in instances:
        assert trained.test is not None  # an instance with predictions has it
        units = _units_of(trained.test, starts, lengths)
        said = _flatten(trained, lengths[trained.test]) if is_sequence else list(map(_key, _plain(trained)))
        for value in dict.fromkeys(said):
            book.setdefault(value, len(book))
        ballots[trained.repetition - 1, units] = np.fromiter(map(book.__getitem__, said), np.intp, len(said))
    if (ballots < 0).any():
        raise SplitError("votes need every item tested once in each repetition, but some are not")
    has_probabilities = all(trained.probabilities is not None for trained in instances)
    support = _sum_probabilities(instances, ballots, book, starts, lengths) if has_probabilities else None
    found = elect(ballots, support)
    values = list(book)
    winners = [_value(values[code]) for code in found.winner.tolist()]
    repaired = 0
    if is_sequence:
        winners = [
            winners[start : start + length] for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        ]
    if isinstance(metric, ChunkMetric):
        winners, repaired = repair_tags(winners, metric.scheme)
    ties = int(found.tied.sum())
    return Voted(winners, total, ties, ties if has_probabilities else 0, repaired)


def _units_of(test: NDArray[np.intp], starts: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places of all tokens of some items (of the items themselves, where they are no sequences)."""
    own = lengths[test]
    within = np.arange(int(own.sum())) - np.repeat(np.cumsum(own) - own, own)
    return np.repeat(starts[test], own) + within


def _plain(trained: Trained) -> list[Any]:
    assert trained.predictions is not None  # an instance that votes has them
    return plain_values(trained.predictions)


def _flatten(trained: Trained, lengths: NDArray[np.intp]) -> list[Any]:
    """Return the tags of all sequences, one after the other."""
    values = _plain(trained)
    for item, (value, length) in enumerate(zip(values, lengths.tolist(), strict=True)):
        if len(value) != length:
            raise MetricError(
                f"item {item} (counted from 0) of {trained.place} has {length} tags, but {len(value)} were predicted: "
                "one tag is needed for each token."
            )
    return list(chain.from_iterable(values))


def _sum_probabilities(
    instances: Sequence[Trained],
    ballots: NDArray[np.intp],
    book: dict[Any, int],
    starts: NDArray[np.intp],
    lengths: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return the probability, summed over voters, of what each voter chose."""
    total = np.zeros((ballots.shape[1], len(book)))
    for trained in instances:
        assert trained.test is not None
        units = _units_of(trained.test, starts, lengths)
        table = np.asarray(trained.probabilities, dtype=np.float64)
        if table.shape != (len(units), len(trained.labels)):
            raise MetricError(
                f"the probabilities of {trained.place} have the shape {table.shape}, but there are {len(units):,} "
                f"predictions and {len(trained.labels)} labels"
            )
        for column, label in enumerate(trained.labels):
            if label in book:  # a label that nobody chose cannot win
                total[units, book[label]] += table[:, column]
    return np.take_along_axis(total, ballots.T, axis=1).T


def _key(value: Any) -> Any:
    """Return what stands for a prediction in a dict."""
    return tuple(map(_key, value)) if isinstance(value, list | tuple) else value


def _value(key: Any) -> Any:
    return list(map(_value, key)) if isinstance(key, tuple) else key
