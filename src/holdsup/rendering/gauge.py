"""`Gauge`: one difference drawn as text: its confidence interval, zero, and which side is whose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from holdsup.rendering.numbers import format_number
from holdsup.rendering.table import visible
from holdsup.rendering.text import Ink, display_width

NARROWEST, WIDEST = 20, 56  # columns of the picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A difference and its confidence interval on a line with zero."""

    label: str  # what is drawn, such as "difference"
    low: float  # the ends of the interval
    high: float
    estimate: float  # the difference
    left: str  # what values below and above zero mean, such as "baseline better"
    right: str
    interval: str  # what the bar is, such as "95% CI"
    state: str = ""  # in which colour it is painted
    bound: float = 0.0  # another value that is drawn as a line, such as how much worse may be

    def text(self, width: int, ink: Ink) -> str:
        """Return three lines: whose side is where, the picture, and the numbers below their marks."""
        margin = len(self.label) + 2
        room = min(WIDEST, max(NARROWEST, width - margin - len(self.interval) - 2))
        shown = {place: self._write(place) for place in (self.low, 0.0, self.bound, self.estimate, self.high)}
        edge = max(len(shown[self.low]), len(shown[self.high])) // 2 + 1  # numbers are centred below their marks
        bottom, top = min(self.low, self.bound, 0.0), max(self.high, self.bound, 0.0)
        span = (top - bottom) or 1.0

        def place(value: float) -> int:
            return edge + round((value - bottom) / span * (room - 1 - 2 * edge))

        line = [" "] * room
        line[place(self.low) : place(self.high) + 1] = ink.bar * (place(self.high) - place(self.low) + 1)
        zero = place(0.0)
        for at in (zero, place(self.bound)):
            line[at] = ink.crossing if line[at] in (ink.bar, ink.crossing) else ink.zero
        line[place(self.low)], line[place(self.high)] = ink.left, ink.right
        line[place(self.estimate)] = ink.point
        order = dict.fromkeys((self.low, self.high, self.estimate, self.bound, 0.0))
        numbers = self._place_numbers(((place(value), shown[value]) for value in order), room)
        words = self._place_words(margin + zero, margin + room, ink)
        drawn = ink.paint(self.state, "".join(line).rstrip())
        tail = " " * (room - len("".join(line).rstrip()) + 2) + self.interval
        return "\n".join(
            [
                words,
                f"{self.label}  {drawn}{tail}",
                ink.paint("hint", (" " * margin + numbers).rstrip()),
            ]
        )

    def _write(self, value: float) -> str:
        if value == 0:
            return "0"
        text = format_number(value, uncertainty=(self.high - self.low) / 2 or None)
        return text if value < 0 or text.startswith("-") else f"+{text}"

    def _place_words(self, zero: int, room: int, ink: Ink) -> str:
        """Return the line that says whose side is where, the words against the zero line."""
        left, right = (visible(side) for side in (self.left, self.right))
        before, after = f"{ink.arrows[0]} {left} ", f" {right} {ink.arrows[1]}"
        if display_width(before) > zero:  # no room on that side: it goes without saying
            before = f"{ink.arrows[0]} " if zero >= 2 else ""
        if zero + 1 + display_width(after) > room + len(self.interval) + 2:
            after = f" {ink.arrows[1]}"
        return " " * (zero - display_width(before)) + before + ink.zero + after

    def _place_numbers(self, wanted: Iterable[tuple[int, str]], room: int) -> str:
        """Return the numbers, each centred below its mark; where they collide, those that come later give way."""
        taken: list[tuple[int, int]] = []
        line = [" "] * (room + 8)
        for place, text in wanted:
            start = max(0, place - len(text) // 2)
            if all(start > stop + 1 or start + len(text) < begin for begin, stop in taken):
                line[start : start + len(text)] = text
                taken.append((start, start + len(text)))
        return "".join(line).rstrip()
