"""Differences of adjusted means: of every pair of systems, and what their ingredients add."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdsup.design import parse_formula
from holdsup.design.formulas import INTERCEPT, Factor, write_formula
from holdsup.errors import ScoresError, list_names
from holdsup.fit import Contrast, LmmFit, fit_lmm
from holdsup.numerics.decisions import Difference, decide
from holdsup.numerics.differences import new_runs_test, these_runs_test
from holdsup.numerics.distributions import t_quantile, t_tail
from holdsup.numerics.spread import find_clusters, measure_spread
from holdsup.verdict.comparison.contrasts import adjust_p
from holdsup.verdict.ranking.fits import RankFits, RunPart
from holdsup.verdict.ranking.records import (
    DIFFERENCES,
    LEAST_SHARED,
    NOT_TESTED,
    WITH_RUNS,
    Contribution,
    RankContrast,
    copy_test,
)
from holdsup.verdict.ranking.table import RunTable

__all__ = ["compare_by_dataset", "contrast_systems", "find_contributions"]

Floats = NDArray[np.float64]
NEW_DATASETS = "new-datasets"  # the claim of a test in which runs have no part of their own
NIL = 1e-12  # share of a variance, or of a weight, that is rounding
NAMES = {NEW_DATASETS: DIFFERENCES}  # of methods, by the claim of the test
Tested = TypeVar("Tested", Difference, Contrast)


def contrast_systems(fits: RankFits, *, level: float, lower_is_better: bool) -> tuple[RankContrast, ...]:
    """Return the contrast of every pair, with Holm's p and simultaneous limits.

    On the left stands the system with the better adjusted mean. Over the datasets that both have it may be behind.
    """
    means = np.array([fits.adjusted_mean(name) for name in fits.runs.system.names])
    names = [fits.runs.system.names[i] for i in fits.order(means, lower_is_better=lower_is_better)]
    pairs = list(itertools.combinations(names, 2))
    tighter = 1 - (1 - level) / len(pairs)
    found = [_contrast(fits, left, right, level, tighter) for left, right in pairs]
    adjusted = adjust_p([(c.p, c.log10_p) for c in found])
    return tuple(
        replace(c, p_adjusted=p, log10_p_adjusted=log10_p) for c, (p, log10_p) in zip(found, adjusted, strict=True)
    )


def _contrast(fits: RankFits, left: str, right: str, level: float, tighter: float) -> RankContrast:
    """Return a pair's contrast alone; its simultaneous limits have the level `tighter`."""
    weights = fits.weights[left] - fits.weights[right]
    pooled = fits.means.model().combine(weights, f"{left} - {right}", level)
    names = fits.runs.system.names
    combination = np.array([(name == left) - float(name == right) for name in names])
    datasets = int((np.isfinite(fits.cells[[names.index(left), names.index(right)]])).all(axis=0).sum())
    own, other = (
        compare_by_dataset(fits, combination, fits.cells, fits.combine, level=level, otherwise=otherwise)
        for otherwise in (False, True)
    )
    found = pooled if own is None else own
    tested = not fits.averages or own is not None
    if fits.form.averages and not fits.averages:
        # Datasets that one of them lacks count by weights that are estimated; Satterthwaite's t takes them for known.
        lacking = max(0.0, float(weights @ fits.lacking @ weights))
        found = _widen(pooled, pooled.se**2 + lacking, pooled.df, level)
    if not tested:
        # A variance that is borrowed from other systems would be surer of two scores than of four of its own.
        found = replace(pooled, se=math.nan, df=math.nan, p=1.0, log10_p=0.0, low=-math.inf, high=math.inf)
    reach = t_quantile((1 + tighter) / 2, found.df) * found.se if tested else math.inf
    if own is not None and own.claim != NEW_DATASETS:  # degrees of freedom go with the level
        wide = compare_by_dataset(fits, combination, fits.cells, fits.combine, level=tighter)
        reach = (wide.high - wide.low) / 2 if wide is not None else reach
    return RankContrast(
        left=left,
        right=right,
        difference=found.estimate,
        se=found.se,
        df=found.df,
        low=found.low,
        high=found.high,
        p=found.p,
        log10_p=found.log10_p,
        p_adjusted=math.nan,
        log10_p_adjusted=math.nan,
        low_simultaneous=found.estimate - reach,
        high_simultaneous=found.estimate + reach,
        method=NOT_TESTED if not tested else "pooled" if own is None else NAMES.get(own.claim, WITH_RUNS),
        datasets=datasets,
        pooled_difference=pooled.estimate,
        pooled_se=pooled.se,
        pooled_df=pooled.df,
        pooled_p=pooled.p,
        p_other_reading=None if other is None else other.p,
        low_other_reading=None if other is None else other.low,
        high_other_reading=None if other is None else other.high,
    )


def compare_by_dataset(
    fits: RankFits,
    combination: Floats,
    cells: Floats,
    combine: Callable[[Floats], Contrast],
    *,
    level: float = 0.95,
    otherwise: bool = False,
) -> Difference | None:
    """Return the t-test on a combination of systems, dataset by dataset; None where it cannot be had.

    The spread of its own differences between datasets is what counts: the fit takes the interactions of all systems
    to have one variance, and where they have not, its test of a pair is wrong. Runs that were each scored on all
    datasets add a part of their own, as in `compare`, which is all there is where the differences are equal. Where too
    few datasets are shared, or nothing varies, there is none. Other forms than the default one may compare systems
    elsewhere than at the average of all settings, and random levels that are spread unevenly cannot be taken out of the
    cells by hand: there the fit's own test stands.

    Parameters
    ----------
    combination : a weight for each system
    cells : the adjusted mean of each system on each dataset, NaN where there is none
    combine : measures a combination of the fixed effects by which the cells were adjusted
    otherwise : whether runs are read the other way: None where that gives the same
    """
    used = np.abs(combination) > NIL * np.abs(combination).max()
    weights, means = combination[used, None], cells[used]
    shared = np.isfinite(means).all(axis=0)
    if not fits.averages or int(shared.sum()) < LEAST_SHARED:
        return None
    parts = fits.measure_runs(np.flatnonzero(used), shared, declared=fits.runs.nested_runs != otherwise)
    if otherwise and parts == fits.measure_runs(np.flatnonzero(used), shared, declared=fits.runs.nested_runs):
        return None
    ahead, behind = ((np.maximum(side, 0.0) * means[:, shared]).sum(axis=0) for side in (weights, -weights))
    try:
        found = _test(ahead - behind, weights[:, 0], parts, float(np.abs([ahead, behind]).max()), level)
    except ValueError:
        return None  # nothing varies: a system that is another one moved by a constant
    if found.se == 0:
        return None
    averages = np.stack([fits.weights[name] for name in fits.runs.system.names])
    moved = np.tensordot(combination[used], fits.shifts[used][:, shared], axes=1)
    return _with_adjustment(found, moved, combine, combine(combination[used] @ averages[used]).df, level)


def _test(
    differences: Floats, weights: Floats, parts: Sequence[RunPart] | None, scale: float, level: float
) -> Difference:
    """Return the t-test on differences between datasets, with what the runs of each system add, if they add a part."""
    spread = measure_spread([], differences, find_clusters(None, len(differences)))
    if not parts:
        return decide(float(spread.estimate), [these_runs_test([spread], NEW_DATASETS)], scale, level)
    squares = weights**2
    spread = replace(
        spread,
        runs=tuple(np.asarray(w * part.part) for w, part in zip(squares, parts, strict=True)),
        noise=tuple(np.asarray(w * part.noise) for w, part in zip(squares, parts, strict=True)),
        run_df=tuple(part.df for part in parts),
    )
    return decide(float(spread.estimate), [new_runs_test([spread]), these_runs_test([spread])], scale, level)


def _with_adjustment(
    found: Difference, moved: Floats, combine: Callable[[Floats], Contrast], df: float, level: float
) -> Difference:
    """Return a difference with the variance of the nuisance effects that it was adjusted by.

    Of what they moved, the mean over datasets has an error that is the same on all of them, which no spread shows; and
    the rest has taken a part of the spread away, as residuals are smaller than errors. Both are the fit's, with its
    degrees of freedom: docs/maths/rank.md.

    Parameters
    ----------
    found : the difference, with the spread that is left between datasets
    moved : the combination of fixed effects that each dataset was moved by, shape (datasets, effects)
    df : the degrees of freedom that the fit has
    """
    count, mean = len(moved), moved.mean(axis=0)
    unseen = combine(mean).se ** 2
    taken = sum(combine(each).se ** 2 for each in moved - mean) / (count * (count - 1))
    own = found.se**2
    variance = own + taken + unseen
    if variance - own <= NIL * own:
        return found
    # The fit knows the spread best, so its error is a part of any other estimate's: their covariance is its variance.
    # What is left of count - 1 df after the adjustment is own / (own + taken).
    both = variance**2 / (own * (own + taken) / found.df + (variance**2 - own**2) / df)
    return _widen(found, variance, both, level)


def _widen(found: Tested, variance: float, df: float, level: float) -> Tested:
    """Return a difference with the test and the limits of another variance."""
    se = math.sqrt(variance)
    tail, reach = t_tail(found.estimate / se, df), t_quantile((1 + level) / 2, df) * se
    low, high = found.estimate - reach, found.estimate + reach
    return replace(found, se=se, df=df, p=tail.p, log10_p=tail.log10_p, low=low, high=high)


def find_contributions(fits: RankFits, *, level: float) -> tuple[Contribution, ...]:
    """Return the fixed effect of every ingredient, in the place of systems.

    Ingredients that tell all systems apart replace their random effect, of which nothing is left; an ingredient is
    then a combination of means, tested like a contrast. Fewer are shown with it, and have as many degrees of freedom as
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
                **copy_test(found),
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
