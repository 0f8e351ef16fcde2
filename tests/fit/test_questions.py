"""What can be asked of a fit: against lme4, lmerTest and performance, and against itself.

The numbers of R (4.2.2, lme4 1.1-31, lmerTest 3.1-3, performance 0.10.2) were made by the calls in the comments on a
table that this file draws; sleep data of that shape, so that no R is needed to run the tests.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup import fit as questions
from holdsup.errors import FitError, HoldsupError, NotNested
from holdsup.fit import fit_lmm, likelihood
from holdsup.numerics.mixed import EngineFit, NothingLeft
from holdsup.numerics.moments import Moments


def sleep() -> dict[str, np.ndarray]:
    """Return 18 subjects on 10 days, with slopes that vary (`RandomState` has a frozen stream)."""
    rng = np.random.RandomState(11)
    subject, day = np.repeat(np.arange(18), 10), np.tile(np.arange(10.0), 18)
    effects = rng.normal(size=(18, 2)) * [25, 6]
    y = 250 + 10 * day + effects[subject, 0] + effects[subject, 1] * day + rng.normal(size=180) * 25
    group = np.where(subject % 2, "old", "young")
    return {"y": np.round(y, 2), "day": day, "subject": np.array([f"s{i:02d}" for i in subject]), "group": group}


@pytest.fixture(scope="module")
def slopes() -> holdsup.LmmFit:
    return fit_lmm("y ~ day + (1 + day | subject)", sleep())


@pytest.fixture(scope="module")
def systems() -> holdsup.LmmFit:
    table = holdsup.simulate_scores({"A": 0.5, "B": 0.6, "C": 0.55}, items=40, runs=3, seed=2)
    return fit_lmm("score ~ system + (1 | item) + (1 | system:item)", table)


def test_saved_and_restored_a_fit_keeps_its_table_but_not_its_data(slopes: holdsup.LmmFit, tmp_path) -> None:  # type: ignore[no-untyped-def]
    slopes.write_json(tmp_path / "fit.json")
    restored = holdsup.read_result(tmp_path / "fit.json")
    assert restored == slopes
    with pytest.raises(HoldsupError, match="fit the model again"):
        questions.random_effects(restored)  # type: ignore[arg-type]


def test_fitted_values_and_residuals_add_up_to_the_response(systems: holdsup.LmmFit) -> None:
    response = systems.model().design.variables.response
    assert questions.fitted_values(systems) + questions.residuals(systems) == pytest.approx(response)


def test_effects_solve_the_penalized_equations(slopes: holdsup.LmmFit) -> None:
    """b = s^2 Lambda Lambda' Z' residual / s^2: the BLUPs are a fixed point of their definition."""
    (effects,) = questions.random_effects(slopes)
    data = sleep()
    Z = np.stack([np.ones(180), data["day"]], axis=1)
    codes = np.unique(data["subject"], return_inverse=True)[1]
    theta = slopes.optimizer.theta
    factor = np.array([[theta[0], 0], [theta[1], theta[2]]])
    scores = np.zeros((18, 2))
    np.add.at(scores, codes, Z * questions.residuals(slopes)[:, None])
    assert effects.values == pytest.approx(scores @ (factor @ factor.T), rel=1e-6)


def test_effects_of_nested_terms_are_those_of_the_plain_model() -> None:
    """system:item within item and as a factor of its own give the same effects."""
    table = holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=15, runs=3, seed=4).to_pydict()
    table["cell"] = [f"{s}-{i}" for s, i in zip(table["system"], table["item"], strict=True)]
    merged = fit_lmm("score ~ system + (1 | item) + (1 | system:item)", table)
    plain = fit_lmm("score ~ system + (1 | item) + (1 | cell)", table)
    assert merged.criterion == pytest.approx(plain.criterion, abs=1e-8)
    for left, right in zip(questions.random_effects(merged), questions.random_effects(plain), strict=True):
        first = {"-".join(level): v for level, v in zip(left.levels, np.c_[left.values, left.sd], strict=True)}
        second = {"-".join(level): v for level, v in zip(right.levels, np.c_[right.values, right.sd], strict=True)}
        assert first.keys() == second.keys()
        assert all(first[k] == pytest.approx(second[k], rel=1e-4, abs=1e-7) for k in first)


def test_effects_become_a_frame(systems: holdsup.LmmFit) -> None:
    frame = questions.random_effects(systems)[1].to_frame()
    assert list(frame.columns) == ["system", "item", "term", "value", "sd"]
    assert len(frame) == 120


def test_predictions_of_the_fitted_rows_are_the_fitted_values(slopes: holdsup.LmmFit) -> None:
    again = questions.predict(slopes, sleep())
    assert again.values == pytest.approx(questions.fitted_values(slopes))
    assert not again.new_levels.any()


def test_a_new_level_is_predicted_as_an_average_one(slopes: holdsup.LmmFit) -> None:
    new = questions.predict(slopes, {"day": [0.0, 3.0], "subject": ["nobody", "nobody"]})
    intercept, day = (effect.estimate for effect in slopes.fixed)
    assert new.values == pytest.approx([intercept, intercept + 3 * day])
    assert list(new.new_levels) == [1, 1]
    mean = questions.predict(slopes, {"day": [3.0]}, random=False)
    assert mean.values == pytest.approx([intercept + 3 * day])


def test_simulated_responses_have_the_variance_of_the_model(slopes: holdsup.LmmFit) -> None:
    drawn = questions.simulate(slopes, 2000, seed=1)
    intercept, _, residual = (c.variance for c in slopes.random)
    first_day = np.arange(0, 180, 10)
    assert drawn[:, first_day].var(axis=0).mean() == pytest.approx(intercept + residual, rel=0.05)  # se 0.7%
    assert np.array_equal(drawn[:3], questions.simulate(slopes, 3, seed=1))


def test_refitting_the_same_response_changes_nothing(slopes: holdsup.LmmFit) -> None:
    same = questions.refit(slopes, slopes.model().design.variables.response)
    assert same.criterion == pytest.approx(slopes.criterion, abs=1e-9)
    moved = questions.refit(slopes, slopes.model().design.variables.response * 2 + 5)
    assert moved.sigma == pytest.approx(2 * slopes.sigma)
    with pytest.raises(FitError, match="180 finite numbers"):
        questions.refit(slopes, np.ones(3))


def test_the_ratio_test_refits_by_ml_when_fixed_effects_differ(slopes: holdsup.LmmFit) -> None:
    small = fit_lmm("y ~ 1 + (1 + day | subject)", sleep())
    test = questions.likelihood_ratio_test(small, slopes)
    by_hand = [fit_lmm(f, sleep(), "ml").criterion for f in (small.formula, slopes.formula)]
    assert test.method == "ml"
    assert test.statistic == pytest.approx(by_hand[0] - by_hand[1], abs=1e-7)
    assert (test.df, test.on_boundary) == (1, False)
    assert 10**test.log10_p == pytest.approx(test.p)


def test_fits_that_are_not_nested_are_refused(slopes: holdsup.LmmFit) -> None:
    data = sleep()
    other = fit_lmm("y ~ group + (1 + day | subject)", data)
    with pytest.raises(NotNested, match="lacks fixed effects of the smaller one: groupyoung"):
        questions.likelihood_ratio_test(other, slopes)
    fewer = fit_lmm("y ~ 1 + (1 | subject)", {k: v[:90] for k, v in data.items()})
    with pytest.raises(NotNested, match="90 and 180 rows"):
        questions.likelihood_ratio_test(fewer, slopes)
    with pytest.raises(NotNested, match="give the smaller fit first"):
        questions.likelihood_ratio_test(slopes, fit_lmm("y ~ day + (1 | subject)", data))
    shifted = fit_lmm("y ~ day + (1 | subject)", {**data, "y": data["y"] + np.arange(180)})
    with pytest.raises(NotNested, match="different responses"):
        questions.likelihood_ratio_test(shifted, slopes)
    crossed = fit_lmm("y ~ day + (1 | group)", data)
    with pytest.raises(NotNested, match=r"random term \(\(Intercept\) \| group\)"):
        questions.likelihood_ratio_test(crossed, slopes)


def test_a_slope_is_tested_with_its_correlation(slopes: holdsup.LmmFit) -> None:
    (found,) = questions.random_term_tests(slopes)
    without = fit_lmm("y ~ day + (1 | subject)", sleep())
    assert (found.group, found.term, found.test.df) == ("subject", "day", 2)
    assert found.test.statistic == pytest.approx(without.criterion - slopes.criterion, abs=1e-7)
    assert found.test.p < found.test.p_chi2


def test_a_slope_without_intercept_is_tested_against_its_absence() -> None:
    """lmerTest's ranova compares (0 + x | g) with (1 | g), which is not nested in it."""
    fit = fit_lmm("y ~ day + (0 + day | subject)", sleep())
    (found,) = questions.random_term_tests(fit)
    assert found.test.statistic == pytest.approx(fit_lmm("y ~ day", sleep()).criterion - fit.criterion, abs=1e-6)
    assert found.test.df == 1


def test_one_variance_on_the_boundary_halves_the_chi_square_p() -> None:
    fit = fit_lmm("y ~ day + (1 | subject)", sleep())
    (found,) = questions.random_term_tests(fit)
    assert found.test.p == pytest.approx(found.test.p_chi2 / 2)


def test_a_contrast_of_one_effect_is_its_row_in_the_table(systems: holdsup.LmmFit) -> None:
    row = questions.contrast(systems, {"systemB": 1}, name="systemB")
    assert asdict(row) == pytest.approx(asdict(systems.fixed[1]))
    difference = questions.contrast(systems, {"systemB": 1, "systemC": -1})
    assert difference.estimate == pytest.approx(systems.fixed[1].estimate - systems.fixed[2].estimate)
    with pytest.raises(FitError, match="no fixed effect is called 'systemX'"):
        questions.contrast(systems, {"systemX": 1})


def test_the_joint_test_of_one_effect_is_its_t_squared(systems: holdsup.LmmFit) -> None:
    effect = systems.fixed[1]
    joint = questions.joint_test(systems, ["systemB"])
    assert joint.statistic == pytest.approx(effect.t**2)
    assert joint.df2 == pytest.approx(effect.df)
    assert joint.p == pytest.approx(effect.p)


def test_the_joint_test_does_not_depend_on_the_choice_of_contrasts(systems: holdsup.LmmFit) -> None:
    one = questions.joint_test(systems)
    other = questions.joint_test(systems, matrix=np.array([[0, 1, -1], [0, 1, 1]]))
    assert one.statistic == pytest.approx(other.statistic)
    assert one.df1 == other.df1 == 2
    assert one.df2 == pytest.approx(other.df2, rel=1e-4)


def test_marginal_means_of_a_balanced_table_are_its_means(systems: holdsup.LmmFit) -> None:
    table = holdsup.simulate_scores({"A": 0.5, "B": 0.6, "C": 0.55}, items=40, runs=3, seed=2)
    means = np.array(table["score"]).reshape(3, -1).mean(axis=1)
    found = questions.marginal_means(systems, "system")
    assert [m.name for m in found] == ["system A", "system B", "system C"]
    assert [m.estimate for m in found] == pytest.approx(list(means))
    with pytest.raises(FitError, match="the fixed effects have no factor"):
        questions.marginal_means(systems, "item")


def test_marginal_means_hold_numbers_at_their_mean() -> None:
    fit = fit_lmm("y ~ group * day + (1 | subject)", sleep())
    means = [mean.estimate for mean in questions.marginal_means(fit, "group")]
    predicted = questions.predict(fit, {"group": ["old", "young"], "day": [4.5, 4.5], "subject": ["?", "?"]})
    assert means == pytest.approx(list(predicted.values))


def test_profile_limits_lie_where_the_criterion_has_risen_by_the_quantile() -> None:
    fit = fit_lmm("y ~ day + (1 | subject)", sleep(), "ml")
    limits = questions.profile_intervals(fit)
    criterion = fit.model().engine.criterion

    def held(sd: float) -> float:
        """Return the criterion with the subjects' sd held, minimized over sigma by a fine grid."""
        sigma = np.exp(np.linspace(np.log(fit.sigma) - 0.2, np.log(fit.sigma) + 0.2, 4001))
        values = []
        for s in sigma:
            there = criterion.solve(np.array([sd / s]))
            n = criterion.dof
            values.append(there.value + n * (2 * math.log(s) - math.log(there.sigma2) + there.sigma2 / s**2 - 1))
        return min(values)

    for limit in (limits[0].low, limits[0].high):
        assert held(limit) - fit.criterion == pytest.approx(3.841458820694124, abs=2e-4)  # chi-square(1), 95%
    assert limits[-1].group == "Residual"
    assert limits[-1].low < fit.sigma < limits[-1].high


def test_the_profile_of_a_correlation_contains_its_estimate(slopes: holdsup.LmmFit) -> None:
    found = {(p.parameter, p.term): p for p in questions.profile_intervals(slopes)}
    correlation = found["correlation", "(Intercept) and day"]
    assert -1 <= correlation.low < correlation.estimate < correlation.high <= 1
    assert correlation.estimate == pytest.approx(slopes.random[1].corr["(Intercept)"])


def test_a_zero_variance_has_a_profile_that_starts_at_zero() -> None:
    data = sleep()
    rng = np.random.RandomState(0)
    data["noise"] = np.array([f"n{i}" for i in rng.randint(0, 6, 180)])
    fit = fit_lmm("y ~ day + (1 + day | subject) + (1 | noise)", data)
    limits = {(p.group, p.parameter, p.term): p for p in questions.profile_intervals(fit)}
    assert limits["noise", "sd", "(Intercept)"].low == 0


def test_shares_of_variance_are_those_of_the_components(systems: holdsup.LmmFit) -> None:
    item, cell, residual = (c.variance for c in systems.random)
    shares = questions.intraclass_correlations(systems)
    assert shares == pytest.approx(
        {"item": item / (item + cell + residual), "system:item": cell / (item + cell + residual)}
    )
    r2 = questions.r_squared(systems)
    assert 0 < r2.marginal < r2.conditional < 1


def test_r_squared_does_not_depend_on_where_a_regressor_has_its_zero() -> None:
    data = sleep()
    one = questions.r_squared(fit_lmm("y ~ day + (1 + day | subject)", data))
    other = questions.r_squared(fit_lmm("y ~ day + (1 + day | subject)", {**data, "day": data["day"] + 1000}))
    assert asdict(one) == pytest.approx(asdict(other), rel=1e-6)


def test_a_fit_is_drawn_as_a_forest(systems: holdsup.LmmFit) -> None:
    (ax,) = holdsup.plot(systems).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["systemB", "systemC"]


def test_a_correlation_is_not_on_the_boundary() -> None:
    """Only a variance of zero is: lme4's anova takes the plain chi-square here, too."""
    small, large = (fit_lmm(f"y ~ day + {term}", sleep()) for term in ("(day || subject)", "(day | subject)"))
    test = questions.likelihood_ratio_test(small, large)
    assert (test.df, test.on_boundary) == (1, False)
    assert test.p == test.p_chi2


def test_a_variance_beside_a_fixed_effect_is_on_the_boundary() -> None:
    small, large = fit_lmm("y ~ 1 + (1 | subject)", sleep()), fit_lmm("y ~ day + (day | subject)", sleep())
    test = questions.likelihood_ratio_test(small, large)
    assert (test.df, test.on_boundary, test.method) == (3, True, "ml")


def test_fixed_effects_are_nested_by_what_they_span() -> None:
    data = sleep()
    line, curve = fit_lmm("y ~ day + (1 | subject)", data), fit_lmm("y ~ poly(day, 2) + (1 | subject)", data)
    assert questions.likelihood_ratio_test(line, curve).df == 1
    free = fit_lmm("y ~ factor(day) + (1 | subject)", data)
    assert questions.likelihood_ratio_test(curve, free).df == 7


def test_every_independent_random_column_is_tested() -> None:
    found = questions.random_term_tests(fit_lmm("y ~ day + (day || subject)", sleep()))
    assert [test.term for test in found] == ["(Intercept)", "day"]


def test_a_mean_of_a_combination_that_never_occurs_is_not_a_number() -> None:
    data = sleep()
    data["half"] = np.where(data["day"] < 5, "first", "second")
    keep = ~((data["group"] == "old") & (data["half"] == "first"))
    fit = fit_lmm("y ~ group * half + (1 | subject)", {k: v[keep] for k, v in data.items()})
    old, young = questions.marginal_means(fit, "group")
    assert math.isnan(old.estimate)
    assert math.isfinite(young.estimate)


def test_an_ambiguous_name_of_an_effect_is_refused() -> None:
    data = sleep() | {"g": np.tile(["1", "2"], 90), "g2": np.arange(180.0)}
    fit = fit_lmm("y ~ g + g2 + (1 | subject)", data)
    assert [effect.name for effect in fit.fixed] == ["(Intercept)", "g2", "g2"]
    with pytest.raises(FitError, match="several fixed effects are called 'g2'"):
        questions.contrast(fit, {"g2": 1})
    assert questions.contrast(fit, [0, 0, 1]).estimate == pytest.approx(fit.fixed[2].estimate)


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: questions.joint_test(fit, []),
        lambda fit: questions.joint_test(fit, matrix=np.eye(7)),
        lambda fit: questions.joint_test(fit, ["day"], matrix=np.eye(2)),
        lambda fit: questions.contrast(fit, {}),
        lambda fit: questions.contrast(fit, {"day": math.nan}),
        lambda fit: questions.contrast(fit, np.eye(2)),
        lambda fit: questions.profile_intervals(fit, level=2),
        lambda fit: questions.simulate(fit, 1.5),
        lambda fit: questions.simulate(fit, seed=-1),
        lambda fit: questions.refit(fit, "day"),
        lambda fit: fit_lmm(None, sleep()),
        lambda fit: fit_lmm("y ~ day", sleep(), weights=np.ones(180)),
        lambda fit: fit_lmm("y ~ day", sleep(), method="map"),
    ],
)
def test_a_wrong_question_is_refused_in_one_line(slopes: holdsup.LmmFit, ask) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HoldsupError) as caught:
        ask(slopes)
    assert "\n" not in str(caught.value)


def test_a_fixed_effect_that_is_also_a_group_is_called_so() -> None:
    fit = fit_lmm("y ~ subject + (1 | subject)", sleep())
    assert not fit.converged
    assert (fit.cautions[0].code, fit.cautions[0].severity) == ("not-converged", "error")
    assert "can't be separated from a fixed effect" in fit.cautions[0].message
    assert fit.headline == "The fit did not converge: don't use its numbers."


def test_profiles_of_a_tiny_fit_are_lme4s() -> None:
    tiny = fit_lmm("y ~ x + (1 | g)", {"y": [1, 2, 3, 5], "g": ["a", "a", "b", "b"], "x": [0, 1, 0, 1]}, "ml")
    group, residual = questions.profile_intervals(tiny)
    # lme4 1.1-31, confint of the same fit; it interpolates by splines, which costs it the third digit.
    assert (group.low, group.high) == pytest.approx((0, 5.22639), rel=5e-3)
    assert (residual.low, residual.high) == pytest.approx((0.168457, 1.48490), rel=5e-3)


def test_the_correlation_of_a_singular_term_is_left_open() -> None:
    rng = np.random.RandomState(4)
    fit = fit_lmm("y ~ 1 + (1 + day | subject)", {**sleep(), "y": rng.normal(size=180)})
    found = {p.parameter: p for p in questions.profile_intervals(fit)}
    assert fit.singular
    assert (found["correlation"].low, found["correlation"].high) == (-1.0, 1.0)


def test_a_term_without_which_every_row_is_fitted_exactly_has_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where runs are copies, whether a smaller model leaves a residual is a matter of the last digit."""
    fit = fit_lmm("y ~ day + (day || subject)", sleep())
    whole, fit_smaller, asked = questions.random_term_tests(fit), likelihood.fit_moments, iter((True, False))

    def leave_nothing(moments: Moments, **options: Any) -> EngineFit:
        if next(asked):
            raise NothingLeft("the fixed and random effects fit every row exactly")
        return fit_smaller(moments, **options)

    monkeypatch.setattr(likelihood, "fit_moments", leave_nothing)
    assert questions.random_term_tests(fit) == whole[1:]
