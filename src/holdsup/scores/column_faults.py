"""What can be wrong with the labels and columns of a table of scores: one function per kind of fault."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdsup.columns import Column, Labels
from holdsup.columns.crossing import cross
from holdsup.errors import list_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.findings import EXAMPLES, Finding
from holdsup.scores.findings import extremes
from holdsup.scores.lookalikes import find_lookalikes
from holdsup.scores.roles import FILE
from holdsup.scores.table import Scores
from holdsup.scores.telling import MOST_SETTINGS, is_remark

__all__ = ["find_column_faults"]


def find_column_faults(scores: Scores) -> Iterator[Finding]:
    """Yield what is wrong with labels and with columns that have no role."""
    yield from _lookalikes(scores)
    yield from _tied_to_systems(scores)
    yield from _one_level(scores)
    yield from _unused(scores)


def _lookalikes(scores: Scores) -> Iterator[Finding]:
    for role, alike in find_lookalikes(scores):
        yield Finding(
            code="lookalike-labels",
            severity="warning",
            message=f"{format_counted(len(alike), 'group')} of {role} labels that may mean the same",
            count=len(alike),
            examples=tuple(" and ".join(map(repr, names[:3])) for names in alike[:EXAMPLES]),
            effect="They count as different, so that one thing is split in two.",
            advice="Write them in the same way if they mean the same.",
        )


def _tied_to_systems(scores: Scores) -> Iterator[Finding]:
    """Find columns without a role that have one value in each system, and not the same in all."""
    if scores.system.count < 2 or scores.system.count == len(scores):
        return
    tied = [name for name, column in scores.others.items() if _may_matter(name) and _is_tied(scores, column)]
    if tied:
        what = f"column {tied[0]!r} changes" if len(tied) == 1 else f"columns {list_names(tied, most=6)} change"
        it, is_it = ("it", "it is a setting") if len(tied) == 1 else ("them", "they are settings")
        yield Finding(
            code="confounded",
            severity="warning",
            message=f"{what} only together with the system: a difference between systems may be due to {it}",
            count=len(tied),
            examples=(),
            effect="What is due to such a column cannot be told from what is due to the system.",
            advice=f"If {is_it} to be crossed with the systems, name {it} with --facets. Ignore this if "
            f"{'it merely describes' if len(tied) == 1 else 'they merely describe'} the system.",
        )


def _may_matter(column: str) -> bool:
    return column != FILE and not is_remark(column)


def _is_tied(scores: Scores, column: Column) -> bool:
    systems = scores.system
    if isinstance(column, Labels):
        pairs = cross(systems, column)
        return pairs.count == systems.count and len(np.unique(column.codes[pairs.first])) > 1
    low, high = extremes(np.nan_to_num(column.values, nan=np.inf), systems.codes.astype(np.int64), systems.count)
    return bool((low == high).all()) and 1 < len(np.unique(low)) <= MOST_SETTINGS


def _one_level(scores: Scores) -> Iterator[Finding]:
    columns = [(column, role) for column, role in scores.roles.columns().items() if role not in ("score", "status")]
    named = [(c, scores.facets.get(c) if role == "facet" else getattr(scores, role, None)) for c, role in columns]
    named.extend((c, labels) for c, labels in {**scores.properties, **scores.others}.items())
    single = [c for c, column in named if column is not None and _is_flat(column)]
    if single:
        yield Finding(
            code="one-level",
            severity="note",
            message=f"{format_counted(len(single), 'column')} with only one value: {_listed(single)}",
            count=len(single),
            examples=(),
            effect="They cannot explain a difference; results hold for that one value.",
            advice="Nothing to do, unless more values were expected.",
        )


def _is_flat(column: Column) -> bool:
    if isinstance(column, Labels):
        return column.count == 1
    return bool(np.isfinite(column.values).all() and column.values.min() == column.values.max())


def _unused(scores: Scores) -> Iterator[Finding]:
    names = [name for name in scores.others if name != FILE]
    if names:
        yield Finding(
            code="unused-columns",
            severity="note",
            message=f"{format_counted(len(names), 'unused column')}: {_listed(names)}",
            count=len(names),
            examples=(),
            effect="What varies with them is taken for chance.",
            advice="Name those that differ between runs with --facets, those that describe items with --properties.",
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:8], "..."])
