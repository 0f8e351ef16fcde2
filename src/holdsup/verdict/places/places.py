"""What rankings by votes and by aggregates share: places, letters, the pairs behind them, and the words for these."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdsup.numerics.placing import Pairs
from holdsup.rendering import Answer, Cell, Interval, PValue, State, Table
from holdsup.rendering.numbers import format_count
from holdsup.results import Result, write_caveats
from holdsup.verdict.comparison.standings import letter_systems
from holdsup.verdict.phrases import join_names, say_count, say_level, say_p

MOST_SYSTEMS, MOST_LINES, MOST_WORDS = 10, 24, 25  # rows of the short answer, its lines, words of a headline
MOST_PAIRS = 500  # of the full answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSystem:
    """A system in its place."""

    name: str  # the system
    rank: int  # its place by the estimate
    rank_low: int  # the best place that the tests of all pairs leave open to it
    rank_high: int  # the worst
    letters: tuple[str, ...]  # systems that share one can't be told apart
    estimate: float  # what systems are placed by
    low: float  # its interval
    high: float  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPair:
    """Two systems compared, the one with the better place first."""

    left: str  # the one with the better place
    right: str  # the other
    difference: float  # how far it is ahead; null where it is ahead without end
    se: float  # standard error of the difference; null where it is ahead without end
    df: float  # degrees of freedom of its t-test
    low: float  # interval of the difference
    high: float  # its upper end
    p: float  # p of no difference
    p_adjusted: float  # the same, adjusted for all pairs
    low_simultaneous: float  # interval for all pairs at once
    high_simultaneous: float  # its upper end
    adjusted_by: str  # how p was adjusted for all pairs; empty for a single pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Places(Result):
    """Systems in their places, the best first, with all pairs; `systems` is a field of each kind."""

    level: float  # coverage of the intervals
    lower_is_better: bool  # whether the lowest estimate is the best
    contrasts: tuple[PlacedPair, ...]  # all pairs

    @property
    def placed(self) -> tuple[Any, ...]:
        """The systems, whatever else is known about them."""
        return self.systems  # type: ignore[attr-defined, no-any-return]

    def told(self, pair: PlacedPair) -> bool:
        """Return whether a pair is told apart after adjustment for all pairs."""
        return pair.p_adjusted <= 1 - self.level

    def answer(self) -> Answer:
        """Return who is best, and how sure that is; of many systems as many as fit a screen."""
        for most in range(MOST_SYSTEMS, 1, -1):
            made = self._answer(most)
            if made.text().count("\n") <= MOST_LINES:
                break
        return made

    def _answer(self, most: int) -> Answer:
        shown = self.placed if len(self.placed) <= most + 1 else (*self.placed[:most], self.placed[-1])
        lacking = len(self.placed) - len(shown)
        state: State = "unclear" if self.rivals() else "yes"
        return Answer(
            question=self.ask(),
            state=state,
            headline=self.headline_of(self.rivals()),
            parts=(self.tabulate_places(shown, (f"{lacking:,} more: --full",) if lacking else ()),),
            foot=(*self.explain(), *write_caveats(self.cautions)),
            more=("--full (pairs, tests)", "holdsup report", "--plot figure.svg"),
            signature=self.signature,
            names=tuple(s.name for s in self.placed),
            most_lines=MOST_LINES,
        )

    def rivals(self) -> list[str]:
        """Return the systems that the first can't be told from."""
        return [c.right for c in self.contrasts if c.left == self.placed[0].name and not self.told(c)]

    def headline_of(self, rivals: Sequence[str]) -> str:
        """Return who leads, by how much, and from whom the leader can't be told apart."""
        leader, second = self.placed[0].name, self.placed[1].name
        lead = next(c for c in self.contrasts if {c.left, c.right} == {leader, second})
        said = self.say_lead(lead, best=not rivals)
        if rivals:
            few = "it" if rivals == [second] else join_names(rivals, most=3)
            whom = f"{say_count(len(rivals))} others" if len(rivals) > 2 else few
            return f"{said}, but can't be told apart from {whom}."
        blurred = [s.rank for s in self.placed if s.rank_low != s.rank_high]
        places = f"Places {blurred[0]} to {blurred[-1]} can't all be told apart." if blurred else ""
        places = places or (f"All {say_count(len(self.placed))} places are clear." if len(self.placed) > 2 else "")
        both = f"{said}. {places}".strip()
        return both if len(both.split()) <= MOST_WORDS else f"{said}."

    @abstractmethod
    def ask(self) -> str:
        """Return the question."""

    @abstractmethod
    def say_lead(self, lead: PlacedPair, *, best: bool) -> str:
        """Return the first half of the headline: who leads, or is best, by how much, and how sure that is."""

    @abstractmethod
    def explain(self) -> tuple[tuple[str, str], ...]:
        """Return the lines at the foot: what the answer holds for, and what else moves it."""

    @abstractmethod
    def tabulate_places(self, shown: Sequence[Any], notes: tuple[str, ...] = ()) -> Table:
        """Return systems with their places and intervals."""

    def list_contrasts(self, columns: tuple[str, ...], cells: Any, *notes: str) -> Table:
        """Return the pairs, `cells` being what a pair shows besides its names and tests."""
        pairs = self.contrasts
        if len(pairs) > MOST_PAIRS:
            near = {s.name for s in self.placed[:MOST_SYSTEMS]}
            pairs = tuple(c for c in pairs if c.left in near)[:MOST_PAIRS]
            more = f"{format_count(len(pairs))} of {format_count(len(self.contrasts))} pairs are shown; JSON has all."
            notes = (more, *notes)
        adjusted = pairs[0].adjusted_by
        if adjusted:
            notes = (*notes, f"CI and p: adjusted for all pairs ({adjusted}). p alone: not adjusted.")
        rows = tuple((f"{c.left} - {c.right}", *cells(c), PValue(c.p_adjusted), PValue(c.p)) for c in pairs)
        heads = ("", *columns, "p", "p alone")
        return Table(name="contrasts", title="All pairs", columns=heads, rows=rows, notes=tuple(notes))

    def say_evidence(self, interval: str | None, lead: PlacedPair) -> str:
        """Return the CI of a lead, if it has one, and the p that belongs to it."""
        said = f"{say_level(self.level)} CI {interval}, " if interval else ""
        return f"({said}{say_p(lead.p_adjusted)})"


def name_places(s: PlacedSystem) -> str:
    """Return the places that a system may have."""
    return f"{s.rank_low}" if s.rank_low == s.rank_high else f"{s.rank_low}-{s.rank_high}"


def draw_interval(s: PlacedSystem, *, written: bool = False) -> Cell:
    """Return an interval to be drawn; where spread is not measured there is none."""
    known = math.isfinite(s.low) and math.isfinite(s.high)
    return Interval(s.low, s.high, s.estimate, written=written) if known else Interval(None, None, written=written)


def place_pairs(
    names: Sequence[str], pairs: Pairs, level: float
) -> tuple[tuple[PlacedPair, ...], list[dict[str, Any]]]:
    """Return the pairs of systems, which are in order, and for each system its name, rank, open places and letters."""
    columns = ("difference", "se", "df", "low", "high", "p", "p_adjusted", "low_simultaneous", "high_simultaneous")
    numbers = [np.where(np.isfinite(v), v, np.nan).tolist() for v in (getattr(pairs, column) for column in columns)]
    found = tuple(
        PlacedPair(left=names[i], right=names[j], adjusted_by=pairs.adjusted_by, **dict(zip(columns, own, strict=True)))
        for i, j, *own in zip(pairs.left, pairs.right, *numbers, strict=True)
    )
    told = pairs.p_adjusted <= 1 - level
    better, worse = (np.bincount(side[told], minlength=len(names)) for side in (pairs.right, pairs.left))
    letters = letter_systems(names, found, level)
    return found, [
        {"name": name, "rank": i + 1, "rank_low": int(1 + better[i]), "rank_high": int(len(names) - worse[i]),
         "letters": own} for i, (name, own) in enumerate(zip(names, letters, strict=True))
    ]  # fmt: skip
