"""What messages suggest: columns that may tell rows apart, and the options that give columns their roles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Column, Labels, Numbers
from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import list_names, shell_names
from holdsup.scores.roles import SCORES, bare_name, is_progress, is_replicate, plain_name
from holdsup.scores.table import Scores

PARTED = frozenset("split subset partition part portion fold_type data_split eval_split eval_set".split())
PARTS = ("test", "eval", "heldout", "holdout", "dev", "val", "train")  # the first are what is usually reported
MOST_SETTINGS = 50  # a column of more different numbers is a measurement, not a setting
MOST_OWN = 0.5  # of the rows may have a value of their own; with more a column measures them
OUTCOMES = frozenset((*(name for names in SCORES for name in names), "latency", "runtime", "time")) - {"map", "y"}
REMARKS = frozenset(
    "status reason error message note notes comment remark time timestamp date seconds duration".split()
)


def suggest_facets(scores: Scores, names: Sequence[str]) -> str:
    """Return the options that name columns as settings; the facets that the table has are named as well."""
    stated = _stated(scores)
    repeated = f" --replicates {shell_names(stated)}" if stated else ""
    kept = [name for name in scores.facets if name not in (*stated, *names)]
    return f"--facets {shell_names((*kept, *names))}{repeated}"


def suggest_replicates(scores: Scores, names: Sequence[str]) -> str:
    """Return the options that name columns as mere repetitions; the facets that the table has stay what they are."""
    repeated = (*_stated(scores), *names)
    kept = [name for name in scores.facets if name not in repeated]
    facets = f"--facets {shell_names(kept)} " if kept else ""
    return f"{facets}--replicates {shell_names(repeated)}"


def suggest_part(scores: Scores, names: Sequence[str]) -> str | None:
    """Return the option that chooses one part of the data, test before the others, where a column names such parts."""
    for name in names:
        column = scores.others.get(name)
        if bare_name(name) in PARTED and isinstance(column, Labels):
            order = [_find_part(label) for label in column.names]
            if max(order) < len(PARTS):
                return f"--where {shell_names([f'{name}={column.names[order.index(min(order))]}'])}"
    return None


def _find_part(label: str) -> int:
    plain = label.strip().lower().replace("-", "").replace("_", "")
    return next((place for place, part in enumerate(PARTS) if plain.startswith(part)), len(PARTS))


def _stated(scores: Scores) -> tuple[str, ...]:
    """Return the repetitions that are not known as such by their names."""
    return tuple(name for name in scores.roles.replicates if not is_replicate(name))


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
    none = f"no column was read as the {' or the '.join(f'{role}s' for role in roles)}"
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
