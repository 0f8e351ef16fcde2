"""Faults with which no question can be asked: `check` tells them as errors, `compare`, `variance` and `rank` refuse.

Each is found by one function, so that no table passes the one and fails the other.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import numpy as np

from holdsup.columns import Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import list_names, shell_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution
from holdsup.scores.faults import count_have, make_fault
from holdsup.scores.mixtures import find_mixtures
from holdsup.scores.roles import is_progress
from holdsup.scores.suggestions import (
    find_differing,
    point_to_roles,
    suggest_facets,
    suggest_part,
    suggest_replicates,
)
from holdsup.scores.table import Scores

LARGEST, SMALLEST = 1e60, 1e-60  # of scores, without their sign: squares of variances of others overflow, or vanish


def find_refusals(scores: Scores) -> Iterator[Caution]:
    """Yield every fault for which a question would refuse a table; all rows must have all labels."""
    usable = scores.only(scores.usable)
    if not len(usable):
        return
    yield from find_odd_scale(usable)
    yield from find_broken_clusters(usable)
    yield from find_item_facets(usable, usable.facets)
    yield from find_measured_facets(usable)
    for code in range(1 if usable.metric is None else usable.metric.count):
        part = usable if usable.metric is None else usable.only(usable.metric.codes == code)
        yield from find_told_apart(
            part, cross(part.run, part.units.codes, part.sample, part.rater), part.unit, needed=part.unit is not None
        )
    yield from find_mixtures(usable)


def find_odd_scale(usable: Scores) -> Iterator[Caution]:
    """Find scores whose variances cannot be computed with: their squares overflow, or vanish."""
    largest = float(np.abs(usable.score).max())
    if largest > LARGEST or 0 < largest < SMALLEST:
        what = "large" if largest > LARGEST else "small"
        yield make_fault(
            "scores-beyond-computing",
            f"The largest score of {usable.source} is {largest:.3g}, which is too {what} to compute with.",
            advice="Give scores in another unit, such that the largest is between 1e-60 and 1e60.",
        )


def find_broken_clusters(usable: Scores) -> Iterator[Caution]:
    """Find items that are in no cluster, or in two."""
    if usable.cluster is None:
        return
    item, codes = usable.units, usable.cluster.codes
    clusters = codes[item.first]
    if count := int((clusters < 0).sum()):
        yield make_fault(
            "broken-clusters",
            f"{count_have(count, 'item')} no cluster.",
            count=count,
            advice="Fill the column, or leave clusters out with --cluster -.",
        )
        return
    astray = np.flatnonzero(codes != clusters[item.codes])
    if not len(astray):
        return
    column, row = usable.roles.cluster, astray[0]
    if usable.item is None:
        message = f"{column!r} was read as clusters of items, but {point_to_roles(usable)}."
        yield make_fault("broken-clusters", message, advice="Or leave clusters out with --cluster -.")
        return
    both = " and ".join(repr(usable.cluster.names[code]) for code in (clusters[item.codes[row]], codes[row]))
    yield make_fault(
        "broken-clusters",
        f"Item {usable.item.names[usable.item.codes[row]]!r} is in two clusters, {both}, and an item belongs to one.",
        count=cross(item.codes[astray]).count,
        advice=f"If ids start anew in each {column}, join {column} and id in one column; if it is one item, leave "
        "clusters out with --cluster -.",
    )


def find_item_facets(usable: Scores, facets: Iterable[str]) -> Iterator[Caution]:
    """Find those of the facets that are properties of the items."""
    for name in facets:
        if _belongs_to_items(usable, usable.facets[name]):
            yield make_fault(
                "item-facet",
                f"--facets {name}: every item has one value of {name!r}, so it is a property of the items, not a "
                "source of variation between runs.",
                advice=f"Leave it out of --facets, and use --by {shell_names([name])} or --dataset "
                f"{shlex.quote(name)}.",
            )


def find_measured_facets(usable: Scores) -> Iterator[Caution]:
    """Find facets that are measurements of runs: a fit would give them a variance that means nothing."""
    for name, labels in usable.facets.items():
        others = {other: each for other, each in usable.facets.items() if other != name}
        if not usable.roles.is_repetition(name) and _measures_runs(usable, labels, others):
            yield make_fault(
                "measured-facet",
                f"--facets {name}: {name!r} differs in every run, whatever {list_names(others)} is, like a "
                "measurement.",
                advice=f"Its variance is that of the runs, so leave {name} out of --facets.",
            )


def _belongs_to_items(usable: Scores, labels: Labels) -> bool:
    """Return whether every item has one value, although items have several scores and values differ."""
    if usable.items is None or usable.items.count == len(usable) or cross(labels).count < 2:
        return False
    return cross(usable.items.codes, cross(labels).codes).count == usable.items.count


def _measures_runs(usable: Scores, labels: Labels, others: dict[str, Labels]) -> bool:
    """Return whether the values number the runs of every system, although it has seeds, at which settings repeat."""
    seeds = [each for name, each in others.items() if usable.roles.is_repetition(name)]
    told = []
    for code in range(usable.system.count):
        rows = usable.system.codes == code
        runs = cross(usable.run.take(rows)).count
        if runs > 1:
            repeated = any(cross(each.take(rows)).count > 1 for each in seeds)
            told.append(repeated and cross(labels.take(rows)).count == runs)
    return bool(told) and all(told)


def find_told_apart(scores: Scores, cells: Crossing, unit: str | None, *, needed: bool) -> Iterator[Caution]:
    """Find cells with several scores that a column tells apart; `unit` is what a cell is of besides a run, if anything.

    Checkpoints of one training are no trainings of their own: five of them counted as runs reject 16 to 43% of true
    nulls. A column that is named like the progress of a training is enough, wherever it differs; any other counts where
    it is `needed`, and every unit of some system has several scores.
    """
    for name in scores.roles.replicates:
        if is_progress(name) and scores.facets[name].count > 1:
            column = shell_names([name])
            alone = scores.roles.run is None and len(scores.roles.replicates) == 1
            separate = f"give --run {column}" if alone else "rename the column, to trial for example"
            yield make_fault(
                "told-apart",
                f"--replicates {column}: a column of this name counts checkpoints of one training, and five "
                "checkpoints taken as runs reject 16 to 43% of true nulls.",
                advice=f"Give --last {column} to use the last checkpoint of each run; if each value is a separate "
                f"training, {separate}.",
            )
    sizes = cells.sizes()
    if sizes.max(initial=0) < 2:
        return
    least = np.full(scores.system.count, len(scores))
    np.minimum.at(least, scores.system.codes[cells.first], sizes)
    differing = list(find_differing(scores, cells))
    names = [name for name in differing if is_progress(name)] or (differing if needed and least.max() > 1 else [])
    if not names:
        return
    system, count = scores.system.names[int(least.argmax())], int(least.max())
    many = f"{format_counted(len(scores) - cells.count, 'score')} repeat a run{f' and its {unit}' if unit else ''}"
    if count > 1:
        many = f"Every {unit or 'run'} of {system!r} has {count} scores or more{' in each run' if unit else ''}"
    yield make_fault(
        "told-apart",
        f"{many}, and {list_names(names)} {'tells' if len(names) == 1 else 'tell'} them apart.",
        count=len(scores) - cells.count,
        advice=f"{_ways(scores, names)}.",
    )


def _ways(scores: Scores, names: list[str]) -> str:
    """Return what may be said about columns that tell repeated scores apart."""
    if is_progress(names[0]):
        column = shell_names(names[:1])
        separate = f"--run {column} if each is a separate training, " if scores.roles.run is None else ""
        return (
            f"Give --last {column} for the last one of each run, --where to choose one, {separate}or "
            f"{suggest_facets(scores, names[:1])} if it is a setting that you chose"
        )
    it, repeat, setting = ("it", "repeats", "is a setting") if len(names) == 1 else ("they", "repeat", "are settings")
    part = suggest_part(scores, names)
    one = f"{part} to use one part of the data alone, " if part else ""
    if scores.roles.system is None:
        one += f"--system {shell_names(names[:1])} if {it if len(names) == 1 else names[0]} names the systems, "
    return (
        f"Give {one}{suggest_replicates(scores, names)} if {it} only {repeat} runs, as a seed does, or "
        f"{suggest_facets(scores, names)} if {it} {setting} that you chose (answers cover new "
        "repetitions, but only the settings you tried); if items differ in them, join them with the item's id in one "
        "column, or name the one that is the --dataset"
    )
