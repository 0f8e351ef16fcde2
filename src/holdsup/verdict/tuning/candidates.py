"""Candidates: their names, which of them are one and the same, and what is known of each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.arithmetic import largest, without_noise
from holdsup.numerics.tuning import Bounds, Standing, count_wins
from holdsup.rendering.numbers import format_number
from holdsup.results import Result

Floats = NDArray[np.float64]
Setting = str | bool | int | float | None  # a parameter as JSON can hold it
Status = Literal["pick", "alike", "worse", "dropped", "failed", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """A candidate and how it did."""

    index: int  # its place among the candidates, from 0
    name: str  # the parameters that differ between candidates
    params: Mapping[str, Setting]  # all its parameters
    # pick, alike (can't be told apart from the pick), worse, dropped (could no longer beat the leader of the moment by
    # more than the margin), failed (on one fold or more, so that it is not ranked) or same (the parameters of another
    # one, which counts for both)
    status: Status
    partitions: int  # on how many it was run to the end
    mean: float  # mean score over its partitions; null if it failed or repeats another, as is all that follows from it
    se: float  # standard error of the mean, between partitions; null with one
    difference: float  # its mean minus that of the pick, on the partitions that both have
    # the most that it could be better than the pick, all candidates together at the level; null with one partition
    lead: float
    wins: float  # share of partitions on which it is the best of those that did not fail, alone or with others, 0-1
    # probability that it is the best over all partitions of the corpus, alone or with those of the same scores
    p_best: float
    same_as: int | None  # the candidate that it repeats, or the first that has the same scores, null if none has
    scores: tuple[float, ...]  # on each partition; null where it failed or was not run


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFit:
    """A fit that gave no score."""

    candidate: int  # the candidate's place, from 0
    partition: int  # the partition, from 0
    fold: int  # the fold in it, from 0
    error: str  # what it said

    @property
    def place(self) -> str:
        """Where it failed, for a message: counted from 1, as in tables."""
        return f"fold {self.fold + 1} of partition {self.partition + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningNumbers(Result):
    """All that is known of a tuning, which its words and tables are made from."""

    kind: ClassVar[str] = "tune"
    counted: ClassVar[str] = "score"
    main_table: ClassVar[str] = "candidates"

    metric: str  # what the scores are
    higher_is_better: bool  # whether larger scores are better
    level: float  # confidence of what is said
    partitions: int  # how many, J
    # how many more were asked for, but are copies of others and were left out: few groups allow few partitions
    copies: int
    k: int  # folds of a partition
    fits: int  # how many fits were made
    budget: int | None  # the most fits, null if there was no limit
    margin: float  # a difference in score that does not matter
    adaptive: bool  # whether candidates were dropped on the way
    grouped: bool | None  # whether partitions kept groups of items whole; null where that is not known
    stop: str | None  # why an adaptive tuning ended: within margin, budget spent, all partitions run
    best: str  # name of the pick
    best_index: int  # its place among the candidates, from 0
    probability: float  # that the pick is the best over all partitions of this corpus, 0-1; null with one partition
    regret: float  # the most that another candidate could be better than the pick, over all partitions; null with one
    taken: int | None = None  # place of the candidate that was taken instead, null where the pick was
    candidates: tuple[CandidateRow, ...]  # all of them, in their order
    failures: tuple[FailedFit, ...]  # fits that gave no score
    next: tuple[str, ...]  # what more partitions would bring

    @property
    def pick(self) -> CandidateRow:
        """The candidate to take."""
        return self.candidates[self.best_index]

    @property
    def alike(self) -> tuple[CandidateRow, ...]:
        """The candidates that can't be told apart from the pick, without it."""
        return tuple(row for row in self.candidates if row.status == "alike")

    @property
    def different(self) -> tuple[CandidateRow, ...]:
        """The candidates, each setting once."""
        return tuple(row for row in self.candidates if row.status != "same")

    def ranked(self) -> list[CandidateRow]:
        """Return the candidates in the order of their status and means: the pick, then the best; failed ones last."""
        sign = -1 if self.higher_is_better else 1
        order = {"pick": 0, "alike": 1, "worse": 1, "dropped": 2, "failed": 3, "same": 4}

        def place(row: CandidateRow) -> tuple[int, float, int]:
            return order[row.status], 0.0 if row.status in ("failed", "same") else sign * row.mean, row.index

        return sorted(self.candidates, key=place)


def list_candidates(
    table: Floats,
    candidates: Sequence[Mapping[str, Any]],
    standing: Standing,
    limits: Bounds,
    chances: Floats,
    failed: NDArray[np.bool_],
    repeated: NDArray[np.intp],
    sign_of: float,
) -> tuple[CandidateRow, ...]:
    """Return a row for each candidate, in their order; `sign_of` is -1 where smaller scores are better."""
    out = failed | (repeated != np.arange(len(candidates)))
    same = np.where(repeated != np.arange(len(candidates)), repeated, standing.twins)
    wins = count_wins(np.where(out, np.nan, sign_of * table))
    names = name_candidates(candidates)
    return tuple(
        CandidateRow(
            index=c,
            name=names[c],
            params={key: _plain(value) for key, value in candidates[c].items()},
            status="same" if repeated[c] != c else _status(c, standing, limits, failed, len(table)),
            partitions=int(np.isfinite(table[:, c]).sum()),
            mean=sign_of * float(standing.means[c]),
            se=standard_error(table[:, c]) if not out[c] else float("nan"),
            difference=sign_of * float(standing.gaps[c]) + 0.0,  # no negative zero
            lead=float(limits.upper[c]),
            wins=float("nan") if out[c] else float(wins[c]),
            p_best=float("nan") if out[c] else float(chances[c]),
            same_as=int(same[c]) if same[c] != c and (repeated[c] != c or not failed[c]) else None,
            scores=tuple(map(float, table[:, c])),
        )
        for c in range(len(candidates))
    )


def _status(c: int, standing: Standing, limits: Bounds, failed: NDArray[np.bool_], partitions: int) -> Status:
    if failed[c]:
        return "failed"
    if c == standing.pick:
        return "pick"
    if standing.counts[c] < partitions:
        return "dropped"
    return "alike" if limits.alike[c] else "worse"


def standard_error(scores: Floats) -> float:
    """Return the standard error of the mean of the scores that are there; NaN for one, zero if they are the same.

    >>> standard_error(np.array([0.7562147366068935, 0.7562147366068936])), standard_error(np.array([1.0, 3.0, np.nan]))
    (0.0, 1.0)
    """
    own = scores[np.isfinite(scores)]
    if len(own) < 2:
        return float("nan")
    left = without_noise(own - own.mean(), largest(own))
    return float(np.sqrt((left**2).sum() / (len(own) - 1) / len(own)))


def name_candidates(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each candidate: the parameters that not all have alike, by their shortest clear names.

    >>> name_candidates([{"svc__C": 1, "svc__kernel": "rbf"}, {"svc__C": 10.0, "svc__kernel": "rbf"}])
    ['C=1', 'C=10']
    """
    plain = [{key: _plain(value) for key, value in each.items()} for each in candidates]
    keys = list(dict.fromkeys(key for each in plain for key in each))
    differing = [key for key in keys if len({repr(each.get(key, "absent")) for each in plain}) > 1] or keys
    shorts = _shorten(differing)
    names = [", ".join(f"{shorts[key]}={_write(each[key])}" for key in differing if key in each) for each in plain]
    return [name or "no parameters" for name in names]


def digest_candidates(candidates: Sequence[Mapping[str, Any]]) -> str:
    """Return eight hex digits that stand for all parameters of all candidates, in their order."""
    plain = [{key: _plain(value) for key, value in each.items()} for each in candidates]
    return hashlib.sha256(repr(plain).encode()).hexdigest()[:8]


def _plain(value: Any) -> Setting:
    """Return a parameter as JSON can hold it: numbers as they are, objects by their names."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    # Where in memory an object is, is no part of what it is.
    return str(getattr(value, "__qualname__", None) or re.sub(r" at 0x[0-9a-f]+", "", repr(value)))


def _write(value: Setting) -> str:
    return format_number(value) if isinstance(value, float) else str(value)


def _shorten(keys: Sequence[str]) -> dict[str, str]:
    """Return the last part of each name, as in svc__C, unless two would be the same."""
    last = {key: key.rpartition("__")[2] for key in keys}
    return last if len(set(last.values())) == len(last) else {key: key for key in keys}


def identify_settings(params: Mapping[str, Any], *, typed: bool = True) -> Hashable:
    """Return what two candidates have in common if they are the same; unless `typed`, 1 and 1.0 are.

    >>> identify_settings({"C": 1}) == identify_settings({"C": 1.0})
    False
    >>> identify_settings({"C": 1}, typed=False) == identify_settings({"C": 1.0}, typed=False)
    True
    """
    return frozenset((name, _identify(value, typed)) for name, value in params.items())


def find_repeated(candidates: Sequence[Mapping[str, Any]], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return for each candidate the one that it repeats, itself if none; scores have shape (partitions, candidates).

    Equal parameters make one candidate, and so do numbers that differ in type alone (1 and 1.0) if scores are the same:
    to some estimators 1 is one item, and 1.0 all of them. Of several, the first that was run most often stays.
    """
    run = np.isfinite(scores)
    repeated = np.arange(len(candidates))
    kept: dict[Hashable, list[int]] = {}
    for c in np.argsort(-run.sum(axis=0), kind="stable").tolist():
        others = kept.setdefault(identify_settings(candidates[c], typed=False), [])
        for other in others:
            both = run[:, c] & run[:, other]
            same_scores = both.any() and bool((scores[both, c] == scores[both, other]).all())
            if same_scores or identify_settings(candidates[c]) == identify_settings(candidates[other]):
                repeated[c] = other
                break
        else:
            others.append(c)
    return repeated


def _identify(value: Any, typed: bool) -> Hashable:
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, str | bool):
        return type(value), value
    if isinstance(value, int | float):
        return type(value) if typed else float, "nan" if value != value else value
    if isinstance(value, list | tuple):
        return type(value), *(_identify(each, typed) for each in value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value), identify_settings(value.get_params(deep=False), typed=typed)
    return object, id(value)  # a function, say, of which nothing tells what it does
