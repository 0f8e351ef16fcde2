"""The audit: is this table of scores fit to answer a question?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from holdsup.errors import ScoresError, quote_names
from holdsup.rendering import Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import Result, sign
from holdsup.results.findings import Finding, tabulate_findings
from holdsup.scores.column_faults import find_column_faults
from holdsup.scores.coverage import SystemCoverage, cover_systems
from holdsup.scores.design_faults import find_design_faults
from holdsup.scores.directions import choose_directions
from holdsup.scores.groupings import find_groupings
from holdsup.scores.overview import COLUMNS, describe_columns
from holdsup.scores.reading import read_scores
from holdsup.scores.roles import is_replicate
from holdsup.scores.row_faults import find_gaps, find_row_faults
from holdsup.scores.run_faults import find_run_faults
from holdsup.scores.table import Scores

__all__ = ["Audit", "Finding", "audit_scores", "sign_roles"]

SEVERITIES = ("error", "warning", "note")
IN_VERDICT = 3  # messages that the sentence names; the table has them all
SIGNED = ("score", "system", "item", "run", "dataset", "metric", "cluster", "status")


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column was taken for.

    Attributes
    ----------
    role : its role, such as "system" or "facet"; "none" for a column that has none
    column : its name; of a property that is computed from a text, how: readability=flesch(source)
    levels : how many different labels it has, null for numbers
    such_as : its first labels, or its range
    """

    role: str
    column: str
    levels: int | None
    such_as: str


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
            columns=COLUMNS,
            rows=tuple((c.role, c.column, c.levels, c.such_as) for c in self.columns),
        )
        by_metric = any(s.metric is not None for s in self.systems)
        several = any(c.role == "dataset" and (c.levels or 0) > 1 for c in self.columns)
        weighed = ", datasets of the same weight" if several else ""
        heads = ("system", *(["metric"] if by_metric else []), "runs", "rows", "used", "missing", "mean", "from", "to")
        covered = Table(
            title="Systems",
            columns=heads,
            rows=tuple(
                (s.name, *([s.metric] if by_metric else []), s.runs, s.rows, s.used, s.missing, s.mean, s.low, s.high)
                for s in self.systems
            ),
            notes=(
                f"missing: rows that are not there; mean: of the scores used{weighed}; "
                "from, to: lowest and highest run.",
            ),
        )
        if not self.findings:
            return (read, covered)
        return (read, covered, tabulate_findings(self.findings))


def audit_scores(
    data: Any, *, score_range: tuple[float, float] | None = None, lower_is_better: bool | None = None, **roles: Any
) -> Audit:
    """Return what a table of scores holds and what is wrong with it.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    score_range : the lowest and the highest score that can occur
    lower_is_better : whether a lower score is a better one, which tells what a failure may count as; by default as
        the name of the score says
    roles : passed on to `read_scores`

    Examples
    --------
    >>> audit = audit_scores({"system": ["A", "A", "B"], "item": [1, 2, 1], "score": [0.1, 0.2, None]})
    >>> [finding.code for finding in audit.findings]
    ['missing-scores', 'single-run', 'missing-cells', 'items-of-one-system']
    """
    limits = _limits(score_range)
    scores = data if isinstance(data, Scores) else read_scores(data, **roles)
    # A row that does not say what it belongs to is one finding; it must not make others.
    labelled = scores.only(scores.labelled)
    directions = choose_directions(scores, lower_is_better)
    found = [*find_gaps(scores, lower_is_better=directions.are_lower()), *_faults(labelled, limits)]
    if roles.get("cluster") is None:  # or else the user has said what belongs together
        found.extend(find_groupings(labelled))
    findings = tuple(sorted(found, key=lambda f: SEVERITIES.index(f.severity)))
    return Audit(
        signature=_signature(scores, limits, lower_is_better),
        seed=None,
        warnings=(*scores.notes, *directions.cautions()),
        rows=scores.rows(),
        verdict=_verdict(labelled, findings),
        source=scores.source,
        roles={k: v for k, v in asdict(scores.roles).items() if v},
        columns=tuple(ColumnRole(*described) for described in describe_columns(scores)),
        systems=tuple(cover_systems(labelled)) if len(labelled) else (),
        findings=findings,
    )


def _limits(score_range: Any) -> tuple[float, float] | None:
    if score_range is None:
        return None
    try:
        low, high = (float(limit) for limit in score_range)
    except (TypeError, ValueError):
        raise ScoresError(f"the range of scores is {score_range!r:.60}: give two numbers such as (0, 1)") from None
    if not low < high:
        raise ScoresError(f"the range of scores is ({low:g}, {high:g}): its first number must be below the second")
    return low, high


def _faults(labelled: Scores, limits: tuple[float, float] | None) -> Iterator[Finding]:
    if len(labelled):
        yield from find_row_faults(labelled, limits)
        yield from find_run_faults(labelled)
        yield from find_design_faults(labelled)
        yield from find_column_faults(labelled)


def sign_roles(scores: Scores) -> dict[str, str]:
    """Return the parts of a signature that say which column has which role."""
    roles = scores.roles
    named = {role: getattr(roles, role) for role in (*SIGNED, "facets", "shared")}
    named["properties"] = roles.stated_properties()
    named["replicates"] = tuple(c for c in roles.replicates if not is_replicate(c))  # others go without saying
    named["names"] = scores.names
    if roles.wide:
        named |= {"score": None, "wide": f"{roles.wide}={_joined(roles.score_columns)}"}
    return {role: _joined(value) for role, value in named.items() if value}


def _signature(scores: Scores, limits: tuple[float, float] | None, lower_is_better: bool | None) -> str:
    limited = None if limits is None else f"{limits[0]:g}..{limits[1]:g}"
    return sign(
        "check",
        data=scores.digest,
        **sign_roles(scores),
        rows=len(scores),
        range=limited,
        lower_is_better=lower_is_better,
    )


def _joined(columns: str | tuple[str, ...]) -> str:
    return columns if isinstance(columns, str) else quote_names(columns)


def _verdict(scores: Scores, findings: tuple[Finding, ...]) -> str:
    size = _size(scores)
    errors = [f.message for f in findings if f.severity == "error"]
    warnings = [f.message for f in findings if f.severity == "warning"]
    if errors:
        return f"Fix this table before you use it: {_shortly(errors)}. It has {size}."
    if warnings:
        return f"You can use this table, with care: {_shortly(warnings)}. It has {size}."
    return f"No problems found. The table has {size}, and no score is missing."


def _shortly(messages: list[str]) -> str:
    more = len(messages) - IN_VERDICT
    return "; ".join([*messages[:IN_VERDICT], *([f"and {more} more (see the findings)"] if more > 0 else [])])


def _size(scores: Scores) -> str:
    counts = {
        "system": scores.system.count,
        "run": scores.run.count,
        "item": scores.items.count if scores.items is not None else None,
        "dataset": scores.dataset.count if scores.dataset is not None else None,
        "metric": scores.metric.count if scores.metric is not None else None,
    }
    words = [format_counted(count, name) for name, count in counts.items() if count is not None]
    return f"{', '.join(words[:-1])} and {words[-1]}"
