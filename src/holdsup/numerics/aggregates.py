"""Scores of several runs on each of several tasks as one number, and how far it may be off.

Mean, interquartile mean (IQM) and optimality gap are those of Agarwal, Schwarzer, Castro, Courville & Bellemare
(2021): of all runs of all tasks as one sample, in which a task counts the same whatever its number of runs. To first
order each is a weighted mean of influence values (Huber & Ronchetti 2009, section 3.3): of scores themselves, of
scores cut at 1, or of scores pulled in to the quartiles and stretched by the share that is kept. Their spread between
the runs of a task, or between tasks, limits the number for new runs on these tasks, or for new tasks. Resampling the
three runs of a task, as is published, makes their variance a third too small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdsup.numerics.layout import Floats, Ints

QUARTER, GAMMA = 0.25, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """A number made of the runs of all tasks."""

    value: float
    runs_variance: float  # of the number, for new runs on these tasks; NaN where a task has a single run
    runs_df: float  # Satterthwaite's degrees of freedom of that variance
    by_task: Floats  # mean influence value of each task, whose covariance between tasks is that for new tasks


def aggregate(scores: Floats, tasks: Ints, estimate: str) -> Aggregate:
    """Return an estimate of one system, with what its limits are made of.

    Parameters
    ----------
    scores : of all runs on all tasks, shape (n,)
    tasks : codes of their tasks, every one from 0 to the last
    estimate : a key of `ESTIMATES`
    """
    counts = np.bincount(tasks)
    weights = 1 / (len(counts) * counts[tasks])
    value, influence = ESTIMATES[estimate](scores, weights)
    return _spread(value, influence, tasks, counts)


def share_above(scores: Floats, tasks: Ints, threshold: float) -> Aggregate:
    """Return the share of runs with a score above a threshold, a point of the performance profile."""
    counts = np.bincount(tasks)
    above = (scores > threshold).astype(float)
    return _spread(float((above / counts[tasks]).sum() / len(counts)), above, tasks, counts)


def _spread(value: float, influence: Floats, tasks: Ints, counts: Ints) -> Aggregate:
    means = np.bincount(tasks, influence) / counts
    squares = np.bincount(tasks, (influence - means[tasks]) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = squares / (counts - 1) / counts / len(counts) ** 2  # of the variance, one for each task
        df = parts.sum() ** 2 / (parts**2 / (counts - 1)).sum()
    return Aggregate(value, float(parts.sum()), float(df), means)


def _mean(scores: Floats, weights: Floats) -> tuple[float, Floats]:
    return float(weights @ scores), scores


def _iqm(scores: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return the mean of the middle half; of n scores floor(n / 4) are left out at either end, as published."""
    cut = np.floor(QUARTER * len(scores)) / len(scores)
    order = np.argsort(scores, kind="stable")
    upper = np.cumsum(weights[order])
    kept = np.maximum(np.minimum(upper, 1 - cut) - np.maximum(upper - weights[order], cut), 0.0)
    inside = scores[order][kept > 1e-12]
    return float(kept @ scores[order] / kept.sum()), np.clip(scores, inside[0], inside[-1]) / (1 - 2 * cut)


def _optimality_gap(scores: Floats, weights: Floats) -> tuple[float, Floats]:
    below = GAMMA - np.minimum(scores, GAMMA)
    return float(weights @ below), below


ESTIMATES: dict[str, Callable[[Floats, Floats], tuple[float, Floats]]] = {
    "iqm": _iqm,
    "mean": _mean,
    "optimality-gap": _optimality_gap,
}
