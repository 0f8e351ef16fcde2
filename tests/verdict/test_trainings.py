"""Runs on several datasets: one rule for `compare`, `variance` and `rank` of when they are one training each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from holdsup import compare_systems, decompose_variance, rank_systems
from holdsup.numerics.differences import compare_new_runs, compare_over_datasets, dataset_means


def runs(
    *, datasets: int = 8, seeds: int = 3, systems: str = "AB", lead: float = 0.0, luck: float = 0.5, seed: int = 1
) -> pd.DataFrame:
    """Return scores of trainings that were each evaluated on all datasets."""
    rng = np.random.default_rng(seed)
    hard, rows = rng.normal(0, 1, datasets), []
    for number, system in enumerate(systems):
        suits = rng.normal(0, 0.3, datasets)
        for run in range(seeds):
            own = rng.normal(0, luck)
            for d in range(datasets):
                rows.append((system, f"d{d}", run, lead * number + hard[d] + suits[d] + own + rng.normal(0, 0.1)))
    return pd.DataFrame(rows, columns=["system", "dataset", "seed", "score"])


def with_own_names(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(seed=frame.dataset + "/" + frame.seed.astype(str))


def with_items(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    parts = [frame.assign(item=f"i{i}", score=frame.score + rng.normal(0, 0.1, len(frame))) for i in range(4)]
    return pd.concat(parts)


def paired(frame: pd.DataFrame) -> Any:
    cells = frame.groupby(["system", "dataset"]).score.mean().unstack()
    return stats.ttest_rel(cells.loc["B"], cells.loc["A"])


@pytest.mark.parametrize("items", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_compare_and_rank_give_one_answer(items: bool, nested: bool) -> None:
    frame = runs(lead=1.0, systems="ABC")
    frame = with_items(frame) if items else frame
    ranked = rank_systems(frame, nested_runs=nested, folds=0)
    compared = compare_systems(frame, nested_runs=nested)
    pairs = {(c.left, c.right): c for c in compared.contrasts}
    for c in ranked.contrasts:
        other = pairs[c.left, c.right]
        assert (c.p, c.low, c.high, c.df) == pytest.approx((other.p, other.low, other.high, other.df), rel=1e-6)
        both = (c.low_simultaneous, c.high_simultaneous)
        assert both == pytest.approx((other.low_simultaneous, other.high_simultaneous), rel=1e-6)
        assert c.p_adjusted == pytest.approx(other.p_adjusted, rel=1e-6)
        assert c.p_other_reading == pytest.approx(other.p_other_reading, rel=1e-6)
        assert other.nested_runs is ranked.nested_runs is nested
    means = {s.name: s for s in compared.systems}
    for s in ranked.systems:
        other_mean = means[s.name]
        assert (s.mean, s.low, s.high) == pytest.approx((other_mean.mean, other_mean.low, other_mean.high), rel=1e-6)


@pytest.mark.parametrize("items", [False, True])
def test_labels_that_recur_count_as_one_training_and_declared_ones_as_many(items: bool) -> None:
    frame = with_items(runs(lead=1.0)) if items else runs(lead=1.0)
    shared, nested = compare_systems(frame), compare_systems(frame, nested_runs=True)
    (one,), (other,) = shared.contrasts, nested.contrasts
    assert other.p == pytest.approx(paired(frame).pvalue, rel=1e-9)
    assert (other.df, [s.runs for s in nested.systems]) == (7, [24, 24])
    assert one.p > 10 * other.p
    assert (one.p_other_reading, other.p_other_reading) == pytest.approx((other.p, one.p), rel=1e-9)
    assert any("counts as one training, evaluated on all of them" in w for w in shared.warnings)
    assert any("(--nested-runs), B - A would have 95% CI " in w for w in shared.warnings)
    assert any("its own training runs, as declared" in w and "If a run were one training" in w for w in nested.warnings)
    assert "|nested_runs:True|" in nested.signature
    assert "nested" not in shared.signature
    assert "--nested-runs" in (nested.asked.command() or "")


def test_the_other_reading_says_that_its_p_is_of_one_pair_alone() -> None:
    frame = runs(lead=1.0, systems="ABC")
    for found in (compare_systems(frame), rank_systems(frame, folds=0)):
        (said,) = [w for w in found.warnings if "--nested-runs" in w]
        assert said.endswith(" (not adjusted for 3 pairs).")
    assert not any("not adjusted for" in w for w in compare_systems(runs(lead=1.0)).warnings)


@pytest.mark.parametrize("items", [False, True])
def test_labels_unique_to_a_dataset_are_nested(items: bool) -> None:
    frame = with_items(runs(lead=1.0)) if items else runs(lead=1.0)
    own, declared = compare_systems(with_own_names(frame)), compare_systems(frame, nested_runs=True)
    assert own.contrasts[0].p == pytest.approx(declared.contrasts[0].p, rel=1e-12)
    assert (own.contrasts[0].nested_runs, own.contrasts[0].p_other_reading) == (True, None)
    assert any(w.startswith("No run was scored on two datasets: each dataset counts") for w in own.warnings)
    ranked = rank_systems(with_own_names(frame), folds=0)
    assert ranked.contrasts[0].p == pytest.approx(own.contrasts[0].p, rel=1e-6)


def test_one_training_each_says_nothing_of_new_ones_unless_it_was_one_for_each_dataset() -> None:
    frame = runs(seeds=1)
    assert compare_systems(frame).claim == "these-runs"
    assert compare_systems(frame, nested_runs=True).claim == "new-runs"
    alone, nested = rank_systems(frame, folds=0), rank_systems(frame, nested_runs=True, folds=0)
    assert (alone.covers, nested.covers) == (("datasets",), ("datasets", "runs"))
    assert "not new runs, other settings or systems" in alone.verdict
    assert "new datasets like these 8, new runs" in nested.verdict
    assert alone.contrasts[0].p == pytest.approx(nested.contrasts[0].p, rel=1e-9)


def test_a_run_that_lacks_a_dataset_is_one_training_still() -> None:
    frame = with_items(runs(lead=1.0))
    whole = compare_systems(frame).contrasts[0]
    part = compare_systems(frame[(frame.dataset != "d0") | (frame.seed != 1)]).contrasts[0]
    assert (part.nested_runs, whole.nested_runs) == (False, False)
    assert part.df < 7
    assert part.p == pytest.approx(whole.p, rel=1)


def test_runs_that_hardly_recur_count_as_nested_and_that_is_said() -> None:
    frame = with_own_names(runs())
    frame.loc[(frame.dataset == "d1") & (frame.seed == "d1/0"), "seed"] = "d0/0"
    found = compare_systems(frame)
    assert found.contrasts[0].p == pytest.approx(paired(frame).pvalue, rel=1e-9)
    assert any("runs recur on too few datasets to separate runs from datasets" in w.lower() for w in found.warnings)


def test_a_decomposition_nests_repetitions_as_declared() -> None:
    frame = with_items(runs(luck=0.0, systems="A"))
    shared, nested = decompose_variance(frame), decompose_variance(frame, nested_runs=True)
    own = decompose_variance(with_own_names(frame))
    levels = {name: next(c.levels for c in found.components if c.name == "seed")
              for name, found in (("shared", shared), ("nested", nested), ("own", own))}  # fmt: skip
    assert levels == {"shared": 3, "nested": 24, "own": 24}
    assert [c.variance for c in nested.components] == pytest.approx([c.variance for c in own.components], rel=1e-6)
    assert any("The same seed on several datasets counts as one training" in w for w in shared.warnings)
    assert any("its own training runs (seed), as you declared" in w for w in nested.warnings)
    assert nested.signature == shared.signature.replace("|method", "|nested_runs:True|method")


def test_both_readings_are_the_tests_they_were() -> None:
    rng = np.random.default_rng(2)
    x, y, datasets = rng.normal(0, 1, (12, 3)), rng.normal(0.5, 1, (12, 4)), np.repeat(range(4), 3)
    means = dataset_means(x, datasets), dataset_means(y, datasets)
    gaps = [x[datasets == d].mean() - y[datasets == d].mean() for d in range(4)]
    assert compare_over_datasets(*means, nested=(True, True)).p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    assert compare_over_datasets(*means) == compare_new_runs(*means)
    mixed = compare_over_datasets(*means, nested=(False, True))
    assert len(mixed.run_variance) == 1


@pytest.mark.slow
def test_shared_runs_read_as_nested_find_what_is_not_there_and_the_rule_does_not() -> None:
    rng = np.random.default_rng(3)
    found = np.zeros(2)
    for _ in range(300):
        both = [rng.normal(0, 1, (20, 1)) + rng.normal(0, 1, (1, 3)) + rng.normal(0, 0.5, (20, 3)) for _ in range(2)]
        found += [compare_over_datasets(*both, nested=(own, own)).p <= 0.05 for own in (False, True)]
    shared, nested = found / 300
    assert shared < 0.06
    assert nested > 0.3


def test_seeds_of_104_tasks_have_one_answer_for_each_reading(real_data: Path) -> None:
    table = pd.read_csv(real_data / "shapes/td.csv.gz")
    for nested, p in ((False, 0.00029137), (True, 2.5052e-07)):
        ranked = rank_systems(table, nested_runs=nested, folds=0)
        compared = compare_systems(table, nested_runs=nested)
        assert ranked.contrasts[0].p == pytest.approx(p, rel=1e-4)
        assert compared.contrasts[0].p == pytest.approx(p, rel=1e-4)
    shared = rank_systems(table, folds=0).systems[0]
    assert (shared.low, shared.high) == pytest.approx((0.8721, 0.9385), abs=1e-4)


def test_systems_that_share_some_items_only_are_read_by_all_their_runs() -> None:
    frame = with_items(runs(lead=1.0))
    found = compare_systems(frame[(frame.system == "A") | (frame.item != "i0") | (frame.dataset > "d2")])
    assert (found.contrasts[0].items, found.contrasts[0].nested_runs) == (29, False)


def test_two_runs_on_two_datasets_are_ranked_though_nothing_is_sure() -> None:
    found = rank_systems(runs(datasets=2, seeds=2, systems="ABC"), folds=0)
    assert sum(s.p_best for s in found.systems) == pytest.approx(1)
    assert all(c.p_adjusted > 0.05 for c in found.contrasts)


def test_a_difference_that_is_the_same_on_every_dataset_has_the_spread_of_its_runs() -> None:
    scores = {"A": ((0.6, 0.6, 0.7), (0.6, 0.7, 0.6), (0.6, 0.6, 0.7)), "B": ((0.5,) * 3,) * 3}
    rows = [
        {"system": system, "dataset": f"d{i}", "seed": seed, "score": score}
        for system, table in scores.items()
        for i, row in enumerate(table)
        for seed, score in enumerate(row)
    ]
    (one,), (two,) = compare_systems(rows).contrasts, rank_systems(rows, folds=0).contrasts
    assert two.method == "datasets and runs"
    assert two.p == pytest.approx(one.p)
    assert two.p > 0.01 > 1e-4 > two.pooled_p
