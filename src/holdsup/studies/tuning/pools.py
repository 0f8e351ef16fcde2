"""Pools: scores of candidates on all folds of some partitions."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed

from holdsup.errors import SplitError, TuningError
from holdsup.progress import Progress
from holdsup.splits import JKFold, Split
from holdsup.splits.routing import route_groups
from holdsup.studies.tuning.options import ONE_METRIC
from holdsup.studies.tuning.training import Outcome, Params, Training, prepare_training, train_unit
from holdsup.verdict.tuning.candidates import FailedFit, standard_error

Floats = NDArray[np.float64]
BATCHES = 10  # of partitions, after each of which progress is said

DIGITS = 13  # of a mean score beside the largest; a double has 15
TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Outcomes of candidates on folds; NaN where a candidate was not trained, or failed."""

    scores: dict[str, Floats]  # by metric, shape (partitions, k, candidates)
    fit_times: Floats  # seconds, same shape
    score_times: Floats  # seconds, same shape
    failures: tuple[FailedFit, ...]  # which fits failed, and why
    fits: int  # how many were made

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
        both = ((name, self.scores.get(name, blank), other.scores.get(name, blank_too)) for name in names)
        return Pool(
            scores={name: np.concatenate([ours, theirs]) for name, ours, theirs in both},
            fit_times=np.concatenate([self.fit_times, other.fit_times]),
            score_times=np.concatenate([self.score_times, other.score_times]),
            failures=(*self.failures, *(replace(each, partition=each.partition + later) for each in other.failures)),
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
    estimator: Any,
    candidates: Sequence[Params],
    X: Any,
    y: Any,
    groups: Any,
    *,
    scoring: Any,
    n_jobs: int | None,
    progress: Progress,
    strict: bool = False,
    **dealing: Any,
) -> Pool:
    """Return a pool of all candidates on the partitions that `choose_splitter` has dealt, saying how far it is."""
    X, y, groups = indexable(X, y, groups)
    fit_params = route_groups(estimator, groups)
    training = prepare_training(estimator, candidates, X, y, scoring=scoring, strict=strict, fit_params=fit_params)
    splitter = choose_splitter(estimator, y, groups, **dealing)
    dealt = deal_partitions(splitter, X, y, groups)
    pool: Pool | None = None
    while batch := list(islice(dealt, -(-splitter.j // BATCHES))):
        more = run_partitions(training, batch, candidates, range(len(candidates)), n_jobs=n_jobs)
        pool = more if pool is None else pool.joined(more)
        progress(len(pool.fit_times), splitter.j, f"partitions of {splitter.k} folds")
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
        FailedFit(candidate=c, partition=p, fold=f, error=outcome.error)
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


def digest(*scores: Floats) -> str:
    """Return eight hex digits that stand for scores in a signature."""
    return hashlib.blake2b(b"".join(np.ascontiguousarray(s).tobytes() for s in scores), digest_size=4).hexdigest()


def tabulate(pool: Pool, candidates: Sequence[Params]) -> dict[str, Any]:
    """Return `cv_results_`: splits partition by partition, means over partitions that a candidate was trained on."""
    table: dict[str, Any] = {}
    for name, times in (("fit_time", pool.fit_times), ("score_time", pool.score_times)):
        flat = times.reshape(-1, times.shape[-1])
        table[f"mean_{name}"], table[f"std_{name}"] = _each(np.mean, flat), _each(np.std, flat)
    table |= _columns(candidates)
    table["params"] = list(candidates)
    for name, scores in pool.scores.items():
        flat, means = scores.reshape(-1, scores.shape[-1]), pool.means(name)
        table |= {f"split{i}_test_{name}": row for i, row in enumerate(flat)}
        for statistic, column in (
            ("mean", _each(np.mean, means)),
            ("std", _each(np.std, flat)),
            ("se", _each(standard_error, means)),
        ):
            table[f"{statistic}_test_{name}"] = np.where(pool.failed, np.nan, column)
        table[f"rank_test_{name}"] = rank_candidates(means, pool.failed)
    table["partitions"] = pool.trained.sum(axis=0)
    return table


def rank_candidates(means: Floats, failed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return ranks from 1, equal ones for equal means.

    Candidates trained on all partitions come first: the mean of one that was dropped early is over other partitions.
    Those that failed share the last rank.
    """
    partitions, mean = np.isfinite(means).sum(axis=0), _each(np.mean, means)
    mean = np.round(mean / np.nanmax(np.abs(mean), initial=TINY), DIGITS)  # equal candidates may differ by rounding
    keys = [(True, 0, 0.0) if bad else (False, -n, -m) for bad, n, m in zip(failed, partitions, mean, strict=True)]
    ordered = sorted(keys)
    return np.array([1 + bisect_left(ordered, key) for key in keys], np.int32)


def _columns(candidates: Sequence[Params]) -> dict[str, Any]:
    """Return a masked column of objects for each parameter; masked where a candidate does not set it."""
    columns: dict[str, Any] = {}
    for index, params in enumerate(candidates):
        for name, value in params.items():
            blank = np.ma.MaskedArray(np.empty(len(candidates), object), mask=True)
            columns.setdefault(f"param_{name}", blank)[index] = value
    return columns


def _each(statistic: Callable[[Floats], Any], rows: Floats) -> Floats:
    """Return a statistic of the finite values in each column; NaN where there are none."""
    return np.array(
        [statistic(column[np.isfinite(column)]) if np.isfinite(column).any() else np.nan for column in rows.T]
    )
