"""What a fit says of rows and levels: predictions, random effects, simulated responses, shares of variance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit

from holdsup.design.groups import RandomBlock
from holdsup.design.matrices import CodedRows, Design, code_fitted_rows, code_rows
from holdsup.errors import FitError
from holdsup.fit.fitting import fit_response
from holdsup.fit.glmm import refit_outcomes
from holdsup.fit.glmm_result import GlmmFit
from holdsup.fit.logistic_model import LogisticModel
from holdsup.fit.margins import average_over_effects
from holdsup.fit.result import LmmFit
from holdsup.fit.words import INTERCEPT
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.mixed import PredictedEffects, predict_effects
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows
from holdsup.results.envelope import to_backend


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Predicted responses."""

    values: Floats  # the predictions, shape (n,)
    # for each row, in how many random terms its level was not seen by the fit and counts as average
    new_levels: NDArray[np.int64]
    places: NDArray[np.integer]  # which rows of the table these are, from 0
    rows: Rows  # how many there are, and why others are not


def predict(
    fit: LmmFit, data: Any, *, random: bool = True, scale: str = "response", progress: Progress = no_progress
) -> Predictions:
    """Return predictions for the rows of a table.

    Parameters
    ----------
    random : whether to add the predicted effects of the levels that the fit has seen; a level that it
        has not seen counts as an average one. Without them: the mean over all levels, for which the table
        needs no columns of groups.
    scale : "response", or "link" for the log-odds of a logistic fit, whose response is a probability
    """
    if scale not in ("response", "link"):
        raise FitError(f"scale is {scale!r}; it can be 'response' or 'link'")
    coded = code_rows(fit.model().design, data, random=random, progress=progress)
    values = _predicted(fit, coded, random=random)
    if isinstance(fit, GlmmFit) and scale == "response":
        values = expit(values) if random else average_over_effects(values, _variances(fit, data, len(values)))[0]
    unseen = sum((levels < 0).astype(np.int64) for levels in coded.levels)
    return Predictions(values, np.zeros(len(values), np.int64) + unseen, coded.places, coded.rows)


def fitted_values(fit: LmmFit) -> Floats:
    """Return the fitted value of each row used, random effects included."""
    values = _predicted(fit, code_fitted_rows(fit.model().design), random=True)
    return np.asarray(expit(values)) if isinstance(fit, GlmmFit) else values


def residuals(fit: LmmFit) -> Floats:
    """Return response minus fitted value of each row used."""
    observed = fit.model().outcomes.shares if isinstance(fit, GlmmFit) else fit.model().design.variables.response
    return np.asarray(observed - fitted_values(fit))


def _variances(fit: GlmmFit, data: Any, rows: int) -> Floats:
    """Return z'Sigma z of each row of a table, over all random terms."""
    found = np.zeros(rows)
    blocks, sigmas = fit.model().design.random, covariances(fit)
    if all(column.name == INTERCEPT for block in blocks for column in block.columns):  # no need for the table's groups
        return found + sum(float(sigma[0, 0]) for sigma in sigmas)
    for columns, sigma in zip(code_rows(fit.model().design, data).columns, sigmas, strict=True):
        found += np.einsum("ni,ij,nj->n", columns, sigma, columns)
    return found


def _predicted(fit: LmmFit, coded: CodedRows, *, random: bool) -> Floats:
    model = fit.model()
    values = coded.fixed[:, model.engine.kept] @ model.beta
    if random:
        effects = random_effects(fit, with_sd=False)
        for columns, levels, predicted in zip(coded.columns, coded.levels, effects, strict=True):
            padded = np.vstack([predicted.values, np.zeros(predicted.values.shape[1])])  # the last row serves -1
            values = values + (columns * padded[levels]).sum(axis=1)
    return np.asarray(values)


def simulate(fit: LmmFit, draws: int = 1, *, seed: int = 0) -> Floats:
    """Return responses drawn from the fitted model, new random effects included; shape (draws, n).

    Those of a logistic fit are numbers of successes.
    """
    if not isinstance(draws, int) or draws < 1:
        raise FitError(f"{draws!r} draws were asked for: give a whole number, at least 1")
    if not isinstance(seed, int) or seed < 0:
        raise FitError(f"the seed is {seed!r}: give a whole number, at least 0")
    model = fit.model()
    coded = code_fitted_rows(model.design)
    rng = np.random.default_rng(seed)
    mean = coded.fixed[:, model.engine.kept] @ model.beta
    weights = model.design.sample.weights
    logistic = isinstance(fit, GlmmFit)
    noise = 0.0 if logistic else fit.sigma if weights is None else model.engine_sigma / np.sqrt(weights)
    drawn = np.empty((draws, len(mean)))
    factors = [_root(sigma) for sigma in covariances(fit)]
    for d in range(draws):
        drawn[d] = mean + rng.normal(size=len(mean)) * noise
        for block, columns, levels, root in zip(model.design.random, coded.columns, coded.levels, factors, strict=True):
            effects = rng.normal(size=(block.group.count, len(root))) @ root.T
            drawn[d] += (columns * effects[levels]).sum(axis=1)
        if isinstance(fit, GlmmFit):
            drawn[d] = fit.model().outcomes.draw(expit(drawn[d]), rng)
    return drawn


def _root(sigma: Floats) -> Floats:
    """Return a factor of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh(sigma)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def refit(fit: LmmFit, response: Floats) -> LmmFit:
    """Return the same model fitted to another response: one value for each row that the fit used."""
    try:
        values = np.asarray(response, dtype=float)
        return refit_outcomes(fit, values) if isinstance(fit, GlmmFit) else fit_response(fit, values)
    except (TypeError, ValueError) as error:
        raise FitError(f"refit needs an array of numbers, not {response!r:.40}") from error


@dataclass(frozen=True, slots=True, eq=False)
class LevelEffects:
    """The predicted effects of one random term."""

    group: str  # the grouping factor
    variables: tuple[str, ...]  # the columns whose combinations are its levels
    levels: tuple[tuple[str, ...], ...]  # the labels of each level, one for each variable
    terms: tuple[str, ...]  # what varies
    values: Floats  # predicted effects, shape (levels, terms)
    sd: Floats  # their standard deviations given the fixed effects, same shape

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each level and term."""
        k = len(self.terms)
        labels = {name: np.repeat([level[i] for level in self.levels], k) for i, name in enumerate(self.variables)}
        columns = {**labels, "term": list(self.terms) * len(self.levels)}
        return to_backend(pa.table({**columns, "value": self.values.ravel(), "sd": self.sd.ravel()}), backend)


def random_effects(fit: LmmFit, *, with_sd: bool = True) -> tuple[LevelEffects, ...]:
    """Return the predicted effects (BLUPs) of every random term, with their conditional standard deviations."""
    model = fit.model()
    if isinstance(model, LogisticModel):
        return tuple(_level_effects(b, *found) for b, found in zip(model.design.random, model.effects, strict=True))
    predicted = predict_effects(model.engine, with_spread=with_sd)
    return tuple(_block(model.design, block, predicted) for block in model.design.random)


def _block(design: Design, block: RandomBlock, predicted: PredictedEffects) -> LevelEffects:
    k = len(block.columns)
    values, spread = np.empty((block.group.count, k)), np.full((block.group.count, k, k), np.nan)
    for levels, effects, host, columns in find_hosts(design, block):
        values[levels] = predicted.values[effects][host][:, columns]
        if predicted.covariances:
            spread[levels] = predicted.covariances[effects][host][:, columns][:, :, columns]
    T = block.transform
    return _level_effects(block, values @ T.T, T @ spread @ T.T)


def _level_effects(block: RandomBlock, values: Floats, covariances: Floats) -> LevelEffects:
    sd = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    names = tuple(column.name for column in block.columns)
    labels = tuple(block.group.level_names())
    return LevelEffects(block.group.label, block.group.variables, labels, names, values, sd)


def find_hosts(design: Design, block: RandomBlock) -> Iterator[tuple[Ints, int, Ints, list[int]]]:
    """Yield where a term stands in the engine: (levels of the term, effects, their levels, their columns).

    A term of ``system:item`` may be written as one column per system within ``item``; then its levels
    are spread over several of the engine's columns.
    """
    shown = block.group.shown
    own = [next(p for row, col, p in block.places if row == col == i) for i in range(len(block.columns))]
    for number, effects in enumerate(design.layout.effects):
        mine = [c for c in range(len(effects.columns)) if effects.pattern[c, c] in own]
        inside = [
            f for f in (design.variables.grouping[name] for name in block.group.variables) if f not in effects.factors
        ]
        for start in range(0, len(mine), len(own)):  # one copy of the term after another
            columns = mine[start : start + len(own)]
            wanted = dict(effects.columns[columns[0]].levels)
            mask = np.ones(len(shown), bool)
            for factor in inside:
                mask &= design.sample.factors[factor][shown] == wanted[factor]
            levels = np.flatnonzero(mask)
            yield levels, number, effects.codes[shown[levels]].astype(np.int64), columns


@dataclass(frozen=True, slots=True)
class RSquared:
    """Shares of the variance of the response."""

    marginal: float  # explained by the fixed effects
    conditional: float  # explained by the fixed and the random effects


def r_squared(fit: LmmFit) -> RSquared:
    """Return Nakagawa and Schielzeth's R2, with random slopes weighed by their regressors.

    The variance of a random term with slopes is the mean over rows of z'Sigma z (Johnson 2014, Methods
    in Ecology and Evolution 5:944), so that it does not depend on where a regressor has its zero.
    """
    model = fit.model()
    coded = code_fitted_rows(model.design)
    fitted = coded.fixed[:, model.engine.kept] @ model.beta
    fixed = float(np.var(fitted, ddof=1))
    random = sum(term_variance(columns, sigma) for columns, sigma in zip(coded.columns, covariances(fit), strict=True))
    total = fixed + random + fit.sigma**2
    return RSquared(fixed / total, (fixed + random) / total)


def intraclass_correlations(fit: LmmFit) -> dict[str, float]:
    """Return for each grouping factor the share of the random variance that lies between its levels."""
    coded = code_fitted_rows(fit.model().design)
    parts: dict[str, float] = {}
    for block, columns, sigma in zip(fit.model().design.random, coded.columns, covariances(fit), strict=True):
        parts[block.group.label] = parts.get(block.group.label, 0.0) + term_variance(columns, sigma)
    total = sum(parts.values()) + fit.sigma**2
    return {group: variance / total for group, variance in parts.items()}


def term_variance(columns: Floats, sigma: Floats) -> float:
    """Return the mean over rows of z'Sigma z."""
    return float(np.einsum("ni,ij,nj->", columns, sigma, columns) / len(columns))


def covariances(fit: LmmFit) -> list[Floats]:
    """Return the covariance matrix of each random term."""
    model = fit.model()
    return [covariance(block, model.engine.optimum.theta, model.engine_sigma) for block in model.design.random]


def covariance(block: RandomBlock, theta: Floats, sigma: float) -> Floats:
    """Return the covariance matrix of a random term at theta."""
    factor = block.factor(theta)
    return sigma**2 * factor @ factor.T
