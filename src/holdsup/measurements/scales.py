"""Where a scale starts that nobody says: ratings count from 1, all else from 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from holdsup.measurements.record import Measurement
from holdsup.measurements.units import SHARES

__all__ = ["HIGHEST", "LOWEST", "are_ratings", "guess_scales", "is_open", "may_be_ratings", "scale_notes", "start_at"]

LOWEST, HIGHEST = 1, 7  # of ratings, as most scales of them have it
ENOUGH = 10  # whole numbers: fewer means of anything may well be whole
DIFFERENT = 3


def may_be_ratings(values: ArrayLike) -> bool:
    """Return whether values, or means of some, may be ratings from 1 on.

    >>> may_be_ratings([5.36, 6.14]), may_be_ratings([0, 3, 5])
    (True, False)
    """
    numbers = np.asarray(values, float)
    return bool(numbers.size and numbers.min() >= LOWEST and numbers.max() <= HIGHEST)


def are_ratings(values: ArrayLike) -> bool:
    """Return whether values are many whole numbers, several different ones, that may be ratings from 1 on."""
    numbers = np.asarray(values, float)
    whole = may_be_ratings(numbers) and bool((numbers == np.round(numbers)).all())
    return whole and numbers.size >= ENOUGH and len(np.unique(numbers)) >= DIFFERENT


def is_open(one: Measurement) -> bool:
    """Return whether nothing says where the scale of a measurement starts: its source does not, and it is no share."""
    return one.scale_from == "default" and not one.scale_minimum and one.unit not in SHARES


def start_at(one: Measurement, scale_minimum: float) -> Measurement:
    """Return a measurement on a scale that starts where the user says, unless its source says it."""
    return replace(one, scale_minimum=scale_minimum, scale_from="stated") if is_open(one) else one


def guess_scales(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Return the measurements, those of a measurand that are ratings by their values on a scale from 1 on."""
    by_name: dict[str, list[Measurement]] = {}
    for one in measurements:
        by_name.setdefault(one.measurand, []).append(one)
    rated = {
        name
        for name, those in by_name.items()
        if all(map(is_open, those)) and are_ratings([one.value for one in those])
    }
    return [
        replace(one, scale_minimum=float(LOWEST), scale_from="guess") if one.measurand in rated else one
        for one in measurements
    ]


def scale_notes(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield a sentence for each measurand of which a scale was guessed."""
    for measurand in dict.fromkeys(one.measurand for one in measurements if one.scale_from == "guess"):
        yield (
            f"{measurand}: whole numbers from {LOWEST} to {HIGHEST} are taken for ratings, on a scale that starts at "
            f"{LOWEST}. If it starts at 0, say so: --scale-minimum 0 (scale_minimum=0 in Python)."
        )
