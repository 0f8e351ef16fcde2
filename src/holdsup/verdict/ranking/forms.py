"""Forms: from nuisance columns and options to the formulas that are fitted.

Every form has two formulas. In the one systems are fixed: it gives adjusted means and contrasts. In the other they
are random, as in equation 1 of Sanchez Carmona et al.: it gives the shares of variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from holdsup.columns import Labels
from holdsup.scores.roles import is_replicate
from holdsup.verdict.ranking.random_terms import RandomTerms, quote
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import Treatment
from holdsup.verdict.ranking.treatments import treat_as_printed, treat_column

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
    indicators : columns that it adds, by name
    notes : what a reader must know of it
    """

    name: str
    means: str
    variances: str
    treatments: tuple[Treatment, ...]
    numeric: frozenset[str] = frozenset()
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
    for treatment in treatments:
        name = treatment.name
        if treatment.treated == "numeric":
            fixed.append(f"center({quote(name)})")
            terms.add_slope(name, f"center({quote(name)})", cell)
        elif treatment.treated in ("fixed", "random"):
            if treatment.treated == "fixed":
                fixed.append(quote(name))
            terms.add((name, runs.dataset_name) if name in set(shared) else (name, *cell))
    means, variances = _formulas(runs, fixed, terms.written)
    return Form(
        name=BY_SYSTEM if by_system else "default",
        means=means,
        variances=variances,
        treatments=tuple(treatments),
        numeric=frozenset(t.name for t in treatments if t.treated == "numeric"),
        notes=tuple(terms.notes),
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
    fixed: list[str] = []
    for i, treatment in enumerate(treatments):
        name, labels = treatment.name, runs.factors[treatment.name]
        if treatment.treated == "numeric":
            fixed.append(quote(name))
            terms.add_slope(name, quote(name), cell)
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
        indicators=indicators,
        notes=(
            *terms.notes,
            "Independent slopes of indicators depend on which level is the reference (the last one here): another "
            "reference gives another criterion and other variances. The default form does not.",
        ),
    )


def _formulas(runs: RunTable, fixed: list[str], random: list[str]) -> tuple[str, str]:
    """Return the formula with systems fixed, and the one with systems random."""
    score, system = quote(runs.score_name), quote(runs.system_name)
    means = f"{score} ~ {' + '.join([system, *fixed, *random])}"
    return means, f"{score} ~ {' + '.join([*(fixed or ['1']), f'(1 | {system})', *random])}"


def _dictionary(labels: Labels) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(labels.codes.astype(np.int32)), labels.levels, ordered=labels.declared
    )
