"""The words in which rows of a table of scores are shown in a `Finding`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.results.findings import EXAMPLES
from holdsup.scores.table import Scores

__all__ = ["extremes", "labelled_roles", "present", "show", "words_of"]


def present(*columns: Labels | None) -> list[Labels]:
    """Return the labels that the table has."""
    return [labels for labels in columns if labels is not None]


def labelled_roles(scores: Scores) -> Iterator[tuple[str, Labels]]:
    """Yield every role and facet that the table has, with its labels; runs are made of these."""
    for role in ("system", "dataset", "item", "metric", "cluster"):
        labels = getattr(scores, role)
        if labels is not None:
            yield role, labels
    for name, labels in scores.facets.items():
        yield f"facet {name!r}", labels


def show(
    scores: Scores, rows: Iterable[int], *, roles: tuple[str, ...] = ("dataset", "run", "item", "metric"),
    with_score: bool = False,
) -> tuple[str, ...]:  # fmt: skip
    """Return up to three rows in words."""
    shown = itertools.islice(rows, EXAMPLES)
    return tuple(words_of(scores, r, roles) + (f": {scores.score[r]:g}" if with_score else "") for r in shown)


def words_of(scores: Scores, row: int, roles: tuple[str, ...]) -> str:
    """Return one row in words: the label of each role."""
    said = []
    for role in roles:
        labels = getattr(scores, role)
        if labels is not None and labels.codes[row] >= 0:
            said.append(f"{role} {labels.names[labels.codes[row]]}")
    return ", ".join(said) or f"row {row + 1}"


def extremes(
    values: NDArray[np.float64], groups: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest value of each of `count` groups, each of shape (count,)."""
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return low, high
