"""From terms to columns: treatment contrasts and full indicators, named as lme4 names them.

Every column of a model matrix is an indicator (of one level of each factor in the term) times a
product of numbers. That is all the engine needs to know about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdsup.design.terms import INTERCEPT, Factor, Term

__all__ = ["DesignColumn", "code_terms"]


@dataclass(frozen=True, slots=True)
class DesignColumn:
    """One column of a model matrix.

    Attributes
    ----------
    name : as lme4 has it: ``(Intercept)``, ``systemB``, ``systemB:x``
    numbers : indices of the numeric variables that are multiplied
    levels : (index of a factor, code of its level) for each indicator that is multiplied
    """

    name: str
    numbers: tuple[int, ...] = ()
    levels: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Coded:
    """How a factor of the formula is represented: numeric variables, or the levels of a factor.

    Attributes
    ----------
    numbers : (name, index of a numeric variable) for each column of numbers
    factor : index of the factor, None for numbers
    levels : its labels
    """

    numbers: tuple[tuple[str, int], ...] = ()
    factor: int | None = None
    levels: tuple[str, ...] = ()


def code_terms(terms: Sequence[Term], coded: Mapping[Factor, Coded]) -> tuple[DesignColumn, ...]:
    """Return the columns of the model matrix of `terms`, in R's order.

    A factor in a term is coded by contrasts (its first level left out) when the rest of the term is
    in the model, by all its levels otherwise; main effects are coded by contrasts, but the first of
    them takes all levels when there is no intercept. This is the rule of R's ``terms``.
    """
    present = {frozenset(term) for term in terms}
    first_full = (
        None if INTERCEPT in terms else next((t for t in terms if len(t) == 1 and _is_factor(t[0], coded)), None)
    )
    columns: list[DesignColumn] = []
    for term in terms:
        choices = []
        for factor in term:
            rest = frozenset(term) - {factor}
            full = term == first_full if not rest else rest not in present
            choices.append(list(_columns(factor, coded[factor], full=full)))
        # R lets the first factor of an interaction vary fastest.
        for parts in itertools.product(*reversed(choices)):
            columns.append(_product(tuple(reversed(parts))))
    return tuple(columns)


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
