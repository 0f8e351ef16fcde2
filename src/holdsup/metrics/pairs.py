"""Targets and predictions, item by item: every metric takes them through here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdsup.errors import MetricError

SHOWN = 40  # characters of a value in a message


class BadItem(MetricError):
    """One item cannot be counted.

    Attributes
    ----------
    item : its place, counted from 0; predictions that are read after all targets count on
    """

    def __init__(self, before: str, item: int, after: str) -> None:
        super().__init__(f"{before}item {item} (counted from 0){after}")
        self.item = item
        self._parts = (before, after)

    def naming(self, names: Sequence[str]) -> str:
        """Return the message with the name of the item instead of its place.

        >>> BadItem("the target of ", 1, " is missing.").naming(["q7", "q8"])
        "the target of item 'q8' is missing."
        """
        before, after = self._parts
        return f"{before}item {names[self.item % len(names)]!r}{after}"


def read_pairs(targets: Sequence[Any], predictions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return targets and predictions as plain values; one of each for every item, none of them missing."""
    known, predicted = plain_values(targets), plain_values(predictions)
    if len(known) != len(predicted):
        raise MetricError(
            f"there are {len(known)} targets but {len(predicted)} predictions: one prediction is needed for each item."
        )
    for what, values in (("target", known), ("prediction", predicted)):
        for item, value in enumerate(values):
            if value is None or value != value:  # only NaN is not equal to itself
                raise BadItem(f"the {what} of ", item, f" is missing: it is {value}.")
    return known, predicted


def read_sequences(targets: Sequence[Any], predictions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return targets and predictions that are lists of tags, equally long for each item."""
    known, predicted = read_pairs(targets, predictions)
    require_lists(known)
    require_lists(predicted)
    for item, (tags, guesses) in enumerate(zip(known, predicted, strict=True)):
        if len(tags) != len(guesses):
            were = f"{len(guesses)} were predicted: one tag is needed for each token."
            raise BadItem("", item, f" has {len(tags)} tags, but {were}")
    return known, predicted


def require_lists(values: Sequence[Any]) -> None:
    """Refuse an item that is no list of tags."""
    for item, value in enumerate(values):
        if not isinstance(value, list | tuple):
            raise BadItem("", item, f" is {show(value)}, but must be a list of tags.")


def plain_values(values: Sequence[Any]) -> list[Any]:
    """Return values as Python's own, so that a NumPy label and a JSON label are the same label."""
    if isinstance(values, str):
        raise MetricError(f"a list with a value for each item is needed, but there is one text: {show(values)}.")
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [value.tolist() if isinstance(value, np.ndarray | np.generic) else value for value in values]


def show(value: object) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
