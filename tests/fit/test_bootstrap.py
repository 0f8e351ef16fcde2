"""The bootstrap: drawn cross-products against drawn rows, closed forms and published references."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from holdsup.errors import FitError, NotNested
from holdsup.fit import LmmFit, bootstrap_fit, bootstrap_test, fit_lmm, refit, simulate
from holdsup.fit.bootstrap import _simulation
from holdsup.fit.likelihood import embed
from holdsup.numerics.criterion import lambda_of
from holdsup.numerics.drawing import Truth, draw_responses, prepare_drawing
from holdsup.numerics.elimination import Levels, SparseLevels, choose_elimination
from holdsup.numerics.simulation import simulate_fits

DRAWS = 150  # of rows, which are dear; 8 times as many of cross-products


def crossed(items: int, runs: int, *, missing: float = 0.0, seed: int = 3) -> dict[str, np.ndarray]:
    """Return two systems on items, a few runs each; effects of items, runs and slopes on `length`."""
    rng = np.random.default_rng(seed)
    item, run, system = (part.ravel() for part in np.indices((items, runs, 2)))
    length = rng.normal(size=items)[item] + 0.3 * rng.normal(size=item.size)
    y = 0.3 * rng.normal(size=items)[item] + 0.2 * rng.normal(size=2 * runs)[2 * run + system]
    y = y + (0.1 + 0.2 * rng.normal(size=items)[item]) * length + 0.5 * rng.normal(size=item.size)
    kept = rng.random(item.size) >= missing
    names = {"item": np.char.add("i", item.astype(str)), "run": np.char.add("r", run.astype(str))}
    weight = rng.uniform(0.3, 3.0, item.size)
    columns = {"y": y, "system": np.array(["A", "B"])[system], "length": length, "weight": weight, **names}
    return {name: values[kept] for name, values in columns.items()}


DESIGNS = {
    "balanced": ("y ~ 1 + (1 | item) + (1 | run)", "y ~ system + (1 | item) + (1 | run)", crossed(20, 4), None),
    "unbalanced": (
        "y ~ 1 + (1 | item) + (1 | system:run)",
        "y ~ system + (1 | item) + (1 | system:run)",
        crossed(20, 4, missing=0.3),
        None,
    ),
    "sloped": ("y ~ 1 + (1 + length | item)", "y ~ length + (1 + length | item)", crossed(15, 3), None),
    "slope on the boundary": ("y ~ length + (1 | item)", "y ~ length + (1 + length | item)", crossed(15, 3), None),
    "weighted": (
        "y ~ 1 + (1 | item) + (1 | run)",
        "y ~ system * length + (1 | item) + (1 | run)",
        crossed(15, 3, missing=0.2),
        "weight",
    ),
    "variance on the boundary": (
        "y ~ system + (1 | item)",
        "y ~ system + (1 | item) + (1 | run)",
        crossed(15, 5),
        None,
    ),
    "interaction": (
        "y ~ 1 + (1 | item) + (1 | system:item)",
        "y ~ system + (1 | item) + (1 | system:item)",
        crossed(15, 3, missing=0.2),
        None,
    ),
}


def fits(name: str) -> tuple[LmmFit, LmmFit]:
    small, large, table, weights = DESIGNS[name]
    return fit_lmm(small, table, "ml", weights), fit_lmm(large, table, "ml", weights)


@pytest.mark.parametrize("name", DESIGNS)
def test_drawn_cross_products_and_drawn_rows_give_the_same_distributions(name: str) -> None:
    small, large = fits(name)
    within = embed(small.model(), large.model())
    assert within is not None
    simulation = _simulation(small.model(), large.model(), within, "ml", 8 * DRAWS, 1)
    null, alternative = simulate_fits(simulation)
    assert null.converged.mean() > 0.99
    assert alternative.converged.mean() > 0.99
    rows = [[refit(fit, y).criterion for fit in (small, large)] for y in simulate(small, DRAWS, seed=5)]
    deviances, others = np.transpose(rows)
    assert stats.ks_2samp(null.values, deviances).pvalue > 0.01
    # Half of the statistics on a boundary are zero, up to rounding: ties, not a difference.
    statistics = [np.round(null.values - alternative.values, 5), np.round(deviances - others, 5)]
    assert stats.ks_2samp(*statistics).pvalue > 0.01


def large_factors() -> dict[str, np.ndarray]:
    """Return 300 students and 240 teachers, each student with a few teachers: the rows b_j are long and empty."""
    rng = np.random.default_rng(4)
    student, teacher = np.repeat(np.arange(300), 5), rng.integers(0, 240, 1500)
    y = rng.normal(size=300)[student] + rng.normal(size=240)[teacher] + rng.normal(size=1500)
    return {"y": y, "student": np.char.add("s", student.astype(str)), "teacher": np.char.add("t", teacher.astype(str))}


def lone_rows() -> dict[str, np.ndarray]:
    """Return items of 1 to 3 rows with slopes: many Z1j have fewer rows than columns."""
    rng = np.random.default_rng(6)
    item = np.repeat(np.arange(60), rng.integers(1, 4, 60))
    x = rng.normal(size=item.size)
    y = rng.normal(size=60)[item] + 0.5 * rng.normal(size=60)[item] * x + rng.normal(size=item.size)
    return {"y": y, "x": x, "item": np.char.add("i", item.astype(str))}


KINDS = {
    "patterns": ("y ~ system + (1 | item) + (1 | run)", crossed(20, 4, missing=0.1), choose_elimination),
    "patterns of slopes": ("y ~ system + (1 | item) + (1 | system:item)", crossed(60, 3), choose_elimination),
    "levels": ("y ~ length + (1 + length | item)", crossed(40, 3), Levels.of),
    "rank deficient": ("y ~ x + (0 + x || item) + (1 | item)", lone_rows(), Levels.of),
    "sparse rows": ("y ~ 1 + (1 | student) + (1 | teacher)", large_factors(), SparseLevels),
}


@pytest.mark.parametrize("kind", KINDS)
def test_means_and_covariances_of_drawn_cross_products_are_those_of_the_model(kind: str) -> None:
    """F'Wy with F all columns has mean F'W X beta and covariance s^2 F'W (Z Lambda Lambda'Z' + W^-1) W F."""
    formula, table, elimination = KINDS[kind]
    engine = fit_lmm(formula, table).model().engine
    moments = engine.moments
    theta = np.where(moments.lower == 0, 0.7, 0.2)
    truth = Truth(theta, np.linspace(1, 2, moments.p), 0.8)
    drawn = draw_responses(prepare_drawing(moments, elimination(moments), truth), np.random.default_rng(0), 20_000)
    C = moments.C[:-1, :-1]
    mean = C[:, moments.q2 :] @ truth.beta
    covariance = truth.sigma**2 * (C + sum(_through(moments, theta)))
    error = np.sqrt(np.diag(covariance) / 20_000)
    assert np.abs((drawn.products.mean(axis=0) - mean) / error).max() < 5
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(drawn.products.T) - covariance) / scale).max() < 5 / np.sqrt(10_000)


def _through(moments, theta):  # type: ignore[no-untyped-def]
    """Yield M0'Z Lambda Lambda'Z'M0 of the first factor and of each other one."""
    factor = lambda_of(moments.first, theta)
    B = moments.B if isinstance(moments.B, np.ndarray) else np.stack([b.toarray() for b in moments.B], axis=1)
    rows = (factor.T @ B[:, :, :-1]).reshape(-1, len(moments.C) - 1)
    yield rows.T @ rows
    for block in moments.blocks:
        factor = lambda_of(block.pattern, theta)
        C = moments.C[block.start : block.stop, :-1].reshape(block.count, block.width, -1)
        rows = (factor.T @ C).reshape(-1, len(moments.C) - 1)
        yield rows.T @ rows


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_of_drawn_responses_is_that_of_the_model(kind: str) -> None:
    """y'Wy has mean |W^1/2 X beta|^2 + s^2 (n + tr(Lambda'Z'WZ Lambda))."""
    formula, table, elimination = KINDS[kind]
    moments = fit_lmm(formula, table).model().engine.moments
    theta = np.where(moments.lower == 0, 0.7, 0.2)
    truth = Truth(theta, np.linspace(1, 2, moments.p), 0.8)
    drawn = draw_responses(prepare_drawing(moments, elimination(moments), truth), np.random.default_rng(1), 20_000)
    fixed = truth.beta @ moments.C[moments.q2 : -1, moments.q2 : -1] @ truth.beta
    expected = fixed + truth.sigma**2 * (moments.n + _trace(moments, theta))
    error = drawn.squares.std() / np.sqrt(20_000)
    assert drawn.squares.mean() == pytest.approx(expected, abs=5 * error)


def _trace(moments, theta):  # type: ignore[no-untyped-def]
    factor = lambda_of(moments.first, theta)
    total = np.trace(factor.T @ moments.A.sum(axis=0) @ factor)
    for block in moments.blocks:
        factor = lambda_of(block.pattern, theta)
        inside = slice(block.start, block.stop)
        levels = moments.C[inside, inside].reshape(block.count, block.width, block.count, block.width)
        total += sum(np.trace(factor.T @ levels[i, :, i] @ factor) for i in range(block.count))
    return total


def test_the_bootstrap_of_one_factor_has_the_exact_distribution_of_its_f_test() -> None:
    """Balanced one-way layout: the likelihood ratio of the variance is a function of F, zero where F is small."""
    rng = np.random.default_rng(8)
    groups, each = 8, 5
    y = rng.normal(size=(groups, each)) + 0.9 * rng.normal(size=(groups, 1))
    table = {"y": y.ravel(), "g": np.repeat([f"g{i}" for i in range(groups)], each)}
    table["h"] = np.tile([f"h{i}" for i in range(each)], groups)  # so that the null has a random term
    between = each * y.mean(axis=1).var(ddof=1)
    within = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / (groups * (each - 1))
    exact = stats.f.sf(between / within, groups - 1, groups * (each - 1))
    found = bootstrap_test(fit_lmm("y ~ 1", table), fit_lmm("y ~ 1 + (1 | g)", table), 4000, seed=1)
    assert found.failed == 0
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))
    zero = stats.f.cdf(1, groups - 1, groups * (each - 1))
    assert (found.statistics < 1e-6).mean() == pytest.approx(zero, abs=0.03)  # REML is zero where F < 1


def test_p_counts_failed_draws_as_if_they_reached_the_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = fits("balanced")
    sound = bootstrap_test(small, large, 200, seed=3)
    statistics = sound.statistics.copy()
    below = np.flatnonzero(statistics < sound.statistic)[:7]
    statistics[below] = np.nan
    monkeypatch.setattr("holdsup.fit.bootstrap._by_moments", lambda *_: statistics)
    found = bootstrap_test(small, large, 200, seed=3)
    assert found.failed == 7
    assert found.p == pytest.approx(sound.p + 7 / 201)
    assert found.table().rows[0][-1] == "7"


def test_draws_depend_on_the_seed_and_on_nothing_else() -> None:
    small, large = fits("unbalanced")
    first, again = (bootstrap_test(small, large, 150, seed=4).statistics for _ in range(2))
    other = bootstrap_test(small, large, 150, seed=5).statistics
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_two_processes_find_what_one_finds() -> None:
    small, large = fits("unbalanced")
    alone = bootstrap_test(small, large, 250, seed=4, processes=1)
    shared = bootstrap_test(small, large, 250, seed=4, processes=2)
    assert shared.statistics == pytest.approx(alone.statistics, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weighted", "variance on the boundary", "interaction"])
def test_searches_side_by_side_end_where_the_general_search_ends(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = fits(name)
    together = bootstrap_test(small, large, 400, seed=4, processes=1)
    monkeypatch.setattr("holdsup.numerics.refits.LARGEST", 0)
    alone = bootstrap_test(small, large, 400, seed=4, processes=1)
    assert together.statistics == pytest.approx(alone.statistics, abs=2e-6)


def test_no_search_ends_above_the_optimum_of_the_smaller_model() -> None:
    """Criteria with correlations have several optima: about 1 search in 200 of this model ends in a local one."""
    small, large = fits("sloped")
    found = bootstrap_test(small, large, 600, seed=4)
    assert found.failed == 0


def test_fits_that_are_not_nested_are_refused() -> None:
    table = crossed(15, 3)
    with pytest.raises(NotNested, match="lacks fixed effects"):
        bootstrap_test(fit_lmm("y ~ length + (1 | item)", table), fit_lmm("y ~ system + (1 | item)", table), 10)


def test_rows_are_drawn_where_the_smaller_fit_is_coded_in_another_way() -> None:
    table = crossed(10, 3)
    small = fit_lmm("y ~ 0 + system + (1 | item)", table)
    found = bootstrap_test(small, fit_lmm("y ~ system * length + (1 | item)", table), 20)
    assert found.rows_drawn
    assert len(found.statistics) == 20
    assert not np.isnan(found.statistics).any()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"draws": 0}, "0 draws"),
        ({"draws": 2.5}, "2.5 draws"),
        ({"seed": -1}, "seed is -1"),
        ({"processes": 0}, "0 processes"),
    ],
)
def test_impossible_numbers_are_refused(asked: dict[str, float], message: str) -> None:
    small, large = fits("balanced")
    with pytest.raises(FitError, match=message):
        bootstrap_test(small, large, **asked)  # type: ignore[arg-type]
    with pytest.raises(FitError, match=message):
        bootstrap_fit(large, **asked)  # type: ignore[arg-type]


def test_limits_of_a_balanced_layout_are_those_of_its_exact_distributions() -> None:
    """Mean squares are multiples of chi-squares, so every quantile is known when the truth is the fit."""
    rng = np.random.default_rng(10)
    groups, each = 12, 6
    y = rng.normal(size=(groups, each)) + 1.5 * rng.normal(size=(groups, 1))
    fit = fit_lmm("y ~ 1 + (1 | g)", {"y": y.ravel(), "g": np.repeat([f"g{i:02d}" for i in range(groups)], each)})
    found = bootstrap_fit(fit, 4000, seed=1)
    assert found.failed == 0
    group, residual = (c.variance for c in fit.random)
    within = residual * stats.chi2.ppf([0.025, 0.975], groups * (each - 1)) / (groups * (each - 1))
    assert found.components()[-1].low == pytest.approx(np.sqrt(within[0]), rel=0.02)
    assert found.components()[-1].high == pytest.approx(np.sqrt(within[1]), rel=0.02)
    # The intraclass correlation is a function of F = F_central * (residual + each * group) / residual.
    F = stats.f.ppf([0.025, 0.975], groups - 1, groups * (each - 1)) * (residual + each * group) / residual
    share = found.share("g")
    assert [share.low, share.high] == pytest.approx(list((F - 1) / (F - 1 + each)), abs=0.025)
    assert share.estimate == pytest.approx(group / (group + residual))
    # The mean over its standard error has Student's t with groups - 1 degrees of freedom.
    intercept = found.contrast({"(Intercept)": 1.0})
    reach = stats.t.ppf(0.975, groups - 1) * fit.fixed[0].se
    assert intercept.high - fit.fixed[0].estimate == pytest.approx(reach, rel=0.06)


def test_the_table_names_everything_that_has_limits() -> None:
    fit = fit_lmm("y ~ length + (1 + length | item)", crossed(15, 3))
    shown = str(bootstrap_fit(fit, 50))
    for name in ("(Intercept)", "length", "sd item (Intercept)", "sd item length", "corr item", "sd Residual"):
        assert name in shown
    assert "50 draws, none failed; seed 0." in shown


def test_a_share_of_an_unknown_group_is_refused() -> None:
    found = bootstrap_fit(fit_lmm("y ~ 1 + (1 | item)", crossed(15, 3)), 10)
    with pytest.raises(FitError, match="the fit has no group 'run'"):
        found.share("run")


def test_two_fits_of_one_model_have_nothing_to_test() -> None:
    small, _ = fits("balanced")
    with pytest.raises(NotNested, match="nothing to test"):
        bootstrap_test(small, small, 10)


def test_numbers_of_numpy_are_whole_numbers_and_truths_are_not() -> None:
    small, large = fits("balanced")
    assert bootstrap_test(small, large, np.int64(10)).draws == 10  # type: ignore[arg-type]
    with pytest.raises(FitError, match="True draws"):
        bootstrap_test(small, large, True)


def test_an_estimate_outside_its_limits_is_shown() -> None:
    _, large = fits("balanced")
    for seed in range(5):
        assert "2 draws" in str(bootstrap_fit(large, 2, seed=seed))


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so_in_one_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import holdsup\nfrom holdsup.fit import bootstrap_test\n"
        "table = holdsup.simulate_scores({'A': 0.7, 'B': 0.72}, items=30, runs=3)\n"
        "fits = [holdsup.fit_lmm(f'score ~ {x} + (1 | item)', table) for x in ('1', 'system')]\n"
        "try:\n    bootstrap_test(*fits, 200, processes=2)\nexcept holdsup.FitError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert 'under if __name__ == "__main__"' in done.stdout
    assert "Traceback" not in done.stderr
