"""What holds for every logistic fit, and what is asked of one."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from glmer_cases import evaluation
from scipy.stats import norm

import holdsup
from holdsup.errors import FitError, NotNested, ResultError
from holdsup.fit import (
    GlmmFit,
    bootstrap_fit,
    bootstrap_test,
    contrast,
    fit_glmm,
    fit_lmm,
    fitted_values,
    intraclass_correlations,
    joint_test,
    likelihood_ratio_test,
    marginal_differences,
    marginal_means,
    marginal_probabilities,
    odds_ratios,
    predict,
    profile_intervals,
    r_squared,
    random_effects,
    random_term_tests,
    refit,
    residuals,
    simulate,
)

FORMULA = "y ~ system + (1 | item) + (1 | system:item) + (1 | system:run)"
TABLE = evaluation(31, 3, 60, 4, sd=(1.2, 0.7, 0.3))


@functools.cache
def fitted(formula: str = FORMULA, method: str = "auto") -> GlmmFit:
    return fit_glmm(formula, TABLE, method=method)


def numbers(fit: GlmmFit) -> list[float]:
    return [fit.criterion, *(e.estimate for e in fit.fixed), *(e.se for e in fit.fixed), *(c.sd for c in fit.random)]


@pytest.mark.parametrize("method", ["quadrature", "laplace"])
def test_the_order_of_rows_and_the_names_of_levels_change_nothing(method: str) -> None:
    order = np.random.RandomState(1).permutation(len(TABLE["y"]))
    shuffled = {k: [v[i] for i in order] for k, v in TABLE.items()}
    names = {item: f"q{hash_ * 7919 % 997}" for hash_, item in enumerate(sorted(set(TABLE["item"])))}
    shuffled["item"] = [names[item] for item in shuffled["item"]]
    fit = fit_glmm(FORMULA, shuffled, method=method)
    assert numbers(fit) == pytest.approx(numbers(fitted(method=method)), abs=2e-5)


@pytest.mark.parametrize("method", ["quadrature", "laplace"])
def test_exchanging_success_and_failure_flips_the_signs(method: str) -> None:
    fit, flipped = fitted(method=method), fit_glmm(FORMULA, {**TABLE, "y": 1 - TABLE["y"]}, method=method)
    assert flipped.criterion == pytest.approx(fit.criterion, abs=1e-6)
    assert [-e.estimate for e in flipped.fixed] == pytest.approx([e.estimate for e in fit.fixed], abs=2e-5)
    assert [1 - r.estimate for r in flipped.rates] == pytest.approx([r.estimate for r in fit.rates], abs=1e-5)


def test_counts_proportions_failures_and_rows_are_the_same_fit() -> None:
    formula = "y ~ system + (1 | item)"
    rows = fit_glmm(formula, TABLE)
    keys = sorted(set(zip(TABLE["system"], TABLE["item"], strict=True)))
    found = {key: [0.0, 0.0] for key in keys}
    for *key, y in zip(TABLE["system"], TABLE["item"], TABLE["y"], strict=True):
        found[tuple(key)][0] += y
        found[tuple(key)][1] += 1
    table: dict[str, Any] = {"system": [k[0] for k in keys], "item": [k[1] for k in keys]}
    s, n = np.array([found[key] for key in keys]).T
    counts = fit_glmm(formula, {**table, "y": s, "n": n}, trials="n")
    shares = fit_glmm(formula, {**table, "y": s / n, "n": n}, trials="n")
    failures = fit_glmm(formula, {**table, "y": s, "bad": n - s}, failures="bad")
    for each in (counts, shares, failures):
        assert numbers(each)[1:] == pytest.approx(numbers(rows)[1:], abs=1e-5)
        assert (each.trials, each.successes) == (rows.trials, rows.successes)
        assert each.criterion == pytest.approx(counts.criterion, abs=1e-6)


def test_a_saved_fit_is_restored_and_says_that_its_data_are_gone(tmp_path: Path) -> None:
    fit = fitted()
    fit.write_json(tmp_path / "fit.json")
    restored = holdsup.read_result(tmp_path / "fit.json")
    assert restored.to_dict() == fit.to_dict()
    assert fit.to_dict()["family"] == "binomial"
    assert str(restored) == str(fit)
    with pytest.raises(ResultError, match="without its data"):
        restored.model()


def test_the_marginal_rate_is_the_mean_of_the_probability_over_random_effects() -> None:
    fit = fitted()
    sd = float(np.sqrt(sum(c.variance for c in fit.random[:-1])))
    z = norm.ppf((np.arange(20000) + 0.5) / 20000)
    level = fit.fixed[0].estimate + fit.fixed[2].estimate
    assert fit.rates[2].estimate == pytest.approx(float(np.mean(1 / (1 + np.exp(-level - sd * z)))), abs=1e-4)
    assert marginal_probabilities(fit, "system") == fit.rates
    difference = marginal_differences(fit, "system")[1]
    assert difference.name == "system s3 - system s1"
    assert difference.estimate == pytest.approx(fit.rates[2].estimate - fit.rates[0].estimate)
    with pytest.raises(FitError, match="no factor"):
        marginal_probabilities(fit, "item")


def test_the_rates_are_near_those_of_the_rows() -> None:
    fit, system = fitted(), np.array(TABLE["system"])
    observed = [TABLE["y"][system == s].mean() for s in ("s1", "s2", "s3")]
    assert [r.estimate for r in fit.rates] == pytest.approx(observed, abs=0.01)


def test_odds_ratios_contrasts_and_means_are_the_effects() -> None:
    fit = fitted()
    assert odds_ratios(fit)[1].estimate == pytest.approx(np.exp(fit.fixed[2].estimate))
    assert contrast(fit, {"systems3": 1}).p == fit.fixed[2].p
    assert marginal_means(fit, "system")[0].estimate == fit.fixed[0].estimate
    assert joint_test(fit, ["systems3"]).statistic == pytest.approx(fit.fixed[2].t ** 2)


def test_walds_profiles_and_likelihood_ratios_agree_where_there_is_much_data() -> None:
    fit, null = fitted(), fitted(FORMULA.replace("system +", "1 +", 1))
    test = likelihood_ratio_test(null, fit)
    assert (test.df, test.method, test.on_boundary) == (2, "quadrature", False)
    assert test.statistic == pytest.approx(2 * joint_test(fit).statistic, rel=0.2)
    intervals = {i.term: i for i in profile_intervals(fit) if i.group == "fixed"}
    assert intervals["systems3"].low == pytest.approx(fit.fixed[2].low, abs=0.05)
    assert intervals["systems3"].high == pytest.approx(fit.fixed[2].high, abs=0.05)


def test_the_criterion_at_the_end_of_a_profile_is_the_quantile_higher() -> None:
    fit = fit_glmm("y ~ system + (1 | item)", TABLE)
    end = next(i.high for i in profile_intervals(fit) if i.parameter == "sd")
    engine = fit.model().engine.fit
    x = np.concatenate([[end], engine.beta])
    for _ in range(60):  # the best beta with the standard deviation held there
        gradient = engine.criterion.slopes(x)[1]
        x[1:] -= np.linalg.solve(engine.curvature[1:, 1:], gradient[1:])
    assert engine.criterion.slopes(x)[0] - engine.optimum.value == pytest.approx(3.841459, abs=5e-3)


def test_random_terms_are_tested_and_the_boundary_is_allowed_for() -> None:
    tests = {t.group: t.test for t in random_term_tests(fitted())}
    assert list(tests) == ["item", "system:item", "system:run"]
    assert all(t.on_boundary for t in tests.values())
    assert tests["item"].p < 1e-6
    without = fit_glmm("y ~ system + (1 | item) + (1 | system:item)", TABLE)
    assert tests["system:run"].statistic == pytest.approx(without.criterion - fitted().criterion, abs=1e-4)


def test_a_fit_is_compared_with_one_without_random_terms_and_not_with_a_linear_one() -> None:
    plain, one = fit_glmm("y ~ system", TABLE), fit_glmm("y ~ system + (1 | item)", TABLE)
    share = TABLE["y"].mean()
    null = fit_glmm("y ~ 1", TABLE)
    assert null.criterion == pytest.approx(
        -2 * len(TABLE["y"]) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    )
    assert likelihood_ratio_test(plain, one).p < 1e-6
    with pytest.raises(NotNested, match="logistic"):
        likelihood_ratio_test(plain, fit_lmm("y ~ system + (1 | item)", TABLE, "ml"))
    with pytest.raises(NotNested, match="method='laplace'"):
        likelihood_ratio_test(fitted(FORMULA, "laplace"), fitted())


def test_modes_of_levels_solve_the_penalized_likelihood() -> None:
    fit = fitted()
    rest = residuals(fit)
    for effects, block, component in zip(random_effects(fit), fit.model().design.random, fit.random, strict=False):
        sums = np.bincount(np.asarray(block.group.codes), rest)
        assert effects.values[:, 0] == pytest.approx(component.variance * sums, abs=1e-4)
        assert (effects.sd[:, 0] < component.sd).all()


def test_predictions_have_two_scales_and_average_over_what_was_not_seen() -> None:
    fit = fitted()
    rows = {k: v[:5] for k, v in TABLE.items()}
    link = predict(fit, rows, scale="link").values
    assert predict(fit, rows).values == pytest.approx(1 / (1 + np.exp(-link)))
    assert predict(fit, rows).values == pytest.approx(fitted_values(fit)[:5])
    assert predict(fit, {"system": ["s2"]}, random=False).values == pytest.approx([fit.rates[1].estimate])
    with pytest.raises(FitError, match="scale is 'odds'"):
        predict(fit, rows, scale="odds")


def test_shares_of_variance_are_on_the_latent_scale() -> None:
    fit = fitted()
    total = sum(c.variance for c in fit.random[:-1]) + np.pi**2 / 3
    assert intraclass_correlations(fit)["item"] == pytest.approx(fit.random[0].variance / total)
    assert 0 < r_squared(fit).marginal < r_squared(fit).conditional < 1


def test_drawn_outcomes_have_the_rate_of_the_fit_and_are_fitted_again() -> None:
    fit = fitted()
    drawn = simulate(fit, 20, seed=4)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert drawn.mean() == pytest.approx(np.mean([r.estimate for r in fit.rates]), abs=0.03)
    again = refit(fit, drawn[0])
    assert again.criterion == pytest.approx(fit_glmm(FORMULA, {**TABLE, "y": drawn[0]}).criterion, abs=1e-5)
    with pytest.raises(FitError, match="refit needs"):
        refit(fit, drawn[0] + 1)


def test_the_bootstrap_draws_outcomes() -> None:
    small, large = fit_glmm("y ~ 1 + (1 | item)", TABLE), fit_glmm("y ~ system + (1 | item)", TABLE)
    test = bootstrap_test(small, large, draws=40, seed=2)
    assert test.p == pytest.approx((1 + (test.statistics >= test.statistic).sum()) / 41)
    assert np.nanmean(test.statistics) == pytest.approx(2, abs=1.2)  # a chi-square with 2 degrees of freedom
    drawn = bootstrap_fit(large, draws=30, seed=3)
    assert (drawn.failed, drawn.effects.shape) == (0, (30, 3))
    assert drawn.effects.std(axis=0) == pytest.approx([e.se for e in large.fixed], rel=0.5)
