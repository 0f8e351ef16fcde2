"""Whether a nuisance column that is taken as a number has a line for its effect: the rows may bend away from it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.design import parse_formula
from holdsup.errors import FitError
from holdsup.fit import fit_lmm
from holdsup.verdict.phrases import say_p
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.random_terms import quote
from holdsup.verdict.ranking.term_records import Treatment
from holdsup.verdict.ranking.treatments import can_be_levels

__all__ = ["find_bends"]

Floats = NDArray[np.float64]
LEVEL = 0.01  # a warning in one of a hundred tables whose effects are lines
LEAST_VALUES = 3  # two values have a line through them whatever they do


def find_bends(fits: RankFits) -> Iterator[str]:
    """Yield the columns of numbers whose effect is no line, by a test of its square."""
    for treatment in fits.form.treatments:
        if treatment.treated in ("numeric", "log") and treatment.levels >= LEAST_VALUES and _is_line(fits, treatment):
            p = _test_square(fits, treatment)
            if p is not None and p <= LEVEL:
                line = f"a line in {'the logarithm of ' if treatment.treated == 'log' else ''}{treatment.name}"
                yield (
                    f"Scores bend away from {line} (its square has {say_p(p)}), so that what it adjusts is wrong: "
                    f"{_advise(fits, treatment)}."
                )


def _is_line(fits: RankFits, treatment: Treatment) -> bool:
    """Return whether the form has a line of a column: a formula may have its root or its square."""
    fixed = [f for term in parse_formula(fits.form.means).fixed for f in term if f.variable == treatment.name]
    return treatment.treated == "log" or {f.function for f in fixed} in ({""}, {"center"}, {"scale"})


def _test_square(fits: RankFits, treatment: Treatment) -> float | None:
    """Return the p of the square beside the line, with a slope by system and dataset of its own; None without a fit.

    Without that slope a bend that differs from cell to cell would count as one bend found in every row.
    """
    runs, form = fits.runs, fits.form
    amounts = runs.numbers(treatment.name)
    if amounts is None:
        return None
    scale = np.log10(amounts) if treatment.treated == "log" else amounts
    square = ((scale - scale.mean()) / scale.std()) ** 2
    frame = form.frame(runs)
    name = "square"
    while name in frame.column_names:
        name += "_"
    cells = cross(runs.system, runs.dataset)
    by_cell = f" + (0 + {name} | {quote(runs.system_name)}:{quote(runs.dataset_name)})"
    inside = cross(cells.codes, runs.factors[treatment.name]).count > cells.count
    formula = f"{form.means} + {name}{by_cell if inside else ''}"
    try:
        fit = fit_lmm(formula, frame.append_column(name, pa.array(square)), "reml")
    except FitError:
        return None
    return next((effect.p for effect in fit.fixed if effect.name == name), None)


def _advise(fits: RankFits, treatment: Treatment) -> str:
    """Return what to give instead."""
    name, amounts = treatment.name, fits.runs.numbers(treatment.name)
    options = ["fixed"] if can_be_levels(fits.runs, name) else []
    if treatment.treated == "numeric" and amounts is not None and amounts.min() > 0 and fits.form.name != "formula":
        options.append("log")
    given = " or ".join(f"--treat {shlex.quote(f'{name}={how}')}" for how in options)
    return f"give {given}" if given else "put its values into a few bins, each called by a word"
