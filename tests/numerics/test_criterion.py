"""The approximate Hessian is close to the exact one, and the search with it ends at the same place."""

from __future__ import annotations

import numpy as np
import pytest

from designs import make_design
from holdsup.numerics import compiled, criterion as criteria
from holdsup.numerics.criterion import Criterion, average_information, has_information
from holdsup.numerics.mixed import fit_moments
from holdsup.numerics.moments import Moments, accumulate
from holdsup.numerics.optimization import differentiate


def moments_of(formula: str) -> Moments:
    rng = np.random.RandomState(8)
    a, b, c = rng.randint(0, 60, 900), rng.randint(0, 40, 900), rng.randint(0, 15, 900)
    x = rng.normal(size=900)
    y = rng.normal(size=60)[a] + 0.7 * rng.normal(size=40)[b] + 0.5 * rng.normal(size=15)[c] + x + rng.normal(size=900)
    design = make_design(formula, {"a": a, "b": b, "c": c, "x": x, "y": y})
    return accumulate(design.layout, design.sample)


@pytest.mark.parametrize("reml", [True, False])
def test_average_information_is_near_the_hessian_at_the_optimum(reml: bool) -> None:
    moments = moments_of("y ~ x + (1 | a) + (1 | b) + (1 | c)")
    fit = fit_moments(moments, reml=reml)
    criterion, theta = fit.criterion, fit.optimum.theta
    found = average_information(moments, theta, fit.solution.L, criterion.dof)
    exact = differentiate(criterion, theta, criterion.slopes(theta)[1])
    assert found is not None
    scale = np.sqrt(np.diag(exact))
    # Observed and average information differ by a term of mean zero: about 1 / sqrt(levels / 2).
    assert np.abs((found - exact) / scale / scale[:, None]).max() < 0.35


def test_the_search_by_information_ends_at_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = moments_of("y ~ x + (1 | a) + (1 | b) + (1 | c)")
    plain = fit_moments(moments, reml=True)
    monkeypatch.setattr(criteria, "DEAR", 0)
    monkeypatch.setattr(compiled, "loaded", lambda: False)  # small models have no need of it
    assert Criterion(moments, reml=True).information(plain.optimum.theta) is not None
    by_information = fit_moments(moments, reml=True)
    assert by_information.solution.value == pytest.approx(plain.solution.value, abs=1e-9)
    assert by_information.converged


def test_there_is_none_for_slopes_or_at_a_variance_of_zero() -> None:
    assert not has_information(moments_of("y ~ x + (1 + x | a) + (1 | b)"))
    moments = moments_of("y ~ x + (1 | a) + (1 | b)")
    fit = fit_moments(moments, reml=True)
    assert average_information(moments, np.array([0.0, 1.0]), fit.solution.L, 898) is None
