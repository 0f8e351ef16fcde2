"""The scores of trained instances and of their votes: all that estimators are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics import Metric
from holdsup.verdict.contest.partitions import STRATEGIES, Partition, Trained
from holdsup.verdict.contest.records import FoldScore, VoteCount
from holdsup.verdict.contest.votes import Voted, can_vote, vote_on

__all__ = ["Scored", "count_votes", "list_scores", "mean_scores", "score_partitions"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """One partition, scored.

    Attributes
    ----------
    number : which partition of those given, from 1
    partition : what was trained
    folds : the score of each trained instance, by system, NaN where it is undefined
    votes : how votes went, by system; empty where there are none
    voted : the score of the votes, by system
    problem : why a score is undefined, None where all are defined
    """

    number: int
    partition: Partition
    folds: dict[str, NDArray[np.float64]]
    votes: dict[str, Voted]
    voted: dict[str, float]
    problem: str | None


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


def mean_scores(scored: Sequence[Scored]) -> dict[str, float]:
    """Return the mean score of each system over all trained instances of the splits that decide."""
    strategy = min((one.partition.strategy for one in scored), key=STRATEGIES.index)
    own = [one for one in scored if one.partition.strategy == strategy]
    return {system: float(np.mean([one.folds[system] for one in own])) for system in own[0].folds}


def count_votes(scored: Sequence[Scored]) -> tuple[VoteCount, ...]:
    """Return how the votes of each system went."""
    systems = dict.fromkeys(system for one in scored for system in one.votes)
    counts = []
    for system in systems:
        votes = [one.votes[system] for one in scored if system in one.votes]
        counts.append(
            VoteCount(
                system=system,
                votes=sum(vote.votes for vote in votes),
                ties=sum(vote.ties for vote in votes),
                by_probability=sum(vote.by_probability for vote in votes),
                repaired=sum(vote.repaired for vote in votes),
            )
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
        if all(can_vote(instances, targets, metric) for instances in partition.trained.values()):
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
                f"{where} has counts of the shape {sums.shape}, but {metric.name} has {len(metric.columns)} counts: "
                f"{', '.join(metric.columns) or 'none'}"
            )
    else:
        assert targets is not None  # all three were checked before
        assert trained.test is not None
        assert trained.predictions is not None
        known = [targets[i] for i in trained.test.tolist()]
        if not metric.columns:  # a function of all predictions
            score = metric.evaluate(known, trained.predictions)
            return score, None if np.isfinite(score) else "the function gave no finite number"
        sums = np.asarray(metric.count(known, trained.predictions).sum(axis=0))
    return float(metric.score(sums)), metric.why_undefined(sums)
