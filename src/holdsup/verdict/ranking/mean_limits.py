"""Limits of adjusted means, by the spread of a system's own scores over datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.fit import Contrast, random_effects
from holdsup.numerics.quantiles import t_quantile
from holdsup.verdict.ranking.contrasts import compare_by_dataset
from holdsup.verdict.ranking.fits import RankFits

__all__ = ["limit_means"]

Floats = NDArray[np.float64]


def limit_means(fits: RankFits, means: Sequence[Contrast], *, level: float) -> list[Contrast]:
    """Return adjusted means with the limits that each system's own scores give, for new datasets.

    A system with a score on every dataset has the limits that `compare` gives it: those of the mean of its datasets. Of
    one that lacks some, the fit makes up for which it has; what it is off by on single datasets is its own spread,
    the rest of the variance is the fit's. One dataset has no spread.
    """
    apart, whole = _beyond_datasets(fits), np.asarray(np.isfinite(fits.cells).all(axis=1))
    count = np.isfinite(apart).sum(axis=1)
    freedom = np.maximum(count - 1, 0)
    own = np.array([row[np.isfinite(row)].var(ddof=1) if np.isfinite(row).sum() > 1 else 0.0 for row in apart])
    common = float((freedom * own).sum() / max(freedom.sum(), 1))
    found = []
    for code, mean in enumerate(means):
        alone = np.zeros(len(means))
        alone[code] = 1.0
        test = compare_by_dataset(fits, alone, fits.cells, fits.combine, level=level) if whole[code] else None
        if test is not None:
            half = (test.high - test.low) / 2
            found.append(_limit(mean, test.se, test.df, half))
        elif count[code] > 1 and not whole[code]:
            found.append(_limit_incomplete(fits, mean, code, own[code], common, level))
        elif count[code] > 1:
            found.append(mean)  # all its scores are equal: the fit's limits are all there is
        else:
            found.append(_limit(mean, math.nan, math.nan, math.inf))
    return found


def _limit_incomplete(fits: RankFits, mean: Contrast, code: int, own: float, common: float, level: float) -> Contrast:
    """Return limits where datasets are lacking: the fit's variance, its own spread in place of that of all."""
    datasets = np.isfinite(fits.cells[code])
    count = int(datasets.sum())
    shared = max(0.0, mean.se**2 - common / count)
    runs = fits.measure_runs(np.array([code]), datasets, declared=fits.runs.nested_runs)
    part, noise, run_df = (runs[0].part, runs[0].noise, runs[0].df) if runs else (0.0, 0.0, 1)
    single = max(0.0, own / count - noise)
    variance = shared + single + part
    uncertainty = shared**2 / mean.df + (own / count) ** 2 / (count - 1) + part**2 / run_df
    df = max(variance**2 / uncertainty, 1.0) if uncertainty > 0 else math.inf
    df = min(df, float(count - 1))  # how it goes with datasets is known from its own: fewer scores are never surer
    return _limit(mean, math.sqrt(variance), df, t_quantile((1 + level) / 2, df) * math.sqrt(variance))


def _beyond_datasets(fits: RankFits) -> Floats:
    """Return adjusted cell means with the predicted effects of the datasets taken out."""
    runs = fits.runs
    effects = next((e for e in random_effects(fits.means, with_sd=False) if e.group == runs.dataset_name), None)
    if effects is None:
        return fits.cells
    by_name = dict(zip((name for (name,) in effects.levels), effects.values[:, 0], strict=True))
    return np.asarray(fits.cells - np.array([by_name[name] for name in runs.dataset.names]))


def _limit(mean: Contrast, se: float, df: float, half: float) -> Contrast:
    return replace(mean, se=se, df=df, low=mean.estimate - half, high=mean.estimate + half)
