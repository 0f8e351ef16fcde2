"""How much estimates move with the partition, and with the cut of a validation set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.errors import TuningError
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Answer, Table
from holdsup.rendering.numbers import format_counted, format_interval
from holdsup.rendering.table import Estimate, Interval, Percent
from holdsup.results import Asked, Method, Result, Rows
from holdsup.studies.tuning.options import ONE_METRIC, name_metric
from holdsup.studies.tuning.pools import digest, gather_pool
from holdsup.studies.tuning.stability import answer_study, describe_study
from holdsup.studies.tuning.training import Params, configure

FIGURE_1 = (2, 3, 5, 10, 15, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Estimates of one system's performance that differ in the partition alone."""

    # "split" for one test set of 1/k of the items, "folds" for K-fold cross-validation
    scheme: Literal["split", "folds"]
    k: int  # folds, or one over the share of the test set
    fits: int  # fits of one estimate
    mean: float  # of the estimates
    sd: float  # their standard deviation
    low: float  # the smallest
    high: float  # the largest
    values: tuple[float, ...]  # all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateStudy(Result):
    """How much estimates of one system's performance differ between partitions of the same items."""

    kind: ClassVar[str] = "estimate-study"

    metric: str  # the score
    partitions: int  # estimates of each kind
    fits: int  # all fits made
    estimates: tuple[Estimates, ...]  # by scheme and K

    def answer(self) -> Answer:
        """Return how far single splits and cross-validation move with the partition."""
        split = max((e for e in self.estimates if e.scheme == "split"), key=lambda e: e.sd)
        whole = min((e for e in self.estimates if e.scheme == "folds"), key=lambda e: e.sd)
        return answer_study(
            self,
            headline=f"On the same items, {self.metric} ranges from {split.low:.3g} to {split.high:.3g} with one split "
            f"(1/{split.k} tested), from {whole.low:.3g} to {whole.high:.3g} with {whole.k} folds.",
            table=self._tabulate(written=False),
            foot=(("holds for", "this system on other partitions of these items"),),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        done = (
            f"One system was scored on {self.partitions} partitions of the same items, by single splits and by folds."
        )
        return describe_study(self, done)

    def tables(self) -> tuple[Table, ...]:
        """Return the spread of each kind of estimate."""
        return (self._tabulate(),)

    def _tabulate(self, *, written: bool = True) -> Table:
        names = {"split": "one split, 1/K tested", "folds": "K folds"}
        return Table(
            name="estimates",
            title=f"{self.metric} on {format_counted(self.partitions, 'partition')}",
            columns=("estimate", "K", "fits", "mean", "sd", "smallest to largest" if written else " | range | "),
            rows=tuple(
                (names[e.scheme], e.k, e.fits, Estimate(e.mean, e.sd), Estimate(e.sd, e.sd),
                 Interval(e.low, e.high, e.mean, written=written))
                for e in self.estimates
            ),
        )  # fmt: skip


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
    folds = []
    for count in k:
        pool = gather_pool(
            estimator, [{}], X, y, groups, scoring=scoring, strict=True, j=partitions, k=count, seed=seed,
            stratify=stratify, uneven=uneven, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
        pool.only_means()
        folds.append(pool.scores[ONE_METRIC][:, :, 0])
    found = [_describe("split", scores[:, 0], scores.shape[1]) for scores in folds]
    found += [_describe("folds", scores.mean(axis=1), scores.shape[1]) for scores in folds]
    fits, metric = partitions * sum(k), name_metric(scoring)
    return EstimateStudy(
        asked=Asked.about(
            "estimate-study", scores=digest(*folds), metric=metric, k=",".join(map(str, k)), partitions=partitions,
            seed=seed,
        ),
        seed=seed,
        rows=Rows(fits, fits),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingStudy(Result):
    """How much of the variance of a K-fold estimate comes from the cut of the validation sets."""

    kind: ClassVar[str] = "stopping-study"

    metric: str  # the score
    partitions: int  # how many partitions
    cuts: int  # how often the validation sets were cut anew on each
    k: int  # folds of a partition
    mean: float  # mean score
    sd_partition: float  # standard deviation that the partition gives
    sd_cut: float  # standard deviation that the cut gives, on the same partition
    sd: float  # standard deviation of a K-fold estimate with a new partition and a new cut
    share: float  # share of the cut in its variance, 0-1
    share_low: float  # lower end of its 95% CI; null where nothing varies
    share_high: float  # upper end of it
    mean_whole: float  # mean score of the same estimator without early stopping; null if it was not asked for
    sd_whole: float  # standard deviation of its estimates between partitions

    def answer(self) -> Answer:
        """Return how much of the spread comes from the cut of the validation sets."""
        (table,) = self.tables()
        share = f"{100 * self.share:.0f}% (95% CI {100 * self.share_low:.0f}% to {100 * self.share_high:.0f}%)"
        said = (
            f"{share} of the variance of {self.k}-fold {self.metric} comes from the cut of the validation sets, the "
            "rest from the partition."
        )
        return answer_study(
            self,
            headline=said if self.sd > 0 else f"{self.metric} varies neither with the partition nor with the cut.",
            table=table,
            foot=(
                ("settle it", "more partitions (a larger J) make both smaller"),
                ("holds for", "this system on other partitions of these items"),
            ),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        done = (
            f"Validation sets were cut {self.cuts} times on each of {self.partitions} partitions; shares come from an "
            "analysis of variance, with a CI that is exact for normal scores."
        )
        return describe_study(self, done)

    def tables(self) -> tuple[Table, ...]:
        """Return the sources of the spread."""
        spread = (
            ("partition", self.sd_partition, Percent(100 * (1 - self.share))),
            ("cut of the validation sets", self.sd_cut, Percent(100 * self.share)),
            ("both", self.sd, Percent(100.0)),
            ("without early stopping", self.sd_whole, None),
        )
        counted = f"{format_counted(self.partitions, 'partition')}, {format_counted(self.cuts, 'cut')} of each."
        limits = format_interval(100 * self.share_low, 100 * self.share_high) if self.sd > 0 else ""
        return (
            Table(
                name="sd",
                title=f"Where the spread of {self.k}-fold {self.metric} comes from",
                columns=("source", "sd", "share of variance"),
                rows=tuple((source, Estimate(sd, self.sd), share) for source, sd, share in spread),
                notes=(counted + (f" 95% CI of the share of the cut, in percent: {limits}." if limits else ""),),
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
    pool = gather_pool(
        estimator, candidates, X, y, groups, scoring=scoring, strict=True, j=partitions, k=k, seed=seed,
        stratify=stratify, uneven=uneven, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    means = pool.only_means()
    between, within = split_variance(means[:, :cuts])
    total = between + within
    share = within / total if total > 0 else float("nan")
    low, high = limit_share(means[:, :cuts]) if total > 0 else (float("nan"), float("nan"))
    metric = name_metric(scoring)
    alone = means[:, cuts:]
    return StoppingStudy(
        asked=Asked.about(
            "stopping-study", scores=digest(means), metric=metric, partitions=partitions, cuts=cuts, k=k, seed=seed
        ),
        seed=seed,
        rows=Rows(pool.fits, pool.fits),
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
