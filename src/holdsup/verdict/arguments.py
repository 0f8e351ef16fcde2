"""What callers give, checked before anything is computed: a wrong type is one clear line, too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real

from holdsup.errors import ScoresError

__all__ = ["check_level", "check_levels", "check_margin", "list_names_given"]


def check_level(level: object) -> None:
    """Refuse what is no coverage."""
    if not _is_number(level) or not 0 < level < 1:  # type: ignore[operator]  # it is a number
        raise ScoresError(f"level is {level!r:.60}; it must be a number between 0 and 1, such as 0.95")


def check_margin(margin: object) -> float | None:
    """Return a margin as a number, None if there is none."""
    if margin is None:
        return None
    if not _is_number(margin) or not (math.isfinite(margin) and margin > 0):  # type: ignore[operator,arg-type]
        raise ScoresError(f"the margin is {margin!r:.60}: give a positive number in the unit of the scores")
    return float(margin)  # type: ignore[arg-type]


def check_levels(levels: object) -> dict[str, Sequence[int]]:
    """Return the numbers of levels that are asked for of each facet."""
    if levels is None:
        return {}
    if not isinstance(levels, Mapping):
        raise ScoresError(f"levels is {levels!r:.60}: give a dict, such as {{'seed': [5, 10]}}")
    for facet, counts in levels.items():
        if isinstance(counts, str) or not isinstance(counts, Iterable):
            raise ScoresError(f"levels of {facet!r} are {counts!r:.60}: give a list of whole numbers, such as [5, 10]")
    return {str(facet): list(counts) for facet, counts in levels.items()}


def list_names_given(given: object, argument: str) -> tuple[str, ...]:
    """Return names, given as one or as several; None means none."""
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise ScoresError(f"{argument} is {given!r:.60}: give a name, or a list of names")
    return names


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
