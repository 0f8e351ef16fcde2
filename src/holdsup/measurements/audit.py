"""`audit_measurements`: are these measurements complete enough to be assessed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from holdsup.errors import ColumnError
from holdsup.measurements.reading import read_draft
from holdsup.measurements.record import digest_measurements
from holdsup.measurements.validation import explain_columns, find_oddities
from holdsup.rendering import Answer, State, Table, shorten
from holdsup.rendering.numbers import format_counted
from holdsup.results import KINDS, Asked, Caution, Method, Result, Rows
from holdsup.results.cautions import show_finding, tabulate_findings

SHOWN = 8  # findings in the short answer
LONGEST = 150  # letters of one of them there


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementAudit(Result):
    """What is missing or odd in measurements.

    Attributes
    ----------
    findings : the faults, those that keep the measurements from being assessed first
    """

    kind: ClassVar[str] = "qra_check"
    derived: ClassVar[Mapping[str, Any]] = {**Result.derived, "findings": tuple[Caution, ...]}

    @property
    def findings(self) -> tuple[Caution, ...]:
        """The faults of the measurements."""
        return self.cautions

    def remarks(self) -> tuple[Caution, ...]:
        """Return nothing: the table lists all findings."""
        return ()

    def answer(self) -> Answer:
        """Return whether the measurements are fit to be assessed, and their gravest faults."""
        grave = [each for each in self.findings if each.severity != "note"]
        errors = sum(each.severity == "error" for each in grave)
        state: State = "no" if errors else "unclear" if grave else "yes"
        limits = f"{format_counted(len(grave), 'warning')} {'limits' if len(grave) == 1 else 'limit'}"
        left = len(grave) - SHOWN
        said = (show_finding(each) if each.severity == "error" else each.message for each in grave[:SHOWN])
        shown = ((each.severity, shorten(line, LONGEST)) for each, line in zip(grave, said, strict=False))
        return Answer(
            question=KINDS[self.kind].question,
            state=state,
            headline={
                "yes": "Nothing is missing: run holdsup qra without --validate.",
                "no": "Correct the errors first: as they are, the measurements can't be assessed.",
                "unclear": f"The measurements can be assessed, but {limits} what they can say.",
            }[state],
            foot=(*shown, *([("", f"{left} more: --full")] if left > 0 else []), ("rows", self.rows.sentence())),
            more=("--full (what each finding does, and what to do)",) if self.findings else (),
            signature=self.signature,
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the findings, with what to do about each."""
        return (tabulate_findings(self.findings),) if self.findings else ()

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        looked = "Measurements were searched for missing, odd and repeated values, conditions that are not reported, "
        return Method(
            question=KINDS[self.kind].question,
            sentences=(f"{looked}and names that look alike. Nothing was computed.",),
            citations=("belz2022",),
        )


def audit_measurements(source: Any) -> MeasurementAudit:
    """Return what is missing or odd in measurements, given as `read_measurements` takes them."""
    try:
        draft = read_draft(source)
    except ColumnError as error:
        asked = Asked.about("qra_check")
        return MeasurementAudit(asked=asked, seed=None, rows=Rows(0, 0), cautions=(explain_columns(error),))
    # A row of a wide table holds several measurements: each is counted.
    faulty = {id(fault.row) for fault in draft.faults}
    sound = {id(row) for row in draft.rows} - faulty
    return MeasurementAudit(
        asked=Asked.about(
            "qra_check", data=digest_measurements(draft.measurements), measurements=len(draft.measurements)
        ),
        seed=None,
        rows=Rows(len(sound | faulty), len(sound), {"errors": len(faulty)} if faulty else {}),
        cautions=find_oddities(draft),
    )
