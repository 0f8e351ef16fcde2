"""Verdicts on tunings: what is said, what is refused, and that nothing that failed is ever the best."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from holdsup.errors import TuningError
from holdsup.numerics.tuning_plans import AdaptiveSchedule
from holdsup.results import Caution, schema_of
from holdsup.verdict.tuning import Tuning, TuningAdvice, advise_tuning, judge_tuning
from holdsup.verdict.tuning.candidates import FailedFit, name_candidates

C = [{"svc__C": c, "svc__kernel": "rbf"} for c in (0.1, 1, 10)]


def codes(found: Tuning | TuningAdvice) -> set[str]:
    return {caution.code for caution in found.cautions}


def failed(candidate: int, partition: int, fold: int, error: str) -> FailedFit:
    return FailedFit(candidate=candidate, partition=partition, fold=fold, error=error)


def scores(j: int, means: tuple[float, ...] = (0.80, 0.83, 0.84), seed: int = 1, sd: float = 0.01) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array(means) + 0.01 * rng.standard_normal((j, 1)) + sd * rng.standard_normal((j, len(means)))


def judge(table: np.ndarray, **options: object) -> Tuning:
    return judge_tuning(table, C, k=5, metric_name="accuracy", **options)  # type: ignore[arg-type]


def run(plan: AdaptiveSchedule, table: np.ndarray) -> np.ndarray:
    """Return the scores of the candidates that an adaptive plan runs, partition by partition."""
    done = np.empty((0, table.shape[1]))
    while chosen := plan.next(done):
        row = np.full(table.shape[1], np.nan)
        row[chosen] = table[len(done), chosen]
        done = np.vstack([done, row])
    return done


def test_the_answer_names_wins_and_probability_and_says_what_best_means() -> None:
    found = judge(scores(4))
    won = round(4 * found.pick.wins)
    assert found.headline.startswith(f"{found.best} won {won} of 4 partitions; another setting could be at most 0.")
    assert "Holds for other partitions of these items into 5 folds; not new data." in found.verdict
    assert f"{found.probability:.2f}" in str(found)


def test_candidates_with_the_same_scores_are_the_best_together() -> None:
    table = scores(4, means=(0.6, 0.7, 0.8))
    table[:, 1] = table[:, 2]
    found = judge(table)
    assert [row.p_best for row in found.candidates] == [0, found.probability, found.probability]
    assert found.probability > 0.99
    assert [row.status for row in found.ranked()] == ["pick", "alike", "worse"]
    assert (found.state, "no other setting is better (95% confidence)" in found.headline) == ("yes", True)
    assert "same scores as C=1" in found.page().text()


def test_means_and_standard_errors_are_those_between_partitions() -> None:
    table = scores(6)
    found = judge(table)
    for row in found.candidates:
        assert row.mean == pytest.approx(table[:, row.index].mean())
        assert row.se == pytest.approx(table[:, row.index].std(ddof=1) / math.sqrt(6))
        assert row.difference == pytest.approx((table[:, row.index] - table[:, found.best_index]).mean())


def test_a_candidate_that_failed_once_is_recorded_and_never_the_best() -> None:
    table = scores(4, means=(0.5, 0.6, 0.99))
    table[2, 2] = np.nan
    found = judge(table, failures=[failed(2, 2, 3, "ValueError: no convergence")])
    assert found.best == "C=1"
    assert found.candidates[2].status == "failed"
    assert math.isnan(found.candidates[2].mean)
    assert math.isnan(found.candidates[2].p_best)
    assert math.isnan(found.candidates[2].wins)
    assert json.loads(found.to_json())["candidates"][2]["p_best"] is None
    own, pick = table[[0, 1, 3], 2].mean(), table[[0, 1, 3], 1].mean()
    assert (
        f"C=10 failed 1 of 20 fits and is not judged (its mean over 3 complete partitions, {own:.4g}, is above C=1's "
        f"there, {pick:.4g})."
    ) == found.cautions[0].message
    assert (found.cautions[0].code, found.cautions[0].about) == ("failed-candidate", "table:candidates")
    assert "no other of those judged is better" in found.headline
    assert found.failures[0].error == "ValueError: no convergence"
    assert "caveat     C=10 failed" in str(found)
    assert found.rows.reasons == {"a candidate that failed": 4}
    assert "no convergence" in found.page().text()


@pytest.mark.parametrize("partition", [0, 1])
def test_a_missing_score_that_nobody_explains_counts_as_a_failure(partition: int) -> None:
    table = scores(4)
    table[partition, 2] = np.nan
    assert judge(table).candidates[2].status == "failed"


def test_of_many_failed_candidates_the_ones_that_may_be_better_are_named() -> None:
    table = scores(4, means=(0.5, 0.6, 0.7, 0.8, 0.9, 0.4))
    table[2, 1:] = np.nan
    six = [{"C": c} for c in range(6)]
    found = judge_tuning(table, six, k=5, metric_name="accuracy", failures=[failed(c, 2, 0, "no") for c in range(1, 6)])
    assert "C=0 is the only candidate that did not fail" in found.headline
    assert found.state == "unclear"
    said = [caution.message for caution in found.cautions if caution.code == "failed-candidate"]
    assert [words.partition(" failed")[0] for words in said[:3]] == ["C=4", "C=3", "C=2"]
    assert said[3:] == ["2 more candidates failed and are not judged."]


def test_differences_that_are_rounding_are_none() -> None:
    table = np.tile(scores(4)[:, :1], (1, 3))
    table[:, 1] = table[:, 0] * (1 + 1e-15)
    table[:, 2] -= 0.1
    found = judge(table)
    assert found.candidates[1].difference == 0
    assert found.candidates[2].difference == pytest.approx(-0.1)


def test_differences_that_cancel_out_are_none() -> None:
    table = np.array([[0.7666666666666667, 0.7733333333333333], [0.68, 0.6733333333333333]])
    assert (table[:, 1] - table[:, 0]).mean() != 0  # but for rounding
    found = judge_tuning(table, C[:2], k=5, metric_name="accuracy")
    assert [row.difference for row in found.candidates] == [0, 0]


def test_a_candidate_that_varies_more_is_held_to_its_own_variance() -> None:
    rng = np.random.default_rng(0)
    table = 0.8 + 0.001 * rng.standard_normal((4, 10))
    table[:, 9] = 0.8 + np.array([0.02, -0.02, 0.015, -0.025])  # it may be the best, by far
    ten = [{"C": c} for c in range(10)]
    found = judge_tuning(table, ten, k=5, metric_name="accuracy")
    gaps = table[:, 9] - table[:, found.best_index]
    student = gaps.mean() + stats.t.ppf(0.95, 3) * gaps.std(ddof=1) / 2
    assert found.candidates[9].lead >= student - 1e-12
    assert found.regret >= student - 1e-12


def test_two_partitions_are_warned_about() -> None:
    assert "two-partitions" in codes(judge(scores(2)))
    assert "two-partitions" not in codes(judge(scores(3)))


def test_signatures_tell_candidates_apart() -> None:
    table = scores(4)
    one = judge_tuning(table, C, k=5, metric_name="accuracy").signature
    other = judge_tuning(table, [{"svc__C": c} for c in (0.1, 1, 10)], k=5, metric_name="accuracy").signature
    assert one != other
    assert "corpus:abc" in judge(table, signed={"corpus": "abc"}).signature


def test_the_text_says_whether_groups_were_kept_whole() -> None:
    assert "Groups of items were kept whole" in judge(scores(4), grouped=True).page().text()
    assert "Items were split one by one" in judge(scores(4), grouped=False).page().text()


def test_infinite_scores_are_never_the_best() -> None:
    table = scores(4)
    table[0, 0] = np.inf
    found = judge(table)
    assert found.candidates[0].status == "failed"
    assert found.best != "C=0.1"


def test_all_candidates_failed_is_one_clear_line() -> None:
    with pytest.raises(TuningError, match=r"all 3 candidates failed.*out of memory"):
        judge(np.full((2, 3), np.nan), failures=[failed(0, 0, 0, "out of memory")])


def test_equal_candidates_give_the_first_and_say_so() -> None:
    found = judge(np.tile(scores(4)[:, :1], (1, 3)))
    assert found.best_index == 0
    assert "All 3 candidates have the same accuracy" in found.headline
    assert found.state == "yes"
    assert [row.same_as for row in found.candidates] == [None, 0, 0]
    assert found.regret == 0


def test_a_grid_of_one_was_not_tuned() -> None:
    found = judge_tuning(scores(4)[:, :1], C[:1], k=5, metric_name="accuracy")
    assert "the only candidate" in found.headline
    assert (found.state, found.probability) == (None, 1)


def test_one_partition_says_what_it_cannot_tell() -> None:
    found = judge(scores(1))
    assert math.isnan(found.probability)
    assert "one partition can't tell how much of that is luck" in found.headline
    assert (found.state, codes(found)) == ("unclear", {"one-partition"})
    json.loads(found.to_json())


def test_two_folds_are_warned_against() -> None:
    found = judge_tuning(scores(3), C, k=2, metric_name="accuracy")
    assert "few-folds" in codes(found)
    assert any("Use K of 3 or more" in warning for warning in found.warnings)


def test_lower_is_better_mirrors_higher_is_better() -> None:
    table = scores(5)
    up, down = judge(table), judge(-table, higher_is_better=False)
    assert (up.best, up.probability, up.regret) == (down.best, down.probability, down.regret)
    assert [row.mean for row in up.candidates] == [-row.mean for row in down.candidates]
    assert [row.difference for row in up.candidates] == [-row.difference for row in down.candidates]
    assert [row.name for row in up.ranked()] == [row.name for row in down.ranked()]


def test_a_result_is_restored_from_its_json_and_fits_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    found = judge(scores(4))
    plain = json.loads(found.to_json())
    assert Tuning.from_dict(plain) == found
    jsonschema.validate(plain, schema_of(Tuning))


def test_candidates_dropped_on_the_way_are_told_from_failures() -> None:
    plan = AdaptiveSchedule(candidates=3, k=5)
    table = scores(8, means=(0.3, 0.84, 0.84))
    done = run(plan, table)
    found = judge(done, schedule=plan)
    assert found.candidates[0].status == "dropped"
    assert found.candidates[0].partitions == 3
    assert found.adaptive
    assert found.stop is not None
    assert found.fits == plan.review(done).fits
    assert "dropped after 3" in found.page().text()
    assert found.candidates[0].p_best < 0.01


def test_a_plan_that_stopped_within_the_margin_bounds_the_regret_by_it() -> None:
    plan = AdaptiveSchedule(candidates=3, k=5, margin=0.5)
    found = judge(scores(3), schedule=plan, margin=0.5)
    assert found.stop == "within margin"
    assert found.regret == 0.5


def test_one_that_was_dropped_may_be_better_by_the_margin_when_the_others_ran_to_the_end() -> None:
    plan = AdaptiveSchedule(candidates=3, k=5, margin=0.01)
    found = judge(run(plan, scores(8, means=(0.3, 0.84, 0.84), seed=5)), schedule=plan, margin=0.01)
    assert (found.stop, found.candidates[0].status) == ("all partitions run", "dropped")
    assert max(row.lead for row in found.candidates) < 0.01  # what limits alone would state
    assert found.regret == 0.01


def test_a_plan_that_dropped_none_states_the_limit_as_it_is() -> None:
    plan = AdaptiveSchedule(candidates=3, k=5, margin=1e-6, most=2)
    found = judge(scores(2, means=(0.84, 0.84, 0.84)), schedule=plan, margin=1e-6)
    assert plan.review(scores(2, means=(0.84, 0.84, 0.84))).dropped == {}
    assert found.regret == max(row.lead for row in found.candidates) > 1e-6


def test_more_partitions_are_suggested_while_the_regret_is_beyond_the_margin() -> None:
    found = judge(scores(4, means=(0.80, 0.83, 0.831)), margin=0.001)
    assert found.regret > 0.001
    needed = math.ceil(4 * (found.regret / 0.001) ** 2)
    near = float(f"{needed:.0e}")  # of the order of it: one digit
    assert found.next == (f"about {near:,.0f} partitions (J) would bring it within the margin",)
    assert f"settle it  about {near:,.0f} partitions" in str(found)
    assert (found.state, "above the margin (0.0010)" in found.headline) == ("unclear", True)


def test_partitions_left_out_as_copies_are_told_and_more_are_not_suggested() -> None:
    table = scores(3, means=(0.80, 0.83, 0.831))
    found, without = judge(table, copies=5, grouped=True, margin=0.001), judge(table, margin=0.001)
    assert (found.partitions, found.copies, without.copies) == (3, 5, 0)
    (copied,) = [each for each in found.cautions if each.code == "copied-partitions"]
    assert (copied.count, copied.message.startswith("5 of 8 partitions are copies of others")) == (5, True)
    assert (len(found.next), len(without.next)) == (0, 1)


def test_partitions_that_are_all_the_same_give_no_probability() -> None:
    found = judge(scores(1), copies=7, grouped=True)
    assert math.isnan(found.probability)
    assert codes(found) == {"one-partition", "copied-partitions"}
    assert "Use J of 2 or more" not in " ".join(found.warnings)


def test_a_plan_that_ran_out_of_partitions_says_so() -> None:
    plan = AdaptiveSchedule(candidates=3, k=5, most=8, margin=1e-6)
    table = scores(4, means=(0.84, 0.84, 0.84))
    assert plan.review(table).stop is None
    assert judge(table, schedule=plan, margin=1e-6, copies=4).stop == "all partitions run"


def test_where_lower_is_better_best_means_the_lowest_mean_and_the_pick_differs_by_zero() -> None:
    found = judge(-scores(4), higher_is_better=False)
    assert "Best: the lowest mean over all partitions" in found.page().text()
    assert math.copysign(1, found.pick.difference) == 1
    assert "Best: the highest mean" in judge(scores(4)).page().text()


def test_scores_that_differ_by_rounding_have_no_standard_error() -> None:
    table = scores(3)
    table[:, 2] = 0.75621473660689353 + np.array([0, 1.2e-16, -1.2e-16])
    found = judge(table)
    assert found.candidates[2].se == 0
    assert "0.7562147" not in str(found)


def test_the_limit_may_be_that_of_a_dropped_candidate_and_more_partitions_are_not_suggested_then() -> None:
    first = [[0.83, 0.79, 0.80], [0.82, 0.83, 0.76], [0.83, 0.80, 0.84]]
    table = np.array([*first, *[[0.72, 0.8, np.nan], [0.84, 0.8, np.nan]] * 3])
    plan = AdaptiveSchedule(candidates=3, k=5, most=9, margin=0.001)
    found = judge(table, schedule=plan, margin=0.001)
    assert (found.best, found.candidates[2].status) == ("C=1", "dropped")
    assert found.regret == found.candidates[2].lead > 0.001
    assert found.next == ()
    assert "too far behind the leader when it was dropped" in " ".join(found.page().text().split())


def test_cautions_of_who_trained_stand_among_the_warnings() -> None:
    caution = Caution(code="no-seed", message="Training has no seed.")
    assert judge(scores(4), cautions=[caution]).cautions == (caution,)


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (np.ones((2, 4)), {}, "each of 3 candidates"),
        (np.ones(3), {}, "shape"),
        (np.ones((2, 3)), {"level": 1.5}, "level is 1.5"),
        (np.ones((2, 3)), {"margin": -0.1}, "margin is -0.1"),
    ],
)
def test_bad_input_is_one_clear_line(table: np.ndarray, options: dict[str, float], words: str) -> None:
    with pytest.raises(TuningError, match=words):
        judge(table, **options)


def test_names_show_the_parameters_that_differ() -> None:
    assert name_candidates(C) == ["C=0.1", "C=1", "C=10"]
    assert name_candidates([{"a__C": 1, "b__C": 2}, {"a__C": 1, "b__C": 3}]) == ["C=2", "C=3"]
    assert name_candidates([{"a__C": 1, "b__C": 2}, {"a__C": 2, "b__C": 3}]) == ["a__C=1, b__C=2", "a__C=2, b__C=3"]
    assert name_candidates([{"f": math.sqrt}, {"f": np.float64(2.5)}, {}]) == ["f=sqrt", "f=2.5", "no parameters"]


def test_advice_names_j_and_k_and_is_restored_from_json() -> None:
    found = advise_tuning({5: scores(4), 10: scores(4, seed=2)}, budget=300, metric_name="accuracy")
    assert found.headline.startswith(f"Use J={found.j} partitions of K={found.k} folds")
    assert found.state is None
    assert len(str(found).splitlines()) <= 24
    assert all(plan.fits <= 300 for plan in found.plans)
    assert TuningAdvice.from_dict(json.loads(found.to_json())).j == found.j


def test_advice_refuses_a_budget_that_pays_for_nothing() -> None:
    with pytest.raises(TuningError, match="a budget of 14 fits does not pay for one partition of 3 candidates"):
        advise_tuning({5: scores(4)}, budget=14, metric_name="accuracy")


def test_advice_refuses_a_single_partition() -> None:
    with pytest.raises(TuningError, match="two partitions or more"):
        advise_tuning({5: scores(1)}, budget=100, metric_name="accuracy")


def test_partitions_that_agree_do_not_promise_precision() -> None:
    same = [[0.80, 0.83], [0.80, 0.83]]
    found = advise_tuning({5: same, 3: same}, budget=40, metric_name="accuracy")
    assert "nothing favours one J and K" in found.headline
    assert "an error of" not in found.headline
    rounded = [[0.80, 0.83], [0.70, 0.73]]  # the same difference, but for rounding
    assert np.ptp(np.diff(rounded)) != 0
    alike = advise_tuning({5: rounded}, budget=40, metric_name="accuracy")
    assert "nothing favours one J and K" in alike.headline
    assert codes(alike) == {"one-k"}


def test_a_k_whose_partitions_agree_by_chance_is_not_preferred_for_it() -> None:
    agree, differ = [[0.80, 0.83], [0.80, 0.83]], [[0.80, 0.83], [0.81, 0.82]]
    found = advise_tuning({5: agree, 3: differ}, budget=60, metric_name="accuracy")
    assert all(plan.error > 0 for plan in found.plans)
    assert found.k == 3


def test_shared_wins_are_counted_and_a_probability_may_be_below_the_confidence() -> None:
    lead, base = np.array([0.0024, 0.0060, 0, 0.0041]), np.array([0.70, 0.69, 0.71, 0.68])
    for table in (np.column_stack([base + lead, base]), np.column_stack([base, base + lead])):
        found = judge_tuning(table, C[:2], k=5, metric_name="accuracy")
        assert found.pick.wins == 1
        assert sorted(row.wins for row in found.candidates) == [0.25, 1]
        assert "won 4 of 4 partitions, 1 tied with other settings" in found.headline
        assert stats.ttest_1samp(lead, 0, alternative="greater").pvalue < 0.05
        assert 0.9 < found.probability < 0.95
        assert "no other setting is better (95% confidence)" in found.headline
    sure = judge(scores(8, means=(0.5, 0.6, 0.9), sd=0.001))
    assert sure.probability > 0.95
    assert "tied with" not in sure.headline


@pytest.mark.parametrize("again", [{"svc__C": 10.0}, {"svc__C": 10}, {"svc__C": np.int64(10)}])
def test_a_setting_that_is_given_twice_is_one_candidate(again: dict[str, object]) -> None:
    candidates = [{"svc__C": 1}, {"svc__C": 10}, {"svc__C": 100}]
    table = scores(5)
    alone = judge_tuning(table, candidates, k=5, metric_name="accuracy")
    found = judge_tuning(table[:, [0, 1, 2, 1]], [*candidates, again], k=5, metric_name="accuracy")
    assert [row.status for row in found.different] == [row.status for row in alone.candidates]
    assert [row.p_best for row in found.different] == [row.p_best for row in alone.candidates]
    assert (found.candidates[3].status, found.candidates[3].same_as) == ("same", 1)
    assert found.verdict == alone.verdict
    assert "1 of 4 candidates repeat others and count once: C=10." in found.warnings
    assert found.rows.reasons == {"a candidate that repeats another": 5}
    assert Tuning.from_dict(json.loads(found.to_json())).to_dict() == found.to_dict()


def test_candidates_that_tie_stay_candidates_and_so_do_numbers_of_another_meaning() -> None:
    table = scores(5)
    tied = judge_tuning(table[:, [0, 1, 1]], [{"C": 1}, {"C": 10}, {"C": 100}], k=5, metric_name="accuracy")
    assert len(tied.different) == 3
    # To a random forest 1 is one feature, and 1.0 all of them.
    forests = judge_tuning(table, [{"m": 1}, {"m": 1.0}, {"m": True}], k=5, metric_name="accuracy")
    assert len(forests.different) == 3


def test_of_a_setting_that_was_tried_twice_the_one_with_more_partitions_counts() -> None:
    table = scores(5)[:, [1, 2, 2]]
    table[3:, 1] = np.nan  # pruned, and later tried again to the end
    found = judge_tuning(table, [{"C": 1}, {"C": 10}, {"C": 10}], k=5, metric_name="accuracy")
    assert [row.status for row in found.candidates if row.index] == ["same", "pick"]
    single = judge_tuning(table[:, 1:], [{"C": 10}, {"C": 10}], k=5, metric_name="accuracy")
    assert "is the only candidate, so nothing was tuned" in single.headline


@pytest.mark.parametrize(("sd", "margin", "state"), [(0.001, 0.01, "yes"), (0.01, 1e-4, "unclear")])
def test_the_pick_is_safe_where_no_other_is_better_by_more_than_the_margin(
    sd: float, margin: float, state: str
) -> None:
    found = judge(scores(6, means=(0.80, 0.83, 0.831), sd=sd), margin=margin)
    assert (found.state, found.regret <= margin) == (state, state == "yes")
    assert len(found.headline.split()) <= 25


@pytest.mark.parametrize(("status", "state"), [("worse", "no"), ("alike", "unclear"), ("pick", "unclear")])
def test_what_was_taken_instead_of_the_pick_is_what_the_answer_is_about(status: str, state: str) -> None:
    found = judge(scores(6, means=(0.5, 0.83, 0.832)), margin=1e-4)
    taken = next(row for row in found.candidates if row.status == status)
    assert replace(found, taken=taken.index).state == state
    assert (f"{taken.name} was taken" in replace(found, taken=taken.index).headline) == (status != "pick")


def test_a_tie_on_every_partition_that_was_won_is_said() -> None:
    table = np.array([[0.9, 0.9, 0.8], [0.8, 0.8, 0.7], [0.7, 0.6, 0.7]])
    assert judge(table).headline.startswith("C=0.1 won 3 of 3 partitions, each time tied with other settings; another")


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize("j", [1, 2, 8])
def test_a_short_answer_fits_a_screen(count: int, j: int) -> None:
    names = [{"vectorizer__max_features": 10_000 * c, "classifier__regularization": 0.001 * c} for c in range(count)]
    table = np.random.default_rng(1).normal(0.8, 0.01, (j, count))
    found = judge_tuning(table, names, k=5, metric_name="accuracy")
    lines = str(found).splitlines()
    assert len(lines) <= 24
    assert lines[-1] == found.signature
