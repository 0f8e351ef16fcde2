"""The rows of a tuning's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["CandidateRow", "FailedFit", "Setting", "Status"]

Setting = str | bool | int | float | None  # a parameter as JSON can hold it
Status = Literal["pick", "alike", "worse", "dropped", "failed", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """A candidate and how it did.

    Attributes
    ----------
    index : its place among the candidates, from 0
    name : the parameters that differ between candidates
    params : all its parameters
    status : pick, alike (cannot be told from the pick), worse, dropped (could no longer beat the leader of the moment
        by more than the margin), failed (on one fold or more, so that it is not ranked) or same (the parameters of
        another one, which counts for both)
    partitions : on how many it was run to the end
    mean : mean score over its partitions; null if it failed or repeats another, as is all that follows from it
    se : standard error of the mean, between partitions; null with one
    difference : its mean minus that of the pick, on the partitions that both have
    lead : upper limit of what it is better than the pick by; null with one partition
    wins : share of partitions on which it is the best of those that did not fail, alone or with others, 0-1
    p_best : probability that it is the best over all partitions of the corpus, alone or with those of the same scores
    same_as : the candidate that it repeats, or the first that has the same scores, null if none has
    scores : on each partition; null where it failed or was not run
    """

    index: int
    name: str
    params: Mapping[str, Setting]
    status: Status
    partitions: int
    mean: float
    se: float
    difference: float
    lead: float
    wins: float
    p_best: float
    same_as: int | None
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFit:
    """A fit that gave no score.

    Attributes
    ----------
    candidate : the candidate's place, from 0
    partition : the partition, from 0
    fold : the fold in it, from 0
    error : what it said
    """

    candidate: int
    partition: int
    fold: int
    error: str
