"""`fit_lmm`: from a formula and a table to a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from holdsup.design import Design, make_design
from holdsup.errors import FitError
from holdsup.fit.description import describe
from holdsup.fit.result import LmmFit, Model
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import NothingLeft, fit_moments
from holdsup.numerics.moments import accumulate
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress

__all__ = ["fit_design", "fit_lmm", "fit_response"]


def fit_lmm(
    formula: str,
    data: Any,
    method: str = "reml",
    weights: str | None = None,
    *,
    level: float = 0.95,
    progress: Progress = no_progress,
) -> LmmFit:
    """Return a linear mixed model fitted to a table.

    Parameters
    ----------
    formula : lme4's grammar, ``score ~ system + (1 | item) + (0 + length || run)``; nothing in it is run
    data : a path, a frame, a dict of columns: anything that `read_scores` takes
    method : "reml", or "ml" for fits whose fixed effects are to be compared
    weights : column of case weights (the residual variance of a row is sigma^2 / weight)
    level : coverage of the confidence limits

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> fit = fit_lmm("score ~ system + (1 | item)", simulate_scores({"A": 0.5, "B": 0.6}, items=50, seed=1))
    >>> [effect.name for effect in fit.fixed], fit.levels, fit.converged
    (['(Intercept)', 'systemB'], {'item': 50}, True)
    """
    if not isinstance(formula, str):
        raise FitError(f"the formula is a {type(formula).__name__}; write it as text, 'score ~ system + (1 | item)'")
    if weights is not None and not isinstance(weights, str):
        raise FitError(f"weights is a {type(weights).__name__}; name the column that holds them")
    if str(method).lower() not in ("ml", "reml"):
        raise FitError(f"method is {method!r}; it can be 'ml' or 'reml'")
    method = method.lower()
    if not 0 < level < 1:
        raise FitError(f"level is {level!r}; it must lie between 0 and 1, such as 0.95")
    design = make_design(formula, data, weights=weights, progress=progress)
    return fit_design(design, method=method, level=level)


def fit_design(design: Design, *, method: str, level: float = 0.95, start: Floats | None = None) -> LmmFit:
    """Return the fit of a design that was built already."""
    try:
        with blas_threads(1):
            moments = accumulate(design.layout, design.sample)
        engine = fit_moments(moments, reml=method == "reml", start=start)
    except NothingLeft as nothing:
        raise FitError(f"{design.formula.text!r} cannot be fitted: {nothing}") from nothing
    return describe(Model(design, engine), method=method, level=level)


def fit_response(fit: LmmFit, response: Floats) -> LmmFit:
    """Return the model of a fit, fitted to another response of the same rows."""
    design = fit.model().design
    if response.shape != design.variables.response.shape or not np.isfinite(response).all():
        raise FitError(
            f"refit needs {len(design.variables.response):,} finite numbers, one for each row used; "
            f"it was given an array of shape {response.shape}"
        )
    shift = float(response.mean()) if design.constant else 0.0
    changed = replace(
        design,
        shift=shift,
        sample=replace(design.sample, response=response - shift),
        variables=replace(design.variables, response=response),
    )
    return fit_design(changed, method=fit.method, level=fit.level, start=fit.model().engine.optimum.theta)
