"""The ranking without one dataset or system, against rankings of the smaller table."""

from __future__ import annotations

import numpy as np
import pytest
from ranking_cases import fit_default, make_grid, take
from scipy import stats

from holdsup.results import Caution
from holdsup.verdict.ranking.contrasts import contrast_systems
from holdsup.verdict.ranking.robustness import find_influence


@pytest.mark.parametrize(("kind", "name"), [("dataset", "d2"), ("system", "A"), ("system", "D")])
def test_the_ranking_is_that_of_a_table_without_these_rows(kind: str, name: str) -> None:
    table = make_grid()
    whole = fit_default(table)
    (row,) = (row for row in find_influence(whole, []) if (row.kind, row.left_out) == (kind, name))
    fits = fit_default(take(table, table[kind] != name))
    means = {system: weights @ fits.means.model().beta for system, weights in fits.weights.items()}
    assert list(row.ranking) == sorted(means, key=means.__getitem__, reverse=True)
    lead = contrast_systems(fits, level=0.95, lower_is_better=False)[0]
    assert (lead.left, lead.right) == row.ranking[:2]
    assert (row.gap, row.p) == pytest.approx((lead.difference, lead.p), rel=1e-3)
    before = {system: weights @ whole.means.model().beta for system, weights in whole.weights.items()}
    moved = [means[system] - before[system] for system in means]
    assert row.largest_shift == pytest.approx(np.ptp(moved), abs=1e-3)


def test_a_leader_by_one_dataset_falls_without_it() -> None:
    table = make_grid(means={"A": 0.0, "B": 0.0, "C": 0.0, "D": 0.0})
    table["score"] = table["score"] + 60.0 * ((table["system"] == "B") & (table["dataset"] == "d5"))
    said: list[Caution] = []
    found = find_influence(fit_default(table), said)
    assert said == []
    by_dataset = {row.left_out: row for row in found if row.kind == "dataset"}
    assert {row.leader for name, row in by_dataset.items() if name != "d5"} == {"B"}
    assert by_dataset["d5"].leader != "B"
    assert by_dataset["d5"].changed
    assert by_dataset["d5"].largest_shift == max(row.largest_shift for row in found)


def test_each_dataset_and_each_system_is_left_out_once() -> None:
    table = make_grid()
    rows = find_influence(fit_default(table), [])
    assert [row.left_out for row in rows] == [*(f"d{i}" for i in range(8)), *"ABCD"]
    assert all(row.left_out not in row.ranking for row in rows)


def test_of_two_systems_none_is_left_out() -> None:
    rows = find_influence(fit_default(make_grid(systems="AB")), [])
    assert {row.kind for row in rows} == {"dataset"}


def test_the_lowest_mean_leads_where_lower_is_better() -> None:
    fits = fit_default(make_grid())
    down, up = find_influence(fits, [], lower_is_better=True), find_influence(fits, [])
    assert all(one.ranking == other.ranking[::-1] for one, other in zip(down, up, strict=True))
    assert all(row.gap < 0 for row in down)


def test_on_one_dataset_a_lead_has_no_p() -> None:
    rows = find_influence(fit_default(make_grid(datasets=2)), [])
    assert {row.p for row in rows if row.kind == "dataset"} == {None}
    assert all(0 <= row.p <= 1 for row in rows if row.kind == "system" and row.p is not None)


def test_what_cannot_be_left_out_is_said() -> None:
    table = make_grid(systems="AB", datasets=3)
    rows = (table["system"] == "A") | (table["dataset"] == "d1")
    said: list[Caution] = []
    assert [row.left_out for row in find_influence(fit_default(take(table, rows)), said)] == ["d0", "d2"]
    (caution,) = said
    assert (caution.code, caution.about) == ("not-left-out", "table:influence")
    assert "the dataset d1: one system alone" in caution.message


def test_the_lead_is_tested_as_in_the_contrasts_by_differences_of_datasets() -> None:
    # Balanced, so that adjusted means of cells differ as their plain means do.
    table = make_grid()
    (row,) = (row for row in find_influence(fit_default(table), []) if row.left_out == "d0")
    means = {
        system: [
            table["score"][(table["system"] == system) & (table["dataset"] == f"d{i}")].mean() for i in range(1, 8)
        ]
        for system in row.ranking[:2]
    }
    expected = stats.ttest_rel(means[row.ranking[0]], means[row.ranking[1]])
    assert row.p == pytest.approx(expected.pvalue, rel=1e-6)
