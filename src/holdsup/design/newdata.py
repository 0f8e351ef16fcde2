"""Rows coded with what the fit learnt: those of a new table, or those of the fit itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, OpenTable, open_tables, read_columns
from holdsup.design.coding import dense_columns
from holdsup.design.groups import find_levels, match_labels
from holdsup.design.matrices import Design
from holdsup.design.tables import TableColumns, complete_rows, read_table
from holdsup.design.terms import Factor
from holdsup.design.transforms import apply_transform
from holdsup.design.variables import mentioned_factors
from holdsup.errors import FormulaError, list_names
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["CodedRows", "code_fitted_rows", "code_rows"]

Array = NDArray[np.float64]
Codes = NDArray[np.integer]
KnownLabels = dict[str, tuple[int, Labels]]  # the columns that the fit used as labels: their index and levels


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows as a fit sees them; beta is that of the formula, and nothing is centred.

    Attributes
    ----------
    fixed : all columns of X, in the order of `Design.fixed`, shape (n, p)
    columns : for each random term, what varies, shape (n, k)
    levels : for each random term, the level of its group, shape (n,), -1 for one that the fit did not see; like
        `columns`, () if the random terms were not asked for
    places : which rows of the table these are, shape (n,), from 0
    rows : how many there are, and why others are not
    """

    fixed: Array
    columns: tuple[Array, ...]
    levels: tuple[Codes, ...]
    places: Codes
    rows: Rows


def code_fitted_rows(design: Design) -> CodedRows:
    """Return the rows of the fit, as they were used; `places` counts these."""
    design.require_rows()
    codes = [labels.codes for labels in design.variables.factors]
    n = len(design.variables.response)
    return CodedRows(
        fixed=dense_columns(design.fixed, design.variables.numbers, codes, n),
        columns=tuple(dense_columns(block.columns, design.variables.numbers, codes, n) for block in design.random),
        levels=tuple(block.group.codes for block in design.random),
        places=np.arange(n),
        rows=design.rows,
    )


def code_rows(design: Design, data: Any, *, random: bool = True, progress: Progress = no_progress) -> CodedRows:
    """Return the rows of a new table, coded with the levels, means and polynomials of the fit.

    The table needs the columns of the right side only, without `random` those of the fixed terms. A row with a gap
    in one of them is left out and counted.

    Raises
    ------
    FormulaError : a level of a fixed factor that the fit did not see, or a function that is not defined
    """
    tables = open_tables(data, progress=progress)
    known = _known_labels(design, random=random)
    mentioned = mentioned_factors(design.formula, random=random)
    numbers = [f for f in mentioned if f in design.variables.transforms]
    if not known and not numbers:
        return _intercepts(design, tables)
    table = read_table(tables, labels=known, numbers=[f.variable for f in numbers], progress=progress)
    table = table.fold_truths(name for name, (_, labels) in known.items() if {*labels.names} <= {"False", "True"})
    places, rows = complete_rows(table.gaps())
    if rows.used < rows.planned:
        table = table.take(places)
    codes = {index: match_labels(table.labels[name], labels) for name, (index, labels) in known.items()}
    _check_levels(design, known, table)
    values = _transformed(design, numbers, table)
    columns, levels = [], []
    for block in design.random if random else ():
        level = find_levels(block.group, tuple(codes[known[name][0]] for name in block.group.variables))
        for factor in {factor for column in block.columns for factor, _ in column.levels}:
            level[codes[factor] < 0] = -1  # what varies cannot be coded there
        columns.append(dense_columns(block.columns, values, codes, rows.used))
        levels.append(level)
    fixed = dense_columns(design.fixed, values, codes, rows.used)
    return CodedRows(fixed, tuple(columns), tuple(levels), places, rows)


def _known_labels(design: Design, *, random: bool) -> KnownLabels:
    variables = design.variables
    blocks = design.random if random else ()
    index = {name: variables.grouping[name] for block in blocks for name in block.group.variables}
    for factor in mentioned_factors(design.formula, random=random):
        place = variables.coded[factor].factor
        if place is not None:
            index[factor.variable] = place
    return {name: (i, variables.factors[i]) for name, i in index.items()}


def _intercepts(design: Design, tables: list[OpenTable]) -> CodedRows:
    """Return the rows of a formula without variables: as many as there are in any column."""
    n = sum(read_columns(tables, labels=tables[0].columns[:1]).lengths)
    return CodedRows(dense_columns(design.fixed, (), (), n), (), (), np.arange(n), Rows(n, n))


def _check_levels(design: Design, known_labels: KnownLabels, table: TableColumns) -> None:
    used = {factor for column in design.fixed for factor, _ in column.levels}
    for name, (index, known) in known_labels.items():
        new = [level for level in table.labels[name].names if level not in set(known.names)] if index in used else []
        if new:
            raise FormulaError(
                f"{name} has {list_names(new)} in the new rows, of which the fit knows no effect; "
                f"it knows {list_names(known.names)}"
            )


def _transformed(design: Design, factors: list[Factor], table: TableColumns) -> dict[int, Array]:
    """Return the numeric variables of new rows by their index."""
    values: dict[int, Array] = {}
    for factor in factors:
        raw = table.numbers[factor.variable].values
        columns = apply_transform(factor, design.variables.transforms[factor], raw)
        for (_, index), (_, column) in zip(design.variables.coded[factor].numbers, columns, strict=True):
            values[index] = column
    return values
