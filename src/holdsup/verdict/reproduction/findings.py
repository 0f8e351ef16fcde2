"""`compare_findings`: do the conclusions of the original hold in its reproductions?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdsup.errors import MeasurementError, list_names
from holdsup.measurements import Measurement, read_measurements, reading_notes
from holdsup.rendering import Percent, Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import Result, Rows, sign
from holdsup.verdict.reproduction.groups import digest_measurements, select_measurements

__all__ = ["FindingSet", "Findings", "Flip", "compare_findings"]

UNCOMPARED = "no second object that the original and a reproduction both measured"
MOST_FLIPS = 20  # shown; all of them are in the JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSet:
    """How many conclusions of the original a reproduction upholds.

    Attributes
    ----------
    measurand : the quantity measured
    reproduction : the study
    objects : number of objects that both measured
    conclusions : number of pairs of them, each with a conclusion which is ahead
    upheld : pairs that stand in the same order
    flipped : pairs that stand in the opposite order
    tied : pairs that are equal in one of the two studies only
    percent : share of conclusions upheld, 0-100
    """

    measurand: str
    reproduction: str
    objects: int
    conclusions: int
    upheld: int
    flipped: int
    tied: int
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A conclusion that a reproduction does not uphold.

    Attributes
    ----------
    measurand : the quantity measured
    reproduction : the study
    left : the object that is ahead in the original (or the first of two that are equal there)
    right : the other
    original : left - right in the original
    difference : left - right in the reproduction
    """

    measurand: str
    reproduction: str
    left: str
    right: str
    original: float
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings(Result):
    """Which pairwise conclusions of an original its reproductions uphold.

    Attributes
    ----------
    sets : each reproduction of each measurand
    flips : the conclusions that are not upheld
    """

    kind: ClassVar[str] = "qra_findings"

    sets: tuple[FindingSet, ...]
    flips: tuple[Flip, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return how many conclusions hold, and which do not."""
        held = Table(
            title="Conclusions upheld: of two objects, which has the higher value",
            columns=("measurand", "reproduction", "objects", "conclusions", "upheld", "flipped", "tied", "share"),
            rows=tuple(
                (s.measurand, s.reproduction, s.objects, s.conclusions, s.upheld, s.flipped, s.tied, Percent(s.percent))
                for s in self.sets
            ),
            notes=("Pairs share their objects: ten pairs are not ten independent findings.",),
        )
        if not self.flips:
            return (held,)
        left = len(self.flips) - MOST_FLIPS
        return (
            held,
            Table(
                title="Conclusions that are not upheld, the largest differences first",
                columns=("measurand", "reproduction", "ahead in the original", "of", "original", "reproduction "),
                rows=tuple(
                    (f.measurand, f.reproduction, f.left, f.right, f.original, f.difference)
                    for f in self.flips[:MOST_FLIPS]
                ),
                notes=(f"{left} more are in the JSON.",) if left > 0 else (),
            ),
        )


def compare_findings(
    measurements: Any, *, original: str | None = None, where: Mapping[str, Iterable[str] | str] | None = None
) -> Findings:
    """Return which conclusions of the original (this object has a higher value than that one) reproductions uphold.

    A study is a source of measurements, or who performed them where no source is given; several values of one study
    for one object and measurand are averaged.

    Parameters
    ----------
    measurements : what `assess_reproduction` takes
    original : the study that the others are compared with; by default the first one of each measurand
    where : objects, measurands or values of conditions to keep, such as ``{"measurand": "BLEU"}``

    Examples
    --------
    >>> values = {"first": {"A": 0.8, "B": 0.7, "C": 0.6}, "again": {"A": 0.7, "B": 0.75, "C": 0.5}}
    >>> rows = [
    ...     {"object": o, "measurand": "F1", "value": v, "performed_by": study}
    ...     for study, one in values.items()
    ...     for o, v in one.items()
    ... ]
    >>> found = compare_findings(rows)
    >>> found.sets[0].upheld, found.sets[0].conclusions, found.flips[0].left, found.flips[0].right
    (2, 3, 'A', 'B')
    """
    everything = read_measurements(measurements)
    given, unasked = select_measurements(everything, where or {})
    warnings = list(reading_notes(given))
    tables = _tabulate(given, warnings)
    sets: list[FindingSet] = []
    flips: list[Flip] = []
    compared: set[tuple[str, str, str]] = set()  # measurand, study, object
    for measurand, studies in tables.items():
        first = next(iter(studies)) if original is None else original
        if first not in studies:
            continue
        for study, values in studies.items():
            shared = [name for name in studies[first] if name in values]
            if study != first and len(shared) > 1:
                missed = list(_missed(measurand, study, studies[first], values, shared))
                sets.append(_count(measurand, study, shared, missed))
                flips.extend(missed)
                compared.update((measurand, one, name) for one in (first, study) for name in shared)
        if original is None and sets and sets[-1].measurand == measurand:
            warnings.append(f"{measurand}: the original is taken to be {first}, which comes first.")
    if not sets:
        raise _nothing(tables, original)
    used = sum((m.measurand, _study(m), m.object) in compared for m in given)
    unused = {UNCOMPARED: len(given) - used} if used < len(given) else {}
    flips.sort(key=lambda flip: (-abs(flip.difference), flip.measurand, flip.reproduction))
    return Findings(
        signature=sign("qra_findings", data=digest_measurements(given), original=original),
        seed=None,
        warnings=tuple(warnings),
        rows=Rows(len(everything), used, {**unasked, **unused}),
        verdict=_verdict(sets),
        sets=tuple(sets),
        flips=tuple(flips),
    )


def _study(m: Measurement) -> str:
    return m.source or m.known.get("performed_by", "")


Studies = Mapping[str, Mapping[str, float]]  # study -> object -> value


def _tabulate(measurements: Sequence[Measurement], warnings: list[str]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the value of each object in each study, by measurand."""
    cells: dict[str, dict[str, dict[str, list[float]]]] = {}
    for m in measurements:
        study = _study(m)
        if not study:
            raise MeasurementError(
                f"a measurement of {m.measurand} of {m.object} names neither source nor performed_by: findings are "
                "compared between studies, so say which study it belongs to"
            )
        cells.setdefault(m.measurand, {}).setdefault(study, {}).setdefault(m.object, []).append(m.value)
    for measurand, studies in cells.items():
        for study, objects in studies.items():
            if any(len(values) > 1 for values in objects.values()):
                warnings.append(f"{measurand}: {study} has several values of an object, which are averaged.")
    return {
        measurand: {
            study: {name: sum(values) / len(values) for name, values in objects.items()}
            for study, objects in studies.items()
        }
        for measurand, studies in cells.items()
    }


def _missed(
    measurand: str, study: str, original: Mapping[str, float], values: Mapping[str, float], shared: Sequence[str]
) -> Iterator[Flip]:
    """Yield the pairs that do not stand in the order of the original."""
    for pair in itertools.combinations(shared, 2):
        left, right = sorted(pair, key=lambda name: -original[name])
        before, after = original[left] - original[right], values[left] - values[right]
        if (before > 0) != (after > 0) or (before == 0 and after != 0):
            yield Flip(
                measurand=measurand,
                reproduction=study,
                left=left,
                right=right,
                original=before,
                difference=after,
            )


def _count(measurand: str, study: str, shared: Sequence[str], missed: Sequence[Flip]) -> FindingSet:
    conclusions = len(shared) * (len(shared) - 1) // 2
    flipped = sum(flip.original != 0 and flip.difference != 0 for flip in missed)
    upheld = conclusions - len(missed)
    return FindingSet(
        measurand=measurand,
        reproduction=study,
        objects=len(shared),
        conclusions=conclusions,
        upheld=upheld,
        flipped=flipped,
        tied=len(missed) - flipped,
        percent=100 * upheld / conclusions,
    )


def _nothing(tables: Mapping[str, Studies], original: str | None) -> MeasurementError:
    studies = dict.fromkeys(study for one in tables.values() for study in one)
    if original is not None and original not in studies:
        return MeasurementError(f"there is no study {original!r}; there is {list_names(studies)}")
    return MeasurementError(
        "no two studies measured the same two objects with the same measurand, so that there is no conclusion to "
        f"compare: the studies are {list_names(studies)}"
    )


def _verdict(sets: Sequence[FindingSet]) -> str:
    total, upheld = sum(s.conclusions for s in sets), sum(s.upheld for s in sets)
    worst = min(sets, key=lambda s: s.percent)
    return (
        f"{upheld} of {total} pairwise conclusions ({100 * upheld / total:.0f}%) are upheld over "
        f"{format_counted(len(sets), 'comparison')} with an original. The fewest are in {worst.reproduction} "
        f"({worst.measurand}): {worst.upheld} of {worst.conclusions}. An order may hold or flip by chance where "
        "differences are small: holdsup compare tests them."
    )
