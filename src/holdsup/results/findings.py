"""`Finding`: one kind of fault in a table, and how findings are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from holdsup.rendering import Table

__all__ = ["EXAMPLES", "Finding", "Severity", "tabulate_findings"]

EXAMPLES = 3
Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of fault in a table.

    Attributes
    ----------
    code : its name, for programs
    severity : "error" (results would be wrong), "warning" (they mean less) or "note"
    message : what was found
    count : how many times
    examples : up to three of them
    effect : what it does to the analyses
    advice : what to do about it
    """

    code: str
    severity: Severity
    message: str
    count: int
    examples: tuple[str, ...]
    effect: str
    advice: str


def tabulate_findings(findings: Iterable[Finding]) -> Table:
    """Return findings as a table: how bad each is, what was found, what to do."""
    return Table(
        title="Findings",
        columns=("", "what was found", "what it does, and what to do"),
        rows=tuple((f.severity, _found(f), f"{f.effect} {f.advice}") for f in findings),
    )


def _found(finding: Finding) -> str:
    if not finding.examples:
        return finding.message
    more = ("...",) if finding.count > len(finding.examples) == EXAMPLES else ()
    return f"{finding.message.removesuffix('.')}: {'; '.join((*finding.examples, *more))}"
