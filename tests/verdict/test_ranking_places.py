"""Places and limits of systems that lack datasets: less data never makes them surer, and two scores lead nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ranking_cases import Table, make_grid, messages, take
from scipy import stats

from holdsup import Ranking, plot, rank_systems, read_result
from holdsup.rendering.text import render_text


def scores(rng: np.random.Generator, *, systems: int = 5, datasets: int = 8, gap: float = 1.0) -> np.ndarray:
    """Return one score of each system on each dataset; the truth is `gap` from one system to the next."""
    noise = rng.normal(0, 2, datasets) + rng.normal(0, 0.8, (systems, datasets))
    return np.asarray(gap * np.arange(systems)[:, None] + noise)


def lay_out(values: np.ndarray) -> Table:
    s, d = np.nonzero(np.isfinite(values))
    return {
        "system": np.char.add("s", s.astype(str)),
        "dataset": np.char.add("d", d.astype(str)),
        "score": values[s, d],
    }


def lacking(values: np.ndarray, system: int, kept: int, rng: np.random.Generator) -> np.ndarray:
    found = values.copy()
    found[system, rng.permutation(values.shape[1])[kept:]] = np.nan
    return found


def test_places_and_limits_do_not_narrow_with_less_data() -> None:
    rng = np.random.default_rng(8)
    kept, widths, limits = (8, 5, 3, 2, 1), [], []
    for _ in range(12):
        values = scores(rng)
        rows = [
            next(s for s in rank_systems(lay_out(lacking(values, 2, n, rng)), folds=0).systems if s.name == "s2")
            for n in kept
        ]
        widths.append([s.rank_high - s.rank_low for s in rows])
        limits.append([s.high - s.low for s in rows])
    average, lengths = np.mean(widths, axis=0), np.median(limits, axis=0)
    assert list(average) == sorted(average)
    assert average[0] < average[-2]
    assert list(lengths) == sorted(lengths)
    assert average[-1] == 4


@pytest.fixture(scope="module")
def found() -> Ranking:
    """Return a ranking in which the system with the highest mean has two scores."""
    values = scores(np.random.default_rng(1))
    values[4] += 2
    return rank_systems(lay_out(lacking(values, 4, 2, np.random.default_rng(0))), folds=0)


def test_a_system_with_two_scores_never_leads(found: Ranking) -> None:
    assert [s.name for s in found.systems] == ["s3", "s2", "s1", "s0", "s4"]
    last = found.systems[-1]
    assert last.mean > found.systems[0].mean
    assert np.isnan(last.p_best)
    assert sum(s.p_best for s in found.systems[:-1]) == pytest.approx(1)
    assert found.state == "unclear"
    assert messages(found, "too-few-to-lead").startswith("Ranked last, with fewer than 3 datasets: s4.")
    assert all(row.leader != "s4" for row in found.influence)


def test_two_shared_datasets_have_one_degree_of_freedom(found: Ranking) -> None:
    pair = next(c for c in found.contrasts if {c.left, c.right} == {"s3", "s4"})
    assert (pair.method, pair.datasets, pair.df) == ("dataset differences", 2, 1)
    assert pair.pooled_df > 10  # which was borrowed


def test_differences_that_are_not_those_of_the_means_say_so(found: Ranking) -> None:
    notes = " ".join(found.tables()[2].notes)
    assert "s3 - s4 (2)" in notes
    assert "not the difference of the means above" in notes
    balanced = rank_systems(make_grid(1), folds=0)
    assert "of the means above" not in " ".join(balanced.tables()[2].notes)


def test_differences_over_all_datasets_say_that_the_fit_weighs_them_otherwise() -> None:
    frame = pd.DataFrame(make_grid(1)).query("lr == '0.1'").drop(columns="lr")
    frame["score"] += np.random.default_rng(1).normal(0, 1, len(frame))
    rare = (frame.system == "A") & (frame.dataset < "d3") & (frame.seed != "1")
    found = rank_systems(frame[~rare], nested_runs=True, folds=0)
    notes = " ".join(found.tables()[2].notes)
    assert {c.datasets for c in found.contrasts} == {8}
    assert "both have" not in notes
    assert "D - A, C - A and B - A: each of the datasets counts the same here; the means above weigh" in notes


def test_a_lead_without_limits_says_why_and_no_text_says_inf() -> None:
    rng = np.random.default_rng(2)
    rows = [(s, d, r, float(rng.normal())) for s in "ABC" for d in ("dev", "eval") for r in range(3)]
    found = rank_systems(pd.DataFrame(rows, columns=["system", "dataset", "seed", "score"]), folds=0)
    lead = found.contrasts[0]
    assert np.isinf(lead.high_simultaneous)
    assert "(no 95% CI: too few datasets; p " in found.headline
    assert found.state == "unclear"
    assert "inf" not in " ".join((str(found), *found.warnings, *map(render_text, found.tables())))


def test_effects_of_no_variance_are_zero_and_not_drawn() -> None:
    rows = [(s, d, r, s + 10 * d + 0.3 * (r - 1) * (-1) ** (s + d)) for s in (0, 1) for d in range(4) for r in range(3)]
    found = rank_systems(pd.DataFrame(rows, columns=["system", "dataset", "seed", "score"]), folds=0)
    assert {(e.effect, e.low, e.high) for e in found.interactions} == {(0.0, 0.0, 0.0)}
    tables = {table.name: table for table in found.tables()}
    assert "●" not in render_text(tables["interactions"])
    assert "F(1, 3) = infinite, p " in tables["companion"].notes[0]


def test_limits_of_a_mean_are_by_the_spread_of_its_own_scores() -> None:
    values = scores(np.random.default_rng(4))
    values[0] = values[0].mean() + 3 * (values[0] - values[0].mean())
    for system in rank_systems(lay_out(values), folds=0).systems:
        own = values[int(system.name[1:])]
        low, high = stats.ttest_1samp(own, 0).confidence_interval(0.95)
        assert (system.low, system.high) == pytest.approx((low, high), rel=1e-9)
        assert system.df == 7


def test_a_mean_of_one_dataset_has_no_limits() -> None:
    values = lacking(scores(np.random.default_rng(4)), 2, 1, np.random.default_rng(0))
    (alone,) = (s for s in rank_systems(lay_out(values), folds=0).systems if s.name == "s2")
    assert np.isnan(alone.se)
    assert np.isinf(alone.high)
    assert np.isfinite(alone.mean)


def test_the_floor_of_a_simulated_p_is_at_most() -> None:
    found = rank_systems(make_grid(1), folds=0)
    (dataset,) = (term for term in found.random if term.group == "dataset")
    assert (dataset.p_at_most, dataset.p) == (True, 1 / 10_001)
    table = next(t for t in found.tables() if t.name == "random")
    assert "<.001" in [str(row[6]) for row in table.rows]


def test_all_of_it_is_read_back_and_drawn(found: Ranking, tmp_path: Path) -> None:
    file = tmp_path / "ranking.json"
    file.write_text(found.to_json())
    again = read_result(file)
    assert isinstance(again, Ranking)
    shown = [[render_text(table) for table in each.tables()[:2]] for each in (found, again)]
    assert shown[0] == shown[1]
    plot(again)


def test_islands_are_ranked_but_not_tested_against_each_other() -> None:
    grid = make_grid(6, systems="ABCD", datasets=8)
    left = np.isin(grid["system"], ["A", "B"])
    early = grid["dataset"] < "d4"
    both = rank_systems(take(grid, (left & (early | (grid["system"] == "B"))) | (~left & ~early)), folds=0)
    pair = next(c for c in both.contrasts if {c.left, c.right} == {"A", "C"})
    assert (pair.method, pair.p, pair.datasets) == ("none", 1.0, 0)
    assert np.isfinite(pair.difference)
    assert sum(s.p_best for s in both.systems) == pytest.approx(1)
