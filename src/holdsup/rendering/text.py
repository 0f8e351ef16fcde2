"""A table for the terminal: fits its width, numbers aligned at the point, intervals drawn."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from holdsup.rendering.table import Cell, Interval, Shown, Table, visible

GAP = "  "
PLOT_WIDTH = 21  # odd, so that the middle of a symmetric interval has a place of its own
WIDEST_PLOT = 41  # of intervals that are drawn and not written
LONG = 10_000  # characters; textwrap takes the square of a word's length
# What stays on one line: p = .33, 95% CI, --margin SIZE, --plot-all. Until lines are made, characters that no text has
# stand for its blanks and hyphens.
BLANKS = str.maketrans(dict.fromkeys("\n\r\t\v\f", " "))
WHOLE = re.compile(r"\bp [=<>] [\d.]+|\d% CI\b|(?<![\w-])--[a-z-]+(?: [A-Z]{2,}\b)?")
KEPT = str.maketrans(" -", "\x01\x02")  # one column each, and in no text that is shown
AGAIN = str.maketrans("\x01\x02", " -")
NARROWEST = 12  # a wrapped column below this is harder to read than one cell a line


# What is painted, and how a terminal is told: the answer's word and bar, heads, and hints.
COLOURS = {"yes": "1;34", "no": "1;31", "unclear": "1;33", "head": "1", "hint": "90"}


@dataclass(frozen=True, slots=True)
class Ink:
    """The characters that lines, intervals and answers are drawn with, and whether colours are."""

    rule: str
    left: str
    right: str
    bar: str
    point: str
    zero: str
    crossing: str
    arrows: tuple[str, str]
    marks: tuple[str, str, str]  # of yes, no and unclear
    coloured: bool = False

    def drawable(self, encoding: str) -> bool:
        """Return whether an output `encoding` has all these characters."""
        drawn = (self.rule, self.left, self.right, self.bar, self.point, self.zero, self.crossing, *self.arrows)
        try:
            "".join((*drawn, *self.marks)).encode(encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def mark(self, state: str) -> str:
        """Return the answer as a shape and a word."""
        return f"{self.marks[('yes', 'no', 'unclear').index(state)]} {state.upper()}"

    def paint(self, what: str, text: str) -> str:
        """Return text in the colour of what it is, where colours are drawn."""
        return f"\x1b[{COLOURS[what]}m{text}\x1b[0m" if self.coloured and what in COLOURS and text else text


UNICODE = Ink(
    rule="─", left="├", right="┤", bar="─", point="●", zero="┊", crossing="┼", arrows=("←", "→"), marks=("●", "■", "◆")
)
ASCII = Ink(
    rule="-", left="|", right="|", bar="-", point="o", zero=":", crossing="+", arrows=("<", ">"), marks=("*", "x", "?")
)


def render_text(table: Table, *, width: int = 100, ink: Ink = UNICODE, compact: bool = False) -> str:
    """Return the table as plain text no wider than `width` columns; a compact one has no title and no rule."""
    shown = table.shown()
    heads = [""] * len(shown.columns) if compact and table.headless else list(shown.columns)
    columns = [list(column) for column in zip(*shown.rows, strict=True)] or [[] for _ in heads]
    numeric = [table.is_numeric(i) for i in range(len(heads))]
    for i in range(len(heads)):
        if numeric[i]:
            columns[i] = _align_points(columns[i])
    for i in reversed(range(len(heads))):
        if not any(_is_drawn(row[i]) for row in table.rows):
            continue
        only = all(not cell.written for row in table.rows if isinstance(cell := row[i], Interval))
        taken = sum(
            _natural(head, column) for k, (head, column) in enumerate(zip(heads, columns, strict=True)) if k != i
        )
        room = width - taken - len(GAP) * (len(heads) - 1)
        drawn = _draw_intervals(table, i, ink, min(WIDEST_PLOT, max(PLOT_WIDTH, room)) if only else PLOT_WIDTH)
        if only and drawn:
            head = visible(table.columns[i]) if heads[i] else ""
            heads[i], columns[i], numeric[i] = _stretch(head, max(map(len, drawn)), ink), drawn, True
        elif drawn:
            heads.insert(i + 1, "")
            columns.insert(i + 1, drawn)
            numeric.insert(i + 1, True)  # like a number, a picture is never wrapped
    room = width - len(GAP) * (len(heads) - 1)
    widths = fit_widths([_natural(head, column) for head, column in zip(heads, columns, strict=True)], numeric, room)
    body = _grid(heads, columns, numeric, widths, ink, compact) if widths else _cards(shown, width)
    notes = [line for note in shown.notes for line in wrap_text(note, width, indent="" if compact else "  ")]
    return "\n".join([*([] if compact else wrap_text(shown.title, width)), *body, *notes])


def _stretch(head: str, width: int, ink: Ink) -> str:
    """Return the head of a picture: what lies to the left and to the right goes to its ends.

    >>> _stretch("worse | 95% CI | better", 30, UNICODE)
    '← worse    95% CI     better →'
    """
    left, middle, right = (part.strip() for part in head.split("|")) if head.count("|") == 2 else ("", head, "")
    before, after = f"{ink.arrows[0]} {left}" if left else "", f"{right} {ink.arrows[1]}" if right else ""
    room = width - len(before) - len(after)
    return f"{before}{middle:^{max(room, 0)}}{after}" if room > len(middle) else middle[:width].center(width)


def display_width(text: str) -> int:
    """Return how many terminal columns `text` takes: wide (East Asian) characters take two.

    >>> display_width("abc"), display_width("模型")
    (3, 4)
    """
    return len(text) if text.isascii() else sum(map(_char_width, text))


def shorten(name: str, width: int) -> str:
    """Return a name that takes at most `width` terminal columns, its middle left out where it is longer.

    >>> shorten("questions-on-law", 12), shorten("模型模型模型", 8)
    ('questi…n-law', '模型…型')
    """
    shown = visible(name)
    if display_width(shown) <= width:
        return shown
    tail = (width - 1) // 2
    start, end = first_columns(shown, width - 1 - tail), first_columns(shown[::-1], tail)[::-1]
    return f"{start}…{end}"


def first_columns(text: str, width: int) -> str:
    """Return the beginning of a text that fits so many columns."""
    used = 0
    for place, char in enumerate(text):
        used += _char_width(char)
        if used > width:
            return text[:place]
    return text


def _char_width(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap_text(text: str, width: int, *, indent: str = "") -> list[str]:
    """Return lines no wider than `width` columns, all but the first indented.

    Lines end between words, but not within a p-value or an option; where there is no blank to end at, as in Chinese,
    anywhere.

    >>> wrap_text("ab 模型模型 cd", 6), wrap_text("no effect (p = .33)", 14)
    (['ab', '模型模', '型 cd'], ['no effect', '(p = .33)'])
    """
    room = width - len(indent) - 2  # there may be parentheses around it
    kept = WHOLE.sub(lambda found: found[0].translate(KEPT) if len(found[0]) <= room else found[0], text)
    return [line.translate(AGAIN) for line in _break_lines(kept, width, indent)]


def _break_lines(text: str, width: int, indent: str) -> list[str]:
    if len(text) <= LONG and display_width(text) == len(text):
        return textwrap.wrap(text, width, subsequent_indent=indent)
    lines, line, used = list[str](), "", 0  # textwrap counts characters, not columns
    for char in text.translate(BLANKS):
        wide = _char_width(char)
        while used + wide > width and line != indent:
            head, _, tail = line.rpartition(" ")
            kept, rest = (head, tail) if head.strip() else (line, "")
            lines.append(kept)
            line = indent + rest
            used = display_width(line)
        if char != " " or line.strip():
            line += char
            used += wide
    return [*lines, line]


def _natural(head: str, column: list[str]) -> int:
    return max(display_width(cell) for cell in [head, *column])


def _align_points(cells: list[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand below one another."""
    tails = [len(cell) - cell.find(".") if "." in cell and "e" not in cell else 0 for cell in cells]
    longest = max(tails, default=0)
    return [cell + " " * (longest - tail) if "e" not in cell else cell for cell, tail in zip(cells, tails, strict=True)]


def _draw_intervals(table: Table, column: int, ink: Ink, width: int) -> list[str]:
    """Return one small picture per row of a column of intervals; [] where none has a width."""
    cells = [row[column] for row in table.rows]
    places = {scale: _place_on(drawn, width) for scale, drawn in _by_scale(cells).items()}
    pictures = [
        _draw(cell, place, ink, width) if _is_drawn(cell) and (place := places[cell.scale]) else "" for cell in cells
    ]
    return pictures if any(pictures) else []


def _is_drawn(cell: Cell) -> TypeGuard[Interval]:
    return isinstance(cell, Interval) and cell.drawn and cell.low is not None and cell.high is not None


def _by_scale(cells: list[Cell]) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    for cell in cells:
        if _is_drawn(cell):
            found.setdefault(cell.scale, []).append(cell)
    return found


def _place_on(drawn: list[Interval], width: int) -> Callable[[float], int] | None:
    """Return where a value lies on the scale that these intervals share; None where they have no width."""
    lowest = min(c.low for c in drawn if c.low is not None)
    highest = max(c.high for c in drawn if c.high is not None)
    if not 0 < highest - lowest < float("inf"):
        return None
    return lambda value: round((value - lowest) / (highest - lowest) * (width - 1))


def _draw(cell: Interval, place: Callable[[float], int], ink: Ink, width: int) -> str:
    assert cell.low is not None and cell.high is not None  # noqa: PT018 (narrowing)
    line = [" "] * width
    start, stop = place(cell.low), place(cell.high)
    line[start : stop + 1] = ink.bar * (stop - start + 1)
    line[start], line[stop] = ink.left, ink.right
    if 0 <= (zero := place(0.0)) < width and line[zero] in (" ", ink.bar):
        line[zero] = ink.zero
    if cell.estimate is not None:
        line[min(max(place(cell.estimate), 0), width - 1)] = ink.point  # it may lie outside its limits
    return "".join(line)


def fit_widths(widths: list[int], numeric: list[bool], room: int) -> list[int] | None:
    """Return column widths that fit in `room`, wrapping the widest text first; None if they cannot."""
    fitted = list(widths)
    while sum(fitted) > room:
        texts = [i for i in range(len(fitted)) if not numeric[i] and fitted[i] > NARROWEST]
        if not texts:
            return None
        widest = max(texts, key=lambda i: fitted[i])
        others = max((fitted[i] for i in texts if i != widest), default=NARROWEST)
        fitted[widest] = max(NARROWEST, min(others, fitted[widest] - 1), fitted[widest] - (sum(fitted) - room))
    return fitted


def _grid(
    heads: list[str], columns: list[list[str]], numeric: list[bool], widths: list[int], ink: Ink, compact: bool
) -> list[str]:
    lines = _row(heads, numeric, widths) if any(heads) else []
    if not compact:
        lines.append(GAP.join(ink.rule * width for width in widths))
    for row in zip(*columns, strict=True):
        lines.extend(_row(list(row), numeric, widths))
    return lines


def _row(cells: list[str], numeric: list[bool], widths: list[int]) -> list[str]:
    wrapped = [_wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for k in range(max(len(cell) for cell in wrapped)):
        parts = [cell[k] if k < len(cell) else "" for cell in wrapped]
        lines.append(GAP.join(_pad(p, w, n) for p, w, n in zip(parts, widths, numeric, strict=True)).rstrip())
    return lines


def _pad(cell: str, width: int, flush_right: bool) -> str:
    space = " " * (width - display_width(cell))
    return space + cell if flush_right else cell + space


def _wrap(cell: str, width: int) -> list[str]:
    return [cell] if display_width(cell) <= width else wrap_text(cell, width) or [""]


def _cards(table: Shown, width: int) -> list[str]:
    """Return one cell a line, for a table with too many columns for the terminal."""
    margin = max(display_width(head) for head in table.columns)
    lines: list[str] = []
    for row in table.rows:
        for head, cell in zip(table.columns, row, strict=True):
            first, *rest = _wrap(cell, max(NARROWEST, width - margin - len(GAP)))
            lines.append(f"{_pad(head, margin, False)}{GAP}{first}".rstrip())
            lines.extend(f"{' ' * margin}{GAP}{line}" for line in rest)
        lines.append("")
    return lines[:-1]
