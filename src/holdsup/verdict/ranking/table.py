"""`RunTable`: one score for each system, dataset and run, with its nuisance columns."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Column, Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.columns.encoding import order_labels
from holdsup.columns.values import parse_number, write_value
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.faults import refuse
from holdsup.scores.refusals import find_odd_scale
from holdsup.scores.roles import is_replicate, is_setting, plain_name
from holdsup.scores.settings import find_outcomes
from holdsup.verdict.evaluation import is_repetition
from holdsup.verdict.phrases import join_names
from holdsup.verdict.samples import average_samples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Besides what is a setting everywhere, counted as nuisance without being asked for: a ranking is of runs, whose other
# columns seldom describe items.
MORE_SETTINGS = (
    "batch bs epoch num_epochs n_epochs num_train_epochs steps max_steps warmup_steps warmup_ratio optimizer optimiser "
    "max_length hidden_size prompt template shots n_shots num_shots"
).split()
SPLITS = ("fold", "split")  # nuisance, too, but the first fold of one dataset is not that of another
Lacking: TypeAlias = tuple[str, int, int]  # a dataset, how many of its items some run lacks, how many it has
LEFT_OUT = "an item that some run on its dataset lacks: in no mean"
LEAST_ITEMS, LEAST_SHARE = 2, 0.2  # of a dataset that every run must have, or all of its items count
MOST_NAMES = 3  # of datasets
SAME = 1e-9  # by which weights of items differ that are equal


@dataclass(frozen=True, slots=True)
class Pairing:
    """Whether systems were averaged over the same items."""

    rows: int = 0  # scores that are in no mean
    common: tuple[Lacking, ...] = ()  # the datasets of which items were left out
    apart: tuple[Lacking, ...] = ()  # those on which systems were averaged over different items

    def cautions(self) -> Iterator[Caution]:
        """Yield which items were left out, and where systems have different items."""
        if self.common:
            left = sum(count - lacking for _, lacking, count in self.common)
            yield Caution(
                code="items-left-out",
                about="data",
                message=f"{_lack(self.common)}: means are over the {left:,} that all have.",
            )
        if self.apart:
            yield Caution(
                code="different-items",
                severity="error",
                message="Systems are averaged over different items: a lead may be that of easier ones.",
                effect=f"{_lack(self.apart)}.",
                advice="holdsup compare pairs systems by item.",
            )


PAIRED = Pairing()


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The rows that systems are ranked by."""

    score_name: str  # how the columns are called
    system_name: str
    dataset_name: str
    score: Floats  # one score a row, shape (n,)
    system: Labels  # what is ranked
    dataset: Labels  # where it was scored
    # the nuisance columns as labels; labels that are numbers stand in the order of their size
    factors: Mapping[str, Labels]
    ingredients: Mapping[str, Floats]  # columns that describe systems, as numbers
    trainings: Codes  # the training run of each row, whatever the dataset: the same number on two datasets is one name
    settings: Codes  # the setting of each row: trainings of one setting differ by chance alone
    nested_runs: bool  # whether each dataset has its own runs: declared, by folds of its own, or as no name recurs
    declared: bool = False  # whether it was declared
    items: int = 0  # most items whose scores were averaged to one row; 0 where rows came as they are
    pairing: Pairing = PAIRED  # whether systems were averaged over the same items

    def __len__(self) -> int:
        return len(self.score)

    def take(self, rows: NDArray[np.bool_] | Codes) -> RunTable:
        """Return some of the rows (indices or a mask); levels that no longer occur are dropped."""
        return replace(
            self,
            score=self.score[rows],
            system=self.system.take(rows),
            dataset=self.dataset.take(rows),
            factors={name: labels.take(rows) for name, labels in self.factors.items()},
            ingredients={name: values[rows] for name, values in self.ingredients.items()},
            trainings=self.trainings[rows],
            settings=self.settings[rows],
        )

    def cells(self) -> Codes:
        """Return how many rows each system has on each dataset, shape (systems, datasets)."""
        place = self.system.codes.astype(np.int64) * self.dataset.count + self.dataset.codes
        return np.bincount(place, minlength=self.system.count * self.dataset.count).reshape(self.system.count, -1)

    def cell_means(self, values: Floats) -> Floats:
        """Return the mean of values for each system and dataset, NaN where there are none."""
        place = self.system.codes.astype(np.int64) * self.dataset.count + self.dataset.codes
        total = np.bincount(place, values, self.system.count * self.dataset.count).reshape(self.system.count, -1)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / self.cells())

    def numbers(self, name: str) -> Floats | None:
        """Return a nuisance column as numbers, None if some level is none."""
        labels = self.factors[name]
        parsed = parse_labels(labels)
        return None if parsed is None else parsed[labels.codes]


def name_of_role(scores: Scores, role: str) -> str:
    """Return the column that has a role, or the role where several columns or none have it."""
    column = getattr(scores.roles, role)
    return column if isinstance(column, str) else role


def find_nuisance(scores: Scores, treated: Container[str] = ()) -> tuple[str, ...]:
    """Return the columns that are nuisance factors by their names: facets, and settings that have no role yet.

    What came out of training is none, unless it is to be treated as one: to adjust for it takes away what a system
    gains by it.
    """
    settings = [
        name for name in scores.others if is_named_setting(name) or is_replicate(name) or plain_name(name) in SPLITS
    ]
    outcomes = [name for name in find_outcomes(scores) if name not in treated]
    return (*scores.facets, *(name for name in settings if name not in outcomes))


def is_named_setting(name: str) -> bool:
    """Return whether a column is named like a setting, of which each level is the same thing everywhere."""
    return is_setting(name) or plain_name(name) in MORE_SETTINGS


def lay_out_runs(
    scores: Scores, nuisance: Iterable[str], ingredients: Iterable[str], *, nested_runs: bool = False
) -> RunTable:
    """Return the usable rows; the scores of a run's items are averaged."""
    usable = average_samples(scores.only(scores.usable))
    if not len(usable):
        raise ScoresError(f"{scores.source} has no row with a finite score and all its labels: see holdsup check")
    refuse(find_odd_scale(usable))
    if usable.metric is not None and usable.metric.count > 1:
        first = shlex.quote(f"{name_of_role(scores, 'metric')}={usable.metric.names[0]}")
        raise ScoresError(
            f"{scores.source} has {usable.metric.count} metrics, and a ranking is by one: choose it with "
            f"--where {first}"
        )
    if usable.dataset is None:
        raise ScoresError(f"{scores.source} has no column of datasets: name it with --dataset")
    factors = {name: _factor(usable, name) for name in dict.fromkeys(nuisance)}
    trainings, settings = _find_trainings(usable, factors)
    own = any(plain_name(name) in SPLITS and labels.count > 1 for name, labels in factors.items())
    recur = cross(trainings, usable.dataset).count > cross(trainings).count
    runs = RunTable(
        score_name=name_of_role(scores, "score"),
        system_name=name_of_role(scores, "system"),
        dataset_name=name_of_role(scores, "dataset"),
        score=usable.score,
        system=usable.system,
        dataset=usable.dataset,
        factors=factors,
        ingredients={name: _ingredient(usable, name) for name in dict.fromkeys(ingredients)},
        trainings=trainings,
        settings=settings,
        nested_runs=nested_runs or own or not recur,
        declared=nested_runs,
    )
    for name in (runs.score_name, runs.system_name, runs.dataset_name, *factors, *runs.ingredients):
        if "`" in name:
            raise ColumnError(f"column {name!r} has a back-quote in its name, and no formula can hold it: rename it")
    return runs if usable.item is None else _average_items(usable, runs)


def _find_trainings(scores: Scores, factors: Mapping[str, Labels]) -> tuple[Codes, Codes]:
    """Return the training run of each row, and its setting: what its nuisance columns are, but for repetitions."""
    setting = [labels for name, labels in factors.items() if not is_repetition(scores, name)]
    return cross(scores.run, *factors.values()).codes, cross(*setting, rows=len(scores)).codes


def _average_items(scores: Scores, runs: RunTable) -> RunTable:
    """Return one row a run and dataset: the mean over its items, or over those that every run there has."""
    groups = cross(runs.system, runs.dataset, scores.run, *runs.factors.values())
    if groups.count == len(runs) or scores.item is None:  # every run has one row, whatever its items are called
        return runs
    # A fold has items of its own.
    splits = [labels for name, labels in runs.factors.items() if plain_name(name) in SPLITS]
    kept, pairing = pair_items(runs.system, runs.dataset, scores.item, groups.codes, splits)
    sizes = np.bincount(groups.codes[kept], minlength=groups.count)
    means = np.bincount(groups.codes[kept], runs.score[kept], groups.count) / sizes
    return replace(runs.take(groups.first), score=means, items=int(sizes.max()), pairing=pairing)


def _factor(scores: Scores, name: str) -> Labels:
    """Return a nuisance column as labels; every row must have one."""
    column = _find(scores, name, "--nuisance")
    labels = column if isinstance(column, Labels) else _labels(column.values)
    lacking = int((labels.codes < 0).sum())
    if lacking:
        raise ScoresError(
            f"{lacking:,} of {len(scores):,} rows have no {name}: fill the column, or leave it out of --nuisance"
        )
    parsed = parse_labels(labels)
    if parsed is None:
        return labels
    labels, parsed = join_spellings(labels, parsed)
    order = pa.array([labels.names[i] for i in np.argsort(parsed, kind="stable")], pa.string())
    return order_labels(labels.codes, labels.levels, order)


def _find(scores: Scores, name: str, option: str) -> Column:
    known: dict[str, Column] = {**scores.others, **scores.properties, **scores.facets}
    if name in known:
        return known[name]
    if name in scores.roles.columns():
        role = scores.roles.columns()[name]
        raise ColumnError(f"{option} {name}: it is the column of the {role}, so it cannot be anything else")
    raise ColumnError.not_found(name, dict.fromkeys((*scores.roles.columns(), *known)), where=scores.source)


def _ingredient(scores: Scores, name: str) -> Floats:
    """Return a column that describes systems as numbers; it must be the same in all rows of a system."""
    column = _find(scores, name, "--contribution")
    values: Floats | None
    if isinstance(column, Labels):
        parsed = parse_labels(column)
        values = None if parsed is None or (column.codes < 0).any() else parsed[column.codes]
    else:
        values = column.values
    if values is None or not np.isfinite(values).all():
        raise ScoresError(f"--contribution {name}: it must be a number in every row, such as 0 or 1")
    for code, system in enumerate(scores.system.names):
        found = values[scores.system.codes == code]
        if np.ptp(found) > 0:
            raise ScoresError(
                f"--contribution {name}: it differs between rows of {system!r} ({found.min():g} and {found.max():g}); "
                "an ingredient belongs to a system: give a column that is constant within systems"
            )
    if np.ptp(values) == 0:
        raise ScoresError(
            f"--contribution {name}: it is {values[0]:g} in all systems, so it tells nothing: leave it out"
        )
    return values


def _labels(values: Floats) -> Labels:
    """Return a column of numbers as labels."""
    known = np.isfinite(values)
    levels, codes = np.unique(values[known], return_inverse=True)
    every = np.full(len(values), -1)
    every[known] = codes
    return Labels.of(every, [write_value(float(level)) or "" for level in levels])


def find_spellings(labels: Labels) -> list[list[str]]:
    """Return the numbers that are written in several ways, each with its spellings; none where a label is no number."""
    parsed = parse_labels(labels)
    if parsed is None:
        return []
    alike = [[name for name, number in zip(labels.names, parsed, strict=True) if number == value]
             for value in np.unique(parsed)]  # fmt: skip
    return [names for names in alike if len(names) > 1]


def join_spellings(labels: Labels, parsed: Floats) -> tuple[Labels, Floats]:
    """Return labels in which 3e-5 and 0.00003 are one level, called as most rows call it."""
    values, place = np.unique(parsed, return_inverse=True)
    if len(values) == len(parsed):
        return labels, parsed
    sizes = np.bincount(labels.codes, minlength=labels.count)
    groups = [np.flatnonzero(place == i) for i in range(len(values))]
    names = [max((int(sizes[i]), -len(labels.names[i]), labels.names[i]) for i in group)[2] for group in groups]
    joined = Labels.of(place[labels.codes], names)
    return joined, np.array([values[names.index(name)] for name in joined.names])


def parse_labels(labels: Labels) -> Floats | None:
    """Return the number that each label is, None if one is none."""
    parsed = [parse_number(name) for name in labels.names]
    if any(number is None or not np.isfinite(number) for number in parsed):
        return None
    return np.array(parsed, dtype=float)


def _lack(datasets: Sequence[Lacking]) -> str:
    """Return how many items of which datasets lack a score."""
    lacking, count = sum(lacking for _, lacking, _ in datasets), sum(count for _, _, count in datasets)
    named = join_names([name for name, _, _ in datasets], most=MOST_NAMES)
    lack = "lacks" if lacking == 1 else "lack"
    return f"{lacking:,} of {format_counted(count, 'item')} of {named} {lack} a score of some system or run"


def pair_items(
    system: Labels, dataset: Labels, item: Labels, runs: NDArray[np.int64], splits: Sequence[Labels]
) -> tuple[NDArray[np.bool_], Pairing]:
    """Return which rows are averaged, and what is said of the others.

    A dataset is left as it is where each item has the same weight in the mean of every system: all are there, or each
    run has items of its own that the runs of the other systems have, too.

    Parameters
    ----------
    runs : the run of each row on its dataset, at its settings
    splits : columns whose levels have items of their own
    """
    part, kept = cross(dataset, *splits), np.ones(len(runs), bool)
    weights = 1 / np.bincount(runs)[runs]
    found: tuple[dict[str, Lacking], dict[str, Lacking]] = {}, {}
    for rows in np.split(np.argsort(part.codes, kind="stable"), np.cumsum(part.sizes())[:-1]):
        items = cross(item.take(rows))
        if _weigh_alike(cross(system.take(rows)), items, weights[rows]):
            continue
        there = cross(runs[rows])
        cells = cross(items.codes, there.codes)
        whole = np.bincount(items.codes[cells.first], minlength=items.count) == there.count
        lacking = items.count - int(whole.sum())
        if not lacking:
            continue
        enough = items.count - lacking >= max(LEAST_ITEMS, LEAST_SHARE * items.count)
        if enough:
            kept[rows] = whole[items.codes]
        name = dataset.names[int(dataset.codes[rows[0]])]
        _, before, count = found[not enough].get(name, (name, 0, 0))
        found[not enough][name] = (name, before + lacking, count + items.count)
    common, apart = (tuple(each.values()) for each in found)
    return kept, Pairing(int((~kept).sum()), common, apart)


def _weigh_alike(systems: Crossing, items: Crossing, weights: NDArray[np.float64]) -> bool:
    """Return whether each item has the same weight in the mean of every system."""
    place = systems.codes * items.count + items.codes
    table = np.bincount(place, weights, systems.count * items.count).reshape(systems.count, -1)
    return bool(np.ptp(table / table.sum(axis=1, keepdims=True), axis=0).max() <= SAME)
