"""Properties of items, computed from their texts: each distinct text once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.columns.values import parse_number
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted
from holdsup.scores.properties.expressions import FROM_COUNTS, TextProperty
from holdsup.scores.properties.measures import characters, flesch, length, show, words_per_sentence
from holdsup.scores.properties.rarity import WordCounts, count_words, rarity_mean, rarity_sum, read_counts

__all__ = ["compute_property"]

Measure = Callable[[str], float | None]
MEASURES: dict[str, Measure] = {
    "flesch": flesch,
    "words_per_sentence": words_per_sentence,
    "length": length,
    "characters": characters,
}


def compute_property(
    asked: TextProperty, texts: Labels, dataset: Labels | None, item: Labels | None
) -> tuple[Numbers, list[str]]:
    """Return a property row by row, and what there is to say about it.

    A property is a fact about an item: a row without a text takes the one that its item has in other rows, and an item
    with two texts is refused. Without items, each row stands for itself.

    Parameters
    ----------
    asked : which property
    texts : the text of each row
    dataset, item : whose text it is; an item belongs to its dataset
    """
    if texts.count and all(parse_number(text.strip()) is not None for text in texts.names):
        raise ColumnError(f"column {asked.column!r} holds numbers, not texts, so that there is no {asked.call}")
    owners = _owners(len(texts), dataset, item)
    codes = _share(texts.codes.astype(np.int64), owners)
    if len(other := np.flatnonzero((texts.codes >= 0) & (texts.codes != codes))):
        raise _two_texts(asked, texts, item, int(other[0]), int(codes[other[0]]))
    used = np.unique(codes[codes >= 0])
    measure, notes = _measure(asked, [texts.names[code] for code in used])
    values = np.full(texts.count + 1, np.nan)  # the extra last place serves code -1
    for code in used:
        value = measure(texts.names[code])
        values[code] = np.nan if value is None else value
    lacking = {"no text": codes < 0, "no word in the text": (codes >= 0) & np.isnan(values[codes])}
    for why, rows in lacking.items():
        if rows.any():
            count = len(np.unique(owners[rows]))
            notes.append(
                f"{asked.name} is missing for {format_counted(count, 'row' if item is None else 'item')}: {why}."
            )
    return Numbers(values[codes], np.isnan(values[codes])), notes


def _owners(rows: int, dataset: Labels | None, item: Labels | None) -> NDArray[np.int64]:
    """Return a number for whose text a row holds, shape (n,): its item's, or its own where it names no item."""
    if item is None:
        return np.arange(rows)
    items = cross(*(labels for labels in (dataset, item) if labels is not None))
    return np.where(item.codes >= 0, items.codes, items.count + np.arange(rows))


def _share(codes: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the text that each row's owner has in some row, shape (n,), -1 where it has none."""
    known = codes >= 0
    of_owner = np.full(owners.max(initial=-1) + 1, -1, np.int64)
    of_owner[owners[known]] = codes[known]
    return of_owner[owners]


def _two_texts(asked: TextProperty, texts: Labels, item: Labels | None, row: int, other: int) -> ScoresError:
    assert item is not None  # a row that stands for itself has one text
    one, two = show(texts.names[texts.codes[row]]), show(texts.names[other])
    return ScoresError(
        f"item {item.names[item.codes[row]]!r:.60} has two texts in column {asked.column!r}, {one} and {two}: "
        f"{asked.call} is a property of items only if each has one text in all rows"
    )


def _measure(asked: TextProperty, texts: Sequence[str]) -> tuple[Measure, list[str]]:
    """Return the function of a text that is asked for, and notes on the word counts it rests on."""
    if asked.function not in FROM_COUNTS:
        return MEASURES[asked.function], []
    counts = count_words(texts) if asked.counts is None else read_counts(asked.counts)
    rarity = rarity_sum if asked.function == "rarity_sum" else rarity_mean
    return lambda text: rarity(text, counts), [*counts.notes, *_say_unknown(asked, texts, counts)]


def _say_unknown(asked: TextProperty, texts: Sequence[str], counts: WordCounts) -> Iterator[str]:
    """Yield a note on words of the texts that a table of word counts does not have."""
    if asked.counts is None:
        return
    words = count_words(texts)
    unknown = [count for word, count in words.counts.items() if word not in counts.counts]
    if unknown:
        yield (
            f"{asked.name}: {sum(unknown):,} of {format_counted(words.total, 'word')} ({len(unknown):,} different) are "
            f"not in {asked.counts}, and count as rarer than any in it."
        )
