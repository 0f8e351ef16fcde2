"""Average ranks beside a ranking: which datasets count, and where the two part."""

from __future__ import annotations

import numpy as np
import pytest
from ranking_cases import Table, codes, lay_out, make_grid, messages, take
from scipy import stats

from holdsup import rank_systems
from holdsup.results import Caution
from holdsup.verdict.ranking.records import Companion
from holdsup.verdict.ranking.robustness import make_companion


def rank(table: Table, order: str, *, lower_is_better: bool = False) -> Companion:
    found = make_companion(lay_out(table), order=list(order), said=[], lower_is_better=lower_is_better)
    assert found is not None
    return found


def cells(rows: list[list[float]]) -> Table:
    """One score for each system (a column) on each dataset (a row)."""
    names = "ABCDE"[: len(rows[0])]
    return {
        "score": np.array(rows).ravel(),
        "system": np.tile(list(names), len(rows)),
        "dataset": np.repeat([f"d{i:02}" for i in range(len(rows))], len(names)),
    }


def test_ranks_and_tests_are_those_of_the_means_by_dataset() -> None:
    table = make_grid()
    found = rank(table, "DCBA")
    means = np.array([
        [table["score"][(table["system"] == s) & (table["dataset"] == f"d{d}")].mean() for s in "ABCD"]
        for d in range(8)
    ])  # fmt: skip
    average = dict(zip("ABCD", stats.rankdata(-means, axis=1).mean(axis=0), strict=True))
    assert {row.system: row.average_rank for row in found.ranks} == pytest.approx(average)
    assert [row.average_rank for row in found.ranks] == sorted(average.values())
    assert (found.chi2, found.p) == pytest.approx(tuple(stats.friedmanchisquare(*means.T)))
    assert (found.datasets, found.left_out, found.df, found.df1, found.df2) == (8, 0, 3, 3, 21)
    assert sum(row.wins for row in found.ranks) == 8


def test_a_dataset_that_lacks_a_system_is_left_out_and_counted() -> None:
    table = make_grid()
    found = rank(take(table, (table["system"] != "B") | (table["dataset"] != "d4")), "DCBA")
    assert (found.datasets, found.left_out) == (7, 1)


def test_without_two_complete_datasets_there_are_no_ranks() -> None:
    table = make_grid(datasets=2)
    runs = lay_out(take(table, (table["system"] != "B") | (table["dataset"] != "d1")))
    said: list[Caution] = []
    assert make_companion(runs, order=list("DCBA"), said=said) is None
    assert [caution.code for caution in said] == ["no-average-ranks"]


def test_lower_scores_rank_first_where_lower_is_better() -> None:
    up, down = rank(make_grid(), "DCBA"), rank(make_grid(), "ABCD", lower_is_better=True)
    assert [row.system for row in down.ranks] == [row.system for row in up.ranks][::-1]


def test_cliques_are_systems_within_the_critical_difference() -> None:
    found = rank(cells([[9, 1, 2], [9, 2, 1], [9, 1, 2], [9, 2, 1], [8, 1, 2], [8, 2, 1]] * 3), "ABC")
    assert [row.average_rank for row in found.ranks] == [1, 2.5, 2.5]
    assert found.critical_difference < 1.5
    assert found.cliques == (("B", "C"),)


def test_the_same_order_is_said_to_be_the_same() -> None:
    found = rank(cells([[3, 2, 1]] * 4), "ABC")
    assert found.parting == "Average ranks and adjusted means agree on the order of every pair."


def test_they_part_where_one_wins_often_and_the_other_by_much() -> None:
    found = rank(cells([[1.0, 1.5], [2.0, 2.5], [3.0, 3.5], [9.0, 1.0]]), "AB")
    assert [row.system for row in found.ranks] == ["B", "A"]
    assert found.parting == (
        "Average ranks and adjusted means disagree on 1 of 1 pair: by rank B is before A. B is ahead on 3 of 4 "
        "datasets, by 0.5 on average, A on 1, by 8: ranks count how often, means by how much."
    )


def test_where_plain_means_side_with_the_ranks_it_is_the_fit_that_parts_them() -> None:
    found = rank(cells([[1.0, 1.5], [2.0, 2.5], [3.0, 3.5], [1.5, 1.0]]), "AB")
    assert found.parting.endswith(
        "So it is by plain means; the model also adjusts for nuisance factors and missing datasets."
    )


def test_they_part_where_a_loss_is_by_many_places() -> None:
    # A is ahead of B on two datasets of three, by one place; on the third all others lie between them.
    found = rank(cells([[9, 8, 1, 2], [9, 8, 2, 1], [5.0, 5.9, 5.3, 5.6]]), "ABCD")
    assert [row.system for row in found.ranks][:2] == ["B", "A"]
    assert found.parting.endswith(
        "B is ahead on 1 of 3 datasets, by 3 places on average, A on 2, by 1: ranks count the systems in between, "
        "means by how much."
    )


def test_sizes_are_told_in_their_own_direction_where_lower_is_better() -> None:
    found = rank(cells([[1.5, 1.0], [2.5, 2.0], [3.5, 3.0], [1.0, 9.0]]), "AB", lower_is_better=True)
    assert "B is ahead on 3 of 4 datasets, by 0.5 on average, A on 1, by 8:" in found.parting


def test_a_caution_says_where_signed_ranks_disagree_with_the_t_test_about_the_first_two() -> None:
    lead = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 9.0, 14.0]  # always ahead, twice by far
    found = rank_systems(cells([[10.0 + d, 10.0 + d + more] for d, more in enumerate(lead)]), folds=0)
    (pair,) = found.contrasts
    assert pair.p_signed_rank == pytest.approx(2 / 2**10)
    assert pair.p_adjusted > 0.05
    assert messages(found, "signed-rank").startswith("A signed-rank test tells B from A (p = .002)")
    few = rank_systems(cells([[10.0 + d, 13.0 + d + more / 10] for d, more in enumerate(lead[:4])]), folds=0)
    assert few.state == "yes"  # of four datasets no order of signs gives p below .125
    assert "signed-rank" not in codes(few)


def test_there_are_no_signed_ranks_where_runs_count_as_well() -> None:
    table = make_grid(3)
    assert all(c.p_signed_rank is None for c in rank_systems(table, folds=0).contrasts)
    assert all(c.p_signed_rank is not None for c in rank_systems(table, folds=0, nested_runs=True).contrasts)
