"""`compare_findings`: do the findings of the original hold in its reproductions?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdsup.errors import MeasurementError, list_names
from holdsup.measurements import Measurement, caution_reading, digest_measurements, read_measurements
from holdsup.rendering import Answer, Percent, Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import KINDS, Asked, Caution, Method, Result, Rows, order_cautions, write_caveats
from holdsup.verdict.phrases import join_names
from holdsup.verdict.reproduction.groups import select_measurements
from holdsup.verdict.reproduction.tables import MOST_SHOWN, cut_table

MOST_FLIPS = 20  # rows that are shown; all are in the JSON
UNCOMPARED = "no second object that the original and a reproduction both measured"
Studies = Mapping[str, Mapping[str, float]]  # study -> object -> value


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSet:
    """How many findings of the original a reproduction upholds."""

    measurand: str  # the quantity measured
    reproduction: str  # the study
    objects: int  # number of objects that both measured
    conclusions: int  # number of pairs of them, each a finding which is ahead
    upheld: int  # pairs in the same order
    flipped: int  # pairs in the opposite order
    tied: int  # pairs that are equal in one of the two studies only
    percent: float  # share of findings upheld, 0-100


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A finding that a reproduction does not uphold."""

    measurand: str  # the quantity measured
    reproduction: str  # the study
    left: str  # the object that is ahead in the original (or the first of two that are equal there)
    right: str  # the other
    original: float  # left - right in the original
    difference: float  # left - right in the reproduction


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings(Result):
    """Which pairwise findings of an original its reproductions uphold."""

    kind: ClassVar[str] = "qra_findings"

    sets: tuple[FindingSet, ...]  # each reproduction of each measurand
    flips: tuple[Flip, ...]  # the findings that do not hold

    def answer(self) -> Answer:
        """Return how many findings hold, the reproduction with the fewest first."""
        total, upheld = sum(s.conclusions for s in self.sets), sum(s.upheld for s in self.sets)
        ranked = sorted(self.sets, key=lambda s: s.percent)
        worst = f"; fewest in {ranked[0].reproduction}: {ranked[0].upheld} of {ranked[0].conclusions}"
        return Answer(
            question="How many of the original's findings hold?",
            state=None,
            headline=f"{upheld:,} of {total:,} findings ({100 * upheld / total:.0f}%) hold in "
            f"{format_counted(len(self.sets), 'reproduction')}{worst if len(self.sets) > 1 else ''}.",
            parts=(cut_table(_tabulate(ranked), MOST_SHOWN),),
            foot=(
                ("holds for", "the order of two objects; small leads flip by chance: test them with holdsup compare"),
                *write_caveats(self.cautions),
            ),
            more=("--full (which findings do not hold)", "holdsup report"),
            signature=self.signature,
            names=tuple(name for s in self.sets for name in (s.measurand, s.reproduction)),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return how many findings hold, and which do not."""
        left = len(self.flips) - MOST_FLIPS
        flips = Table(
            name="flips",
            title="Findings that do not hold, the largest differences first",
            columns=("measurand", "reproduction", "ahead in the original", "ahead of", "original", "reproduction "),
            rows=tuple(
                (f.measurand, f.reproduction, f.left, f.right, f.original, f.difference)
                for f in self.flips[:MOST_FLIPS]
            ),
            notes=(f"{left:,} more in the JSON.",) if left > 0 else (),
        )
        return (_tabulate(self.sets), *([flips] if self.flips else []))

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        said = "A finding is which of two objects has the higher value; it holds where a reproduction agrees. No test."
        return Method(question=KINDS[self.kind].question, sentences=(said,), citations=("belz2022",))


def _tabulate(sets: Sequence[FindingSet]) -> Table:
    return Table(
        name="sets",
        title="Findings that hold: which of two objects has the higher value",
        columns=("reproduction", "measurand", "findings", "hold", "flipped", "tied", "share", "objects"),
        rows=tuple(
            (s.reproduction, s.measurand, s.conclusions, s.upheld, s.flipped, s.tied, Percent(s.percent), s.objects)
            for s in sets
        ),
        notes=("Findings that share an object are not independent.",),
    )


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
    tables = _average(given, said)
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
                message=f"Assumed to be the original because it comes first: {join_names([*assumed], most=3)}.",
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


def _average(measurements: Sequence[Measurement], said: list[Caution]) -> dict[str, Studies]:
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
        return MeasurementError(f"there is no study {original!r}: choose from {list_names(studies)}")
    return MeasurementError(
        "no two studies measured the same two objects with the same measurand, so there is no finding to compare: the "
        f"studies are {list_names(studies)}"
    )
