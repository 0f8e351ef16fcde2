"""`compare_findings`: do the findings of the original hold in its reproductions?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdsup.errors import MeasurementError, list_names
from holdsup.measurements import Measurement, caution_reading, digest_measurements, read_measurements
from holdsup.results import Asked, Caution, Rows, order_cautions
from holdsup.verdict.phrases import join_names
from holdsup.verdict.reproduction.groups import select_measurements
from holdsup.verdict.reproduction.records import FindingSet, Flip
from holdsup.verdict.reproduction.result import Findings

__all__ = ["compare_findings"]

UNCOMPARED = "no second object that the original and a reproduction both measured"
Studies = Mapping[str, Mapping[str, float]]  # study -> object -> value


def compare_findings(
    measurements: Any, *, original: str | None = None, where: Mapping[str, Iterable[str] | str] | None = None
) -> Findings:
    """Return which findings of the original (this object has a higher value than that one) reproductions uphold.

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
    said = [*caution_reading(given)]
    tables = _tabulate(given, said)
    sets: list[FindingSet] = []
    flips: list[Flip] = []
    compared: set[tuple[str, str, str]] = set()  # measurand, study, object
    assumed: dict[str, None] = {}
    for measurand, studies in tables.items():
        first = next(iter(studies)) if original is None else original
        for study, values in studies.items():
            shared = [name for name in studies.get(first, ()) if name in values]
            if study != first and len(shared) > 1:
                missed = list(_missed(measurand, study, studies[first], values, shared))
                sets.append(_count(measurand, study, shared, missed))
                flips.extend(missed)
                compared.update((measurand, one, name) for one in (first, study) for name in shared)
                assumed[f"{first} ({measurand})"] = None
    if not sets:
        raise _nothing(tables, original)
    if original is None:
        said.append(
            Caution(
                code="original-assumed",
                message=f"Taken as the original, because it comes first: {join_names([*assumed], most=3)}.",
                advice="Name another one with --original (original= in Python).",
                count=len(assumed),
            )
        )
    used = sum((m.measurand, _study(m), m.object) in compared for m in given)
    unused = {UNCOMPARED: len(given) - used} if used < len(given) else {}
    flips.sort(key=lambda flip: (-abs(flip.difference), flip.measurand, flip.reproduction))
    return Findings(
        asked=Asked.about("qra_findings", data=digest_measurements(given), original=original),
        seed=None,
        cautions=order_cautions(said),
        rows=Rows(len(everything), used, {**unasked, **unused}),
        sets=tuple(sets),
        flips=tuple(flips),
    )


def _study(m: Measurement) -> str:
    return m.source or m.known.get("performed_by", "")


def _tabulate(measurements: Sequence[Measurement], said: list[Caution]) -> dict[str, Studies]:
    """Return the value of each object in each study, by measurand; `said` gets a caution where values are averaged."""
    cells: dict[str, dict[str, dict[str, list[float]]]] = {}
    for m in measurements:
        study = _study(m)
        if not study:
            raise MeasurementError(
                f"a measurement of {m.measurand} of {m.object} has neither source nor performed_by: say which study it "
                "belongs to, because findings are compared between studies"
            )
        cells.setdefault(m.measurand, {}).setdefault(study, {}).setdefault(m.object, []).append(m.value)
    several = [
        f"{study} ({measurand})"
        for measurand, studies in cells.items()
        for study, objects in studies.items()
        if any(len(values) > 1 for values in objects.values())
    ]
    if several:
        message = f"Several values of one object in one study are averaged: {join_names(several, most=3)}."
        said.append(Caution(code="averaged", about="table:sets", message=message, count=len(several)))
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
    """Yield the pairs that are not in the order of the original."""
    for pair in itertools.combinations(shared, 2):
        left, right = sorted(pair, key=lambda name: -original[name])
        before, after = original[left] - original[right], values[left] - values[right]
        if (before > 0) != (after > 0) or (before == 0 and after != 0):
            yield Flip(
                measurand=measurand, reproduction=study, left=left, right=right, original=before, difference=after
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
        "no two studies measured the same two objects with the same measurand, so there is no finding to compare: the "
        f"studies are {list_names(studies)}"
    )
