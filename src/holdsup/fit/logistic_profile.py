"""Profile-likelihood intervals of a logistic fit: standard deviations, correlations, and fixed effects."""

from __future__ import annotations

import math

import numpy as np

from holdsup.fit.logistic_model import LogisticModel
from holdsup.numerics.distributions import chi2_quantile
from holdsup.numerics.profiling import Profile, Quantity


class LogisticProfile(Profile):
    """The criterion about the optimum of a logistic fit, (theta, beta), along which limits are looked for."""

    def __init__(self, model: LogisticModel, *, level: float) -> None:
        fit = model.engine.fit
        # the lower limit of each coordinate but the last: 0 for a standard deviation
        self.lower = np.full(len(fit.theta) + len(fit.beta) - 1, -np.inf)
        self.lower[[t for block in model.design.random for i, j, t in block.places if i == j]] = 0.0
        self.unprofiled = fit.criterion.slopes
        self.optimum = np.concatenate([fit.theta, fit.beta])
        self.reach = math.sqrt(chi2_quantile(level, 1))
        self.best, self.gradient = self.unprofiled(self.optimum)
        values, vectors = np.linalg.eigh(fit.curvature)
        signs = np.where(self.optimum * fit.optimum.theta < 0, -1.0, 1.0)
        raised = (vectors * np.maximum(np.abs(values), 1e-8 * np.abs(values).max())) @ vectors.T
        self.hessian = raised * np.outer(signs, signs)


def fixed_quantity(model: LogisticModel, number: int) -> Quantity:
    """Return a fixed effect of the formula as a quantity with limits."""
    slope = np.concatenate([np.zeros(len(model.engine.fit.theta)), model.transform[number]])
    return Quantity(lambda point: float(slope @ point), lambda _: slope, -math.inf, math.inf)
