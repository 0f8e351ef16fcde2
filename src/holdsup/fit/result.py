"""`LmmFit`: a fitted linear mixed model, and how an optimum is put into it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from holdsup.design import Design
from holdsup.design.formulas import INTERCEPT
from holdsup.design.groups import RandomBlock
from holdsup.errors import ResultError
from holdsup.fit.records import Contrast, FitNumbers, LevelPair, OptimizerRecord, RandomComponent, make_contrast
from holdsup.fit.words import caution_fit, describe_method, tabulate_effects, write_linear
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import EngineFit
from holdsup.rendering import Answer, Table
from holdsup.rendering.numbers import format_number
from holdsup.results import Asked, Method

SINGULAR = 1e-4  # a relative standard deviation below this is zero, as in lme4's isSingular


@dataclass(frozen=True, eq=False)
class Model:
    """The live part of a fit: what questions beyond the saved table are answered from."""

    design: Design  # the formula on its data
    engine: EngineFit  # the optimum

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
        variance = float(weights @ self.covariance @ weights)
        return make_contrast(name, float(weights @ self.beta), variance, partial(self.degrees, weights), level)


@dataclass(frozen=True, slots=True, kw_only=True)
class LmmFit(FitNumbers):
    """A linear mixed model, fitted by maximum likelihood or REML."""

    kind: ClassVar[str] = "fit"

    # what further questions are answered from; not saved
    live: Model | None = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def answer(self) -> Answer:
        """Return what the fixed effects say, and how large the variances are."""
        return write_linear(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the fixed effects and the variance components."""
        random = Table(
            name="random",
            title="Variance components",
            columns=("group", "term", "variance", "sd", "correlations"),
            rows=tuple(
                (c.group, c.term, c.variance, c.sd, ", ".join(f"{n} {_corr(r)}" for n, r in c.corr.items()))
                for c in self.random
            ),
            notes=tuple(f"{group}: {count:,} levels." for group, count in self.levels.items()),
        )
        return (tabulate_effects(self.fixed, self.level), random)

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return describe_method(self.formula, self.method, self.n)

    def model(self) -> Model:
        """Return the live part of the fit; a fit restored from a file has none."""
        if self.live is None:
            raise ResultError("this fit was restored from a file, without its data: fit the model again to ask this")
        return self.live


def _corr(value: float) -> str:
    return "undefined" if math.isnan(value) else format_number(value)


def describe(model: Model, *, method: str, level: float) -> LmmFit:
    """Return the tables of a fitted model."""
    design, engine = model.design, model.engine
    theta, criterion, n = engine.optimum.theta, engine.solution.value, engine.moments.n
    return LmmFit(
        asked=_signature(design, method, level, n, criterion),
        method=method,
        converged=engine.converged,
        optimizer=_record(design, engine),
        **number_fit(
            model, criterion=criterion, npar=len(model.names) + len(theta) + 1, n=n, level=level,
            diagonal=theta[engine.moments.lower == 0], converged=engine.converged, reason=engine.optimum.reason,
        ),
    )  # fmt: skip


def number_fit(
    model: Model, *, criterion: float, npar: int, n: int, level: float, diagonal: Floats, converged: bool, reason: str
) -> dict[str, Any]:
    """Return what linear and logistic fits tell alike; `diagonal` are their relative standard deviations."""
    design, units = model.design, np.eye(len(model.names))
    singular = bool((np.abs(diagonal) < SINGULAR).any())
    dropped = tuple(c.name for i, c in enumerate(design.fixed) if i not in model.engine.kept)
    return {
        "seed": None,
        "cautions": tuple(caution_fit(converged=converged, reason=reason, singular=singular, dropped=dropped)),
        "rows": design.rows,
        "formula": design.formula.text,
        "n": n,
        "criterion": criterion,
        "loglik": -criterion / 2,
        "aic": criterion + 2 * npar,
        "bic": criterion + math.log(n) * npar,
        "npar": npar,
        "sigma": model.sigma,
        "singular": singular,
        "dropped": dropped,
        "levels": {block.group.label: block.group.count for block in design.random},
        "fixed": tuple(model.combine(row, name, level) for row, name in zip(units, model.names, strict=True)),
        "random": tuple(describe_random(model)),
        "level": level,
        "pair": find_pair(model),
        "live": model,
    }


def _signature(design: Design, method: str, level: float, n: int, criterion: float) -> Asked:
    """Return the signature; the criterion to ten digits is what only the same rows and the same model give."""
    formula, weights = design.formula.text, design.variables.weights_column
    return Asked.about(
        "fit", method=method, formula=formula, weights=weights, level=level, n=n, criterion=f"{criterion:.10g}"
    )


def find_pair(model: Model) -> LevelPair | None:
    """Return the levels that the only effect beside the intercept compares, if it compares two."""
    formula, effects = model.design.formula, [model.design.fixed[i] for i in model.engine.kept]
    if len(effects) != 2 or formula.fixed[0] != INTERCEPT or len(formula.fixed[1]) != 1:
        return None
    (factor,) = formula.fixed[1]
    coded = model.design.variables.coded[factor]
    if coded.factor is None or len(coded.levels) != 2:
        return None
    reference, level = coded.levels
    return LevelPair(str(formula.response), factor.variable, level, reference)


def describe_random(model: Model) -> list[RandomComponent]:
    """Return the variance components, that of the residual last."""
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
    return OptimizerRecord(engine.lean.evaluations, optimum.steps, optimum.reason, gradient, engine.decrease, theta)


def _lower_triangle(block: RandomBlock, theta: Floats) -> list[float]:
    """Return the parameters of a term as lme4 has them: the lower triangular factor for the formula's own columns."""
    factor = block.factor(theta)
    if block.correlated and not np.array_equal(block.transform, np.eye(len(factor))):
        lower = np.linalg.qr(factor.T)[1].T
        factor = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
    return [float(factor[i, j]) for i, j, _ in block.places]
