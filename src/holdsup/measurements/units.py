"""Percentages and proportions are one quantity: measurements of one thing in one unit, or a fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from holdsup.measurements.record import Measurement
from holdsup.measurements.values import parse_value

__all__ = ["SHARES", "UnitError", "conversion_notes", "group_measurements", "to_one_unit"]

SHARES = {"percent", "proportion"}
FAR = 10  # 91 and .91 are a hundredfold apart; values of one thing are rarely ten times one another


class UnitError(ValueError):
    """The units of some measurements do not go together.

    Attributes
    ----------
    member : the number of a measurement that does not go with the others
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
            f"mixes percentages with numbers that may be percentages or proportions, such as {group[which].value:g}: "
            "say which with unit",
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


def conversion_notes(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield a sentence for each object and measurand of which values were converted to percent."""
    for (name, measurand), members in group_measurements(measurements).items():
        changed = [one for one in (measurements[i] for i in members) if _was_converted(one)]
        if changed:
            pairs = ", ".join(f"{one.reported} was read as {one.value:g} %" for one in changed[:3])
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            yield f"{measurand} of {name}: {pairs}{more}, because other measurements of it are percentages."


def _was_converted(one: Measurement) -> bool:
    return bool(one.reported) and parse_value(one.reported)[0] != one.value
