"""`LmmFit`: a fitted linear mixed model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from holdsup.design import Design
from holdsup.errors import ResultError
from holdsup.fit.records import Contrast, OptimizerRecord, RandomComponent
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import EngineFit
from holdsup.numerics.quantiles import t_quantile
from holdsup.numerics.tails import t_tail
from holdsup.rendering import Estimate, Interval, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.results import Result

__all__ = ["LmmFit", "Model"]


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

    def combine(self, weights: Floats, name: str, level: float) -> Contrast:
        """Return a combination of fixed effects, with its test and its limits."""
        estimate = float(weights @ self.beta)
        se = math.sqrt(max(0.0, float(weights @ self.covariance @ weights)))
        if se == 0:  # the combination is known exactly
            return Contrast(name, estimate, 0.0, math.inf, math.nan, math.nan, math.nan, estimate, estimate)
        df = self.degrees(weights)
        tail = t_tail(estimate / se, df)
        reach = t_quantile((1 + level) / 2, df) * se
        return Contrast(name, estimate, se, df, estimate / se, tail.p, tail.log10_p, estimate - reach, estimate + reach)


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
    fixed: tuple[Contrast, ...]
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
