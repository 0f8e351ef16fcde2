"""Adjusted means, the places that contrasts leave, and how sure the first place is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.fit import random_effects
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.mean_limits import limit_means
from holdsup.verdict.ranking.system_records import RankContrast, RankedSystem

__all__ = ["DRAWS", "rank_means"]

Floats = NDArray[np.float64]
DRAWS = 10_000


def rank_means(
    fits: RankFits, contrasts: Sequence[RankContrast], *, level: float, seed: int, lower_is_better: bool
) -> tuple[RankedSystem, ...]:
    """Return the systems from best to worst."""
    model, runs = fits.means.model(), fits.runs
    means = [model.combine(fits.weights[name], name, level) for name in runs.system.names]
    if fits.averages:
        means = limit_means(fits, means, level=level)
    sign = -1.0 if lower_is_better else 1.0
    values = np.array([mean.estimate for mean in means])
    shares = np.full(len(values), np.nan)
    drawn = [name for name, placed in zip(runs.system.names, fits.placed, strict=True) if placed]
    draws = _draw_means(drawn, values[fits.placed], contrasts, np.random.default_rng(seed))
    shares[fits.placed] = _best_shares(sign * draws)
    shrunken, shrunken_draws = _shrink(fits, np.random.default_rng(seed))
    shrunken_shares = None if shrunken_draws is None else _best_shares(sign * shrunken_draws)
    counts = runs.cells()
    ranked = []
    for place, i in enumerate(fits.order(values, lower_is_better=lower_is_better), start=1):
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
                rank_low=min(place, 1 + better),
                rank_high=max(place, len(values) - worse),
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
    squares; where the pairs' errors belong to no covariance, the nearest one. The df are the fewest of a contrast. A
    pair that has no test has the fit's error.
    """
    place = {name: i for i, name in enumerate(names)}
    squares = np.zeros((len(names), len(names)))
    between = [c for c in contrasts if c.left in place and c.right in place]
    for c in between:
        i, j = place[c.left], place[c.right]
        squares[i, j] = squares[j, i] = (c.se if math.isfinite(c.se) else c.pooled_se) ** 2
    centring = np.eye(len(names)) - 1 / len(names)
    root = _root(-0.5 * centring @ squares @ centring)
    df = max(1.0, min((c.df for c in between if math.isfinite(c.df)), default=1.0))  # below it there are no limits
    normal = rng.standard_normal((DRAWS, len(names))) @ root.T
    return np.asarray(values + normal / np.sqrt(rng.chisquare(df, (DRAWS, 1)) / df))


def _shrink(fits: RankFits, rng: np.random.Generator) -> tuple[Floats | None, Floats | None]:
    """Return the predicted means of random systems, and draws of these given the rows."""
    variances, system = fits.variances, fits.runs.system_name
    effects = next((e for e in random_effects(variances, with_sd=False)
                    if e.group == system and e.terms == ("(Intercept)",)), None)  # fmt: skip
    if effects is None:
        return None, None
    names = fits.runs.system.names
    place = {level: i for i, (level,) in enumerate(effects.levels)}
    predicted = fits.grand_mean + effects.values[[place[name] for name in names], 0]
    variance = next(c.variance for c in variances.random if c.group == system and c.term == "(Intercept)")
    rows = np.stack([fits.weights[name] for name in names])
    within = rows @ fits.means.model().covariance @ rows.T
    every = np.eye(len(names))
    inverse = np.linalg.pinv(variance * every + within)
    total = inverse.sum(axis=1)
    common = np.outer(total, total) / total.sum()  # what the mean of all systems, not known either, adds
    spread = variance * every - variance**2 * (inverse - common)
    return predicted, predicted + rng.standard_normal((DRAWS, len(names))) @ _root(spread).T


def _best_shares(draws: Floats) -> Floats:
    """Return the share of draws in which each column is the largest; equal ones share."""
    first = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0))


def _root(matrix: Floats) -> Floats:
    """Return a factor of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
