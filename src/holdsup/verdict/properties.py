"""Properties of items, laid out for questions: one value for each item, checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.errors import ColumnError, ScoresError, list_names
from holdsup.verdict.evaluation import Evaluation, Floats

MOST_CLASSES = 30  # more leave too few items in each, and a table that nobody reads


@dataclass(frozen=True, slots=True, eq=False)
class ItemProperty:
    """One property of the items."""

    name: str  # its name
    values: Floats  # a value for each item of the evaluation, NaN where there is none; of classes, their codes
    classes: tuple[str, ...]  # their names; empty for a number

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which items have a value."""
        return np.asarray(np.isfinite(self.values))


def find_property(evaluation: Evaluation, name: str) -> ItemProperty:
    """Return a property of the items; one that is no fact about items, or says nothing, is refused."""
    scores = evaluation.scores
    if evaluation.per_run or scores.items is None:
        raise ScoresError(
            f"--by {name}: a property describes items, and there is no column of items: name it with --item"
        )
    known = {**scores.others, **scores.properties}
    if name not in known and name in scores.roles.columns():
        role = scores.roles.columns()[name]
        raise ScoresError(f"--by {name}: this column holds the {role}: name a column that describes items")
    if name not in known:
        raise ColumnError.not_found(name, tuple(known), where=scores.source)
    column = known[name]
    raw = np.where(column.codes < 0, np.nan, column.codes) if isinstance(column, Labels) else column.values
    values = _by_item(evaluation, name, np.where(np.isfinite(raw), raw, np.nan))
    found = values[np.isfinite(values)]
    if len(found) == 0:
        raise ScoresError(f"--by {name}: no item has a value")
    if found.min() == found.max():
        shown = column.names[int(found[0])] if isinstance(column, Labels) else f"{found[0]:g}"
        raise ScoresError(f"--by {name}: it is {shown!r} for every item, so nothing can depend on it")
    if not isinstance(column, Labels):
        return ItemProperty(name, values, ())
    used = np.unique(found).astype(int)
    if len(used) > MOST_CLASSES:
        raise ScoresError(
            f"--by {name}: it has {len(used):,} classes ({list_names(column.names, most=3)}): merge them into "
            f"{MOST_CLASSES} or fewer, or give a numeric column"
        )
    codes = np.full(len(values), np.nan)
    codes[np.isfinite(values)] = np.searchsorted(used, found)
    return ItemProperty(name, codes, tuple(column.names[code] for code in used))


def _by_item(evaluation: Evaluation, name: str, raw: Floats) -> Floats:
    """Return the value of each item, from the rows that have one."""
    scores = evaluation.scores
    assert scores.items is not None
    item = scores.items.codes
    values = np.full(evaluation.items, np.nan)
    there = np.flatnonzero(np.isfinite(raw))
    values[item[there]] = raw[there]
    astray = there[values[item[there]] != raw[there]]
    if len(astray):
        raise _two_values(evaluation, name, raw, int(astray[0]))
    return values


def _two_values(evaluation: Evaluation, name: str, raw: Floats, row: int) -> ScoresError:
    """Return the error for an item with two values, which says if they go with the systems."""
    scores = evaluation.scores
    assert scores.items is not None
    assert scores.item is not None
    mine = np.flatnonzero((scores.items.codes == scores.items.codes[row]) & np.isfinite(raw))
    other = mine[raw[mine] != raw[row]][0]
    column = {**scores.others, **scores.properties}[name]
    both = [column.names[int(raw[i])] if isinstance(column, Labels) else f"{raw[i]:g}" for i in (row, other)]
    systems = [scores.system.names[scores.system.codes[i]] for i in (row, other)]
    whose = f" ({systems[0]} and {systems[1]})" if systems[0] != systems[1] else ""
    shown = scores.item.names[scores.item.codes[row]]
    return ScoresError(
        f"--by {name}: item {shown!r} has two values, {both[0]} and {both[1]}{whose}: a property describes an item and "
        "must be the same in every system and run"
    )
