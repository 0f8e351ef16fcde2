"""The algebra of terms: what ``a * b``, ``a / b``, ``(a + b)^2`` and ``- 1`` stand for, as in R.

A term is a set of factors that are multiplied; the empty term is the intercept. Terms are kept in
the order in which they appear, and sorted by degree at the end, as R's ``terms`` does.
"""

from __future__ import annotations

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
    """Terms in the order of their appearance, without repetition; `removed` are those taken out by ``-``."""

    kept: tuple[Term, ...] = ()
    removed: frozenset[frozenset[Factor]] = frozenset()

    def __contains__(self, term: Term) -> bool:
        return any(set(term) == set(other) for other in self.kept)

    def plus(self, other: Terms) -> Terms:
        """Return both: a term that the second adds is no longer removed."""
        added = {frozenset(term) for term in other.kept}
        kept = [term for term in self.kept if frozenset(term) not in other.removed]
        kept.extend(term for term in other.kept if term not in Terms(tuple(kept)))
        return Terms(tuple(kept), (self.removed - added) | other.removed)

    def minus(self, other: Terms) -> Terms:
        """Return the terms without those of the second."""
        gone = {frozenset(term) for term in other.kept}
        kept = tuple(term for term in self.kept if frozenset(term) not in gone)
        return Terms(kept, self.removed | gone)


def _join(left: Term, right: Term) -> Term:
    return (*left, *(factor for factor in right if factor not in left))


def cross_terms(left: Terms, right: Terms) -> Terms:
    """Return ``left : right``, every term of the one with every term of the other."""
    joined = Terms()
    for a in left.kept:
        for b in right.kept:
            joined = joined.plus(Terms((_join(a, b),)))
    return joined


def nest_terms(left: Terms, right: Terms) -> Terms:
    """Return ``left / right``: the left, and the right within all of the left."""
    whole: Term = ()
    for term in left.kept:
        whole = _join(whole, term)
    return left.plus(cross_terms(Terms((whole,)), right))


def sort_terms(terms: Terms) -> tuple[Term, ...]:
    """Return the terms by degree, those of one degree as they appeared; factors by first appearance.

    R names the interaction in ``y ~ a + x + x:a`` "a:x": within a term, variables stand in the order
    in which the formula mentions them first.
    """
    seen = {factor: i for i, factor in reversed(list(enumerate(f for term in terms.kept for f in term)))}
    ordered = [tuple(sorted(term, key=seen.__getitem__)) for term in terms.kept]
    return tuple(sorted(ordered, key=len))
