"""The audit: is this table of scores fit to answer a question?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, quote_names
from holdsup.rendering import Answer, Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import KINDS, Asked, Caution, Method, Result, order_cautions, tabulate_findings
from holdsup.results.cautions import show_finding
from holdsup.scores.column_faults import find_column_faults
from holdsup.scores.costs import leave_out_costs
from holdsup.scores.design_faults import find_design_faults, find_misread_runs, find_run_faults
from holdsup.scores.directions import choose_directions, find_opposite_columns
from holdsup.scores.faults import extremes
from holdsup.scores.item_groups import find_groupings
from holdsup.scores.mixtures import find_mixtures
from holdsup.scores.reading import read_scores
from holdsup.scores.refusals import find_refusals
from holdsup.scores.roles import is_replicate
from holdsup.scores.row_faults import find_gaps, find_row_faults, find_score_faults, find_unlabelled
from holdsup.scores.table import COLUMNS, Scores, describe_columns

SHOWN, MOST_COLUMNS = 3, 8  # findings and columns of a short answer
SIGNED = ("score", "system", "item", "run", "dataset", "metric", "cluster", "status", "sample", "rater")


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column was taken for."""

    role: str  # its role, such as "system" or "facet"; "none" for a column that has none
    column: str  # its name; of a property that is computed from a text, how: readability=flesch(source)
    levels: int | None  # how many different labels it has, null for numbers
    such_as: str  # its first labels, or its range


@dataclass(frozen=True, slots=True)
class SystemCoverage:
    """How much of the table belongs to one system."""

    name: str  # the system
    metric: str | None  # the metric, in a table of several; else null
    runs: int  # how many runs it has
    rows: int  # its rows that have all labels
    used: int  # rows with a usable score
    missing: int  # rows that are missing: an item in a run without one
    # mean of the usable scores, datasets of the same weight as in `compare`; null where there are none
    mean: float | None
    low: float | None  # lowest mean of a run
    high: float | None  # highest mean of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Result):
    """What a table of scores holds, and what is wrong with it."""

    kind: ClassVar[str] = "check"

    source: str  # what was read
    size: str = ""  # how large the table is, in words
    roles: dict[str, str | tuple[str, ...] | None]  # role to column, or to a list of columns
    columns: tuple[ColumnRole, ...]  # what each column was taken for
    systems: tuple[SystemCoverage, ...]  # how much of the table belongs to each system
    derived: ClassVar[Mapping[str, Any]] = {**Result.derived, "findings": tuple[Caution, ...]}

    @property
    def findings(self) -> tuple[Caution, ...]:
        """The faults, those that make results wrong first."""
        return tuple(each for each in self.cautions if each.effect)

    def remarks(self) -> tuple[Caution, ...]:
        """Return the cautions that are no findings, which have a table of their own."""
        return tuple(each for each in self.cautions if not each.effect)

    def answer(self) -> Answer:
        """Return whether the table is fit for use, what was read from it, and its gravest faults."""
        grave = [each for each in self.findings if each.severity != "note"]
        errors = [each for each in grave if each.severity == "error"]
        more = len(grave) - SHOWN
        left = [f"{more} more: --full"] if more > 0 else []
        return Answer(
            question=KINDS[self.kind].question,
            state="no" if errors else "unclear" if grave else "yes",
            headline=_headline(errors, grave),
            parts=(self._read(most=MOST_COLUMNS),),
            foot=(
                *(("read", each.sentence()) for each in self.remarks() if each.about == "data"),
                *((each.severity, show_finding(each)) for each in grave[:SHOWN]),
                *(("fix", each.advice) for each in errors[:1]),
                *(("", said) for said in left),
                ("rows", f"{self.rows.sentence()[:-1]}; {self.size}" if self.size else self.rows.sentence()),
            ),
            more=("--full (what each finding does and what to do, systems)",),
            signature=self.signature,
        )

    def _read(self, most: int | None = None) -> Table:
        return Table(
            name="columns",
            title=f"What was read from {self.source}",
            columns=COLUMNS,
            rows=tuple((c.role, c.column, c.levels, c.such_as) for c in self.columns[:most]),
            notes=(f"{len(self.columns) - most} more: --full",) if most and len(self.columns) > most else (),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return Method(
            question=KINDS[self.kind].question,
            sentences=(
                "The table was searched for duplicate, missing and unusable rows, labels that look alike, copied runs, "
                "columns that change only together, and designs that no model can separate. Nothing was fitted.",
            ),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return what was read, and the findings with what to do about each."""
        read = self._read()
        by_metric = any(s.metric is not None for s in self.systems)
        several = any(c.role == "dataset" and (c.levels or 0) > 1 for c in self.columns)
        weighed = ", each dataset weighted equally" if several else ""
        heads = ("system", *(["metric"] if by_metric else []), "runs", "rows", "used", "missing", "mean", "from", "to")
        covered = Table(
            name="systems",
            title="Systems",
            columns=heads,
            rows=tuple(
                (s.name, *([s.metric] if by_metric else []), s.runs, s.rows, s.used, s.missing, s.mean, s.low, s.high)
                for s in self.systems
            ),
            notes=(
                f"missing: rows that the table lacks; mean: of the scores used{weighed}; from, to: lowest and highest "
                "run.",
            ),
        )
        if not self.findings:
            return (read, covered)
        return (read, covered, tabulate_findings(self.findings))


def _headline(errors: Sequence[Caution], grave: Sequence[Caution]) -> str:
    """Return the answer in one sentence: the first fault, and how many more there are."""
    if not grave:
        return "No problems found."
    first, kind = (errors[0], "error") if errors else (grave[0], "warning")
    others = len(errors or grave) - 1
    more = f" ({others} more {kind}{'s' if others > 1 else ''})" if others else ""
    said = f"{first.message[0].lower()}{first.message[1:].rstrip('.')}"
    return f"{'Fix this first' if errors else 'Usable with care'}: {said}{more}."


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
    limits = _read_range(score_range)
    scores = data if isinstance(data, Scores) else read_scores(data, **roles)
    # A row that does not say what it belongs to is one finding; it must not make others.
    labelled = leave_out_costs(scores.only(scores.labelled))
    opposite = [] if isinstance(lower_is_better, bool) else list(find_opposite_columns(scores))
    directions = choose_directions(scores, False if opposite else lower_is_better)
    found = [*opposite, *find_gaps(scores, lower_is_better=directions.are_lower()), *_faults(labelled, limits)]
    if roles.get("cluster") is None:  # or else the user has said what belongs together
        found.extend(find_groupings(labelled))
    return Audit(
        asked=_signature(scores, limits, lower_is_better),
        seed=None,
        cautions=order_cautions((*found, *scores.notes, *directions.cautions())),
        rows=scores.rows(),
        size=_size(labelled),
        source=scores.source,
        roles={k: v for k, v in asdict(scores.roles).items() if v},
        columns=tuple(ColumnRole(*described) for described in describe_columns(scores)),
        systems=tuple(cover_systems(labelled)) if len(labelled) else (),
    )


def _read_range(score_range: Any) -> tuple[float, float] | None:
    if score_range is None:
        return None
    try:
        low, high = (float(limit) for limit in score_range)
    except (TypeError, ValueError):
        raise ScoresError(f"the range of scores is {score_range!r:.60}: give two numbers such as (0, 1)") from None
    if not low < high:
        raise ScoresError(f"the range of scores is ({low:g}, {high:g}): its first number must be below the second")
    return low, high


def _faults(labelled: Scores, limits: tuple[float, float] | None) -> Iterator[Caution]:
    if len(labelled):
        refused = list(find_refusals(labelled))
        yield from refused
        told_apart = any(fault.code == "told-apart" for fault in refused)
        yield from (each for each in find_row_faults(labelled, limits) if each.code != "duplicates" or not told_apart)
        yield from find_run_faults(labelled)
        yield from find_design_faults(labelled)
        yield from find_column_faults(labelled)


def find_wrong_numbers(scores: Scores) -> Iterator[Caution]:
    """Yield the faults that make numbers wrong, that numbers do not show, and that take a pass or two over the scores.

    Other faults, such as rows that are repeated or missing, are the questions' own to tell.
    """
    yield from find_unlabelled(scores)
    labelled = scores.only(scores.labelled)
    if len(labelled):
        yield from find_misread_runs(labelled)
        if scores.corpus is not None:  # influence values have neither a scale nor codes, and may be far from others
            return
        yield from find_score_faults(labelled)
        yield from find_mixtures(labelled)


def list_roles(scores: Scores) -> dict[str, str | tuple[str, ...]]:
    """Return which column has which role, as far as it was not found for its usual name alone."""
    roles = scores.roles
    named: dict[str, Any] = {role: getattr(roles, role) for role in (*SIGNED, "facets", "shared")}
    named["properties"] = roles.stated_properties()
    named["replicates"] = tuple(c for c in roles.replicates if not is_replicate(c))  # others go without saying
    named["names"] = scores.names
    if roles.wide:
        named |= {"score": None, "wide": f"{roles.wide}={quote_names(roles.score_columns)}"}
    return {role: value for role, value in named.items() if value}


def _signature(scores: Scores, limits: tuple[float, float] | None, lower_is_better: bool | None) -> Asked:
    return Asked.about(
        "check",
        data=scores.digest,
        roles=list_roles(scores),
        rows=len(scores),
        range=limits,
        lower_is_better=lower_is_better,
    )


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


def cover_systems(scores: Scores) -> Iterator[SystemCoverage]:
    """Yield a line a system, or a line a system and metric where there are several metrics.

    All rows must have all labels: see `Scores.only`.
    """
    metric = scores.metric if scores.metric is not None and scores.metric.count > 1 else None
    groups = cross(scores.system, metric)
    runs = cross(groups.codes, scores.run)
    group_of = groups.codes[runs.first]
    usable = slice(None) if scores.usable.all() else scores.usable
    counts = np.bincount(runs.codes[usable], minlength=runs.count)
    sums = np.bincount(runs.codes[usable], scores.score[usable], runs.count)
    scored = counts > 0
    low, high = extremes(sums[scored] / counts[scored], group_of[scored], groups.count)
    used = np.bincount(group_of, counts, groups.count).astype(np.int64)
    means = np.bincount(group_of, sums, groups.count) / np.maximum(used, 1)
    if scores.dataset is not None and scores.dataset.count > 1:
        means = _mean_datasets(scores, groups.codes, scores.dataset, groups.count)
    number_of_runs = np.bincount(group_of, minlength=groups.count)
    missing, rows = _count_missing(scores, groups.codes, groups.count), groups.sizes()
    for group, row in enumerate(groups.first):
        any_used = used[group] > 0
        yield SystemCoverage(
            name=scores.system.names[scores.system.codes[row]],
            metric=metric.names[metric.codes[row]] if metric is not None else None,
            runs=int(number_of_runs[group]),
            rows=int(rows[group]),
            used=int(used[group]),
            missing=int(missing[group]),
            mean=float(means[group]) if any_used else None,
            low=float(low[group]) if any_used else None,
            high=float(high[group]) if any_used else None,
        )


def _mean_datasets(scores: Scores, groups: NDArray[np.int64], dataset: Labels, count: int) -> NDArray[np.float64]:
    """Return the mean score of each group of rows over its datasets, which weigh the same."""
    usable = scores.usable
    parts = cross(groups[usable], dataset.take(usable))
    means = np.bincount(parts.codes, scores.score[usable], parts.count) / parts.sizes()
    owner = groups[usable][parts.first]
    number = np.bincount(owner, minlength=count)
    return np.asarray(np.bincount(owner, means, count) / np.maximum(number, 1))


def _count_missing(scores: Scores, groups: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return how many cells (an item in a run) have no row, for each of `count` groups of runs; zeros without items."""
    if scores.item is None:
        return np.zeros(count, np.int64)
    runs, short, _ = scores.holes
    return np.bincount(groups[runs.first], short, count).astype(np.int64)
