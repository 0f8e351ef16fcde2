"""Adjusted means with their CIs, the places that contrasts leave, and how sure the first place is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.fit import Contrast, random_effects
from holdsup.numerics.distributions import t_quantile
from holdsup.verdict.ranking.combinations import FixedEffects
from holdsup.verdict.ranking.contrasts import compare_by_dataset
from holdsup.verdict.ranking.fits import ROUNDING, RankFits
from holdsup.verdict.ranking.records import RankContrast, RankedSystem

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
    counts, best = runs.cells(), _count_best(sign * runs.cell_means(runs.score))
    better, worse = _surely(contrasts, level=level, sign=sign)
    ranked = []
    for place, i in enumerate(fits.order(values, lower_is_better=lower_is_better), start=1):
        name = runs.system.names[i]
        ranked.append(
            RankedSystem(
                name=name,
                mean=means[i].estimate,
                **{name: getattr(means[i], name) for name in ("se", "df", "low", "high")},
                rank=place,
                rank_low=min(place, 1 + better[name]),
                rank_high=max(place, len(values) - worse[name]),
                p_best=float(shares[i]),
                p_best_shrunken=None if shrunken_shares is None else float(shrunken_shares[i]),
                shrunken=None if shrunken is None else float(shrunken[i]),
                raw_mean=float(runs.score[runs.system.codes == i].mean()),
                scores=int(counts[i].sum()),
                datasets=int((counts[i] > 0).sum()),
                best_on=int(best[i]),
            )
        )
    return tuple(ranked)


def _count_best(cells: Floats) -> NDArray[np.int64]:
    """Return on how many datasets each system's mean, higher better, is the best, alone or tied."""
    lead = np.nanmax(cells, axis=0) - cells
    return np.asarray((lead <= ROUNDING * np.nanmax(np.abs(cells))).sum(axis=1))


def _surely(contrasts: Sequence[RankContrast], *, level: float, sign: float) -> tuple[Counter[str], Counter[str]]:
    """Return how many systems are surely better than each, and how many surely worse, by adjusted tests."""
    sure = [(c, sign * c.difference > 0) for c in contrasts if c.p_adjusted <= 1 - level]
    return Counter(c.right if ahead else c.left for c, ahead in sure), Counter(
        c.left if ahead else c.right for c, ahead in sure
    )


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
    rows = fits.mean_weights
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


def limit_means(fits: RankFits, means: Sequence[Contrast], *, level: float) -> list[Contrast]:
    """Return adjusted means with the limits that each system's own scores give, for new datasets.

    A system with a score on every dataset has the limits that `compare` gives it: those of the mean of its datasets. Of
    one that lacks some, the fit makes up for which it has; what it is off by on single datasets is its own spread,
    the rest of the variance is the fit's. One dataset has no spread.
    """
    apart, whole = _beyond_datasets(fits), np.asarray(np.isfinite(fits.cells).all(axis=1))
    count = np.isfinite(apart).sum(axis=1)
    freedom = np.maximum(count - 1, 0)
    own = np.array([row[np.isfinite(row)].var(ddof=1) if np.isfinite(row).sum() > 1 else 0.0 for row in apart])
    common = float((freedom * own).sum() / max(freedom.sum(), 1))
    every = np.arange(len(means))[:, None]
    known = FixedEffects.of(fits.means, fits.mean_weights)
    tests = compare_by_dataset(fits, known, every, np.ones(every.shape), fits.cells, level=level)
    found = []
    for code, mean in enumerate(means):
        if whole[code] and math.isfinite(tests.se[code]):
            half = float(tests.high[code] - tests.low[code]) / 2
            found.append(_limit(mean, float(tests.se[code]), float(tests.df[code]), half))
        elif count[code] > 1 and not whole[code]:
            found.append(_limit_incomplete(fits, mean, code, own[code], common, level))
        elif count[code] > 1:
            found.append(mean)  # all its scores are equal: the fit's limits are all there is
        else:
            found.append(_limit(mean, math.nan, math.nan, math.inf))
    return found


def _limit_incomplete(fits: RankFits, mean: Contrast, code: int, own: float, common: float, level: float) -> Contrast:
    """Return limits where datasets are lacking: the fit's variance, its own spread in place of that of all."""
    datasets = np.isfinite(fits.cells[code])
    count = int(datasets.sum())
    shared = max(0.0, mean.se**2 - common / count)
    part, noise, run_df = fits.measure_runs(np.array([[code]]), datasets[None])[0, 0].tolist()
    if fits.runs.nested_runs or math.isnan(part):
        part, noise, run_df = 0.0, 0.0, 1.0
    single = max(0.0, own / count - noise)
    variance = shared + single + part
    uncertainty = shared**2 / mean.df + (own / count) ** 2 / (count - 1) + part**2 / run_df
    df = max(variance**2 / uncertainty, 1.0) if uncertainty > 0 else math.inf
    df = min(df, float(count - 1))  # how it varies over datasets is known from its own: fewer scores are never surer
    return _limit(mean, math.sqrt(variance), df, t_quantile((1 + level) / 2, df) * math.sqrt(variance))


def _beyond_datasets(fits: RankFits) -> Floats:
    """Return adjusted cell means with the predicted effects of the datasets taken out."""
    runs = fits.runs
    effects = next((e for e in random_effects(fits.means, with_sd=False) if e.group == runs.dataset_name), None)
    if effects is None:
        return fits.cells
    by_name = dict(zip((name for (name,) in effects.levels), effects.values[:, 0], strict=True))
    return np.asarray(fits.cells - np.array([by_name[name] for name in runs.dataset.names]))


def _limit(mean: Contrast, se: float, df: float, half: float) -> Contrast:
    return replace(mean, se=se, df=df, low=mean.estimate - half, high=mean.estimate + half)
