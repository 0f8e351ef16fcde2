"""What each system does on each dataset beyond its own mean and the dataset's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdsup.design.matrices import RandomBlock
from holdsup.fit.effects import find_hosts
from holdsup.numerics.prediction import predict_effects
from holdsup.numerics.quantiles import t_quantile
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.term_records import InteractionEffect

__all__ = ["find_interactions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOISE = 1e-8  # of the range of scores: what is smaller is left by an optimizer at a variance of zero


def find_interactions(fits: RankFits, *, level: float) -> tuple[InteractionEffect, ...]:
    """Return the predicted effect of every system on every dataset; () where the form has no such term.

    In the default form it is averaged over the levels of fixed nuisance factors, whose effects by system and dataset
    are part of it: settings are as given. Seeds are not: others would be drawn. In other forms it is the effect of
    system and dataset alone, as in the paper.

    Limits are for an effect given the rows, its variances taken as known. Where a system has no row on a dataset its
    effect is zero, and may lie anywhere that the variances allow.
    """
    runs = fits.runs
    design = fits.variances.model().design
    parts = [(block, weight) for block in design.random if (weight := _weight(fits, block))]
    if not parts:
        return ()
    effect, spread = _predict(fits, parts)
    nil = NOISE * np.ptp(runs.score)
    effect, spread = (np.where(np.abs(values) < nil, 0.0, values) for values in (effect, spread))
    reach = t_quantile((1 + level) / 2, float("inf"))
    counts = runs.cells()
    return tuple(
        InteractionEffect(
            system=system,
            dataset=dataset,
            effect=float(effect[s, d]),
            sd=float(spread[s, d]),
            low=float(effect[s, d] - reach * spread[s, d]),
            high=float(effect[s, d] + reach * spread[s, d]),
            scores=int(counts[s, d]),
        )
        for s, system in enumerate(runs.system.names)
        for d, dataset in enumerate(runs.dataset.names)
    )


def _weight(fits: RankFits, block: RandomBlock) -> float:
    """Return how much of each level of a random term enters the effect of its system and dataset, 0 for none."""
    runs, variables = fits.runs, set(block.group.variables)
    cell = {runs.system_name, runs.dataset_name}
    if not cell <= variables or [column.name for column in block.columns] != ["(Intercept)"]:
        return 0.0
    if variables == cell:
        return 1.0
    settings = {t.name for t in fits.form.treatments if t.treated == "fixed"}
    extra = variables - cell
    if not fits.form.averages or not extra <= settings:
        return 0.0
    return 1.0 / float(np.prod([runs.factors[name].count for name in extra]))


def _predict(fits: RankFits, parts: list[tuple[RandomBlock, float]]) -> tuple[Floats, Floats]:
    """Return the effects and their standard deviations given the rows, shape (systems, datasets).

    The engine has the effects of a cell side by side, as columns of one level of some factor, and knows their joint
    covariance. Were they in several factors, they would be taken as independent, which makes limits too wide.
    """
    runs, model = fits.runs, fits.variances.model()
    predicted = predict_effects(model.engine)
    count = runs.system.count * runs.dataset.count
    effect, variance, empty = np.zeros(count), np.zeros(count), 0.0
    chosen = [np.zeros((count, values.shape[1])) for values in predicted.values]
    at = [np.zeros(count, np.int64) for _ in predicted.values]
    for block, weight in parts:
        cells = _cells(fits, block)
        empty += weight * model.engine_sigma**2 * float(block.factor(model.engine.optimum.theta)[0, 0]) ** 2
        for levels, number, host, (column,) in find_hosts(model.design, block):
            chosen[number][cells[levels], column] += weight
            at[number][cells[levels]] = host
    for values, covariances, weights, level in zip(predicted.values, predicted.covariances, chosen, at, strict=True):
        effect += (weights * values[level]).sum(axis=1)
        variance += np.einsum("ci,cij,cj->c", weights, covariances[level], weights)
    shape = (runs.system.count, runs.dataset.count)
    spread = np.sqrt(np.maximum(variance, 0.0)).reshape(shape)
    return effect.reshape(shape), np.where(runs.cells() > 0, spread, np.sqrt(empty))


def _cells(fits: RankFits, block: RandomBlock) -> Ints:
    """Return the cell, system by dataset, of each level of a term."""
    runs, shown = fits.runs, block.group.shown
    return np.asarray(runs.system.codes[shown].astype(np.int64) * runs.dataset.count + runs.dataset.codes[shown])
