"""`compare_systems`: claims, numbers, sentences and bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import holdsup
from holdsup import Comparison, compare_systems, read_scores, simulate_scores
from holdsup.errors import ColumnError, ScoresError
from holdsup.numerics.distributions import adjust_holm
from holdsup.verdict.comparison.means import mean_of
from holdsup.verdict.evaluation import lay_out


def grids(table: pa.Table) -> dict[str, np.ndarray]:
    """Return items x runs of each system of a simulated table."""
    frame = table.to_pandas()
    return {
        name: part.pivot(index="item", columns="seed", values="score").to_numpy()
        for name, part in frame.groupby("system", observed=True)
    }


@pytest.fixture(scope="module")
def two() -> pa.Table:
    return simulate_scores({"A": 0.70, "B": 0.73}, items=120, runs=4, seed=3)


def test_one_run_a_system_is_the_paired_t_test() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.72}, items=50, runs=1, seed=3)
    found = compare_systems(table)
    values = grids(table)
    wanted = stats.ttest_rel(values["B"][:, 0], values["A"][:, 0])
    assert found.claim == "these-runs"
    (contrast,) = found.contrasts
    assert (contrast.left, contrast.right) == ("B", "A")
    assert contrast.p == pytest.approx(wanted.pvalue)
    assert contrast.low == pytest.approx(wanted.confidence_interval().low)
    assert contrast.p_superior is None
    assert "not new runs" in found.verdict


def test_several_runs_claim_new_runs_and_never_less_than_the_paired_test(two: pa.Table) -> None:
    found = compare_systems(two)
    values = grids(two)
    these = stats.ttest_rel(values["B"].mean(axis=1), values["A"].mean(axis=1)).pvalue
    assert found.claim == "new-runs"
    assert found.contrasts[0].difference == pytest.approx(values["B"].mean() - values["A"].mean())
    assert found.contrasts[0].p >= these
    assert compare_systems(two, claim="these-runs").contrasts[0].p == pytest.approx(these)


def test_the_papers_test_is_the_likelihood_ratio_of_its_two_models(two: pa.Table) -> None:
    found = compare_systems(two).paper
    assert found is not None
    fits = [holdsup.fit_lmm(f"score ~ {x} + (1 | item)", two, "ml") for x in ("1", "system")]
    assert found.statistic == pytest.approx(fits[0].criterion - fits[1].criterion)
    assert found.p == pytest.approx(stats.chi2.sf(found.statistic, 1))
    assert compare_systems(two).contrasts[0].effect_size == pytest.approx(
        compare_systems(two).contrasts[0].difference / fits[1].sigma
    )


def test_adjustment_is_over_pairs_and_metrics() -> None:
    frames = [simulate_scores({"A": 0.70, "B": 0.71, "C": 0.74}, items=60, runs=3, seed=s) for s in (1, 2)]
    table = pa.concat_tables(
        [t.append_column("metric", pa.array([m] * len(t))) for t, m in zip(frames, ("bleu", "chrf"), strict=True)]
    )
    found = compare_systems(table)
    assert len(found.contrasts) == 6
    assert len(found.tests) == 2
    alone = compare_systems(frames[0])
    for one, both in zip(alone.contrasts, found.contrasts, strict=False):
        assert one.p == pytest.approx(both.p)
        assert both.p_adjusted == pytest.approx(min(1, 2 * one.p_adjusted))  # of two metrics each has half the level
        assert both.adjusted_by == "single-step max-t"


def test_holm_agrees_with_its_definition() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert [10**q for q in adjust_holm(np.log10(p).tolist())] == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_baseline_stands_on_the_right() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.71, "C": 0.74}, items=60, runs=3, seed=1)
    found = compare_systems(table, baseline="C")
    assert [(c.left, c.right) for c in found.contrasts] == [("A", "C"), ("B", "C")]
    assert all(c.difference < 0 for c in found.contrasts)


def test_lower_is_better_changes_who_is_called_better_and_nothing_else(two: pa.Table) -> None:
    higher, lower = compare_systems(two), compare_systems(two, lower_is_better=True)
    assert higher.headline.startswith("B is better by")
    assert lower.headline.startswith("A is better by")
    assert (higher.state, lower.state) == ("yes", "yes")
    (one,), (other,) = higher.contrasts, lower.contrasts
    assert one.p_superior is not None
    assert other.p_superior == pytest.approx(1 - one.p_superior)  # a better run, not a higher one
    assert (one.lower_is_better, other.lower_is_better) == (False, True)
    assert replace(one, p_superior=None, lower_is_better=True) == replace(other, p_superior=None)


def test_a_single_run_beside_several_is_compared_for_these_runs_only() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.73, "C": 0.73}, items=60, runs=3, seed=1).to_pandas()
    table = table[(table.system != "A") | (table.seed == 1)]
    found = compare_systems(table)
    claims = {(c.left, c.right): c.claim for c in found.contrasts}
    assert set(claims.values()) == {"these-runs", "new-runs"}
    assert all("A" in pair for pair, claim in claims.items() if claim == "these-runs")
    assert any(c.code == "one-run-each" and "One run of A" in c.message for c in found.cautions)


def test_scores_per_run_without_items_are_welchs_test() -> None:
    table = {"system": ["A"] * 4 + ["B"] * 5, "seed": [1, 2, 3, 4, 1, 2, 3, 4, 5],
             "score": [27.1, 27.3, 26.8, 27.0, 28.0, 28.4, 27.7, 28.1, 28.3]}  # fmt: skip
    found = compare_systems(table)
    wanted = stats.ttest_ind(table["score"][4:], table["score"][:4], equal_var=False)
    assert found.contrasts[0].difference == pytest.approx(np.mean(table["score"][4:]) - np.mean(table["score"][:4]))
    assert found.contrasts[0].p >= wanted.pvalue  # degrees of freedom are cautious
    assert found.paper is None
    assert "on the same test data" in found.verdict


def test_shared_seeds_are_paired(two: pa.Table) -> None:
    rng = np.random.default_rng(5)
    frame = two.to_pandas()
    frame["score"] += 0.1 * rng.normal(size=4)[frame.seed - 1]  # luck that both systems share
    nested, paired = compare_systems(frame), compare_systems(frame, shared=["seed"])
    assert paired.contrasts[0].se < nested.contrasts[0].se / 2
    assert "shared seeds" in paired.contrasts[0].p_method


def test_clusters_replace_items(two: pa.Table) -> None:
    frame = two.to_pandas()
    frame["doc"] = (frame.item - 1) // 10
    rng = np.random.default_rng(6)
    frame["score"] += 0.05 * rng.normal(size=(12, 2))[frame.doc, (frame.system == "B").astype(int)]
    alone, clustered = compare_systems(frame, cluster="-"), compare_systems(frame, cluster="doc")
    assert clustered.contrasts[0].se > alone.contrasts[0].se
    assert "clusters" in clustered.contrasts[0].p_method


def test_datasets_weigh_the_same(two: pa.Table) -> None:
    other = simulate_scores({"A": 0.50, "B": 0.60}, items=30, runs=4, seed=8)
    third = simulate_scores({"A": 0.50, "B": 0.56}, items=30, runs=4, seed=9)
    table = pa.concat_tables(
        [t.append_column("dataset", pa.array([d] * len(t))) for t, d in ((two, "x"), (other, "y"), (third, "z"))]
    )
    found = compare_systems(table)
    means = [g["B"].mean() - g["A"].mean() for g in map(grids, (two, other, third))]
    assert found.contrasts[0].difference == pytest.approx(np.mean(means))
    assert "3" in found.verdict
    assert "datasets" in found.contrasts[0].p_method


def test_settings_are_not_seeds() -> None:
    """Three settings of one system that differ by much: new-runs holds them fixed, new-settings does not."""
    rng = np.random.default_rng(4)
    rows = []
    items = rng.normal(0, 0.1, 100)
    for system, offsets in (("grid", [-0.05, 0.0, 0.05]), ("plain", [0.0])):
        for lr, offset in enumerate(offsets):
            for seed in range(4):
                luck = rng.normal(0, 0.004)
                score = 0.6 + 0.02 * (system == "grid") + offset + luck + items + rng.normal(0, 0.05, 100)
                rows += [(system, f"lr{lr}", seed, i, s) for i, s in enumerate(score)]
    table = dict(zip(("system", "lr", "seed", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))
    runs = compare_systems(table, facets=["lr", "seed"])
    settings = compare_systems(table, facets=["lr", "seed"], claim="new-settings")
    assert runs.contrasts[0].p < 0.05 < settings.contrasts[0].p
    assert settings.contrasts[0].high - settings.contrasts[0].low > 3 * (runs.contrasts[0].high - runs.contrasts[0].low)
    assert settings.claim == "new-settings"


def test_a_margin_adds_equivalence_and_non_inferiority() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.70}, items=400, runs=8, sd_run=0.002, seed=2)
    found = compare_systems(table, margin=0.05).contrasts[0]
    assert found.equivalence is not None
    assert found.equivalence.p_equivalent < 0.05
    t = stats.t(found.df)
    edges = [(found.difference + 0.05) / found.se, (0.05 - found.difference) / found.se]
    assert found.equivalence.p_equivalent >= max(t.sf(edges)) * (1 - 1e-9)  # every test that the claim needs
    narrow = compare_systems(table, margin=1e-5).contrasts[0].equivalence
    assert narrow is not None
    assert narrow.p_equivalent > 0.05


def test_the_best_run_is_named_as_a_pick(two: pa.Table) -> None:
    frame = two.to_pandas()
    frame["dev"] = frame.seed * 1.0
    found = compare_systems(frame, best="dev")
    assert found.claim == "these-runs"
    assert [s.runs for s in found.systems] == [1, 1]
    assert any("Picking flatters" in warning for warning in found.warnings)
    last = frame[frame.seed == 4]
    assert found.contrasts[0].difference == pytest.approx(
        last[last.system == "B"].score.mean() - last[last.system == "A"].score.mean()
    )


def test_a_bootstrap_check_stands_beside(two: pa.Table) -> None:
    told: list[tuple[int, int | None, str]] = []
    found = compare_systems(two, bootstrap=200, seed=1, progress=lambda *step: told.append(step))
    done, total, what = told[-1]
    assert done == total
    assert what == "bootstrap fits"
    assert found.test.bootstrap_draws == 200
    assert found.test.p_bootstrap is not None
    assert 1 / 201 <= found.test.p_bootstrap <= 1
    assert found.seed == 1
    assert "simulated nulls" in found.page().text()


def test_missing_cells_are_allowed_for(two: pa.Table) -> None:
    rng = np.random.default_rng(9)
    part = two.to_pandas().iloc[rng.random(len(two)) > 0.1]
    whole, some = compare_systems(two).contrasts[0], compare_systems(part).contrasts[0]
    assert some.difference == pytest.approx(whole.difference, abs=whole.se)
    assert some.items <= whole.items


def test_advice_says_what_would_do() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.705}, items=100, runs=3, sd_run=0.02, seed=4)
    found = compare_systems(table)
    assert found.contrasts[0].p > 0.05
    assert found.next
    alone = compare_systems(simulate_scores({"A": 0.70, "B": 0.75}, items=100, runs=1, seed=4))
    assert alone.next[0] == "two or more runs of each system"


def test_saved_and_restored_it_is_the_same(two: pa.Table, tmp_path: Path) -> None:
    found = compare_systems(two, margin=0.01)
    found.write_json(tmp_path / "c.json")
    restored = holdsup.read_result(tmp_path / "c.json")
    assert isinstance(restored, Comparison)
    assert restored == found


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"system": ["A", "A"], "item": [1, 2], "score": [1.0, 2.0]}, {}, "only one system, 'A'"),
        ({"system": ["A", "B"] * 3, "item": [1, 1, 2, 2, 3, 3], "score": [1.0, 2, 3, 5, 4, 4]}, {"baseline": "X"},
         "baseline 'X' is not one of the systems"),
        ({"system": ["A", "A", "B", "B"], "item": [1, 2, 3, 4], "score": [1.0, 2, 3, 4]}, {}, "no item in common"),
        ({"system": ["A", "B"], "item": [1, 1], "score": [1.0, 2]}, {}, "fewer than two items"),
        ({"system": ["A", "B"] * 2, "item": [1, 1, 2, 2], "score": [1.0, 2, 3, 4]}, {"margin": -1}, "margin is -1"),
        ({"system": ["A", "B"] * 2, "item": [1, 1, 2, 2], "score": [1.0, 2, 1, 2]}, {}, "all differences equal"),
        ({"system": ["A", "B"] * 2, "item": [1, 1, 2, 2], "score": [1.0, 2, 3, 5]}, {"claim": "all"}, "claim 'all' is unknown"),
        ({"system": ["A", "B"], "score": [1.0, 2]}, {"item": "-"}, "has one run and no items, so there is no spread to test"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(table: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ScoresError, match=message) as raised:
        compare_systems(table, **options)
    assert "\n" not in str(raised.value)


def test_without_a_column_for_the_items_those_that_are_left_are_named() -> None:
    table = {"model": ["A"] * 3 + ["B"] * 3, "foo": [*"abc"] * 2, "score": [1.0, 2, 3, 2, 3, 5]}
    asked = "no column was read as the items, and 'foo' has no role: name the right one with --item"
    with pytest.raises(ScoresError, match=asked):
        compare_systems(table)
    with pytest.raises(ScoresError, match=f"'document' was read as clusters of items, but {asked}"):
        compare_systems(table | {"document": ["d1", "d1", "d2"] * 2})
    with pytest.raises(ScoresError, match=r"as the systems or the items, and 'kind', 'foo' have no role: .* --system"):
        compare_systems({"kind": table["model"], "foo": table["foo"], "score": table["score"]})


def test_averaged_scores_point_to_the_column_that_may_name_the_items() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.80}, items=20, runs=3, seed=1).rename_columns({"item": "stimulus"})
    assert any("give --item stimulus if it names the items" in line for line in compare_systems(table).warnings)


def test_with_a_baseline_nobody_is_called_the_best() -> None:
    table = simulate_scores({"A": 0.70, "B": 0.80, "C": 0.80}, items=200, runs=5, seed=1)
    found = compare_systems(table, baseline="A").verdict
    assert found.startswith("B and C are better than A.")
    assert "best" not in found


def test_the_signature_says_what_is_shared(two: pa.Table) -> None:
    assert compare_systems(two).signature != compare_systems(two, shared=["seed"]).signature


def test_repeated_scores_are_averaged_and_said(two: pa.Table) -> None:
    found = compare_systems(pa.concat_tables([two, two]))
    assert found.contrasts[0].p == pytest.approx(compare_systems(two).contrasts[0].p)
    assert any("960 scores repeat a run and an item" in warning for warning in found.warnings)


def test_runs_that_differ_by_a_constant_only_are_an_answer_or_one_line() -> None:
    item = np.tile(np.arange(20.0), 6)
    seed = np.repeat(np.arange(3), 40)
    table = {"system": np.tile(np.repeat(["A", "B"], 20), 3), "item": item, "seed": seed, "score": item / 20 + seed}
    found = compare_systems(table)
    assert found.contrasts[0].p == 1.0
    assert found.verdict.startswith("A and B scored the same here, but 3 runs each")


def test_many_systems_need_no_second_large_factor() -> None:
    table = simulate_scores({f"s{i}": 0.7 + i / 100 for i in range(14)}, items=60, runs=2, seed=1)
    found = compare_systems(table)
    assert len(found.contrasts) == 91
    assert found.test.model is None


@pytest.mark.parametrize("options", [{"wide": "system=A,B"}])
def test_the_spelling_of_the_command_line_is_named_in_python(options: dict[str, Any]) -> None:
    with pytest.raises(ColumnError, match="give a dict"):
        compare_systems({"A": [1.0, 2.0], "B": [2.0, 3.0], "item": [1, 2]}, **options)


def test_more_datasets_are_what_few_datasets_need() -> None:
    rng = np.random.default_rng(2)
    tables = []
    for number, gap in enumerate((0.1, -0.05, 0.02)):
        part = simulate_scores({"A": 0.6, "B": 0.6 + gap}, items=50, runs=3, seed=int(rng.integers(100)))
        tables.append(part.append_column("dataset", pa.array([f"d{number}"] * len(part))))
    found = compare_systems(pa.concat_tables(tables))
    assert found.contrasts[0].p > 0.05
    assert found.next[0].startswith("more datasets")


def test_a_mean_whose_spread_cannot_be_measured_has_no_limits() -> None:
    """C has two runs, on different items: what varies between them cannot be told from what varies between items."""
    table = simulate_scores({"A": 0.70, "C": 0.71}, items=40, runs=2, seed=1).to_pandas()
    table = table[(table.system != "C") | ((table.item <= 20) == (table.seed == 1))]
    (evaluation,) = lay_out(read_scores(table))
    means = {s.name: mean_of(evaluation, s, "new-runs", level=0.95) for s in evaluation.systems}
    assert np.isnan([means["C"].se, means["C"].low, means["C"].high]).all()
    assert means["C"].mean == pytest.approx(table[table.system == "C"].score.mean())
    assert means["A"].low < means["A"].mean < means["A"].high


def test_one_score_a_dataset_is_compared_over_datasets() -> None:
    """An item in each dataset: the items of our model are its datasets, so the likelihood ratio is left out."""
    table = simulate_scores({"A": 0.70, "B": 0.75}, items=12, runs=3, seed=1).to_pandas()
    table["dataset"] = "d" + table.item.astype(str)
    found = compare_systems(table)
    assert found.test.model is None
    assert "datasets" in found.contrasts[0].p_method


def test_shared_facets_must_overlap() -> None:
    table = {"system": list("AABB"), "seed": [1, 2, 3, 4], "item": [1, 1, 1, 1], "score": [1.0, 2, 3, 4]}
    with pytest.raises(ScoresError, match="no level of 'seed' occurs in all systems"):
        compare_systems(table, shared=["seed"])


def test_a_best_column_that_is_not_there_is_named(two: pa.Table) -> None:
    with pytest.raises(ColumnError, match="dev"):
        compare_systems(two, best="dev")


def test_equal_scores_are_equal() -> None:
    table = {"system": ["A", "B"] * 3, "item": [1, 1, 2, 2, 3, 3], "score": [1.0] * 6}
    assert compare_systems(table).contrasts[0].p == 1.0


def test_false_positives_stay_below_six_percent_where_the_papers_test_fails() -> None:
    """400 null evaluations of 2 systems, 4 runs each, run sd .02: the paper's test rejects most of them."""
    ours = papers = 0
    for seed in range(400):
        found = compare_systems(simulate_scores({"A": 0.7, "B": 0.7}, items=60, runs=4, sd_run=0.02, seed=seed))
        ours += found.contrasts[0].p <= 0.05
        papers += found.paper.p <= 0.05 if found.paper else 0
    assert ours <= 0.06 * 400 + 3 * np.sqrt(400 * 0.06 * 0.94)
    assert papers > 100


def test_data_ter_is_the_papers(real_data: Path) -> None:
    scores = read_scores(real_data / "hagmann_statnlp/data_ter.csv.gz", score="ter")
    found = compare_systems(scores, lower_is_better=True, baseline="Baseline")
    assert found.paper is not None
    assert found.paper.statistic == pytest.approx(34.0895, abs=5e-5)
    assert found.paper.df == 2
    assert {s.name: round(s.mean, 3) for s in found.systems} == {"Baseline": 0.591, "Marking": 0.578, "PostEdit": 0.581}
    assert [round(c.effect_size or 0, 4) for c in found.contrasts] == [-0.2090, -0.1629]
    assert found.test.statistic == pytest.approx(18.908, abs=5e-4)
    assert found.claim == "these-runs"  # the baseline has one run, whatever others call it


def test_ten_systems_of_wmt_are_ranked(real_data: Path) -> None:
    found = compare_systems(str(real_data / "wmt_mqm/mqm_newstest2020_ende.avg_seg_scores.tsv.gz"))
    assert len(found.contrasts) == 45
    assert all(c.p_adjusted >= c.p for c in found.contrasts)
