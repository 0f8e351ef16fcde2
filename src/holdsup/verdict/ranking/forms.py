"""Forms: from nuisance columns and options to the formulas that are fitted.

Every form has two formulas. In the one systems are fixed: it gives adjusted means and contrasts. In the other they
are random, as in equation 1 of Sanchez Carmona et al.: it gives the shares of variance.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.design import parse_formula
from holdsup.design.formulas import INTERCEPT, Factor, Formula, RandomTerm, Term, quote, write_formula
from holdsup.errors import FormulaError
from holdsup.results import Caution
from holdsup.scores.roles import is_replicate
from holdsup.verdict.ranking.records import Treatment
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.treatments import can_be_levels, has_identity, treat_as_printed, treat_column

BY_SYSTEM = "slopes by system"


@dataclass(frozen=True, slots=True)
class Indicator:
    """A column that is 1 at one level of a factor and 0 elsewhere."""

    factor: str  # the nuisance column
    level: str  # the level


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """How scores depend on systems, datasets and nuisance factors."""

    name: str  # "default", "paper", "formula" or "slopes by system"
    means: str  # the formula in which systems are fixed
    variances: str  # the formula in which they are random
    treatments: tuple[Treatment, ...]  # what it makes of each nuisance column
    numeric: frozenset[str] = frozenset()  # the nuisance columns that it takes as numbers
    # columns that it adds, by name, with the nuisance column of which each is the decimal logarithm
    logs: Mapping[str, str] = field(default_factory=dict)
    # the nuisance columns whose levels are random, and the same thing in all systems and datasets
    drawn: frozenset[str] = frozenset()
    indicators: Mapping[str, Indicator] = field(default_factory=dict)  # columns that it adds, by name
    cautions: tuple[Caution, ...] = ()  # what a reader must know of it

    @property
    def averages(self) -> bool:
        """Whether systems are compared at the average of all settings, so that datasets can be averaged by hand."""
        return self.name == "default"

    def columns(self) -> tuple[str, ...]:
        """Return the nuisance columns."""
        return tuple(t.name for t in self.treatments)

    def added(self) -> dict[str, str]:
        """Return the columns that it adds, each with the nuisance column that it is made of."""
        return {**self.logs, **{name: indicator.factor for name, indicator in self.indicators.items()}}

    def frame(self, runs: RunTable) -> pa.Table:
        """Return the columns that both formulas need."""
        columns = {
            runs.score_name: pa.array(runs.score),
            runs.system_name: _dictionary(runs.system),
            runs.dataset_name: _dictionary(runs.dataset),
        }
        for name, labels in runs.factors.items():
            numbers = runs.numbers(name) if name in self.numeric else None
            columns[name] = _dictionary(labels) if numbers is None else pa.array(numbers)
        columns.update({name: pa.array(values) for name, values in runs.ingredients.items()})
        columns.update({name: pa.array(np.log10(_positive(runs, factor))) for name, factor in self.logs.items()})
        for name, indicator in self.indicators.items():
            labels = runs.factors[indicator.factor]
            code = labels.names.index(indicator.level) if indicator.level in labels.names else -1
            columns[name] = pa.array((labels.codes == code).astype(float))
        return pa.table(columns)


def make_default(
    runs: RunTable,
    *,
    treat: Mapping[str, str],
    replicates: Iterable[str] = (),
    shared: Iterable[str] = (),
    by_system: bool = False,
) -> Form:
    """Return the form whose random terms do not depend on which level is the reference.

    The effects of nuisance factors vary with system and dataset or, `by_system`, with the system only (equation 2 of
    Sanchez Carmona et al.).
    """
    repeated = {*replicates, *(name for name in runs.factors if is_replicate(name))}
    treatments = [
        treat_column(runs, name, treat.get(name), name in repeated, name in set(shared)) for name in runs.factors
    ]
    terms = RandomTerms(runs)
    terms.add((runs.dataset_name,))
    terms.add((runs.system_name, runs.dataset_name))
    cell = (runs.system_name,) if by_system else (runs.system_name, runs.dataset_name)
    fixed: list[str] = []
    logs, drawn = _log_columns(runs, treatments), set()
    for treatment in treatments:
        name = treatment.name
        if treatment.treated in ("numeric", "log"):
            regressor = f"center({quote(next((log for log, of in logs.items() if of == name), name))})"
            fixed.append(regressor)
            terms.add_slope(name, regressor, cell)
        elif treatment.treated in ("fixed", "random"):
            if treatment.treated == "fixed":
                fixed.append(quote(name))
            elif has_identity(name, repeated=name in repeated, shared=name in set(shared)):
                drawn.add(name)
                terms.add((name,))
            terms.add((name, runs.dataset_name) if name in set(shared) else (name, *cell))
    name = BY_SYSTEM if by_system else "default"
    return replace(terms.make_form(name, fixed, treatments, treat, logs), drawn=frozenset(drawn))


def make_paper(runs: RunTable, *, treat: Mapping[str, str]) -> Form:
    """Return equation 1 of Sanchez Carmona et al. as printed: an indicator and a slope for every level but the last."""
    terms = RandomTerms(runs)
    cell = (runs.system_name, runs.dataset_name)
    terms.add((runs.dataset_name,))
    terms.add(cell)
    treatments = [
        treat_column(runs, name, treat.get(name, treat_as_printed(runs, name)), False, False) for name in runs.factors
    ]
    indicators: dict[str, Indicator] = {}
    logs = _log_columns(runs, treatments)
    fixed: list[str] = []
    for i, treatment in enumerate(treatments):
        name, labels = treatment.name, runs.factors[treatment.name]
        if treatment.treated in ("numeric", "log"):
            regressor = quote(next((log for log, of in logs.items() if of == name), name))
            fixed.append(regressor)
            terms.add_slope(name, regressor, cell)
        elif treatment.treated != "left out":
            treatments[i] = Treatment(
                name=name, levels=labels.count, treated="fixed", reference=labels.names[-1], why="equation 1"
            )
            for level in labels.names[:-1]:
                column = f"{name}_{level}".replace("`", "'")
                while column in runs.factors or column in indicators:
                    column += "_"
                indicators[column] = Indicator(name, level)
                fixed.append(quote(column))
                terms.add_slope(name, quote(column), cell)
    form = terms.make_form("paper", fixed, treatments, treat, logs)
    reference = Caution(
        code="reference-level",
        about="table:random",
        message="The paper's variances depend on which level is the reference (here the last).",
        advice="The default form's don't: leave --paper out.",
    )
    return replace(form, indicators=indicators, cautions=(*form.cautions, reference))


def _log_columns(runs: RunTable, treatments: Iterable[Treatment]) -> dict[str, str]:
    """Return a name for the logarithm of each column that is taken so."""
    found: dict[str, str] = {}
    for treatment in treatments:
        if treatment.treated == "log":
            column = f"log10_{treatment.name}"
            while column in runs.factors or column in (runs.score_name, runs.system_name, runs.dataset_name):
                column += "_"
            found[column] = treatment.name
    return found


def _caution_lines(runs: RunTable, treatments: Iterable[Treatment], asked: Mapping[str, str]) -> Iterator[Caution]:
    """Yield which columns are taken as numbers without having been asked for."""
    for t in treatments:
        if t.treated in ("numeric", "log") and t.name not in asked:
            levels = f"--treat {shlex.quote(f'{t.name}=fixed')} gives each value an effect of its own."
            yield Caution(
                code="straight-line",
                severity="note",
                about="table:fixed",
                message=f"Column {t.name} has {t.levels} different numbers: its effect is a straight line in "
                f"{'its logarithm' if t.treated == 'log' else t.name}.",
                advice=levels if can_be_levels(runs, t.name) else "",
            )


def _positive(runs: RunTable, name: str) -> NDArray[np.float64]:
    numbers = runs.numbers(name)
    assert numbers is not None, f"{name} was found to be positive numbers"
    return numbers


def _dictionary(labels: Labels) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(labels.codes.astype(np.int32)), labels.levels, ordered=labels.declared
    )


class RandomTerms:
    """The random terms of a form, each checked to be one whose variance can be told from the others'.

    Attributes
    ----------
    written : the terms as a formula has them
    cautions : why others are not among them
    """

    def __init__(self, runs: RunTable) -> None:
        self.runs = runs
        self.columns = {runs.system_name: runs.system, runs.dataset_name: runs.dataset, **runs.factors}
        self.written: list[str] = []
        self.cautions: list[Caution] = []
        self.known: dict[bytes, str] = {}

    def add(self, group: tuple[str, ...]) -> None:
        """Add a random intercept, or say why there is none."""
        found = cross(*(self.columns[name] for name in group))
        label = ":".join(group)
        grouping = found.first[found.codes].tobytes()  # the same for the same groups, whatever their names
        if found.count == len(self.runs):
            self._leave_out(f"No {label} term: with one row per level, its variance is part of the residual.")
        elif grouping in self.known:
            self._leave_out(f"No {label} term: it has the same levels as {self.known[grouping]}.")
        else:
            self.known[grouping] = label
            self.written.append(f"(1 | {':'.join(quote(name) for name in group)})")

    def add_slope(self, name: str, regressor: str, group: tuple[str, ...]) -> None:
        """Add a random slope, or say why there is none."""
        cells = cross(*(self.columns[column] for column in group))
        within = cross(cells.codes, self.columns[name])
        if within.count == cells.count:
            self._leave_out(f"No slope of {name} by {':'.join(group)}: each has only one {name}.")
        elif cells.count < len(self.runs):
            self.written.append(f"(0 + {regressor} | {':'.join(quote(column) for column in group)})")

    def make_form(
        self,
        name: str,
        fixed: Sequence[str],
        treatments: Sequence[Treatment],
        asked: Mapping[str, str],
        logs: Mapping[str, str],
    ) -> Form:
        """Return the form of these terms: with systems fixed, and with systems random."""
        score, system = quote(self.runs.score_name), quote(self.runs.system_name)
        return Form(
            name=name,
            means=f"{score} ~ {' + '.join([system, *fixed, *self.written])}",
            variances=f"{score} ~ {' + '.join([*(fixed or ['1']), f'(1 | {system})', *self.written])}",
            treatments=tuple(treatments),
            numeric=frozenset(t.name for t in treatments if t.treated == "numeric"),
            logs=logs,
            cautions=(*_caution_lines(self.runs, treatments, asked), *self.cautions),
        )

    def _leave_out(self, why: str) -> None:
        self.cautions.append(Caution(code="no-term", severity="note", about="table:random", message=why))


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
        cautions=tuple(_caution_formula(runs, parsed, numeric - set(treat))),
    )


def _caution_formula(runs: RunTable, formula: Formula, numeric: Collection[str]) -> Iterator[Caution]:
    """Yield what a formula does that its writer may not have meant."""
    plain = {f.variable for term in formula.fixed for f in term if not f.function}
    for name in (name for name in runs.factors if name in numeric and name in plain):
        yield Caution(
            code="straight-line",
            severity="note",
            about="table:fixed",
            message=f"Column {name} is a number in the formula: its effect is a straight line.",
            advice=f"Write factor({quote(name)}) to give each of its {runs.factors[name].count} values an effect.",
        )
    system, dataset = runs.system_name, runs.dataset_name
    fixed = any(f.variable == dataset for term in formula.fixed for f in term)
    if not fixed and not any(term.group == (dataset,) for term in formula.random):
        yield Caution(
            code="datasets-not-in-formula",
            message="The formula has no effect of datasets: systems are not compared dataset by dataset.",
            advice=f"Add (1 | {quote(dataset)}).",
        )
    slopes = any(term.group == (dataset,) and (Factor(system),) in term.terms for term in formula.random)
    if not slopes and not any(set(term.group) == {system, dataset} for term in formula.random):
        yield Caution(
            code="no-interaction-term",
            message=f"The formula has no {system} x {dataset} term: it can't be separated from the residual.",
            advice=f"Add (1 | {quote(system)}:{quote(dataset)}).",
        )


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
