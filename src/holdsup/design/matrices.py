"""`Design`: a formula and a table as the engine's layout and data, with all names; and rows coded by it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from holdsup.columns import Labels, OpenTable, open_tables, read_columns
from holdsup.design.coding import DesignColumn, code_terms, dense_columns
from holdsup.design.formulas import Factor, Formula, RandomTerm
from holdsup.design.groups import Group, RandomBlock, find_levels, make_group, match_labels, merge_blocks, same_levels
from holdsup.design.rescaling import Derived, NumberPool, center_columns, restrict_transform, scale_columns
from holdsup.design.transforms import apply_transform
from holdsup.design.variables import (
    TableColumns,
    Variables,
    complete_rows,
    mentioned_factors,
    read_table,
)
from holdsup.errors import FitError, FormulaError, list_names
from holdsup.numerics.layout import Layout, Sample
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

Array = NDArray[np.float64]
Codes = NDArray[np.integer]
KnownLabels = dict[str, tuple[int, Labels]]  # the columns that the fit used as labels: their index and levels


@dataclass(frozen=True, eq=False)
class Design:
    """Everything that the engine and the reader of its results need."""

    formula: Formula  # as parsed
    fixed: tuple[DesignColumn, ...]  # the columns of X, as the formula has them
    random: tuple[RandomBlock, ...]  # the random terms
    layout: Layout  # the model as the engine sees it
    sample: Sample  # its data
    shift: float  # what was taken off the response before fitting
    constant: tuple[int, ...]  # the fixed columns that add up to 1, to which the shift is given back
    rows: Rows  # how many rows were used, and why the others were not
    variables: Variables  # what was read
    # beta of the formula = transform @ beta of the engine, shape (p, p): the identity, unless the engine's columns are
    # centred; unit upper triangular, so that both have the same REML criterion
    transform: NDArray[np.float64]
    # weights of the formula = weight_unit * those of the engine, which are near one; the formula's residual variance is
    # as many times the engine's
    weight_unit: float = 1.0
    derived: tuple[Derived, ...] = ()  # how the numbers of the sample beyond those read are made from these
    # X'WX of the engine's columns, where the table was read in batches; then the sample and the variables are a
    # skeleton of the table, rows that show every level
    gram: NDArray[np.float64] | None = None

    @property
    def holds_rows(self) -> bool:
        """Whether the sample has all rows of the table."""
        return self.gram is None

    def require_rows(self) -> None:
        """Raise if the table was read in batches."""
        if not self.holds_rows:
            raise FitError(
                "this fit was made from batches and holds no rows: what is asked needs all of them, so fit a table "
                "that fits into memory (a part of this one, say)"
            )

    def transform_of(self, kept: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the transform of the columns that the engine kept, which may have left out dependent ones."""
        return restrict_transform(self.transform, kept, self._engine_columns)

    def shift_of(self, kept: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return what the shift of the response adds to the formula's beta of the columns kept, shape (len(kept),).

        It belongs to the columns that add up to 1. If the engine left one of these out (``0 + x + a``, where x is
        the same within each level of a), the 1 is a combination of what it kept.
        """
        if set(self.constant) <= set(kept.tolist()):
            return np.where(np.isin(kept, self.constant), self.shift, 0.0)
        columns = self._engine_columns()
        X, ones = columns[:, kept], columns[:, self.constant].sum(axis=1)
        scale = np.linalg.norm(X, axis=0)
        one = np.linalg.lstsq(X / scale, ones, rcond=None)[0] / scale
        return np.asarray(self.shift * (self.transform_of(kept) @ one))

    def columns(self) -> NDArray[np.float64]:
        """Return X as the formula has it or, where there are no rows, a matrix whose columns depend alike."""
        if self.gram is not None:
            return np.asarray(solve_triangular(self.transform.T, self._engine_columns().T, lower=True).T)
        codes = [labels.codes for labels in self.variables.factors]
        return dense_columns(self.fixed, self.variables.numbers, codes, len(self.variables.response))

    def _engine_columns(self) -> NDArray[np.float64]:
        """Return X as the engine has it or, where there are no rows, a root of X'WX."""
        if self.gram is not None:
            return root_of(self.gram)
        codes = [labels.codes for labels in self.variables.factors]
        return dense_columns(self.layout.fixed, self.sample.numbers, codes, len(self.sample.response))


def build_design(formula: Formula, variables: Variables, *, observed: float | None = None) -> Design:
    """Return the design of a parsed formula on variables that were read, of `observed` outcomes if not one a row."""
    fixed = code_terms(formula.fixed, variables.coded)
    pool = NumberPool(variables.numbers, variables.summaries)
    centred = center_columns(fixed, [labels.count for labels in variables.factors], pool)
    blocks = _random_blocks(formula.random, variables, pool, variables.rows.used if observed is None else observed)
    parameters = sum(len(block.places) for block in blocks)
    lower = np.full(parameters, -np.inf)
    lower[[t for block in blocks for i, j, t in block.places if i == j]] = 0.0
    constant = _constant(fixed, variables)
    shift = variables.response_summary.mean if constant else 0.0
    unit = _power_of_two(variables.weight_summary.mean) if variables.weight_summary else 1.0
    sample = Sample(
        variables.response - shift,
        None if variables.weights is None else variables.weights / unit,
        tuple(pool.numbers),
        tuple(labels.codes for labels in variables.factors),
    )
    layout = Layout(centred.columns, merge_blocks(blocks, variables), lower)
    return Design(
        formula, fixed, blocks, layout, sample, shift, constant, variables.rows, variables, centred.transform, unit,
        tuple(pool.derived),
    )  # fmt: skip


def root_of(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R with R'R = gram, which may be singular: any question of dependence has the same answer from R as from X.

    Columns are brought to length one before and back after, so that what is negligible is so in any unit.
    """
    length = np.sqrt(np.diag(gram))
    length[length == 0] = 1.0
    values, vectors = np.linalg.eigh(gram / np.outer(length, length))
    values[values < len(gram) * np.finfo(float).eps * values.max(initial=0.0)] = 0.0
    return np.asarray(np.sqrt(values)[:, None] * vectors.T * length)


def _power_of_two(size: float) -> float:
    """Return the power of two next to a number, by which dividing is exact."""
    return float(2.0 ** round(math.log2(size)))


def _random_blocks(
    terms: Sequence[RandomTerm], variables: Variables, pool: NumberPool, observed: float
) -> tuple[RandomBlock, ...]:
    """Return the random terms with their columns, groups and parameters; ``a:b`` and ``b:a`` are one group."""
    groups: dict[frozenset[str], Group] = {}
    blocks: list[RandomBlock] = []
    parameters = 0
    for term in terms:
        key = frozenset(term.group)
        if key not in groups:
            groups[key] = make_group(
                term.group, tuple(variables.factors[variables.grouping[name]] for name in term.group)
            )
        columns = code_terms(term.terms, variables.coded)
        _check_group(groups[key], len(columns) if term.correlated else 1, observed)
        # Column by column, as lme4 orders the parameters.
        pairs = [(i, j) for j in range(len(columns)) for i in range(j, len(columns)) if i == j or term.correlated]
        places = tuple((i, j, parameters + t) for t, (i, j) in enumerate(pairs))
        scaled = scale_columns(columns, pool, correlated=term.correlated)
        blocks.append(RandomBlock(groups[key], columns, term.correlated, places, scaled.columns, scaled.transform))
        parameters += len(pairs)
    for earlier, later in itertools.combinations(blocks, 2):
        _check_repetition(earlier, later)
    return tuple(blocks)


def _check_repetition(earlier: RandomBlock, later: RandomBlock) -> None:
    """Raise if two random terms have a column in common and the same levels, whatever these are called."""
    known = {(column.numbers, frozenset(column.levels)) for column in earlier.columns}
    twice = [c.name for c in later.columns if (c.numbers, frozenset(c.levels)) in known]
    if twice and same_levels(earlier.group, later.group):
        one, other = earlier.group.label, later.group.label
        both = f"the groups {one!r} and {other!r} put the same rows together, and both have {list_names(twice)}"
        what = f"two random terms of the group {one!r} have {list_names(twice)}" if one == other else both
        raise FormulaError(f"{what}: their variances can't be separated, so leave one out")


def _check_group(group: Group, width: int, rows: float) -> None:
    """Raise if a group cannot have variances: `width` effects that may be correlated vary together."""
    if group.count < 2:
        raise FormulaError(f"the group {group.label!r} has only one level: a variance needs at least two")
    if group.count * width >= rows:
        what = "levels" if width == 1 else f"levels times {width} effects each"
        raise FormulaError(
            f"the random term of {group.label!r} has {group.count:,} {what} for {rows:,} rows, so its variance can't "
            "be separated from the noise: leave it out, or add rows"
        )


def _constant(fixed: Sequence[DesignColumn], variables: Variables) -> tuple[int, ...]:
    """Return fixed columns that add up to 1, so that the response may be centred; () if there are none.

    The intercept is one; so are all levels of a factor, or all combinations of levels of several.
    """
    found: dict[tuple[int, ...], list[int]] = {}
    for i, column in enumerate(fixed):
        if not column.numbers:
            found.setdefault(tuple(factor for factor, _ in column.levels), []).append(i)
    for factors, places in found.items():
        if len(places) == math.prod(variables.factors[factor].count for factor in factors):
            return tuple(places)
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows as a fit sees them; beta is that of the formula, and nothing is centred."""

    fixed: Array  # all columns of X, in the order of `Design.fixed`, shape (n, p)
    columns: tuple[Array, ...]  # for each random term, what varies, shape (n, k)
    # for each random term, the level of its group, shape (n,), -1 for one that the fit did not see; like `columns`, ()
    # if the random terms were not asked for
    levels: tuple[Codes, ...]
    places: Codes  # which rows of the table these are, shape (n,), from 0
    rows: Rows  # how many there are, and why others are not


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
