"""Profile-likelihood intervals of a logistic fit: standard deviations, correlations, and fixed effects."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdsup.fit.logistic_model import LogisticModel
from holdsup.numerics.distributions import chi2_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.logistic import Criterion
from holdsup.numerics.profiling import Profile, Quantity


@dataclass(frozen=True, slots=True)
class _Bounds:
    lower: Floats  # lower limit of each coordinate but the last: 0 for a standard deviation


class _Unprofiled:
    """The criterion of (theta, beta) as a profile follows it."""

    def __init__(self, criterion: Criterion, lower: Floats) -> None:
        self.criterion, self.moments = criterion, _Bounds(lower)

    def unprofiled(self, point: Floats) -> tuple[float, Floats]:
        """Return the value and its gradient."""
        return self.criterion.slopes(point)


class LogisticProfile(Profile):
    """The criterion about the optimum of a logistic fit, (theta, beta), along which limits are looked for."""

    def __init__(self, model: LogisticModel, *, level: float) -> None:
        fit = model.engine.fit
        lower = np.full(len(fit.theta) + len(fit.beta) - 1, -np.inf)
        lower[[t for block in model.design.random for i, j, t in block.places if i == j]] = 0.0
        self.criterion = _Unprofiled(fit.criterion, lower)  # type: ignore[assignment]
        self.optimum = np.concatenate([fit.theta, fit.beta])
        self.reach = math.sqrt(chi2_quantile(level, 1))
        self.best, self.gradient = self.criterion.unprofiled(self.optimum)
        values, vectors = np.linalg.eigh(fit.curvature)
        signs = np.where(self.optimum * fit.optimum.theta < 0, -1.0, 1.0)
        raised = (vectors * np.maximum(np.abs(values), 1e-8 * np.abs(values).max())) @ vectors.T
        self.hessian = raised * np.outer(signs, signs)


def fixed_quantity(model: LogisticModel, number: int) -> Quantity:
    """Return a fixed effect of the formula as a quantity with limits."""
    slope = np.concatenate([np.zeros(len(model.engine.fit.theta)), model.transform[number]])
    return Quantity(lambda point: float(slope @ point), lambda _: slope, -math.inf, math.inf)
