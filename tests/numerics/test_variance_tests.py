"""The simulated null of one variance: against a closed form, a projection written out, and fits of drawn responses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdsup.design.matrices import code_fitted_rows
from holdsup.fit import bootstrap_test, fit_lmm
from holdsup.fit.likelihood import reduce_terms
from holdsup.numerics.variance_tests import find_null, null_spectrum, simulate_null

DRAWS = 10_000


@pytest.mark.parametrize(("groups", "size"), [(3, 4), (4, 30), (12, 2), (40, 5)])
def test_a_balanced_one_way_null_gives_the_p_of_the_f_test(groups: int, size: int) -> None:
    """The likelihood ratio grows with F: at F > 1 it is d log[(x + 1) / (x / F + 1)] - (J - 1) log F, x = SSB / SSW."""
    drawn = simulate_null(np.full(groups - 1, float(size)), groups * size - 1, draws=DRAWS, seed=1)
    df1, df2 = groups - 1, groups * (size - 1)
    for p in (0.3, 0.1, 0.05, 0.01):
        f = float(stats.f.isf(p, df1, df2))
        if f <= 1:
            continue
        x = f * df1 / df2
        statistic = (groups * size - 1) * np.log((x + 1) / (x / f + 1)) - df1 * np.log(f)
        found = float((drawn >= statistic).mean())
        assert found == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / DRAWS) + 1e-3)


def test_the_statistic_is_zero_as_often_as_f_is_below_one() -> None:
    drawn = simulate_null(np.full(4, 6.0), 29, draws=DRAWS, seed=2)
    assert float((drawn <= 1e-9).mean()) == pytest.approx(float(stats.f.cdf(1, 4, 25)), abs=0.02)


def test_the_spectrum_is_that_of_the_projection_written_out() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(40), rng.normal(size=40)])
    U, Z = 0.7 * np.eye(5)[rng.integers(5, size=40)], np.eye(8)[rng.integers(8, size=40)]
    V = np.linalg.inv(np.eye(40) + U @ U.T)
    P = V - V @ X @ np.linalg.solve(X.T @ V @ X, X.T @ V)
    expected = np.linalg.eigvalsh(Z.T @ P @ Z)
    whole = np.column_stack([U, X])
    kept = whole.T @ whole + np.diag([1.0] * 5 + [0.0] * 2)
    found = null_spectrum(Z.T @ Z, Z.T @ whole, kept)
    np.testing.assert_allclose(np.sort(found), expected[expected > 1e-9], rtol=1e-8)


def test_a_term_of_which_nothing_is_left_has_a_null_of_zeros() -> None:
    assert not simulate_null(np.empty(0), 10, draws=5, seed=0).any()


def test_eigenvalues_that_hardly_differ_may_be_taken_together() -> None:
    """The mean of a bin stands for its values: the upper tail moves by less than the noise of the draws."""
    rng = np.random.default_rng(4)
    spread = np.exp(rng.normal(size=60))
    near = simulate_null(spread, 300, draws=DRAWS, seed=5)
    direct = _simulate_directly(spread, 300)
    for p in (0.1, 0.05, 0.01):
        limit = float(np.quantile(direct, 1 - p))
        assert float((near >= limit).mean()) == pytest.approx(p, abs=4 * np.sqrt(2 * p / DRAWS))


def _simulate_directly(spectrum: np.ndarray, dof: int) -> np.ndarray:
    """Return the statistic with every eigenvalue on its own and a finer grid."""
    rng = np.random.default_rng(6)
    squares = rng.normal(size=(DRAWS, len(spectrum))) ** 2
    rest = rng.chisquare(dof - len(spectrum), DRAWS)
    best = np.zeros(DRAWS)
    for ratio in np.geomspace(1e-4, 1e3, 400) / np.median(spectrum):
        growth = 1 + ratio * spectrum
        left = (squares / growth).sum(axis=1) + rest
        best = np.maximum(best, dof * np.log((squares.sum(axis=1) + rest) / left) - np.log(growth).sum())
    return best


@pytest.mark.slow
def test_the_null_beside_another_variance_is_that_of_a_parametric_bootstrap() -> None:
    rng = np.random.default_rng(7)
    system, dataset = (codes.ravel() for codes in np.meshgrid(np.arange(4), np.arange(6), indexing="ij"))
    rows = np.repeat(np.arange(24), 3)
    score = rng.normal(size=6)[dataset[rows]] + 0.5 * rng.normal(size=24)[rows] + rng.normal(size=72)
    table = {"score": score, "system": [f"s{i}" for i in system[rows]], "dataset": [f"d{i}" for i in dataset[rows]]}
    large = fit_lmm("score ~ 1 + (1 | dataset) + (1 | system:dataset)", table)
    found = next(r for r in reduce_terms(large) if r.test.group == "system:dataset")
    model = large.model()
    spectrum = find_null(model.engine.moments, np.append(found.fit.model().engine.optimum.theta, 0.0), 1)
    assert spectrum is not None
    simulated = simulate_null(spectrum, model.engine.moments.n - 1, draws=DRAWS, seed=8)
    small = fit_lmm("score ~ 1 + (1 | dataset)", table)
    drawn = bootstrap_test(small, large, 2000, seed=9).statistics
    for limit in (0.5, 1.5, 2.7):
        ours, theirs = float((simulated >= limit).mean()), float((drawn >= limit).mean())
        assert theirs > 0.01
        assert ours == pytest.approx(theirs, abs=4 * np.sqrt(theirs / 2000))


def test_the_null_of_every_term_is_made_of_cross_products_as_of_rows() -> None:
    """Terms that the engine eliminates first, and terms beside these, on a table with gaps."""
    rng = np.random.default_rng(10)
    system, dataset, rate, _ = (axis.ravel() for axis in np.meshgrid(range(3), range(5), range(2), range(3)))
    kept = rng.random(len(system)) < 0.8
    system, dataset, rate = system[kept], dataset[kept], rate[kept]
    x = rng.normal(size=len(system))
    score = system + rng.normal(size=5)[dataset] + rng.normal(size=(3, 5))[system, dataset] * (1 + x)
    score = score + rng.normal(size=(3, 5, 2))[system, dataset, rate] + rng.normal(size=len(system))
    table = {
        "score": score,
        "x": x,
        **{name: codes.astype(str) for name, codes in (("system", system), ("dataset", dataset), ("rate", rate))},
    }
    formula = "score ~ rate + (1|system) + (1|dataset) + (1|system:dataset) + (1|rate:system:dataset)"
    fit = fit_lmm(f"{formula} + (0 + center(x) | system:dataset)", table)
    model = fit.model()
    coded = code_fitted_rows(model.design)
    columns = [z * np.eye(levels.max() + 1)[levels] for z, levels in zip(coded.columns, coded.levels, strict=True)]
    X = coded.fixed
    for parameter, reduction in enumerate(reduce_terms(fit)):
        theta = np.insert(reduction.fit.model().engine.optimum.theta, parameter, 0.0)
        V = np.eye(len(X)) + sum(
            float(block.factor(theta)[0, 0]) ** 2 * Z @ Z.T
            for block, Z in zip(model.design.random, columns, strict=True)
        )
        inverse = np.linalg.inv(V)
        P = inverse - inverse @ X @ np.linalg.solve(X.T @ inverse @ X, X.T @ inverse)
        expected = np.linalg.eigvalsh(columns[parameter].T @ P @ columns[parameter])
        expected = expected[expected > 1e-9]
        found = find_null(model.engine.moments, theta, parameter)
        assert found is not None
        assert len(found) == len(expected) > 1
        np.testing.assert_allclose(np.sort(found) / found.max(), expected / expected.max(), rtol=1e-6)
