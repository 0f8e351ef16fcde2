"""`study_estimates`: how much an estimate of performance moves with the partition (the paper's Figures 1 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from holdsup.errors import TuningError
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Table
from holdsup.rendering.table import Estimate
from holdsup.results import Result, Rows, sign
from holdsup.splits.routing import route_groups
from holdsup.studies.tuning.pools import digest, gather_pool
from holdsup.studies.tuning.scoring import ONE_METRIC, name_metric
from holdsup.studies.tuning.training import prepare_training

__all__ = ["EstimateStudy", "Estimates", "study_estimates"]

FIGURE_1 = (2, 3, 5, 10, 15, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Estimates of one system's performance that differ in the partition alone.

    Attributes
    ----------
    scheme : "split" for one test set of 1/k of the items, "folds" for K-fold cross-validation
    k : folds, or one over the share of the test set
    fits : fits of one estimate
    mean : of the estimates
    sd : their standard deviation
    low : the smallest
    high : the largest
    values : all of them
    """

    scheme: Literal["split", "folds"]
    k: int
    fits: int
    mean: float
    sd: float
    low: float
    high: float
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateStudy(Result):
    """How much estimates of one system's performance differ between partitions of the same items.

    Attributes
    ----------
    metric : the score
    partitions : estimates of each kind
    fits : all fits made
    estimates : by scheme and K
    """

    kind: ClassVar[str] = "estimate-study"

    metric: str
    partitions: int
    fits: int
    estimates: tuple[Estimates, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the spread of each kind of estimate."""
        names = {"split": "single split, 1/K tested", "folds": "K folds"}
        return (
            Table(
                title=f"{self.metric} on {self.partitions} partitions",
                columns=("estimate", "K", "fits", "mean", "sd", "smallest", "largest"),
                rows=tuple(
                    (names[e.scheme], e.k, e.fits, Estimate(e.mean, e.sd), e.sd, e.low, e.high) for e in self.estimates
                ),
            ),
        )


def study_estimates(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    k: Sequence[int] = FIGURE_1,
    partitions: int = 100,
    scoring: Any = None,
    stratify: bool | None = None,
    uneven: bool = False,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> EstimateStudy:
    """Return how much single splits and K-fold means differ between partitions of the same items.

    A single split that tests 1/K of the items is the first fold of a K-fold partition: it takes no further fits.

    Parameters
    ----------
    estimator, X, y, groups, scoring, stratify, uneven, n_jobs, seed : as in `JKSearchCV`
    k : numbers of folds, 2 or more
    partitions : how many estimates of each kind
    progress : called as work goes on
    """
    if partitions < 2:
        raise TuningError(f"partitions is {partitions}: a spread needs two or more")
    X, y, groups = indexable(X, y, groups)
    training = prepare_training(
        estimator, [{}], X, y, scoring=scoring, strict=True, fit_params=route_groups(estimator, groups)
    )
    folds = []
    for count in k:
        pool = gather_pool(
            training, [{}], groups, partitions=partitions, k=count, seed=seed, stratify=stratify, uneven=uneven,
            n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
        pool.only_means()
        folds.append(pool.scores[ONE_METRIC][:, :, 0])
    found = [_describe("split", scores[:, 0], scores.shape[1]) for scores in folds]
    found += [_describe("folds", scores.mean(axis=1), scores.shape[1]) for scores in folds]
    fits, metric = partitions * sum(k), name_metric(scoring)
    return EstimateStudy(
        signature=sign(
            "estimate-study", scores=digest(*folds), metric=metric, k=",".join(map(str, k)), partitions=partitions,
            seed=seed,
        ),
        seed=seed,
        rows=Rows(fits, fits),
        verdict=_say(found, metric),
        metric=metric,
        partitions=partitions,
        fits=fits,
        estimates=tuple(found),
    )  # fmt: skip


def _describe(scheme: Literal["split", "folds"], values: NDArray[np.float64], k: int) -> Estimates:
    return Estimates(
        scheme=scheme,
        k=k,
        fits=1 if scheme == "split" else k,
        mean=float(values.mean()),
        sd=float(values.std(ddof=1)),
        low=float(values.min()),
        high=float(values.max()),
        values=tuple(map(float, values)),
    )


def _say(found: Sequence[Estimates], metric: str) -> str:
    split = max((e for e in found if e.scheme == "split"), key=lambda e: e.sd)
    whole = min((e for e in found if e.scheme == "folds"), key=lambda e: e.sd)
    return (
        f"On the same items, {metric} by a single split that tests 1/{split.k} of them lies anywhere from"
        f" {split.low:.3g} to {split.high:.3g}; by {whole.k}-fold cross-validation from {whole.low:.3g} to"
        f" {whole.high:.3g}. The partition alone makes that difference."
    )
