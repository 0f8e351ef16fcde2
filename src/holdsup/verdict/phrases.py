"""Numbers as parts of a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdsup.rendering import Interval
from holdsup.rendering.numbers import format_p

__all__ = ["NO_LIMITS", "join_names", "say_groups", "say_level", "say_p", "show_limits"]

NO_LIMITS = "Without limits: differences are all equal, or items, runs or datasets too few to measure their spread."

MOST_NAMES = 6


def say_groups(grouped: bool) -> str:
    """Return whether splits kept groups of items whole."""
    if grouped:
        return "Groups of items were kept whole: none is on both sides of a split."
    return "Items were split one by one: no groups were given that belong on one side."


def say_level(level: float) -> str:
    """Return the coverage of limits in a sentence.

    >>> say_level(0.95), say_level(0.57), say_level(0.9999)
    ('95%', '57%', '99.99%')
    """
    return f"{100 * level:.10g}%"


def say_p(p: float, log10_p: float | None = None, *, at_most: bool = False) -> str:
    """Return a p-value in a sentence; `at_most` for the least that a simulation can give.

    >>> say_p(0.03), say_p(1.0), say_p(0.0001, at_most=True)
    ('p = 0.030', 'p > 0.999', 'p <= 1.0e-04')
    """
    shown = format_p(p, log10_p)
    if at_most:
        return f"p <= {shown}"
    return f"p {shown[0]} {shown[1:]}" if shown.startswith(("<", ">")) else f"p = {shown}"


def show_limits(
    low: float | None, high: float | None, estimate: float | None = None, *, drawn: bool = True, scale: str = ""
) -> Interval:
    """Return limits as a cell, drawn with those of the same scale; where a spread is not measured there are none."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return Interval(None, None)
    return Interval(low, high, estimate, drawn, scale)


def join_names(names: Sequence[str], *, most: int = MOST_NAMES) -> str:
    """Return names in a sentence; of many, the first and how many more there are.

    >>> join_names(["A"]), join_names(["A", "B", "C"]), join_names(list("ABCDEFGH"))
    ('A', 'A, B and C', 'A, B, C, D, E, F and 2 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
