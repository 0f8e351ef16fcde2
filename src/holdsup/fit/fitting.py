"""`fit_lmm`: from a formula and a table to a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from holdsup.arguments import check_level
from holdsup.columns.batches import open_data
from holdsup.design import Design, build_design, parse_formula
from holdsup.design.coding import code_terms
from holdsup.design.streaming import read_moments
from holdsup.design.transforms import summarize
from holdsup.design.variables import encode_variables, uses_of
from holdsup.errors import FitError
from holdsup.fit.result import LmmFit, Model, describe
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import NothingLeft, fit_moments, keep_columns
from holdsup.numerics.moments import Moments, accumulate
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress


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
    data : a path, a frame, a dict of columns: anything that `read_scores` takes; an iterator of frames; a Dask data
        frame. Parquet files and iterators with more rows than memory should hold are read in batches
    method : "reml", or "ml" for fits whose fixed effects are to be compared
    weights : column of case weights (the residual variance of a row is sigma^2 / weight)
    level : coverage of the CIs

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
    check_level(level, FitError)
    parsed = parse_formula(formula)
    uses = uses_of(parsed, weights)
    columns = uses.columns()
    with open_data(data, columns, numbers=uses.numbers, either=uses.either, progress=progress) as source:
        if not isinstance(source, list):
            with blas_threads(1):
                design, moments = read_moments(parsed, source, weights=weights, progress=progress)
            return _fit(design, moments, method=method, level=level)
        variables = encode_variables(parsed, source, weights=weights, progress=progress)
    return fit_design(build_design(parsed, variables), method=method, level=level)


def fit_design(design: Design, *, method: str, level: float = 0.95, start: Floats | None = None) -> LmmFit:
    """Return the fit of a design that was built already, on rows in memory."""
    design.require_rows()
    with blas_threads(1):
        moments = accumulate(design.layout, design.sample)
    return _fit(design, moments, method=method, level=level, start=start)


def _fit(design: Design, moments: Moments, *, method: str, level: float, start: Floats | None = None) -> LmmFit:
    try:
        engine = fit_moments(moments, reml=method == "reml", start=start)
    except NothingLeft as nothing:
        raise FitError(f"{design.formula.text!r} cannot be fitted: {nothing}") from nothing
    return describe(Model(design, engine), method=method, level=level)


def fit_within(fit: LmmFit, formula: str) -> LmmFit:
    """Return the fit of a formula with fewer fixed effects to the rows of a fit, from its cross-products if they do.

    They do where the columns are some of those that the larger model has, and was fitted with.
    """
    model, parsed = fit.model(), parse_formula(formula)
    design, engine = model.design, model.engine
    columns = code_terms(parsed.fixed, design.variables.coded)
    place = {(column.numbers, frozenset(column.levels)): i for i, column in enumerate(design.fixed)}
    kept = [place.get((column.numbers, frozenset(column.levels)), -1) for column in columns]
    same = parsed.random == design.formula.random and len(engine.kept) == len(design.fixed)
    plain = np.array_equal(design.transform, np.eye(len(design.fixed)))
    if not same or not plain or not set(design.constant) <= set(kept) or -1 in kept:
        return fit_design(build_design(parsed, design.variables), method=fit.method, level=fit.level)
    smaller = replace(
        design,
        formula=parsed,
        fixed=columns,
        layout=replace(design.layout, fixed=tuple(design.layout.fixed[i] for i in kept)),
        constant=tuple(kept.index(i) for i in design.constant),
        transform=np.eye(len(kept)),
    )
    return _fit(smaller, keep_columns(engine.moments, np.array(kept)), method=fit.method, level=fit.level)


def fit_response(fit: LmmFit, response: Floats) -> LmmFit:
    """Return the model of a fit, fitted to another response of the same rows."""
    design = fit.model().design
    design.require_rows()
    if response.shape != design.variables.response.shape or not np.isfinite(response).all():
        raise FitError(
            f"refit needs {len(design.variables.response):,} finite numbers, one for each row used; "
            f"it was given an array of shape {response.shape}"
        )
    summary = summarize(response)
    shift = summary.mean if design.constant else 0.0
    changed = replace(
        design,
        shift=shift,
        sample=replace(design.sample, response=response - shift),
        variables=replace(design.variables, response=response, response_summary=summary),
    )
    return fit_design(changed, method=fit.method, level=fit.level, start=fit.model().engine.optimum.theta)


def fit_by(fit: LmmFit, method: str) -> LmmFit:
    """Return a fit by the other method, from the cross-products that it holds."""
    if fit.method == method:
        return fit
    model = fit.model()
    engine = fit_moments(model.engine.moments, reml=method == "reml", start=model.engine.optimum.theta)
    return describe(Model(model.design, replace(engine, kept=model.engine.kept)), method=method, level=fit.level)
