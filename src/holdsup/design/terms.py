"""The algebra of terms: what ``a * b``, ``a / b``, ``(a + b)^2`` and ``- 1`` stand for, as in R.

A term is a set of factors that are multiplied; the empty term is the intercept. Terms are kept in
the order in which they appear, and sorted by degree at the end, as R's ``terms`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["INTERCEPT", "Factor", "Term", "Terms", "cross_terms", "nest_terms", "sort_terms"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A variable, or a function of one: ``log(x)``, ``poly(x, 2)``.

    Attributes
    ----------
    variable : the column
    function : "" for the column itself
    argument : the number that some functions take
    """

    variable: str
    function: str = ""
    argument: int | None = None

    def __str__(self) -> str:
        if not self.function:
            return self.variable
        return f"{self.function}({self.variable}{'' if self.argument is None else f', {self.argument}'})"


Term = tuple[Factor, ...]
INTERCEPT: Term = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms in the order of their appearance, without repetition.

    Attributes
    ----------
    kept : the terms
    no_intercept : whether the intercept was taken out, by ``0`` or ``- 1``
    """

    kept: tuple[Term, ...] = ()
    no_intercept: bool = False

    def __contains__(self, term: Term) -> bool:
        return any(set(term) == set(other) for other in self.kept)

    def plus(self, other: Terms) -> Terms:
        """Return both; of a ``0`` and a ``1`` the later one counts."""
        kept = tuple(term for term in self.kept if term or not other.no_intercept)
        return Terms(
            _distinct((*kept, *other.kept)),
            other.no_intercept or (self.no_intercept and INTERCEPT not in other.kept),
        )

    def minus(self, other: Terms) -> Terms:
        """Return the terms without those of the second; to take out ``0`` is to put the intercept in."""
        gone = {frozenset(term) for term in other.kept}
        rest = Terms(
            tuple(term for term in self.kept if frozenset(term) not in gone),
            self.no_intercept or INTERCEPT in other.kept,
        )
        return rest.plus(Terms((INTERCEPT,))) if other.no_intercept else rest


def _distinct(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the terms without repetition: ``a:b`` and ``b:a`` are one term."""
    found: dict[frozenset[Factor], Term] = {}
    for term in terms:
        found.setdefault(frozenset(term), term)
    return tuple(found.values())


def _join(left: Term, right: Term) -> Term:
    return tuple(dict.fromkeys((*left, *right)))


def cross_terms(left: Terms, right: Terms) -> Terms:
    """Return ``left : right``, every term of the one with every term of the other."""
    joined = _distinct(_join(a, b) for a in left.kept for b in right.kept)
    return Terms(joined, left.no_intercept or right.no_intercept)


def nest_terms(left: Terms, right: Terms) -> Terms:
    """Return ``left / right``: the left, and the right within all of the left."""
    whole: Term = ()
    for term in left.kept:
        whole = _join(whole, term)
    return left.plus(cross_terms(Terms((whole,)), right))


def sort_terms(terms: Terms, mentioned: Sequence[Factor]) -> tuple[Term, ...]:
    """Return the terms by degree, those of one degree as they appeared; factors in the order of `mentioned`.

    R names the interaction in ``y ~ a + x + x:a`` "a:x": within a term, variables stand in the order
    in which the formula mentions them first, be it only to take them out.
    """
    seen = {factor: i for i, factor in reversed(list(enumerate(mentioned)))}
    ordered = [tuple(sorted(term, key=seen.__getitem__)) for term in terms.kept]
    return tuple(sorted(ordered, key=len))
