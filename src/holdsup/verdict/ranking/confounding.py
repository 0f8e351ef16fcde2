"""Where nuisance columns cannot be set apart from systems, or are no straight line."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.design import parse_formula
from holdsup.design.formulas import quote
from holdsup.errors import FitError, shell_names
from holdsup.fit import fit_lmm
from holdsup.results import Caution
from holdsup.verdict.phrases import join_names, say_p
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.records import Treatment
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.treatments import can_be_levels, goes_with, is_constant_in_cells

Floats = NDArray[np.float64]
BREADTH = 0.75  # of the range of an amount, below which a system is said to have a part of it only
LEVEL = 0.01  # a warning in one of a hundred tables whose effects are lines
LEAST_VALUES = 3  # two values have a line through them whatever they do


def find_confounded(fits: RankFits) -> Iterator[Caution]:
    """Yield which nuisance columns were left out, and which are confounded with systems in part."""
    runs = fits.runs
    for t in fits.form.treatments:
        name, labels = t.name, runs.factors[t.name]
        if t.treated == "left out":
            with_system = labels.count > 1 and goes_with(runs.system, labels)
            yield Caution(
                code="confounded-setting" if with_system else "left-out-column",
                severity="warning" if with_system else "note",
                message=f"Each system has one {name}: its effect is part of the system's."
                if with_system
                else f"Column {name} is left out: {t.why}.",
                advice=_advise_contribution(runs, name) if with_system else "",
            )
        elif t.treated in ("numeric", "log") and (numbers := runs.numbers(name)) is not None:
            yield from _disjoint(runs, name, numbers)
            yield from _narrow(runs, name, numbers, np.log10(numbers) if t.treated == "log" else numbers)
        elif t.treated == "fixed" or name in fits.form.drawn:
            yield from _uneven(runs, name, labels)
    yield from _tuned(fits)


def _advise_contribution(runs: RunTable, name: str) -> str:
    number = runs.factors[name].count < runs.system.count and runs.numbers(name) is not None
    return f"To see what it adds, give --contribution {shell_names([name])}." if number else ""


def _uneven(runs: RunTable, name: str, labels: Labels) -> Iterator[Caution]:
    """Yield the systems that have no row at some level of a factor, and the levels that one system alone has."""
    seen = np.zeros((runs.system.count, labels.count), bool)
    seen[runs.system.codes, labels.codes] = True
    levels, systems = np.array(labels.names, object), np.array(runs.system.names, object)
    lacking = [
        f"{system} ({join_names(levels[~row].tolist())})"
        for system, row in zip(systems, seen, strict=True)
        if not row.all()
    ]
    if lacking:
        yield Caution(
            code="missing-levels",
            about="table:systems",
            message=f"Never run at some levels of {name}: {join_names(lacking)}.",
            effect="Their means assume that these levels act as in other systems.",
            count=len(lacking),
        )
    if alone := levels[seen.sum(axis=0) == 1].tolist():
        yield Caution(
            code="confounded-levels",
            about="table:fixed",
            message=f"Levels of {name} that only one system has: {join_names(alone)} (of {labels.count}).",
            effect="Their effects are partly that system's.",
            count=len(alone),
        )


def _disjoint(runs: RunTable, name: str, numbers: Floats) -> Iterator[Caution]:
    """Yield two systems that have no value of an amount in common."""
    mine = [(numbers[runs.system.codes == code], system) for code, system in enumerate(runs.system.names)]
    spans = sorted((float(own.min()), float(own.max()), system) for own, system in mine if len(own))
    for (_, high, below), (low, _, above) in itertools.pairwise(spans):
        if low > high:
            yield Caution(
                code="confounded-range",
                message=f"Ranges of {name} don't overlap ({below} up to {high:g}, {above} from {low:g}).",
                effect="Its slope is partly a difference of systems.",
            )
            return


def _narrow(runs: RunTable, name: str, numbers: Floats, scale: Floats) -> Iterator[Caution]:
    """Yield which systems have a part of an amount's range only, where a line must reach beyond it."""
    mine = [runs.system.codes == code for code in range(runs.system.count)]
    narrow = [
        f"{system} ({numbers[rows].min():g} to {numbers[rows].max():g})"
        for system, rows in zip(runs.system.names, mine, strict=True)
        if np.ptp(scale[rows]) < BREADTH * np.ptp(scale)
    ]
    if narrow:
        yield Caution(
            code="narrow-range",
            about="table:systems",
            message=f"Run on only part of the range of {name} ({numbers.min():g} to {numbers.max():g}): "
            f"{join_names(narrow)}.",
            effect="Beyond it, their means assume a straight line.",
            count=len(narrow),
        )


def _tuned(fits: RankFits) -> Iterator[Caution]:
    """Yield the settings that are adjusted for, of which every system has one on each dataset."""
    runs, form = fits.runs, fits.form
    random = {t.name for t in form.treatments if t.treated in ("random", "left out")} - form.drawn
    names = [name for name in fits.isolated_columns() if name not in random and is_constant_in_cells(runs, name)]
    if names:
        kept = [t.name for t in form.treatments if t.treated != "left out" and t.name not in names]
        option = f"--nuisance {shell_names(kept)}" if kept else "a --nuisance of other columns"
        yield Caution(
            code="tuned-settings",
            message=f"Each system has one {join_names(names)} on each dataset: what tuning it gained is adjusted away.",
            advice=f"To rank systems as tuned, give {option}.",
        )


def find_bends(fits: RankFits) -> Iterator[Caution]:
    """Yield the columns of numbers whose effect is no line, by a test of its square."""
    for treatment in fits.form.treatments:
        if treatment.treated in ("numeric", "log") and treatment.levels >= LEAST_VALUES and _is_line(fits, treatment):
            p = _test_square(fits, treatment)
            if p is not None and p <= LEVEL:
                line = f"{'log ' * (treatment.treated == 'log')}{treatment.name}"
                yield Caution(
                    code="bent-line",
                    message=f"Scores don't follow a straight line in {line} (its square has {say_p(p)}).",
                    effect="The adjustment for it is wrong.",
                    advice=_advise_levels(fits, treatment),
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


def _advise_levels(fits: RankFits, treatment: Treatment) -> str:
    """Return what to give instead of a line."""
    name, amounts = treatment.name, fits.runs.numbers(treatment.name)
    options = ["fixed"] if can_be_levels(fits.runs, name) else []
    if treatment.treated == "numeric" and amounts is not None and amounts.min() > 0 and fits.form.name != "formula":
        options.append("log")
    given = " or ".join(f"--treat {shlex.quote(f'{name}={how}')}" for how in options)
    return f"Give {given}." if given else "Group its values into a few named bins."
