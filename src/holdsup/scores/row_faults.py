"""What can be wrong with the rows of a table of scores: one function per kind of fault."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.scores.findings import EXAMPLES, Finding, article, counted, labelled_roles, present, show
from holdsup.scores.roles import FILE
from holdsup.scores.table import REASONS, Scores

__all__ = ["find_row_faults"]


def find_row_faults(scores: Scores, score_range: tuple[float, float] | None) -> Iterator[Finding]:
    """Yield what is wrong with single rows and scores."""
    yield from _duplicates(scores)
    yield from _not_numbers(scores)
    yield from _unlabelled(scores)
    if score_range is not None:
        yield from _out_of_range(scores, *score_range)
    yield from _constant(scores)
    yield from _different_scales(scores)
    yield from _lookalikes(scores)


def _duplicates(scores: Scores) -> Iterator[Finding]:
    cells = cross(*present(scores.run, scores.dataset, scores.item, scores.metric))
    sizes = cells.sizes()
    extra = len(scores) - cells.count
    if not extra:
        return
    parts = [role for role in ("dataset", "run", "item", "metric") if getattr(scores, role) is not None]
    cell = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    conflicts = _conflicting(scores, cells)
    named = ", ".join(sorted(_differing(scores, cells), key=lambda name: name != FILE)[:6])
    advice = (
        f"Among the repeated rows these columns differ: {named}. Name those that tell runs apart with --facets (or "
        "--run); otherwise remove the repetitions."
        if named
        else "Remove the repetitions, or add a column that tells the runs apart and name it with --run."
    )
    yield Finding(
        code="duplicates",
        severity="error",
        message=f"{counted(extra, 'row')} for a {cell} that has a row already "
        f"({f'{conflicts:,} with another score' if conflicts else 'with the same score'})",
        count=extra,
        examples=show(scores, cells.first[sizes > 1]),
        effect="One measurement counts as several, so every interval is too narrow.",
        advice=advice,
    )


def _differing(scores: Scores, cells: Crossing) -> Iterator[str]:
    """Yield the columns without a part that differ within a cell: one of them may tell its rows apart."""
    repeated = cells.sizes()[cells.codes] > 1
    groups = cells.codes[repeated]
    distinct = len(np.unique(groups))
    for name, column in scores.others.items():
        if isinstance(column, Labels):
            differs = cross(groups, column.codes[repeated].astype(np.int64) + 1).count > distinct
        else:
            low, high = _extremes(np.nan_to_num(column.values[repeated], nan=np.inf), groups, cells.count)
            differs = bool((low < high).any())
        if differs:
            yield name


def _conflicting(scores: Scores, cells: Crossing) -> int:
    """Count the rows whose score differs from that of the first row of their cell."""
    first = scores.score[cells.first][cells.codes]
    return int(((scores.score != first) & ~(np.isnan(scores.score) & np.isnan(first))).sum())


def _not_numbers(scores: Scores) -> Iterator[Finding]:
    for code, status in enumerate(scores.status.names):
        if status == "ok":
            continue
        rows = np.flatnonzero(scores.status.codes == code)
        what = REASONS.get(status, f"status {status!r}")
        yield Finding(
            code=f"{status}-scores" if status in REASONS else "failed-scores",
            severity="warning" if status in ("missing",) else "error" if status in REASONS else "warning",
            message=f"{counted(len(rows), 'row')} with {what}",
            count=len(rows),
            examples=show(scores, rows),
            effect="These rows are left out, and every result says so; if they are the hard items or the failed "
            "runs, the rest is too rosy.",
            advice="Find out why they have no score. A failure that counts as wrong should be scored 0, say.",
        )


def _unlabelled(scores: Scores) -> Iterator[Finding]:
    for role, labels in labelled_roles(scores):
        rows = np.flatnonzero(labels.codes < 0)
        if len(rows) and role in ("system", "item", "dataset", "metric"):
            yield Finding(
                code="unlabelled-rows",
                severity="error",
                message=f"{counted(len(rows), 'row')} without {article(role)}",
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
            message=f"{counted(len(rows), 'score')} outside the declared range {low:g} to {high:g}",
            count=len(rows),
            examples=show(scores, rows, with_score=True),
            effect="One score on another scale can outweigh hundreds of right ones.",
            advice="Correct them, or declare the range that is meant with --range.",
        )


def _constant(scores: Scores) -> Iterator[Finding]:
    usable = scores.usable
    if not usable.any():
        yield Finding(code="no-scores", severity="error", message="no row has a usable score", count=len(scores),
                      examples=(), effect="There is nothing to analyse.",
                      advice="Check --score and --system: is this the right column?")  # fmt: skip
        return
    values = scores.score[usable]
    if values.min() == values.max():
        yield Finding(
            code="constant-scores", severity="error", message=f"all {len(values):,} scores are {values[0]:g}",
            count=len(values), examples=(), effect="Nothing differs, so nothing can be compared.",
            advice="Check --score: is this the right column?")  # fmt: skip
        return
    groups = cross(*[labels.take(usable) for labels in present(scores.metric, scores.run)])
    low, high = _extremes(values, groups.codes, groups.count)
    stuck = np.flatnonzero((low == high) & (groups.sizes() > 1))
    if len(stuck):
        rows = np.flatnonzero(usable)[groups.first[stuck]]
        yield Finding(
            code="constant-runs",
            severity="warning",
            message=f"{len(stuck):,} of {counted(groups.count, 'run')} with the same score everywhere",
            count=len(stuck),
            examples=show(scores, rows, roles=("system", "run", "metric"), with_score=True),
            effect="Such a run has usually failed; it moves its system's mean and inflates the variance between runs.",
            advice="Look at these runs; train them again, or leave them out and say so.",
        )


def _different_scales(scores: Scores) -> Iterator[Finding]:
    """Find runs scored 0-1 beside runs scored 0-100: the commonest slip in a merged table."""
    usable = scores.usable
    if not usable.any():
        return
    groups = cross(*[labels.take(usable) for labels in present(scores.metric, scores.run)])
    values = np.abs(scores.score[usable])
    _, largest = _extremes(values, groups.codes, groups.count)
    mean = np.bincount(groups.codes, values, groups.count) / groups.sizes()
    metric = scores.metric.codes[usable][groups.first] if scores.metric is not None else np.zeros(groups.count)
    odd: list[int] = []
    for one in np.unique(metric):
        members = np.flatnonzero(metric == one)
        inside = [int(g) for g in members if 0 < largest[g] <= 1]
        outside = [int(g) for g in members if largest[g] > 1]
        if inside and outside and min(mean[outside]) > 20 * max(mean[inside]):
            odd.extend(inside if len(inside) <= len(outside) else outside)
    if odd:
        rows = np.flatnonzero(usable)[groups.first[odd]]
        yield Finding(
            code="different-scales",
            severity="error",
            message=f"{counted(len(odd), 'run')} apparently scored on another scale (0-1 beside 0-100)",
            count=len(odd),
            examples=show(scores, rows, roles=("run", "metric"), with_score=True),
            effect="A difference between systems is then a difference between scales.",
            advice="Bring all scores to one scale.",
        )


def _lookalikes(scores: Scores) -> Iterator[Finding]:
    for role, labels in labelled_roles(scores):
        if role in ("run",):
            continue  # made of the other labels
        plain: dict[str, list[str]] = {}
        for name in labels.names:
            plain.setdefault(" ".join(name.split()).casefold(), []).append(name)
        alike = [names for names in plain.values() if len(names) > 1]
        if alike:
            yield Finding(
                code="lookalike-labels",
                severity="warning",
                message=f"{counted(len(alike), 'group')} of {role} labels that differ only in blanks or capitals",
                count=len(alike),
                examples=tuple(" and ".join(map(repr, names)) for names in alike[:EXAMPLES]),
                effect="They count as different, so one thing is split in two.",
                advice="Spell them alike if they mean the same.",
            )


def _extremes(
    values: NDArray[np.float64], groups: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return low, high
