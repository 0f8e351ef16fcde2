"""Facets that were found by the names of settings: those that the rows bear out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.scores.findings import present
from holdsup.scores.roles import Roles

__all__ = ["keep_settings"]


def keep_settings(
    roles: Roles, labels: Mapping[str, Labels], system: Labels, items: Collection[Labels], guessed: Collection[str]
) -> Roles:
    """Return the roles without those of the `guessed` facets in which the runs of a system do not differ.

    Such a column may describe systems or items, or be measured row by row. `items` are the labels that make an item.
    """
    run = labels[roles.run] if roles.run else None
    kept = [name for name in roles.facets if name not in guessed or _explains(labels[name], system, run, items)]
    return replace(roles, facets=tuple(kept), replicates=tuple(name for name in roles.replicates if name in kept))


def _explains(column: Labels, system: Labels, run: Labels | None, items: Collection[Labels]) -> bool:
    """Return whether runs differ in a column: within systems, on the same items, and never within a run."""
    rows, within = len(column.codes), cross(system, column)
    if within.count == cross(system).count or _has_gaps(column, system):
        return False
    if items and (2 * within.count > rows or cross(*items, column).count == cross(*items).count < rows):
        return False
    return run is None or cross(system, run, column).count == cross(*present(system, run)).count


def _has_gaps(column: Labels, system: Labels) -> bool:
    """Return whether a system has rows with and rows without a value."""
    lacks = column.codes < 0
    return bool(np.intersect1d(system.codes[lacks], system.codes[~lacks]).size)
