"""A fitted model put into words and tables."""

from __future__ import annotations

import math

import numpy as np

from holdsup.design import Design
from holdsup.design.matrices import RandomBlock
from holdsup.fit.records import OptimizerRecord, RandomComponent
from holdsup.fit.result import LmmFit, Model
from holdsup.numerics.layout import Floats
from holdsup.numerics.mixed import EngineFit
from holdsup.results import sign

__all__ = ["describe"]

SINGULAR = 1e-4  # a relative standard deviation below this is zero, as in lme4's isSingular


def describe(model: Model, *, method: str, level: float) -> LmmFit:
    """Return the tables of a fitted model."""
    design, engine = model.design, model.engine
    theta = engine.optimum.theta
    npar = len(model.names) + len(theta) + 1
    units = np.eye(len(model.names))
    criterion, n = engine.solution.value, engine.moments.n
    singular = bool((theta[engine.moments.lower == 0] < SINGULAR).any())
    dropped = tuple(c.name for i, c in enumerate(design.fixed) if i not in engine.kept)
    return LmmFit(
        signature=_signature(design, method, level, n, criterion),
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
        fixed=tuple(model.combine(row, name, level) for row, name in zip(units, model.names, strict=True)),
        random=tuple(_random(model)),
        optimizer=_record(design, engine),
        level=level,
        live=model,
    )


def _signature(design: Design, method: str, level: float, n: int, criterion: float) -> str:
    """Return the signature; the criterion to ten digits is what only the same rows and the same model give."""
    formula, weights = design.formula.text, design.variables.weights_column
    return sign("fit", method=method, formula=formula, weights=weights, level=level, n=n, criterion=f"{criterion:.10g}")


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
    return OptimizerRecord(engine.lean.evaluations, optimum.steps, optimum.reason, gradient, engine.decrease, theta)


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
