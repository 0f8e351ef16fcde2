"""From terms to columns: treatment contrasts and full indicators, named as lme4 names them.

Every column of a model matrix is an indicator (of one level of each factor in the term) times a
product of numbers. That is all the engine needs to know about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdsup.design.formulas import INTERCEPT, Factor, Term
from holdsup.numerics.layout import ColumnSpec

Value = TypeVar("Value")
ByIndex = Sequence[Value] | Mapping[int, Value]


@dataclass(frozen=True, slots=True)
class DesignColumn:
    """One column of a model matrix."""

    name: str  # as lme4 has it: ``(Intercept)``, ``systemB``, ``systemB:x``
    numbers: tuple[int, ...] = ()  # indices of the numeric variables that are multiplied
    # (index of a factor, code of its level) for each indicator that is multiplied
    levels: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Coded:
    """How a factor of the formula is represented: numeric variables, or the levels of a factor."""

    numbers: tuple[tuple[str, int], ...] = ()  # (name, index of a numeric variable) for each column of numbers
    factor: int | None = None  # index of the factor, None for numbers
    levels: tuple[str, ...] = ()  # its labels


def code_terms(terms: Sequence[Term], coded: Mapping[Factor, Coded]) -> tuple[DesignColumn, ...]:
    """Return the columns of the model matrix of `terms`, in R's order."""
    columns: list[DesignColumn] = []
    free = INTERCEPT not in terms  # without an intercept, the first factor there is takes all its levels
    for number, term in enumerate(terms):
        choices = []
        for factor in term:
            first = free and _is_factor(factor, coded)
            free = free and not first
            full = first or not _covered(frozenset(term) - {factor}, terms[:number])
            choices.append(_columns(factor, coded[factor], full=full))
        # R lets the first factor of an interaction vary fastest.
        for parts in itertools.product(*reversed(choices)):
            columns.append(_product(tuple(reversed(parts))))
    return tuple(columns)


def _covered(rest: frozenset[Factor], earlier: Sequence[Term]) -> bool:
    """Return whether a factor is coded by contrasts (its first level left out), `rest` being its term without it.

    The rule of R's ``terms`` (TermCode in model.c): some earlier term contains the rest. A main effect has
    no rest, and always contrasts.
    """
    return not rest or any(rest <= set(term) for term in earlier)


def _is_factor(factor: Factor, coded: Mapping[Factor, Coded]) -> bool:
    return coded[factor].factor is not None


def _columns(factor: Factor, coded: Coded, *, full: bool) -> list[DesignColumn]:
    if coded.factor is None:
        return [DesignColumn(name, numbers=(index,)) for name, index in coded.numbers]
    start = 0 if full else 1
    return [
        DesignColumn(f"{factor}{label}", levels=((coded.factor, code),))
        for code, label in enumerate(coded.levels)
        if code >= start
    ]


def _product(parts: tuple[DesignColumn, ...]) -> DesignColumn:
    if not parts:
        return DesignColumn("(Intercept)")
    return DesignColumn(
        ":".join(part.name for part in parts),
        tuple(sorted(i for part in parts for i in part.numbers)),
        tuple(pair for part in parts for pair in part.levels),
    )


def dense_columns(
    columns: Sequence[DesignColumn | ColumnSpec],
    numbers: ByIndex[NDArray[np.float64]],
    factors: ByIndex[NDArray[np.integer]],
    rows: int,
) -> NDArray[np.float64]:
    """Return columns as a matrix, shape (rows, len(columns)), from the variables and the codes of the factors."""
    matrix = np.ones((rows, len(columns)), order="F")
    for j, column in enumerate(columns):
        for i in column.numbers:
            matrix[:, j] *= numbers[i]
        for factor, code in column.levels:
            matrix[:, j] *= factors[factor] == code
    return matrix
