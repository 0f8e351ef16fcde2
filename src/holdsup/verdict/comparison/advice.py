"""What to do next: the cheapest way to a firmer answer, from the parts of the uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from holdsup.rendering.numbers import format_count, format_counted, format_number
from holdsup.verdict.claims import Pair
from holdsup.verdict.evaluation import SystemRuns

__all__ = ["Parts", "advise", "find_parts"]

POWER_Z = 0.8416212335729143  # normal quantile of a power of 80%
MOST_RUNS, MOST_ITEMS = 200, 10_000_000  # beyond these nobody goes


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the variance of a difference comes from.

    Attributes
    ----------
    runs : number of runs of each system
    items : number of items
    run : variance between runs of each system
    item : variance between items of the difference
    residual : residual variance of each system
    """

    runs: tuple[int, ...]
    items: int
    run: tuple[float, ...]
    item: float
    residual: tuple[float, ...]

    def standard_error(self, runs: tuple[int, ...] | None = None, items: int | None = None) -> float:
        """Return the standard error of the difference with other numbers of runs and items."""
        k, count = runs or self.runs, items or self.items
        each = sum((v + e / count) / n for v, e, n in zip(self.run, self.residual, k, strict=True))
        return math.sqrt(each + self.item / count)


def find_parts(pair: Pair) -> Parts | None:
    """Return the parts of a pair's variance; None where its design does not tell them apart."""
    found = pair.difference
    if found.item_variance is None or any(v is None for v in (*found.run_variance, *found.residual_variance)):
        return None
    runs = (len(pair.left.runs), len(pair.right.runs))
    if pair.paired:  # what counts is the seeds that both have, each with all its settings
        assert pair.left.seeds is not None
        assert pair.right.seeds is not None
        runs = (len(set(pair.left.seeds) & set(pair.right.seeds)),) * 2
    run = tuple(v for v in found.run_variance if v is not None)
    residual = tuple(v for v in found.residual_variance if v is not None)
    if not run:
        return None
    return Parts(runs[: len(run)], pair.items, run, found.item_variance, residual)


def advise(pair: Pair, *, firm: bool, tests: int = 1) -> tuple[str, ...]:
    """Return what would make the answer firmer: more runs, more items; nothing where it is firm.

    With several `tests`, each is held to its share of the error.

    The target is a standard error at which the difference found would show four times in five.
    """
    parts = find_parts(pair)
    names = f"{pair.left.name} and {pair.right.name}"
    if pair.claim == "these-runs" and parts is None:
        return _advise_training([system for system in (pair.left, pair.right) if not system.repeats])
    if firm or parts is None or pair.difference.estimate == 0:
        return ()
    if pair.unit == "items" and "dataset" in pair.method and pair.claim != "these-runs":
        return (f"More datasets: how much {names} differ from one to the next is what decides here.",)
    if pair.claim == "new-settings":
        drawn = " and ".join(system.name for system in (pair.left, pair.right) if system.setting_count > 1)
        return (f"More settings of {drawn}: how much these differ is what decides here.",)
    wanted = abs(pair.difference.estimate) / (float(ndtri(1 - 0.025 / tests)) + POWER_Z)
    if pair.claim == "these-runs":
        return _advise_items(pair, wanted)
    said = []
    if more := _more_runs(parts, wanted):
        said.append(_say_runs(pair, parts, more))
    if items := _enough_items(parts, wanted):
        said.append(f"{format_count(items - parts.items)} more {pair.unit} ({format_count(items)} in all)")
    shown = format_number(abs(pair.difference.estimate))
    if not said:
        return (
            f"A difference of {shown} would show four times in five only with more runs and more {pair.unit} together.",
        )
    note = "" if len(said) == 2 else f" More {pair.unit if more else 'runs'} alone would not do."
    return (f"To show a difference of {shown} four times in five: {', or '.join(said)}.{note}",)


def _advise_items(pair: Pair, wanted: float) -> tuple[str, ...]:
    """Return how many items would do where runs are taken as they are."""
    shown = format_number(abs(pair.difference.estimate))
    items = math.ceil(pair.items * (pair.difference.se / wanted) ** 2)
    if not pair.items < items <= MOST_ITEMS:
        return ()
    more = f"{format_count(items - pair.items)} more {pair.unit} ({format_count(items)} in all)"
    return (f"To show a difference of {shown} of these runs four times in five: {more}.",)


def _advise_training(lacking: Sequence[SystemRuns]) -> tuple[str, ...]:
    """Return whose runs are too few to say anything about new ones."""
    if not lacking:
        return ()
    names, each = " and ".join(system.name for system in lacking), " each" if len(lacking) > 1 else ""
    where = " at a setting" if any(len(system.runs) > 1 for system in lacking) else ""
    return (
        f"Train {names} with two seeds or more{where}{each}: one run cannot tell a better system from a lucky run.",
    )


def _more_runs(parts: Parts, wanted: float) -> int | None:
    """Return how many more runs of each system would do."""
    for more in range(1, MOST_RUNS + 1 - max(parts.runs)):
        if parts.standard_error(tuple(count + more for count in parts.runs)) <= wanted:
            return more
    return None


def _say_runs(pair: Pair, parts: Parts, more: int) -> str:
    """Return so many more runs of each system in words, and how many these make."""
    if pair.paired:
        seeds = format_counted(more, "more shared seed")
        return f"{seeds} of {pair.left.name} and {pair.right.name} ({format_count(parts.runs[0] + more)} in all)"
    left, right = (format_count(count + more) for count in parts.runs)
    made = f"{left} each" if left == right else f"{left} and {right}"
    return f"{format_counted(more, 'more run')} of each of {pair.left.name} and {pair.right.name} ({made})"


def _enough_items(parts: Parts, wanted: float) -> int | None:
    fixed = sum(v / n for v, n in zip(parts.run, parts.runs, strict=True))
    shrinking = parts.item + sum(e / n for e, n in zip(parts.residual, parts.runs, strict=True))
    if wanted**2 <= fixed:
        return None
    items = math.ceil(shrinking / (wanted**2 - fixed))
    return items if parts.items < items <= MOST_ITEMS else None
