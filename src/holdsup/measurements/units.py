"""A measured value as people write it, its unit and its scale.

Values are written 0.91, .91, 91 %, 0,91. Percentages and proportions are one quantity: measurements of one thing in one
unit, or a fault. Where a scale starts that nobody says: ratings count from 1, all else from 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from holdsup.columns.layout import THOUSANDS
from holdsup.errors import quote_text
from holdsup.measurements.record import Measurement

SHARES = {"percent", "proportion"}
FAR = 10  # 91 and .91 are a hundredfold apart; values of one thing are rarely ten times one another

NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
COMMA_NUMBER = re.compile(r"[-+]?[0-9]*,[0-9]+")
PERCENT = re.compile(r"\s*(%|per ?cent|pct\.?)$", flags=re.IGNORECASE)
UNITS = {
    **dict.fromkeys(("%", "percentage", "per cent", "pct", "pct."), "percent"),
    "fraction": "proportion",
}

LOWEST, HIGHEST = 1, 7  # of ratings, as most scales of them have it
ENOUGH = 10  # whole numbers: fewer means of anything may well be whole
DIFFERENT = 3


class UnitError(ValueError):
    """The units of some measurements do not match.

    Attributes
    ----------
    member : the number of a measurement that does not match the others
    """

    def __init__(self, message: str, member: int) -> None:
        super().__init__(message)
        self.member = member


def group_measurements(measurements: Iterable[Measurement]) -> dict[tuple[str, str], list[int]]:
    """Return which measurements, by number, are of the same object and measurand, in the order of the first of each."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, one in enumerate(measurements):
        groups.setdefault((one.object, one.measurand), []).append(i)
    return groups


def to_one_unit(group: Sequence[Measurement]) -> list[Measurement]:
    """Return measurements of one object and measurand in one unit: percent where percentages and proportions mix.

    Among percentages and proportions, numbers without a unit are proportions up to 1 and percentages above.

    Raises
    ------
    UnitError : units that differ, or numbers that may be either
    """
    units = {one.unit for one in group}
    if len(units) == 1:
        _check_bare(group)
        return list(group)
    if units - {*SHARES, ""}:
        other = next(i for i, one in enumerate(group) if one.unit != group[0].unit)
        raise UnitError(f"has the units {_listed(units)}: convert the values to one of them", other)
    bare = [abs(one.value) for one in group if not one.unit and one.value]  # 0 is 0 in either
    small = bool(bare) and max(bare) <= 1
    percentages = [abs(one.value) for one in group if one.unit == "percent"]
    if (bare and not small and min(bare) <= 1) or (small and percentages and max(percentages) <= 1):
        which = next(i for i, one in enumerate(group) if not one.unit and one.value)
        raise UnitError(
            f"mixes percentages with numbers that could be percentages or proportions, such as {group[which].value:g}: "
            "say which in the column unit",
            which,
        )
    told = [one if one.unit else replace(one, unit="proportion" if small else "percent") for one in group]
    return told if {one.unit for one in told} == {"proportion"} else [_in_percent(one) for one in told]


def _in_percent(one: Measurement) -> Measurement:
    if one.unit == "percent":
        return one
    return replace(one, value=_hundredfold(one.value), scale_minimum=_hundredfold(one.scale_minimum), unit="percent")


def _hundredfold(share: float) -> float:
    """Return a share in percent, as it would be written: .07 gives 7, not 7.000000000000001."""
    return float(f"{share * 100:.15g}")


def _check_bare(group: Sequence[Measurement]) -> None:
    """Raise for 91 beside .91, neither with a unit."""
    sizes = [abs(one.value) for one in group if not one.unit and not one.scale_minimum]
    small = [size for size in sizes if 0 < size <= 1]
    large = [size for size in sizes if size > 1]
    if small and large and max(large) <= 100 and min(large) > FAR * max(small):
        raise UnitError(
            f"has the values {max(small):g} and {min(large):g}: is one a proportion and the other a percentage? "
            "Write 91 %, or fill in unit (percent, proportion, or another word) for these rows",
            next(i for i, one in enumerate(group) if one.value and (abs(one.value) > 1) != (abs(group[0].value) > 1)),
        )


def _listed(units: set[str]) -> str:
    return " and ".join(sorted(unit or "none" for unit in units))


def list_conversions(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield a line for each object and measurand of which values were converted to percent."""
    for (name, measurand), members in group_measurements(measurements).items():
        changed = [one for one in (measurements[i] for i in members) if _was_converted(one)]
        if changed:
            pairs = ", ".join(f"{one.reported} as {one.value:g} %" for one in changed[:3])
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            yield f"{measurand} of {name}: {pairs}{more}"


def _was_converted(one: Measurement) -> bool:
    return bool(one.reported) and parse_value(one.reported)[0] != one.value


def parse_value(text: str) -> tuple[float, str]:
    """Return the number that `text` is, and its unit: "percent" after a percent sign, otherwise empty.

    A decimal comma is read where it cannot be anything else: 0,91 and 91,5, but not 1,234.

    Raises
    ------
    ValueError : it is no number; the message says why, to follow the words "the value"

    >>> parse_value("91 %"), parse_value(".91"), parse_value("0,91")
    ((91.0, 'percent'), (0.91, ''), (0.91, ''))
    """
    bare = PERCENT.sub("", text.strip()).replace("\N{MINUS SIGN}", "-")
    unit = "percent" if PERCENT.search(text.strip()) else ""
    if COMMA_NUMBER.fullmatch(bare):
        if THOUSANDS.fullmatch(bare):
            raise ValueError(
                f"{quote_text(text)} could be {bare.replace(',', '.')} or {bare.replace(',', '')}: write one of these"
            )
        bare = bare.replace(",", ".")
    if not NUMBER.fullmatch(bare):
        raise ValueError(
            f"{quote_text(text)} is not a finite number: write the number that was measured, and nothing else"
        )
    number = float(bare)
    if not math.isfinite(number):
        raise ValueError(f"{quote_text(text)} is too large for a number: write the number that was measured")
    return number, unit


def parse_unit(text: str) -> str:
    """Return the unit that a cell names: "percent" and "proportion" by these names, any other word as it is."""
    word = text.strip()
    return UNITS.get(word.lower(), word.lower() if word.lower() in UNITS.values() else word)


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
