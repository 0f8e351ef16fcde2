"""The predicted score of one configuration, term by term."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from holdsup.columns.values import parse_number
from holdsup.design.newdata import code_rows
from holdsup.errors import ScoresError, list_names
from holdsup.fit import random_effects
from holdsup.verdict.ranking.effects import find_effects
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.term_records import PredictionPart

__all__ = ["predict_configuration"]


def predict_configuration(fits: RankFits, configuration: Mapping[str, str]) -> tuple[PredictionPart, ...]:
    """Return what each term adds to the score of a configuration, by the fit in which systems are random.

    A system, dataset or level that the fit has not seen counts as an average one.
    """
    row = _row(fits, configuration)
    model = fits.variances.model()
    coded = code_rows(model.design, row)
    parts: list[PredictionPart] = []
    for effect, value in zip(find_effects(fits), coded.fixed[0, model.engine.kept], strict=True):
        if value != 0:
            adds = float(value) * effect.estimate
            parts.append(PredictionPart(term=effect.name, kind="fixed", value=adds, known=True))
    for columns, levels, effects in zip(coded.columns, coded.levels, random_effects(fits.variances), strict=True):
        level = int(levels[0])
        for i, term in enumerate(effects.terms):
            weight = float(columns[0, i])
            if weight == 0:
                continue
            value = float(effects.values[level, i]) * weight if level >= 0 else 0.0
            shown = ", ".join(_shown(row, effects.variables))
            name = shown if term == "(Intercept)" else f"{term} of {shown}"
            parts.append(PredictionPart(term=name, kind="random", value=value, known=level >= 0))
    return tuple(parts)


def _shown(row: pa.Table, variables: tuple[str, ...]) -> Iterator[str]:
    for name in variables:
        yield f"{name} {row[name][0].as_py()}"


def _row(fits: RankFits, configuration: Mapping[str, str]) -> pa.Table:
    """Return the configuration as a table of one row, with the columns that the fit needs."""
    form = fits.form
    given = _given(fits, configuration)
    columns: dict[str, pa.Array] = {}
    for name, value in given.items():
        number = parse_number(value) if name in form.numeric else None
        if name in form.numeric and number is None:
            raise ScoresError(f"--predict {name}={value}: {name!r} is a number in this form")
        columns[name] = pa.array([value]).dictionary_encode() if number is None else pa.array([number])
    for name, factor in form.logs.items():
        amount = parse_number(given[factor])
        if amount is None or amount <= 0:
            raise ScoresError(f"--predict {factor}={given[factor]}: {factor!r} is a positive number in this form")
        columns[name] = pa.array([math.log10(amount)])
    for name, indicator in form.indicators.items():
        value, levels = given[indicator.factor], fits.runs.factors[indicator.factor].names
        if value not in levels:
            raise ScoresError(f"--predict {indicator.factor}={value}: the fit knows {list_names(levels)} only")
        columns[name] = pa.array([float(value == indicator.level)])
    return pa.table(columns)


def _given(fits: RankFits, configuration: Mapping[str, str]) -> dict[str, str]:
    """Return a value for every column of the form; 1e-5 is the level that the table calls 1e-05."""
    runs = fits.runs
    roles = {"system": runs.system_name, "dataset": runs.dataset_name}
    used = [t.name for t in fits.form.treatments if t.treated != "left out"]
    needed = (runs.system_name, runs.dataset_name, *used)
    named = [name if name in needed else roles.get(name, name) for name in configuration]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ScoresError(f"--predict: there are two values of {twice[0]!r}: give one")
    given = dict(zip(named, configuration.values(), strict=True))
    unknown = [name for name in given if name not in (*needed, *runs.factors)]
    lacking = [name for name in needed if name not in given]
    if unknown or lacking:
        what = f"{list_names(unknown)} is no part of it" if unknown else f"there is no value of {list_names(lacking)}"
        raise ScoresError(f"--predict: {what}; give a value for each of {list_names(needed)}")
    return {name: _level(runs.factors[name].names, given[name]) if name in used else given[name] for name in needed}


def _level(levels: Sequence[str], value: str) -> str:
    """Return the level that a value is, by its text or as a number; the value itself if it is none."""
    number = parse_number(value)
    if value in levels or number is None:
        return value
    return next((level for level in levels if parse_number(level) == number), value)
