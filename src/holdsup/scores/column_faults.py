"""What can be wrong with the labels and columns of a table of scores: one function per kind of fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pyarrow.compute as pc

from holdsup.columns import Column, Labels
from holdsup.columns.crossing import cross
from holdsup.errors import list_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution
from holdsup.scores.faults import count_have, extremes, make_fault
from holdsup.scores.roles import FILE
from holdsup.scores.suggestions import MOST_SETTINGS, is_remark
from holdsup.scores.table import Scores

PLAIN = r"^([a-z][!-~]*|[1-9][0-9]{0,39})$"  # in lower case
NUMERAL = re.compile(r"[-+]?\d{1,40}(\.\d{0,40})?")


def find_column_faults(scores: Scores) -> Iterator[Caution]:
    """Yield what is wrong with labels and with columns that have no role."""
    yield from find_lookalikes(scores)
    yield from _tied_to_systems(scores)
    yield from _one_level(scores)
    yield from _unused(scores)


def find_lookalikes(scores: Scores) -> Iterator[Caution]:
    """Yield labels of a role or facet that differ only in blanks, capitals, or the way a number is written."""
    roles = [(role, getattr(scores, role)) for role in ("system", "dataset", "item", "metric", "cluster")]
    for role, labels in (*roles, *((f"facet {name!r}", facet) for name, facet in scores.facets.items())):
        if labels is None or _are_plainly_different(labels):
            continue
        plain: dict[str, list[str]] = {}
        for name in labels.names:
            plain.setdefault(_plain(name), []).append(name)
        alike = [" and ".join(map(repr, names[:3])) for names in plain.values() if len(names) > 1]
        if alike:
            more = f" (and {format_counted(len(alike) - 1, 'group')} more)" if len(alike) > 1 else ""
            yield make_fault(
                "lookalike-labels",
                f"The {role} labels {alike[0]} may mean the same{more}.",
                count=len(alike),
                examples=alike[1:],
            )


def _are_plainly_different(labels: Labels) -> bool:
    """Return whether all labels are plain words or plain numbers, and differ in more than capitals: most ids do."""
    lower = pc.utf8_lower(labels.levels)
    plain = pc.all(pc.match_substring_regex(lower, PLAIN)).as_py()
    return bool(plain is not False and pc.count_distinct(lower).as_py() == labels.count)


def _plain(label: str) -> str:
    """Return what labels share that differ only in blanks, capitals or the way a number is written."""
    plain = " ".join(label.split()).casefold()
    return f"{Decimal(plain).normalize() + 0:f}" if NUMERAL.fullmatch(plain) and plain.isascii() else plain


def _tied_to_systems(scores: Scores) -> Iterator[Caution]:
    """Find columns without a role that have one value in each system, and not the same in all."""
    if scores.system.count < 2 or scores.system.count == len(scores):
        return
    telling = {name: column for name, column in scores.others.items() if name != FILE and not is_remark(name)}
    tied = [name for name, column in telling.items() if _is_tied(scores, column)]
    if tied:
        one = len(tied) == 1
        what = f"Column {tied[0]!r} changes" if one else f"Columns {list_names(tied, most=6)} change"
        it = "it" if one else "them"
        yield make_fault(
            "confounded",
            f"{what} only together with the system: a difference between systems may be due to {it}.",
            count=len(tied),
            advice=f"If {'it is a setting' if one else 'they are settings'} to be crossed with the systems, name {it} "
            f"with --facets. Ignore this if {'it only describes' if one else 'they only describe'} the system.",
        )


def _is_tied(scores: Scores, column: Column) -> bool:
    systems = scores.system
    if isinstance(column, Labels):
        pairs = cross(systems, column)
        return pairs.count == systems.count and len(np.unique(column.codes[pairs.first])) > 1
    low, high = extremes(np.nan_to_num(column.values, nan=np.inf), systems.codes.astype(np.int64), systems.count)
    return bool((low == high).all()) and 1 < len(np.unique(low)) <= MOST_SETTINGS


def _one_level(scores: Scores) -> Iterator[Caution]:
    columns = [(column, role) for column, role in scores.roles.columns().items() if role not in ("score", "status")]
    named = [(c, scores.facets.get(c) if role == "facet" else getattr(scores, role, None)) for c, role in columns]
    named.extend((c, labels) for c, labels in {**scores.properties, **scores.others}.items())
    single = [c for c, column in named if column is not None and _is_flat(column)]
    if single:
        yield make_fault(
            "one-level", f"{count_have(len(single), 'column')} only one value: {_list(single)}.", count=len(single)
        )


def _is_flat(column: Column) -> bool:
    if isinstance(column, Labels):
        return column.count == 1
    return bool(np.isfinite(column.values).all() and column.values.min() == column.values.max())


def _unused(scores: Scores) -> Iterator[Caution]:
    names = [name for name in scores.others if name != FILE]
    if names:
        yield make_fault(
            "unused-columns", f"{count_have(len(names), 'column')} no role: {_list(names)}.", count=len(names)
        )


def _list(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:8], "..."])
