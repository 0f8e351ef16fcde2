"""The audit: is this table of scores fit to answer a question?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError
from holdsup.rendering import Table
from holdsup.rendering.numbers import format_count
from holdsup.results import Result, sign
from holdsup.scores.design_faults import find_design_faults, missing_cells
from holdsup.scores.findings import EXAMPLES, Finding
from holdsup.scores.reading import read_scores
from holdsup.scores.row_faults import find_row_faults
from holdsup.scores.table import Scores

__all__ = ["Audit", "Finding", "audit_scores"]

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column was taken for.

    Attributes
    ----------
    role : its part, such as "system" or "facet"; "none" for a column that plays none
    column : its name
    levels : how many different labels it has, null for numbers
    such_as : its first labels, or its range
    """

    role: str
    column: str
    levels: int | None
    such_as: str


@dataclass(frozen=True, slots=True)
class SystemCoverage:
    """How much of the table belongs to one system.

    Attributes
    ----------
    name : the system
    runs : how many runs it has
    rows : rows that the table holds of it
    used : rows with a usable score
    missing : cells (an item in a run) for which there is no row
    mean : mean of the usable scores, null where there are several metrics
    low : lowest mean of a run
    high : highest mean of a run
    """

    name: str
    runs: int
    rows: int
    used: int
    missing: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Result):
    """What a table of scores holds, and what is wrong with it.

    Attributes
    ----------
    source : what was read
    roles : role to column, or to a list of columns
    columns : what each column was taken for
    systems : how much of the table belongs to each system
    findings : the faults, those that make results wrong first
    """

    kind: ClassVar[str] = "check"

    source: str
    roles: dict[str, str | tuple[str, ...] | None]
    columns: tuple[ColumnRole, ...]
    systems: tuple[SystemCoverage, ...]
    findings: tuple[Finding, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return what was read, and the findings with what to do about each."""
        read = Table(
            title=f"What was read from {self.source}",
            columns=("role", "column", "levels", "such as"),
            rows=tuple((c.role, c.column, c.levels, c.such_as) for c in self.columns),
        )
        covered = Table(
            title="Systems",
            columns=("system", "runs", "rows", "used", "missing cells", "mean", "runs from", "to"),
            rows=tuple((s.name, s.runs, s.rows, s.used, s.missing, s.mean, s.low, s.high) for s in self.systems),
            notes=("The mean is the plain mean of the scores; runs from ... to: lowest and highest mean of a run.",),
        )
        if not self.findings:
            return (read, covered)
        found = Table(
            title="Findings",
            columns=("", "what was found", "what it does, and what to do"),
            rows=tuple((f.severity, _found(f), f"{f.effect} {f.advice}") for f in self.findings),
        )
        return (read, covered, found)


def audit_scores(data: Any, *, score_range: tuple[float, float] | None = None, **roles: Any) -> Audit:
    """Return what a table of scores holds and what is wrong with it.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    score_range : the lowest and the highest score that can occur
    roles : passed on to `read_scores`

    Examples
    --------
    >>> audit = audit_scores({"system": ["A", "A", "B"], "item": [1, 2, 1], "score": [0.1, 0.2, None]})
    >>> [finding.code for finding in audit.findings]
    ['missing-scores', 'missing-cells', 'items-of-one-system', 'single-run']
    """
    if score_range is not None and not score_range[0] < score_range[1]:
        raise ScoresError(f"the range of scores is {score_range}: its first number must be below the second")
    scores = data if isinstance(data, Scores) else read_scores(data, **roles)
    found = [*find_row_faults(scores, score_range), *find_design_faults(scores)]
    findings = tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
    return Audit(
        signature=sign("check", data=scores.digest, rows=len(scores), range=_written(score_range)),
        seed=None,
        warnings=scores.notes,
        rows=scores.rows(),
        verdict=_verdict(scores, findings),
        source=scores.source,
        roles={k: v for k, v in asdict(scores.roles).items() if v},
        columns=tuple(ColumnRole(role, column, levels, text) for role, column, levels, text in scores.overview_rows()),
        systems=tuple(_coverage(scores)),
        findings=findings,
    )


def _coverage(scores: Scores) -> Iterator[SystemCoverage]:
    usable, cells = scores.usable, missing_cells(scores)
    runs = cross(scores.system, scores.run)
    system_of = scores.system.codes[runs.first]
    sums = np.bincount(runs.codes[usable], scores.score[usable], runs.count)
    counts = np.bincount(runs.codes[usable], minlength=runs.count)
    one_scale = scores.metric is None or scores.metric.count == 1
    for code, name in enumerate(scores.system.names):
        rows, own = scores.system.codes == code, (system_of == code) & (counts > 0)
        means = sums[own] / counts[own]
        said = (
            (float(scores.score[rows & usable].mean()), float(means.min()), float(means.max())) if own.any() else None
        )
        yield SystemCoverage(
            name, int((system_of == code).sum()), int(rows.sum()), int((rows & usable).sum()),
            int(cells[code]), *(said if said and one_scale else (None, None, None)),
        )  # fmt: skip


def _written(score_range: tuple[float, float] | None) -> str | None:
    return None if score_range is None else f"{score_range[0]:g}..{score_range[1]:g}"


def _found(finding: Finding) -> str:
    examples = f" ({'; '.join(finding.examples)}{'; ...' if finding.count > len(finding.examples) == EXAMPLES else ''})"
    return f"{finding.message}{examples if finding.examples else ''}"


def _verdict(scores: Scores, findings: tuple[Finding, ...]) -> str:
    size = _size(scores)
    errors = [f.message for f in findings if f.severity == "error"]
    warnings = [f.message for f in findings if f.severity == "warning"]
    if errors:
        return f"Not fit for use yet: {'; '.join(errors)}. The table has {size}."
    if warnings:
        return f"Usable, with limits: {'; '.join(warnings)}. The table has {size}."
    return f"Nothing stands in the way: the table has {size}, complete."


def _size(scores: Scores) -> str:
    parts = [
        ("system", scores.system),
        ("run", scores.run),
        ("item", scores.item),
        ("dataset", scores.dataset),
    ]
    counted = [(name, labels.count) for name, labels in (*parts, ("metric", scores.metric)) if labels is not None]
    words = [f"{format_count(n)} {name}{'s' if n != 1 else ''}" for name, n in counted]
    return f"{', '.join(words[:-1])} and {words[-1]}"
