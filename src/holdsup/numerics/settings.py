"""How far a difference between two systems may be off over new settings, and its test.

Every facet of the settings (a learning rate, a batch size) is drawn: a system's mean moves with the
effects of its levels. With m_l the mean of level l over its settings, and w_l the share of settings
that have it, a facet adds

    part = s^2(m) * sum w_l^2,   on L - 1 degrees of freedom,

which holds what runs, and interactions of facets, add to the means of levels. Of several facets each
part holds it: V is then somewhat too large, never too small (docs/decisions/0009-compare-rule.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from holdsup.numerics.decisions import Criterion, Difference, decide
from holdsup.numerics.differences import Codes, choose_tests, read_pair, with_components
from holdsup.numerics.layout import Floats
from holdsup.numerics.least_squares import fit_additive
from holdsup.numerics.spread import (
    Arm,
    Spread,
    at_common_mean,
    cautious_df,
    find_clusters,
    means_of_sides,
    measure_arm,
    measure_spread,
    total_variance,
)


class FacetPart(NamedTuple):
    """What a facet adds to the variance of a system's mean."""

    part: Floats  # the variance that it adds, that of runs included
    df: int  # its degrees of freedom
    weight: float  # what the mean has of the variance between levels; 1/L where levels have as many settings each


def compare_settings(
    left: ArrayLike,
    right: ArrayLike | None = None,
    *,
    left_facets: Codes | None = None,
    right_facets: Codes | None = None,
    clusters: Codes | None = None,
    room: tuple[float, float] | None = None,
    up: float = 0.0,
    level: float = 0.95,
) -> Difference:
    """Return the difference over new items, runs and settings; without `right`, the mean of a system.

    Facets are codes of shape (facets, runs), None for a system whose settings do not vary: its runs count.
    Cautious degrees of freedom; never a smaller p or narrower limits than for new runs at these settings.
    The variance between runs is that between runs of new settings. `room` and `up` are those of `compare_new_runs`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rates = np.array([[0, 0, 1, 1, 2, 2]])  # three learning rates, two seeds each
    >>> left, right = rng.normal(size=(50, 6)) + 2.0 * rates[0], rng.normal(size=(50, 4))
    >>> found = compare_settings(left, right, left_facets=rates)
    >>> round(found.estimate, 1), found.claim, found.p > 0.05
    (1.8, 'new-settings', True)
    """
    first, second, scale = read_pair(left, left if right is None else right)
    found = find_clusters(clusters, len(first))
    systems = [(first, left_facets), *([] if right is None else [(second, right_facets)])]
    arms = [measure_arm(scores, find_settings(own), found) for scores, own in systems]
    facets = [() if own is None else tuple(measure_facets(scores, own)) for scores, own in systems]
    here = measure_spread(arms, arms[0].items - sum(arm.items for arm in arms[1:]), found)
    there = measure_over_settings(here, facets)
    if room is not None:
        means = means_of_sides(arms, here, first, second)
        parts = [side for side, own in zip(means, facets, strict=True) for _ in own or (None,)]
        here, there = at_common_mean(here, means, room), at_common_mean(there, parts, room)
    tests = [new_settings_test(there), *choose_tests([here], new_runs=True)]
    answer = with_components(decide(float(here.estimate) + up, tests, scale + abs(up), level), arms, here)
    return replace(answer, run_variance=tuple(map(_run_variance, arms, facets)))


def find_settings(facets: Codes | None) -> Codes | None:
    """Return the setting of each run: the combination of its facets; None where there are none."""
    return None if facets is None else _combine(facets)


def _combine(facets: Codes) -> Codes:
    return np.unique(facets, axis=1, return_inverse=True)[1].reshape(-1)


def measure_facets(scores: Floats, facets: Codes) -> Iterator[FacetPart]:
    """Yield what each facet adds to the variance of a system's mean; scores have shape (..., I, k)."""
    settings = _combine(facets)
    _, first = np.unique(settings, return_index=True)
    means = np.stack([fit_additive(scores[..., settings == code]).runs.mean(-1) for code in range(len(first))], -1)
    for codes in np.asarray(facets)[:, first]:
        own = np.equal.outer(np.unique(codes), codes)  # levels x settings
        share = own.sum(1) / own.sum()
        levels = means @ (own / own.sum(1, keepdims=True)).T
        weight = float(share @ share)
        yield FacetPart(np.asarray(weight * levels.var(-1, ddof=1)), len(own) - 1, weight)


def measure_over_settings(here: Spread, facets: Sequence[Sequence[FacetPart]]) -> Spread:
    """Return the parts over new settings, from those at these settings: facets take the place of runs.

    The noise of a system, which the items hold as well, is taken off them once, with its first facet.
    """
    parts: list[tuple[Floats, Floats, int]] = []
    for part, noise, df, own in zip(here.runs, here.noise, here.run_df, facets, strict=True):
        added = [(facet.part, facet.df) for facet in own] or [(part, df)]
        parts.extend((each, noise if i == 0 else np.zeros_like(noise), n) for i, (each, n) in enumerate(added))
    runs, noises, dfs = zip(*parts, strict=True)
    return replace(here, runs=runs, noise=noises, run_df=dfs)


def new_settings_test(there: Spread) -> Criterion:
    """Return the test over new settings, of the parts that `measure_over_settings` gives."""
    return Criterion("new-settings", np.sqrt(total_variance([there])), lambda alpha: cautious_df([there], alpha))


def _run_variance(arm: Arm, facets: Sequence[FacetPart]) -> float:
    """Return the variance between runs of new settings: of runs at a setting, and of the levels of each facet."""
    levels = sum(max(0.0, float(facet.part - arm.part)) / facet.weight for facet in facets)
    return float(arm.run_variance) + levels
