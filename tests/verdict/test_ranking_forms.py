"""Forms: what is made of nuisance columns, the paper's equation, formulas of one's own, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ranking_cases import codes, make_grid, messages, take

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
    assert "reference-level" in codes(found)
    assert {c.method for c in found.contrasts} == {"pooled"}


def test_numbers_that_recur_are_levels_and_those_of_a_search_a_centred_slope(grid: Table) -> None:
    rng = np.random.default_rng(1)
    count = len(grid["score"])
    grid = {**grid, "max_steps": rng.integers(1, 13, count), "max_length": rng.uniform(3, 9, count).round(4)}
    found = rank_systems(grid, folds=0)
    assert treated(found) == {"seed": "random", "lr": "fixed", "max_steps": "fixed", "max_length": "numeric"}
    assert "(1 | max_steps:system:dataset)" in found.means_formula
    assert [e.level for e in found.fixed if e.factor == "max_steps"] == [str(level) for level in range(2, 13)]
    assert "(0 + center(max_length) | system:dataset)" in found.means_formula
    said = messages(found, "straight-line")
    assert said == "Column max_length has 192 different numbers: its effect is a straight line in max_length."
    many = {**grid, "max_length": rng.integers(1, 41, count)}
    assert "--treat max_length=fixed gives each value" in messages(rank_systems(many, folds=0), "straight-line")
    assert "the values of lr and max_steps tried, equally weighted" in found.verdict
    assert "max_length at its mean" in found.verdict


def test_numbers_whose_systems_have_no_level_in_common_are_amounts(grid: Table) -> None:
    own = np.unique(grid["system"], return_inverse=True)[1] * 10 + np.arange(len(grid["score"])) % 3
    found = rank_systems({**grid, "max_steps": own}, folds=0)
    assert treated(found)["max_steps"] == "numeric"
    with pytest.raises(
        HoldsupError, match=r"systems do not share levels of 'max_steps'.* give --treat max_steps=numeric"
    ):
        rank_systems({**grid, "max_steps": own}, treat={"max_steps": "fixed"}, folds=0)
    shared = np.where(np.arange(len(own)) % 3 == 0, 7, own)
    assert treated(rank_systems({**grid, "max_steps": shared}, folds=0))["max_steps"] == "fixed"


def test_rates_over_decades_are_a_line_in_their_logarithm(grid: Table) -> None:
    rate = 10 ** np.random.default_rng(2).uniform(-5, -3, len(grid["score"]))
    bent = {**grid, "lr": rate, "score": grid["score"] + 2 * np.log10(rate)}
    found = rank_systems(bent, folds=0, predict={"system": "A", "dataset": "d1", "lr": "1e-4", "seed": "1"})
    assert treated(found)["lr"] == "log"
    (slope,) = (e for e in found.fixed if e.factor == "lr")
    alone = fit_lmm(found.formula, {**bent, "log10_lr": np.log10(rate)})
    assert slope.name == "log10 lr"
    assert slope.estimate == pytest.approx(alone.fixed[1].estimate)
    assert slope.estimate == pytest.approx(2, abs=4 * slope.se)
    assert "a straight line in its logarithm" in messages(found, "straight-line")
    assert "bent-line" not in codes(found)
    (part,) = (p for p in found.prediction if p.term == "log10 lr")
    assert part.value == pytest.approx(slope.estimate * (-4 - np.log10(rate).mean()))


def test_scores_that_bend_away_from_a_line_are_said(grid: Table) -> None:
    x = np.random.default_rng(2).integers(0, 9, len(grid["score"]))
    straight, bent = ({**grid, "max_steps": x, "score": grid["score"] + effect} for effect in (x, (x - 4) ** 2 / 4))
    for table, wrong in ((straight, False), (bent, True)):
        found = rank_systems(table, treat={"max_steps": "numeric"}, folds=0)
        said = [caution for caution in found.cautions if caution.code == "bent-line"]
        assert bool(said) == wrong
        assert all(caution.advice == "Give --treat max_steps=fixed." for caution in said)  # 0 has no logarithm


def test_systems_with_levels_of_their_own_are_ranked_right_by_default() -> None:
    rates = [f"{x:.2g}" for x in np.geomspace(1e-5, 1e-3, 12)]
    rng = np.random.default_rng(3)
    rows = [
        (s, f"d{d}", seed, rates[j], 0.01 * (s == "A") + 0.03 * np.sin(d) + 0.008 * j + rng.normal(0, 0.004))
        for s, span in zip("ABC", (range(8), range(4, 12), range(12)), strict=True)
        for d in range(8)
        for seed in (1, 2)
        for j in span
    ]
    table = dict(zip(("system", "dataset", "seed", "lr", "score"), map(np.array, zip(*rows, strict=True)), strict=True))
    found = rank_systems(table, folds=0)
    assert found.systems[0].name == "A"
    contrast = {(c.left, c.right): c for c in found.contrasts}
    for other in "BC":
        assert contrast["A", other].difference == pytest.approx(0.01, abs=0.002)
    assert max(s.rank_high for s in found.systems[1:]) == 3
    line = rank_systems(table, treat={"lr": "numeric"}, folds=0)
    assert "range of lr (1e-05 to 0.001): A (1e-05 to 0.00019)" in messages(line, "narrow-range")
    assert "--treat lr=fixed or --treat lr=log" in messages(line, "bent-line")


def test_a_random_setting_has_an_effect_that_is_the_same_everywhere(grid: Table) -> None:
    found = rank_systems(grid, treat={"lr": "random"}, nested_runs=True, folds=0)
    assert [e.name for e in found.fixed] == ["(Intercept)"]
    assert "(1 | lr) + (1 | lr:system:dataset)" in found.formula
    assert "(1 | seed)" not in found.formula
    assert {c.method for c in found.contrasts} == {"dataset differences"}
    assert [s.step for s in found.waterfall] == [
        "raw gap",
        "datasets weighed equally",
        "lr",
        "random effects",
        "shrinkage",
    ]


def test_a_random_setting_that_systems_lack_is_isolated() -> None:
    grid = make_grid(3, means={"A": 0.0, "B": 0.0, "C": 0.0, "D": 0.0})
    low = grid["lr"] == "0.1"
    grid["score"] = grid["score"] - 9 * low
    lacking = take(grid, ~((grid["system"] == "A") & low) & ~((grid["system"] == "B") & ~low))
    by = {how: rank_systems(lacking, treat={"lr": how}, pair=["A", "B"], folds=0) for how in ("fixed", "random")}
    gap = {how: next(s.gap for s in found.waterfall if s.step == "random effects") for how, found in by.items()}
    assert by["random"].waterfall[0].gap > 8
    assert gap["random"] == pytest.approx(gap["fixed"], abs=0.2)
    assert {"uneven-levels", "missing-levels"} <= codes(by["random"])
    assert {c.method for c in by["random"].contrasts} == {"pooled"}


def test_a_shared_setting_keeps_its_effect_and_the_seeds_stay(grid: Table) -> None:
    found = rank_systems({**grid, "score": grid["score"] + 5 * (grid["lr"] == "0.2")}, shared=["lr"], folds=0)
    assert treated(found) == {"lr": "fixed", "seed": "random"}
    assert "(1 | lr:dataset) + (1 | seed:system:dataset)" in found.formula
    assert found.answers[2].answer == f"lr 0.2 +{found.fixed[1].estimate:.2f}"


def test_a_number_in_two_spellings_is_one_level(grid: Table) -> None:
    lr = np.where((grid["lr"] == "0.2") & (grid["seed"] == "2"), "2e-1", grid["lr"])
    found, plain = rank_systems({**grid, "lr": lr}, folds=0), rank_systems(grid, folds=0)
    assert [e.name for e in found.fixed] == ["(Intercept)", "lr 0.2"]
    assert found.fixed[1].estimate == pytest.approx(plain.fixed[1].estimate)
    assert "one level of lr: 0.2 and 2e-1." in messages(found, "number-spellings")


def test_a_setting_for_each_cell_is_said_to_be_tuned(grid: Table) -> None:
    cell = np.array([(ord(s) + int(d[1:])) % 2 for s, d in zip(grid["system"], grid["dataset"], strict=True)])
    found = rank_systems(take(grid, (grid["lr"] == "0.2") == cell), folds=0)
    assert messages(found, "tuned-settings").endswith("To rank systems as tuned, give --nuisance seed.")
    assert any("each system has one lr on each dataset" in line for _, line in found.answer().foot)
    assert "tuned-settings" not in codes(rank_systems(grid, folds=0))


def test_slopes_of_systems_by_dataset_are_their_interaction(grid: Table) -> None:
    found = rank_systems(grid, formula="score ~ system + (system|dataset)", folds=0)
    assert "no-interaction-term" not in codes(found)
    assert found.answers[1].answer.endswith("of the variance is system x dataset")
    assert (found.scope, found.covers) == ("new datasets", ("datasets", "runs"))


@pytest.mark.parametrize(
    ("formula", "scope", "advised"),
    [
        ("score ~ system + factor(lr)", "these datasets", True),
        ("score ~ system + dataset", "these datasets", False),
        ("score ~ (1|system/dataset)", "new datasets", True),
        ("score ~ system + (1|dataset) + (1|system:dataset)", "new datasets", False),
    ],
)
def test_a_formula_claims_what_its_terms_allow(grid: Table, formula: str, scope: str, advised: bool) -> None:
    found = rank_systems(grid, formula=formula, folds=0)
    assert found.scope == scope
    assert f"CI for {scope}" in found.tables()[1].title
    assert messages(found, "datasets-not-in-formula").endswith("Add (1 | dataset).") == advised


def test_a_number_in_a_formula_is_said_to_be_one(grid: Table) -> None:
    formula = "score ~ system + lr + (1|dataset) + (1|system:dataset)"
    assert "Write factor(lr) to give each of its 2 values" in messages(
        rank_systems(grid, formula=formula, folds=0), "straight-line"
    )
    assert "straight-line" not in codes(rank_systems(grid, formula=formula.replace("lr", "factor(lr)"), folds=0))


def test_without_a_nuisance_factor_none_is_said_to_be_isolated(grid: Table) -> None:
    one = take(grid, (grid["lr"] == "0.1") & (grid["seed"] == "1"))
    found = rank_systems({name: one[name] for name in ("score", "system", "dataset")}, folds=0)
    assert (found.answers[2].state, found.answers[2].answer) == (None, "only systems and datasets varied")
    said = "can't be tested with one score per system and dataset"  # as no table of this shape can be: no UNCLEAR
    assert (found.answers[1].state, found.answers[1].answer) == (None, said)
    assert all(table.rows for table in found.tables())
    assert [caution.message for caution in found.cautions if caution.code == "no-term"] == [
        "No system:dataset term: with one row per level, its variance is part of the residual."
    ]


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
        assert "no-interaction-term" in codes(found)


def test_names_of_columns_that_are_no_names_are_quoted(grid: Table) -> None:
    table = {**{k: v for k, v in grid.items() if k != "lr"}, "learning rate + 1": grid["lr"]}
    found = rank_systems(table, nuisance=["learning rate + 1", "seed"], folds=0)
    assert "`learning rate + 1`" in found.means_formula
    assert [e.name for e in found.fixed] == ["(Intercept)", "learning rate + 1 0.2"]


def test_a_level_per_row_is_left_out_and_that_is_said(grid: Table) -> None:
    table = {**grid, "code": np.array([f"r{i}" for i in range(len(grid["score"]))])}
    found = rank_systems(table, nuisance=["lr", "seed", "code"], folds=0)
    assert treated(found)["code"] == "left out"
    assert messages(found, "left-out-column") == "Column code is left out: it has a level of its own in every row."
    assert "code" not in found.means_formula


def test_numbers_that_count_the_rows_are_left_out_and_amounts_that_all_differ_are_not(grid: Table) -> None:
    rows = np.random.default_rng(1).permutation(len(grid["score"]))
    found = rank_systems({**grid, "number": rows + 7, "rate": np.log1p(rows)}, nuisance=["number", "rate"], folds=0)
    assert treated(found) == {"number": "left out", "rate": "numeric"}


def test_a_term_with_a_level_per_row_is_the_residual_and_that_is_said(grid: Table) -> None:
    table = take(grid, grid["lr"] == "0.1")
    found = rank_systems(table, nuisance=["seed"], folds=0)
    assert "seed" not in found.means_formula
    assert "No seed:system:dataset term" in messages(found, "no-term")


def test_a_rate_of_each_systems_own_is_found_to_be_confounded(grid: Table) -> None:
    found = rank_systems(
        {**grid, "lr": np.char.add("0.", np.unique(grid["system"], return_inverse=True)[1].astype(str))}, folds=0
    )
    assert treated(found)["lr"] == "left out"
    assert messages(found, "confounded-setting") == "Each system has one lr: its effect is part of the system's."


def test_a_level_that_one_system_alone_uses_is_said(grid: Table) -> None:
    lr = np.where((grid["system"] == "A") & (grid["lr"] == "0.2"), "0.9", grid["lr"])
    found = rank_systems({**grid, "lr": lr}, folds=0)
    assert "Levels of lr that only one system has: 0.9 (of 3)." in messages(found, "confounded-levels")


def test_a_system_without_a_row_at_some_level_is_said(grid: Table) -> None:
    found = rank_systems(take(grid, ~((grid["system"] == "B") & (grid["lr"] == "0.1"))), folds=0)
    assert messages(found, "missing-levels").startswith("Never run at some levels of lr: B (0.1).")
    assert "missing-levels" not in codes(rank_systems(grid, folds=0))


def test_amounts_that_do_not_overlap_are_said(grid: Table) -> None:
    steps = np.arange(len(grid["score"])) % 7 + 100 * (grid["system"] == "A")
    found = rank_systems({**grid, "max_steps": steps}, folds=0)
    assert messages(found, "confounded-range").startswith("Ranges of max_steps don't overlap (D up to 6, A from 100).")


def test_few_systems_and_datasets_are_said(grid: Table) -> None:
    found = rank_systems(take(grid, grid["dataset"] < "d3"), folds=0)
    said = {caution.code: (caution.severity, caution.about) for caution in found.cautions}
    assert said["few-systems"] == ("note", "table:random")
    assert said["few-datasets"] == ("warning", "claim")


def test_empty_cells_are_counted_and_the_contrast_says_on_which_datasets(grid: Table) -> None:
    table = take(grid, ~((grid["system"] == "D") & (grid["dataset"] == "d1")))
    found = rank_systems(table, folds=0)
    assert messages(found, "empty-cells").startswith("1 of 32 cells (system x dataset) have no score.")
    assert {c.datasets for c in found.contrasts if "D" in (c.left, c.right)} == {7}
    assert "on 7 shared datasets" in found.headline


def test_a_variance_of_zero_is_said_to_be_one(grid: Table) -> None:
    rng = np.random.default_rng(1)
    flat = {**grid, "score": (grid["dataset"] == "d1") * 3 + rng.normal(size=len(grid["score"]))}
    found = rank_systems(flat, folds=0)
    nil = [r for r in found.random if r.variance == 0]
    assert nil
    assert all(r.percent == 0 for r in nil)
    assert "no-variance" in codes(found)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: take(t, t["system"] == "A"), {}, "there is only one system, 'A'"),
        (lambda t: take(t, t["dataset"] == "d1"), {}, "there is only one dataset, 'd1'"),
        (
            lambda t: {**t, "dataset": np.char.add(t["system"], t["dataset"])},
            {},
            "every dataset has scores of one system",
        ),
        (lambda t: {**t, "score": np.ones(len(t["score"]))}, {}, "all scores equal 1"),
        (lambda t: {k: v for k, v in t.items() if k != "dataset"}, {}, "no column of datasets"),
        (lambda t: t, {"nuisance": ["nope"]}, "no column 'nope'"),
        (lambda t: t, {"treat": {"nope": "fixed"}}, "--treat nope=fixed: 'nope' isn't a nuisance column"),
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
    assert (narrow.state, narrow.covers) == ("unclear", ())
    assert "the formula has no system x dataset term: its p is too small" in narrow.headline
    assert "new datasets" not in narrow.verdict
    for term in ("(1 | system:dataset)", "(0 + system | dataset)"):
        wide = rank_systems(grid, formula=f"score ~ system + lr + (1 | dataset) + {term}", folds=0)
        assert "new datasets like these" in wide.verdict
