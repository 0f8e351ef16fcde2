"""Tables like HANS, where most items are right or wrong in all systems: the likelihood settles, or the fit says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from holdsup import fit_glmm
from holdsup.errors import Separation
from holdsup.fit.glmm_result import GlmmFit
from holdsup.numerics import logistic


def hans(seed: int, *, ends: float, cases: int = 30, each: int = 200, systems: int = 4) -> dict[str, Any]:
    """Kinds of items on each of which a system is right nearly always or nearly never; the smaller `ends`, the more so."""
    g = np.random.RandomState(seed)
    rate = g.beta(ends, ends, size=cases) + 0.15 * g.standard_normal((systems, cases))
    case = np.repeat(np.arange(cases), each)
    y = g.random_sample((systems, cases * each)) < np.clip(rate, 0.002, 0.998)[:, case]
    s, i = (axis.ravel() for axis in np.indices(y.shape))
    return {"system": [f"s{k}" for k in s], "item": [f"q{k}" for k in i], "y": y.ravel().astype(float)}


def integrated(fit: GlmmFit, table: dict[str, Any]) -> float:
    """Return -2 log-likelihood at the fit's estimates, each pattern of outcomes integrated adaptively."""
    y = np.array(table["y"]).reshape(4, -1)
    effects = [e.estimate for e in fit.fixed]
    eta, sd = np.array([effects[0], *(effects[0] + e for e in effects[1:])]), fit.random[0].sd
    total = 0.0
    patterns, counts = np.unique(y, axis=1, return_counts=True)
    for pattern, count in zip(patterns.T, counts, strict=True):

        def density(u: float, pattern: Any = pattern) -> float:
            logs = -np.logaddexp(0.0, np.where(pattern > 0, -1.0, 1.0) * (eta + sd * u))
            return float(np.exp(logs.sum() - u * u / 2) / np.sqrt(2 * np.pi))

        value = sum(quad(density, a, a + 1, epsabs=1e-14, epsrel=1e-12)[0] for a in range(-9, 9))
        total -= 2 * count * np.log(value)
    return total


@pytest.mark.parametrize("ends", [0.3, 0.1, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_items_near_both_ends_are_integrated_exactly_or_refused(seed: int, ends: float) -> None:
    table = hans(seed, ends=ends)
    try:
        fit = fit_glmm("y ~ system + (1 | item)", table)
    except Separation as refused:
        assert "two modes" in str(refused)  # noqa: PT017
        return
    assert (fit.method, fit.converged) == ("quadrature", True)
    assert fit.criterion == pytest.approx(integrated(fit, table), abs=1e-4)


def test_such_tables_need_more_nodes_than_the_first_grid_has() -> None:
    assert fit_glmm("y ~ system + (1 | item)", hans(0, ends=0.1)).nodes > 200
    assert fit_glmm("y ~ system + (1 | item)", hans(0, ends=3.0)).nodes < 100


def test_a_fit_that_does_not_settle_at_the_most_nodes_says_so_everywhere(monkeypatch: Any) -> None:
    """The table needs four times the nodes; where only twice as many are allowed, it has not settled."""
    monkeypatch.setattr(logistic, "MOST_REFINED", 2.0)
    fit = fit_glmm("y ~ system + (1 | item)", hans(0, ends=0.1))
    assert not fit.converged
    assert fit.optimizer.reason == logistic.NOT_SETTLED
    assert fit.answer().headline == "The fit did not converge: don't use its numbers."
    (caution,) = [c for c in fit.cautions if c.code == "not-converged"]
    assert "number of nodes" in caution.message
