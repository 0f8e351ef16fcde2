"""Candidate rules for the difference between two systems, many simulations at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from cells import Cell, Floats, Sample
from holdsup.numerics.decisions import Difference
from holdsup.numerics.differences import (
    compare_new_runs,
    compare_over_datasets,
    compare_run_scores,
    compare_shared_seeds,
    compare_these_runs,
    dataset_means,
)
from holdsup.numerics.least_squares import fit_additive
from holdsup.numerics.settings import compare_settings, find_settings, measure_facets, measure_over_settings
from holdsup.numerics.spread import (
    Spread,
    cautious_df,
    find_clusters,
    measure_arm,
    measure_run_spread,
    measure_spread,
    satterthwaite_df,
    total_variance,
)
from holdsup.numerics.these_datasets import compare_runs_on_datasets, compare_these_datasets, measure_on_datasets

__all__ = ["OURS", "RULES", "check", "measure"]

OURS = "holdsup"
ITEMS_ALONE = ("these-runs", "new-datasets")  # claims over new items, or new datasets as items, and nothing else


def these_runs(spreads: Sequence[Spread], level: float) -> Floats:
    """Return half the width of the interval for these runs."""
    total = sum(each.these for each in spreads)
    uncertainty = sum(each.these**2 / each.item_df for each in spreads)
    df = np.where(uncertainty > 0, total**2 / np.where(uncertainty > 0, uncertainty, 1), 1)
    return t(df, level) * np.sqrt(total)


def two_way_welch(spreads: Sequence[Spread], level: float) -> Floats:
    return t(satterthwaite_df(spreads), level) * np.sqrt(total_variance(spreads))


def starting_rule(spreads: Sequence[Spread], level: float) -> Floats:
    return np.maximum(two_way_welch(spreads, level), these_runs(spreads, level))


def cautious(spreads: Sequence[Spread], level: float) -> Floats:
    half = t(cautious_df(spreads, 1 - level), level) * np.sqrt(total_variance(spreads))
    return np.maximum(half, these_runs(spreads, level))


def banerjee(spreads: Sequence[Spread], level: float) -> Floats:
    """Banerjee (1961): each part times its own squared t, which never rejects too often (normal, independent)."""
    square = sum(each.items() * t(each.item_df, level) ** 2 for each in spreads)
    square += sum(part * t(df, level) ** 2 for each in spreads for part, df in zip(each.runs, each.run_df, strict=True))
    return np.maximum(np.sqrt(square), these_runs(spreads, level))


def fewest_df(spreads: Sequence[Spread], level: float) -> Floats:
    df = min(df for each in spreads for df in each.run_df)
    return np.maximum(t(df, level) * np.sqrt(total_variance(spreads)), these_runs(spreads, level))


def t(df: Floats | float, level: float) -> Floats:
    return special.stdtrit(df, (1 + level) / 2)


RULES: dict[str, Callable[[Sequence[Spread], float], Floats]] = {
    OURS: cautious,
    "starting rule": starting_rule,
    "two-way Welch": two_way_welch,
    "Banerjee": banerjee,
    "fewest df": fewest_df,
}


def measure(cell: Cell, sample: Sample, left: int, right: int, level: float) -> dict[str, tuple[Floats, Floats]]:
    """Return the estimate and half the interval's width by every rule that fits the cell's claim."""
    spreads = measure_spreads(cell, sample, sample.scores[left], sample.scores[right])
    estimate = sum(each.estimate for each in spreads)
    rules = {OURS: these_runs} if cell.design in ITEMS_ALONE else RULES
    halves = {name: rule(spreads, level) for name, rule in rules.items()}
    if cell.design == "new-settings":
        here = [at_settings(sample, sample.scores[left], sample.scores[right])]
        halves[OURS] = np.maximum(halves[OURS], cautious(here, level))
    return {name: (estimate, half) for name, half in halves.items()}


def measure_spreads(cell: Cell, sample: Sample, left: Floats, right: Floats) -> list[Spread]:
    """Return the parts of the variance under the cell's design."""
    if cell.design == "run-scores":
        return [measure_run_spread(left.mean(1), right.mean(1))]
    if cell.design == "new-datasets":
        means = [dataset_means(scores, sample.datasets).mean(-1) for scores in (left, right)]
        return [measure_spread([], means[0] - means[1], find_clusters(None, cell.datasets))]
    if cell.design == "these-datasets":
        rows = [np.flatnonzero(sample.datasets == code) for code in range(cell.datasets)]
        return [nested(left[:, at], right[:, at]).scaled(1 / cell.datasets) for at in rows]
    if cell.design == "these-datasets, same-runs":
        return [measure_on_datasets([(left, None), (right, None)], sample.datasets, None, None)[1]]
    if cell.design == "same-runs":
        return [nested(dataset_means(left, sample.datasets), dataset_means(right, sample.datasets))]
    clusters = find_clusters(sample.clusters, cell.items)
    if cell.design in ("shared", "deterministic"):
        arm = measure_arm(left - right, None, clusters)
        return [measure_spread([arm], arm.items, clusters)]
    if cell.design == "these-runs":
        return [measure_spread([], fit_additive(left).items - fit_additive(right).items, clusters)]
    if cell.design == "new-settings":
        both = zip((left, right), sample.facets, strict=True)
        facets = [() if own is None else tuple(measure_facets(scores, own)) for scores, own in both]
        return [measure_over_settings(at_settings(sample, left, right), facets)]
    arms = [measure_arm(left, sample.settings, clusters), measure_arm(right, None, clusters)]
    return [measure_spread(arms, arms[0].items - arms[1].items, clusters)]


def at_settings(sample: Sample, left: Floats, right: Floats) -> Spread:
    """Return the parts at the settings of either system as they are."""
    clusters = find_clusters(sample.clusters, left.shape[1])
    both = zip((left, right), sample.facets, strict=True)
    arms = [measure_arm(scores, find_settings(own), clusters) for scores, own in both]
    return measure_spread(arms, arms[0].items - arms[1].items, clusters)


def nested(left: Floats, right: Floats) -> Spread:
    clusters = find_clusters(None, left.shape[1])
    arms = [measure_arm(scores, None, clusters) for scores in (left, right)]
    return measure_spread(arms, arms[0].items - arms[1].items, clusters)


def check(cell: Cell, sample: Sample, level: float) -> None:
    """Fail unless what is measured here is what the library gives, simulation by simulation."""
    estimate, half = measure(cell, sample, 0, 1, level)[OURS]
    for at in range(min(3, len(estimate))):
        found = compare(cell, sample, sample.scores[0][at], sample.scores[1][at], level)
        np.testing.assert_allclose((found.low, found.high), estimate[at] + half[at] * np.array([-1, 1]), rtol=1e-9)


def compare(cell: Cell, sample: Sample, left: Floats, right: Floats, level: float) -> Difference:
    """Return the library's verdict on one simulation."""
    if cell.design == "run-scores":
        return compare_run_scores(left.mean(0), right.mean(0), level=level)
    if cell.design == "new-datasets":
        means = [dataset_means(scores, sample.datasets) for scores in (left, right)]
        return compare_over_datasets(*means, nested=(True, True), level=level)
    if cell.design == "these-datasets":
        return compare_these_datasets(left, right, sample.datasets, level=level)
    if cell.design == "these-datasets, same-runs":
        return compare_runs_on_datasets(left, right, sample.datasets, level=level)
    if cell.design == "deterministic":
        return compare_new_runs(left, right, deterministic=True, level=level)
    if cell.design == "same-runs":
        means = [dataset_means(scores, sample.datasets) for scores in (left, right)]
        return compare_new_runs(*means, level=level)
    if cell.design == "shared":
        return compare_shared_seeds(left, right, level=level)
    if cell.design == "these-runs":
        return compare_these_runs(left, right, level=level)
    if cell.design == "new-settings":
        return compare_settings(
            left,
            right,
            left_facets=sample.facets[0],
            right_facets=sample.facets[1],
            clusters=sample.clusters,
            level=level,
        )
    return compare_new_runs(left, right, left_settings=sample.settings, clusters=sample.clusters, level=level)
