"""Differences of adjusted means: of every pair of systems, and what their ingredients add."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.design import parse_formula
from holdsup.design.formulas import INTERCEPT, Factor, write_formula
from holdsup.errors import ScoresError, list_names
from holdsup.fit import Contrast, LmmFit, fit_lmm
from holdsup.numerics.decisions import decide_all
from holdsup.numerics.differences import choose_tests
from holdsup.numerics.distributions import t_quantile, t_tail
from holdsup.numerics.ranks import signed_rank_test
from holdsup.numerics.spread import Spread
from holdsup.verdict.ranking.combinations import FixedEffects, Tests, combine
from holdsup.verdict.ranking.fits import RankFits
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

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Truths = NDArray[np.bool_]
NIL = 1e-12  # share of a variance, or of a weight, that is rounding
MOST_AT_ONCE = 2_000  # pairs whose differences on all datasets are in memory


def contrast_systems(fits: RankFits, *, level: float, lower_is_better: bool) -> tuple[RankContrast, ...]:
    """Return the contrast of every pair, with the p and limits of all pairs at once, by Bonferroni.

    On the left stands the system with the better adjusted mean. Over the datasets that both have it may be behind.
    """
    order = fits.order(fits.adjusted_means, lower_is_better=lower_is_better)
    pairs = order[np.column_stack(np.triu_indices(len(order), 1))]
    tighter = 1 - (1 - level) / len(pairs)
    known = fits.know_differences()
    parts = np.array_split(pairs, math.ceil(len(pairs) / MOST_AT_ONCE))
    found = [row for part in parts for row in _contrast(fits, known, part, level, tighter)]
    return tuple(RankContrast(**row, **_adjust(row, len(pairs))) for row in found)


def _adjust(row: dict[str, Any], count: int) -> dict[str, Any]:
    """Return Bonferroni's p of a pair, the one whose inversion is its simultaneous CI."""
    alone = row["p_signed_rank"]
    return {
        "p_adjusted": min(1.0, count * row["p"]),
        "log10_p_adjusted": min(0.0, row["log10_p"] + math.log10(count)),
        "p_signed_rank_adjusted": None if alone is None else min(1.0, count * alone),
    }


def _contrast(fits: RankFits, known: FixedEffects, pairs: Ints, level: float, tighter: float) -> list[dict[str, Any]]:
    """Return the contrasts of pairs, not adjusted; their simultaneous limits have the level `tighter`."""
    (left, right), signs = pairs.T, np.tile([1.0, -1.0], (len(pairs), 1))
    gaps = fits.adjusted_means[left] - fits.adjusted_means[right]
    pooled = known.test(gaps, pairs, signs, level)
    own, wide, other = (
        compare_by_dataset(fits, known, pairs, signs, fits.cells, level=each, otherwise=otherwise)
        for each, otherwise in ((level, False), (tighter, False), (level, True))
    )
    if fits.averages:
        # A variance that is borrowed from other systems would be surer of two scores than of four of its own.
        tested, nil, far = np.isfinite(own.se), np.zeros(len(pairs)), np.full(len(pairs), np.inf)
        none = Tests(gaps, nil + np.nan, nil + np.nan, nil + 1, nil, -far, far, nil > 0)
        own, wide = own.where(tested, none), wide.where(tested, none)
        method = np.where(tested, np.where(own.with_runs, WITH_RUNS, DIFFERENCES), NOT_TESTED)
    else:
        # Datasets that one of them lacks count by weights that are estimated; Satterthwaite's t takes them for known.
        lacking = np.maximum(0.0, combine(fits.lacking, pairs, signs)) if fits.form.averages else 0.0
        own, wide = (known.test(gaps, pairs, signs, each, lacking) for each in (level, tighter))
        method = np.full(len(pairs), "pooled")
    names, reach = np.array(fits.runs.system.names, object), (wide.high - wide.low) / 2
    columns = {
        "left": names[left], "right": names[right], "difference": own.estimate,
        **{name: getattr(own, name) for name in ("se", "df", "low", "high", "p", "log10_p")},
        "low_simultaneous": own.estimate - reach, "high_simultaneous": own.estimate + reach, "method": method,
        "datasets": np.isfinite(fits.cells[pairs]).all(axis=1).sum(axis=1), "pooled_difference": gaps,
        **{f"pooled_{name}": getattr(pooled, name) for name in ("se", "df", "p")},
        **{f"{name}_other_reading": np.where(np.isnan(other.se), None, getattr(other, name))
           for name in ("p", "low", "high")},
        "p_signed_rank": _rank_differences(fits, pairs, method == DIFFERENCES),
    }  # fmt: skip
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _rank_differences(fits: RankFits, pairs: Ints, chosen: Truths) -> NDArray[np.object_]:
    """Return the signed-rank p of chosen pairs, None elsewhere.

    There is none where scores were adjusted for settings that are spread unevenly: ranks can't carry that error.
    """
    found = np.full(len(pairs), None, object)
    if chosen.any() and np.nanmax(np.abs(fits.shifts[1]), initial=0.0) <= NIL:
        left, right = fits.cells[pairs[chosen].T]
        found[chosen] = signed_rank_test(left - right, scale=float(np.nanmax(np.abs(fits.cells))))
    return found


def compare_by_dataset(
    fits: RankFits,
    known: FixedEffects,
    systems: Ints,
    weights: Floats,
    cells: Floats,
    *,
    level: float = 0.95,
    otherwise: bool = False,
) -> Tests:
    """Return the t-tests of combinations of systems, dataset by dataset; NaN where there is none.

    The spread of its own differences between datasets is what counts: the fit takes the interactions of all systems
    to have one variance, and where they have not, its test of a pair is wrong. Runs that were each scored on all
    datasets add a part of their own, as in `compare`, which is all there is where the differences are equal. Where too
    few datasets are shared, or nothing varies, there is none. Other forms than the default one may compare systems
    elsewhere than at the average of all settings, and random levels that are spread unevenly cannot be taken out of the
    cells by hand: there the fit's own test stands.

    Parameters
    ----------
    known : the fit by which the cells were adjusted
    systems, weights : of each combination, shape (combinations, systems of each)
    cells : the adjusted mean of each system on each dataset, NaN where there is none
    otherwise : whether runs are read the other way; NaN where that gives the same
    """
    means = cells[systems]
    shared: Truths = np.asarray(np.isfinite(means).all(axis=1))
    count = np.maximum(shared.sum(axis=1), LEAST_SHARED)
    means = np.where(shared[:, None], means, 0.0)
    ahead, behind = ((np.maximum(side, 0.0)[..., None] * means).sum(axis=1) for side in (weights, -weights))
    estimate = (ahead - behind).sum(axis=1) / count
    these = (np.where(shared, ahead - behind - estimate[:, None], 0.0) ** 2).sum(axis=1) / (count * (count - 1))
    scale = np.maximum(np.abs(ahead), np.abs(behind)).max(axis=1)
    apart = fits.runs.nested_runs != otherwise  # each dataset has its own runs: their luck is in the spread
    measured = otherwise or not apart
    parts = fits.measure_runs(systems, shared) if measured else np.full((*systems.shape, 3), np.nan)
    counted = np.isfinite(parts).all(axis=(1, 2))
    tested = fits.averages & (shared.sum(axis=1) >= LEAST_SHARED) & (counted | (not otherwise))
    found = np.full((7, len(systems)), np.nan)
    for with_runs in (False, True):
        rows = tested & ((counted & (not apart)) == with_runs)
        if not rows.any():
            continue
        squares = weights[rows].T ** 2 if with_runs else ()
        part, noise, df = np.moveaxis(parts[rows], (2, 1), (0, 1))
        spread = Spread(
            estimate[rows], these[rows], count[rows] - 1.0,
            tuple(w * each for w, each in zip(squares, part, strict=False)),
            tuple(w * each for w, each in zip(squares, noise, strict=False)), tuple(df[: len(squares)]),
        )  # fmt: skip
        own = decide_all(estimate[rows], choose_tests([spread], new_runs=with_runs), scale[rows], level)
        found[:, rows] = own.estimate, own.se, own.df, own.p, own.log10_p, own.low, own.high
    found[:, ~(found[1] > 0)] = np.nan  # nothing varies: a system that is another one moved by a constant
    estimate, se, p_df, p, log10_p, low, high = found
    tests = Tests(estimate, se, p_df, p, log10_p, low, high, np.asarray(counted & (not apart)))
    return _add_adjustment(tests, fits, known, systems, weights, shared, level) if tested.any() else tests


def _add_adjustment(
    found: Tests, fits: RankFits, known: FixedEffects, systems: Ints, weights: Floats, shared: Truths, level: float
) -> Tests:
    """Return differences with the variance of the nuisance effects that they were adjusted by.

    Of what these moved, the mean over datasets has an error that is the same on all of them, which no spread shows; and
    the rest has taken a part of the spread away, as residuals are smaller than errors. Both are the fit's, with its
    degrees of freedom: docs/maths/rank.md.
    """
    columns, shifts = fits.shifts
    if not len(columns):
        return found
    count = np.maximum(shared.sum(axis=1), LEAST_SHARED)
    moved = np.where(shared[..., None], (weights[..., None, None] * shifts[systems]).sum(axis=1), 0.0)
    mean = moved.sum(axis=1) / count[:, None]
    unseen = known.variance_of(mean, columns)
    rest = np.where(shared[..., None], moved - mean[:, None], 0.0)
    taken = known.variance_of(rest, columns).sum(axis=1) / (count * (count - 1))
    own, (_, df) = found.se**2, known.measure(systems, weights)
    variance = own + taken + unseen
    # The fit knows the spread best, so its error is a part of any other estimate's: their covariance is its variance.
    # What is left of count - 1 df after the adjustment is own / (own + taken).
    both = variance**2 / (own * (own + taken) / found.df + (variance**2 - own**2) / df)
    more = variance - own > NIL * own
    wider = Tests.by_t(found.estimate, np.where(more, variance, np.nan), both, level)
    return replace(wider.where(more, found), with_runs=found.with_runs)


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
                method="pooled" if own is None else DIFFERENCES,
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
    used = np.flatnonzero(np.abs(combination) > NIL * np.abs(combination).max())
    known = fits.know_differences()
    found = compare_by_dataset(fits, known, used[None], combination[None, used], fits.cells, level=level)
    if math.isnan(found.se[0]):
        return None
    estimate, se, df, p, log10_p, low, high = (float(getattr(found, f.name)[0]) for f in fields(found)[:7])
    return Contrast("", estimate, se, df, estimate / se, p, log10_p, low, high)


def _capped(found: Contrast, df: int, level: float) -> Contrast:
    """Return an effect with no more degrees of freedom than the systems leave."""
    if found.df <= df:
        return found
    tail = t_tail(found.t, df)
    reach = t_quantile((1 + level) / 2, df) * found.se
    return replace(
        found, df=float(df), p=tail.p, log10_p=tail.log10_p, low=found.estimate - reach, high=found.estimate + reach
    )
