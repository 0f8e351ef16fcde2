"""Signs over re-partitions, tests from folds, votes: against closed forms, SciPy and enumeration."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.contests import (
    assess_stability,
    binomial_interval,
    blocked_t,
    chance_share,
    combined_f,
    confidence_sequence,
    elect,
    mix_estimates,
    pool_freedom,
    resampled_t,
    share_bound,
)
from holdsup.splits.hadamard import choose_order, make_hadamard
from holdsup.verdict.contest import decide_sequentially

# Xue et al. (2023), Table 4: SNR and reproducibility of ST, RS, Avg, Vote, Mixture for SRL, NER and chunking
TABLE_4 = [
    (0.181, 0.636), (0.414, 0.665), (0.465, 0.659), (0.645, 0.694), (0.684, 0.714),
    (0.510, 0.678), (1.258, 0.893), (0.889, 0.830), (1.179, 0.900), (1.421, 0.940),
    (0.195, 0.590), (0.483, 0.665), (3.200, 1.000), (1.818, 0.960), (3.063, 1.000),
]  # fmt: skip


@pytest.mark.parametrize(("snr", "share"), TABLE_4)
def test_the_published_reproducibilities_lie_above_the_bound_and_near_the_normal_share(
    snr: float, share: float
) -> None:
    assert share_bound(snr) == pytest.approx(snr**2 / (1 + snr**2), rel=1e-12)
    assert share_bound(snr) < share
    assert share == pytest.approx(stats.norm.cdf(snr), abs=0.07)


def test_signal_to_noise_is_the_mean_over_the_standard_deviation() -> None:
    values = np.array([0.3, -0.1, 0.0, 0.4])
    found = assess_stability(values)
    assert found.snr == pytest.approx(0.15 / math.sqrt(sum((v - 0.15) ** 2 for v in values) / 3))
    assert (found.positive, found.ties) == (2, 1)
    turned = assess_stability(-values)
    assert turned.bound == 0
    assert turned.normal == pytest.approx(1 - found.normal)


def test_one_value_has_no_signal_to_noise_and_a_constant_one_has_no_noise() -> None:
    assert math.isnan(assess_stability(np.array([0.1])).snr)
    constant = assess_stability(np.array([0.25, 0.25, 0.25]))
    assert (constant.snr, constant.bound, constant.normal) == (math.inf, 1, 1)
    assert math.isnan(assess_stability(np.zeros(3)).snr)
    rounded = np.array([0.1 + 0.2, 0.3, 0.3])
    assert len(set(rounded)) == 2
    assert (assess_stability(rounded).sd, assess_stability(rounded).snr) == (0, math.inf)
    at_margin = assess_stability(rounded, margin=0.3)
    assert (at_margin.positive, at_margin.ties) == (0, 3)


@pytest.mark.parametrize(("positive", "number"), [(0, 20), (20, 20), (37, 40), (1, 1000)])
def test_limits_of_a_share_are_those_of_clopper_and_pearson(positive: int, number: int) -> None:
    reference = stats.binomtest(positive, number).proportion_ci(0.95, method="exact")
    found = binomial_interval(positive, number, level=0.95)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), rel=1e-9)


@pytest.mark.parametrize("truth", [0.5, 0.6, 0.8, 0.9, 0.97])
def test_limits_cover_also_when_the_partitions_choose_the_direction(truth: float) -> None:
    number, missed = 20, 0.0
    for heads in range(number + 1):
        chance = stats.binom.pmf(heads, number, truth)
        # The direction is that of most; what is then covered or not is the probability of that direction.
        share, kept = (truth, heads) if 2 * heads >= number else (1 - truth, number - heads)
        limits = binomial_interval(kept, number, level=0.95)
        missed += chance * (not limits.low <= share <= limits.high)
    assert 0 < missed < 0.05


def test_the_share_by_chance_is_that_of_counted_coins() -> None:
    for number in (1, 2, 5, 10):
        tosses = [bin(i).count("1") for i in range(2**number)]
        direct = np.mean([max(heads, number - heads) / number for heads in tosses])
        assert chance_share(number) == pytest.approx(direct, rel=1e-12)
    assert chance_share(1000) == pytest.approx(0.5 + 1 / math.sqrt(2 * math.pi * 1000), abs=1e-4)


@pytest.mark.parametrize("truth", [0.5, 0.8, 0.95])
def test_limits_that_hold_at_all_looks_miss_the_truth_at_most_as_often_as_they_say(truth: float) -> None:
    level, looks = 0.9, 100
    alive, missed = {0: 1.0}, 0.0  # probability of each count of heads, of paths that never left the limits
    for number in range(1, looks + 1):
        after: dict[int, float] = {}
        for heads, chance in alive.items():
            for step, odds in ((1, truth), (0, 1 - truth)):
                after[heads + step] = after.get(heads + step, 0.0) + chance * odds
        alive = {}
        for heads, chance in after.items():
            limits = confidence_sequence(heads, number, level=level)
            if limits.low <= truth <= limits.high:
                alive[heads] = chance
            else:
                missed += chance
    assert missed <= 1 - level
    assert missed > 0.01  # they are not empty of content


def test_limits_at_all_looks_are_wider_than_those_of_one_look() -> None:
    once, always = binomial_interval(30, 40, level=0.95), confidence_sequence(30, 40, level=0.95)
    assert always.low < once.low < once.high < always.high
    assert confidence_sequence(0, 0, level=0.95).high == 1


@pytest.mark.parametrize(
    ("truth", "wrong"), [(0.8, {"right", "neither"}), (0.79, {"left", "right"}), (0.5, {"left", "right"})]
)
def test_a_sequential_outcome_is_wrong_at_most_as_often_as_it_says(truth: float, wrong: set[str]) -> None:
    alive, outcomes = {0: 1.0}, Counter[str]()
    for number in range(1, 121):
        after: dict[int, float] = {}
        for heads, chance in alive.items():
            for step, odds in ((1, truth), (0, 1 - truth)):
                after[heads + step] = after.get(heads + step, 0.0) + chance * odds
        alive = {}
        for heads, chance in after.items():
            decision = decide_sequentially([1.0] * heads + [-1.0] * (number - heads), target=0.8, level=0.95)
            if decision.is_final:
                outcomes[decision.outcome] += chance  # type: ignore[assignment]
            else:
                alive[heads] = chance
    assert sum(outcomes[name] for name in wrong) <= 0.05
    if truth == 0.5:
        assert outcomes["neither"] > 0.9


def test_sequential_decisions_wait_for_twenty_partitions_and_end_with_the_budget() -> None:
    assert decide_sequentially([1.0] * 19).outcome == "more"
    assert decide_sequentially([-1.0] * 30).outcome == "right"
    assert decide_sequentially([1.0, -1.0] * 20).outcome == "neither"
    assert decide_sequentially([1.0] * 15 + [-1.0] * 5, budget=20).outcome == "budget"
    assert decide_sequentially([0.0] * 40).outcome == "neither"  # ties are nobody's


def fold_differences(blocks: np.ndarray, m: int) -> np.ndarray:
    """Return what fixed predictors give: the mean of the blocks that each of the 2m folds tests on."""
    first = make_hadamard(len(blocks))[:, 1 : m + 1].T > 0
    return np.array([blocks[side].mean() for row in first for side in (~row, row)])[None]


@pytest.mark.parametrize("m", [3, 7, 11])
def test_with_fixed_predictors_the_blocked_t_is_the_t_test_of_the_blocks(m: int) -> None:
    blocks = np.random.default_rng(m).normal(0.3, 1, choose_order(m))
    reference = stats.ttest_1samp(blocks, 0)
    found = blocked_t(fold_differences(blocks, m))
    assert found.statistic == pytest.approx(reference.statistic, rel=1e-10)
    assert found.df == reference.df == m
    assert found.tail.p == pytest.approx(reference.pvalue, rel=1e-10)


@pytest.mark.parametrize(("groups", "partitions"), [(8, 5), (8, 20), (12, 5), (20, 20)])
def test_partitions_of_few_groups_keep_the_false_positives_of_the_blocked_t(groups: int, partitions: int) -> None:
    rng = np.random.default_rng([groups, partitions])
    first = make_hadamard(4)[:, 1:].T > 0  # which of the four blocks are fold 1 of each repetition
    tests_on = np.array([side for row in first for side in (~row, row)])
    blocks = np.array([rng.permutation(np.arange(groups) % 4) for _ in range(partitions)])
    weights = tests_on[:, blocks].transpose(1, 0, 2) / (groups / 2)  # (partitions, 2m, groups)
    differences = np.einsum("pfg,dg->dpf", weights, rng.normal(size=(4000, groups)))
    found = [blocked_t(one, units=groups) for one in differences]
    assert 2.9 < found[0].df <= groups - 1
    assert np.mean([test.tail.p < 0.05 for test in found]) == pytest.approx(0.05, abs=0.011)  # three standard errors
    # Squared errors vary as those of a chi-square with these degrees of freedom do.
    squares = np.array([test.se**2 for test in found])
    assert 2 * squares.mean() ** 2 / squares.var() == pytest.approx(found[0].df, rel=0.12)


def test_one_partition_has_its_contrasts_and_endless_ones_have_those_of_the_units() -> None:
    assert pool_freedom(3, 1, 8) == pytest.approx(3)
    assert pool_freedom(3, 10**9, 8) == pytest.approx(7)
    assert pool_freedom(3, 20, None) == 60


def test_the_published_form_has_more_degrees_of_freedom_than_contrasts() -> None:
    differences = np.array([[0.1, 0.3, 0.2, -0.1, 0.4, 0.2]])
    mean = differences.mean()
    statistic = mean / math.sqrt(((differences - mean) ** 2).sum() / 6)
    published = blocked_t(differences, published=True)
    assert (published.statistic, published.df) == (pytest.approx(statistic), 5)
    assert published.tail.p == pytest.approx(2 * stats.t.sf(statistic, 5), rel=1e-10)
    # with fixed predictors it would reject a true null more often than it says
    assert 2 * stats.t.sf(stats.t.ppf(0.975, 5), 3) == pytest.approx(0.082, abs=0.001)


def test_a_margin_makes_a_lead_count_only_beyond_it() -> None:
    differences = np.array([[0.1, 0.3, 0.2, 0.15, 0.4, 0.2]])
    assert blocked_t(differences, margin=0.5).tail.p == 1
    shifted = blocked_t(differences - 0.1)
    assert blocked_t(differences, margin=0.1).statistic == pytest.approx(shifted.statistic)
    assert blocked_t(-differences, margin=0.1).statistic == pytest.approx(-shifted.statistic)


def test_folds_that_agree_to_the_last_digit_leave_no_doubt_and_no_error() -> None:
    assert blocked_t(np.full((1, 6), 0.5)).tail.p == 0
    assert blocked_t(np.zeros((1, 6))).tail.p == 1


def test_the_corrected_resampled_error_adds_the_ratio_of_test_to_train() -> None:
    scores = np.array([0.81, 0.79, 0.84, 0.80])
    found = resampled_t(scores, test_to_train=1 / 3)
    assert found.se == pytest.approx(math.sqrt((1 / 4 + 1 / 3) * scores.var(ddof=1)))
    assert found.df == 3


def test_for_fixed_predictors_endless_hold_outs_come_to_the_t_test_of_the_items() -> None:
    rng = np.random.default_rng(1)
    items = rng.normal(0.2, 1, 90)
    splits = np.array([rng.permutation(items)[:10].mean() for _ in range(20_000)])
    found = resampled_t(splits, test_to_train=1 / 8)
    assert found.se == pytest.approx(items.std(ddof=1) / math.sqrt(90), rel=0.03)


def test_the_combined_f_is_alpaydins() -> None:
    pairs = np.array([[0.02, 0.05], [0.01, -0.02], [0.03, 0.04], [0.00, 0.06], [0.02, 0.01]])
    variances = ((pairs[:, 0] - pairs.mean(1)) ** 2) + ((pairs[:, 1] - pairs.mean(1)) ** 2)
    found = combined_f(pairs.ravel())
    assert found.statistic == pytest.approx((pairs**2).sum() / (2 * variances.sum()))
    assert found.tail.p == pytest.approx(stats.f.sf(found.statistic, 10, 5), rel=1e-10)


def test_the_published_mixture_leans_to_the_left_and_the_symmetric_one_does_not() -> None:
    correlation, number = 0.8, 200_000
    rng = np.random.default_rng(1)
    averaged = rng.standard_normal(number)
    vote = correlation * averaged + math.sqrt(1 - correlation**2) * rng.standard_normal(number)
    # the larger of two is positive unless both are negative: Sheppard's formula for the quadrant
    exact = 1 - (1 / 4 + math.asin(correlation) / (2 * math.pi))
    assert exact == pytest.approx(0.60, abs=0.005)
    assert (mix_estimates(averaged, vote, symmetric=False) > 0).mean() == pytest.approx(exact, abs=0.005)
    assert (mix_estimates(averaged, vote, symmetric=True) > 0).mean() == pytest.approx(0.5, abs=0.005)


def test_the_mixtures_take_the_larger_and_the_larger_in_absolute_value() -> None:
    averaged, vote = np.array([0.1, -0.3, 0.2]), np.array([0.2, 0.1, -0.1])
    assert mix_estimates(averaged, vote, symmetric=False).tolist() == [0.2, 0.1, 0.2]
    assert mix_estimates(averaged, vote, symmetric=True).tolist() == [0.2, -0.3, 0.2]


@pytest.mark.parametrize("voters", [1, 2, 3, 5])
def test_most_ballots_win_and_the_earlier_voter_breaks_ties(voters: int) -> None:
    ballots = np.random.default_rng(voters).integers(0, 3, (voters, 500))
    found = elect(ballots)
    for column in range(500):
        own = ballots[:, column].tolist()
        most = max(Counter(own).values())
        best = [code for code in own if own.count(code) == most]
        assert found.winner[column] == best[0]
        assert found.tied[column] == (len(set(best)) > 1)
    assert found.tied.any() == (voters > 1)


def test_support_breaks_ties_but_never_outvotes_a_majority() -> None:
    ballots = np.array([[0, 0], [1, 1], [2, 1]])
    support = np.array([[0.1, 9.0], [0.2, 0.1], [0.7, 0.1]])
    assert elect(ballots, support).winner.tolist() == [2, 1]
