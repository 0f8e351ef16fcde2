"""`audit_measurements`: are these measurements complete enough to be assessed?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from holdsup.errors import ColumnError
from holdsup.measurements.drafts import read_draft
from holdsup.measurements.validation import explain_columns, find_oddities
from holdsup.rendering import Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import Result, Rows, sign
from holdsup.results.findings import Finding, Severity, tabulate_findings
from holdsup.verdict.reproduction.groups import digest_measurements

__all__ = ["MeasurementAudit", "audit_measurements"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementAudit(Result):
    """What is missing or odd in measurements.

    Attributes
    ----------
    findings : the faults, those that keep the measurements from being assessed first
    """

    kind: ClassVar[str] = "qra_check"

    findings: tuple[Finding, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the findings, with what to do about each."""
        return (tabulate_findings(self.findings),) if self.findings else ()


def audit_measurements(source: Any) -> MeasurementAudit:
    """Return what is missing or odd in measurements, given as `read_measurements` takes them."""
    try:
        draft = read_draft(source)
    except ColumnError as error:
        return _audit((explain_columns(error),), sign("qra_check"), Rows(0, 0))
    # A row of a wide table holds several measurements: each is counted.
    faulty = {id(fault.row) for fault in draft.faults}
    sound = {id(row) for row in draft.rows} - faulty
    rows = Rows(len(sound | faulty), len(sound), {"errors": len(faulty)} if faulty else {})
    signature = sign("qra_check", data=digest_measurements(draft.measurements), measurements=len(draft.measurements))
    return _audit(find_oddities(draft), signature, rows)


def _audit(findings: tuple[Finding, ...], signature: str, rows: Rows) -> MeasurementAudit:
    counts = Counter(finding.severity for finding in findings)
    return MeasurementAudit(signature=signature, seed=None, rows=rows, verdict=_verdict(counts), findings=findings)


def _verdict(counts: Counter[Severity]) -> str:
    if not counts:
        return "Nothing is missing: run holdsup qra without --validate."
    listed = ", ".join(format_counted(counts[name], name) for name in SEVERITIES if counts[name])
    if counts["error"]:
        return f"{listed}. Correct the errors first: as they are, the measurements are refused."
    return f"{listed}. The measurements can be assessed as they are; what is missing limits what can be said."
