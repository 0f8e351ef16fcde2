"""Where nuisance columns and systems cannot be told apart, in part."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import shell_names
from holdsup.rendering.numbers import format_counted
from holdsup.verdict.phrases import join_names
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.treatments import is_constant_in_cells

__all__ = ["find_confounded", "find_tuned"]

Floats = NDArray[np.float64]
BREADTH = 0.75  # of the range of an amount, below which a system is said to have a part of it only


def find_confounded(fits: RankFits) -> Iterator[str]:
    """Yield where a nuisance factor cannot be told, in part, from systems, or from systems on datasets."""
    yield from _with_systems(fits)
    yield from _tuned(fits)


def find_tuned(fits: RankFits) -> list[str]:
    """Return the settings that are adjusted for, of which every system has one on each dataset."""
    random = {t.name for t in fits.form.treatments if t.treated in ("random", "left out")} - fits.form.drawn
    return [name for name in fits.isolated_columns() if name not in random and is_constant_in_cells(fits.runs, name)]


def _with_systems(fits: RankFits) -> Iterator[str]:
    runs = fits.runs
    for treatment in fits.form.treatments:
        name, labels = treatment.name, runs.factors[treatment.name]
        if treatment.treated == "left out" or (treatment.treated == "random" and name not in fits.form.drawn):
            continue
        numbers = runs.numbers(name) if treatment.treated in ("numeric", "log") else None
        if numbers is not None:
            yield from _disjoint(runs, name, numbers)
            yield from _narrow(runs, name, numbers, np.log10(numbers) if treatment.treated == "log" else numbers)
            continue
        yield from _absent(runs, name, labels)
        together = cross(runs.system, labels)
        users = np.bincount(labels.codes[together.first], minlength=labels.count)
        alone = [level for level, count in zip(labels.names, users, strict=True) if count == 1]
        if alone:
            yield (
                f"{name} is confounded with systems: {format_counted(len(alone), 'level')} of {labels.count} "
                f"({join_names(alone)}) {'is' if len(alone) == 1 else 'are'} used by one system only, so that "
                "its effect there is partly that system's."
            )


def _absent(runs: RunTable, name: str, labels: Labels) -> Iterator[str]:
    """Yield which systems have no row at some level of a fixed factor, where only the others can tell its effect."""
    seen = np.zeros((runs.system.count, labels.count), bool)
    seen[runs.system.codes, labels.codes] = True
    lacking = [
        f"{system} ({join_names([level for level, there in zip(labels.names, row, strict=True) if not there])})"
        for system, row in zip(runs.system.names, seen, strict=True)
        if not row.all()
    ]
    if lacking:
        yield (
            f"Some systems have no row at some levels of {name}: {join_names(lacking)}; there their means rest on what "
            "these levels do in other systems."
        )


def _disjoint(runs: RunTable, name: str, numbers: Floats) -> Iterator[str]:
    spans = [
        (float(numbers[mine].min()), float(numbers[mine].max()), system)
        for code, system in enumerate(runs.system.names)
        if (mine := runs.system.codes == code).any()
    ]
    spans.sort()
    for (_, high, below), (low, _, above) in itertools.pairwise(spans):
        if low > high:
            yield (
                f"{name} is confounded with systems: {below} has at most {high:g} of it and {above} at least {low:g}, "
                "so that its slope is partly a difference of systems."
            )
            return


def _narrow(runs: RunTable, name: str, numbers: Floats, scale: Floats) -> Iterator[str]:
    """Yield which systems have a part of an amount's range only, where a line must reach beyond it."""
    mine = [runs.system.codes == code for code in range(runs.system.count)]
    narrow = [
        f"{system} ({numbers[rows].min():g} to {numbers[rows].max():g})"
        for system, rows in zip(runs.system.names, mine, strict=True)
        if np.ptp(scale[rows]) < BREADTH * np.ptp(scale)
    ]
    if narrow:
        yield (
            f"Some systems have a part of the range of {name} only, {numbers.min():g} to {numbers.max():g}: "
            f"{join_names(narrow)}; their means rest on the line beyond it."
        )


def _tuned(fits: RankFits) -> Iterator[str]:
    """Yield which settings a system has one of on each dataset."""
    names = find_tuned(fits)
    if names:
        kept = [t.name for t in fits.form.treatments if t.treated != "left out" and t.name not in names]
        option = f"--nuisance {shell_names(kept)}" if kept else "a --nuisance of other columns"
        yield (
            f"Every system has one setting of {join_names(names)} on each dataset, so that the effect comes from "
            "comparing these cells with each other. If it was tuned there, adjusting for it takes away what tuning "
            f"gained: {option} leaves that in."
        )
