"""How rare the words of a text are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from holdsup.columns import Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.errors import ColumnError, ReadError, list_names
from holdsup.scores.properties.measures import cut_words
from holdsup.scores.properties.words import split_words

__all__ = ["WordCounts", "count_words", "rarity_mean", "rarity_sum", "read_counts"]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How often each word occurs in a body of text.

    Attributes
    ----------
    counts : how often a word, in lower case, occurs; each at least once
    total : the sum of the counts
    notes : what was left out of a table of counts
    """

    counts: Mapping[str, int]
    total: int
    notes: tuple[str, ...] = ()

    def rarity(self, word: str) -> float:
        """Return the negative natural logarithm of a word's relative frequency, count / total.

        A word that does not occur gets the add-one estimate, 1 / (total + number of different words + 1): rarer than
        any word that occurs, and never infinitely rare.
        """
        count = self.counts.get(word)
        return math.log(self.total / count) if count else math.log(self.total + len(self.counts) + 1)


def rarity_sum(text: str, counts: WordCounts) -> float | None:
    """Return the sum of the rarities of a text's words, or None if it has none; it grows with the text's length.

    Examples
    --------
    >>> counts = count_words(["the cat", "the dog"])
    >>> round(rarity_sum("The cat", counts), 4)  # log(4 / 2) + log(4 / 1)
    2.0794

    References
    ----------
    Platanios et al. (2019), Competence-based curriculum learning for neural machine translation, NAACL.
    """
    words = cut_words(text)
    return math.fsum(map(counts.rarity, words)) if words else None


def rarity_mean(text: str, counts: WordCounts) -> float | None:
    """Return the mean rarity of a text's words, or None if it has none: `rarity_sum` / number of words."""
    words = cut_words(text)
    return math.fsum(map(counts.rarity, words)) / len(words) if words else None


def count_words(texts: Iterable[str]) -> WordCounts:
    """Return how often each word occurs in some texts."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(split_words(text))
    return WordCounts(counts, counts.total())


def read_counts(path: str) -> WordCounts:
    """Return the counts in a table of words: columns `word` and `count`, or a word and its count on each line.

    Words are cut and compared as in texts: "The" and "the" are one word, an entry that is not one word counts for
    nothing, which a note says.

    Raises
    ------
    ColumnError : a count that is negative or not whole, no word at all, or other columns than these
    """
    tables = open_tables(path)
    if len(tables) > 1:
        raise ReadError(f"{path!r} stands for {len(tables)} tables: word counts come from one file")
    table = tables[0]
    word, count = _count_columns(table)
    columns = read_columns(tables, labels=[word], numbers=[count], advice=" Counts are whole numbers.").named
    words, numbers = columns[word], columns[count]
    assert isinstance(words, Labels)
    assert isinstance(numbers, Numbers)
    wrong = np.flatnonzero(~(numbers.values >= 0) | (numbers.values % 1 != 0) | (words.codes < 0))
    if len(wrong):
        row = int(wrong[0])
        raise ColumnError(
            f"{table.locate(row)} of {table.name} is no word with its count (a whole number, not a share): fix it"
        )
    summed = np.bincount(words.codes, numbers.values, words.count)
    return _fold(table.name, dict(zip(words.names, summed.tolist(), strict=True)))


def _count_columns(table: OpenTable) -> tuple[str, str]:
    """Return the columns of the words and of their counts; a file without a header line has made-up names."""
    if {"word", "count"} <= set(table.columns):
        return "word", "count"
    if len(table.columns) == 2:
        word, count = table.columns
        return word, count
    raise ColumnError(
        f"{table.name} has the columns {list_names(table.columns)}: a table of word counts has `word` and `count`"
    )


def _fold(name: str, raw: Mapping[str, float]) -> WordCounts:
    """Return counts of words as they are cut out of texts; words that differ only in capitals are added up."""
    counts: Counter[str] = Counter()
    left = 0
    for entry, count in raw.items():
        words = split_words(entry)
        if len(words) == 1:
            counts[words[0]] += int(count)
        else:
            left += 1
    known = {word: count for word, count in counts.items() if count}
    if not known:
        raise ColumnError(f"no entry of {name} is a word with a count above 0: is this a table of word counts?")
    notes = (f"{left:,} of {len(raw):,} entries of {name} count for nothing: they are not one word.",) if left else ()
    return WordCounts(known, sum(known.values()), notes)
