"""Columns without a role: those that may tell rows apart which the roles do not, and the roles they may have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Column, Labels, Numbers
from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import list_names
from holdsup.scores.roles import SCORES, bare_name, is_progress, plain_name
from holdsup.scores.table import Scores

__all__ = ["MOST_SETTINGS", "code_column", "find_differing", "is_outcome", "is_remark", "point_to_roles"]

MOST_SETTINGS = 50  # a column of more different numbers is a measurement, not a setting
MOST_OWN = 0.5  # of the rows may have a value of their own; with more a column measures them
OUTCOMES = frozenset((*(name for names in SCORES for name in names), "latency", "runtime", "time")) - {"map", "y"}
REMARKS = frozenset(
    "status reason error message note notes comment remark time timestamp date seconds duration".split()
)


def find_differing(scores: Scores, cells: Crossing) -> Iterator[str]:
    """Yield the columns without a role that differ within a cell and are no outcome: they may tell its rows apart."""
    repeated = cells.sizes()[cells.codes] > 1
    groups = cells.codes[repeated]
    distinct = len(np.unique(groups))
    for name, column in scores.others.items():
        codes = code_column(column)
        # Without items a text of each row may name them.
        named = scores.item is None and isinstance(column, Labels)
        measured = is_outcome(name) or not (named or _has_few(codes)) or _is_measured(scores, column)
        if measured and not is_progress(name):
            continue
        if cross(groups, codes[repeated]).count > distinct:
            yield name


def point_to_roles(scores: Scores) -> str:
    """Return a clause for messages: for what no column is taken, which columns are left, and how to name one.

    It is empty where there are systems and items.
    """
    lost = {
        "system": scores.roles.system is None and scores.roles.wide != "system",
        "item": scores.item is None,
    }
    roles = [role for role, is_lost in lost.items() if is_lost]
    if not roles:
        return ""
    none = f"no column is taken for the {' or the '.join(f'{role}s' for role in roles)}"
    if not scores.others:
        return f"{none}, and no other column is left"
    left = f"{list_names(scores.others)} {'has' if len(scores.others) == 1 else 'have'} no role"
    return f"{none}, and {left}: name the right one with {' and '.join(f'--{role}' for role in roles)}"


def is_outcome(name: str) -> bool:
    """Return whether a column is named like what came of a run or a row: a score, a time, a remark."""
    return bool(OUTCOMES.intersection(bare_name(name).split("_"))) or is_remark(name)


def _has_few(codes: NDArray[np.int64]) -> bool:
    """Return whether values repeat; where about every row has its own, they were measured, or are outputs."""
    return len(np.unique(codes)) <= max(2, MOST_OWN * len(codes))


def _is_measured(scores: Scores, column: Column) -> bool:
    """Return whether a column holds many numbers, more than an item has scores, so that it is no name of runs."""
    if scores.items is None or not isinstance(column, Numbers):
        return False
    values = np.unique(column.values[np.isfinite(column.values)])
    if len(values) <= max(MOST_SETTINGS, scores.items.sizes().max()):
        return False
    counts = values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1  # numbers something: raters, say
    return not counts


def is_remark(name: str) -> bool:
    """Return whether a column is named like a remark on a row: why it failed, how long it took."""
    return plain_name(name) in REMARKS


def code_column(column: Column) -> NDArray[np.int64]:
    """Return the value of each row as a number that counts the different ones."""
    if isinstance(column, Labels):
        return column.codes.astype(np.int64) + 1
    return np.unique(column.values, return_inverse=True)[1].astype(np.int64)
