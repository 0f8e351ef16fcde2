"""Limits by profile likelihood: where the criterion, minimized anew by brute force, has risen by the quantile."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import holdsup
from holdsup.fit import LmmFit, fit_lmm, profile_intervals, profile_share
from holdsup.numerics.optimization import certify

QUANTILE = 3.841458820694124  # chi-square(1), 95%


def crossed(items: int, runs: int, sd: tuple[float, float], seed: int, *, missing: float = 0.0) -> LmmFit:
    rng = np.random.default_rng(seed)
    item, run = (axis.ravel() for axis in np.indices((items, runs)))
    y = rng.normal(0, sd[0], items)[item] + rng.normal(0, sd[1], runs)[run] + rng.normal(size=items * runs)
    kept = rng.random(len(y)) >= missing
    data = {"y": y[kept], "item": item[kept].astype(str), "run": run[kept].astype(str)}
    return fit_lmm("y ~ 1 + (1 | item) + (1 | run)", data, "reml")


def rise_of_share(fit: LmmFit, phi: float) -> float:
    """Return the rise of the criterion with the items' share held, the runs' variance searched over a grid."""
    criterion, odds = fit.model().engine.criterion, phi / (1 - phi)

    def held(log_run: float) -> float:
        run = math.exp(log_run)
        return criterion.solve(np.array([math.sqrt(odds * (run**2 + 1)), run])).value

    grid = np.linspace(-9, 7, 321)
    best = grid[np.argmin([held(x) for x in grid])]
    found = minimize_scalar(held, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-10})
    return float(found.fun) - fit.criterion


@pytest.mark.parametrize(
    ("items", "runs", "sd", "seed", "missing"),
    [(60, 5, (1, 0.3), 1, 0.0), (20, 2, (0.6, 4), 2, 0.3), (100, 2, (1, 1), 3, 0.0), (30, 3, (0.5, 0), 4, 0.2)],
)
def test_limits_of_a_share_lie_where_the_criterion_has_risen_by_the_quantile(
    items: int, runs: int, sd: tuple[float, float], seed: int, missing: float
) -> None:
    fit = crossed(items, runs, sd, seed, missing=missing)
    share = profile_share(fit, "item")
    for limit in (share.low, share.high):
        if limit > 0:
            assert rise_of_share(fit, limit) == pytest.approx(QUANTILE, abs=1e-4)


def test_a_variance_of_zero_may_grow_along_the_profile_of_another() -> None:
    """At the optimum the run's variance is zero; where the items' is held low, runs take over."""
    for seed in range(20):
        fit = crossed(12, 6, (0.8, 0.35), seed)
        if fit.random[1].variance < 1e-6:
            break
    assert fit.singular
    criterion, sigma = fit.model().engine.criterion, fit.sigma
    item = next(limits for limits in profile_intervals(fit) if limits.group == "item")

    def rise(sd: float) -> float:
        """Return the rise with the items' sd held, over a grid of the runs' and the residual's."""
        found = math.inf
        for s in sigma * np.exp(np.linspace(-0.2, 0.2, 81)):
            for run in np.linspace(0, 1, 101):
                there = criterion.solve(np.array([sd / s, run]))
                more = 2 * math.log(s) - math.log(there.sigma2) + there.sigma2 / s**2 - 1
                found = min(found, there.value + criterion.dof * more)
        return found - fit.criterion

    assert rise(item.low) == pytest.approx(QUANTILE, abs=1e-2)
    assert rise(item.high) == pytest.approx(QUANTILE, abs=1e-2)


def test_a_variance_that_is_all_but_zero_is_certain() -> None:
    """An optimum beside zero is flat, because zero is almost as good: 1 in 100 tables of 8 levels x 2 runs x 60 items."""
    gradient = np.zeros(2)
    assert certify(np.array([1.436, 0.0046]), gradient, np.diag([101.2, 0.3157]))[1]
    assert not certify(np.array([1.436, 0.46]), gradient, np.diag([101.2, 3e-6]))[1]  # changed at will


def test_limits_of_six_datasets_take_dozens_of_evaluations_not_thousands() -> None:
    rng = np.random.default_rng(5)
    dataset, item, seed = (axis.ravel() for axis in np.indices((6, 30, 5)))
    y = rng.normal(0, 0.1, (6, 30))[dataset, item] + rng.normal(0, 0.03, 6)[dataset] + rng.normal(0, 0.03, 5)[seed]
    y += rng.normal(0, 0.01, (6, 5))[dataset, seed] + rng.normal(0, 0.08, len(y))
    data = {"y": y, "d": dataset.astype(str), "i": (30 * dataset + item).astype(str), "s": seed.astype(str)}
    fit = holdsup.fit_lmm("y ~ 1 + (1 | i) + (1 | d) + (1 | s) + (1 | d:s)", data)
    criterion = fit.model().engine.criterion
    before = criterion.evaluations
    found = profile_intervals(fit)
    profile_share(fit, "i", "d")
    assert len(found) == 5
    assert criterion.evaluations - before < 300


@pytest.mark.parametrize("seed", [4, 14, 29, 40])
def test_a_search_that_went_too_far_finds_its_way_back(seed: int) -> None:
    """Two levels far apart: the first step leads to a variance of zero, a rise of hundreds, and a Hessian of no use."""
    rng = np.random.default_rng(seed)
    item, lr, run = (axis.ravel() for axis in np.indices((98, 2, 2)))
    y = rng.normal(0, 0.1, 98)[item] + np.array([0.5, -0.5])[lr] + rng.normal(0, 0.1, 2)[run]
    y += rng.normal(0, 0.32, len(y))
    data = {"y": y, "item": item.astype(str), "lr": lr.astype(str), "run": run.astype(str)}
    fit = fit_lmm("y ~ 1 + (1 | item) + (1 | lr) + (1 | run)", data)
    model = fit.model()
    criterion, optimum = model.engine.criterion, np.append(model.engine.optimum.theta, math.log(fit.sigma))
    place = [component.group for component in fit.random].index("lr")
    low = next(found.low for found in profile_intervals(fit) if found.group == "lr")

    def held(others: np.ndarray) -> float:
        theta = np.insert(np.abs(others[:-1]), place, low / math.exp(others[-1]))
        return criterion.unprofiled(np.append(theta, others[-1]))[0]

    start = np.delete(optimum, place)
    found = minimize(held, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9, "maxiter": 4000})
    assert found.fun - criterion.unprofiled(optimum)[0] == pytest.approx(QUANTILE, abs=2e-3)
