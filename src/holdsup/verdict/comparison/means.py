"""The mean of one system, with limits for a claim."""

from __future__ import annotations

import math

import numpy as np

from holdsup.errors import ScoresError
from holdsup.numerics.datasets import compare_these_datasets, dataset_means
from holdsup.numerics.differences import Difference, compare_shared_seeds, compare_these_runs
from holdsup.numerics.quantiles import t_quantile
from holdsup.verdict.comparison.records import SystemMean
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.settings import mean_over_settings

__all__ = ["mean_of"]


def mean_of(evaluation: Evaluation, system: SystemRuns, claim: str, *, level: float) -> SystemMean:
    """Return a system's mean over its items, for as much of the claim asked for as its own runs can carry.

    A system with one run has limits for that run. Datasets weigh the same. Over new settings the limits cover
    new draws of them, if they vary and there is one dataset.
    """
    claim = _carried(evaluation, system, claim)
    held = evaluation.scored(system)
    scores = system.scores[held]
    if evaluation.per_run:
        mean, se, df, low, high = _of_runs(scores[0], level)
    else:
        found = _against_nothing(evaluation, system, claim, level)
        mean, se, df, low, high = found.estimate, found.se_limits, found.df_limits, found.low, found.high
    return SystemMean(
        name=system.name,
        metric=evaluation.metric,
        claim=claim,
        mean=mean,
        se=se,
        df=df,
        low=low,
        high=high,
        runs=len(system.runs),
        items=0 if evaluation.per_run else int(held.sum()),
    )


def _carried(evaluation: Evaluation, system: SystemRuns, asked: str) -> str:
    """Return the claim that a system's own runs can carry."""
    if evaluation.per_run:
        return "new-runs"
    if asked == "these-runs" or evaluation.resplit or not system.repeats:
        return "these-runs"
    several = system.setting_count > 1 and evaluation.datasets is None
    return "new-settings" if asked == "new-settings" and several else "new-runs"


def _of_runs(scores: np.ndarray, level: float) -> tuple[float, float, float, float, float]:
    """Return the mean of run scores with Student's limits; none for a single run."""
    mean = float(scores.mean())
    if len(scores) < 2:
        return mean, math.nan, math.nan, math.nan, math.nan
    se = float(scores.std(ddof=1)) / math.sqrt(len(scores))
    half = t_quantile((1 + level) / 2, len(scores) - 1) * se
    return mean, se, len(scores) - 1.0, mean - half, mean + half


def _against_nothing(evaluation: Evaluation, system: SystemRuns, claim: str, level: float) -> Difference:
    """Return the difference from a system whose every score is zero."""
    held = evaluation.scored(system)
    scores, clusters = system.scores[held], None if evaluation.clusters is None else evaluation.clusters[held]
    settings = system.settings if system.setting_count > 1 else None
    try:
        nothing = np.zeros((len(scores), 1))
        if evaluation.datasets is not None and len(np.unique(evaluation.datasets[held])) > 1:
            datasets = evaluation.datasets[held]
            if claim == "these-runs":
                return compare_these_datasets(scores, nothing, datasets, clusters=clusters, new_runs=False, level=level)
            scores, clusters = dataset_means(scores, datasets), None
        if claim == "these-runs":
            return compare_these_runs(scores, nothing, left_settings=settings, clusters=clusters, level=level)
        if claim == "new-settings":
            return mean_over_settings(evaluation, system, level=level)
        return compare_shared_seeds(scores, np.zeros_like(scores), settings=settings, clusters=clusters, level=level)
    except (ValueError, ScoresError):  # nothing varies, or what does cannot be measured: then there are no limits
        scores = scores if scores.size else system.scores  # no item has a score at each setting: all there are
        mean = float(np.nanmean(scores))
        half = 0.0 if np.nanmin(scores) == np.nanmax(scores) else math.nan
        return Difference(
            estimate=mean, se=half, df=math.inf, p=math.nan, log10_p=math.nan, low=mean - half, high=mean + half,
            se_limits=half, df_limits=math.nan, claim=claim,
        )  # fmt: skip
