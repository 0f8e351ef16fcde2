"""Error rates: edits that turn a prediction into its reference, over the length of references. Lower is better.

WER and CER count insertions, deletions and substitutions of words or characters. TER (Snover et al., 2006) counts moves
of phrases as well, found by Tercom's greedy search with its limits, so that it is the same number as sacrebleu's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdsup.metrics.means import MeanMetric
from holdsup.metrics.metric import BadItem, Counts, Floats
from holdsup.metrics.translation import read_texts

# Tercom's limits: of the search through alignments, of moved phrases, of how far they go, of moves tried in a sentence.
BEAM, LONGEST_MOVED, FARTHEST, MOST_MOVES = 25, 10, 50, 1000
KEEP, CHANGE, DROP, ADD = range(4)  # what becomes of a word
Rows = list[list[float]]  # least costs, by words of the prediction and of the reference that are done with
Steps = list[list[int]]  # the last step that costs so little


@dataclass(frozen=True, kw_only=True)
class ErrorRate(MeanMetric):
    """Word or character errors over the words or characters of references (WER, CER), as a share."""

    higher_is_better = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the counts."""
        return ("errors", "reference_words" if self.name == "wer" else "reference_characters")

    @property
    def signature(self) -> str:
        """How texts are counted."""
        return "case:mixed|tok:none|punct:yes"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return the errors of each item, and the length of its reference."""
        known, predicted = read_texts(targets, predictions)
        rows = np.zeros((len(known), 2), dtype=np.intp)
        for item, (references, guess) in enumerate(zip(known, predicted, strict=True)):
            if len(references) > 1:
                raise BadItem("", item, f" has {len(references)} references, and {self.name} is of one.")
            words = [text.split() if self.name == "wer" else list(text) for text in (guess, references[0])]
            rows[item] = count_edits(*words), len(words[1])
        return rows


def count_edits(guess: Sequence[str], reference: Sequence[str]) -> int:
    """Return the least insertions, deletions and substitutions that turn one into the other.

    >>> count_edits("kitten", "sitting")
    3
    """
    codes = {word: code for code, word in enumerate(dict.fromkeys((*reference, *guess)))}
    target = np.array([codes[word] for word in reference], dtype=np.intp)
    places = np.arange(len(target) + 1)
    row = places.copy()
    for done, word in enumerate(guess, start=1):
        best = np.minimum(row[1:] + 1, row[:-1] + (target != codes[word]))
        row = np.minimum.accumulate(np.concatenate(([done], best)) - places) + places  # insertions, all at once
    return int(row[-1])


@dataclass(frozen=True, kw_only=True)
class TranslationEditRate(MeanMetric):
    """TER of a corpus, in per cent: edits, moves of phrases among them, over the mean length of references."""

    higher_is_better = False
    columns = ("edits", "reference_words")
    signature = "case:lc|tok:tercom|norm:no|punct:yes|asian:no"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return the edits of each item, to the reference that needs the fewest, and the mean length of references."""
        known, predicted = read_texts(targets, predictions)
        rows = np.zeros((len(known), 2))
        for item, (references, guess) in enumerate(zip(known, predicted, strict=True)):
            words = guess.lower().split()
            books = [reference.lower().split() for reference in references]
            rows[item] = min(_count_with_moves(words, book) for book in books), np.mean([len(book) for book in books])
        return rows

    def score(self, sums: Any) -> Floats:
        """Return TER of summed counts."""
        return 100 * super().score(sums)


def _count_with_moves(words: list[str], reference: list[str]) -> int:
    """Return edits and moves: phrases are moved, one after the other, while that saves more than the move costs."""
    if not words or not reference:
        return len(words) + len(reference)
    moves = tried = 0
    while True:
        rows, steps = _align(words, reference)
        cost = rows[-1][-1]
        best: tuple[float, int, int, int, list[str]] | None = None
        for start, length, to in _list_moves(words, reference, steps) if cost else ():
            moved = _move(words, start, length, to)
            saved = cost - _align(moved, reference, rows[: min(start, to) + 1])[0][-1][-1]
            best = max(best or (-math.inf, 0, 0, 0, []), (saved, length, -start, -to, moved))
            tried += 1
            if tried >= MOST_MOVES:
                break
        if tried >= MOST_MOVES or best is None or best[0] <= 0:
            return moves + int(cost)
        moves, words = moves + 1, best[-1]


def _align(words: list[str], reference: list[str], known: Rows | None = None) -> tuple[Rows, Steps]:
    """Return the least costs and the steps to them, near the diagonal; rows that are `known` are not computed again."""
    width, ratio = len(reference) + 1, len(reference) / len(words)
    beam = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    rows: Rows = list(known) if known else [[float(j) for j in range(width)]]
    steps: Steps = [[ADD] * width] * len(rows)
    for i in range(len(rows), len(words) + 1):
        word, above, middle = words[i - 1], rows[-1], math.floor(i * ratio)
        first, last = max(0, middle - beam), width if i == len(words) else min(width, middle + beam)
        row, step = [math.inf] * width, [ADD] * width
        for j in range(first, last):
            if j == 0:
                row[0], step[0] = above[0] + 1, DROP
                continue
            least, how = (above[j - 1], KEEP) if word == reference[j - 1] else (above[j - 1] + 1, CHANGE)
            if above[j] + 1 < least:
                least, how = above[j] + 1, DROP
            if row[j - 1] + 1 < least:
                least, how = row[j - 1] + 1, ADD
            row[j], step[j] = least, how
        rows.append(row)
        steps.append(step)
    return rows, steps


def _list_moves(words: list[str], reference: list[str], steps: Steps) -> Iterator[tuple[int, int, int]]:
    """Yield start, length and new place of phrases that occur in the reference and are wrong where they are."""
    at, missed, wrong = _trace(steps)
    for start in range(len(words)):
        for there in range(max(0, start - FARTHEST), min(len(reference), start + FARTHEST + 1)):
            for length in range(1, LONGEST_MOVED + 1):
                end = start + length - 1
                if end >= len(words) or there + length > len(reference) or words[end] != reference[there + length - 1]:
                    break
                if not any(wrong[start : end + 1]) or not any(missed[there : there + length]):
                    continue
                if start <= at[there] <= end:
                    continue
                before = -1
                for place in range(there - 1, there + length):
                    to = at[place] + 1 if place >= 0 else 0
                    if to != before:
                        yield start, length, to
                    before = to


def _trace(steps: Steps) -> tuple[list[int], list[bool], list[bool]]:
    """Return the word that each of the reference is aligned with, and which words of the two are wrong."""
    i, j = len(steps) - 1, len(steps[0]) - 1
    at, missed, wrong = [-1] * j, [False] * j, [False] * i
    while i or j:
        step = steps[i][j] if i else ADD
        if step == ADD:
            j -= 1
            at[j], missed[j] = i - 1, True
        elif step == DROP:
            i -= 1
            wrong[i] = True
        else:
            i, j = i - 1, j - 1
            at[j], missed[j], wrong[i] = i, step == CHANGE, step == CHANGE
    return at, missed, wrong


def _move(words: list[str], start: int, length: int, to: int) -> list[str]:
    """Return the words with a phrase before the word that is now at `to`, or that many words on if that is its own."""
    phrase, rest = words[start : start + length], words[:start] + words[start + length :]
    place = to if to <= start + length else to - length
    return rest[:place] + phrase + rest[place:]
