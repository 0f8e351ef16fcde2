"""What named ingredients of systems add: system-level columns as fixed effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.design import parse_formula
from holdsup.design.terms import INTERCEPT, Factor
from holdsup.errors import ScoresError, list_names
from holdsup.fit import Contrast, LmmFit, fit_lmm
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.tails import t_tail
from holdsup.verdict.ranking.contrasts import compare_by_dataset
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.formulas import write_formula
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import Contribution

__all__ = ["find_contributions"]

Floats = NDArray[np.float64]


def find_contributions(fits: RankFits, *, level: float) -> tuple[Contribution, ...]:
    """Return the fixed effect of every ingredient, in the place of systems.

    Ingredients that tell all systems apart replace their random effect, of which nothing is left; an ingredient is
    then a combination of means, tested like a contrast. Fewer stand beside it, and have as many degrees of freedom as
    there are systems to tell them from chance.
    """
    runs = fits.runs
    if not runs.ingredients:
        return ()
    amounts = _amounts(runs)
    saturated = amounts.shape[1] + 1 == runs.system.count
    fit = _fit(fits, saturated=saturated, level=level)
    spare = runs.system.count - 1 - amounts.shape[1]
    combinations = np.linalg.pinv(np.column_stack([np.ones(len(amounts)), amounts]))[1:]
    rows = []
    for number, name in enumerate(runs.ingredients):
        pooled = next(effect for effect in fit.fixed if effect.name == name)
        own = _by_dataset(fits, combinations[number], level) if saturated else None
        found = own or (pooled if saturated else _capped(pooled, spare, level))
        rows.append(
            Contribution(
                name=name,
                systems=tuple(s for s, amount in zip(runs.system.names, amounts[:, number], strict=True) if amount),
                estimate=found.estimate,
                se=found.se,
                df=found.df,
                t=found.t,
                p=found.p,
                log10_p=found.log10_p,
                low=found.low,
                high=found.high,
                saturated=saturated,
                method="pooled" if own is None else "dataset differences",
                pooled_p=pooled.p,
            )
        )
    return tuple(rows)


def _amounts(runs: RunTable) -> Floats:
    """Return how much of each ingredient each system has, shape (systems, ingredients)."""
    shown = [int(np.argmax(runs.system.codes == code)) for code in range(runs.system.count)]
    amounts = np.stack([values[shown] for values in runs.ingredients.values()], axis=1)
    if np.linalg.matrix_rank(np.column_stack([np.ones(len(amounts)), amounts])) <= amounts.shape[1]:
        raise ScoresError(
            f"--contribution {','.join(runs.ingredients)}: {runs.system.count} systems cannot tell these "
            f"{amounts.shape[1]} ingredients apart; leave one of {list_names(runs.ingredients)} out"
        )
    return amounts


def _fit(fits: RankFits, *, saturated: bool, level: float) -> LmmFit:
    """Return the fit with random systems, ingredients added; without the systems where nothing is left of them."""
    runs, parsed = fits.runs, parse_formula(fits.form.variances)
    added = tuple((Factor(name),) for name in runs.ingredients)
    fixed = (INTERCEPT, *added, *(term for term in parsed.fixed if term))
    random = tuple(term for term in parsed.random if not saturated or term.group != (runs.system_name,))
    formula = write_formula(replace(parsed, fixed=fixed, random=random))
    return fit_lmm(formula, fits.form.frame(runs), "reml", level=level)


def _by_dataset(fits: RankFits, combination: Floats, level: float) -> Contrast | None:
    """Return the test of a combination of adjusted means, dataset by dataset, as contrasts have it."""
    found = compare_by_dataset(fits, combination, fits.cells, fits.combine, level=level)
    if found is None:
        return None
    t = found.estimate / found.se if found.se else np.nan
    return Contrast("", found.estimate, found.se, found.df, t, found.p, found.log10_p, found.low, found.high)


def _capped(found: Contrast, df: int, level: float) -> Contrast:
    """Return an effect with no more degrees of freedom than the systems leave."""
    if found.df <= df:
        return found
    tail = t_tail(found.t, df)
    reach = t_quantile((1 + level) / 2, df) * found.se
    return replace(
        found, df=float(df), p=tail.p, log10_p=tail.log10_p, low=found.estimate - reach, high=found.estimate + reach
    )
