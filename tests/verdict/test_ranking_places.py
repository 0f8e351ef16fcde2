"""Places and limits of systems that lack datasets: less data never makes them surer, and two scores lead nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ranking_cases import Table, make_grid, take
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
    assert found.verdict.startswith("s3 has the highest adjusted mean of the 4 systems with 3 datasets or more")
    assert any("s4 has scores on fewer than 3 datasets: too few to lead" in line for line in found.warnings)
    assert all(row.leader != "s4" for row in found.influence)


def test_two_shared_datasets_have_one_degree_of_freedom(found: Ranking) -> None:
    pair = next(c for c in found.contrasts if {c.left, c.right} == {"s3", "s4"})
    assert (pair.method, pair.datasets, pair.df) == ("dataset differences", 2, 1)
    assert pair.pooled_df > 10  # which was borrowed


def test_differences_that_are_not_those_of_the_means_say_so(found: Ranking) -> None:
    notes = " ".join(found.tables()[1].notes)
    assert "s3 - s4 (2)" in notes
    assert "not the difference of the means above" in notes
    balanced = rank_systems(make_grid(1), folds=0)
    assert "of the means above" not in " ".join(balanced.tables()[1].notes)


def test_differences_over_all_datasets_say_that_the_fit_weighs_them_otherwise() -> None:
    frame = pd.DataFrame(make_grid(1)).query("lr == '0.1'").drop(columns="lr")
    frame["score"] += np.random.default_rng(1).normal(0, 1, len(frame))
    rare = (frame.system == "A") & (frame.dataset < "d3") & (frame.seed != "1")
    found = rank_systems(frame[~rare], nested_runs=True, folds=0)
    notes = " ".join(found.tables()[1].notes)
    assert {c.datasets for c in found.contrasts} == {8}
    assert "that both have" not in notes
    assert "D - A, C - A and B - A: each dataset counts the same, while the fit behind the means above" in notes


def test_a_lead_without_limits_says_why_and_no_text_says_inf() -> None:
    rng = np.random.default_rng(2)
    rows = [(s, d, r, float(rng.normal())) for s in "ABC" for d in ("dev", "eval") for r in range(3)]
    found = rank_systems(pd.DataFrame(rows, columns=["system", "dataset", "seed", "score"]), folds=0)
    lead = found.contrasts[0]
    assert np.isinf(lead.high_simultaneous)
    why = "without a 95% CI for all pairs (2 datasets and their runs are too few to measure the spread), p "
    assert why in found.verdict
    assert "inf]" not in " ".join((found.verdict, *found.warnings, *map(render_text, found.tables())))


def test_effects_of_no_variance_are_zero_and_not_drawn() -> None:
    rows = [(s, d, r, s + 10 * d + 0.3 * (r - 1) * (-1) ** (s + d)) for s in (0, 1) for d in range(4) for r in range(3)]
    found = rank_systems(pd.DataFrame(rows, columns=["system", "dataset", "seed", "score"]), folds=0)
    assert {(e.effect, e.low, e.high) for e in found.interactions} == {(0.0, 0.0, 0.0)}
    shown = next(render_text(t) for t in found.tables() if t.title.startswith("Systems on datasets"))
    assert "●" not in shown
    note = next(t.notes[0] for t in found.tables() if t.title.startswith("A classic"))
    assert "F(1, 3) is infinite (all datasets rank the systems alike), p = " in note


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
    table = next(t for t in found.tables() if t.title.startswith("Random terms"))
    assert "<=1.0e-04" in [str(row[6]) for row in table.rows]
    assert "(so many draws tell no less than 1.0e-04)" in table.notes[-1]
    assert "too large" not in table.notes[-1]  # beside a p that is larger, by its floor


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
