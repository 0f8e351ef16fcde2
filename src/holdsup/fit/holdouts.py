"""A fit without some of its rows: what cross-validation and leaving out one dataset ask for.

The rows that stay have the layout of all: columns, centres and levels are those of the whole table. A level of a group
that loses all its rows adds nothing to the criterion, and its effect is predicted as zero, the mean; a fixed column
that loses them is left out as one that depends on others. So no design is made again, and the search starts where that
of all rows ended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from holdsup.design import Design
from holdsup.design.coding import dense_columns
from holdsup.errors import FitError
from holdsup.fit.records import Contrast, make_contrast
from holdsup.fit.result import LmmFit
from holdsup.numerics.layout import Floats, Ints, Layout, Sample
from holdsup.numerics.mixed import EngineFit, NothingLeft, PredictedEffects, fit_moments, predict_effects
from holdsup.numerics.moments import accumulate
from holdsup.numerics.threads import blas_threads

TOLD = 1e-6  # deviation of a column, relative to its largest value, that is rounding


@dataclass(frozen=True, eq=False)
class PartialFit:
    """A model fitted to some of the rows of its design."""

    design: Design  # of all rows
    engine: EngineFit  # the optimum on some of them

    def combine(self, weights: Floats, level: float = 0.95) -> Contrast:
        """Return a combination of the formula's fixed effects, `weights` being one for each column of `Design.fixed`.

        It must be one that the rows tell, as the mean of a system that has some is: then it does not matter which of
        several columns that depend on each other was left out.
        """
        inference = self.engine.inference
        inside = (weights @ self.design.transform)[self.engine.kept]
        shift = self.design.shift * float(weights[list(self.design.constant)].sum())
        variance = float(inside @ inference.covariance @ inside)
        estimate = float(inside @ self.engine.solution.beta) + shift
        return make_contrast("", estimate, variance, partial(inference.degrees, inside), level)

    def estimate(self, weights: Floats) -> Floats:
        """Return the values of several such combinations, shape (combinations, columns)."""
        inside = (weights @ self.design.transform)[:, self.engine.kept]
        shift = self.design.shift * weights[:, list(self.design.constant)].sum(axis=1)
        return np.asarray(inside @ self.engine.solution.beta + shift)

    def predict(self, rows: Ints, *, random: bool = True) -> Floats:
        """Return predictions for rows of the design: the fixed part and (`random`) the effects of levels fitted."""
        layout, sample = _take(self.design, rows)
        kept = [layout.fixed[i] for i in self.engine.kept]
        values = dense_columns(kept, sample.numbers, sample.factors, len(rows)) @ self.engine.solution.beta
        known = self._effects.values if random else ()
        for effects, predicted in zip(layout.effects, known, strict=False):  # a regression has no effects
            columns = dense_columns(effects.columns, sample.numbers, sample.factors, len(rows))
            values = values + (columns * predicted[effects.codes]).sum(axis=1)
        return np.asarray(values + self.design.shift)

    @cached_property
    def _effects(self) -> PredictedEffects:
        return predict_effects(self.engine, with_spread=False)


def fit_without(fit: LmmFit, held_out: NDArray[np.bool_]) -> PartialFit:
    """Return the model of a fit on the rows that are not held out; one truth value for each row used."""
    model = fit.model()
    model.design.require_rows()
    layout, sample = _take(model.design, np.flatnonzero(~held_out))
    try:
        with blas_threads(1):
            moments = accumulate(layout, sample)
        near = model.engine.inference.curvature
        engine = fit_moments(moments, reml=fit.method == "reml", start=model.engine.optimum.theta, curvature=near)
    except NothingLeft as nothing:
        raise FitError(f"{fit.formula!r} cannot be fitted without {held_out.sum():,} rows: {nothing}") from nothing
    return PartialFit(model.design, engine)


def predict_parts(fit: LmmFit, parts: NDArray[np.integer]) -> Floats:
    """Return the prediction of each row by the model fitted without all rows of its part (cross-validation).

    NaN stands where the other parts do not tell the fixed part: they have no row with that level of a fixed factor.
    """
    predicted = np.empty(len(parts))
    for part in np.unique(parts):
        held_out = parts == part
        without = fit_without(fit, held_out)
        values = without.predict(np.flatnonzero(held_out))
        if len(without.engine.kept) < len(fit.model().engine.kept):
            values[~_told(without, held_out)] = np.nan
        predicted[held_out] = values
    return predicted


def _told(fit: PartialFit, held_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for which rows held out the columns that were left out depend on the others as in the rows fitted."""
    layout, sample = _take(fit.design, np.arange(len(held_out)))
    columns = dense_columns(layout.fixed, sample.numbers, sample.factors, len(held_out))
    columns /= np.maximum(np.abs(columns).max(axis=0), 1e-300)
    kept = columns[:, fit.engine.kept]
    lost = np.delete(columns, fit.engine.kept, axis=1)
    dependence = np.linalg.lstsq(kept[~held_out], lost[~held_out], rcond=None)[0]
    return np.asarray((np.abs(lost[held_out] - kept[held_out] @ dependence) < TOLD).all(axis=1))


def _take(design: Design, rows: Ints) -> tuple[Layout, Sample]:
    """Return some rows as the engine has them; columns and levels stay those of all rows."""
    whole = design.sample
    sample = Sample(
        whole.response[rows],
        None if whole.weights is None else whole.weights[rows],
        tuple(values[rows] for values in whole.numbers),
        tuple(codes[rows] for codes in whole.factors),
    )
    effects = tuple(replace(each, codes=each.codes[rows]) for each in design.layout.effects)
    return replace(design.layout, effects=effects), sample
