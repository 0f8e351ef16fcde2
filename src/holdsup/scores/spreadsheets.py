"""Rows that a spreadsheet has and a table of scores has not: blank ones, and those that sum up the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns import Columns, Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.errors import list_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution
from holdsup.scores.faults import note
from holdsup.scores.roles import Roles
from holdsup.scores.row_faults import is_rounded
from holdsup.scores.table import take_rows

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
BLANK, SUMMARY = "nothing in them", "a summary of other rows"
LOOKED_AT = 50  # rows whose score is held against those that it may sum up
# What a cell says that sums up others, in lower case, and what its score then is.
STATISTICS: dict[str, tuple[Callable[[Floats], Any], ...]] = {
    **dict.fromkeys(("mean", "average", "avg", "mittelwert", "durchschnitt"), (np.mean,)),
    **dict.fromkeys(("maximum", "max"), (np.max,)),
    **dict.fromkeys(("minimum", "min"), (np.min,)),
    "median": (np.median,),
    **dict.fromkeys(
        ("standard deviation", "sd", "std", "stdev", "std dev", "std. dev."), (np.std, lambda x: np.std(x, ddof=1))
    ),
    **dict.fromkeys(("total", "sum", "summe"), (np.sum,)),
}


def leave_out_rows(columns: Columns, roles: Roles) -> tuple[Columns, dict[str, int], list[Caution]]:
    """Return the columns without such rows, how many of each kind there were, and a line about each.

    In the column of the runs, or one that numbers them, a label such as Mean or Standard deviation is no run. A system
    or an item of that name may be one: it goes only if its scores are what the name says.
    """
    labels = {name: column for name, column in columns.named.items() if isinstance(column, Labels)}
    if not labels:  # files of one score a line are paired by line, and a blank one is a missing score
        return columns, {}, []
    out = {BLANK: _find_blank(columns, labels)}
    said = []
    if count := int(out[BLANK].sum()):
        said.append(
            note("blank-rows", f"{format_counted(count, 'blank row')} {'is' if count == 1 else 'are'} left out.")
        )
    out[SUMMARY] = np.zeros_like(out[BLANK])
    for name, codes in _find_summaries(columns, labels, roles):
        rows = np.isin(labels[name].codes, codes) & ~out[SUMMARY]
        count, named = int(rows.sum()), list_names(labels[name].names[code] for code in codes)
        out[SUMMARY] |= rows
        left = f"{format_counted(count, 'row')} with {name} {named} {'is' if count == 1 else 'are'} left out"
        said.append(note("summaries-left-out", f"{left}: {'it sums' if count == 1 else 'they sum'} up other rows."))
    gone = out[BLANK] | out[SUMMARY]
    if not gone.any():
        return columns, {}, []
    tables = np.repeat(np.arange(len(columns.lengths)), columns.lengths)
    lengths = np.bincount(tables[~gone], minlength=len(columns.lengths))
    kept = {name: take_rows(column, ~gone) for name, column in columns.named.items()}
    counts = {why: int(mask.sum()) * len(roles.score_columns) for why, mask in out.items() if mask.any()}
    return replace(columns, named=kept, lengths=tuple(lengths.tolist())), counts, said


def _find_blank(columns: Columns, labels: dict[str, Labels]) -> Mask:
    """Return the rows in which no column has a value."""
    first = next(iter(labels.values())).codes
    rows = np.flatnonzero(first < 0)
    for column in columns.named.values():
        rows = rows[column.absent[rows] if isinstance(column, Numbers) else column.codes[rows] < 0]
    blank = np.zeros(len(first), bool)
    blank[rows] = True
    return blank


def _find_summaries(columns: Columns, labels: dict[str, Labels], roles: Roles) -> Iterator[tuple[str, list[int]]]:
    """Yield each column that has labels of rows that sum up others, and these labels."""
    runs = [name for name in (roles.run, *roles.replicates) if name in labels]
    for name in (*runs, *(name for name in (roles.system, roles.item) if name in labels)):
        column = labels[name]
        codes = np.flatnonzero(pc.is_in(_plain(column.levels), value_set=pa.array(STATISTICS, pa.string()))).tolist()
        if 0 < len(codes) < column.count and (name in runs or _are_computed(columns, roles, name, codes)):
            yield name, codes


def _plain(labels: pa.StringArray) -> pa.StringArray:
    return pc.utf8_lower(pc.utf8_trim_whitespace(labels))


def _are_computed(columns: Columns, roles: Roles, name: str, codes: list[int]) -> bool:
    """Return whether most rows with such a label hold what it says of the other rows of their run, or their item."""
    labels = columns.named[name]
    assert isinstance(labels, Labels)
    within = (roles.item,) if name == roles.system else (roles.system, roles.run, *roles.facets)
    beside = [columns.named[c] for c in (*within, roles.dataset, roles.metric) if c is not None and c in columns.named]
    groups = cross(*(column for column in beside if isinstance(column, Labels)), rows=len(labels)).codes
    named, says = np.isin(labels.codes, codes), _plain(labels.levels).to_pylist()
    agree = looked = 0
    for score in (columns.named[c] for c in roles.score_columns):
        assert isinstance(score, Numbers)
        usable = np.isfinite(score.values)
        for row in np.flatnonzero(named & usable)[:LOOKED_AT]:
            others = score.values[(groups == groups[row]) & usable & ~named]
            if len(others) > 1:
                looked += 1
                statistics = STATISTICS[says[labels.codes[row]]]
                agree += any(is_rounded(float(score.values[row]), float(each(others))) for each in statistics)
    return agree > 0 and 2 * agree >= looked  # of two columns one may lack a score that the other has
