"""One metric's scores laid out for questions: for every system a table of items x runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names, shell_names
from holdsup.numerics.differences import dataset_means
from holdsup.scores import Scores
from holdsup.scores.faults import refuse
from holdsup.scores.refusals import find_broken_clusters, find_odd_scale
from holdsup.scores.roles import RESPLIT
from holdsup.verdict.looking import Looking
from holdsup.verdict.phrases import name_items
from holdsup.verdict.scales import Scale, find_ends, find_room, find_scale_and_piles

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SystemRuns:
    """The runs of one system."""

    name: str  # the system
    scores: Floats  # shape (items, runs), NaN where a run has no score for an item
    runs: tuple[str, ...]  # the names of its runs
    settings: Codes  # code of the setting of each run, shape (runs,); runs of one setting differ by chance alone
    # code of the shared facets of each run, shape (runs,), the same in all systems; None if none are shared
    seeds: Codes | None
    datasets: Codes | None = None  # dataset of each item, None if there are fewer than two
    deterministic: bool = False  # whether it was declared that another run would have the same scores
    sampled: tuple[Floats, Floats] | None = None  # variance over new samples and number of samples, as `scores`

    @cached_property
    def has(self) -> NDArray[np.bool_]:
        """Which items have a score in some run."""
        return has_scores(self.scores, None)

    @cached_property
    def largest(self) -> float:
        """The largest score, whatever its sign."""
        return float(np.nanmax(np.abs(self.scores)))

    @cached_property
    def on_datasets(self) -> Floats:
        """The mean of each run on each dataset, shape (datasets, runs); without several, the scores."""
        return self.scores if self.datasets is None else dataset_means(self.scores, self.datasets)

    def on(self, items: NDArray[np.bool_]) -> SystemRuns:
        """Return the system with its scores on some items only; all of them are not copied."""
        if items.all():
            return self
        datasets = None if self.datasets is None else self.datasets[items]
        sampled = None if self.sampled is None else (self.sampled[0][items], self.sampled[1][items])
        return replace(self, scores=self.scores[items], datasets=datasets, sampled=sampled)

    @cached_property
    def has_each(self) -> NDArray[np.bool_]:
        """Which items have a score in each setting."""
        return has_scores(self.scores, self.settings) if self.setting_count > 1 else self.has

    @property
    def setting_count(self) -> int:
        """How many settings its runs have."""
        return len(np.unique(self.settings))

    @property
    def several(self) -> Codes | None:
        """The setting of each run, where there are several."""
        return self.settings if self.setting_count > 1 else None

    @property
    def repeats(self) -> bool:
        """Whether some setting has two runs, so that the spread between runs can be measured."""
        return len(self.runs) > self.setting_count

    def mean(self) -> float:
        """Return the mean over its items, settings equally weighted."""
        by_setting = [np.nanmean(self.scores[:, self.settings == s]) for s in np.unique(self.settings)]
        return float(np.mean(by_setting))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of all systems by one metric."""

    metric: str | None  # its name, None where the table has only one
    scores: Scores  # the usable rows
    item: Codes  # the item of each row, shape (rows,)
    # the combination of shared facets of each row, the same in all systems; None if none are shared
    seeds: Codes | None
    systems: tuple[SystemRuns, ...]  # the runs of each system, in the order of their names
    items: int  # number of items; with no item column, of datasets, and with fewer than two of these 1
    per_run: bool  # whether runs have one score each, so that there are no items
    clusters: Codes | None  # cluster of each item, None if there are none
    datasets: Codes | None  # dataset of each item, None if there are fewer than two
    dataset_names: tuple[str, ...]  # their names
    nested_runs: bool = False  # whether it was declared that each dataset has its own runs, whatever their names
    by_items: bool = False  # whether items of several datasets weigh the same, not datasets
    weights: Floats | None = None  # the weight of each dataset, where they weigh neither the same nor as their items
    looking: Looking | None = None  # how early looks are taken, None where there is one look

    @cached_property
    def ends(self) -> tuple[float, float] | None:
        """The two values that all scores have, such as 0 and 1; None where they have more."""
        return None if self.scores.corpus else find_ends(self.scores)

    @cached_property
    def scale(self) -> Scale:
        """The scale that scores are on, as far as they tell."""
        return Scale() if self.scores.corpus else find_scale_and_piles(self.scores, self.metric)

    @cached_property
    def room(self) -> tuple[float, float] | None:
        """The ends of scores of items whose runs vary less near an end; None of others, and of scores of datasets."""
        return find_room(self.scores) if self.unit == "items" and not self.scores.corpus else None

    @property
    def unit(self) -> str | None:
        """What systems are scored on, in words; None where runs have one score each."""
        if self.per_run:
            return None
        return "items" if self.scores.item is not None else "datasets"

    @property
    def noun(self) -> str:
        """The user's own word for what systems are scored on, such as questions."""
        roles = self.scores.roles
        return name_items(roles.dataset, "datasets") if self.unit == "datasets" else name_items(roles.item)

    @property
    def resplit(self) -> bool:
        """Whether runs differ in the split of one corpus, so that they share training and test items."""
        facet = self.scores.facets.get(RESPLIT)
        return facet is not None and facet.count > 1

    @cached_property
    def scored_datasets(self) -> dict[str, NDArray[np.bool_]]:
        """Of each system, which datasets each run has a score on, shape (datasets, runs); {} without several."""
        there = {system.name: ~np.isnan(system.scores) for system in self.systems}
        if self.datasets is None:
            return there if self.unit == "datasets" else {}
        rows = [self.datasets == code for code in np.unique(self.datasets)]
        return {name: np.stack([scored[each].any(axis=0) for each in rows]) for name, scored in there.items()}

    def weigh(self, datasets: Codes | None) -> Floats | None:
        """Return the weights of those datasets of some items that occur, in the order of their codes; None: alike."""
        if datasets is None or (self.weights is None and not self.by_items):
            return None
        codes, counts = np.unique(datasets, return_counts=True)
        return counts.astype(float) if self.weights is None else self.weights[codes]

    def weigh_items(self, held: NDArray[np.bool_]) -> Floats:
        """Return the weight of each of some items in a mean over all datasets."""
        if self.datasets is None or self.by_items:
            return np.ones(int(held.sum()))
        codes, place, counts = np.unique(self.datasets[held], return_inverse=True, return_counts=True)
        shares = np.ones(len(codes)) if self.weights is None else self.weights[codes]
        return (shares / counts)[place]

    def scored(self, system: SystemRuns) -> NDArray[np.bool_]:
        """Return which items a system can be judged on: those with a score in each of its settings.

        With several datasets settings may differ between these: a score in some run will do.
        """
        return system.has if self.datasets is not None else system.has_each

    def independent(self, system: SystemRuns) -> int:
        """Return how many clusters, or items, of a system are drawn one by one; of run scores, how many runs."""
        if self.per_run:
            return len(system.runs)
        held = self.scored(system)
        return int(held.sum()) if self.clusters is None else len(np.unique(self.clusters[held]))

    def system(self, name: str) -> SystemRuns:
        """Return the runs of one system."""
        return next(system for system in self.systems if system.name == name)


def has_scores(scores: Floats, settings: NDArray[np.integer] | None) -> NDArray[np.bool_]:
    """Return which items, rows of scores by items and runs, have a score in each setting; None for one setting."""
    groups = [scores] if settings is None else [scores[:, settings == code] for code in np.unique(settings)]
    return np.asarray(np.logical_and.reduce([~np.isnan(group).all(axis=1) for group in groups]))


def lay_out(scores: Scores, *, nested_runs: bool = False) -> tuple[Evaluation, ...]:
    """Return the evaluation by each metric; rows without a score or a label are left out, as `rows` says."""
    usable = scores.only(scores.usable)
    if not len(usable):
        raise ScoresError(f"no row of {scores.source} has a finite score and all its labels: run holdsup check")
    refuse(find_odd_scale(usable))
    refuse(find_broken_clusters(usable))
    if usable.metric is None:
        return (lay_out_metric(usable, None, nested_runs=nested_runs),)
    return tuple(
        lay_out_metric(usable.only(usable.metric.codes == code), name, nested_runs=nested_runs)
        for code, name in enumerate(usable.metric.names)
    )


def lay_out_metric(scores: Scores, metric: str | None, *, nested_runs: bool = False) -> Evaluation:
    """Return the evaluation by one metric; all rows have a score and all labels."""
    item, shown = scores.units.codes, scores.units.first
    clusters = None if scores.cluster is None else scores.cluster.codes[shown].astype(np.int64)
    datasets = None
    if scores.dataset is not None and scores.dataset.count > 1 and scores.item is not None:
        datasets = scores.dataset.codes[shown].astype(np.int64)
    seeds = _shared(scores)
    return Evaluation(
        metric=metric,
        scores=scores,
        item=item,
        seeds=seeds,
        systems=tuple(_systems(scores, item, len(shown), seeds, datasets)),
        items=len(shown),
        per_run=scores.unit is None,
        clusters=clusters,
        datasets=datasets,
        dataset_names=scores.dataset.names if scores.dataset is not None else (),
        nested_runs=nested_runs,
    )


def _systems(
    scores: Scores, item: Codes, items: int, seeds: Codes | None, datasets: Codes | None
) -> Iterator[SystemRuns]:
    settings = [labels for name, labels in scores.facets.items() if not is_repetition(scores, name)]
    for code, name in enumerate(scores.system.names):
        rows = np.flatnonzero(scores.system.codes == code)
        runs = cross(scores.run.take(rows))
        shown, shape, of = rows[runs.first], (items, runs.count), scores.sampled
        yield SystemRuns(
            name=name,
            scores=_grid(scores.score[rows], item[rows], runs.codes, shape),
            runs=tuple(scores.run.names[c] for c in scores.run.codes[shown]),
            settings=cross(*(labels.take(shown) for labels in settings), rows=len(shown)).codes,
            seeds=None if seeds is None else seeds[shown],
            datasets=datasets,
            sampled=None
            if of is None
            else (
                _grid(of.variance[rows], item[rows], runs.codes, shape),
                _grid(of.counts[rows], item[rows], runs.codes, shape),
            ),
        )


def is_repetition(scores: Scores, facet: str) -> bool:
    """Return whether the levels of a facet are mere repetitions, not settings."""
    return scores.roles.is_repetition(facet)


def _shared(scores: Scores) -> Codes | None:
    """Return the combination of shared facets of each row; the same number means the same in every system."""
    columns: list[Labels] = []
    for name in scores.roles.shared:
        if not is_repetition(scores, name):
            raise ScoresError(
                f"--shared {name}: {name!r} is a setting, and only repetitions such as seeds can be shared: add "
                f"--replicates {shell_names([name])} if its levels only repeat runs, or leave it out of --shared"
            )
        labels = scores.facets[name]
        by_system = [set(labels.codes[scores.system.codes == s].tolist()) for s in range(scores.system.count)]
        if not set.intersection(*by_system):
            raise ScoresError(
                f"--shared {name}: no level of {name!r} occurs in all systems ({list_names(scores.system.names)}), so "
                "nothing is shared: leave it out"
            )
        columns.append(labels)
    return cross(*columns).codes if columns else None


def _grid(score: Floats, item: Codes, run: Codes, shape: tuple[int, int]) -> Floats:
    """Return scores by item and run; several in one cell are averaged (the audit reports them)."""
    place = item * shape[1] + run
    count = np.bincount(place, minlength=shape[0] * shape[1])
    total = np.bincount(place, score, shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        return np.asarray((total / count).reshape(shape))


def check_reachable(evaluations: Sequence[Evaluation], size: float, option: str) -> None:
    """Refuse a size that no difference of such scores reaches: it is in another unit, and settles everything."""
    widths = []
    for each in evaluations:
        known = each.scores.score[each.scores.usable]
        low, high = each.ends or (known.min(), known.max())
        widths.append((float(high - low), float(low), float(high)))
    width, low, high = max(widths)
    if size >= width > 0:
        raise ScoresError(
            f"--{option} {size:g}: scores are from {low:g} to {high:g}, so no difference could be as large: give the "
            f"{option} in the unit of the scores"
        )
