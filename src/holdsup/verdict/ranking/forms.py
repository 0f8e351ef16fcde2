"""Forms: from nuisance columns and options to the formulas that are fitted.

Every form has two formulas. In the one systems are fixed: it gives adjusted means and contrasts. In the other they
are random, as in equation 1 of Sanchez Carmona et al.: it gives the shares of variance.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.scores.roles import is_replicate
from holdsup.verdict.ranking.random_terms import RandomTerms, quote
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import Treatment
from holdsup.verdict.ranking.treatments import can_be_levels, has_identity, treat_as_printed, treat_column

__all__ = ["BY_SYSTEM", "Form", "Indicator", "make_default", "make_paper"]

BY_SYSTEM = "slopes by system"


@dataclass(frozen=True, slots=True)
class Indicator:
    """A column that is 1 at one level of a factor and 0 elsewhere.

    Attributes
    ----------
    factor : the nuisance column
    level : the level
    """

    factor: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """How scores depend on systems, datasets and nuisance factors.

    Attributes
    ----------
    name : "default", "paper", "formula" or "slopes by system"
    means : the formula in which systems are fixed
    variances : the formula in which they are random
    treatments : what it makes of each nuisance column
    numeric : the nuisance columns that it takes as numbers
    logs : columns that it adds, by name, with the nuisance column of which each is the decimal logarithm
    drawn : the nuisance columns whose levels are random, and the same thing in all systems and datasets
    indicators : columns that it adds, by name
    notes : what a reader must know of it
    """

    name: str
    means: str
    variances: str
    treatments: tuple[Treatment, ...]
    numeric: frozenset[str] = frozenset()
    logs: Mapping[str, str] = field(default_factory=dict)
    drawn: frozenset[str] = frozenset()
    indicators: Mapping[str, Indicator] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def averages(self) -> bool:
        """Whether systems are compared at the average of all settings, so that datasets can be averaged by hand."""
        return self.name == "default"

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
    means, variances = _formulas(runs, fixed, terms.written)
    return Form(
        name=BY_SYSTEM if by_system else "default",
        means=means,
        variances=variances,
        treatments=tuple(treatments),
        numeric=frozenset(t.name for t in treatments if t.treated == "numeric"),
        logs=logs,
        drawn=frozenset(drawn),
        notes=(*_say_lines(runs, treatments, treat), *terms.notes),
    )


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
    means, variances = _formulas(runs, fixed, terms.written)
    return Form(
        name="paper",
        means=means,
        variances=variances,
        treatments=tuple(treatments),
        numeric=frozenset(t.name for t in treatments if t.treated == "numeric"),
        logs=logs,
        indicators=indicators,
        notes=(
            *_say_lines(runs, treatments, treat),
            *terms.notes,
            "Independent slopes of indicators depend on which level is the reference (the last one here): another "
            "reference gives another criterion and other variances. The default form does not.",
        ),
    )


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


def _say_lines(runs: RunTable, treatments: Iterable[Treatment], asked: Mapping[str, str]) -> Iterator[str]:
    """Yield which columns are taken as numbers without having been asked for."""
    for t in treatments:
        if t.treated in ("numeric", "log") and t.name not in asked:
            line = f"a straight line in {'its logarithm' if t.treated == 'log' else t.name}"
            levels = (
                f"--treat {shlex.quote(f'{t.name}=fixed')} gives each of them an effect of its own"
                if can_be_levels(runs, t.name)
                else "they recur too seldom, or too few systems share them, for an effect of each"
            )
            yield f"{t.name} has {t.levels} different numbers: it is taken as one, with {line}; {levels}."


def _positive(runs: RunTable, name: str) -> NDArray[np.float64]:
    numbers = runs.numbers(name)
    assert numbers is not None, f"{name} was found to be positive numbers"
    return numbers


def _formulas(runs: RunTable, fixed: list[str], random: list[str]) -> tuple[str, str]:
    """Return the formula with systems fixed, and the one with systems random."""
    score, system = quote(runs.score_name), quote(runs.system_name)
    means = f"{score} ~ {' + '.join([system, *fixed, *random])}"
    return means, f"{score} ~ {' + '.join([*(fixed or ['1']), f'(1 | {system})', *random])}"


def _dictionary(labels: Labels) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(labels.codes.astype(np.int32)), labels.levels, ordered=labels.declared
    )
