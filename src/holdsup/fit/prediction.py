"""Predictions, residuals and simulated responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.design.newdata import CodedRows, code_fitted_rows, code_rows
from holdsup.errors import FitError
from holdsup.fit.effects import random_effects
from holdsup.fit.fitting import fit_response
from holdsup.fit.quality import covariances
from holdsup.fit.result import LmmFit
from holdsup.numerics.layout import Floats
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows

__all__ = ["Predictions", "fitted_values", "predict", "refit", "residuals", "simulate"]


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Predicted responses.

    Attributes
    ----------
    values : the predictions, shape (n,)
    new_levels : for each row, in how many random terms its level was not seen by the fit and counts as average
    places : which rows of the table these are, from 0
    rows : how many there are, and why others are not
    """

    values: Floats
    new_levels: NDArray[np.int64]
    places: NDArray[np.integer]
    rows: Rows


def predict(fit: LmmFit, data: Any, *, random: bool = True, progress: Progress = no_progress) -> Predictions:
    """Return predictions for the rows of a table.

    Parameters
    ----------
    random : whether to add the predicted effects of the levels that the fit has seen; a level that it
        has not seen counts as an average one. Without them: the mean over all levels, for which the table
        needs no columns of groups.
    """
    coded = code_rows(fit.model().design, data, random=random, progress=progress)
    values = _predicted(fit, coded, random=random)
    unseen = sum((levels < 0).astype(np.int64) for levels in coded.levels)
    return Predictions(values, np.zeros(len(values), np.int64) + unseen, coded.places, coded.rows)


def fitted_values(fit: LmmFit) -> Floats:
    """Return the fitted value of each row used, random effects included."""
    return _predicted(fit, code_fitted_rows(fit.model().design), random=True)


def residuals(fit: LmmFit) -> Floats:
    """Return response minus fitted value of each row used."""
    return np.asarray(fit.model().design.variables.response - fitted_values(fit))


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
    """Return responses drawn from the fitted model, new random effects included; shape (draws, n)."""
    if not isinstance(draws, int) or draws < 1:
        raise FitError(f"{draws!r} draws were asked for: give a whole number, at least 1")
    if not isinstance(seed, int) or seed < 0:
        raise FitError(f"the seed is {seed!r}: give a whole number, at least 0")
    model = fit.model()
    coded = code_fitted_rows(model.design)
    rng = np.random.default_rng(seed)
    mean = coded.fixed[:, model.engine.kept] @ model.beta
    weights = model.design.sample.weights
    noise = fit.sigma if weights is None else model.engine_sigma / np.sqrt(weights)
    drawn = np.empty((draws, len(mean)))
    factors = [_root(sigma) for sigma in covariances(fit)]
    for d in range(draws):
        drawn[d] = mean + rng.normal(size=len(mean)) * noise
        for block, columns, levels, root in zip(model.design.random, coded.columns, coded.levels, factors, strict=True):
            effects = rng.normal(size=(block.group.count, len(root))) @ root.T
            drawn[d] += (columns * effects[levels]).sum(axis=1)
    return drawn


def _root(sigma: Floats) -> Floats:
    """Return a factor of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh(sigma)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def refit(fit: LmmFit, response: Floats) -> LmmFit:
    """Return the same model fitted to another response: one value for each row that the fit used."""
    try:
        return fit_response(fit, np.asarray(response, dtype=float))
    except (TypeError, ValueError) as error:
        raise FitError(f"refit needs an array of numbers, not {response!r:.40}") from error
