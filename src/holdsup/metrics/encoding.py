"""Labels as codes: which labels each item has, which were predicted, and where the two agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError, list_names
from holdsup.metrics.pairs import BadItem, plain_values, show

__all__ = ["Labelled", "check_labels", "find_labels", "match_labels"]

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
    return items, labels
