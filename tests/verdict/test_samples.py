"""Samples of one trained system: no training runs; pass@k and pass^k; the claim of these items."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from holdsup import rank_systems, read_result, read_scores
from holdsup.errors import ScoresError
from holdsup.verdict import compare_systems

CRUX = Path(__file__).parents[3] / "shared" / "data" / "shapes" / "crux.csv.gz"
SAMPLES = 6


def simulate(items: int = 40, runs: int = 1, samples: int = SAMPLES, seed: int = 3) -> pd.DataFrame:
    """Two systems, of which new is better, with samples of each item in each run."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 1.5, items)
    rows = [
        (system, run, f"q{i}", sample, float(rng.random() < 1 / (1 + math.exp(-(level[i] + better + luck)))))
        for system, better in (("new", 1.2), ("old", 0.0))
        for run, luck in enumerate(rng.normal(0, 0.2, runs))
        for i in range(items)
        for sample in range(samples)
    ]
    return pd.DataFrame(rows, columns=["system", "seed", "item", "sample", "correct"])


ONE = simulate().drop(columns="seed")


def passes(frame: pd.DataFrame, system: str, k: int) -> np.ndarray:
    """pass@k of every item, by all its subsets of k samples."""
    own = frame[frame.system == system].groupby("item", sort=True).correct
    return np.array([np.mean([max(each) for each in itertools.combinations(item, k)]) for _, item in own])


def test_samples_are_averaged_and_no_runs() -> None:
    found = compare_systems(ONE)
    means = ONE.groupby(["system", "item"]).correct.mean().unstack(0)
    test = stats.ttest_rel(means["new"], means["old"])
    (row,) = found.contrasts
    assert (row.claim, row.p, row.difference) == (
        "these-runs", pytest.approx(test.pvalue), pytest.approx((means["new"] - means["old"]).mean()),
    )  # fmt: skip
    assert [(s.runs, s.samples) for s in found.systems] == [(1, SAMPLES)] * 2
    assert found.headline.startswith("Over new samples, new ")
    assert "new samples of both systems, new items like these 40; not new runs" in found.verdict
    assert not any(each.code == "one-run-each" for each in found.cautions)


def test_the_same_column_as_replicates_is_taken_for_runs() -> None:
    found = compare_systems(ONE, replicates="sample")
    assert (found.claim, found.systems[0].runs) == ("new-runs", SAMPLES)


@pytest.mark.parametrize("name", ["generation", "Sample #", "sample_idx"])
def test_a_column_of_samples_is_known_by_its_name(name: str) -> None:
    assert read_scores(ONE.rename(columns={"sample": name})).roles.sample == name


def test_any_column_can_be_said_to_tell_samples_apart() -> None:
    frame = ONE.rename(columns={"sample": "draw"})
    with pytest.raises(ScoresError, match="'draw' tells them apart"):
        compare_systems(frame)
    found = compare_systems(frame, samples="draw")
    assert found.contrasts[0].p == compare_systems(ONE).contrasts[0].p
    assert "--samples draw" in str(found.asked.command())


def test_a_sample_that_is_the_item_or_a_text_stays_what_it_is() -> None:
    items = ONE[ONE["sample"] == 0].drop(columns="sample").rename(columns={"item": "sample"})
    assert read_scores(items).roles.item == "sample"
    texts = ONE.rename(columns={"sample": "index_of_try"}).assign(generation=[f"text {i}" for i in range(len(ONE))])
    scores = read_scores(texts)
    assert (scores.roles.sample, "generation" in scores.others) == (None, True)
    both = ONE.assign(generation=[f"text {i}" for i in range(len(ONE))])[
        [*ONE.columns[:2], "generation", *ONE.columns[2:]]
    ]
    assert read_scores(both).roles.sample == "sample"
    numbered = ONE[ONE["sample"] == 0].drop(columns="sample").rename(columns={"item": "question"})
    numbered["sample"] = numbered.question.str[1:].astype(int)  # the same question twice is no second sample of it
    numbered.question = numbered.question.replace("q7", "q8")
    assert read_scores(numbered).roles.sample is None
    once = ONE[ONE["sample"] == 0]
    assert read_scores(once).roles.sample is None  # it tells nothing apart
    assert read_scores(ONE, samples="-").roles.sample is None


def test_a_trial_that_repeats_items_is_a_sample_with_a_caution() -> None:
    frame = ONE.rename(columns={"sample": "trial"})
    found = compare_systems(frame)
    assert (found.claim, found.systems[0].samples) == ("these-runs", SAMPLES)
    assert [each.severity for each in found.cautions if each.code == "trials-as-samples"] == ["warning"]
    assert found.contrasts[0].p == compare_systems(ONE).contrasts[0].p
    assert compare_systems(frame, replicates="trial").claim == "new-runs"


def test_a_trial_without_items_or_within_them_is_a_run() -> None:
    frame = ONE.rename(columns={"sample": "trial"}).groupby(["system", "trial"], as_index=False).correct.mean()
    assert read_scores(frame).roles.replicates == ("trial",)
    nested = simulate(runs=3, samples=1).rename(columns={"seed": "trial"}).drop(columns="sample")
    nested["item"] += nested.trial.astype(str)  # every trial has items of its own
    assert read_scores(nested).roles.replicates == ("trial",)


def test_trials_of_several_runs_are_samples_within_these() -> None:
    frame = simulate(runs=3).rename(columns={"sample": "trial"})
    found = compare_systems(frame)
    assert (found.claim, found.systems[0].runs, found.systems[0].samples) == ("new-runs", 3, SAMPLES)


def test_samples_within_runs_follow_the_rule_of_runs() -> None:
    frame = simulate(runs=3)
    means = frame.groupby(["system", "seed", "item"], as_index=False).correct.mean()
    found, plain = compare_systems(frame), compare_systems(means)
    assert (found.claim, found.contrasts[0].difference) == ("new-runs", pytest.approx(plain.contrasts[0].difference))
    assert not found.headline.startswith("Over new samples")
    passed = compare_systems(frame, estimate="pass@3")
    per_run = frame.groupby(["system", "seed", "item"]).correct.agg(
        lambda item: np.mean([max(each) for each in itertools.combinations(item, 3)])
    )
    same = compare_systems(per_run.reset_index(name="score"))
    assert passed.claim == "new-runs"
    assert passed.contrasts[0].difference == pytest.approx(same.contrasts[0].difference)
    assert passed.contrasts[0].p == pytest.approx(same.contrasts[0].p)


def test_temperature_is_a_setting_beside_samples() -> None:
    frame = pd.concat([simulate(seed=4).assign(temperature=t) for t in (0.2, 0.8)]).drop(columns="seed")
    scores = read_scores(frame)
    assert (scores.roles.facets, scores.roles.sample) == (("temperature",), "sample")
    assert compare_systems(frame, where={"temperature": 0.2}, estimate="pass@2").systems[0].samples == SAMPLES


@pytest.mark.parametrize("k", [1, 3, SAMPLES])
def test_pass_at_k_is_the_paired_t_test_of_unbiased_estimates(k: int) -> None:
    found = compare_systems(ONE, estimate=f"pass@{k}")
    new, old = (passes(ONE, system, k) for system in ("new", "old"))
    (row,) = found.contrasts
    assert {s.name: s.mean for s in found.systems} == pytest.approx({"new": new.mean(), "old": old.mean()})
    assert (row.metric, row.claim) == (f"pass@{k}", "these-runs")
    if k < SAMPLES:  # with k of n = k samples estimates are 0 or 1, which have a test of their own
        assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue)
    assert found.rows.used == found.rows.planned == len(ONE)
    assert found.asked.options["estimate"] == (f"pass@{k}",)


def test_several_k_are_metrics_in_the_order_asked_for() -> None:
    found = compare_systems(ONE, estimate=["pass@5", "pass@1", "pass^3"])
    assert [test.metric for test in found.tests] == ["pass@5", "pass@1", "pass^3"]
    means = {s.metric: s.mean for s in found.systems if s.name == "new"}
    assert means["pass^3"] < means["pass@1"] < means["pass@5"]
    alone = compare_systems(ONE, estimate="pass^3").contrasts[0]
    assert next(c for c in found.contrasts if c.metric == "pass^3").p == alone.p
    assert found.rows.used == len(ONE)
    assert not any(each.code == "direction-assumed" for each in found.cautions)


def test_metrics_of_the_table_each_have_their_estimates() -> None:
    both = pd.concat([ONE.assign(metric="base"), ONE.assign(metric="plus", correct=ONE.correct * 100)])
    found = compare_systems(both, estimate="pass@2,pass@3".split(","))
    assert [t.metric for t in found.tests] == ["base pass@2", "base pass@3", "plus pass@2", "plus pass@3"]
    assert found.tests[0].p == found.tests[2].p  # 0 and 100 are wrong and right as well
    assert found.rows.used == len(both)


def test_uneven_samples_count_by_item_and_are_said() -> None:
    frame = ONE[(ONE["sample"] < 4) | (ONE["item"] == "q7")]
    found = compare_systems(frame, estimate="pass@3")
    assert {s.name: s.mean for s in found.systems}["new"] == pytest.approx(passes(frame, "new", 3).mean())
    (said,) = [each.message for each in found.cautions if each.code == "uneven-samples"]
    assert said == "Items have 4 to 6 samples: each is scored by its own, and all items weigh the same."


def test_samples_without_a_score_are_left_out_and_counted() -> None:
    frame = ONE.copy()
    frame.loc[3, "correct"] = np.nan
    found = compare_systems(frame, estimate="pass@3")
    assert (found.rows.planned, found.rows.used) == (len(ONE), len(ONE) - 1)
    assert "uneven-samples" in {each.code for each in found.cautions}


def test_these_items_are_welch_like_over_samples() -> None:
    found = compare_systems(ONE, claim="these-items")
    groups = ONE.groupby(["system", "item"]).correct
    part = groups.var(ddof=1) / SAMPLES / 40**2
    (row,) = found.contrasts
    assert row.se == pytest.approx(math.sqrt(part.sum()))
    assert row.df == pytest.approx(part.sum() ** 2 / (part**2 / (SAMPLES - 1)).sum())
    assert row.rule == "samples"
    assert found.headline.startswith("Over new samples of these items, new is better by ")
    assert "new samples of both systems on these 40 items; not other items" in found.verdict
    assert all(s.low < s.mean < s.high for s in found.systems)


def test_these_items_take_more_samples_than_k() -> None:
    found = compare_systems(ONE, claim="these-items", estimate=f"pass@{SAMPLES - 1}")
    assert found.contrasts[0].claim == "these-items"
    with pytest.raises(ScoresError, match=r"it takes 7 samples of each item, and 80 of 80 have fewer: item 'q0'"):
        compare_systems(ONE, claim="these-items", estimate=f"pass@{SAMPLES}")


def test_these_items_weigh_as_their_datasets_do() -> None:
    frame = ONE.assign(dataset=np.where(ONE["item"].isin([f"q{i}" for i in range(10)]), "small", "large"))
    found = compare_systems(frame, claim="these-items")
    means = frame.groupby(["system", "dataset"]).correct.mean().groupby("system").mean()
    assert {s.name: s.mean for s in found.systems} == pytest.approx(means.to_dict())
    assert found.contrasts[0].difference == pytest.approx(means["new"] - means["old"])


def test_results_are_restored_and_a_margin_is_tested() -> None:
    found = compare_systems(ONE, claim="these-items", estimate="pass@2", margin=0.3)
    assert found.contrasts[0].equivalence is not None
    assert found.contrasts[0].equivalence.p_not_worse < 0.05


def test_a_saved_result_says_the_same(tmp_path: Path) -> None:
    found = compare_systems(ONE, claim="these-items", estimate="pass@2")
    path = tmp_path / "result.json"
    path.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    assert read_result(path).to_dict() == found.to_dict()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"estimate": "pass@7"}, r"--estimate pass@7: it takes 7 samples of each item, and 80 of 80 have fewer"),
        ({"estimate": "pass5"}, r"--estimate pass5: it can be pass@K"),
        ({"estimate": "pass@0"}, r"it can be pass@K"),
        ({"estimate": "pass@2", "samples": "-", "replicates": "sample"}, r"no column tells the samples of an item"),
        ({"claim": "these-items", "samples": "-", "replicates": "sample"}, r"--claim these-items: no column tells"),
        ({"claim": "these-items", "by": "half"}, r"--by half: it asks about new items"),
    ],
)
def test_what_cannot_be_estimated_is_refused(options: dict[str, str], said: str) -> None:
    frame = ONE.assign(half=ONE["item"].str[-1].isin(list("01234")).astype(str))
    with pytest.raises(ScoresError, match=said):
        compare_systems(frame, **options)


def test_scores_that_are_neither_right_nor_wrong_are_refused() -> None:
    graded = ONE.assign(correct=np.linspace(0, 1, len(ONE)))
    with pytest.raises(ScoresError, match="a sample is right or wrong, such as 1 or 0, but scores have 480 values"):
        compare_systems(graded, estimate="pass@2")
    twice = pd.concat([ONE, ONE.iloc[:2]])
    with pytest.raises(ScoresError, match="2 scores repeat a run, an item and a sample"):
        compare_systems(twice, estimate="pass@2")


def test_copies_of_samples_in_runs_are_counted_as_rows() -> None:
    frame = simulate(runs=2)
    frame = pd.concat([frame, frame[frame.seed == 1].assign(seed=2)])
    found = compare_systems(frame, estimate="pass@2")
    assert "copied-runs" in {each.code for each in found.cautions}
    assert found.rows.used == 2 * 2 * 40 * SAMPLES


def test_a_ranking_averages_samples_within_items() -> None:
    parts = [simulate(seed=s, runs=2).assign(dataset=f"d{s}") for s in range(3)]
    frame = pd.concat(parts)
    frame = frame[(frame["sample"] < 3) | (frame["item"] == "q1")]
    found = rank_systems(frame, folds=0)
    means = frame.groupby(["system", "dataset", "seed", "item"]).correct.mean().groupby(["system"]).mean()
    assert {s.name: s.mean for s in found.systems} == pytest.approx(means.to_dict())


@pytest.mark.skipif(not CRUX.exists(), reason="the shared table of CRUXEval is not beside this clone")
def test_samples_of_cruxeval_are_no_training_runs() -> None:
    found = compare_systems(CRUX, system="task")
    assert (found.claim, found.systems[0].samples) == ("these-runs", 10)
    assert found.contrasts[0].p == pytest.approx(0.39, abs=0.005)
    table = pd.read_csv(CRUX)
    right = table.groupby(["task", "item"]).passed.sum()
    by_hand = 1 - right.map(lambda c: math.comb(10 - int(c), 5) / math.comb(10, 5)).groupby("task").mean()
    passed = compare_systems(CRUX, system="task", estimate="pass@5")
    assert {s.name: s.mean for s in passed.systems} == pytest.approx(by_hand.to_dict())
