"""Probabilities that a logistic model implies, averaged over random effects and rows, and their differences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from holdsup.design.coding import dense_columns
from holdsup.errors import FitError, list_names
from holdsup.fit.logistic_model import LogisticModel
from holdsup.fit.logistic_records import Rate, RateDifference
from holdsup.numerics.chain import factor_of
from holdsup.numerics.distributions import normal_tail, t_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.quadrature import normal_nodes

NODES = 51
MOST_RATES = 60  # levels of a factor whose rates are part of the result


Average = Callable[[Floats], tuple[float, Floats]]  # of (theta, beta), with its gradient


def find_rates(model: LogisticModel, level: float) -> tuple[Rate, ...]:
    """Return the rates that a result shows: those of the first factor among the fixed effects, or the overall one."""
    return tuple(make_rate(model, *pair, level) for pair in list_averages(model, _first_factor(model)))


def subtract_rates(model: LogisticModel, level: float) -> RateDifference:
    """Return the difference of the two rates of the only factor."""
    reference, other = list_averages(model, _first_factor(model))
    return make_difference(model, other, reference, level)


def _first_factor(model: LogisticModel) -> str | None:
    for term in model.design.formula.fixed:
        if len(term) == 1:
            coded = model.design.variables.coded[term[0]]
            if coded.factor is not None and len(coded.levels) <= MOST_RATES:
                return term[0].variable
    return None


def list_averages(model: LogisticModel, factor: str | None) -> list[tuple[str, Average]]:
    """Return for each level of a factor the mean probability as a function of (theta, beta)."""
    if factor is None:
        return [("overall", _average(model, None, 0))]
    coded = {f: c for f, c in model.design.variables.coded.items() if f.variable == factor and c.factor is not None}
    used = {index for column in model.design.fixed for index, _ in column.levels}
    target = next((c for c in coded.values() if c.factor in used), None)
    if target is None:
        known = {f.variable for f, c in model.design.variables.coded.items() if c.factor in used}
        raise FitError(f"{factor!r} is no factor among the fixed effects; there are {list_names(sorted(known))}")
    return [(f"{factor} {label}", _average(model, target.factor, code)) for code, label in enumerate(target.levels)]


def _average(model: LogisticModel, factor: int | None, code: int) -> Average:
    """Return the mean over rows, with a factor at a level, of the probability averaged over random effects."""
    design, cellular = model.design, model.engine.cellular
    cells, shown = cellular.model.cells, cellular.points.shown
    codes = [labels.codes[shown] for labels in design.variables.factors]
    if factor is not None:
        codes[factor] = np.full_like(codes[factor], code)
    numbers = [x[shown] for x in design.sample.numbers]
    X = dense_columns(design.layout.fixed, numbers, codes, len(shown))[:, cellular.kept]
    Z = [dense_columns(block.engine, numbers, codes, len(shown)) for block in design.random]
    rows = np.hstack([X, *Z])
    weight = cells.by_point(cells.n)
    distinct, kind = np.unique(rows, axis=0, return_inverse=True)
    weight = np.bincount(kind.ravel(), weight) / weight.sum()
    p, k = X.shape[1], cellular.model.parameters
    X, Z = distinct[:, :p], np.split(distinct[:, p:], np.cumsum([z.shape[1] for z in Z])[:-1], axis=1) if Z else []

    def average(x: Floats) -> tuple[float, Floats]:
        theta, beta = x[:k], x[k:]
        variance, by_theta = np.zeros(len(X)), np.zeros((len(X), k))
        for z, term in zip(Z, cellular.model.terms, strict=True):
            along = z @ factor_of(term, theta)
            variance += (along**2).sum(axis=1)
            for i, j, parameter in term.places:
                by_theta[:, parameter] += 2 * along[:, j] * z[:, i]
        found, by_eta, by_variance = average_over_effects(X @ beta, variance)
        slope = np.concatenate([(weight * by_variance) @ by_theta, (weight * by_eta) @ X])
        return float(weight @ found), slope

    return average


def average_over_effects(eta: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean probability where normal effects of some variance are added to each log-odds.

    Its derivatives by the log-odds and by the variance (half the second one by the log-odds) come with it.
    """
    nodes, share = normal_nodes(NODES)
    p = expit(eta[:, None] + np.sqrt(variance)[:, None] * nodes)
    slope = p * (1 - p)
    return np.asarray(p @ share), np.asarray(slope @ share), np.asarray((slope * (0.5 - p)) @ share)


def _delta(model: LogisticModel, found: tuple[float, Floats]) -> tuple[float, float]:
    """Return a function of the parameters at the optimum, and its standard error."""
    value, slope = found
    return value, math.sqrt(max(0.0, float(slope @ model.engine.fit.joint @ slope)))


def _point(model: LogisticModel) -> Floats:
    return np.concatenate([model.engine.fit.theta, model.engine.fit.beta])


def make_rate(model: LogisticModel, name: str, average: Average, level: float) -> Rate:
    """Return a rate with its CI."""
    estimate, se = _delta(model, average(_point(model)))
    odds, reach = math.log(estimate / (1 - estimate)), t_quantile((1 + level) / 2, math.inf)
    width = reach * se / (estimate * (1 - estimate))
    return Rate(name, estimate, se, float(expit(odds - width)), float(expit(odds + width)))


def make_difference(
    model: LogisticModel, later: tuple[str, Average], earlier: tuple[str, Average], level: float
) -> RateDifference:
    """Return the difference of two rates, the later one minus the earlier one; its CI ends at -1 and 1."""
    (one, slope), (other, against) = later[1](_point(model)), earlier[1](_point(model))
    estimate, se = _delta(model, (one - other, slope - against))
    tail, reach = normal_tail(estimate / se), t_quantile((1 + level) / 2, math.inf) * se
    name = f"{later[0]} - {earlier[0]}"
    low, high = max(estimate - reach, -1.0), min(estimate + reach, 1.0)
    return RateDifference(name, estimate, se, low, high, tail.p, tail.log10_p)
