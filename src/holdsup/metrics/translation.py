"""BLEU and chrF: n-grams of a translation that a reference has as well, as sacrebleu counts and scores them.

A target is a reference, or a list of several; the counts of a sentence are those that a corpus sums.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.metric import BadItem, Counts, Floats, Metric, read_pairs, show

ORDER = 4  # the longest n-grams of BLEU
CHARACTERS = 6  # and of chrF
BETA = 2  # how many times recall counts as much as precision in chrF
TOKENIZERS = ("13a", "none")
SMOOTHINGS = ("exp", "none")
# mteval-v13a: entities, then blanks around symbols, around full stops and commas in no number, and dashes after digits
ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
SPLIT = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
PUNCTUATION = frozenset(string.punctuation)


def tokenize_13a(text: str) -> list[str]:
    """Return the tokens of a text as mteval-v13a, and so BLEU, has them.

    >>> tokenize_13a('It costs $3.50, "all in".')
    ['It', 'costs', '$', '3.50', ',', '"', 'all', 'in', '"', '.']
    """
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, sign in ENTITIES:
        text = text.replace(entity, sign)
    text = f" {text} "
    for pattern, parted in SPLIT:
        text = pattern.sub(parted, text)
    return text.split()


def read_texts(targets: Sequence[Any], predictions: Sequence[Any]) -> tuple[list[list[str]], list[str]]:
    """Return the references of each item, one or several, and its prediction; all must be texts."""
    known, predicted = read_pairs(targets, predictions)
    several = [list(each) if isinstance(each, list | tuple) else [each] for each in known]
    for item, (references, guess) in enumerate(zip(several, predicted, strict=True)):
        for text in (*references, guess):
            if not isinstance(text, str):
                raise BadItem("", item, f" is {show(text)}, but must be a text.")
        if not references:
            raise BadItem("", item, " has no reference.")
    return several, predicted


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    """BLEU of a corpus (Papineni et al., 2002), 0 to 100, with sacrebleu's defaults (Post, 2018)."""

    tokenize: str = "13a"
    smooth: str = "exp"  # what stands for a precision of zero: halves, quarters ... of one match, or nothing

    columns = (
        "sys_len", "ref_len",
        *(f"correct_{n}" for n in range(1, ORDER + 1)), *(f"total_{n}" for n in range(1, ORDER + 1)),
    )  # fmt: skip
    parts = tuple((2 + n, 2 + ORDER + n) for n in range(ORDER))

    def __post_init__(self) -> None:
        for option, value, known in (("tokenize", self.tokenize, TOKENIZERS), ("smooth", self.smooth, SMOOTHINGS)):
            if value not in known:
                raise MetricError(
                    f"{option} = {value!r:.40} of the metric {self.name}: choose from {', '.join(known)}."
                )

    @property
    def signature(self) -> str:
        """How texts are counted and scored, as sacrebleu writes it."""
        return f"case:mixed|eff:no|tok:{self.tokenize}|smooth:{self.smooth}"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return lengths, matches and numbers of n-grams of each item."""
        split = tokenize_13a if self.tokenize == "13a" else str.split
        known, predicted = read_texts(targets, predictions)
        rows = np.zeros((len(known), len(self.columns)), dtype=np.intp)
        for row, references, guess in zip(rows, known, predicted, strict=True):
            tokens, books = split(guess.rstrip()), [split(each.rstrip()) for each in references]
            row[0] = len(tokens)
            row[1] = min((abs(len(each) - len(tokens)), len(each)) for each in books)[1]
            most = Counter[tuple[str, ...]]()
            for each in books:
                most |= _ngrams(each, ORDER)
            for gram, times in _ngrams(tokens, ORDER).items():
                row[1 + ORDER + len(gram)] += times
                row[1 + len(gram)] += min(times, most[gram])
        return rows

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return BLEU of summed counts, (..., 10) -> (...); 0 where not one word is right, NaN without references."""
        sums = np.asarray(sums, dtype=np.float64)
        ours, theirs = sums[..., 0], sums[..., 1]
        correct, total = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
        missed = (correct == 0) & (total > 0)
        shown = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), correct) if self.smooth == "exp" else correct
        with np.errstate(divide="ignore", invalid="ignore"):
            precisions = np.log(np.where(total > 0, shown / total, 0.0)).mean(-1)
            brevity = np.where(ours < theirs, 1 - theirs / ours, 0.0)
        found = np.where(correct.any(-1), 100 * np.exp(precisions + brevity), 0.0)
        return np.where(theirs > 0, found, np.nan)

    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why a sum of counts has no score: there is no reference."""
        return None if sums[1] > 0 else "all references are empty"


@dataclass(frozen=True, kw_only=True)
class ChrF(Metric):
    """The F-score of character n-grams (Popovic, 2015), and of words with `word_order` = 2 (chrF++), 0 to 100."""

    word_order: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.word_order <= ORDER:
            raise MetricError(f"word_order = {self.word_order} of the metric {self.name}: it can be 0 to {ORDER}.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the counts: of each kind of n-gram in the hypothesis, in the reference, and in both."""
        kinds = [f"char_{n + 1}" for n in range(CHARACTERS)] + [f"word_{n + 1}" for n in range(self.word_order)]
        return tuple(f"{what}_{kind}" for kind in kinds for what in ("hyp", "ref", "match"))

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Which counts are part of which."""
        return tuple((n + 2, n + i) for n in range(0, len(self.columns), 3) for i in (0, 1))

    @property
    def signature(self) -> str:
        """How texts are counted and scored, as sacrebleu writes it."""
        return f"case:mixed|eff:yes|nc:{CHARACTERS}|nw:{self.word_order}|space:no"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return the numbers of n-grams of each item; of several references those of the one that is most like it."""
        known, predicted = read_texts(targets, predictions)
        rows = np.zeros((len(known), len(self.columns)), dtype=np.intp)
        for item, (references, guess) in enumerate(zip(known, predicted, strict=True)):
            ours = self._kinds(guess)
            found = [_match(ours, self._kinds(each)) for each in references]
            rows[item] = (
                found[int(np.argmax(np.nan_to_num(self.score(np.array(found)))))] if len(found) > 1 else found[0]
            )
        return rows

    def _kinds(self, text: str) -> list[Counter[Any]]:
        """Return the n-grams of a text, a counter for each length."""
        characters = "".join(text.split())
        kinds: list[Counter[Any]] = [
            Counter(characters[i : i + n] for i in range(len(characters) - n + 1)) for n in range(1, CHARACTERS + 1)
        ]
        words = _part_words(text) if self.word_order else []
        return kinds + [
            Counter(zip(*(words[i:] for i in range(n)), strict=False)) for n in range(1, self.word_order + 1)
        ]

    def score(self, sums: NDArray[Any]) -> Floats:
        """Return chrF of summed counts: F of the mean precision and recall of the lengths that both texts have."""
        sums = np.asarray(sums, dtype=np.float64)
        hyp, ref, match = (sums[..., i::3] for i in range(3))
        there = (hyp > 0) & (ref > 0)
        precision, recall = (
            np.divide(match, whole, out=np.zeros_like(match), where=there).sum(-1) for whole in (hyp, ref)
        )
        kinds, below = there.sum(-1), BETA**2 * precision + recall
        above = 100 * (1 + BETA**2) * precision * recall
        found = np.divide(above, below * kinds, out=np.zeros_like(above), where=(kinds > 0) & (below > 0))
        return np.where(ref.any(-1), found, np.nan)

    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why a sum of counts has no score: there is no reference."""
        return None if sums[1::3].any() else "all references are empty"


def _match(ours: Iterable[Counter[Any]], theirs: Iterable[Counter[Any]]) -> list[int]:
    """Return the three counts of each length; n-grams count only where the reference has some of their length."""
    return [
        count
        for hyp, ref in zip(ours, theirs, strict=True)
        for count in (hyp.total() if ref else 0, ref.total(), (hyp & ref).total())
    ]


@lru_cache(maxsize=2**16)
def _part_word(word: str) -> tuple[str, ...]:
    """Return a word and the punctuation that it ends in, or else begins with."""
    if len(word) > 1 and word[-1] in PUNCTUATION:
        return word[:-1], word[-1]
    return (word[0], word[1:]) if len(word) > 1 and word[0] in PUNCTUATION else (word,)


def _part_words(text: str) -> list[str]:
    return [part for word in text.split() for part in _part_word(word)]


def _ngrams(tokens: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for n in range(1, order + 1) for i in range(len(tokens) - n + 1))
