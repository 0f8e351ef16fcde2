"""`Design`: a formula and a table as the engine's layout and data, with the names of everything."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.design.coding import DesignColumn, code_terms
from holdsup.design.grammar import Formula, RandomTerm, parse_formula
from holdsup.design.variables import Variables, read_variables
from holdsup.errors import FormulaError
from holdsup.numerics.layout import ColumnSpec, Effects, Layout, Sample
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["Design", "Group", "RandomBlock", "build_design", "make_design"]

MOST_INSIDE = 12  # levels of a:b within b up to which a:b is written as columns within b


@dataclass(frozen=True, eq=False)
class Group:
    """A grouping factor: the level of each row, and the names of the levels.

    Attributes
    ----------
    label : ``item`` or ``system:item``
    variables : the columns whose combinations are the levels
    codes : level of each row, shape (n,)
    shown : a row that shows each level
    factors : the columns, as labels
    """

    label: str
    variables: tuple[str, ...]
    codes: NDArray[np.integer]
    shown: NDArray[np.integer]
    factors: tuple[Labels, ...]

    @property
    def count(self) -> int:
        """How many levels there are."""
        return len(self.shown)

    def level_names(self) -> list[tuple[str, ...]]:
        """Return the labels of each level: a tuple, so that "a:b" x "c" is never "a" x "b:c"."""
        return list(zip(*([f.names[c] for c in f.codes[self.shown]] for f in self.factors), strict=True))


@dataclass(frozen=True, eq=False)
class RandomBlock:
    """One random term: the columns that vary between the levels of a group.

    Attributes
    ----------
    group : the grouping factor
    columns : what varies
    correlated : whether the columns have correlations
    places : (i, j, index of the parameter) for each entry of the term's k x k factor
    """

    group: Group
    columns: tuple[DesignColumn, ...]
    correlated: bool
    places: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class Design:
    """Everything that the engine and the reader of its results need.

    Attributes
    ----------
    formula : as parsed
    fixed : the columns of X
    random : the random terms
    layout : the model as the engine sees it
    sample : its data
    shift : what was taken off the response before fitting
    constant : the fixed columns that add up to 1, to which the shift is given back
    rows : how many rows were used, and why the others were not
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


def make_design(formula: str, data: Any, *, weights: str | None = None, progress: Progress = no_progress) -> Design:
    """Return the design of a formula on a table."""
    parsed = parse_formula(formula)
    return build_design(parsed, read_variables(parsed, data, weights=weights, progress=progress))


def build_design(formula: Formula, variables: Variables) -> Design:
    """Return the design of a parsed formula on variables that were read."""
    fixed = code_terms(formula.fixed, variables.coded)
    groups: dict[tuple[str, ...], Group] = {}
    blocks: list[RandomBlock] = []
    parameters = 0
    for term in formula.random:
        columns = code_terms(term.terms, variables.coded)
        group = groups.setdefault(tuple(sorted(term.group)), _group(term, variables))
        _check_group(group, columns, len(variables.response))
        k = len(columns)
        pairs = [(i, j) for j in range(k) for i in range(j, k) if i == j or term.correlated]
        places = tuple((i, j, parameters + t) for t, (i, j) in enumerate(pairs))
        blocks.append(RandomBlock(group, columns, term.correlated, places))
        parameters += len(pairs)
    lower = np.full(parameters, -np.inf)
    for block in blocks:
        for i, j, t in block.places:
            if i == j:
                lower[t] = 0.0
    constant = _constant(fixed, variables)
    shift = float(variables.response.mean()) if constant else 0.0
    sample = Sample(
        variables.response - shift,
        variables.weights,
        variables.numbers,
        tuple(labels.codes for labels in variables.factors),
    )
    layout = Layout(tuple(map(_spec, fixed)), _merge(blocks, variables), lower)
    return Design(formula, fixed, tuple(blocks), layout, sample, shift, constant, variables.rows, variables)


def _spec(column: DesignColumn) -> ColumnSpec:
    return ColumnSpec(column.numbers, column.levels)


def _constant(fixed: Sequence[DesignColumn], variables: Variables) -> tuple[int, ...]:
    """Return fixed columns that add up to 1, so that the response may be centred; () if there are none."""
    found: dict[int, list[int]] = {}
    for i, column in enumerate(fixed):
        if not column.numbers and not column.levels:
            return (i,)
        if not column.numbers and len(column.levels) == 1:
            found.setdefault(column.levels[0][0], []).append(i)
    full = [places for factor, places in found.items() if len(places) == variables.factors[factor].count]
    return tuple(full[0]) if full else ()


def _group(term: RandomTerm, variables: Variables) -> Group:
    factors = tuple(variables.factors[variables.grouping[name]] for name in term.group)
    label = ":".join(term.group)
    if len(factors) == 1:
        codes: NDArray[np.integer] = factors[0].codes
        shown = np.empty(factors[0].count, np.int64)
        shown[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
        return Group(label, term.group, codes, shown, factors)
    crossing = cross(*factors)
    return Group(label, term.group, crossing.codes, crossing.first, factors)


def _check_group(group: Group, columns: tuple[DesignColumn, ...], rows: int) -> None:
    if group.count < 2:
        raise FormulaError(f"the group {group.label!r} has one level only: a variance needs two or more")
    if group.count * len(columns) >= rows:
        what = "levels" if len(columns) == 1 else f"levels times {len(columns)} effects each"
        raise FormulaError(
            f"the random term of {group.label!r} has {group.count:,} {what} for {rows:,} rows, so its variance cannot "
            "be told from the residual's: leave it out, or add rows"
        )


def _merge(blocks: list[RandomBlock], variables: Variables) -> tuple[Effects, ...]:
    """Return the random terms merged by grouping factor, the largest first.

    A term of ``system:item`` beside one of ``item`` is written as one column per system within item,
    all with the same variance: the same model, and the large factor of all combinations is gone.
    """
    groups = {tuple(sorted(block.group.variables)): block.group for block in blocks}
    inside: dict[tuple[str, ...], list[tuple[ColumnSpec, RandomBlock, int, int]]] = {key: [] for key in groups}
    for number, block in enumerate(blocks):
        key = tuple(sorted(block.group.variables))
        host = _host(key, groups, variables) if len(key) > 1 else key
        extra = [variables.grouping[name] for name in block.group.variables if name not in host]
        for copy, codes in enumerate(itertools.product(*(range(variables.factors[f].count) for f in extra))):
            for i, column in enumerate(block.columns):
                levels = tuple(dict.fromkeys((*column.levels, *zip(extra, codes, strict=True))))
                inside[host].append((ColumnSpec(column.numbers, levels), block, i, number * 10_000 + copy))
    effects = [_effects(groups[key], members, variables) for key, members in inside.items() if members]
    return tuple(sorted(effects, key=lambda e: -e.size))


def _host(key: tuple[str, ...], groups: dict[tuple[str, ...], Group], variables: Variables) -> tuple[str, ...]:
    """Return the group within which a finer one is written: the largest that leaves few combinations over."""
    best = key
    for other, group in groups.items():
        left = [variables.factors[variables.grouping[name]].count for name in key if name not in other]
        if set(other) < set(key) and np.prod(left) <= MOST_INSIDE and (best == key or group.count > groups[best].count):
            best = other
    return best


def _effects(group: Group, members: list[tuple[ColumnSpec, RandomBlock, int, int]], variables: Variables) -> Effects:
    k = len(members)
    pattern = np.full((k, k), -1, np.int64)
    for a, (_, block, i, copy) in enumerate(members):
        for b, (_, _, j, other) in enumerate(members):
            if copy == other:
                for row, column, parameter in block.places:
                    if (row, column) == (i, j):
                        pattern[a, b] = parameter
    factors = tuple(variables.grouping[name] for name in group.variables)
    return Effects(factors, group.codes, group.count, tuple(spec for spec, *_ in members), pattern)


def level_frame(group: Group) -> pa.Table:
    """Return the levels of a group as a table with a column per variable."""
    return pa.table({name: [level[i] for level in group.level_names()] for i, name in enumerate(group.variables)})
