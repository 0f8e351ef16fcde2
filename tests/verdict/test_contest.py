"""`judge_contest`: estimators against direct computation, what one partition may say, laws."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from contest_cases import guess, labels, partitions

from holdsup.metrics import make_metric
from holdsup.rendering import Estimate
from holdsup.results import schema_of
from holdsup.verdict.contest import Contest, Partition, Trained, judge_contest

ACCURACY = make_metric("accuracy")
TARGETS = labels(80)
TWO = {"A": guess(0.75), "B": guess(0.6)}


@pytest.fixture(scope="module")
def many() -> Contest:
    return judge_contest(partitions(TARGETS, TWO, number=20), TARGETS, ACCURACY)


def by_hand(partition: Partition, system: str) -> tuple[list[float], float]:
    """Return the accuracy of each fold and of the votes, counted item by item."""
    folds, ballots = [], {item: [] for item in range(len(TARGETS))}  # type: ignore[var-annotated]
    for trained in partition.trained[system]:
        assert trained.test is not None
        assert trained.predictions is not None
        pairs = list(zip(trained.test.tolist(), trained.predictions, strict=True))
        folds.append(sum(TARGETS[item] == said for item, said in pairs) / len(pairs))
        for item, said in pairs:
            ballots[item].append(said)
    right = 0
    for item, said in ballots.items():
        counts = Counter(said)
        winner = next(label for label in said if counts[label] == max(counts.values()))
        right += winner == TARGETS[item]
    return folds, right / len(TARGETS)


@pytest.mark.parametrize("m", [1, 3, 5])
def test_estimators_are_what_counting_item_by_item_gives(m: int) -> None:
    made = partitions(TARGETS, TWO, number=4, m=m)
    found = judge_contest(made, TARGETS, ACCURACY, conclusion="A > B")
    rows = {row.estimator: row for row in found.estimators}
    for i, partition in enumerate(made):
        (folds, vote), (other, other_vote) = by_hand(partition, "A"), by_hand(partition, "B")
        averaged = np.mean(folds) - np.mean(other)
        voted = vote - other_vote
        assert rows["holdout"].values[i] == pytest.approx(folds[0] - other[0])
        assert rows["averaged"].values[i] == pytest.approx(averaged)
        assert rows["vote"].values[i] == pytest.approx(voted)
        assert rows["mixture"].values[i] == pytest.approx(max(averaged, voted))
        assert rows["symmetric"].values[i] == pytest.approx(max(averaged, voted, key=abs))
    assert {row.trained for row in found.estimators} == {1, 2 * m}
    assert [row.estimator for row in found.estimators if row.paper] == ["mixture"]


def test_the_published_fold_counts_of_wang_and_li_are_judged_without_predictions(real_data: Path) -> None:
    trained: dict[str, list[Trained]] = {}
    with (real_data / "wang_acl2019_3x2bcv" / "ner_cws_3x2bcv_counts.csv").open() as file:
        for row in csv.DictReader(file):
            if row["task"] == "conll2003_ner_all":
                counts = [int(row[name]) for name in ("correct", "pred", "gold")]
                one = Trained(repetition=int(row["rep"]), fold=int(row["fold"]), counts=counts)
                trained.setdefault(row["model"], []).append(one)
    partition = Partition(strategy="blocked", trained={name: tuple(own) for name, own in trained.items()})
    found = judge_contest([partition], None, make_metric("chunk_f1", scheme="iob2"), conclusion="IOBES>IOB2")
    means = {name: np.mean([s.score for s in found.scores if s.system == name]) for name in trained}
    assert means == {"IOBES": pytest.approx(0.89602, abs=5e-6), "IOB2": pytest.approx(0.89497, abs=5e-6)}
    rows = {row.estimator: row for row in found.estimators}
    assert rows["averaged"].mean == pytest.approx(0.00105, abs=5e-6)
    assert set(rows) == {"holdout", "averaged"}
    assert (found.signs[0].left_ahead, found.signs[0].folds) == (4, 6)
    assert "no-votes" in codes(found)
    assert found.headline.startswith("IOBES leads IOB2 by 0.0011 chunk_f1 on one partition")
    assert "6: IOBES ahead in 4, IOB2 in 2" in str(found)


@pytest.mark.parametrize(("number", "has_share"), [(1, False), (19, False), (20, True)])
def test_a_reproducibility_needs_twenty_partitions(number: int, has_share: bool) -> None:
    found = judge_contest(partitions(TARGETS, TWO, number=number), TARGETS, ACCURACY)
    for row in found.estimators:
        assert (row.reproducibility is not None) == has_share
        assert (row.low is not None) == has_share
    assert ("reproducibility needs 20 partitions" in found.headline) == (not has_share)
    assert has_share or found.state == "unclear"
    assert (found.conclusions[0].status == "too few") == (not has_share)
    if number == 1:
        assert "folds      6: " in str(found)
        assert [test.paper for test in found.tests] == [False, True]


def test_shares_limits_and_signal_to_noise_describe_the_values(many: Contest) -> None:
    for row in many.estimators:
        values = np.array(row.values)
        assert row.wins == sum(values > 0)
        assert row.reproducibility == row.wins / 20
        assert row.snr == pytest.approx(values.mean() / values.std(ddof=1))
    assert ": reproducibility" in many.headline
    assert many.rows.used == many.rows.planned == 20 * 6 * 2
    assert "240 of 240 trained instances used." in many.page().text()


def test_the_conclusion_is_the_sign_of_the_mean_unless_it_is_given(many: Contest) -> None:
    assert (many.conclusions[0].left, many.conclusions[0].named) == ("A", False)
    given = judge_contest(partitions(TARGETS, TWO, number=20), TARGETS, ACCURACY, conclusion="B>A")
    assert (given.conclusions[0].left, given.conclusions[0].named) == ("B", True)
    deciders = [next(r for r in c.estimators if r.estimator == "averaged") for c in (many, given)]
    assert deciders[1].values == tuple(-v for v in deciders[0].values)
    assert deciders[1].bound == 0
    assert given.conclusions[0].status == "refuted"
    assert given.state == "no"
    assert given.headline.startswith("B trails A by ")
    assert "would win 0.59 of them on average" in " ".join(many.page().text().split())
    assert "on average" not in given.page().text().partition("Folds in which")[0].partition("bound:")[2]


def test_the_order_of_systems_and_partitions_changes_nothing(many: Contest) -> None:
    made = [
        Partition(strategy=p.strategy, trained=dict(reversed(p.trained.items())))
        for p in reversed(partitions(TARGETS, TWO, number=20))
    ]
    other = judge_contest(made, TARGETS, ACCURACY)
    assert other.verdict == many.verdict
    for left, right in zip(many.estimators, other.estimators, strict=True):
        assert replace(left, values=()) == replace(
            right, values=(), mean=pytest.approx(left.mean), sd=pytest.approx(left.sd),
            snr=pytest.approx(left.snr), bound=pytest.approx(left.bound), normal=pytest.approx(left.normal),
        )  # fmt: skip


def test_arrays_and_lists_are_the_same_predictions(many: Contest) -> None:
    made = [
        Partition(
            strategy="blocked",
            trained={
                name: tuple(replace(t, test=list(t.test), predictions=np.array(t.predictions)) for t in own)  # type: ignore[arg-type]
                for name, own in p.trained.items()
            },
        )
        for p in partitions(TARGETS, TWO, number=20)
    ]
    assert judge_contest(made, np.array(TARGETS), ACCURACY).to_dict() == many.to_dict()  # type: ignore[arg-type]


def test_tables_of_a_contest_are_frames(many: Contest) -> None:
    assert list(many.to_frame("estimators")["values"][1]) == list(many.estimators[1].values)
    assert len(many.to_frame("scores")) == 240


def codes(found: Contest) -> set[str]:
    return {caution.code for caution in found.cautions}


def noisy(sd: float, unit: float = 1.0):  # type: ignore[no-untyped-def]
    return lambda rng, targets: [t + unit * sd * rng.standard_normal() for t in targets]


def test_where_lower_is_better_the_lower_wins_and_units_do_not_matter() -> None:
    targets = np.random.default_rng(1).normal(size=60).tolist()
    results = []
    for unit in (1.0, 100.0):
        systems = {"far": noisy(1.2, unit), "near": noisy(1.0, unit)}
        scaled = [unit * target for target in targets]
        results.append(judge_contest(partitions(scaled, systems, number=20), scaled, make_metric("mse")))
    small, large = results
    assert small.conclusions[0].left == "near"
    assert small.conclusions[0].estimator == "averaged"  # measured numbers have no majority
    assert small.estimators[-1].mean < 0 < small.estimators[-1].snr
    for one, other in zip(small.estimators, large.estimators, strict=True):
        assert (one.wins, one.snr) == (other.wins, pytest.approx(other.snr))
    assert small.tests[0].p == pytest.approx(large.tests[0].p)


def test_systems_that_predict_the_same_are_never_ahead_of_each_other() -> None:
    same = {"A": lambda _, known: ["a"] * len(known), "B": lambda _, known: ["a"] * len(known)}
    found = judge_contest(partitions(TARGETS, same, number=20), TARGETS, ACCURACY)
    assert {(row.wins, row.ties) for row in found.estimators} == {(0, 20)}
    assert {(row.reproducibility, row.low, row.high) for row in found.estimators} == {(None, None, None)}
    assert found.conclusions[0].status == "equal"
    assert found.tests[0].p == 1
    assert found.signs[0].ties == 120
    assert found.headline == "A and B are equal on all 20 partitions: there is no winner to reproduce."
    assert found.state == "unclear"
    assert "half-corpus" not in codes(found)
    assert "nan" not in str(found) + found.page().text()


def test_leads_that_cancel_out_are_ties_whatever_their_rounding() -> None:
    right = {"A": (1, 2, 4), "B": (4, 1, 2)}  # of ten, in three folds; the rounded shares do not add up to the same
    counts = {
        name: [Trained(repetition=i + 1, fold=1, counts=[n, 10]) for i, n in enumerate(own)]
        for name, own in right.items()
    }
    leads = np.diff([[n / 10 for n in right[name]] for name in "BA"], axis=0)[0]
    assert leads.mean() != 0
    made = [Partition(strategy="repeated", trained={name: tuple(own) for name, own in counts.items()})] * 20
    found = judge_contest(made, None, ACCURACY)
    rows = {row.trained: row for row in found.estimators}
    assert (rows[3].mean, rows[3].ties, rows[3].reproducibility) == (0, 20, None)
    assert rows[1].ties == 0
    assert "are equal on all 20 partitions" in found.headline


def test_a_lead_that_never_varies_has_no_noise_whatever_its_rounding() -> None:
    right, wrong = {"A": lambda _, known: known}, {"B": lambda _, known: ["z"] * (len(known) - 7) + known[-7:]}
    found = judge_contest(partitions(TARGETS, right | wrong, number=20), TARGETS, ACCURACY)
    averaged = next(row for row in found.estimators if row.estimator == "averaged")
    assert averaged.mean == pytest.approx(33 / 40)
    assert (averaged.sd, averaged.snr, averaged.bound) == (0, math.inf, 1)
    assert json.loads(found.to_json())["estimators"][1]["snr"] is None
    assert found.tables()[0].rows[1][5] == Estimate(None, 0.1)  # the SNR, a dash
    assert (found.tests[0].se, found.tests[0].statistic, found.tests[0].p) == (0, math.inf, 0)


def test_a_margin_counts_only_leads_beyond_it(many: Contest) -> None:
    found = judge_contest(partitions(TARGETS, TWO, number=20), TARGETS, ACCURACY, margin=0.1)
    for row, plain in zip(found.estimators, many.estimators, strict=True):
        assert row.values == plain.values
        assert row.wins == sum(value > 0.1 for value in row.values)
        assert row.snr == pytest.approx((plain.mean - 0.1) / plain.sd)
    assert "by more than 0.1" in found.headline


def test_a_margin_is_named_as_the_null_of_its_tests(many: Contest) -> None:
    found = judge_contest(partitions(TARGETS, TWO, number=20), TARGETS, ACCURACY, margin=0.02)
    assert "for no difference beyond 0.02 (blocked 3x2 t-test)" in str(found)
    assert "Tests of a difference of 0.02 or less, over new corpora" in found.page().text()
    test = found.tests[0]
    assert test.statistic == pytest.approx((test.difference - 0.02) / test.se)
    assert "for no difference (blocked 3x2 t-test)" in str(many)
    assert "Tests of no difference, over new corpora" in many.page().text()


def test_the_statistic_has_the_sign_of_the_difference_where_lower_is_better() -> None:
    targets = np.random.default_rng(1).normal(size=60).tolist()
    made = partitions(targets, {"far": noisy(1.2), "near": noisy(1.0)}, number=20)
    test = judge_contest(made, targets, make_metric("rmse")).tests[0]
    assert test.difference < 0
    assert test.statistic == pytest.approx(test.difference / test.se)


def test_all_pairs_come_from_the_same_trainings_and_are_adjusted() -> None:
    three = {**TWO, "C": guess(0.5)}
    made = partitions(TARGETS, three, number=20)
    found = judge_contest(made, TARGETS, ACCURACY)
    assert [(c.left, c.right) for c in found.conclusions] == [("A", "B"), ("A", "C"), ("B", "C")]
    alone = judge_contest(made, TARGETS, ACCURACY, pairs=[("C", "A")])
    own = [row for row in found.estimators if (row.left, row.right) == ("A", "C")]
    assert list(alone.estimators) == own
    for test in found.tests:
        assert test.p <= test.p_holm <= test.p_bonferroni <= 1
        assert test.p_bonferroni == pytest.approx(min(1, 3 * test.p))
    assert alone.tests[0].p_holm == pytest.approx(alone.tests[0].p)


def test_more_pairs_than_can_be_spelt_out_share_a_table() -> None:
    four = {name: guess(0.4 + 0.1 * i) for i, name in enumerate("ABCD")}
    found = judge_contest(partitions(TARGETS, four, number=20), TARGETS, ACCURACY)
    assert len(found.tables()[0].rows) == len(found.conclusions) == 6
    safe = [f"{c.left} > {c.right}" for c in found.conclusions if c.status == "survives"]
    assert 0 < len(safe) <= 3
    assert f"{len(safe)} of 6 leads hold" in found.headline
    assert "CI of reproducibility above .80" in found.headline


@pytest.mark.parametrize(
    ("strategy", "names", "test"),
    [
        ("repeated", ["holdout", "averaged", "averaged"], "corrected resampled t"),
        ("kfold", ["holdout", "averaged"], "corrected resampled t"),
        ("holdout", ["holdout"], "corrected resampled t"),
    ],
)
def test_other_splits_have_averages_and_no_votes(strategy: str, names: list[str], test: str) -> None:
    found = judge_contest(partitions(TARGETS, TWO, number=20, strategy=strategy), TARGETS, ACCURACY)
    assert [row.estimator for row in found.estimators] == names
    assert [t.name for t in found.tests] == [test]
    assert not found.votes
    assert not found.warnings
    assert found.conclusions[0].sign_at_n is None
    if strategy == "repeated":
        assert [row.trained for row in found.estimators] == [1, 2, 3]
    share = 1 / 3 if strategy == "kfold" else 1 / 4
    spread = np.array([s.score for s in found.scores if s.system == "A"]).reshape(20, -1)
    spread = spread - np.array([s.score for s in found.scores if s.system == "B"]).reshape(20, -1)
    se = math.sqrt((1 / spread.size + share / (1 - share)) * spread.var(ddof=1))
    assert found.tests[0].se == pytest.approx(se, rel=0.02)  # 80 items do not divide by 3


def test_one_hold_out_has_neither_test_nor_reproducibility() -> None:
    found = judge_contest(partitions(TARGETS, TWO, number=1, strategy="holdout"), TARGETS, ACCURACY)
    assert not found.tests
    assert "on one partition; reproducibility needs 20 partitions or more" in found.headline


def test_several_strategies_speak_of_the_conclusion_of_the_blocked_one(many: Contest) -> None:
    made = partitions(TARGETS, TWO, number=20) + partitions(TARGETS, TWO, number=25, strategy="repeated")
    found = judge_contest(made, TARGETS, ACCURACY)
    assert [row for row in found.estimators if row.strategy == "blocked"] == list(many.estimators)
    assert {row.partitions for row in found.estimators if row.strategy == "repeated"} == {25}
    assert found.conclusions == many.conclusions


def test_a_contest_comes_back_from_its_json_and_fits_its_schema(many: Contest) -> None:
    plain = json.loads(many.to_json())
    jsonschema.validate(plain, schema_of(Contest))
    assert Contest.from_dict(plain).to_dict() == many.to_dict()
    assert many.signature.startswith("contest|metric:accuracy|splits:blocked|partitions:20|systems:2|items:80")


def test_ours_and_the_published_test_stand_side_by_side_and_five_repetitions_have_the_f() -> None:
    found = judge_contest(partitions(TARGETS, TWO, number=1, m=5), TARGETS, ACCURACY)
    assert [test.name for test in found.tests] == [
        "blocked 5x2 t", "blocked 5x2 t (Wang et al. 2014)", "combined 5x2 F (Alpaydin)",
    ]  # fmt: skip
    ours, paper, combined = found.tests
    assert (ours.df, paper.df, combined.df, combined.df2) == (5, 9, 10, 5)
    assert ours.p > paper.p


LEVELS = {"same": (0.05, 0.03), "differs": (0.05, -0.03), "unsure": (0.05, 0.0)}


@pytest.mark.parametrize(("status", "gaps"), LEVELS.items())
def test_the_sign_at_all_of_the_corpus_is_checked_on_the_learning_curve(status: str, gaps: tuple[float, float]) -> None:
    noise = [0.0, 0.004, -0.004, 0.002]
    curve = {
        "A": {40: [0.6 + gaps[0] + e for e in noise], 72: [0.7 + gaps[1] - e for e in noise]},
        "B": {40: [0.6] * 4, 72: [0.7] * 4},
    }
    found = judge_contest(partitions(TARGETS, TWO, number=20), TARGETS, ACCURACY, learning_curve=curve)
    check = found.curve_checks[0]
    assert (check.half, check.full, check.status) == (40, 72, status)
    assert check.half_difference == pytest.approx(0.05 + 0.0005)
    assert found.conclusions[0].sign_at_n == status
    assert {"sign-turns", "sign-unsure"} & codes(found) == {"differs": {"sign-turns"}, "unsure": {"sign-unsure"}}.get(
        status, set()
    )
    assert "half-corpus" not in codes(found)


def test_the_learning_curve_counts_its_trainings_and_says_where_it_contradicts_the_contest() -> None:
    made = partitions(TARGETS, TWO, number=20)
    plain = judge_contest(made, TARGETS, ACCURACY)
    (c,) = plain.conclusions
    noise = [0.0, 0.2, -0.2, 0.1]
    curve = {c.left: {40: [0.5 + e for e in noise], 72: [0.9] * 4}, c.right: {40: [0.53] * 4, 72: [0.7] * 4}}
    found = judge_contest(made, TARGETS, ACCURACY, learning_curve=curve)
    assert found.curve_checks[0].samples == 4
    assert (found.rows.planned, found.rows.used) == (plain.rows.planned + 16, plain.rows.used + 16)
    assert "16 of the trained instances are for the curve" in found.page().text()
    (contradicted,) = [each for each in found.cautions if each.code == "curve-against-contest"]
    assert (contradicted.severity, contradicted.about) == ("note", "table:curve_checks")
    assert "on the 4 samples of the learning curve: within the error of so few" in contradicted.message
    curve[c.left][40] = [0.6 + e / 100 for e in noise]
    agreeing = judge_contest(made, TARGETS, ACCURACY, learning_curve=curve)
    assert "curve-against-contest" not in codes(agreeing)


def test_what_a_learning_curve_tells_is_told_of_each_pair() -> None:
    systems = {"A": guess(0.9), "B": guess(0.6), "C": guess(0.3)}
    curve = {"A": {40: [0.8, 0.81], 72: [0.9, 0.91]}, "B": {40: [0.6] * 2, 72: [0.5] * 2}, "C": {40: [0.4] * 2}}
    curve["C"][72] = [0.7, 0.71]
    found = judge_contest(partitions(TARGETS, systems, number=20), TARGETS, ACCURACY, learning_curve=curve)
    assert [c.sign_at_n for c in found.conclusions] == ["same", "same", "differs"]
    (turned,) = [each for each in found.cautions if each.code == "sign-turns"]
    assert turned.message.startswith("On the learning curve, B > C holds at half of the corpus")
    assert "B > C holds at half" in str(found)


@pytest.mark.parametrize("strategy", ["blocked", "repeated", "kfold"])
def test_a_test_has_fewer_degrees_of_freedom_than_there_are_groups(strategy: str) -> None:
    made = partitions(TARGETS, TWO, number=20, strategy=strategy)
    groups = np.arange(len(TARGETS)) % 8
    ungrouped, equal, unequal = (
        judge_contest(made, TARGETS, ACCURACY, groups=given).tests[0].df
        for given in (None, groups, np.maximum(groups, 4))
    )
    assert 6 < equal < 7 < ungrouped < len(TARGETS) - 1
    assert unequal < 3  # a group of five eighths of the items, and three of an eighth, are as good as 2.3


def test_an_unchecked_sign_is_stated_as_an_assumption(many: Contest) -> None:
    assert many.conclusions[0].sign_at_n == "unchecked"
    assert "half-corpus" in codes(many)
    assert "Holds for new 50:50 splits of these 80 items; not new items or other settings." in many.verdict


def test_a_learning_curve_that_stops_early_or_has_one_score_a_size_cannot_tell() -> None:
    short = {"A": {20: [0.6, 0.61], 44: [0.7, 0.71]}, "B": {20: [0.5, 0.5], 44: [0.5, 0.5]}}
    single = {"A": {40: [0.6], 72: [0.7]}, "B": {40: [0.5], 72: [0.5]}}
    for curve in (short, single):
        found = judge_contest(partitions(TARGETS, TWO, number=1), TARGETS, ACCURACY, learning_curve=curve)
        assert found.curve_checks[0].status == "unsure"
