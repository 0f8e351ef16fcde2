"""`Finding`: one kind of fault in a table of scores, and the words in which rows are shown."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from holdsup.columns import Labels
from holdsup.scores.table import Scores

__all__ = ["EXAMPLES", "Finding", "article", "counted", "labelled_roles", "present", "show", "words_of"]

EXAMPLES = 3
Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of fault in a table of scores.

    Attributes
    ----------
    code : its name, for programs
    severity : "error" (results would be wrong), "warning" (they mean less) or "note"
    message : what was found
    count : how many times
    examples : up to three of them
    effect : what it does to the analyses
    advice : what to do about it
    """

    code: str
    severity: Severity
    message: str
    count: int
    examples: tuple[str, ...]
    effect: str
    advice: str


def counted(count: int, noun: str) -> str:
    """Return "1 row" or "2 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def article(noun: str) -> str:
    """Return "a run" or "an item"."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def present(*columns: Labels | None) -> list[Labels]:
    """Return the labels that the table has."""
    return [labels for labels in columns if labels is not None]


def labelled_roles(scores: Scores) -> Iterator[tuple[str, Labels]]:
    """Yield every role and facet that the table has, with its labels."""
    for role in ("system", "run", "dataset", "item", "metric", "cluster"):
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
