"""How good the fit is: errors on rows held out, and how normal residuals and random effects are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.errors import FitError
from holdsup.fit import LmmFit, random_effects, residuals
from holdsup.fit.holdouts import predict_parts
from holdsup.numerics.least_squares import predict_parts_by_cells
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution
from holdsup.splits import KFold
from holdsup.verdict.ranking.numbers import CrossValidation, Quantiles
from holdsup.verdict.ranking.table import RunTable

__all__ = ["find_quantiles", "validate_forms"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

PLAIN = "plain regression"
MOST_POINTS = 200  # of a Q-Q plot
LEAST_POINTS = 3  # values that a Q-Q plot needs
NIL = 1e-6  # residual standard deviations within which effects are all zero: their variance is


def validate_forms(
    fits: Mapping[str, LmmFit],
    runs: RunTable,
    said: list[Caution],
    *,
    folds: int = 10,
    seed: int = 0,
    progress: Progress = no_progress,
) -> tuple[CrossValidation, ...]:
    """Return the errors of forms, and of a plain regression, on rows that they were not fitted to.

    First rows are held out, dealt at random; levels of a group that the other rows have keep their predicted effects.
    Then whole datasets, whose effects, and those of systems on them, are then unknown and count as zero. The plain
    regression is what the paper compares with: a fixed effect for every system on every dataset, and the fixed columns
    of the first form; it knows nothing about a new dataset. All forms have the same folds.
    """
    deals = {"rows": _deal(len(runs), folds, seed), "datasets": _deal(runs.dataset.count, folds, seed)}
    deals["datasets"] = deals["datasets"][runs.dataset.codes]
    errors = _Errors(runs, deals, said)
    steps = [(held_out, name) for held_out in deals for name in fits]
    for done, (held_out, name) in enumerate(steps):
        progress(done, len(steps), "cross-validation")
        try:
            errors.add(name, fits[name].formula, held_out, predict_parts(fits[name], deals[held_out]))
        except FitError as error:
            errors.caution(f"No cross-validation over {held_out} for the {name} form: {error}.")
    columns = next(iter(fits.values())).model().design.columns()
    cells = runs.system.codes.astype(np.int64) * runs.dataset.count + runs.dataset.codes
    formula = f"{runs.score_name} ~ {runs.system_name}:{runs.dataset_name} + the fixed effects of nuisance factors"
    errors.add(PLAIN, formula, "rows", predict_parts_by_cells(runs.score, columns, cells, deals["rows"]))
    progress(len(steps), len(steps), "cross-validation")
    return tuple(errors.rows)


def _deal(count: int, folds: int, seed: int) -> Codes:
    """Return the part of each of some rows or datasets."""
    part = np.empty(count, np.int64)
    for number, split in enumerate(KFold(k=min(folds, count), seed=seed).split(range(count))):
        part[split.test] = number
    return part


class _Errors:
    """Errors as they are found; `deals` are the parts of the rows by what is held out."""

    def __init__(self, runs: RunTable, deals: Mapping[str, Codes], said: list[Caution]) -> None:
        self.runs, self.deals, self.said = runs, deals, said
        self.rows: list[CrossValidation] = []

    def caution(self, message: str) -> None:
        """Say what is missing."""
        self.said.append(Caution(code="not-predicted", severity="note", about="table:forms", message=message))

    def add(self, form: str, formula: str, held_out: str, predicted: Floats) -> None:
        """Add the errors of predictions; where there are none (NaN) rows are left out and counted."""
        told = np.isfinite(predicted)
        if not told.all():
            which = "The plain regression" if form == PLAIN else f"The {form} form"
            count = f"{format_counted(int((~told).sum()), 'row')} of {len(told):,}"
            self.caution(f"{which}, with {held_out} held out, can't predict {count}: no other part has their levels.")
        if told.any():
            error = predicted[told] - self.runs.score[told]
            self.rows.append(
                CrossValidation(
                    form=form,
                    formula=formula,
                    held_out=held_out,
                    folds=len(np.unique(self.deals[held_out])),
                    mae=float(np.abs(error).mean()),
                    rmse=float(np.sqrt((error**2).mean())),
                )
            )


def find_quantiles(fit: LmmFit) -> tuple[Quantiles, ...]:
    """Return the points of Q-Q plots: of the residuals, and of the predicted effects of terms that have a variance."""
    found = [_quantiles("residuals", residuals(fit))]
    for term in random_effects(fit, with_sd=False):
        for name, values in zip(term.terms, term.values.T, strict=True):
            shown = term.group if name == "(Intercept)" else f"{name} by {term.group}"
            if len(values) >= LEAST_POINTS and np.ptp(values) > NIL * fit.sigma:
                found.append(_quantiles(shown, values))
    return tuple(found)


def _quantiles(name: str, values: Floats) -> Quantiles:
    """Return values in order beside normal quantiles; of many, those next to evenly spaced ones, both ends kept."""
    ordered, n = np.sort(values), len(values)
    normal = special.ndtri((np.arange(n) + 0.5) / n)
    places = np.arange(n)
    if n > MOST_POINTS:
        even = np.linspace(normal[0], normal[-1], MOST_POINTS)
        places = np.unique(np.clip(np.round(special.ndtr(even) * n - 0.5), 0, n - 1).astype(np.int64))
    return Quantiles(
        name=name, count=n, normal=tuple(normal[places].tolist()), observed=tuple(ordered[places].tolist())
    )
