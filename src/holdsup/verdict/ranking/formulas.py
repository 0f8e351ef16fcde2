"""A user's own formula as a form: the same model with systems fixed, and with systems random."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from holdsup.design import parse_formula
from holdsup.design.grammar import Formula, RandomTerm
from holdsup.design.terms import INTERCEPT, Factor, Term
from holdsup.errors import FormulaError
from holdsup.verdict.ranking.forms import Form
from holdsup.verdict.ranking.random_terms import quote
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import Treatment

__all__ = ["make_own", "mentioned_columns", "write_formula"]


def mentioned_columns(formula: str, *roles: str) -> tuple[str, ...]:
    """Return the columns of a formula that have none of these roles: its nuisance factors."""
    return tuple(name for name in parse_formula(formula).variables() if name not in roles)


def make_own(runs: RunTable, formula: str, *, treat: Mapping[str, str]) -> Form:
    """Return a form by a formula that has systems as fixed effects, or as random ones.

    Columns of numbers are numbers in it, as in any formula, unless they are treated as something else.
    """
    parsed = parse_formula(formula)
    if parsed.response != Factor(runs.score_name):
        raise FormulaError(f"the formula is about {parsed.response}, but the scores are in {runs.score_name!r}")
    system: Term = (Factor(runs.system_name),)
    own = RandomTerm((INTERCEPT,), (runs.system_name,), correlated=True)
    without = [_without_intercept(term) if term.group == own.group else term for term in parsed.random]
    bare = tuple(term for term in without if term is not None)
    rest = tuple(term for term in parsed.fixed if term and term != system)
    if system not in parsed.fixed and bare == parsed.random:
        name = quote(runs.system_name)
        raise FormulaError(
            f"the formula has no term of the systems, so it cannot rank them: add {name} or (1 | {name})"
        )
    numeric = frozenset(
        name for name in runs.factors
        if treat.get(name, "numeric") == "numeric" and runs.numbers(name) is not None and _is_regressor(parsed, name)
    )  # fmt: skip
    return Form(
        name="formula",
        means=write_formula(replace(parsed, fixed=(INTERCEPT, system, *rest), random=bare)),
        variances=write_formula(replace(parsed, fixed=(INTERCEPT, *rest), random=(own, *bare))),
        treatments=tuple(_describe(runs, name, numeric, parsed) for name in runs.factors),
        numeric=numeric,
        notes=tuple(_note(runs, parsed, numeric - set(treat))),
    )


def _note(runs: RunTable, formula: Formula, numeric: Collection[str]) -> Iterator[str]:
    """Yield what a formula does that its writer may not have meant."""
    plain = {f.variable for term in formula.fixed for f in term if not f.function}
    for name in (name for name in runs.factors if name in numeric and name in plain):
        yield (
            f"{name} is a number in the formula, with a straight line: factor({quote(name)}) gives each of its "
            f"{runs.factors[name].count} values an effect of its own."
        )
    dataset = runs.dataset_name
    fixed = any(f.variable == dataset for term in formula.fixed for f in term)
    if not fixed and not any(term.group == (dataset,) for term in formula.random):
        yield (
            "The formula has no effect of datasets, so that systems are not compared dataset by dataset: add "
            f"(1 | {quote(dataset)})."
        )


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


def _without_intercept(term: RandomTerm) -> RandomTerm | None:
    rest = tuple(t for t in term.terms if t)
    return replace(term, terms=rest) if rest else None


def _is_regressor(formula: Formula, name: str) -> bool:
    """Return whether a column stands for amounts somewhere, not only for groups or for levels."""
    terms = (*formula.fixed, *(term for random in formula.random for term in random.terms))
    return any(f.variable == name and f.function != "factor" for term in terms for f in term)


def _describe(runs: RunTable, name: str, numeric: frozenset[str], formula: Formula) -> Treatment:
    """Return what a formula makes of a column; one that only groups rows is random."""
    labels = runs.factors[name]
    fixed = any(factor.variable == name for term in formula.fixed for factor in term)
    treated = "numeric" if name in numeric else "fixed" if fixed else "random"
    reference = labels.names[0] if treated == "fixed" else None
    return Treatment(name=name, levels=labels.count, treated=treated, reference=reference, why="as the formula has it")
