"""Rankings of tables with empty cells, repeated rows or settings in uneven numbers: one answer, no contradictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ranking_cases import Table, codes, fit_default, make_grid, messages, take

from holdsup import Ranking, ScoresError, rank_systems
from holdsup.verdict.ranking.contrasts import contrast_systems
from holdsup.verdict.ranking.robustness import find_influence


def incomplete() -> Table:
    """Return a table in which A leads by adjusted means, is behind B on the datasets of both, and behind by raw means.

    A lacks three of eight datasets.
    """
    grid = make_grid(28, systems="ABC", means={"A": 0.0, "B": 0.2, "C": -1.0})
    return take(grid, ~((grid["system"] == "A") & np.isin(grid["dataset"], ["d1", "d3", "d5"])))


@pytest.fixture(scope="module")
def found() -> Ranking:
    return rank_systems(incomplete(), folds=0)


def test_leader_lead_gap_and_pair_are_of_one_ordering(found: Ranking) -> None:
    first, second = found.systems[:2]
    lead = found.contrasts[0]
    assert lead.difference < 0 < lead.pooled_difference  # the pair is turned, or nothing is tested here
    assert first.raw_mean < second.raw_mean
    assert (lead.left, lead.right) == (first.name, second.name) == ("A", "B")
    assert (found.waterfall[0].left, found.waterfall[0].right) == ("A", "B")
    isolated = next(step.gap for step in found.waterfall if step.step == "random effects")
    assert isolated == pytest.approx(first.mean - second.mean) == pytest.approx(lead.pooled_difference)
    assert found.headline.startswith("A has the best mean, but is 0.3 behind B on 5 shared datasets (")
    assert ("raw means", "B is first, but raw means don't adjust for datasets and settings") in found.answer().foot
    assert all(system.rank_low <= system.rank <= system.rank_high for system in found.systems)


def test_a_pair_that_stands_the_other_way_round_on_shared_datasets_is_said(found: Ranking) -> None:
    (said,) = (caution for caution in found.cautions if caution.code == "turned-pairs")
    assert said.about == "pair:A - B"


def test_a_leader_with_another_left_out_is_never_behind(found: Ranking) -> None:
    assert len(found.influence) == 11
    assert all(row.gap > 0 for row in found.influence)


def test_interactions_are_counted_where_there_are_scores(found: Ranking) -> None:
    assert len(found.interactions) == 24
    assert "strongest of 21;" in next(table.notes[0] for table in found.tables() if table.name == "interactions")


def test_a_leader_that_is_surely_worse_where_both_were_run_is_not_called_better() -> None:
    """A is worse than B by 3 wherever both were run, yet has the higher mean: it alone was run where C fails."""
    rng = np.random.default_rng(0)
    rows = []
    for d in range(12):
        hardness = rng.normal(0, 0.1)
        for system, score in (("A", 70.0 if d < 6 else 90.0), ("B", 73.0), ("C", 70.0 if d < 6 else 60.0)):
            if system != "B" or d < 6:
                rows += [(system, f"d{d}", seed, score + hardness + rng.normal(0, 0.1)) for seed in (1, 2, 3, 4)]
    table = dict(zip(("system", "dataset", "seed", "score"), map(list, zip(*rows, strict=True)), strict=True))
    found = rank_systems(table, folds=0)
    lead = next(c for c in found.contrasts if {c.left, c.right} == {"A", "B"})
    assert (lead.left, lead.p_adjusted < 0.05, lead.difference < 0) == ("A", True, True)
    assert found.state == "unclear"
    assert found.headline.startswith("A has the best mean, but is 3.0")
    assert "behind B on 6 shared datasets" in found.headline


def uneven() -> Table:
    """Return a table in which A has the low rate seldom, the others often."""
    grid = make_grid(4, systems="ABC", means={"A": 1.5, "B": 0.5, "C": -2.0})
    grid["score"] = grid["score"] + 2 * (grid["lr"] == "0.2")
    one = np.isin(grid["dataset"], ["d0", "d1"])
    high = (grid["system"] == "A") ^ one
    return take(grid, (grid["lr"] == np.where(high, "0.2", "0.1")) | (grid["seed"] == "1"))


def test_what_adjusting_adds_is_in_ingredients_as_in_contrasts() -> None:
    table = uneven()
    table = {**table, "one": (table["system"] == "B") * 1, "two": (table["system"] == "C") * 1}
    found = rank_systems(table, contribution=["one", "two"], folds=0)
    by_pair = {frozenset((c.left, c.right)): c for c in found.contrasts}
    for row, pair in zip(found.contributions, ("AB", "AC"), strict=True):
        contrast = by_pair[frozenset(pair)]
        assert contrast.df != 7  # the adjustment counts
        assert (row.se, row.df, row.p) == pytest.approx((contrast.se, contrast.df, contrast.p), rel=1e-9)


def test_what_adjusting_adds_is_in_the_lead_with_one_left_out() -> None:
    table = uneven()
    rows = {row.left_out: row for row in find_influence(fit_default(table), [])}
    fits = fit_default(take(table, table["dataset"] != "d3"))
    lead = contrast_systems(fits, level=0.95, lower_is_better=False)[0]
    assert rows["d3"].ranking[:2] == (lead.left, lead.right)
    assert abs(lead.df - 6) > 1e-4
    assert rows["d3"].p == pytest.approx(lead.p, rel=1e-3)


def test_systems_that_differ_by_a_constant_borrow_no_spread() -> None:
    grid = make_grid(2, systems="ABC")
    a = grid["system"] == "A"
    score = grid["score"].copy()
    score[grid["system"] == "B"] = score[a] + 1.0
    found = rank_systems({**grid, "score": score}, nested_runs=True, folds=0)
    contrast = next(c for c in found.contrasts if {c.left, c.right} == {"A", "B"})
    assert (contrast.method, contrast.datasets, contrast.p) == ("none", 8, 1)
    assert contrast.pooled_p < 0.05
    assert "constant-difference" in codes(found)


def test_rows_that_come_twice_are_said() -> None:
    grid = make_grid(1, systems="AB")
    again = np.r_[np.arange(len(grid["score"])), np.flatnonzero(grid["system"] == "A")]
    lines = rank_systems(take(grid, again), folds=0).warnings
    assert any(line.startswith("48 scores repeat a run and a dataset (48 with the same score") for line in lines)
    assert not any("repeat" in line for line in rank_systems(grid, folds=0).warnings)


def test_runs_that_only_a_nuisance_column_tells_apart_repeat_nothing() -> None:
    """Epochs are no facet of their own accord, yet a ranking takes them for a nuisance factor."""
    grid = make_grid(1, systems="AB")
    table = {"epochs" if name == "lr" else name: values for name, values in grid.items()}
    found = rank_systems(table, folds=0)
    assert [t.name for t in found.treatments if t.treated == "fixed"] == ["epochs"]
    assert not any("repeat" in line for line in found.warnings)


def test_in_a_balanced_table_no_step_of_the_waterfall_changes_anything() -> None:
    """Exactly nothing, whatever the scale: what sums of scores lose is no change."""
    grid = make_grid(3)
    for factor, shift in ((1.0, 0.0), (1e-3, 0.0), (1.0, 1e6), (1e5, -3e4)):
        steps = rank_systems({**grid, "score": shift + factor * grid["score"]}, folds=0).waterfall
        assert [step.change for step in steps[1:-1]] == [0.0, 0.0, 0.0]
        assert steps[0].gap == steps[-2].gap != 0
        assert abs(steps[-1].change) > 0


def test_only_what_a_system_has_alone_is_said_to_be_part_of_it() -> None:
    grid = make_grid(3)
    place = np.unique(grid["system"], return_inverse=True)[1]
    own = rank_systems({**grid, "lr": place.astype(str), "batch_size": np.full(len(place), "8")}, folds=0)
    assert ("caveat", "each system has one lr: its effect is part of the system's") in own.answer().foot
    assert "batch_size" not in own.verdict
    assert "equally weighted" not in own.verdict
    assert "equally weighted" in rank_systems(grid, folds=0).verdict


def test_datasets_that_are_not_the_column_named_like_them_are_doubted() -> None:
    grid = make_grid(3)
    table = {"task" if name == "dataset" else name: values for name, values in grid.items()}
    asked = rank_systems(table, dataset="seed", nuisance=["lr", "task"], folds=0)
    assert "new levels of seed" in messages(asked, "unusual-datasets")
    assert "unusual-datasets" not in codes(rank_systems(table, folds=0))


def test_of_two_systems_nothing_is_said_about_all_pairs() -> None:
    found = rank_systems(make_grid(5, systems="AB", means={"A": 0.0, "B": 3.0}), folds=0, level=0.999)
    assert "99.9% CI " in found.headline
    assert "pairs" not in found.verdict
    assert "places" not in found.verdict
    assert "raw means" not in dict(found.answer().foot)


def test_where_lower_is_better_a_lead_is_shown_as_a_lead() -> None:
    found = rank_systems(make_grid(3), lower_is_better=True, folds=0)
    table = next(table for table in found.tables() if table.name == "influence")
    leads = [row[table.columns.index("its lead")] for row in table.rows]
    assert leads
    assert all(isinstance(lead, float) and lead > 0 for lead in leads)


def test_a_column_by_which_a_formula_only_groups_rows_is_random() -> None:
    formula = "score ~ lr + (1|system) + (1|dataset) + (1|system:dataset) + (1|seed:system:dataset)"
    table = make_grid(3)
    table["lr"] = np.char.replace(table["lr"], "0.", "r")
    found = rank_systems(table, formula=formula, folds=0)
    assert {t.name: (t.treated, t.reference) for t in found.treatments} == {
        "lr": ("fixed", "r1"),
        "seed": ("random", None),
    }


def test_pairs_that_share_a_dataset_at_most_are_not_tested_and_named() -> None:
    grid = make_grid(2)
    few = (grid["dataset"] < "d1") | (grid["system"] != "D")
    found = rank_systems(take(grid, few & ((grid["dataset"] > "d0") | (grid["system"] != "C"))), folds=0)
    none = [c for c in found.contrasts if c.method == "none"]
    assert [{c.left, c.right} for c in none] == [{name, "D"} for name in "CBA"]
    assert all((c.p, c.p_adjusted, np.isinf(c.high_simultaneous)) == (1, 1, True) for c in none)
    names = ", ".join(f"'{c.left} - {c.right}'" for c in none)
    notes = found.tables()[2].notes
    assert notes[1].startswith(f"p of {names}: not tested: fewer than two shared datasets")
    assert names in messages(found, "few-shared-datasets")


def test_runs_that_are_copies_are_refused_with_the_way_out() -> None:
    scores = {"A": (0.9, 0.8, 0.7), "B": (0.5, 0.9, 0.4)}
    table = [
        {"system": system, "dataset": f"d{i}", "seed": seed, "score": score}
        for system, row in scores.items()
        for i, score in enumerate(row)
        for seed in (1, 2, 3)
    ]
    with pytest.raises(ScoresError, match=r"same score.*--where seed=1"):
        rank_systems(table, folds=0)
    assert rank_systems(table, folds=0, where={"seed": "1"}).systems[0].name == "A"


def test_a_table_without_a_score_is_refused_in_one_line() -> None:
    rows = [{"system": s, "dataset": d, "seed": 1, "score": None} for s in "AB" for d in "xy"]
    with pytest.raises(ScoresError, match="no row with a finite score"):
        rank_systems(rows, folds=0)


def with_items(lacks: Callable[[str, int], bool], *, items: int = 10) -> list[dict[str, object]]:
    """Return item scores of A, which is always ahead, and B; the later items are hard."""
    return [
        {"system": s, "dataset": f"d{d}", "item": f"{d}/{i}", "score": lead + (0.9 if i < items // 2 else 0.2) + noise}
        for d, noise in enumerate((0.01, 0.02, 0.04))
        for i in range(items)
        for s, lead in (("A", 0.06 - noise / 9), ("B", 0.0))
        if not lacks(s, i)
    ]


def test_a_system_that_lacks_hard_items_is_no_better_for_it() -> None:
    found = rank_systems(with_items(lambda system, item: system == "B" and item >= 5), folds=0)
    easy = rank_systems(with_items(lambda _, item: item >= 5), folds=0)
    assert found.systems[0].name == "A"
    assert [(c.difference, c.p) for c in found.contrasts] == [(c.difference, c.p) for c in easy.contrasts]
    said = "15 of 30 items of d0, d1 and d2 lack a score of some system or run: means are over the 15 that all have."
    assert messages(found, "items-left-out") == said
    assert (found.rows.used, found.rows.planned) == (30, 45)


def test_systems_with_hardly_an_item_in_common_are_ranked_with_a_doubt() -> None:
    found = rank_systems(with_items(lambda system, item: item > 0 and (system == "A") == (item < 5)), folds=0)
    assert (found.cautions[0].code, found.cautions[0].severity) == ("different-items", "error")
    assert "27 of 30 items of d0, d1 and d2 lack" in found.cautions[0].effect
    assert (
        next(line for label, line in found.answer().foot if label == "caveat")
        == "systems" + found.cautions[0].message[7:-1]
    )
    assert found.rows.used == found.rows.planned


def test_items_that_each_run_has_of_its_own_are_no_gap_where_systems_share_them() -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"system": s, "dataset": f"d{d}", "seed": r, "item": f"{d}/{r}/{i}", "score": rng.normal()}
        for s in "AB" for d in range(3) for r in range(2) for i in range(4)
    ]  # fmt: skip
    found = rank_systems(rows, folds=0)
    assert found.rows.used == len(rows)
    assert not codes(found) & {"items-left-out", "different-items"}
    ranked = {s.name: s.raw_mean for s in found.systems}
    assert ranked["A"] == pytest.approx(np.mean([row["score"] for row in rows if row["system"] == "A"]))


def test_a_run_that_is_a_copy_of_another_is_said() -> None:
    grid = make_grid(1, systems="AB")
    grid = take(grid, grid["lr"] == "0.1")
    first, second = (np.flatnonzero((grid["system"] == "A") & (grid["seed"] == seed)) for seed in "12")
    score = grid["score"].copy()
    score[second] = score[first]
    plain, copied = (rank_systems({**grid, "score": each}, folds=0) for each in (grid["score"], score))
    assert "1 of A." in messages(copied, "copied-runs")
    assert "copied-runs" not in codes(plain)
