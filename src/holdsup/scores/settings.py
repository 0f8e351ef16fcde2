"""Columns named like settings: those in which runs differ, and those that hold what came out of training."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.errors import shell_names
from holdsup.results.cautions import Caution
from holdsup.scores.faults import note
from holdsup.scores.roles import Roles, is_length
from holdsup.scores.table import Scores

Codes = NDArray[np.int64]


def keep_settings(
    roles: Roles,
    labels: Mapping[str, Labels],
    system: Labels,
    items: Collection[Labels | None],
    guessed: Collection[str],
) -> Roles:
    """Return the roles without those of the `guessed` facets in which the runs of a system do not differ.

    Such a column may describe systems or items, or be measured row by row. `items` are the labels that make an item.
    """
    run = labels[roles.run] if roles.run else None
    kept = [name for name in roles.facets if name not in guessed or _explains(labels[name], system, run, items)]
    return replace(roles, facets=tuple(kept), replicates=tuple(name for name in roles.replicates if name in kept))


def _explains(column: Labels, system: Labels, run: Labels | None, items: Collection[Labels | None]) -> bool:
    """Return whether runs differ in a column: within systems, on the same items, and never within a run."""
    rows, within = len(column.codes), cross(system, column)
    if within.count == cross(system).count or _has_gaps(column, system):
        return False
    if any(labels is not None for labels in items) and (
        2 * within.count > rows or cross(*items, column).count == cross(*items).count < rows
    ):
        return False
    return run is None or cross(system, run, column).count == cross(system, run).count


def _has_gaps(column: Labels, system: Labels) -> bool:
    """Return whether a system has rows with and rows without a value."""
    lacks = column.codes < 0
    return bool(np.intersect1d(system.codes[lacks], system.codes[~lacks]).size)


def leave_out_outcomes(
    roles: Roles,
    labels: Mapping[str, Labels],
    system: Labels,
    dataset: Labels | None,
    guessed: Collection[str],
    said: Sequence[Caution],
) -> tuple[Roles, list[Caution]]:
    """Return the roles without those of the `guessed` facets that are outcomes, and `said` with a note on each."""
    settings = [system, *(labels[c] for c in roles.facets if c not in roles.replicates and not is_length(c))]
    repeats = [labels[c] for c in (*roles.replicates, *([roles.run] if roles.run else []))]
    doubtful = [c for c in roles.facets if c in guessed and is_length(c)]
    found = [c for c in doubtful if _is_outcome(labels[c].codes, settings, dataset, repeats)]
    kept = tuple(c for c in roles.facets if c not in found)
    notes = [
        replace(note("outcome-not-setting", say_outcome(c, "--facets", (*kept, c))), about=f"column:{c}") for c in found
    ]
    return replace(roles, facets=kept), [*said, *notes]


def find_outcomes(scores: Scores) -> tuple[str, ...]:
    """Return the columns without a role that are named like the length of trainings and are outcomes."""
    roles = scores.roles
    settings = [scores.system, *(column for name, column in scores.facets.items() if name not in roles.replicates)]
    repeats = [scores.facets[name] for name in roles.replicates] + ([scores.run] if roles.run else [])
    named = {name: column for name, column in scores.others.items() if is_length(name)}
    return tuple(n for n, c in named.items() if _is_outcome(_codes(c), settings, scores.dataset, repeats))


def say_outcome(column: str, option: str, asked: Sequence[str]) -> str:
    """Return the line that says that a column is no setting, and which option makes it one."""
    return (
        f"Column {column} differs from run to run, as with early stopping: it counts as an outcome, not a setting. "
        f"Give {option} {shell_names(asked)} if you chose it."
    )


def _is_outcome(
    column: NDArray[np.integer], settings: Collection[Labels], dataset: Labels | None, repeats: Collection[Labels]
) -> bool:
    """Return whether runs that differ by chance alone have values of their own, and no grid of them.

    A setting that was varied is crossed with the seeds, or has as many runs at each of its values.
    """
    known = np.flatnonzero(column >= 0)
    if not repeats or not len(known):
        return False
    values = column[known].astype(np.int64)
    for parts in (settings, [*settings, *([] if dataset is None else [dataset])]):  # of all datasets, or each its own
        group = cross(*(labels.take(known) for labels in parts)).codes
        runs = cross(group, *(labels.take(known) for labels in repeats))
        if cross(runs.codes, values).count == runs.count:
            return _varies_by_chance(group[runs.first], values[runs.first])
    return False


def _varies_by_chance(group: Codes, values: Codes) -> bool:
    """Return whether the values of runs differ within groups, and neither recur in these nor from one to the next."""
    found = [np.unique(values[group == code], return_counts=True) for code in np.unique(group)]
    varied = [(levels, counts) for levels, counts in found if len(levels) > 1]
    even = all(np.ptp(counts) == 0 for _, counts in varied)
    repeated = all(counts.min() > 1 for _, counts in varied)
    same = len(varied) > 1 and all(np.array_equal(levels, varied[0][0]) for levels, _ in varied)
    return bool(varied) and not (even and (repeated or same))


def _codes(column: Labels | Numbers) -> NDArray[np.integer]:
    """Return numbers as codes of their values, -1 where there is none."""
    if isinstance(column, Labels):
        return column.codes
    known = np.isfinite(column.values)
    codes = np.full(len(column.values), -1)
    codes[known] = np.unique(column.values[known], return_inverse=True)[1]
    return codes
