"""Pools: what candidates scored on the folds of some partitions, however that is used afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed

from holdsup.errors import SplitError, TuningError
from holdsup.progress import Progress
from holdsup.splits import JKFold, Split
from holdsup.studies.tuning.candidates import Params
from holdsup.studies.tuning.scoring import ONE_METRIC
from holdsup.studies.tuning.training import Outcome, Training, train_unit

__all__ = ["Failure", "Floats", "Pool", "collect_pool", "deal_partitions", "digest", "gather_pool", "run_partitions"]

Floats = NDArray[np.float64]
BATCHES = 10  # of partitions, after each of which progress is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A candidate that could not be trained or scored on a fold.

    Attributes
    ----------
    candidate : its place among the candidates, from 0
    partition : the partition, from 0
    fold : the fold in it, from 0
    error : what it said
    """

    candidate: int
    partition: int
    fold: int
    error: str

    @property
    def place(self) -> str:
        """Where it failed, for a message: counted from 1, as in tables."""
        return f"fold {self.fold + 1} of partition {self.partition + 1}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Outcomes of candidates on folds; NaN where a candidate was not trained, or failed.

    Attributes
    ----------
    scores : by metric, shape (partitions, k, candidates)
    fit_times : seconds, same shape
    score_times : seconds, same shape
    failures : which fits failed, and why
    fits : how many were made
    """

    scores: dict[str, Floats]
    fit_times: Floats
    score_times: Floats
    failures: tuple[Failure, ...]
    fits: int

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Which candidates were trained on which partitions, shape (partitions, candidates)."""
        return np.asarray(np.isfinite(self.fit_times).any(axis=1))

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which candidates failed on one fold or more, shape (candidates,)."""
        bad = np.zeros(self.fit_times.shape[-1], bool)
        bad[[failure.candidate for failure in self.failures]] = True
        return bad

    def means(self, metric: str) -> Floats:
        """Return mean scores over the folds of each partition, shape (partitions, candidates); NaN if one failed."""
        return np.asarray(self.scores[metric].mean(axis=1))

    def only_means(self) -> Floats:
        """Return `means` of the only metric; refuse several, of which a study would not know which to take."""
        if list(self.scores) != [ONE_METRIC]:
            raise TuningError(f"scoring gives {', '.join(self.scores)}: give one metric")
        return self.means(ONE_METRIC)

    def joined(self, other: Pool) -> Pool:
        """Return the pool of these partitions, then the other's."""
        later = len(self.fit_times)
        names = dict.fromkeys((*self.scores, *other.scores))  # a pool in which all failed knows no metric
        blank, blank_too = np.full_like(self.fit_times, np.nan), np.full_like(other.fit_times, np.nan)
        return Pool(
            scores={
                name: np.concatenate([self.scores.get(name, blank), other.scores.get(name, blank_too)])
                for name in names
            },
            fit_times=np.concatenate([self.fit_times, other.fit_times]),
            score_times=np.concatenate([self.score_times, other.score_times]),
            failures=(*self.failures, *(_shifted(failure, later) for failure in other.failures)),
            fits=self.fits + other.fits,
        )


def choose_splitter(
    estimator: Any, y: Any, groups: Any, *, j: int, k: int, seed: int, stratify: bool | None, uneven: bool
) -> JKFold:
    """Return what deals j partitions of k folds.

    Parameters
    ----------
    stratify : whether classes have the same share in all folds; None does so for a classifier, as scikit-learn does,
        and as nearly as can be where a class has fewer items than there are folds
    uneven : whether folds may be very unequal because of large groups
    """
    spread = {"stratify": stratify} if stratify is not None else _spread_classes(estimator, _flat(y), k, groups)
    try:
        return JKFold(j=j, k=k, seed=seed, uneven=uneven, **spread)
    except SplitError as error:
        raise TuningError(str(error)) from error


def deal_partitions(splitter: JKFold, X: Any, y: Any, groups: Any) -> Iterator[list[Split]]:
    """Yield partitions of the items, each a list of k splits, dealt as they are asked for."""
    try:
        splits = splitter.split(X, _flat(y), groups)
        while partition := list(islice(splits, splitter.k)):
            yield partition
    except SplitError as error:
        raise TuningError(str(error)) from error


def run_partitions(
    training: Training,
    partitions: Sequence[list[Split]],
    candidates: Sequence[Params],
    chosen: Sequence[int],
    *,
    n_jobs: int | None,
) -> Pool:
    """Return what the chosen candidates score on all folds of some partitions.

    Work is handed out by fold and first stage, through scikit-learn's joblib: its processes know scikit-learn's
    configuration, share large arrays, and follow ``joblib.parallel_config``, with which Dask takes their place.
    """
    numbered = [(index, candidates[index]) for index in chosen]
    first = training.stages[0]
    alone = len(training.stages) == 1  # nothing is shared: each candidate is a unit of work
    units = [[candidate] for candidate in numbered] if alone else first.branch(numbered)
    places = [(p, f) for p, partition in enumerate(partitions) for f in range(len(partition)) for _ in units]
    done = Parallel(n_jobs=n_jobs)(
        delayed(train_unit)(training, split, unit) for partition in partitions for split in partition for unit in units
    )
    outcomes = [(p, f, index, out) for (p, f), unit in zip(places, done, strict=True) for index, out in unit]
    return collect_pool(outcomes, (len(partitions), len(partitions[0]), len(candidates)))


def gather_pool(
    training: Training,
    candidates: Sequence[Params],
    groups: Any,
    *,
    partitions: int,
    k: int,
    seed: int,
    stratify: bool | None,
    uneven: bool,
    n_jobs: int | None,
    progress: Progress,
) -> Pool:
    """Return a pool of all candidates on so many partitions, saying how far it is."""
    estimator, X, y = training.estimator, training.X, training.y
    splitter = choose_splitter(estimator, y, groups, j=partitions, k=k, seed=seed, stratify=stratify, uneven=uneven)
    dealt = deal_partitions(splitter, X, y, groups)
    pool: Pool | None = None
    while batch := list(islice(dealt, -(-partitions // BATCHES))):
        more = run_partitions(training, batch, candidates, range(len(candidates)), n_jobs=n_jobs)
        pool = more if pool is None else pool.joined(more)
        progress(len(pool.fit_times), partitions, f"partitions of {k} folds")
    assert pool is not None  # a splitter has one partition or more
    return pool


def collect_pool(outcomes: Sequence[tuple[int, int, int, Outcome]], shape: tuple[int, int, int]) -> Pool:
    """Return the pool of outcomes, each with its partition, fold and candidate."""
    names = dict.fromkeys(name for *_, outcome in outcomes for name in outcome.scores)
    scores = {name: np.full(shape, np.nan) for name in names}
    fit_times, score_times = np.full(shape, np.nan), np.full(shape, np.nan)
    for *place, outcome in outcomes:
        at = tuple(place)
        fit_times[at], score_times[at] = outcome.fit_time, outcome.score_time
        for name, score in outcome.scores.items():
            scores[name][at] = score
    failures = tuple(
        Failure(candidate=c, partition=p, fold=f, error=outcome.error)
        for p, f, c, outcome in outcomes
        if outcome.error is not None
    )
    return Pool(
        scores=scores, fit_times=fit_times, score_times=score_times, failures=failures, fits=len(outcomes)
    )  # fmt: skip


def _flat(y: Any) -> Any:
    """Return a single column of targets as a list of them; the estimator may have its own opinion of it."""
    return np.ravel(y) if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1 else y


def _spread_classes(estimator: Any, y: Any, k: int, groups: Any) -> dict[str, Any]:
    """Return the splitter's option that spreads the classes of a classifier over folds, if there are classes."""
    if y is None or not is_classifier(estimator) or type_of_target(y) not in ("binary", "multiclass"):
        return {}
    sizes = np.unique(np.asarray(y), return_counts=True)[1]
    if len(sizes) < 2:
        return {}
    return {"stratify": True} if groups is not None or sizes.min() >= k else {"match": "targets"}


def _shifted(failure: Failure, partitions: int) -> Failure:
    return Failure(
        candidate=failure.candidate,
        partition=failure.partition + partitions,
        fold=failure.fold,
        error=failure.error,
    )


def digest(*scores: Floats) -> str:
    """Return eight hex digits that stand for scores in a signature."""
    return hashlib.blake2b(b"".join(np.ascontiguousarray(s).tobytes() for s in scores), digest_size=4).hexdigest()
