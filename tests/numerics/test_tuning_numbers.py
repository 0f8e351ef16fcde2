"""Numbers of tuning against direct computation, integrals, laws and simulations with known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from holdsup.numerics.tuning import best_probabilities, bound_regret, count_wins, measure_standing, pick_best, retune
from holdsup.numerics.tuning_plans import FIRST_LOOK, AdaptiveSchedule, advise_plans, find_margin, measure_bias


def grid(means: list[float], j: int, seed: int, sd: float = 0.01, shared: float = 0.02) -> np.ndarray:
    """Return scores of candidates whose means are known; what partitions do to all of them is `shared`."""
    rng = np.random.default_rng(seed)
    return np.array(means) + shared * rng.standard_normal((j, 1)) + sd * rng.standard_normal((j, len(means)))


def run(plan: AdaptiveSchedule, partitions: np.ndarray) -> np.ndarray:
    scores = np.empty((0, partitions.shape[1]))
    while chosen := plan.next(scores):
        row = np.full(partitions.shape[1], np.nan)
        row[chosen] = partitions[len(scores), chosen]
        scores = np.vstack([scores, row])
    return scores


def test_ties_go_to_the_first_candidate_whatever_the_order_of_summation() -> None:
    thirds = np.array([[0.1, 0.3, 0.2], [0.2, 0.1, 0.3], [0.3, 0.2, 0.1]])  # sums differ in the last digit
    assert len({thirds[:, c].sum() for c in range(3)}) > 1
    assert pick_best(thirds) == 0
    assert retune(thirds, 3).picks.tolist() == [0]


def test_a_candidate_that_was_not_run_everywhere_is_never_the_pick() -> None:
    scores = np.array([[0.5, 0.9, 0.6], [0.5, np.nan, 0.6]])
    assert pick_best(scores) == 2
    assert measure_standing(scores).pick == 2


def test_wins_count_the_partitions_that_tuning_on_each_alone_would_decide() -> None:
    scores = grid([0.5, 0.5, 0.5], 40, seed=1)
    direct = [sum(row.argmax() == c for row in scores) / 40 for c in range(3)]
    assert count_wins(scores).tolist() == direct


def test_of_several_that_are_best_on_a_partition_each_wins_whatever_their_order() -> None:
    scores = np.array([[0.9, 0.9, 0.8], [0.1 + 0.2, 0.3, 0.1], [0.5, 0.6, np.nan], [0.7, 0.6, 0.7]])
    assert count_wins(scores).tolist() == [0.75, 0.75, 0.25]
    assert count_wins(scores[:, [2, 0, 1]]).tolist() == [0.25, 0.75, 0.75]


def test_the_order_of_candidates_changes_neither_probabilities_nor_limits() -> None:
    scores = grid([0.50, 0.505, 0.49, 0.51, 0.3, 0.507], 4, seed=3)
    order = np.array([4, 2, 5, 0, 3, 1])
    one, other = measure_standing(scores), measure_standing(scores[:, order])
    np.testing.assert_array_equal(best_probabilities(one, seed=0)[order], best_probabilities(other, seed=0))
    own, theirs = bound_regret(one, level=0.95, seed=0), bound_regret(other, level=0.95, seed=0)
    np.testing.assert_allclose(own.upper[order], theirs.upper, rtol=1e-12)


def test_errors_of_gaps_are_the_paired_variance_drawn_towards_the_pooled_one() -> None:
    scores = grid([0.50, 0.51, 0.52, 0.505, 0.51], 5, seed=2)
    standing = measure_standing(scores)
    assert standing.contenders.all()
    left = scores - scores.mean(0) - scores.mean(1, keepdims=True) + scores.mean()
    pooled = 2 * (left**2).sum() / (4 * 4)
    assert standing.variance == pytest.approx(pooled)
    own = (scores - scores[:, [standing.pick]]).var(0, ddof=1)
    expected = np.sqrt((8 * pooled + 4 * own) / 12 / 5)
    np.testing.assert_allclose(standing.errors, expected)


def test_the_probability_of_two_candidates_is_the_integral_over_scale_and_spread() -> None:
    scores = grid([0.500, 0.512], 4, seed=5)
    standing = measure_standing(scores)
    gap = abs(standing.gaps).max()
    error = standing.errors[1 - standing.pick]
    df = standing.weight + 3
    share = np.linspace(0, 1, 2001)

    def given_scale(inflation: float) -> float:
        weight = np.sqrt(share) * np.exp(-share * gap**2 / 2 / (standing.variance / 4 * inflation))
        lead = stats.norm.cdf(np.sqrt(1 - share) * gap / (error * math.sqrt(inflation)))
        return integrate.trapezoid(weight * lead, share) / integrate.trapezoid(weight, share)

    chi = np.linspace(0.01, 60, 3000)
    density = stats.chi2.pdf(chi, df)
    exact = integrate.trapezoid(density * [given_scale(df / c) for c in chi], chi) / integrate.trapezoid(density, chi)
    drawn = best_probabilities(standing, seed=1, draws=200_000)[standing.pick]
    assert 0.6 < exact < 0.95
    assert drawn == pytest.approx(exact, abs=0.005)


def test_probabilities_sum_to_one_and_twins_have_the_same() -> None:
    scores = grid([0.50, 0.52, 0.51], 6, seed=4)
    doubled = np.hstack([scores, scores])
    chances = best_probabilities(measure_standing(doubled), seed=0)
    assert chances[:3].sum() == pytest.approx(1)
    assert chances[3:].tolist() == chances[:3].tolist()
    assert measure_standing(doubled).twins.tolist() == [0, 1, 2, 0, 1, 2]
    alone = best_probabilities(measure_standing(scores), seed=0)
    np.testing.assert_allclose(chances[:3], alone)


@pytest.mark.parametrize(("factor", "shift"), [(100.0, 0.0), (1.0, 1e4), (1e-3, -5.0)])
def test_probabilities_limits_and_plans_do_not_depend_on_the_scale(factor: float, shift: float) -> None:
    scores = grid([0.50, 0.52, 0.51, 0.3], 5, seed=6)
    moved = factor * scores + shift
    one, other = measure_standing(scores), measure_standing(moved)
    np.testing.assert_allclose(best_probabilities(one, seed=0), best_probabilities(other, seed=0), atol=1e-3)
    limits = bound_regret(one, level=0.95, seed=0), bound_regret(other, level=0.95, seed=0)
    np.testing.assert_allclose(factor * limits[0].upper, limits[1].upper, rtol=1e-5, atol=1e-9 * factor)
    plan = AdaptiveSchedule(candidates=4, k=5)
    assert plan.next(scores) == plan.next(moved)
    assert find_margin(moved) == pytest.approx(factor * find_margin(scores), rel=1e-5)


def test_limits_hold_the_best_and_the_regret_as_often_as_they_say() -> None:
    truth = [0.500, 0.502, 0.504, 0.504, 0.507, 0.48]
    inside = within = 0
    for seed in range(400):
        standing = measure_standing(grid(truth, 4, seed))
        limits = bound_regret(standing, level=0.9, seed=seed, draws=400)
        inside += bool(limits.alike[4])
        within += 0.507 - truth[standing.pick] <= limits.regret
    assert inside >= 0.9 * 400 - 18  # three standard errors of 400 trials
    assert within >= 0.9 * 400 - 18


def test_stated_probabilities_are_not_overstated_when_candidates_come_from_one_population() -> None:
    rng = np.random.default_rng(7)
    stated, right = [], []
    for seed in range(600):
        truth = 0.01 * rng.standard_normal(6)
        standing = measure_standing(grid(truth.tolist(), 4, seed))
        stated.append(best_probabilities(standing, seed=seed, draws=300)[standing.pick])
        right.append(truth.argmax() == standing.pick)
    # Those at the bottom are no contenders, so that the spread is taken for smaller than it is: modest, not bold.
    assert np.mean(right) - 0.15 < np.mean(stated) < np.mean(right) + 3 * math.sqrt(0.25 / 600)


def test_one_partition_gives_a_pick_and_no_probability() -> None:
    standing = measure_standing(np.array([[0.5, 0.7, 0.6]]))
    assert standing.pick == 1
    assert np.isnan(best_probabilities(standing, seed=0)).all()
    assert math.isnan(bound_regret(standing, level=0.95, seed=0).regret)


def test_equal_candidates_leave_no_regret_and_the_first_one() -> None:
    standing = measure_standing(np.tile(np.array([[0.5], [0.6]]), (1, 4)))
    assert standing.pick == 0
    assert best_probabilities(standing, seed=0).tolist() == [1, 1, 1, 1]
    assert bound_regret(standing, level=0.95, seed=0).regret == 0


@pytest.mark.parametrize("budget", [55, 70, 111, 200])
def test_an_adaptive_plan_never_spends_more_than_its_budget(budget: int) -> None:
    plan = AdaptiveSchedule(candidates=11, k=5, budget=budget)
    for seed in range(20):
        scores = run(plan, grid([0.5] * 11, 8, seed))
        assert 5 * np.isfinite(scores).sum() <= budget
        assert plan.review(scores).fits == 5 * np.isfinite(scores).sum()


def test_a_budget_that_pays_for_no_partition_runs_none() -> None:
    assert AdaptiveSchedule(candidates=11, k=5, budget=54).next(np.empty((0, 11))) == []


def test_hopeless_candidates_are_dropped_at_the_first_look_and_stay_out() -> None:
    plan = AdaptiveSchedule(candidates=4, k=3)
    scores = run(plan, grid([0.5, 0.5, 0.2, 0.1], 8, seed=3))
    assert np.isfinite(scores[:, 2:]).sum(0).tolist() == [FIRST_LOOK] * 2
    assert {2, 3} <= set(plan.review(scores).dropped)


def test_an_adaptive_plan_remembers_nothing_but_the_scores() -> None:
    plan = AdaptiveSchedule(candidates=6, k=5)
    scores = run(plan, grid([0.50, 0.51, 0.51, 0.52, 0.52, 0.45], 8, seed=9))
    for done in range(1, len(scores)):
        ran = np.flatnonzero(np.isfinite(scores[done]))
        assert plan.next(scores[:done]) == ran.tolist()
    assert plan.next(scores) == []
    assert plan.review(scores).stop is not None


def test_a_candidate_that_failed_is_not_run_again() -> None:
    scores = grid([0.5, 0.5, 0.5], 1, seed=1)
    scores[0, 1] = np.nan
    assert AdaptiveSchedule(candidates=3, k=5).next(scores) == [0, 2]


def test_candidates_that_never_differ_are_run_as_one_after_three_partitions() -> None:
    scores = grid([0.5, 0.5], 3, seed=8)
    doubled = scores[:, [0, 1, 0, 1]]
    plan = AdaptiveSchedule(candidates=4, k=5)
    assert plan.next(doubled[:2]) == [0, 1, 2, 3]
    assert set(plan.next(doubled)) <= {0, 1}


def test_the_error_spent_over_all_looks_is_what_the_level_allows() -> None:
    plan = AdaptiveSchedule(candidates=2, k=5, level=0.9, most=6)
    assert sum(plan._error(done) for done in range(FIRST_LOOK, 7)) == pytest.approx(0.1)


def test_the_regret_is_within_the_margin_as_often_as_stated() -> None:
    truth = np.array([0.500, 0.503, 0.506, 0.496, 0.51, 0.47, 0.45])
    plan = AdaptiveSchedule(candidates=7, k=1, margin=0.008, most=8)
    missed = stopped = 0
    for seed in range(150):
        scores = run(plan, grid(truth.tolist(), 8, seed))
        if plan.review(scores).stop == "within margin":
            stopped += 1
            missed += truth.max() - truth[pick_best(scores)] > 0.008
    assert stopped > 40
    assert missed <= 0.05 * stopped + 3 * math.sqrt(0.05 * 0.95 * stopped)


def test_retuning_is_the_argmax_of_means_of_disjoint_groups() -> None:
    pool = grid([0.50, 0.51, 0.505], 11, seed=3)
    again = retune(pool, 3)
    groups = [pool[start : start + 3].mean(0) for start in (0, 3, 6)]
    assert again.picks.tolist() == [int(means.argmax()) for means in groups]
    np.testing.assert_allclose(again.estimates, [means.max() for means in groups])
    assert again.sd_estimate == pytest.approx(np.std([means.max() for means in groups], ddof=1))
    assert again.sd_choice(np.array([1.0, 5, 10])) == pytest.approx(np.std(np.array([1.0, 5, 10])[again.picks], ddof=1))


def test_a_thousand_retunings_need_no_more_than_the_pool() -> None:
    pool = grid([0.50, 0.51, 0.505], 30, seed=3)
    one, other = retune(pool, 4, repeats=1000, seed=1), retune(pool, 4, repeats=1000, seed=1)
    assert len(one.picks) == 1000
    assert one.picks.tolist() == other.picks.tolist()
    wider = retune(pool, 1, repeats=1000, seed=1)
    assert one.sd_estimate < wider.sd_estimate
    assert one.shares(3).sum() == pytest.approx(1)


def test_a_pool_too_small_for_j_is_refused() -> None:
    with pytest.raises(ValueError, match="groups of 5"):
        retune(np.ones((4, 2)), 5)


def test_advice_divides_the_budget_and_the_variance() -> None:
    samples = {5: grid([0.50, 0.51, 0.505], 6, seed=1), 10: grid([0.50, 0.51, 0.505], 6, seed=2)}
    plans = {plan.k: plan for plan in advise_plans(samples, budget=200)}
    assert (plans[5].j, plans[5].fits) == (13, 195)
    assert (plans[10].j, plans[10].fits) == (6, 180)
    # variances of the two are alike, so that one serves both
    assert plans[5].se_difference ** 2 * 13 == pytest.approx(plans[10].se_difference ** 2 * 6)
    assert advise_plans(samples, budget=200)[0].k == 5


def test_advice_takes_more_folds_where_bias_differs_between_candidates() -> None:
    true, slope = np.array([0.500, 0.512, 0.503, 0.508]), np.array([0.0, -0.06, -0.02, -0.04])
    samples = {k: grid((true + slope / k).tolist(), 12, seed=k, sd=0.003, shared=0.002) for k in (3, 10)}
    assert all(measure_standing(scores).contenders.sum() >= 2 for scores in samples.values())
    bias = measure_bias(samples)
    assert bias.mean == pytest.approx(slope.mean(), abs=0.02)
    assert bias.spread == pytest.approx(slope.std(ddof=1), rel=0.5)
    assert advise_plans(samples, budget=10_000)[0].k == 10


def test_two_folds_are_never_advised() -> None:
    samples = {2: grid([0.5, 0.6], 4, seed=1), 3: grid([0.5, 0.6], 4, seed=1)}
    assert [plan.k for plan in advise_plans(samples, budget=100)] == [3]
