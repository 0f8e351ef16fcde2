"""`Table`: the cells that text, Markdown, HTML and LaTeX all show.

A row holds values, not strings: what a value *is* (a p-value, an estimate with its error, an
interval) decides how it is written, once, here. Every rendering starts from `Table.cells()`, so no
two of them can disagree.
"""

from __future__ import annotations

import math
import statistics
import unicodedata
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from holdsup.rendering.numbers import (
    MISSING,
    SIGNIFICANT,
    UNCERTAIN,
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
)

LONGEST_WORD = 30  # letters that are kept together
HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format (bidi), surrogate, line and paragraph separators


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its uncertainty (standard error or half-width), by which it is rounded.

    Those of one column have the same number of digits; where a column holds several units, such as metrics, those of
    one `scale`.
    """

    value: float | None
    uncertainty: float | None = None
    scale: str = ""

    def __str__(self) -> str:
        return format_number(self.value, uncertainty=self.uncertainty)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, and the estimate within it where there is one; drawn as well as written in text.

    One that has nothing to do with the scale of its column (an intercept among differences) is not `drawn`, and one
    that is only to be looked at is not `written` in text. Where a column holds several units, such as metrics, those
    of one `scale` are drawn on one.
    """

    low: float | None
    high: float | None
    estimate: float | None = None
    drawn: bool = True
    scale: str = ""
    written: bool = True

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return MISSING
        return format_interval(self.low, self.high)


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value; `at_most` marks the least that a simulation can give: p is that or smaller."""

    p: float | None
    at_most: bool = False

    def __str__(self) -> str:
        shown = format_p(self.p)
        return f"≤{shown}" if self.at_most and shown[0] == "." else shown


@dataclass(frozen=True, slots=True)
class Percent:
    """A share of the whole, 0-100."""

    value: float | None

    def __str__(self) -> str:
        return format_percent(self.value)


Cell: TypeAlias = str | int | float | bool | Estimate | Interval | PValue | Percent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled grid of values with notes below it."""

    name: str = ""  # for programs and cautions: the field of the result that it shows, where it shows one
    title: str  # its title
    columns: tuple[str, ...]  # the heads
    rows: tuple[tuple[Cell, ...], ...]  # the cells
    notes: tuple[str, ...] = ()  # what readers of the numbers must know
    # what to do next, which is for who made the table: all renderings show it but LaTeX, which is to publish
    advice: tuple[str, ...] = ()
    headless: bool = False  # whether a short answer on a terminal leaves its heads out: the cells speak for themselves

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {self.title!r} has {len(row)} cells for {len(self.columns)} columns")

    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Return every cell as the text that all renderings show."""
        columns = [_level_digits(column) for column in zip(*self.rows, strict=True)]
        return tuple(tuple(map(_written, row)) for row in zip(*columns, strict=True))

    def shown(self) -> Shown:
        """Return the whole table as the text that all renderings show."""
        heads, notes = map(self._head, range(len(self.columns))), map(visible, (*self.notes, *self.advice))
        return Shown(visible(self.title), tuple(heads), self.cells(), tuple(notes))

    def _head(self, column: int) -> str:
        """Return a head; that of intervals to look at ("worse | 95% CI | better") without the words at its ends."""
        head, cells = self.columns[column], [row[column] for row in self.rows]
        if head.count("|") == 2 and any(isinstance(cell, Interval) and not cell.written for cell in cells):
            head = head.split("|")[1].strip()
        return visible(head)

    def is_numeric(self, column: int) -> bool:
        """Return whether a column holds numbers, and is therefore set flush right."""
        values = [row[column] for row in self.rows if row[column] is not None]
        return bool(values) and not any(isinstance(value, str | bool | Interval) for value in values)


class Shown(NamedTuple):
    """A table as text: what a rendering sets, and nothing else."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def visible(text: str) -> str:
    r"""Return `text` with characters that would move the cursor or turn the writing shown as escapes.

    Labels come from files: one that holds a terminal escape, a line break or a right-to-left override
    must not be able to change what is around it.

    >>> visible("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    if text.isprintable():  # false for every character of the categories below
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii") if unicodedata.category(char) in HIDDEN else char for char in text
    )


def has_long_word(text: str) -> bool:
    """Return whether a text has a word that must be broken to fit a column."""
    return any(len(word) > LONGEST_WORD for word in text.split())


def _level_digits(column: tuple[Cell, ...]) -> list[Cell]:
    """Return a column whose estimates have the same number of digits: those of the usual uncertainty."""
    known: dict[str, list[float]] = {}
    for cell in column:
        if isinstance(cell, Estimate) and cell.uncertainty and math.isfinite(cell.uncertainty):
            known.setdefault(cell.scale, []).append(cell.uncertainty)
    usual = {scale: statistics.median_low(own) for scale, own in known.items()}
    return [
        replace(cell, uncertainty=usual[cell.scale]) if isinstance(cell, Estimate) and cell.scale in usual else cell
        for cell in _level_plain(column)
    ]


def _level_plain(column: tuple[Cell, ...]) -> list[Cell]:
    """Return a column whose plain numbers have the same decimals: as many as the smallest needs for four digits.

    Where sizes are far apart each keeps digits of its own.
    """
    sizes = [abs(cell) for cell in column if isinstance(cell, float) and math.isfinite(cell) and cell]
    if not sizes or max(sizes) > 10 * min(sizes):
        return list(column)
    most = max(0, SIGNIFICANT - 1 - math.floor(math.log10(min(sizes))))
    needed = max(len(f"{size:.{most}f}".rstrip("0").partition(".")[2]) for size in sizes)
    return [
        Estimate(cell, 10.0 ** (UNCERTAIN - 1 - needed))
        if needed and isinstance(cell, float) and math.isfinite(cell)
        else cell
        for cell in column
    ]


def _written(cell: Cell) -> str:
    if cell is None:
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return format_count(cell)
    if isinstance(cell, float):
        return format_number(cell)
    return visible(cell) if isinstance(cell, str) else str(cell)
