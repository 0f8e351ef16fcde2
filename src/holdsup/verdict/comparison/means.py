"""The mean of a system over its items, as surely as its own runs say."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from holdsup.errors import ScoresError
from holdsup.numerics.decisions import Difference, NoSpreadError
from holdsup.numerics.differences import (
    compare_over_datasets,
    compare_shared_seeds,
    compare_these_runs,
)
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.these_datasets import compare_these_datasets
from holdsup.verdict.claims import (
    mean_on_datasets,
)
from holdsup.verdict.comparison.records import (
    SystemMean,
)
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.samples import THESE_ITEMS, compare_samples
from holdsup.verdict.settings import mean_over_settings
from holdsup.verdict.trainings import can_repeat, count_trainings, has_nested_runs


def mean_of(evaluation: Evaluation, system: SystemRuns, claim: str, *, level: float) -> SystemMean:
    """Return a system's mean over its items, for as much of the claim asked for as its own runs can carry.

    A system with one run has limits for that run. Datasets weigh the same, or items. Over new settings the limits cover
    new draws of them, if they vary and there is one dataset.
    """
    claim = _carried(evaluation, system, claim)
    held = evaluation.scored(system)
    if evaluation.per_run:
        note, (mean, se, df, low, high) = "one run, and no items", _of_runs(system.on(held).scores[0], level)
    else:
        found, note = _against_nothing(evaluation, system, claim, level)
        mean, se, df, low, high = found.estimate, found.se_limits, found.df_limits, found.low, found.high
    return SystemMean(
        name=system.name, metric=evaluation.metric, claim=claim, mean=mean, se=se, df=df, low=low, high=high,
        runs=count_trainings(evaluation, system), items=0 if evaluation.per_run else int(held.sum()),
        note="" if math.isfinite(low) and math.isfinite(high) else note, deterministic=system.deterministic,
    )  # fmt: skip


def _carried(evaluation: Evaluation, system: SystemRuns, asked: str) -> str:
    """Return the claim that a system's own runs can carry."""
    if evaluation.per_run:
        return "new-runs"
    if asked == THESE_ITEMS:
        return asked
    if asked == "these-runs" or evaluation.resplit or not can_repeat(evaluation, system):
        return "these-runs"
    if asked == "these-datasets" and len(evaluation.dataset_names) > 1:
        return asked
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


def _against_nothing(evaluation: Evaluation, system: SystemRuns, claim: str, level: float) -> tuple[Difference, str]:
    """Return the difference from a system whose every score is zero, and why it may have no limits."""
    few = {THESE_ITEMS: "samples", "new-runs": "runs", "these-datasets": "runs", "new-settings": "settings"}.get(
        claim, str(evaluation.unit)
    )
    held = evaluation.scored(system)
    try:
        return _test(evaluation, system, held, claim, level), f"too few {few} to measure their spread"
    except (ValueError, ScoresError) as error:  # nothing varies, or what does cannot be measured
        why = "all items have the same mean" if isinstance(error, NoSpreadError) else str(error).partition(":")[0]
        scores = system.scores[held]
        mean = float(np.nanmean(scores)) if len(scores) else system.mean()
        half = 0.0 if len(scores) > 1 and np.nanmin(scores) == np.nanmax(scores) else math.nan
        return Difference(
            estimate=mean, se=half, df=math.inf, p=math.nan, log10_p=math.nan, low=mean - half, high=mean + half,
            se_limits=half, df_limits=math.nan, claim=claim,
        ), why.rstrip(".")  # fmt: skip


def _test(evaluation: Evaluation, system: SystemRuns, held: np.ndarray, claim: str, level: float) -> Difference:
    """Return the same where it can be tested."""
    if not held.any():
        raise ScoresError(f"none of its {evaluation.unit} has a score at each of its settings")
    own = system.on(held)
    scores, clusters = own.scores, None if evaluation.clusters is None else evaluation.clusters[held]
    settings = system.several
    nothing = np.zeros((len(scores), 1))
    datasets = None if evaluation.datasets is None else evaluation.datasets[held]
    several = datasets is not None and len(np.unique(datasets)) > 1
    if claim == THESE_ITEMS:
        return compare_samples(evaluation, own, None, held, 0.0, level)
    if claim == "these-datasets":
        return mean_on_datasets(evaluation, own, datasets, clusters, level)
    if claim == "new-runs" and (several or evaluation.unit == "datasets"):
        return _over_datasets(evaluation, own, held, settings, level)
    if datasets is not None and several:
        return compare_these_datasets(
            scores, nothing, datasets, clusters=clusters, new_runs=False, weights=evaluation.weigh(datasets),
            level=level,
        )  # fmt: skip
    if claim == "these-runs" or system.deterministic:
        return compare_these_runs(scores, nothing, left_settings=settings, clusters=clusters, level=level, tails=False)
    if claim == "new-settings":
        return mean_over_settings(evaluation, system, level=level)
    zeros = np.zeros_like(scores)
    return compare_shared_seeds(scores, zeros, settings=settings, clusters=clusters, level=level, tails=False)


def _over_datasets(
    evaluation: Evaluation, system: SystemRuns, held: np.ndarray, settings: np.ndarray | None, level: float
) -> Difference:
    """Return the mean over new datasets and new runs: as compared with a system whose every score is zero."""
    scores, clusters = system.on_datasets, None
    if evaluation.by_items and evaluation.datasets is not None:
        scores, clusters = system.scores, evaluation.datasets[held]
    nothing, nested = np.zeros((len(scores), 1)), has_nested_runs(evaluation, system)
    mean = partial(compare_over_datasets, scores, nothing, left_settings=settings, clusters=clusters, level=level)
    try:
        return mean(nested=(nested, True))
    except ValueError:  # runs that recur on too few datasets count as nested, as in differences
        return mean(nested=(True, True))
