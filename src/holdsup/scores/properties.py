"""Item properties that are computed from texts: readability, length, word rarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.columns.crossing import cross
from holdsup.columns.values import parse_number
from holdsup.errors import ColumnError, ReadError, ScoresError, list_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution
from holdsup.scores.faults import note
from holdsup.scores.texts import count_sentences, count_syllables, normalize, split_words

FROM_COUNTS = ("rarity_sum", "rarity_mean")  # these may be given a table of word counts
FUNCTIONS = ("flesch", "words_per_sentence", "length", "characters", *FROM_COUNTS)
EXPRESSION = re.compile(r"\s*(?P<name>[^=()\s][^=()]*?)\s*=\s*(?P<function>\w+)\s*\(\s*(?P<arguments>.*?)\s*\)\s*")
ARGUMENTS = re.compile(r"(?:`(?P<quoted>[^`]+)`|(?P<column>[^,`]+?))\s*(?:,\s*(?P<counts>.+))?")
TAKEN = frozenset(
    "dataset system run item metric score status cluster".split()
)  # columns that every table of scores has
Measure = Callable[[str], float | None]
LETTER = re.compile(r"[^\W\d_]")
LATIN = re.compile("[A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿＡ-Ｚａ-ｚ]")
# Scripts without blanks between words: Thai to Lao, Burmese, Khmer, Kana, Chinese characters.
UNCUT = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
SHOWN = 40  # characters of a text in a message


@dataclass(frozen=True, slots=True)
class TextProperty:
    """A property that is computed from the text of an item."""

    name: str  # what the property is called
    function: str  # one of `FUNCTIONS`
    column: str  # the column of the texts
    counts: str | None = None  # the file of word counts, None to count the words of the texts themselves

    def __str__(self) -> str:
        return f"{self.name}={self.call}"

    @property
    def call(self) -> str:
        """The function with its arguments, as a user writes it."""
        column = f"`{self.column}`" if set(self.column) & set(",()") else self.column
        return f"{self.function}({column})" if self.counts is None else f"{self.function}({column}, {self.counts})"


def split_properties(given: Iterable[str], columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[TextProperty, ...]]:
    """Return the properties that are columns, and those that are computed from a text.

    Whatever is the name of a column is that column. A name with a comma or a parenthesis in an expression goes between
    back-quotes.

    >>> split_properties(["genre", "ease=flesch(source)"], ["genre", "source"])
    (('genre',), (TextProperty(name='ease', function='flesch', column='source', counts=None),))
    """
    plain: list[str] = []
    computed: list[TextProperty] = []
    for text in given:
        if text in columns or not set(text) & set("=("):
            plain.append(text)
        else:
            computed.append(_parse(text, columns))
    names = Counter([*columns, *(p.name for p in computed)])
    if twice := [p.name for p in computed if names[p.name] > 1 or p.name in TAKEN]:
        raise ColumnError(f"the name {list_names(twice[:1])} of a property is taken already: give it another name")
    return tuple(plain), tuple(computed)


def _parse(text: str, columns: Sequence[str]) -> TextProperty:
    whole = EXPRESSION.fullmatch(text)
    inside = ARGUMENTS.fullmatch(whole["arguments"]) if whole else None
    if whole is None or inside is None:
        raise ColumnError(
            f"the property {text!r:.80} is neither a column nor written like readability=flesch(source) "
            "or rarity=rarity_mean(source, counts.csv)"
        )
    function, column, counts = whole["function"], inside["quoted"] or inside["column"], inside["counts"]
    if function not in FUNCTIONS:
        near = get_close_matches(function, FUNCTIONS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ColumnError(
            f"no function {function!r} for the property {text!r:.80}; there are {', '.join(FUNCTIONS)}.{hint}"
        )
    if counts is not None and function not in FROM_COUNTS:
        raise ColumnError(
            f"{function} takes a column of texts and nothing else, not {counts!r:.60}; word counts are for "
            f"{' and '.join(FROM_COUNTS)}"
        )
    if column not in columns:
        raise ColumnError.not_found(column, columns, where=f"the tables, for the property {text!r:.80}")
    return TextProperty(whole["name"], function, column, counts)


def compute_property(
    asked: TextProperty, texts: Labels, dataset: Labels | None, item: Labels | None
) -> tuple[Numbers, list[Caution]]:
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
            whose = format_counted(count, "row" if item is None else "item")
            notes.append(note("property-gaps", f"{asked.name} is missing for {whose}: {why}."))
    return Numbers(values[codes], np.isnan(values[codes])), notes


def _owners(rows: int, dataset: Labels | None, item: Labels | None) -> NDArray[np.int64]:
    """Return a number for whose text a row holds, shape (n,): its item's, or its own where it names no item."""
    if item is None:
        return np.arange(rows)
    items = cross(dataset, item)
    return np.where(item.codes >= 0, items.codes, items.count + np.arange(rows))


def _share(codes: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the text that each row's owner has in some row, shape (n,), -1 where it has none."""
    known = codes >= 0
    of_owner = np.full(owners.max(initial=-1) + 1, -1, np.int64)
    of_owner[owners[known]] = codes[known]
    return of_owner[owners]


def _two_texts(asked: TextProperty, texts: Labels, item: Labels | None, row: int, other: int) -> ScoresError:
    assert item is not None  # a row that stands for itself has one text
    one, two = show_text(texts.names[texts.codes[row]]), show_text(texts.names[other])
    return ScoresError(
        f"item {item.names[item.codes[row]]!r:.60} has two texts in column {asked.column!r}, {one} and {two}: "
        f"{asked.call} is a property of items only if each has one text in all rows"
    )


def _measure(asked: TextProperty, texts: Sequence[str]) -> tuple[Measure, list[Caution]]:
    """Return the function of a text that is asked for, and notes on the word counts it rests on."""
    if asked.function not in FROM_COUNTS:
        return MEASURES[asked.function], []
    counts = count_words(texts) if asked.counts is None else read_counts(asked.counts)
    rarity = rarity_sum if asked.function == "rarity_sum" else rarity_mean
    return lambda text: rarity(text, counts), [*counts.notes, *_say_unknown(asked, texts, counts)]


def _say_unknown(asked: TextProperty, texts: Sequence[str], counts: WordCounts) -> Iterator[Caution]:
    """Yield a note on words of the texts that a table of word counts does not have."""
    if asked.counts is None:
        return
    words = count_words(texts)
    unknown = [count for word, count in words.counts.items() if word not in counts.counts]
    if unknown:
        yield note(
            "unknown-words",
            f"{asked.name}: {sum(unknown):,} of {format_counted(words.total, 'word')} ({len(unknown):,} different) are "
            f"not in {asked.counts}, and count as rarer than any in it.",
        )


def flesch(text: str) -> float | None:
    """Return the Flesch reading ease of an English text, or None if it has no words.

    206.835 - 1.015 words / sentences - 84.6 syllables / words: about 100 for a text that a child can read, 0 for one
    that scholars can. It is not clipped to that range: long sentences reach far below zero. The formula was made for
    English; a text that is mostly written in other letters than Latin ones is refused, and one in another language
    with Latin letters gets a number that means little.

    Examples
    --------
    >>> round(flesch("The cat sat on the mat."), 3)  # 6 words, 1 sentence, 6 syllables
    116.145

    References
    ----------
    Flesch (1948), Journal of Applied Psychology 32:221-233; Kincaid et al. (1975).
    """
    words = split_words(text)
    if not words:
        return None
    if not text.isascii() and 2 * len(LATIN.findall(text)) < len(LETTER.findall(text)):
        raise ColumnError(
            f"flesch is made for English, and {show_text(text)} is mostly written in other letters: measure it by "
            "characters, or by words_per_sentence, length or rarity_mean if it has blanks between words"
        )
    syllables = sum(map(count_syllables, words))
    return 206.835 - 1.015 * len(words) / count_sentences(text) - 84.6 * syllables / len(words)


def words_per_sentence(text: str) -> float | None:
    """Return the mean number of words in a sentence, or None if the text has no words."""
    words = cut_words(text)
    return len(words) / count_sentences(text) if words else None


def length(text: str) -> float | None:
    """Return the number of words, or None if the text has none."""
    return float(len(cut_words(text))) or None


def characters(text: str) -> float | None:
    """Return the number of characters that are no blanks, or None if the text has no words."""
    return float(sum(map(len, normalize(text).split()))) if split_words(text) else None


def cut_words(text: str) -> list[str]:
    """Return the words of a text, which must be one that has blanks between words."""
    if not text.isascii() and 2 * len(UNCUT.findall(text)) > len(LETTER.findall(text)):
        raise ColumnError(
            f"{show_text(text)} has no blanks between its words, so that they cannot be counted: use characters"
        )
    return split_words(text)


def show_text(text: str) -> str:
    """Return the beginning of a text for a message, which must stay one line."""
    plain = " ".join(text.split())
    return repr(plain if len(plain) <= SHOWN else f"{plain[: SHOWN - 3]}...")


MEASURES: dict[str, Measure] = {
    "flesch": flesch,
    "words_per_sentence": words_per_sentence,
    "length": length,
    "characters": characters,
}


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How often each word occurs in a body of text."""

    counts: Mapping[str, int]  # how often a word, in lower case, occurs; each at least once
    total: int  # the sum of the counts
    notes: tuple[Caution, ...] = ()  # what was left out of a table of counts

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
            f"{table.locate(row)} of {table.name} isn't a word with its count (a whole number, not a share): fix it"
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
    said = f"{left:,} of {len(raw):,} entries of {name} are left out: they are not single words."
    return WordCounts(known, sum(known.values()), (note("entries-left-out", said),) if left else ())
