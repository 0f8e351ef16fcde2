"""`LmmFit`: a fitted linear mixed model, and `fit_lmm` which makes one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from holdsup.design import Design, make_design
from holdsup.design.matrices import RandomBlock
from holdsup.errors import FitError, ResultError
from holdsup.fit.records import FixedEffect, OptimizerRecord, RandomComponent
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import EngineFit, NothingLeft, fit_moments
from holdsup.numerics.moments import accumulate
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.tails import t_tail
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Estimate, Interval, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.results import Result, sign

__all__ = ["LmmFit", "Model", "fit_design", "fit_lmm"]

SINGULAR = 1e-4  # a relative standard deviation below this is zero, as in lme4's isSingular


@dataclass(frozen=True, eq=False)
class Model:
    """The live part of a fit: what questions beyond the saved table are answered from.

    Attributes
    ----------
    design : the formula on its data
    engine : the optimum
    """

    design: Design
    engine: EngineFit

    @property
    def sigma(self) -> float:
        """The residual standard deviation of the formula, that of a row of weight one."""
        return self.engine_sigma * math.sqrt(self.design.weight_unit)

    @property
    def engine_sigma(self) -> float:
        """The residual standard deviation of the engine, to which theta is relative."""
        return math.sqrt(self.engine.solution.sigma2)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fixed effects that were estimated."""
        return tuple(self.design.fixed[i].name for i in self.engine.kept)

    @cached_property
    def transform(self) -> Floats:
        """From the engine's fixed effects, whose columns may be centred, to those of the formula."""
        return self.design.transform_of(self.engine.kept)

    @cached_property
    def beta(self) -> Floats:
        """The fixed effects of the formula: what was taken off the response is given back."""
        return self.transform @ self.engine.solution.beta + self.design.shift_of(self.engine.kept)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the fixed effects."""
        return np.asarray(self.transform @ self.engine.inference.covariance @ self.transform.T)

    def degrees(self, weights: Floats) -> float:
        """Return Satterthwaite's degrees of freedom of a combination of fixed effects."""
        return self.engine.inference.degrees(weights @ self.transform)


@dataclass(frozen=True, slots=True, kw_only=True)
class LmmFit(Result):
    """A linear mixed model, fitted by maximum likelihood or REML.

    Attributes
    ----------
    formula : the model
    n : rows used
    method : "ml" or "reml"
    criterion : -2 log-likelihood (ML) or REML criterion at the optimum
    loglik : log-likelihood (restricted, for REML)
    aic : Akaike's criterion
    bic : Bayesian information criterion
    npar : number of parameters
    sigma : residual standard deviation
    converged : whether the optimum is certified: no gradient, no direction that curves down
    singular : whether some variance is zero or some correlation is -1 or 1
    dropped : fixed columns that are combinations of others
    levels : number of levels of each grouping factor
    fixed : the fixed effects
    random : the variance components
    optimizer : how the optimum was found
    level : coverage of the confidence limits
    live : what further questions are answered from; not saved
    """

    kind: ClassVar[str] = "fit"

    formula: str
    n: int
    method: str
    criterion: float
    loglik: float
    aic: float
    bic: float
    npar: int
    sigma: float
    converged: bool
    singular: bool
    dropped: tuple[str, ...]
    levels: Mapping[str, int]
    fixed: tuple[FixedEffect, ...]
    random: tuple[RandomComponent, ...]
    optimizer: OptimizerRecord
    level: float = 0.95
    live: Model | None = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def tables(self) -> tuple[Table, ...]:
        """Return the fixed effects and the variance components."""
        percent = f"{100 * self.level:g}%"
        fixed = Table(
            title=f"Fixed effects, {percent} limits and tests by Satterthwaite's t",
            columns=("effect", "estimate", "se", "df", "t", "p", f"{percent} limits"),
            rows=tuple(
                (e.name, Estimate(e.estimate, e.se), Estimate(e.se, e.se), e.df, e.t, PValue(e.p, e.log10_p),
                 Interval(e.low, e.high, e.estimate, drawn=e.name != "(Intercept)"))
                for e in self.fixed
            ),
        )  # fmt: skip
        random = Table(
            title="Variance components",
            columns=("group", "term", "variance", "sd", "correlations"),
            rows=tuple(
                (c.group, c.term, c.variance, c.sd, ", ".join(f"{n} {_corr(r)}" for n, r in c.corr.items()))
                for c in self.random
            ),
            notes=tuple(f"{group}: {count:,} levels." for group, count in self.levels.items()),
        )
        return (fixed, random)

    def model(self) -> Model:
        """Return the live part of the fit; a fit restored from a file has none."""
        if self.live is None:
            raise ResultError("this fit was restored from a file, without its data: fit the model again to ask this")
        return self.live


def _corr(value: float) -> str:
    return "undefined" if math.isnan(value) else format_number(value)


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
    if method not in ("ml", "reml"):
        raise FitError(f"method is {method!r}; it can be 'ml' or 'reml'")
    if not 0 < level < 1:
        raise FitError(f"level is {level!r}; it must lie between 0 and 1, such as 0.95")
    return fit_design(make_design(formula, data, weights=weights, progress=progress), method=method, level=level)


def fit_design(design: Design, *, method: str, level: float = 0.95, start: Floats | None = None) -> LmmFit:
    """Return the fit of a design that was built already."""
    try:
        engine = fit_moments(accumulate(design.layout, design.sample), reml=method == "reml", start=start)
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


def describe(model: Model, *, method: str, level: float) -> LmmFit:
    """Return the tables of a fitted model."""
    design, engine = model.design, model.engine
    theta = engine.optimum.theta
    npar = len(model.names) + len(theta) + 1
    criterion, n = engine.solution.value, engine.moments.n
    singular = bool((theta[engine.moments.lower == 0] < SINGULAR).any())
    dropped = tuple(c.name for i, c in enumerate(design.fixed) if i not in engine.kept)
    return LmmFit(
        signature=sign("fit", method=method, formula=design.formula.text, n=n, criterion=f"{criterion:.10g}"),
        seed=None,
        warnings=tuple(_warnings(engine, singular, dropped)),
        rows=design.rows,
        verdict=_verdict(design, engine, method, criterion, singular),
        formula=design.formula.text,
        n=n,
        method=method,
        criterion=criterion,
        loglik=-criterion / 2,
        aic=criterion + 2 * npar,
        bic=criterion + math.log(n) * npar,
        npar=npar,
        sigma=model.sigma,
        converged=engine.converged,
        singular=singular,
        dropped=dropped,
        levels={block.group.label: block.group.count for block in design.random},
        fixed=tuple(_fixed(model, level)),
        random=tuple(_random(model)),
        optimizer=_record(design, engine),
        level=level,
        live=model,
    )


def _fixed(model: Model, level: float) -> list[FixedEffect]:
    rows = []
    for i, name in enumerate(model.names):
        estimate, se = float(model.beta[i]), math.sqrt(model.covariance[i, i])
        df = model.degrees(np.eye(len(model.names))[i])
        tail = t_tail(estimate / se, df)
        reach = t_quantile((1 + level) / 2, df) * se
        limits = (estimate - reach, estimate + reach)
        rows.append(FixedEffect(name, estimate, se, df, estimate / se, tail.p, tail.log10_p, *limits))
    return rows


def _random(model: Model) -> list[RandomComponent]:
    rows = []
    for block in model.design.random:
        factor = model.engine_sigma * block.factor(model.engine.optimum.theta)
        covariance = factor @ factor.T
        sd = np.sqrt(np.diag(covariance))
        for i, column in enumerate(block.columns):
            earlier = range(i) if block.correlated else ()
            corr = {
                block.columns[j].name: float(covariance[i, j] / (sd[i] * sd[j])) if sd[i] * sd[j] > 0 else math.nan
                for j in earlier
            }
            rows.append(RandomComponent(block.group.label, column.name, float(covariance[i, i]), float(sd[i]), corr))
    rows.append(RandomComponent("Residual", "", model.sigma**2, model.sigma, {}))
    return rows


def _record(design: Design, engine: EngineFit) -> OptimizerRecord:
    optimum = engine.optimum
    curvature = np.sqrt(np.maximum(np.abs(np.diag(engine.inference.curvature)), 1e-300))
    gradient = float(np.abs(engine.inference.gradient / curvature).max()) if len(curvature) else 0.0
    relative = optimum.theta / math.sqrt(design.weight_unit)
    theta = tuple(float(t) for block in design.random for t in _lower_triangle(block, relative))
    return OptimizerRecord(
        engine.criterion.evaluations, optimum.steps, optimum.reason, gradient, engine.decrease, theta
    )


def _lower_triangle(block: RandomBlock, theta: Floats) -> list[float]:
    """Return the parameters of a term as lme4 has them: the lower triangular factor for the formula's own columns."""
    factor = block.factor(theta)
    if block.correlated and not np.array_equal(block.transform, np.eye(len(factor))):
        lower = np.linalg.qr(factor.T)[1].T
        factor = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
    return [float(factor[i, j]) for i, j, _ in block.places]


def _warnings(engine: EngineFit, singular: bool, dropped: tuple[str, ...]) -> list[str]:
    said = []
    if not engine.converged:
        said.append(f"The fit did not converge ({engine.optimum.reason}): do not rely on its numbers.")
    if singular:
        said.append(
            "The fit is singular: some variance is zero (or a correlation -1 or 1); the data hold no sign of it."
        )
    if dropped:
        said.append(f"Dropped, because they are combinations of other columns: {', '.join(dropped)}.")
    return said


def _verdict(design: Design, engine: EngineFit, method: str, criterion: float, singular: bool) -> str:
    state = "converged" if engine.converged else "did NOT converge"
    name = "REML criterion" if method == "reml" else "-2 log-likelihood"
    note = ", singular" if singular else ""
    return (
        f"Linear mixed model {design.formula.text} on {engine.moments.n:,} rows, fitted by {method.upper()}: "
        f"{state}{note}, {name} {criterion:.4f}."
    )
