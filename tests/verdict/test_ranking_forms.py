"""Forms: what is made of nuisance columns, the paper's equation, formulas of one's own, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ranking_cases import make_grid, take

from holdsup import HoldsupError, fit_lmm, rank_systems
from holdsup.data import simulate_carmona2025

Table = dict[str, Any]

DEFAULT = (
    "score ~ system + lr + (1 | dataset) + (1 | system:dataset) + (1 | lr:system:dataset) + (1 | seed:system:dataset)"
)


@pytest.fixture(scope="module")
def grid() -> Table:
    return make_grid(3)


def treated(found: Any) -> dict[str, str]:
    return {t.name: t.treated for t in found.treatments}


def test_the_default_form_has_a_term_by_system_and_dataset_for_each_factor(grid: Table) -> None:
    found = rank_systems(grid, folds=0)
    assert found.means_formula == DEFAULT
    assert found.formula == DEFAULT.replace("system + lr", "lr + (1 | system)")
    assert treated(found) == {"seed": "random", "lr": "fixed"}


def test_the_default_criterion_does_not_depend_on_the_reference_but_the_papers_does(grid: Table) -> None:
    renamed = {**grid, "lr": np.where(grid["lr"] == "0.1", "0.3", grid["lr"])}
    criteria = {}
    for name, table in (("one", grid), ("other", renamed)):
        for paper in (False, True):
            found = rank_systems(table, paper=paper, folds=0)
            columns = {**table}
            for seed in ("1", "2"):
                columns[f"seed_{seed}"] = (table["seed"] == seed).astype(float)
            for level in ("0.1", "0.2"):
                columns[f"lr_{level}"] = (table["lr"] == level).astype(float)
            criteria[name, paper] = fit_lmm(found.formula, columns).criterion
    assert criteria["one", False] == pytest.approx(criteria["other", False], abs=1e-6)
    assert abs(criteria["one", True] - criteria["other", True]) > 0.1


def test_the_papers_form_has_its_indicators_and_its_references() -> None:
    found = rank_systems(simulate_carmona2025(seed=1), paper=True, treat={"num_epochs": "numeric"}, folds=0)
    assert [e.name for e in found.fixed] == [
        "(Intercept)", "seed 20", "seed 47", "lr 1e-5", "lr 2e-5", "lr 3e-5", "lr 4e-5", "batch 16", "num_epochs",
    ]  # fmt: skip
    assert [e.reference for e in found.fixed[1:]] == ["59"] * 2 + ["5e-5"] * 4 + ["32", None]
    assert len(found.random) == 12
    assert {r.group for r in found.random} == {"system", "dataset", "system:dataset", "Residual"}
    assert any("depend on which level is the reference" in line for line in found.warnings)
    assert {c.method for c in found.contrasts} == {"pooled"}


def test_a_number_with_many_values_has_a_centred_slope(grid: Table) -> None:
    table = {**grid, "steps": np.arange(len(grid["score"])) // 2 % 7}
    found = rank_systems(table, folds=0)
    assert treated(found)["steps"] == "numeric"
    assert "(0 + center(steps) | system:dataset)" in found.means_formula
    asked = rank_systems(table, treat={"steps": "fixed"}, folds=0)
    assert "(1 | steps:system:dataset)" in asked.means_formula
    assert [e.reference for e in asked.fixed if e.factor == "steps"] == ["0"] * 6


def test_a_setting_may_be_treated_as_random(grid: Table) -> None:
    found = rank_systems(grid, treat={"lr": "random"}, folds=0)
    assert [e.name for e in found.fixed] == ["(Intercept)"]
    assert "(1 | lr:system:dataset)" in found.formula


def test_a_shared_column_varies_with_datasets_only(grid: Table) -> None:
    found = rank_systems(grid, shared=["seed"], folds=0)
    assert "(1 | seed:dataset)" in found.means_formula
    assert "seed:system" not in found.means_formula


def test_a_formula_of_ones_own_is_fitted_with_systems_fixed_and_random(grid: Table) -> None:
    for formula in ("score ~ system + lr + (1|dataset)", "score ~ lr + (1|system) + (1|dataset)"):
        found = rank_systems(grid, formula=formula, treat={"lr": "fixed"}, folds=0)
        assert found.form == "formula"
        assert found.means_formula == "score ~ system + lr + (1 | dataset)"
        assert found.formula == "score ~ lr + (1 | system) + (1 | dataset)"
        assert found.interactions == ()
        assert any("interactions cannot be told from the residual" in line for line in found.warnings)


def test_names_of_columns_that_are_no_names_are_quoted(grid: Table) -> None:
    table = {**{k: v for k, v in grid.items() if k != "lr"}, "learning rate + 1": grid["lr"]}
    found = rank_systems(table, nuisance=["learning rate + 1", "seed"], folds=0)
    assert "`learning rate + 1`" in found.means_formula
    assert [e.name for e in found.fixed] == ["(Intercept)", "learning rate + 1 0.2"]


def test_a_level_per_row_is_left_out_and_that_is_said(grid: Table) -> None:
    table = {**grid, "code": np.array([f"r{i}" for i in range(len(grid["score"]))])}
    found = rank_systems(table, nuisance=["lr", "seed", "code"], folds=0)
    assert treated(found)["code"] == "left out"
    assert any(line.startswith("code is left out: it has a level of its own in every row") for line in found.warnings)
    assert "code" not in found.means_formula


def test_numbers_that_count_the_rows_are_left_out_and_amounts_that_all_differ_are_not(grid: Table) -> None:
    rows = np.random.default_rng(1).permutation(len(grid["score"]))
    found = rank_systems({**grid, "number": rows + 7, "rate": np.log1p(rows)}, nuisance=["number", "rate"], folds=0)
    assert treated(found) == {"number": "left out", "rate": "numeric"}


def test_a_term_with_a_level_per_row_is_the_residual_and_that_is_said(grid: Table) -> None:
    table = take(grid, grid["lr"] == "0.1")
    found = rank_systems(table, nuisance=["seed"], folds=0)
    assert "seed" not in found.means_formula
    assert any("no term of seed:system:dataset" in line for line in found.warnings)


def test_a_rate_of_each_systems_own_is_found_to_be_confounded(grid: Table) -> None:
    found = rank_systems(
        {**grid, "lr": np.char.add("0.", np.unique(grid["system"], return_inverse=True)[1].astype(str))}, folds=0
    )
    assert treated(found)["lr"] == "left out"
    assert any("lr is left out: it is the same in all rows of a system" in line for line in found.warnings)


def test_a_level_that_one_system_alone_uses_is_said(grid: Table) -> None:
    lr = np.where((grid["system"] == "A") & (grid["lr"] == "0.2"), "0.9", grid["lr"])
    found = rank_systems({**grid, "lr": lr}, folds=0)
    assert any("lr is confounded with systems: 1 level of 3 (0.9) is used by one system" in w for w in found.warnings)


def test_a_system_without_a_row_at_some_level_is_said(grid: Table) -> None:
    found = rank_systems(take(grid, ~((grid["system"] == "B") & (grid["lr"] == "0.1"))), folds=0)
    assert any(w.startswith("Some systems have no row at some levels of lr: B (0.1);") for w in found.warnings)
    assert not any("no row at some levels" in w for w in rank_systems(grid, folds=0).warnings)


def test_amounts_that_do_not_overlap_are_said(grid: Table) -> None:
    steps = np.arange(len(grid["score"])) % 7 + 100 * (grid["system"] == "A")
    found = rank_systems({**grid, "steps": steps}, folds=0)
    assert any("steps is confounded with systems: D has at most 6" in w for w in found.warnings)


def test_few_systems_and_datasets_are_said(grid: Table) -> None:
    found = rank_systems(take(grid, grid["dataset"] < "d3"), folds=0)
    assert any(w.startswith("4 systems say next to nothing") for w in found.warnings)
    assert any(w.startswith("3 datasets say little") for w in found.warnings)


def test_empty_cells_are_counted_and_the_contrast_says_on_which_datasets(grid: Table) -> None:
    table = take(grid, ~((grid["system"] == "D") & (grid["dataset"] == "d1")))
    found = rank_systems(table, folds=0)
    assert any(w.startswith("1 cell of 32") for w in found.warnings)
    assert {c.datasets for c in found.contrasts if "D" in (c.left, c.right)} == {7}
    assert "on the 7 datasets that both have" in found.verdict


def test_a_variance_of_zero_is_said_to_be_one(grid: Table) -> None:
    rng = np.random.default_rng(1)
    flat = {**grid, "score": (grid["dataset"] == "d1") * 3 + rng.normal(size=len(grid["score"]))}
    found = rank_systems(flat, folds=0)
    nil = [r for r in found.random if r.variance == 0]
    assert nil
    assert all(r.percent == 0 for r in nil)
    assert any("The rows show no variance of" in w for w in found.warnings)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: take(t, t["system"] == "A"), {}, "there is one system only, 'A'"),
        (lambda t: take(t, t["dataset"] == "d1"), {}, "there is one dataset only, 'd1'"),
        (
            lambda t: {**t, "dataset": np.char.add(t["system"], t["dataset"])},
            {},
            "every dataset has scores of one system",
        ),
        (lambda t: {**t, "score": np.ones(len(t["score"]))}, {}, "all scores equal 1"),
        (lambda t: {k: v for k, v in t.items() if k != "dataset"}, {}, "no column of datasets"),
        (lambda t: t, {"nuisance": ["nope"]}, "no column 'nope'"),
        (lambda t: t, {"treat": {"nope": "fixed"}}, "--treat nope=fixed: it is no nuisance column"),
        (lambda t: t, {"treat": {"lr": "slope"}}, "--treat lr=slope: a column can be treated as"),
        (lambda t: {**t, "lr": t["system"] + t["lr"]}, {"treat": {"lr": "numeric"}}, "not only numbers"),
        (lambda t: t, {"formula": "score ~ lr + (1|dataset)"}, "no term of the systems"),
        (lambda t: t, {"formula": "lr ~ system"}, "the formula is about lr"),
        (lambda t: t, {"formula": "score ~ system", "paper": True}, "two forms"),
        (lambda t: t, {"pair": ("A", "A")}, "give two different systems"),
        (lambda t: t, {"predict": {"system": "A"}}, "there is no value of 'dataset'"),
        (
            lambda t: t,
            {"predict": {"system": "A", "dataset": "d1", "lr": "9", "seed": "1"}},
            "of which the fit knows no",
        ),
        (lambda t: t, {"contribution": "lr", "nuisance": ["seed"]}, "it differs between rows"),
        (lambda t: {**t, "one": np.ones(len(t["score"]))}, {"contribution": "one"}, "it is 1 in all systems"),
        (
            lambda t: {**t, "x": (t["system"] == "A") * 1, "z": (t["system"] != "A") * 1},
            {"contribution": ["x", "z"]},
            "cannot tell these 2 ingredients apart",
        ),
        (lambda t: t, {"folds": 1}, "folds is 1"),
        (lambda t: t, {"level": 95}, "level is 95"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_one_line(grid: Table, change: Any, options: Any, message: str) -> None:
    with pytest.raises(HoldsupError, match=message) as refused:
        rank_systems(change(grid), **options)
    assert "\n" not in str(refused.value)


def test_a_formula_without_systems_on_datasets_claims_nothing_of_new_datasets(grid: Table) -> None:
    narrow = rank_systems(grid, formula="score ~ lr + (1 | system) + (1 | dataset)", folds=0)
    assert "datasets alone, and too sure even of them" in narrow.verdict
    assert "new datasets" not in narrow.verdict
    for term in ("(1 | system:dataset)", "(0 + system | dataset)"):
        wide = rank_systems(grid, formula=f"score ~ system + lr + (1 | dataset) + {term}", folds=0)
        assert "new datasets like these" in wide.verdict
