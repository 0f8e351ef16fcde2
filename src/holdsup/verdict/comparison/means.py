"""The mean of one system, with limits for a claim."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from holdsup.errors import ScoresError
from holdsup.numerics.datasets import compare_over_datasets, compare_these_datasets
from holdsup.numerics.differences import Difference, compare_shared_seeds, compare_these_runs
from holdsup.numerics.quantiles import t_quantile
from holdsup.verdict.comparison.records import SystemMean
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.settings import mean_over_settings
from holdsup.verdict.trainings import can_repeat, count_trainings, has_nested_runs, lay_out_datasets

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
        runs=count_trainings(evaluation, system),
        items=0 if evaluation.per_run else int(held.sum()),
    )


def _carried(evaluation: Evaluation, system: SystemRuns, asked: str) -> str:
    """Return the claim that a system's own runs can carry."""
    if evaluation.per_run:
        return "new-runs"
    if asked == "these-runs" or evaluation.resplit or not can_repeat(evaluation, system):
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
        datasets = None if evaluation.datasets is None else evaluation.datasets[held]
        several = datasets is not None and len(np.unique(datasets)) > 1
        if claim == "new-runs" and (several or evaluation.unit == "datasets"):
            return _over_datasets(evaluation, replace(system, scores=scores), held, settings, level)
        if datasets is not None and several:
            return compare_these_datasets(scores, nothing, datasets, clusters=clusters, new_runs=False, level=level)
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


def _over_datasets(
    evaluation: Evaluation, system: SystemRuns, held: np.ndarray, settings: np.ndarray | None, level: float
) -> Difference:
    """Return the mean over new datasets and new runs: as compared with a system whose every score is zero."""
    scores = lay_out_datasets(evaluation, system, held)
    nothing, nested = np.zeros((len(scores), 1)), has_nested_runs(evaluation, system)
    try:
        return compare_over_datasets(scores, nothing, left_settings=settings, nested=(nested, True), level=level)
    except ValueError:  # runs that recur on too few datasets count as nested, as in differences
        return compare_over_datasets(scores, nothing, left_settings=settings, nested=(True, True), level=level)
