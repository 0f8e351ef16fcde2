"""`study_tuning`: how much the choice, and the score that comes with it, depend on the luck of the partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from holdsup.errors import TuningError
from holdsup.progress import Progress, no_progress
from holdsup.splits.routing import route_groups
from holdsup.studies.tuning.candidates import Params, configure, list_candidates
from holdsup.studies.tuning.options import require_folds
from holdsup.studies.tuning.pools import Floats, Pool, gather_pool
from holdsup.studies.tuning.retunings import judge_pools
from holdsup.studies.tuning.scoring import name_metric
from holdsup.studies.tuning.study_records import TuningStudy
from holdsup.studies.tuning.training import prepare_training

__all__ = ["study_tuning"]


def study_tuning(
    estimator: Any,
    candidates: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    n_candidates: int | None = None,
    j: Sequence[int] = (1, 2, 4, 8),
    k: Sequence[int] = (5,),
    partitions: int = 40,
    retunings: int = 1000,
    scoring: Any = None,
    stratify: bool | None = None,
    uneven: bool = False,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> TuningStudy:
    """Return how much tuning varies when it is repeated on other partitions of the same items.

    All candidates are trained on a pool of partitions for each K, once; every re-tuning draws J of them, with
    replacement, so that it varies as one on new partitions would.

    Parameters
    ----------
    estimator, candidates, X, y, groups, n_candidates, scoring, stratify, uneven, n_jobs, seed : as in `JKSearchCV`
    j : numbers of partitions to study
    k : numbers of folds to study
    partitions : partitions in the pool of each K; five times the largest J or more is advised, to know the best one by
    retunings : how often to tune again, at no further fits
    progress : called as work goes on

    Raises
    ------
    TuningError : as in `JKSearchCV`; a pool smaller than a J; a candidate that failed, since none may be missing
    """
    listed, fewer = list_candidates(candidates, n_candidates=n_candidates, seed=seed)
    for params in listed:
        configure(estimator, params)
    X, y, groups = indexable(X, y, groups)
    for folds in k:
        require_folds(folds, _num_samples(X))
    training = prepare_training(estimator, listed, X, y, scoring=scoring, fit_params=route_groups(estimator, groups))
    pools: dict[int, Floats] = {}
    for folds in k:
        pool = gather_pool(
            training, listed, groups, partitions=partitions, k=folds, seed=seed, stratify=stratify, uneven=uneven,
            n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
        _require_whole(pool, listed)
        pools[folds] = pool.only_means()
    study = judge_pools(pools, listed, j=j, metric=name_metric(scoring), retunings=retunings, seed=seed)
    return replace(study, warnings=(*study.warnings, *fewer))


def _require_whole(pool: Pool, candidates: Sequence[Params]) -> None:
    if pool.failures:
        first = pool.failures[0]
        raise TuningError(
            f"{len(pool.failures)} of {pool.fits} fits failed, and a study compares candidates on all partitions. Take"
            f" out {candidates[first.candidate]} ({first.place}: {first.error})"
        )
