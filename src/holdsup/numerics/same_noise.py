"""The difference of two systems whose runs vary alike, by declaration: one run of one of them will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from holdsup.numerics.decisions import Difference, decide
from holdsup.numerics.differences import Codes, choose_tests, measure_pair, new_runs_test
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import Spread, at_common_mean, means_of_sides, measure_run_spread


def compare_same_noise(
    left: ArrayLike,
    right: ArrayLike,
    *,
    clusters: Codes | None = None,
    ends: tuple[float, float] | None = None,
    room: tuple[float, float] | None = None,
    up: float = 0.0,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items and new runs, where runs of both systems have the same variance.

    Scores are items x runs; a single row has run scores, and there are no items. `ends`, `room` and `up` are those of
    `compare_new_runs`.

    >>> found = compare_same_noise([[0.66]], [[0.70, 0.72, 0.71]])
    >>> round(found.estimate, 3), found.df, round(found.p, 3)
    (-0.05, 2.0, 0.049)
    """
    sides = [np.asarray(each, float) for each in (left, right)]
    counts = [each.shape[1] for each in sides]
    if all(len(each) == 1 for each in sides):
        spread = share_noise(measure_run_spread(sides[0][0], sides[1][0]), counts)
        scale = float(np.abs(sides[0]).max()) + abs(up)
        return decide(float(spread.estimate) + up, [new_runs_test([spread])], scale, level)
    arms, spread, scale = measure_pair(sides[0], sides[1], None, None, clusters, ends)
    if room is not None:
        spread = at_common_mean(spread, means_of_sides(arms, spread, sides[0], sides[1]), room)
    shared = share_noise(replace(spread, estimate=spread.estimate + up), counts)
    return decide(float(shared.estimate), choose_tests([shared], new_runs=True), scale + abs(up), level)


def share_noise(spread: Spread, counts: Sequence[int]) -> Spread:
    """Return the parts where runs of all systems vary alike: one variance for them all, pooled, of so many runs each.

    A system with one run has the variance of the others.
    """
    several, df = [k for k in counts if k > 1], sum(spread.run_df)
    if df < 1:
        raise ValueError("no system has two runs: how much runs differ is not measured.")

    def pool(parts: Sequence[Floats]) -> Floats:
        measured = [part for part, own in zip(parts, spread.run_df, strict=True) if own]
        variance = sum((k - 1) * k * part for part, k in zip(measured, several, strict=True)) / df
        return np.asarray(variance * sum(1 / k for k in counts))

    return replace(spread, runs=(pool(spread.runs),), noise=(pool(spread.noise),), run_df=(df,))
