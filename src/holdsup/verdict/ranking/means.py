"""Adjusted means, contrasts of all pairs, places, and how sure the first place is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.fit import random_effects
from holdsup.numerics.differences import Difference, compare_these_runs
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.tails import t_tail
from holdsup.verdict.comparison.contrasts import adjust_p
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.records import RankContrast, RankedSystem

__all__ = ["DRAWS", "LEAST_DATASETS", "contrast_systems", "rank_means"]

Floats = NDArray[np.float64]
DRAWS = 10_000
NIL = 1e-12  # share of a variance that is rounding
LEAST_DATASETS = 3  # shared by a pair, from which the spread of its differences between datasets is used


def contrast_systems(fits: RankFits, *, level: float, lower_is_better: bool) -> tuple[RankContrast, ...]:
    """Return the contrast of every pair, the better system on the left, with Holm's p and simultaneous limits."""
    beta = fits.means.model().beta
    names = sorted(fits.weights, key=lambda name: float(fits.weights[name] @ beta), reverse=not lower_is_better)
    found = [_contrast(fits, left, right, level) for left, right in itertools.combinations(names, 2)]
    adjusted = adjust_p([(c.p, c.log10_p) for c in found])
    tighter = 1 - (1 - level) / len(found)
    rows = []
    for c, (p, log10_p) in zip(found, adjusted, strict=True):
        reach = t_quantile((1 + tighter) / 2, c.df) * c.se
        rows.append(
            replace(
                c, p_adjusted=p, log10_p_adjusted=log10_p, low_simultaneous=c.difference - reach,
                high_simultaneous=c.difference + reach,
            )
        )  # fmt: skip
    return tuple(rows)


def _contrast(fits: RankFits, left: str, right: str, level: float) -> RankContrast:
    """Return a pair's contrast alone.

    The spread of its own differences between datasets is what counts: the fit takes the interactions of all systems
    to have one variance, and where they have not, its test of a pair is wrong. Other forms than the default one may
    compare systems elsewhere than at the average of all settings, so that there the fit's own test stands.
    """
    pooled = fits.means.model().combine(fits.weights[left] - fits.weights[right], f"{left} - {right}", level)
    rows = [fits.cells[fits.runs.system.names.index(name)] for name in (left, right)]
    shared = np.isfinite(rows[0] - rows[1])
    by_dataset = fits.form.averages and int(shared.sum()) >= LEAST_DATASETS
    own = None
    if by_dataset:
        own = compare_these_runs(rows[0][shared, None], rows[1][shared, None], level=level)
        own = _with_adjustment(own, _adjustment_variance(fits, left, right, shared), pooled.df, level)
    return RankContrast(
        left=left,
        right=right,
        difference=pooled.estimate if own is None else own.estimate,
        se=pooled.se if own is None else own.se,
        df=pooled.df if own is None else own.df,
        low=pooled.low if own is None else own.low,
        high=pooled.high if own is None else own.high,
        p=pooled.p if own is None else own.p,
        log10_p=pooled.log10_p if own is None else own.log10_p,
        p_adjusted=math.nan,
        log10_p_adjusted=math.nan,
        low_simultaneous=math.nan,
        high_simultaneous=math.nan,
        method="pooled" if own is None else "dataset differences",
        datasets=int(shared.sum()),
        pooled_difference=pooled.estimate,
        pooled_se=pooled.se,
        pooled_df=pooled.df,
        pooled_p=pooled.p,
    )


def _adjustment_variance(fits: RankFits, left: str, right: str, shared: NDArray[np.bool_]) -> float:
    """Return what a contrast's variance has from the nuisance effects that it was adjusted by.

    Their error is the same on every dataset, so that the spread between datasets does not show it.
    """
    one, other = (fits.shifts[fits.runs.system.names.index(name)][shared] for name in (left, right))
    moved = (one - other).mean(axis=0)
    return float(moved @ fits.means.model().covariance @ moved)


def _with_adjustment(found: Difference, added: float, df: float, level: float) -> Difference:
    """Return a difference with a variance added, `df` those of what is added (Satterthwaite)."""
    if added <= NIL * found.se**2:
        return found
    variance = found.se**2 + added
    both = variance**2 / (found.se**4 / found.df + added**2 / df)
    se = math.sqrt(variance)
    tail, reach = t_tail(found.estimate / se, both), t_quantile((1 + level) / 2, both) * se
    low, high = found.estimate - reach, found.estimate + reach
    return replace(found, se=se, df=both, p=tail.p, log10_p=tail.log10_p, low=low, high=high)


def rank_means(
    fits: RankFits, contrasts: Sequence[RankContrast], *, level: float, seed: int, lower_is_better: bool
) -> tuple[RankedSystem, ...]:
    """Return the systems from best to worst."""
    model, runs = fits.means.model(), fits.runs
    means = [model.combine(fits.weights[name], name, level) for name in runs.system.names]
    sign = -1.0 if lower_is_better else 1.0
    values = np.array([mean.estimate for mean in means])
    shares = _best_shares(sign * _draw_means(runs.system.names, values, contrasts, np.random.default_rng(seed)))
    shrunken, shrunken_draws = _shrink(fits, values, np.random.default_rng(seed))
    shrunken_shares = None if shrunken_draws is None else _best_shares(sign * shrunken_draws)
    counts = runs.cells()
    ranked = []
    for place, i in enumerate(np.argsort(-sign * values, kind="stable"), start=1):
        name = runs.system.names[i]
        better, worse = _surely(contrasts, name, level=level, sign=sign)
        ranked.append(
            RankedSystem(
                name=name,
                mean=means[i].estimate,
                se=means[i].se,
                df=means[i].df,
                low=means[i].low,
                high=means[i].high,
                rank=place,
                rank_low=1 + better,
                rank_high=len(values) - worse,
                p_best=float(shares[i]),
                p_best_shrunken=None if shrunken_shares is None else float(shrunken_shares[i]),
                shrunken=None if shrunken is None else float(shrunken[i]),
                raw_mean=float(runs.score[runs.system.codes == i].mean()),
                scores=int(counts[i].sum()),
                datasets=int((counts[i] > 0).sum()),
            )
        )
    return tuple(ranked)


def _surely(contrasts: Sequence[RankContrast], name: str, *, level: float, sign: float) -> tuple[int, int]:
    """Return how many systems are surely better than one, and how many surely worse, by Holm's tests of all pairs."""
    better = worse = 0
    for c in contrasts:
        if name in (c.left, c.right) and c.p_adjusted <= 1 - level:
            ahead = (sign * c.difference > 0) == (c.left == name)
            better, worse = better + (not ahead), worse + ahead
    return better, worse


def _draw_means(
    names: Sequence[str], values: Floats, contrasts: Sequence[RankContrast], rng: np.random.Generator
) -> Floats:
    """Return draws of all means, up to what they have in common, from a multivariate t, shape (draws, systems).

    Its covariance is the one whose contrasts have the standard errors of the table, by double centring of their
    squares; where the pairs' errors belong to no covariance, the nearest one. The df are the fewest of a contrast.
    """
    place = {name: i for i, name in enumerate(names)}
    squares = np.zeros((len(names), len(names)))
    for c in contrasts:
        i, j = place[c.left], place[c.right]
        squares[i, j] = squares[j, i] = c.se**2
    centring = np.eye(len(names)) - 1 / len(names)
    root = _root(-0.5 * centring @ squares @ centring)
    df = min(c.df for c in contrasts)
    normal = rng.standard_normal((DRAWS, len(names))) @ root.T
    return np.asarray(values + normal / np.sqrt(rng.chisquare(df, (DRAWS, 1)) / df))


def _shrink(fits: RankFits, values: Floats, rng: np.random.Generator) -> tuple[Floats | None, Floats | None]:
    """Return the predicted means of random systems, and draws of these given the rows."""
    variances, system = fits.variances, fits.runs.system_name
    effects = next((e for e in random_effects(variances, with_sd=False)
                    if e.group == system and e.terms == ("(Intercept)",)), None)  # fmt: skip
    if effects is None:
        return None, None
    place = {level: i for i, (level,) in enumerate(effects.levels)}
    predicted = fits.grand_mean + effects.values[[place[name] for name in fits.runs.system.names], 0]
    variance = next(c.variance for c in variances.random if c.group == system and c.term == "(Intercept)")
    rows = np.stack([fits.weights[name] for name in fits.runs.system.names])
    within = rows @ fits.means.model().covariance @ rows.T
    ones = np.ones(len(values))
    inverse = np.linalg.pinv(variance * np.eye(len(values)) + within)
    common = np.outer(inverse @ ones, inverse @ ones) / (ones @ inverse @ ones)
    spread = variance * np.eye(len(values)) - variance**2 * (inverse - common)
    return predicted, predicted + rng.standard_normal((DRAWS, len(values))) @ _root(spread).T


def _best_shares(draws: Floats) -> Floats:
    """Return the share of draws in which each column is the largest; equal ones share."""
    first = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0))


def _root(matrix: Floats) -> Floats:
    """Return a factor of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
