"""What can be wrong with the rows of a table of scores: one function per kind of fault."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import shell_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.findings import Finding
from holdsup.scores.findings import present, show
from holdsup.scores.roles import FILE, is_progress
from holdsup.scores.score_faults import find_score_faults
from holdsup.scores.table import LABELLED, REASONS, Scores
from holdsup.scores.telling import find_differing

__all__ = ["find_gaps", "find_row_faults", "find_unlabelled"]

WORST = "worst score there is (0 for an accuracy)"


def find_gaps(scores: Scores, *, lower_is_better: bool = False) -> Iterator[Finding]:
    """Yield the rows that cannot be used: no score, or no word on whose score it is."""
    yield from _not_numbers(scores, "highest score there is" if lower_is_better else WORST)
    yield from find_unlabelled(scores)
    if not scores.usable.any():
        yield Finding(
            code="no-scores",
            severity="error",
            message="no row has a usable score",
            count=len(scores),
            examples=(),
            effect="There is nothing to analyse.",
            advice="Check --score and --system: are these the right columns?",
        )


def find_row_faults(scores: Scores, score_range: tuple[float, float] | None) -> Iterator[Finding]:
    """Yield what is wrong with single rows and scores, in rows that have all labels."""
    yield from _duplicates(scores)
    if score_range is not None:
        yield from _out_of_range(scores, *score_range)
    yield from _constant(scores)
    yield from find_score_faults(scores)


def _duplicates(scores: Scores) -> Iterator[Finding]:
    cells = cross(*present(scores.run, scores.dataset, scores.item, scores.metric))
    extra = len(scores) - cells.count
    if not extra:
        return
    parts = [role for role in ("dataset", "run", "item", "metric") if getattr(scores, role) is not None]
    cell = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    conflicts = _conflicting(scores, cells)
    yield Finding(
        code="duplicates",
        severity="error",
        message=f"{format_counted(extra, 'duplicate row')} (same {cell}, "
        f"{f'{conflicts:,} with another score' if conflicts else 'same score'})",
        count=extra,
        examples=show(scores, cells.first[cells.sizes() > 1]),
        effect="One measurement counts as several, so every interval is too narrow.",
        advice=_advice_on_duplicates(scores, cells),
    )


def _advice_on_duplicates(scores: Scores, cells: Crossing) -> str:
    differing = sorted(find_differing(scores, cells), key=lambda name: name != FILE)
    named = ", ".join(differing[:6])
    ways = [f"take the last of each run with --last {shell_names([name])}" for name in differing if is_progress(name)]
    ways += ["name the column of the items with --item"] if scores.item is None else []
    if named:
        ways.append("name those that only repeat runs, as a seed does, with --replicates, settings with --facets")
        ways.append("otherwise remove the duplicates")
    else:
        ways.append("remove the duplicates, or add a column that tells the runs apart and name it with --run")
    advice = "; ".join(ways)
    differ = f"In the duplicate rows these columns differ: {named}. " if named else ""
    return f"{differ}{advice[0].upper()}{advice[1:]}."


def _conflicting(scores: Scores, cells: Crossing) -> int:
    """Count the rows whose score differs from that of the first row of their cell."""
    first = scores.score[cells.first][cells.codes]
    return int(((scores.score != first) & ~(np.isnan(scores.score) & np.isnan(first))).sum())


def _not_numbers(scores: Scores, worst: str) -> Iterator[Finding]:
    for code, status in enumerate(scores.status.names):
        if status == "ok":
            continue
        rows = np.flatnonzero(scores.status.codes == code)
        what = REASONS.get(status, f"status {status!r}")
        yield Finding(
            code=f"{status}-scores" if status in REASONS else "failed-scores",
            severity="error" if status in ("nan", "infinite") else "warning",
            message=f"{format_counted(len(rows), 'row')} with {what}",
            count=len(rows),
            examples=show(scores, rows),
            effect="These rows are left out. If they are the hard items or the failed runs, the rest looks too good.",
            advice=f"Find out why they have no score. If a failure counts as wrong, give it the {worst}.",
        )


def find_unlabelled(scores: Scores) -> Iterator[Finding]:
    """Yield the rows that do not say what they belong to."""
    for role in LABELLED:
        labels = getattr(scores, role)
        rows = np.flatnonzero(labels.codes < 0) if labels is not None else ()
        if len(rows):
            yield Finding(
                code="unlabelled-rows",
                severity="error",
                message=f"{format_counted(len(rows), 'row')} with no {role}",
                count=len(rows),
                examples=show(scores, rows),
                effect="A row that does not say what it belongs to is left out.",
                advice=f"Fill in the {role}.",
            )


def _out_of_range(scores: Scores, low: float, high: float) -> Iterator[Finding]:
    rows = np.flatnonzero((scores.score < low) | (scores.score > high))
    if len(rows):
        yield Finding(
            code="out-of-range",
            severity="error",
            message=f"{format_counted(len(rows), 'score')} outside the range {low:g} to {high:g}",
            count=len(rows),
            examples=show(scores, rows, with_score=True),
            effect="One score on another scale can outweigh hundreds of right ones.",
            advice="Correct them, or give the right range with --range.",
        )


def _constant(scores: Scores) -> Iterator[Finding]:
    values = scores.score[scores.usable]
    if len(values) and values.min() == values.max():
        yield Finding(
            code="constant-scores",
            severity="error",
            message=f"every score is {values[0]:g}",
            count=len(values),
            examples=(),
            effect="Nothing differs, so nothing can be compared.",
            advice="Check --score: is this the right column?",
        )
