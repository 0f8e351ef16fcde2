"""What a formula says, how it is written, and the algebra of its terms: what ``a * b`` and ``a / b`` stand for.

A term is a set of factors that are multiplied; the empty term is the intercept. Terms are kept in
the order in which they appear, and sorted by degree at the end, as R's ``terms`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Factor:
    """A variable, or a function of one: ``log(x)``, ``poly(x, 2)``."""

    variable: str  # the column
    function: str = ""  # "" for the column itself
    argument: int | None = None  # the number that some functions take

    def __str__(self) -> str:
        if not self.function:
            return self.variable
        return f"{self.function}({self.variable}{'' if self.argument is None else f', {self.argument}'})"


Term = tuple[Factor, ...]
INTERCEPT: Term = ()


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """``(terms | group)``: effects that vary between the levels of `group`."""

    terms: tuple[Term, ...]  # what varies, the intercept () among them unless it was taken out
    group: tuple[str, ...]  # the variables whose combinations are the levels
    correlated: bool  # false for ``||``, where every column has a variance of its own and no correlations


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula."""

    text: str  # as it was written, on one line
    response: Factor  # the left side
    fixed: tuple[Term, ...]  # the fixed terms, by degree
    random: tuple[RandomTerm, ...]  # the random terms, in the order in which they were written

    def variables(self) -> tuple[str, ...]:
        """Return every column that the formula mentions, the response first."""
        named = [self.response.variable]
        named.extend(f.variable for term in self.fixed for f in term)
        for random in self.random:
            named.extend(f.variable for term in random.terms for f in term)
            named.extend(random.group)
        return tuple(dict.fromkeys(named))


def write_formula(formula: Formula) -> str:
    """Return a formula as text, every name quoted that needs it."""
    fixed = [_term(term) for term in formula.fixed if term] if any(formula.fixed) else []
    first = [] if INTERCEPT in formula.fixed and fixed else ["1" if INTERCEPT in formula.fixed else "0"]
    random = [_random(term) for term in formula.random]
    return f"{_factor(formula.response)} ~ {' + '.join([*first, *fixed, *random])}"


def _random(term: RandomTerm) -> str:
    inside = [_term(t) for t in term.terms if t]
    first = ["1"] if INTERCEPT in term.terms else ["0"]
    bar = "|" if term.correlated else "||"
    return f"({' + '.join([*first, *inside])} {bar} {':'.join(quote(name) for name in term.group)})"


def _term(term: Term) -> str:
    return ":".join(_factor(factor) for factor in term)


def _factor(factor: Factor) -> str:
    if not factor.function:
        return quote(factor.variable)
    argument = "" if factor.argument is None else f", {factor.argument}"
    return f"{factor.function}({quote(factor.variable)}{argument})"


def quote(name: str) -> str:
    """Return a column's name as a formula writes it.

    >>> quote("lr"), quote("learning rate")
    ('lr', '`learning rate`')
    """
    return name if name.isidentifier() and name.isascii() else f"`{name}`"


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms in the order of their appearance, without repetition."""

    kept: tuple[Term, ...] = ()  # the terms
    no_intercept: bool = False  # whether the intercept was taken out, by ``0`` or ``- 1``

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
