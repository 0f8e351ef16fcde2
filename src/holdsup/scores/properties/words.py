"""Texts as words and sentences.

A word is a run of letters and digits. Apostrophes and hyphens inside it belong to it (don't, well-known), and so do
the points and commas of a number (3.14, 1,000) and the points of an acronym (U.S., e.g.), as Flesch counts
them. Words are compared in lower case. Texts in which no blanks stand between words (Chinese, Japanese,
Thai, ...) are not cut into words.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["count_sentences", "normalize", "split_words"]

# Vowel signs and points belong to a word (Hindi, Hebrew, Arabic ...), though Python's \w leaves them out.
MARKS = "".join(c for c in map(chr, range(0x300, 0x2000)) if unicodedata.category(c) in ("Mn", "Mc")) + "\u200c\u200d"
RUN = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
ACRONYM = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.)+[^\W\d_](?![^\W_])")
WORD = re.compile(rf"{ACRONYM.pattern}|{RUN}(?:(?:['-]|(?<=\d)[.,](?=\d)){RUN})*")
SAME = str.maketrans({"’": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", "\u00ad": None})  # the last is a soft hyphen

CLOSERS = "\"')]}”»"
# An empty line ends a sentence, too: headings have no full stop.
BREAK = re.compile(rf"\n\s*\n|(?<![.!?…])[.!?…]+[{re.escape(CLOSERS)}]*(?=\s|$)|[。！？｡؟۔।॥]+")  # fmt: skip
LAST_TOKEN = re.compile(r"([^\s(\[\"']+) ?$")  # corpora cut into tokens have a blank before the point
NEXT_WORD = re.compile(rf"[\s\"'(\[“«]*({RUN})")
LOOK = 40  # characters around a full stop in which a token is looked for

TITLES = frozenset(
    "mr mrs ms mx dr prof rev hon gen col lt sgt capt cmdr gov sen rep pres messrs mme mlle st mt vs v cf e.g i.e viz "
    "ca approx resp esp incl".split()
)  # never the end of a sentence
NUMBERED = frozenset("no nos fig figs eq eqs vol p pp ch sec art op nr".split())  # not before a number
SHORTENED = frozenset(
    "etc inc ltd co corp bros jr sr al est ave blvd rd dept univ ph.d jan feb mar apr jun jul aug sep sept oct nov "
    "dec".split()
)  # the end if a word follows that often begins a sentence
STARTERS = frozenset(
    "the a an this that these those it its he she they we you i his her their our my there here in on at for from with "
    "as by to but and or so if when while after before then however what who why how no not yes all some many most "
    "one".split()
)


def normalize(text: str) -> str:
    """Return a text in composed characters (NFC), with one kind of apostrophe and of hyphen."""
    return unicodedata.normalize("NFC", text).translate(SAME)


def split_words(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> split_words("Mr. Smith's well-known U.S. firm didn't pay $1,000.50, e.g. in 2019.")
    ['mr', "smith's", 'well-known', 'u.s', 'firm', "didn't", 'pay', '1,000.50', 'e.g', 'in', '2019']
    """
    return WORD.findall(normalize(text).lower())


def count_sentences(text: str) -> int:
    """Return how many sentences with a word in them a text has.

    A sentence ends at a full stop, question or exclamation mark before a blank, at an empty line, and at the end of
    the text. The point of an abbreviation, an initial or a list number is no full stop, and a quotation that goes on
    in lower case ("Why?" he asked) does not end a sentence.

    >>> count_sentences('Dr. J. Smith paid 3.50 dollars, e.g. for tea. "Why?" he asked. It was 5 p.m. The end')
    4
    """
    text = normalize(text)
    count = start = 0
    for match in BREAK.finditer(text):
        if _ends_sentence(text, match, start):
            count += bool(WORD.search(text, start, match.start()))
            start = match.end()
    return count + bool(WORD.search(text, start))


def _ends_sentence(text: str, match: re.Match[str], start: int) -> bool:
    mark = match[0]
    stop = mark.rstrip(CLOSERS)
    found = NEXT_WORD.match(text, match.end(), match.end() + LOOK)
    if found is None or stop[0] not in ".!?…":
        return True
    follower = found[1]
    if stop != mark or stop[:2] == ".." or stop[0] == "…":  # the end of a quotation, or three points
        return not follower[0].islower()
    if stop != ".":
        return True
    before = LAST_TOKEN.search(text, max(start, match.start() - LOOK), match.start())
    return before is None or _closes(before, follower, first=not WORD.search(text, start, before.start()))


def _closes(before: re.Match[str], follower: str, *, first: bool) -> bool:
    """Return whether the point after a token, with a word that follows it, is a full stop."""
    token = before[1].lower()
    if token in TITLES or (first and token.isdecimal() and len(token) <= 3):  # Mr. Smith; 1. Wash the dishes
        return False
    if token in NUMBERED and follower[0].isdecimal():
        return False
    if token in SHORTENED or ACRONYM.fullmatch(token):
        return follower[0].isupper() and follower.lower() in STARTERS
    return len(token) > 1 or before[1] == "I" or not before[1].isupper()
