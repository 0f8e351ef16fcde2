"""Labels as codes: which labels each item has, which were predicted, and where the two agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError, list_names
from holdsup.metrics.pairs import BadItem, plain_values, show

__all__ = ["Labelled", "check_labels", "find_labels", "find_width", "list_columns", "match_labels"]

Ints = NDArray[np.intp]
SEVERAL = (list, tuple, set, frozenset)  # an item that is one of these has several labels


class Labelled(NamedTuple):
    """Which items have which labels: a pair for each, with the label's place among those that count."""

    item: Ints
    label: Ints


def find_labels(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the different labels of items, sorted; an item has one, or a list of them.

    >>> find_labels(["b", "a", ["a", "c"]])
    ('a', 'b', 'c')
    """
    _, labels = _spread(plain_values(values))
    return tuple(sorted(set(labels), key=lambda label: (isinstance(label, str), label)))


def find_width(values: Sequence[Any]) -> int:
    """Return how many columns targets have that are indicator rows; 0 where they are labels, or lists of these.

    A row has a 0 or a 1 for each of two labels or more. Labels that are called 0 and 1 could look like it only if every
    item had both.

    >>> find_width([[1, 0, 0], [0, 0, 1]]), find_width([[1, 0], [1]]), find_width([["a", "b"], ["b", "c"]])
    (3, 0, 0)
    """
    rows = plain_values(values)
    lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if len(lengths) != 1 or min(lengths) < 2 or not all(map(_is_indicator, chain.from_iterable(rows))):
        return 0
    return min(lengths)


def list_columns(rows: list[Any], width: int, *, what: str) -> list[Any]:
    """Return indicator rows as lists of the columns that are 1, which are their labels."""
    for item, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != width or not all(map(_is_indicator, row)):
            after = f" is {show(row)}, but targets are indicator rows: it must be {width} numbers, each 0 or 1."
            raise BadItem(f"the {what} of ", item, after)
    return [[column for column, cell in enumerate(row) if cell] for row in rows]


def _is_indicator(cell: Any) -> bool:
    return isinstance(cell, int | float) and cell in (0, 1)


def check_labels(values: list[Any], labels: Iterable[Any], *, what: str, advice: str) -> None:
    """Refuse a label that is not among `labels`."""
    items, found = _spread(values)
    known = frozenset(labels)
    if strange := set(found) - known:
        place = next(place for place, label in enumerate(found) if label in strange)
        named = list_names(sorted(known, key=str))
        after = f", {show(found[place])}, is none of the labels {named}. {advice}"
        raise BadItem(f"the {what} of ", int(items[place]), after)


def match_labels(known: list[Any], predicted: list[Any], labels: Sequence[Any]) -> tuple[Labelled, Labelled, Labelled]:
    """Return what was matched, what was predicted and what was expected, of the labels that count."""
    book = {label: code for code, label in enumerate(labels)}
    expected, found = _cells(known, book), _cells(predicted, book)
    matched = np.intersect1d(expected, found, assume_unique=True)
    width = max(len(book), 1)
    return Labelled(*divmod(matched, width)), Labelled(*divmod(found, width)), Labelled(*divmod(expected, width))


def _cells(values: list[Any], book: dict[Any, int]) -> Ints:
    """Return which cells of a table of items and labels are filled, each once, counted row by row."""
    items, labels = _spread(values)
    codes = np.fromiter((book.get(label, -1) for label in labels), dtype=np.intp, count=len(labels))
    counts = codes >= 0
    return np.unique(items[counts] * len(book) + codes[counts])


def _spread(values: list[Any]) -> tuple[Ints, list[Any]]:
    """Return all labels one after the other, and the item of each."""
    items, labels = np.arange(len(values)), values
    if not set(map(type, values)).isdisjoint(SEVERAL):
        lists = [value if isinstance(value, SEVERAL) else (value,) for value in values]
        items, labels = np.repeat(items, list(map(len, lists))), list(chain.from_iterable(lists))
    for kind in set(map(type, labels)):
        if not issubclass(kind, str | int | float):
            found = next(label for label in labels if type(label) is kind)
            raise MetricError(
                f"a label is a text or a number, or an item has a list of such, but here is {show(found)}."
            )
    if labels is not values and len(set(zip(items.tolist(), labels, strict=True))) < len(labels):
        _refuse_repeated(values)
    return items, labels


def _refuse_repeated(values: list[Any]) -> None:
    """Refuse the first item that has a label twice: it is no list of labels."""
    for item, value in enumerate(values):
        if isinstance(value, list | tuple) and len(set(value)) < len(value):
            raise BadItem(
                "",
                item,
                f" is {show(value)}, which has a label twice. An item's labels are a list of different ones, or an "
                "indicator row of 0 and 1, as long for all items. For a tag of each token there are chunk_f1 and "
                "token_accuracy.",
            )
