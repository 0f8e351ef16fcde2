"""Properties written as ``name=function(column)``: reading them, and what functions there are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from holdsup.errors import ColumnError, list_names

__all__ = ["FROM_COUNTS", "FUNCTIONS", "TextProperty", "split_properties"]

FROM_COUNTS = ("rarity_sum", "rarity_mean")  # these may be given a table of word counts
FUNCTIONS = ("flesch", "words_per_sentence", "length", "characters", *FROM_COUNTS)
EXPRESSION = re.compile(r"\s*(?P<name>[^=()\s][^=()]*?)\s*=\s*(?P<function>\w+)\s*\(\s*(?P<arguments>.*?)\s*\)\s*")
ARGUMENTS = re.compile(r"(?:`(?P<quoted>[^`]+)`|(?P<column>[^,`]+?))\s*(?:,\s*(?P<counts>.+))?")
TAKEN = frozenset(
    "dataset system run item metric score status cluster".split()
)  # columns that every table of scores has


@dataclass(frozen=True, slots=True)
class TextProperty:
    """A property that is computed from the text of an item.

    Attributes
    ----------
    name : what the property is called
    function : one of `FUNCTIONS`
    column : the column of the texts
    counts : the file of word counts, None to count the words of the texts themselves
    """

    name: str
    function: str
    column: str
    counts: str | None = None

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
