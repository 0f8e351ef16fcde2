"""What is odd in measurements that can be used all the same; an assessment says it, and so does validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from holdsup.errors import list_names
from holdsup.measurements.record import Measurement
from holdsup.measurements.scales import scale_notes
from holdsup.measurements.units import conversion_notes

__all__ = ["find_repeats", "find_words_for_nothing", "reading_notes"]


def find_repeats(measurements: Sequence[Measurement]) -> list[tuple[int, int]]:
    """Return the measurements, by number, that equal an earlier one in all that is reported, each with that one."""
    first: dict[Any, int] = {}
    again = []
    for i, one in enumerate(measurements):
        key = (one.object, one.measurand, one.value, frozenset(one.conditions.items()), one.source, one.time)
        if first.setdefault(key, i) != i:
            again.append((i, first[key]))
    return again


def find_words_for_nothing(measurements: Sequence[Measurement]) -> list[tuple[int, str, str]]:
    """Return the cells that say that a condition is not known: the measurement, the condition and the word."""
    return [
        (i, name, text)
        for i, one in enumerate(measurements)
        for name, text in one.conditions.items()
        if name not in one.known
    ]


def reading_notes(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield a sentence for each thing about the way in which measurements were read that an answer must not hide."""
    yield from conversion_notes(measurements)
    yield from scale_notes(measurements)
    if repeats := find_repeats(measurements):
        one = measurements[repeats[0][0]]
        those = "1 measurement equals" if len(repeats) == 1 else f"{len(repeats):,} measurements equal"
        yield (
            f"{those} another in all that is reported (the first: {one.value:g}, {one.measurand} of {one.object}): if "
            "one is a copy, delete it; a value that is counted twice makes results look more alike than they are."
        )
    if words := find_words_for_nothing(measurements):
        cells = "1 cell of a condition says" if len(words) == 1 else f"{len(words):,} cells of conditions say"
        listed = list_names(dict.fromkeys(text for _, _, text in words), most=3)
        yield f"{cells} that nothing is known ({listed}): taken as not reported."
