"""The approximate Hessian is close to the exact one, and the search with it ends at the same place."""

from __future__ import annotations

import numpy as np
import pytest

from designs import make_design
from holdsup.numerics import criterion as criteria
from holdsup.numerics.criterion import Criterion, average_information, has_information
from holdsup.numerics.elimination import Elimination, Levels, Patterns, choose_elimination
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
    assert Criterion(moments, reml=True).information(plain.optimum.theta) is not None
    by_information = fit_moments(moments, reml=True)
    assert by_information.solution.value == pytest.approx(plain.solution.value, abs=1e-9)
    assert by_information.converged


def test_there_is_none_for_slopes_or_at_a_variance_of_zero() -> None:
    assert not has_information(moments_of("y ~ x + (1 + x | a) + (1 | b)"))
    moments = moments_of("y ~ x + (1 | a) + (1 | b)")
    fit = fit_moments(moments, reml=True)
    assert average_information(moments, np.array([0.0, 1.0]), fit.solution.L, 898) is None


def stack(elimination: Elimination, scales: np.ndarray) -> Patterns | Levels:
    """Return an elimination of as many responses as there are scales, each so many times that of the data."""
    assert isinstance(elimination, Patterns | Levels)
    C = np.repeat(elimination.C[None], len(scales), axis=0)
    rows = elimination.sums if isinstance(elimination, Patterns) else elimination.B
    many = np.repeat(rows[None], len(scales), axis=0)
    for d, scale in enumerate(scales):
        C[d, -1] *= scale
        C[d, :, -1] *= scale
        many[d, ..., -1] *= scale
        if isinstance(elimination, Patterns):
            many[d, ..., -1, :] *= scale
    if isinstance(elimination, Patterns):
        return Patterns(C, elimination.blocks, many.reshape(len(scales), *elimination.P.shape))
    return Levels(C, elimination.blocks, many)


@pytest.mark.parametrize("seed", range(12))
def test_many_responses_at_once_give_what_each_gives_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(60, 200))
    table = {name: rng.integers(0, count, rows) for name, count in (("g", 9), ("h", 5), ("k", 3))}
    table |= {name: rng.normal(rng.normal(), 1, rows) for name in ("x", "z", "y")}
    fixed = " + ".join(["1", *rng.choice(["x", "z", "factor(k)"], rng.integers(0, 4), replace=False)])
    slopes = ["1", "1 + x", "0 + x", "1 + x + z"]
    random = [f"({rng.choice(slopes)} {rng.choice(['|', '||'])} {group})" for group in ("g", "h")[: seed % 2 + 1]]
    design = make_design(f"y ~ {fixed} + {' + '.join(random)}", table)
    moments = accumulate(design.layout, design.sample)
    scales, reml = np.array([0.5, 1.0, 3.0]), bool(rng.integers(2))
    theta = rng.normal(0, rng.choice([0.1, 1, 3]), (3, len(moments.lower)))
    whole = stack(choose_elimination(moments, exact=seed % 3 == 0), scales)
    values, gradients = Criterion(moments, reml=reml, elimination=whole).slopes(theta)
    for d, scale in enumerate(scales):
        design = make_design(f"y ~ {fixed} + {' + '.join(random)}", {**table, "y": scale * table["y"]})
        alone = Criterion(accumulate(design.layout, design.sample), reml=reml)
        value, gradient = alone.slopes(theta[d])
        assert values[d] == pytest.approx(value, rel=1e-10)
        # A gradient is a difference of sums as large as the degrees of freedom.
        assert gradients[d] == pytest.approx(gradient, rel=1e-9, abs=1e-11 * alone.dof)


def test_a_matrix_that_is_not_positive_definite_gives_infinity_alone_and_among_others() -> None:
    moments = moments_of("y ~ x + (1 | a) + (1 | c)")
    criterion = Criterion(moments, reml=False)
    many = Criterion(moments, reml=False, elimination=stack(criterion.elimination, np.array([1.0, 2.0])))
    many.elimination.C[1] *= -1  # type: ignore[attr-defined]
    criterion.elimination.C = -moments.C  # type: ignore[attr-defined]
    value, gradient = criterion.slopes(np.ones(2))
    values, gradients = many.slopes(np.ones((2, 2)))
    assert value == values[1] == np.inf
    assert np.isnan([*gradient, *gradients[1]]).all()
    assert np.isfinite([values[0], *gradients[0]]).all()
    with pytest.raises(FloatingPointError, match="not positive definite"):
        criterion.solve(np.ones(2))
