"""What callers give, checked before anything is computed: a wrong type is one clear line, too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from holdsup.errors import HoldsupError, ScoresError


def check_level(level: object, error: type[HoldsupError] = ScoresError, *, argument: str = "level") -> None:
    """Refuse what is no coverage, or another share."""
    if not is_number(level) or not 0 < level < 1:  # type: ignore[operator]  # it is a number
        raise error(f"{argument} is {level!r:.60}; it must be a number between 0 and 1, such as 0.95")


def check_count(count: object, argument: str, error: type[HoldsupError] = ScoresError) -> int:
    """Return what must be a whole number that is not negative: a seed, a number of draws or of folds."""
    if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
        raise error(f"{argument} is {count!r:.60}; it must be a whole number, 0 or more")
    return int(count)


def check_finite(value: object, argument: str, *, least: float = -math.inf) -> None:
    """Refuse what is no finite number, or one below the least."""
    if not is_number(value) or not math.isfinite(value) or value < least:  # type: ignore[arg-type,operator]
        bound = "" if least == -math.inf else f", {least:g} or more"
        raise ScoresError(f"{argument} is {value!r:.60}; it must be a number{bound}")


def check_processes(processes: object) -> None:
    """Refuse what is no number of processes; None means as many as pay."""
    if processes is not None and check_count(processes, "processes") < 1:
        raise ScoresError("processes is 0; give 1 or more, or None for as many as pay")


def check_progress(progress: object) -> None:
    """Refuse a `progress` that does not take reports of how far the work is."""
    if not callable(progress):
        raise ScoresError(f"progress is {progress!r:.60}: give a function of (done, total, label), or leave it out")


def check_text(text: object, argument: str) -> None:
    """Refuse a name, or a formula, that is no text; None means that there is none."""
    if not isinstance(text, str | None):
        raise ScoresError(f"{argument} is {text!r:.60}: give it as text")


def check_pairs(given: object, argument: str, example: str) -> dict[str, Any]:
    """Return names and what belongs to each as a dict; None means none."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ScoresError(f"{argument} is {given!r:.60}: give a dict, such as {example}")
    return dict(given)


def check_margin(margin: object) -> float | None:
    """Return a margin as a number, None if there is none."""
    if margin is None:
        return None
    if not is_number(margin) or not (math.isfinite(margin) and margin > 0):  # type: ignore[operator,arg-type]
        raise ScoresError(f"the margin is {margin!r:.60}: give a positive number in the unit of the scores")
    return float(margin)  # type: ignore[arg-type]


def check_levels(levels: object) -> dict[str, Sequence[int]]:
    """Return the numbers of levels that are asked for of each facet."""
    named = check_pairs(levels, "levels", "{'seed': [5, 10]}")
    for facet, counts in named.items():
        if isinstance(counts, str) or not isinstance(counts, Iterable):
            raise ScoresError(f"levels of {facet!r} are {counts!r:.60}: give a list of whole numbers, such as [5, 10]")
    return {str(facet): list(counts) for facet, counts in named.items()}


def list_names_given(given: object, argument: str) -> tuple[str, ...]:
    """Return names, given as one or as several; None means none."""
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise ScoresError(f"{argument} is {given!r:.60}: give a name, or a list of names")
    return names


def list_values_given(given: object, name: object, argument: str) -> list[Any]:
    """Return the values of a column, each text or a number, given as one or as several."""
    if not isinstance(name, str):
        raise ScoresError(f"{argument} names the column {name!r:.60}: give its name as text")
    values = [given] if isinstance(given, str | Real) or not isinstance(given, Iterable) else list(given)
    if not values or not all(isinstance(value, str | Real) for value in values):
        raise ScoresError(f"{argument} gives {given!r:.60} for {name!r}: give a value, or a list of values")
    return values


def is_number(value: object) -> bool:
    """Return whether a value is a number; true and false are none."""
    return isinstance(value, Real) and not isinstance(value, bool)
