"""The verdict and the tables of many pairs, metrics and margins, and of tables without items."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from holdsup import compare_systems, simulate_scores
from holdsup.rendering.text import render_text

TRUTH = {"A": 0.60, "B": 0.66, "C": 0.72, "D": 0.721}


def simulated(truth: dict[str, float] = TRUTH, *, items: int = 60, runs: int = 1, seed: int = 1) -> pd.DataFrame:
    frame: pd.DataFrame = simulate_scores(truth, items=items, runs=runs, seed=seed).to_pandas()
    return frame


def two_metrics(truth: dict[str, float], other: dict[str, float]) -> pd.DataFrame:
    return pd.concat(
        [simulated(truth, runs=3).assign(metric="bleu"), simulated(other, runs=3, seed=3).assign(metric="chrf")]
    )


def test_simultaneous_limits_are_those_of_the_level_that_all_pairs_need() -> None:
    frame = simulated()
    found = compare_systems(frame)
    wide = frame.pivot_table(index="item", columns="system", values="score", observed=True)
    for c in found.contrasts:
        test = stats.ttest_rel(wide[c.left], wide[c.right])
        assert 0.95 < c.level_simultaneous < 1 - 0.05 / 6
        raw, all_at_once = test.confidence_interval(0.95), test.confidence_interval(c.level_simultaneous)
        assert (c.low, c.high) == pytest.approx((raw.low, raw.high))
        assert (c.low_simultaneous, c.high_simultaneous) == pytest.approx((all_at_once.low, all_at_once.high))
    shown = found.tables()[1]
    assert shown.columns[2:4] == ("CI, this pair", "CI, all pairs")
    assert any("adjusted for all 6 comparisons (single-step max-t)" in note for note in shown.notes)


@pytest.mark.parametrize("runs", [1, 2, 3, 5])
def test_simultaneous_limits_leave_out_zero_where_the_adjusted_p_is_small(runs: int) -> None:
    told = 0
    for seed in range(12):
        found = compare_systems(simulated(runs=runs, seed=seed))
        for c in found.contrasts:
            assert (c.low_simultaneous > 0 or c.high_simultaneous < 0) == (c.p_adjusted <= 0.05)
            told += c.p_adjusted <= 0.05
    assert runs == 2 or 0 < told < 72


def test_systems_with_other_numbers_of_runs_are_adjusted_by_bonferroni() -> None:
    frame = simulated(runs=4)
    found = compare_systems(frame[(frame.system != "A") | (frame.seed < 3)])
    for c in found.contrasts:
        assert c.adjusted_by == "Bonferroni"
        assert c.level_simultaneous == pytest.approx(1 - 0.05 / 6)
        assert (c.low_simultaneous > 0 or c.high_simultaneous < 0) == (c.p_adjusted <= 0.05)


def test_one_pair_has_one_kind_of_limits() -> None:
    found = compare_systems(simulated({"A": 0.7, "B": 0.75}))
    (c,) = found.contrasts
    assert (c.low_simultaneous, c.high_simultaneous) == (c.low, c.high)
    assert "CI, all pairs" not in found.tables()[1].columns


def test_margin_tests_are_adjusted_over_pairs_and_counted_in_the_verdict() -> None:
    found = compare_systems(simulated(), margin=0.05)
    tested = [c.equivalence for c in found.contrasts if c.equivalence is not None]
    assert len(tested) == 6
    for raw in ("p_equivalent", "p_not_worse", "p_beyond"):
        p, adjusted = (np.array([getattr(e, name) for e in tested]) for name in (raw, f"{raw}_adjusted"))
        assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
        assert ((p <= adjusted) & (adjusted <= np.minimum(1, 6 * p) + 1e-12)).all()
    equivalent = sum(e.p_equivalent_adjusted <= 0.05 for e in tested)
    assert 0 < equivalent < 6
    assert f"{equivalent} of 6 pairs differ by less than 0.05" in str(found)
    assert any(table.title == "Tests against a margin of 0.05" for table in found.tables())


def test_a_difference_beyond_the_margin_is_tested_both_ways() -> None:
    frame = simulated({"A": 0.60, "B": 0.70}, items=40)
    wide = frame.pivot_table(index="item", columns="system", values="score", observed=True)
    for margin in (0.02, 0.5):
        for sign in (1, -1):
            found = compare_systems(frame.assign(score=sign * frame.score), margin=margin).contrasts[0].equivalence
            wanted = stats.ttest_1samp(wide["B"] - wide["A"], margin).pvalue if margin < 0.1 else 1.0
            assert found is not None
            assert found.p_beyond == pytest.approx(wanted)
    clear = compare_systems(frame, margin=0.02)
    assert clear.headline.startswith("B is better by ")
    assert clear.headline.endswith("more than the margin of 0.02.")
    turned = compare_systems(frame.assign(score=-frame.score), margin=0.02, lower_is_better=True)
    assert turned.headline.startswith("B is better by ")
    assert turned.headline.endswith("more than the margin of 0.02.")


def test_a_level_of_its_own_is_named_as_what_p_is_held_to() -> None:
    frame = simulated({"A": 0.70, "B": 0.705}, seed=6)
    p = compare_systems(frame).contrasts[0].p
    assert 0.05 < p < 0.8
    found = compare_systems(frame, level=0.2)
    assert (found.state, compare_systems(frame).state) == ("yes", "unclear")
    assert "(20% CI " in found.headline


def test_pairs_that_are_not_told_are_counted() -> None:
    truth = {name: 0.5 + number / 10 for number, name in enumerate("ABCDE")}
    found = compare_systems(simulated(truth, runs=3))
    assert found.headline == "E is better than all four others. All 10 pairs differ."
    assert [s.letters for s in found.ordered()] == [("A",), ("B",), ("C",), ("D",), ("E",)]


def test_limits_for_these_runs_are_for_these_datasets() -> None:
    """Means as differences: the variances of the datasets' means, over items, add up."""
    parts = [simulated({"A": base, "B": base + 0.02}, seed=seed).assign(dataset=str(seed)) for seed, base in
             ((1, 0.5), (2, 0.9))]  # fmt: skip
    found = compare_systems(pd.concat(parts))
    assert found.claim == "these-runs"
    for mean in found.systems:
        scores = [part[part.system == mean.name].score for part in parts]
        assert mean.mean == pytest.approx(np.mean([s.mean() for s in scores]))
        assert mean.se == pytest.approx(math.sqrt(sum(s.var() / 60 for s in scores)) / 2)
    assert "new items of these 2 datasets" in found.verdict


def test_a_verdict_on_many_pairs_names_names() -> None:
    found = compare_systems(simulated(runs=5))
    told = sum(c.p_adjusted <= 0.05 for c in found.contrasts)
    assert told == 5
    best = max(found.systems, key=lambda s: s.mean).name
    other = "C" if best == "D" else "D"
    assert found.headline == f"{best} and {other} can't be told apart at the top. 5 of 6 pairs differ."
    assert found.state == "unclear"
    assert {s.name: s.letters for s in found.systems} == {"A": ("C",), "B": ("B",), "C": ("A",), "D": ("A",)}


def test_the_best_mean_on_its_own_items_is_not_called_better_where_it_loses() -> None:
    """C has the highest mean because its items are easy; on the items it shares it is the worst."""
    frame = simulated({"A": 0.70, "B": 0.75, "C": 0.65}, items=80)
    easy = frame["item"].isin(frame[frame.system == "A"].nlargest(12, "score")["item"])
    found = compare_systems(frame[(frame.system != "C") | easy], level=0.9)
    assert max(found.systems, key=lambda s: s.mean).name == "C"
    assert found.headline.startswith("On the items that systems share, B is better than both others.")
    assert found.state == "yes"


def test_the_best_of_many_is_named_where_it_beats_all() -> None:
    found = compare_systems(simulated({"A": 0.60, "B": 0.61, "C": 0.75}, runs=5), lower_is_better=False)
    assert found.headline.startswith("C is better than both others.")
    lower = compare_systems(simulated({"A": 0.40, "B": 0.61, "C": 0.62}, runs=5), lower_is_better=True)
    assert lower.headline.startswith("A is better than both others.")


def test_where_nothing_differs_the_verdict_says_so() -> None:
    found = compare_systems(simulated(dict.fromkeys("ABC", 0.7)))
    assert all(c.p_adjusted > 0.05 for c in found.contrasts)
    assert found.headline.endswith("has the best mean, but none of 3 pairs can be told apart.")
    assert found.state == "unclear"


def test_each_metric_has_its_say() -> None:
    found = compare_systems(two_metrics({"A": 0.6, "B": 0.7}, {"A": 0.7, "B": 0.7}))
    assert found.headline == "B is better by one of two metrics (bleu); chrf can't tell."
    assert found.state == "unclear"
    several = compare_systems(two_metrics(TRUTH, {"A": 0.9, "B": 0.66, "C": 0.6, "D": 0.5}))
    assert several.headline == "A is best by one of two metrics (chrf); bleu can't tell."
    (table,) = several.answer().parts
    assert [row[0] for row in table.rows] == ["bleu", "chrf"]
    assert [row[-1] for row in table.rows] == ["UNCLEAR", "YES"]


def test_run_scores_on_a_single_dataset_are_compared_as_run_scores() -> None:
    frame = simulated({"A": 0.70, "B": 0.72}, items=1, runs=5).drop(columns="item")
    found, plain = compare_systems(frame.assign(dataset="corpus")), compare_systems(frame)
    assert found.contrasts[0] == plain.contrasts[0]
    assert found.contrasts[0].p_method.startswith("Welch t-test (run scores")
    assert found.unit is None
    assert found.verdict == plain.verdict
    a, b = (frame[frame.system == name].score for name in "AB")
    assert found.contrasts[0].se == pytest.approx(((a.var() + b.var()) / 5) ** 0.5)


def test_one_score_a_dataset_is_never_called_an_item() -> None:
    frame = simulated({"A": 0.7, "B": 0.72}, items=9, runs=3).rename(columns={"item": "dataset"})
    found = compare_systems(frame)
    assert "item" not in str(found).partition("signature:")[0]
    assert found.unit == "datasets"
    assert "new datasets like these 9" in found.verdict
    assert "datasets" in found.tables()[0].columns
    these = compare_systems(frame[frame.seed == 1])
    assert "item" not in str(these).partition("signature:")[0]


def test_runs_without_items_have_no_empty_rows_or_columns() -> None:
    frame = (
        simulated({"A": 0.7, "B": 0.72}, runs=4).groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    )
    found = compare_systems(frame)
    systems, differences, tests = found.tables()
    assert systems.columns == ("system", "mean", "95% CI", "runs")
    assert tests.columns == ("test", "p", "by")
    assert len(tests.rows) == 1
    assert all("-" not in cells for table in found.tables() for cells in table.cells())
    assert f"Welch t-test (run scores, conservative df), {found.contrasts[0].df:.1f} df" in differences.notes[0]
    assert "item" not in found.verdict


def test_a_plug_in_probability_is_called_one() -> None:
    shown = render_text(compare_systems(simulated({"A": 0.7, "B": 0.72}, runs=3)).tables()[1])
    assert "P(new run better)" in shown
    assert "an estimate without a CI" in " ".join(shown.split())


def test_a_large_p_reads_as_a_sentence() -> None:
    frame = simulated({"A": 0.7, "B": 0.7}, runs=3)
    frame["score"] = np.round(frame.score, 1)
    frame.loc[frame.system == "B", "score"] = frame[frame.system == "A"].score.to_numpy()
    frame["length"] = frame["item"] % 7
    found = compare_systems(frame, by="length")
    assert math.isclose(found.conditional[0].interaction.p, 1.0)
    assert "no evidence that the lead depends on length (p > .99)" in str(found)


UNSHARED = {
    "system": [*"AAAAAABBBBBCCCCC"], "item": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5],
    "score": [50, 52, 49, 51, 50, 900, 60, 62, 60, 61, 60, 40, 43, 39, 41, 42],
}  # fmt: skip


def test_places_and_headline_follow_the_items_that_both_have_where_means_say_otherwise() -> None:
    found = compare_systems(UNSHARED)
    assert found.headline.startswith("On the items that systems share, B is better than both others.")
    assert [s.name for s in found.ordered()] == ["B", "A", "C"]  # A has the best mean, thanks to an item of its own
    pair = compare_systems(UNSHARED, where={"system": ["A", "B"]})
    assert pair.headline.startswith("On the items that both have, B is better by 10.20")


def test_runs_on_different_scales_leave_the_answer_unclear() -> None:
    rows = [(name, seed, base + seed / 50) for name, base in (("A", 0.8), ("B", 84.0)) for seed in range(5)]
    found = compare_systems([dict(zip(("system", "seed", "score"), row, strict=True)) for row in rows])
    assert found.state == "unclear"
    assert found.headline.startswith("Runs seem to be on different scales")
