"""`GlmmFit`: a fitted logistic mixed model, and how an optimum is put into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from holdsup.errors import ResultError
from holdsup.fit.logistic_checks import SOME, Agreement
from holdsup.fit.logistic_model import LogisticModel
from holdsup.fit.logistic_records import LogisticNumbers
from holdsup.fit.logistic_words import (
    caution_agreement,
    caution_laplace,
    describe_logistic_method,
    tabulate_rates,
    write_logistic,
)
from holdsup.fit.margins import find_rates, subtract_rates
from holdsup.fit.records import OptimizerRecord
from holdsup.fit.result import LmmFit, number_fit
from holdsup.fit.words import tabulate_effects
from holdsup.numerics.layout import Floats
from holdsup.rendering import Answer, Table
from holdsup.results import Asked, Method


@dataclass(frozen=True, slots=True, kw_only=True)
class GlmmFit(LogisticNumbers):
    """A logistic mixed model, fitted by maximum likelihood; estimates are log-odds.

    `method` is "quadrature" or "laplace", and `sigma` the residual standard deviation of the latent scale.
    """

    kind: ClassVar[str] = "glmm"

    def answer(self) -> Answer:
        """Return how probable success is, and what the fixed effects say."""
        return write_logistic(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the fixed effects, the probabilities and the variance components."""
        random = LmmFit.tables(self)[-1]
        return (tabulate_effects(self.fixed, self.level, odds=True), tabulate_rates(self.rates, self.level), random)

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return describe_logistic_method(self)

    def model(self) -> LogisticModel:
        """Return the live part of the fit; a fit restored from a file has none."""
        if not isinstance(self.live, LogisticModel):
            raise ResultError("this fit was restored from a file, without its data: fit the model again to ask this")
        return self.live


def describe_logistic(model: LogisticModel, *, level: float, agreement: Agreement) -> GlmmFit:
    """Return the tables of a fitted model."""
    design, fit, outcomes = model.design, model.engine.fit, model.outcomes
    criterion = fit.optimum.value + binomial_constant(model)
    diagonal = sorted({t for block in design.random for i, j, t in block.places if i == j})
    numbers = number_fit(
        model, criterion=criterion, npar=len(fit.theta) + len(fit.beta), n=design.rows.used, level=level,
        diagonal=fit.theta[diagonal], converged=fit.converged, reason=fit.optimum.reason,
    )  # fmt: skip
    numbers["cautions"] += (
        *caution_agreement(agreement.unanimous, agreement.cells, agreement.expected, far=agreement.excess > SOME),
        *(caution_laplace(fit.method, extreme_share(model)) if design.random else ()),
    )
    return GlmmFit(
        asked=_signature(model, level, criterion),
        trials=outcomes.total,
        successes=float(outcomes.successes.sum()),
        method=fit.method,
        nodes=fit.nodes,
        penalty=model.penalty,
        converged=fit.converged,
        optimizer=_record(model),
        rates=find_rates(model, level),
        difference=None if numbers["pair"] is None else subtract_rates(model, level),
        **numbers,
    )


def binomial_constant(model: LogisticModel) -> float:
    """Return -2 times the logarithm of the binomial coefficients, which the criterion of rows has."""
    from scipy.special import gammaln

    s, n = model.outcomes.successes, model.outcomes.trials
    return 0.0 if n is None else float(-2 * (gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)).sum())


def _signature(model: LogisticModel, level: float, criterion: float) -> Asked:
    fit = model.engine.fit
    given: dict[str, Any] = dict([model.outcomes.given] if model.outcomes.given else [])
    return Asked.about(
        "glmm", formula=model.design.formula.text, family="binomial", **given,
        method=fit.method if model.design.random else None, penalty=model.penalty, level=level,
        n=model.design.rows.used, criterion=f"{criterion:.10g}",
    )  # fmt: skip


def _record(model: LogisticModel) -> OptimizerRecord:
    fit = model.engine.fit
    scale = np.sqrt(np.maximum(np.abs(np.diag(fit.curvature)), 1e-300))
    gradient = float(np.abs(fit.optimum.gradient / scale).max(initial=0.0))
    theta = tuple(float(t) for t in fit.theta)
    return OptimizerRecord(fit.evaluations, fit.optimum.steps, fit.optimum.reason, gradient, fit.decrease, theta)


def extreme_share(model: LogisticModel) -> float:
    """Return the share of successes that is farthest from a half, among rows with the same fixed effects."""
    cells, X = model.engine.cellular.model.cells, model.engine.cellular.model.X
    _, kind = np.unique(X, axis=0, return_inverse=True)
    s, n = (np.bincount(kind.ravel(), cells.by_point(x)) for x in (cells.s, cells.n))
    if n.max() < 30:  # numbers among the fixed effects: hardly two rows are alike
        s, n = s.sum(keepdims=True), n.sum(keepdims=True)
    shares: Floats = s[n >= min(30, n.max())] / n[n >= min(30, n.max())]
    return float(shares[np.abs(shares - 0.5).argmax()])
