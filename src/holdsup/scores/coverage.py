"""How much of a table belongs to each system, and where its runs lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.scores.design_faults import missing_cells
from holdsup.scores.findings import extremes
from holdsup.scores.table import Scores

__all__ = ["SystemCoverage", "cover_systems"]


@dataclass(frozen=True, slots=True)
class SystemCoverage:
    """How much of the table belongs to one system.

    Attributes
    ----------
    name : the system
    metric : the metric, in a table of several; else null
    runs : how many runs it has
    rows : its rows that have all labels
    used : rows with a usable score
    missing : rows that are missing: an item in a run without one
    mean : mean of the usable scores, datasets of the same weight as in `compare`; null where there are none
    low : lowest mean of a run
    high : highest mean of a run
    """

    name: str
    metric: str | None
    runs: int
    rows: int
    used: int
    missing: int
    mean: float | None
    low: float | None
    high: float | None


def cover_systems(scores: Scores) -> Iterator[SystemCoverage]:
    """Yield a line a system, or a line a system and metric where there are several metrics.

    All rows must have all labels: see `Scores.take`.
    """
    metric = scores.metric if scores.metric is not None and scores.metric.count > 1 else None
    groups = cross(scores.system, *([metric] if metric is not None else []))
    runs = cross(groups.codes, scores.run)
    group_of = groups.codes[runs.first]
    usable = slice(None) if scores.usable.all() else scores.usable
    counts = np.bincount(runs.codes[usable], minlength=runs.count)
    sums = np.bincount(runs.codes[usable], scores.score[usable], runs.count)
    scored = counts > 0
    low, high = extremes(sums[scored] / counts[scored], group_of[scored], groups.count)
    used = np.bincount(group_of, counts, groups.count).astype(np.int64)
    means = np.bincount(group_of, sums, groups.count) / np.maximum(used, 1)
    if scores.dataset is not None and scores.dataset.count > 1:
        means = _mean_datasets(scores, groups.codes, scores.dataset, groups.count)
    number_of_runs = np.bincount(group_of, minlength=groups.count)
    missing, rows = missing_cells(scores, groups.codes, groups.count), groups.sizes()
    for group, row in enumerate(groups.first):
        any_used = used[group] > 0
        yield SystemCoverage(
            name=scores.system.names[scores.system.codes[row]],
            metric=metric.names[metric.codes[row]] if metric is not None else None,
            runs=int(number_of_runs[group]),
            rows=int(rows[group]),
            used=int(used[group]),
            missing=int(missing[group]),
            mean=float(means[group]) if any_used else None,
            low=float(low[group]) if any_used else None,
            high=float(high[group]) if any_used else None,
        )


def _mean_datasets(scores: Scores, groups: NDArray[np.int64], dataset: Labels, count: int) -> NDArray[np.float64]:
    """Return the mean score of each group of rows over its datasets, which weigh the same."""
    usable = scores.usable
    parts = cross(groups[usable], dataset.take(usable))
    means = np.bincount(parts.codes, scores.score[usable], parts.count) / parts.sizes()
    owner = groups[usable][parts.first]
    number = np.bincount(owner, minlength=count)
    return np.asarray(np.bincount(owner, means, count) / np.maximum(number, 1))
