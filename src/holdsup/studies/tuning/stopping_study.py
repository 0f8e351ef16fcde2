"""`study_stopping`: what a validation set for early stopping adds to the spread of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils import indexable

from holdsup.errors import TuningError
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Table
from holdsup.rendering.table import Percent
from holdsup.results import Result, Rows, sign
from holdsup.splits.routing import route_groups
from holdsup.studies.tuning.candidates import Params, configure
from holdsup.studies.tuning.pools import digest, gather_pool
from holdsup.studies.tuning.scoring import name_metric
from holdsup.studies.tuning.training import prepare_training

__all__ = ["StoppingStudy", "limit_share", "split_variance", "study_stopping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingStudy(Result):
    """How much of the variance of a K-fold estimate comes from the cut of the validation sets.

    Attributes
    ----------
    metric : the score
    partitions : how many partitions
    cuts : how often the validation sets were cut anew on each
    k : folds of a partition
    mean : mean score
    sd_partition : standard deviation that the partition gives
    sd_cut : standard deviation that the cut gives, on the same partition
    sd : standard deviation of a K-fold estimate with a new partition and a new cut
    share : share of the cut in its variance, 0-1
    share_low : lower limit of the share, 95%; null where nothing varies
    share_high : upper limit of the share
    mean_whole : mean score of the same estimator without early stopping; null if it was not asked for
    sd_whole : standard deviation of its estimates between partitions
    """

    kind: ClassVar[str] = "stopping-study"

    metric: str
    partitions: int
    cuts: int
    k: int
    mean: float
    sd_partition: float
    sd_cut: float
    sd: float
    share: float
    share_low: float
    share_high: float
    mean_whole: float
    sd_whole: float

    def tables(self) -> tuple[Table, ...]:
        """Return the sources of the spread."""
        return (
            Table(
                title=f"Spread of a {self.k}-fold estimate of {self.metric}",
                columns=("source", "sd", "share of variance"),
                rows=(
                    ("partition", self.sd_partition, Percent(100 * (1 - self.share))),
                    ("cut of the validation sets", self.sd_cut, Percent(100 * self.share)),
                    ("both", self.sd, Percent(100.0)),
                    ("without early stopping", self.sd_whole, None),
                ),
                notes=(
                    f"{self.partitions} partitions, {self.cuts} cuts of each; 95% limits of the share of the cut "
                    f"{100 * self.share_low:.0f}% to {100 * self.share_high:.0f}%.",
                ),
            ),
        )


def study_stopping(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cut: str = "seed",
    whole: Params | None = None,
    groups: Any = None,
    partitions: int = 20,
    cuts: int = 5,
    k: int = 5,
    scoring: Any = None,
    stratify: bool | None = None,
    uneven: bool = False,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> StoppingStudy:
    """Return what the validation sets of an early-stopping estimator add to the spread of its K-fold estimates.

    Each partition is scored several times, with other validation sets cut from the same training parts.

    Parameters
    ----------
    estimator : one that cuts a validation set from what it is given, such as `EarlyStopping`
    cut : the parameter that is the seed of the cut
    whole : parameters that turn early stopping off, for comparison
    partitions : how many partitions, two or more
    cuts : how many cuts of each, two or more
    X, y, groups, k, scoring, stratify, uneven, n_jobs, seed : as in `JKSearchCV`
    progress : called as work goes on
    """
    if min(partitions, cuts) < 2:
        raise TuningError(f"there are {partitions} partitions and {cuts} cuts: a spread needs two or more of each")
    candidates: list[Params] = [{cut: i} for i in range(cuts)] + ([whole] if whole is not None else [])
    for params in candidates:
        configure(estimator, params)
    X, y, groups = indexable(X, y, groups)
    training = prepare_training(
        estimator, candidates, X, y, scoring=scoring, strict=True, fit_params=route_groups(estimator, groups)
    )
    pool = gather_pool(
        training, candidates, groups, partitions=partitions, k=k, seed=seed, stratify=stratify, uneven=uneven,
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    means = pool.only_means()
    between, within = split_variance(means[:, :cuts])
    total = between + within
    share = within / total if total > 0 else float("nan")
    low, high = limit_share(means[:, :cuts]) if total > 0 else (float("nan"), float("nan"))
    metric = name_metric(scoring)
    alone = means[:, cuts:]
    return StoppingStudy(
        signature=sign(
            "stopping-study", scores=digest(means), metric=metric, partitions=partitions, cuts=cuts, k=k, seed=seed
        ),
        seed=seed,
        rows=Rows(pool.fits, pool.fits),
        verdict=(
            f"Of the variance of a {k}-fold estimate of {metric}, {100 * share:.0f}% (95% limits {100 * low:.0f}% to"
            f" {100 * high:.0f}%) comes from the cut of the validation sets and the rest from the partition; its"
            f" standard deviation is {total**0.5:.3g}, {between**0.5:.3g} without the cut. More partitions (a larger J)"
            " make both smaller."
        )
        if total > 0
        else f"Estimates of {metric} do not vary, neither with the partition nor with the cut.",
        metric=metric,
        partitions=partitions,
        cuts=cuts,
        k=k,
        mean=float(means[:, :cuts].mean()),
        sd_partition=between**0.5,
        sd_cut=within**0.5,
        sd=total**0.5,
        share=share,
        share_low=low,
        share_high=high,
        mean_whole=float(alone.mean()) if alone.size else float("nan"),
        sd_whole=float(alone.std(ddof=1)) if alone.size else float("nan"),
    )


def split_variance(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return the variance between rows and within rows, by analysis of variance; none is below zero.

    >>> split_variance(np.array([[1.0, 3.0], [5.0, 7.0]]))
    (7.0, 2.0)
    """
    cuts = scores.shape[1]
    within = float(scores.var(axis=1, ddof=1).mean())
    between = float(scores.mean(axis=1).var(ddof=1)) - within / cuts
    return max(0.0, between), within


def limit_share(scores: NDArray[np.float64], level: float = 0.95) -> tuple[float, float]:
    """Return limits of the share of the variance within rows: exact for normal scores (Searle 1971, section 9.8)."""
    rows, cuts = scores.shape
    within = float(scores.var(axis=1, ddof=1).mean())
    if within == 0:
        return 0.0, 0.0
    ratio = cuts * float(scores.mean(axis=1).var(ddof=1)) / within
    tail = (1 - level) / 2
    df, df2 = rows - 1, rows * (cuts - 1)
    low, high = (cuts / (cuts - 1 + max(ratio / float(special.fdtri(df, df2, p)), 1.0)) for p in (tail, 1 - tail))
    return low, high
