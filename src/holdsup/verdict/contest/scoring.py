"""The scores of trained instances and of their votes (Xue et al. 2023, Table 2): all that estimators are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError, SplitError
from holdsup.metrics import Metric, repair_tags
from holdsup.metrics.chunks import ChunkMetric
from holdsup.metrics.means import NumberError, TokenAgreement
from holdsup.metrics.metric import plain_values
from holdsup.numerics.contests import elect
from holdsup.verdict.contest.partitions import Partition, Trained
from holdsup.verdict.contest.records import FoldScore, VoteCount


class Voted(NamedTuple):
    """What most predicted for each item, and how the votes went (see `VoteCount`)."""

    predictions: list[Any]
    votes: int
    ties: int
    by_probability: int
    repaired: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """One partition, scored."""

    number: int  # which partition of those given, from 1
    partition: Partition  # what was trained
    folds: dict[str, NDArray[np.float64]]  # the score of each trained instance, by system, NaN where it is undefined
    votes: dict[str, Voted]  # how votes went, by system; empty where there are none
    voted: dict[str, float]  # the score of the votes, by system
    problem: str | None  # why a score is undefined, None where all are defined


def score_partitions(partitions: Sequence[Partition], targets: Sequence[Any] | None, metric: Metric) -> list[Scored]:
    """Return all partitions scored; one that has an undefined score says why."""
    return [_score(partition, number, targets, metric) for number, partition in enumerate(partitions, start=1)]


def list_scores(scored: Sequence[Scored]) -> tuple[FoldScore, ...]:
    """Return the score of each trained instance."""
    return tuple(
        FoldScore(
            strategy=one.partition.strategy,
            partition=one.number,
            repetition=trained.repetition,
            fold=trained.fold,
            system=system,
            items=None if trained.test is None else len(trained.test),
            score=float(score),
        )
        for one in scored
        for system, instances in one.partition.trained.items()
        for trained, score in zip(instances, one.folds[system], strict=True)
    )


def count_votes(scored: Sequence[Scored]) -> tuple[VoteCount, ...]:
    """Return how the votes of each system went."""
    systems = dict.fromkeys(system for one in scored for system in one.votes)
    counts = []
    for system in systems:
        own = [one.votes[system][1:] for one in scored if system in one.votes]
        votes, ties, by_probability, repaired = map(sum, zip(*own, strict=True))
        counts.append(
            VoteCount(system=system, votes=votes, ties=ties, by_probability=by_probability, repaired=repaired)
        )
    return tuple(counts)


def _score(partition: Partition, number: int, targets: Sequence[Any] | None, metric: Metric) -> Scored:
    folds, problem = {}, None
    for system, instances in partition.trained.items():
        scores = []
        for trained in instances:
            where = f"{system} in {trained.place}, partition {number}"
            score, why = _score_trained(trained, targets, metric, where)
            problem = problem or (None if why is None else f"{metric.name} of {where} is undefined: {why}")
            scores.append(score)
        folds[system] = np.array(scores)
    votes: dict[str, Voted] = {}
    voted: dict[str, float] = {}
    if partition.strategy == "blocked" and targets is not None:
        if all(_can_vote(instances, targets, metric) for instances in partition.trained.values()):
            votes = {system: vote_on(own, targets, metric) for system, own in partition.trained.items()}
            voted = {system: metric.evaluate(targets, vote.predictions) for system, vote in votes.items()}
        for system, score in voted.items():
            if not np.isfinite(score):
                problem = problem or f"{metric.name} of the votes of {system}, partition {number}, is undefined"
    return Scored(number=number, partition=partition, folds=folds, votes=votes, voted=voted, problem=problem)


def _score_trained(
    trained: Trained, targets: Sequence[Any] | None, metric: Metric, where: str
) -> tuple[float, str | None]:
    """Return the score of a trained instance, and why there is none."""
    if trained.counts is not None:
        sums = np.asarray(trained.counts, dtype=np.float64)
        if sums.shape != (len(metric.columns),) or not metric.columns:
            raise MetricError(
                f"{where} has counts of shape {sums.shape}, but {metric.name} needs {len(metric.columns)} counts: "
                f"{', '.join(metric.columns) or 'give predictions instead'}"
            )
    else:
        assert targets is not None  # all three were checked before
        assert trained.test is not None
        assert trained.predictions is not None
        known = [targets[i] for i in trained.test.tolist()]
        if not metric.columns:  # a function of all predictions
            score = metric.evaluate(known, trained.predictions)
            return score, None if np.isfinite(score) else "the function did not return a finite number"
        sums = np.asarray(metric.count(known, trained.predictions).sum(axis=0))
    return float(metric.score(sums)), metric.why_undefined(sums)


def _can_vote(instances: Sequence[Trained], targets: Sequence[Any], metric: Metric) -> bool:
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
        raise SplitError(
            "votes need every item tested in every repetition, but some items were not: use complete folds"
        )
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
                f"item {item} (from 0) of {trained.place} has {length} tokens, but {len(value)} tags were predicted: "
                "give one tag for each token"
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
                f"the probabilities of {trained.place} have shape {table.shape}, but there are {len(units):,} "
                f"predictions and {len(trained.labels)} labels: give a row for each prediction, a column for each label"
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
