"""What a text can be measured by: readability and length."""

from __future__ import annotations

import re

from holdsup.errors import ColumnError
from holdsup.scores.properties.syllables import count_syllables
from holdsup.scores.properties.words import count_sentences, normalize, split_words

__all__ = ["characters", "cut_words", "flesch", "length", "words_per_sentence"]

LETTER = re.compile(r"[^\W\d_]")
LATIN = re.compile("[A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿＡ-Ｚａ-ｚ]")
# Scripts without blanks between words: Thai to Lao, Burmese, Khmer, Kana, Chinese characters.
UNCUT = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
SHOWN = 40  # characters of a text in a message


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
            f"flesch is made for English, and {show(text)} is mostly written in other letters: measure it by "
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
            f"{show(text)} has no blanks between its words, so that they cannot be counted: use characters"
        )
    return split_words(text)


def show(text: str) -> str:
    """Return the beginning of a text for a message, which must stay one line."""
    plain = " ".join(text.split())
    return repr(plain if len(plain) <= SHOWN else f"{plain[: SHOWN - 3]}...")
