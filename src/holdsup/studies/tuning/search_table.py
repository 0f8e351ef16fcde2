"""The table `cv_results_`, with the columns that users of scikit-learn's searches expect, and ranks that are fair."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.studies.tuning.candidates import Params
from holdsup.studies.tuning.pools import Pool
from holdsup.verdict.tuning.listing import standard_error

__all__ = ["rank_candidates", "tabulate"]

Floats = NDArray[np.float64]
DIGITS = 13  # of a mean score beside the largest; a double has 15
TINY = np.finfo(float).tiny


def tabulate(pool: Pool, candidates: Sequence[Params]) -> dict[str, Any]:
    """Return `cv_results_`: splits partition by partition, means over the partitions that a candidate was trained on.

    Besides scikit-learn's columns there are ``se_test_...``, the standard error between partitions, and ``partitions``,
    on how many the candidate was trained.
    """
    table: dict[str, Any] = {}
    for name, times in (("fit_time", pool.fit_times), ("score_time", pool.score_times)):
        flat = times.reshape(-1, times.shape[-1])
        table[f"mean_{name}"], table[f"std_{name}"] = _each(np.mean, flat), _each(np.std, flat)
    table |= _columns(candidates)
    table["params"] = list(candidates)
    for name, scores in pool.scores.items():
        flat, means = scores.reshape(-1, scores.shape[-1]), pool.means(name)
        table |= {f"split{i}_test_{name}": row for i, row in enumerate(flat)}
        for statistic, column in (
            ("mean", _each(np.mean, means)),
            ("std", _each(np.std, flat)),
            ("se", _each(standard_error, means)),
        ):
            table[f"{statistic}_test_{name}"] = np.where(pool.failed, np.nan, column)
        table[f"rank_test_{name}"] = rank_candidates(means, pool.failed)
    table["partitions"] = pool.trained.sum(axis=0)
    return table


def rank_candidates(means: Floats, failed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return ranks from 1, equal ones for equal means.

    Candidates trained on all partitions come first: the mean of one that was dropped early is over other partitions.
    Those that failed share the last rank.
    """
    partitions, mean = np.isfinite(means).sum(axis=0), _each(np.mean, means)
    mean = np.round(mean / np.nanmax(np.abs(mean), initial=TINY), DIGITS)  # equal candidates may differ by rounding
    keys = [(True, 0, 0.0) if bad else (False, -n, -m) for bad, n, m in zip(failed, partitions, mean, strict=True)]
    ordered = sorted(keys)
    return np.array([1 + bisect_left(ordered, key) for key in keys], np.int32)


def _columns(candidates: Sequence[Params]) -> dict[str, Any]:
    """Return a masked column of objects for each parameter; masked where a candidate does not set it."""
    columns: dict[str, Any] = {}
    for index, params in enumerate(candidates):
        for name, value in params.items():
            blank = np.ma.MaskedArray(np.empty(len(candidates), object), mask=True)
            columns.setdefault(f"param_{name}", blank)[index] = value
    return columns


def _each(statistic: Callable[[Floats], Any], rows: Floats) -> Floats:
    """Return a statistic of the finite values in each column; NaN where there are none."""
    return np.array(
        [statistic(column[np.isfinite(column)]) if np.isfinite(column).any() else np.nan for column in rows.T]
    )
