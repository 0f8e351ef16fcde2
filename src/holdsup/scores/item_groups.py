"""Items that may belong together although no column was read as clusters: by another column, or by their labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Column, Labels
from holdsup.errors import shell_names
from holdsup.results.cautions import Caution
from holdsup.scores.faults import extremes, make_fault
from holdsup.scores.roles import FILE, bare_name
from holdsup.scores.suggestions import is_outcome
from holdsup.scores.table import Scores

MOST_LABELS = 2000  # that are looked at: in the order of labels, those of a group stand together
LONGEST_LABEL = 200  # characters; a longer one is a text
FEWEST_GROUPS = 5  # of a column; fewer are classes
FEWEST_NAMED, FEWEST_NUMBERED = 8, 3  # groups in labels: en_1 and de_1 are more often parts of the data than d1_1
LEAST_SHARE = 0.9  # of the items are in groups of two or more
MOST_SPARSE = 4  # times as many numbers as items in a group: with more, what follows its name counts nothing
# Columns that say what an item is, not where it comes from.
CLASSES = frozenset(
    "label labels target gold answer reference prediction output class category genre type kind lang language split "
    "subset difficulty level length len size words tokens characters year date bucket bin quartile decile fold".split()
)
PARTS = re.compile(r"(.*[^\W_])[\W_]+(?:([A-Za-z]{0,12})(\d{1,9})|([A-Za-z]))")
NO_PARTS = re.compile(r"[-+]?\d+[.,]\d+|(19|20)\d\d[-/.]\d\d?([-/.]\d\d?)?")  # numbers and dates
Groups = NDArray[np.int64]  # the group of each item, numbered from 0


def find_groupings(scores: Scores) -> Iterator[Caution]:
    """Yield at most one finding: a column, or what labels begin with, that puts items into groups."""
    if scores.cluster is not None or scores.items is None or scores.item is None:
        return
    found = _find_columns(scores, np.sort(scores.items.first), scores.items.codes)
    if found:
        name = min(found, key=lambda name: found[name])
        message = f"Column {name!r} puts the {scores.items.count:,} items into {found[name]:,} groups."
        way = f"give --cluster {shell_names([name])}"
    elif pair := _find_parts(scores, scores.item, scores.items.first):
        message = f"Item names look like parts of groups, such as {pair[0]!r} and {pair[1]!r}."
        way = "give the group a column of its own and name it with --cluster"
    else:
        return
    yield make_fault(
        "grouped-items",
        message,
        count=scores.items.count,
        advice=f"If items of a group belong together, as sentences of a document do, {way}.",
    )


def _find_columns(scores: Scores, rows: NDArray[np.int64], items: NDArray[np.int64]) -> dict[str, int]:
    """Return the columns without a role that put the items into groups, and how many each makes.

    `rows` show the items in the order in which they come.
    """
    found = {}
    for name, column in scores.others.items():
        words = bare_name(name).split("_")
        if (
            name == FILE
            or is_outcome(name)
            or CLASSES.intersection(words)
            or not _may_group(column, rows[:MOST_LABELS])
        ):
            continue
        values = column.codes if isinstance(column, Labels) else column.values
        kept, group, sizes = np.unique(values[rows], return_inverse=True, return_counts=True)
        if len(sizes) < FEWEST_GROUPS or not _is_grouping(sizes) or not _is_apart(column, group, len(sizes)):
            continue
        shown = np.empty(len(rows), values.dtype)
        shown[items[rows]] = values[rows]
        if (values == shown[items]).all() and not _is_of_datasets(scores, rows, group):
            found[name] = len(kept)
    return found


def _may_group(column: Column, rows: NDArray[np.int64]) -> bool:
    """Return whether the first items speak for groups, which is soon seen: of most columns they do not."""
    if isinstance(column, Labels):
        return column.count >= FEWEST_GROUPS and bool((column.codes[rows] >= 0).all())
    values = column.values[rows]
    whole = bool(np.isfinite(values).all()) and bool((values == np.floor(values)).all())
    return whole and _follows(values, len(np.unique(values)))


def _is_grouping(sizes: NDArray[np.int64]) -> bool:
    """Return whether nearly all items have others in their group."""
    return bool(sizes[sizes > 1].sum() >= LEAST_SHARE * sizes.sum() and 2 * len(sizes) <= sizes.sum())


def _is_apart(column: Column, group: Groups, count: int) -> bool:
    """Return whether groups follow one upon the other, as documents do, or are many and small.

    Numbers must do the former: lengths and counts are many, too.
    """
    return _follows(group, count) or (isinstance(column, Labels) and count**2 >= len(group))


def _follows(values: NDArray[np.generic], count: int) -> bool:
    return int((values[1:] != values[:-1]).sum()) == count - 1


def _is_of_datasets(scores: Scores, rows: NDArray[np.int64], group: Groups) -> bool:
    """Return whether all items of a dataset are in one group: it then tells nothing that datasets do not."""
    if scores.dataset is None:
        return False
    datasets = scores.dataset.codes[rows].astype(np.int64)
    return len(np.unique(datasets * (group.max() + 1) + group)) == len(np.unique(datasets))


def _find_parts(scores: Scores, item: Labels, rows: NDArray[np.int64]) -> tuple[str, str] | None:
    """Return two labels of one group, where labels are those of groups and, behind a sign, a number within each."""
    labels = item.levels.slice(0, MOST_LABELS).to_pylist()
    parts = [PARTS.fullmatch(label) if _has_parts(label) else None for label in labels]
    named = [part for part in parts if part is not None]
    if len(named) < len(parts) or len({part[2] for part in named}) > FEWEST_NUMBERED:
        return None
    names = {name: place for place, name in enumerate(dict.fromkeys(part[1] for part in named))}
    group = np.array([names[part[1]] for part in named], np.int64)
    sizes = np.bincount(group, minlength=len(names))
    numbered = len({name.rstrip("0123456789") for name in names}) == 1
    if len(names) < (FEWEST_NUMBERED if numbered else FEWEST_NAMED) or not _is_grouping(sizes):
        return None
    numbers = np.array([int(part[3]) if part[3] else ord(part[4]) for part in named])
    low, high = extremes(numbers.astype(float), group, len(names))
    rows = rows[(item.codes[rows] >= 0) & (item.codes[rows] < len(labels))]
    if (high - low + 1).sum() > MOST_SPARSE * len(labels) or _is_of_datasets(scores, rows, group[item.codes[rows]]):
        return None
    largest = np.flatnonzero(group == np.argmax(sizes))
    return labels[largest[0]], labels[largest[1]]


def _has_parts(label: str) -> bool:
    return len(label) <= LONGEST_LABEL and not NO_PARTS.fullmatch(label)
