"""`Design`: a formula and a table as the engine's layout and data, with the names of everything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from holdsup.design.centring import center_columns, restrict_transform
from holdsup.design.coding import DesignColumn, code_terms, dense_columns
from holdsup.design.grammar import Formula, RandomTerm, parse_formula
from holdsup.design.groups import Group, make_group, same_levels
from holdsup.design.merging import RandomBlock, merge_blocks
from holdsup.design.scaling import Derived, NumberPool, scale_columns
from holdsup.design.variables import Variables, read_variables
from holdsup.errors import FitError, FormulaError, list_names
from holdsup.numerics.layout import Layout, Sample
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["Design", "Group", "RandomBlock", "build_design", "make_design"]


@dataclass(frozen=True, eq=False)
class Design:
    """Everything that the engine and the reader of its results need.

    Attributes
    ----------
    formula : as parsed
    fixed : the columns of X, as the formula has them
    random : the random terms
    layout : the model as the engine sees it
    sample : its data
    shift : what was taken off the response before fitting
    constant : the fixed columns that add up to 1, to which the shift is given back
    rows : how many rows were used, and why the others were not
    variables : what was read
    transform : beta of the formula = transform @ beta of the engine, shape (p, p): the identity, unless the
        engine's columns are centred; unit upper triangular, so that both have the same REML criterion
    weight_unit : weights of the formula = weight_unit * those of the engine, which are near one; the formula's
        residual variance is as many times the engine's
    derived : how the numbers of the sample beyond those read are made from these
    gram : X'WX of the engine's columns, where the table was read in batches; then the sample and the variables are
        a skeleton of the table, rows that show every level
    """

    formula: Formula
    fixed: tuple[DesignColumn, ...]
    random: tuple[RandomBlock, ...]
    layout: Layout
    sample: Sample
    shift: float
    constant: tuple[int, ...]
    rows: Rows
    variables: Variables
    transform: NDArray[np.float64]
    weight_unit: float = 1.0
    derived: tuple[Derived, ...] = ()
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


def make_design(formula: str, data: Any, *, weights: str | None = None, progress: Progress = no_progress) -> Design:
    """Return the design of a formula on a table."""
    parsed = parse_formula(formula)
    return build_design(parsed, read_variables(parsed, data, weights=weights, progress=progress))


def build_design(formula: Formula, variables: Variables) -> Design:
    """Return the design of a parsed formula on variables that were read."""
    fixed = code_terms(formula.fixed, variables.coded)
    pool = NumberPool(variables.numbers, variables.summaries)
    centred = center_columns(fixed, [labels.count for labels in variables.factors], pool)
    blocks = _random_blocks(formula.random, variables, pool)
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


def _random_blocks(terms: Sequence[RandomTerm], variables: Variables, pool: NumberPool) -> tuple[RandomBlock, ...]:
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
        _check_group(groups[key], len(columns) if term.correlated else 1, variables.rows.used)
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
        raise FormulaError(f"{what}: their variances cannot be told apart, so leave one out")


def _check_group(group: Group, width: int, rows: int) -> None:
    """Raise if a group cannot have variances: `width` effects that may be correlated vary together."""
    if group.count < 2:
        raise FormulaError(f"the group {group.label!r} has one level only: a variance needs two or more")
    if group.count * width >= rows:
        what = "levels" if width == 1 else f"levels times {width} effects each"
        raise FormulaError(
            f"the random term of {group.label!r} has {group.count:,} {what} for {rows:,} rows, so its variance cannot "
            "be told from the residual's: leave it out, or add rows"
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
