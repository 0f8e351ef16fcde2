"""From the gap between two systems as a table shows it to the gap that is theirs, one isolated cause after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.design.matrices import code_fitted_rows
from holdsup.errors import ScoresError, list_names, quote_names
from holdsup.fit import random_effects
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.records import RankedSystem, WaterfallStep
from holdsup.verdict.ranking.table import RunTable

Floats = NDArray[np.float64]
ISOLATED = "random effects"  # the step after which the gap is that of the adjusted means
# Of the largest score: gaps are differences of sums of scores, of which so much is lost, so that a smaller change is
# none. In a balanced table every change but the shrinkage is.
ROUNDING = 1e-12


def choose_pair(systems: Sequence[RankedSystem], asked: Sequence[str] | None) -> tuple[str, str]:
    """Return the two systems whose gap is explained: as asked, else the first two of the ranking."""
    names = [system.name for system in systems]
    if asked is None:
        return names[0], names[1]
    unknown = [name for name in asked if name not in names]
    if len(asked) != 2 or len(set(asked)) != 2 or unknown:
        raise ScoresError(
            f"--pair {quote_names(asked)}: give two different systems of {list_names(names)}; one whose name holds "
            "commas is quoted: '\"A, v2\",B'"
        )
    return asked[0], asked[1]


def isolate_gap(fits: RankFits, systems: Sequence[RankedSystem], pair: tuple[str, str]) -> tuple[WaterfallStep, ...]:
    """Return the steps from the raw gap to the isolated one, and its shrinkage; their changes add up exactly.

    Datasets come first, each with the same weight; then the fixed effects of nuisance factors, in the order of the
    table; then what the fit's random effects make of unequal numbers of rows.
    """
    left, right = pair
    gaps = [("raw gap", _raw(systems, left) - _raw(systems, right))]
    gaps.extend(_isolated(fits, left, right))
    a, b = (float(fits.adjusted_means[fits.runs.system.names.index(name)]) for name in pair)
    gaps.append((ISOLATED, a - b))
    shrunken = {system.name: system.shrunken for system in systems if system.shrunken is not None}
    if left in shrunken and right in shrunken:
        gaps.append(("shrinkage", shrunken[left] - shrunken[right]))
    steps, before, nil = [], 0.0, ROUNDING * float(np.abs(fits.runs.score).max())
    for step, gap in gaps:
        now = before if abs(gap - before) <= nil else gap
        steps.append(WaterfallStep(left=left, right=right, step=step, change=now - before, gap=now))
        before = now
    return tuple(steps)


def _raw(systems: Sequence[RankedSystem], name: str) -> float:
    return next(system.raw_mean for system in systems if system.name == name)


def _isolated(fits: RankFits, left: str, right: str) -> Iterator[tuple[str, float]]:
    """Yield the gap over shared datasets, then with one nuisance factor after the other taken out of the scores."""
    runs, model = fits.runs, fits.means.model()
    pair = [runs.system.names.index(name) for name in (left, right)]
    scores = runs.score.copy()
    if not np.isfinite(_gap(runs.cell_means(scores), pair)):
        return  # they share no dataset: only the fit can compare them
    within = fits.isolates_datasets()  # else rows count equally, as in the raw gap
    if within:
        yield "datasets weighed equally", _gap(runs.cell_means(scores), pair)
    coded = code_fitted_rows(model.design).fixed
    for name in runs.factors:
        columns = [i for i, kept in enumerate(model.engine.kept) if _mentions(fits, kept, name)]
        if columns:
            scores = scores - coded[:, model.engine.kept[columns]] @ model.beta[columns]
        elif name in fits.form.drawn:
            scores = scores - _drawn(fits, name)
        else:
            continue
        yield name, _gap(runs.cell_means(scores) if within else _system_means(runs, scores), pair)


def _system_means(runs: RunTable, scores: Floats) -> Floats:
    """Return the mean of each system's rows, shape (systems, 1)."""
    return np.array([[scores[runs.system.codes == code].mean()] for code in range(runs.system.count)])


def _drawn(fits: RankFits, name: str) -> Floats:
    """Return the predicted effect of a random nuisance column in each row; 0 where its term was left out."""
    labels = fits.runs.factors[name]
    for effects in random_effects(fits.means, with_sd=False):
        if effects.group == name:
            by_level = dict(zip((level for (level,) in effects.levels), effects.values[:, 0], strict=True))
            return np.array([by_level[level] for level in labels.names])[labels.codes]
    return np.zeros(len(labels))


def _gap(cells: Floats, pair: Sequence[int]) -> float:
    gaps = cells[pair[0]] - cells[pair[1]]
    shared = np.isfinite(gaps)
    return float(gaps[shared].mean()) if shared.any() else float("nan")


def _mentions(fits: RankFits, column: int, name: str) -> bool:
    """Return whether a fixed column belongs to a nuisance factor, itself or by a column that the form adds."""
    design = fits.means.model().design
    spec, added = design.fixed[column], fits.form.added()
    own = [coded for f, coded in design.variables.coded.items() if added.get(f.variable, f.variable) == name]
    levels, numbers = {index for index, _ in spec.levels}, set(spec.numbers)
    return any(coded.factor in levels or numbers & {index for _, index in coded.numbers} for coded in own)
