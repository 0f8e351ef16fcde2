"""From the gap between two systems as a table shows it to the gap that is theirs, one isolated cause after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.design.newdata import code_fitted_rows
from holdsup.errors import ScoresError, list_names
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.records import RankedSystem, WaterfallStep

__all__ = ["choose_pair", "isolate_gap"]

Floats = NDArray[np.float64]


def choose_pair(
    systems: Sequence[RankedSystem], asked: Sequence[str] | None, *, lower_is_better: bool
) -> tuple[str, str]:
    """Return the two systems whose gap is explained: as asked, else the first two by their raw means."""
    names = [system.name for system in systems]
    if asked is not None:
        unknown = [name for name in asked if name not in names]
        if len(asked) != 2 or len(set(asked)) != 2 or unknown:
            raise ScoresError(f"--pair {','.join(asked)}: give two different systems of {list_names(names)}")
        return asked[0], asked[1]
    first, second = sorted(systems, key=lambda s: s.raw_mean, reverse=not lower_is_better)[:2]
    return first.name, second.name


def isolate_gap(fits: RankFits, systems: Sequence[RankedSystem], pair: tuple[str, str]) -> tuple[WaterfallStep, ...]:
    """Return the steps from the raw gap to the isolated one, and its shrinkage; their changes add up exactly.

    Datasets come first, each with the same weight; then the fixed effects of nuisance factors, in the order of the
    table; then what the fit's random effects make of unequal numbers of rows.
    """
    left, right = pair
    gaps = [("raw gap", _raw(systems, left) - _raw(systems, right))]
    gaps.extend(_isolated(fits, left, right))
    model = fits.means.model()
    gaps.append(("random effects", float((fits.weights[left] - fits.weights[right]) @ model.beta)))
    shrunken = {system.name: system.shrunken for system in systems}
    a, b = shrunken[left], shrunken[right]
    if a is not None and b is not None:
        gaps.append(("shrinkage", a - b))
    before = [0.0, *(gap for _, gap in gaps)]
    return tuple(
        WaterfallStep(left=left, right=right, step=step, change=gap - before[i], gap=gap)
        for i, (step, gap) in enumerate(gaps)
    )


def _raw(systems: Sequence[RankedSystem], name: str) -> float:
    return next(system.raw_mean for system in systems if system.name == name)


def _isolated(fits: RankFits, left: str, right: str) -> Iterator[tuple[str, float]]:
    """Yield the gap over shared datasets, then with one nuisance factor after the other taken out of the scores."""
    runs, model = fits.runs, fits.means.model()
    pair = [runs.system.names.index(name) for name in (left, right)]
    scores = runs.score.copy()
    if not np.isfinite(_gap(runs.cell_means(scores), pair)):
        return  # they share no dataset: only the fit can compare them
    yield "datasets weighed equally", _gap(runs.cell_means(scores), pair)
    coded = code_fitted_rows(model.design).fixed
    for name in runs.factors:
        columns = [i for i, kept in enumerate(model.engine.kept) if _mentions(fits, kept, name)]
        if columns:
            scores = scores - coded[:, model.engine.kept[columns]] @ model.beta[columns]
            yield name, _gap(runs.cell_means(scores), pair)


def _gap(cells: Floats, pair: Sequence[int]) -> float:
    gaps = cells[pair[0]] - cells[pair[1]]
    shared = np.isfinite(gaps)
    return float(gaps[shared].mean()) if shared.any() else float("nan")


def _mentions(fits: RankFits, column: int, name: str) -> bool:
    """Return whether a fixed column belongs to a nuisance factor, itself or by an indicator."""
    design = fits.means.model().design
    spec = design.fixed[column]
    names = {name, *(key for key, i in fits.form.indicators.items() if i.factor == name)}
    for factor, coded in design.variables.coded.items():
        if factor.variable in names:
            if coded.factor is not None and any(index == coded.factor for index, _ in spec.levels):
                return True
            if any(index in spec.numbers for _, index in coded.numbers):
                return True
    return False
