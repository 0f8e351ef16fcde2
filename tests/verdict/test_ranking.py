"""`rank_systems`: means, contrasts, shares, steps and predictions, each against another way to its number."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from ranking_cases import make_grid, messages, take
from scipy import stats

from holdsup import Ranking, fit_lmm, rank_systems
from holdsup.fit import predict

Table = dict[str, Any]


@pytest.fixture(scope="module")
def grid() -> Table:
    return make_grid(3)


@pytest.fixture(scope="module")
def found(grid: Table) -> Ranking:
    return rank_systems(grid, nested_runs=True)


def cell_means(table: Table) -> dict[str, np.ndarray]:
    """Return the mean of each system on each dataset, written out."""
    return {
        s: np.array([table["score"][(table["system"] == s) & (table["dataset"] == d)].mean()
                     for d in sorted(set(table["dataset"]))])
        for s in sorted(set(table["system"]))
    }  # fmt: skip


def test_means_of_a_balanced_table_are_those_of_its_rows(grid: Table, found: Ranking) -> None:
    for system in found.systems:
        assert system.mean == pytest.approx(grid["score"][grid["system"] == system.name].mean(), rel=1e-9)
        assert system.raw_mean == pytest.approx(system.mean, rel=1e-9)
    assert [s.rank for s in found.systems] == [1, 2, 3, 4]
    assert [s.name for s in found.systems] == ["D", "C", "B", "A"]


def test_a_contrast_of_a_balanced_table_is_the_paired_t_test_on_datasets(grid: Table, found: Ranking) -> None:
    means = cell_means(grid)
    for c in found.contrasts:
        test = stats.ttest_rel(means[c.left], means[c.right])
        assert c.p == pytest.approx(test.pvalue, rel=1e-7)
        assert c.df == pytest.approx(7)
        assert (c.method, c.datasets) == ("dataset differences", 8)
        low, high = test.confidence_interval(0.95)
        assert (c.low, c.high) == pytest.approx((low, high), rel=1e-7)
        low, high = test.confidence_interval(1 - 0.05 / 6)
        assert (c.low_simultaneous, c.high_simultaneous) == pytest.approx((low, high), rel=1e-7)
        assert c.p_adjusted == pytest.approx(min(1, 6 * test.pvalue), rel=1e-7)
        assert 10**c.log10_p_adjusted == pytest.approx(c.p_adjusted)
        ranks = stats.wilcoxon(means[c.left], means[c.right]).pvalue
        assert (c.p_signed_rank, c.p_signed_rank_adjusted) == pytest.approx((ranks, min(1, 6 * ranks)))


def test_the_pooled_test_is_that_of_the_fit(grid: Table, found: Ranking) -> None:
    fit = fit_lmm(found.means_formula, grid)
    effect = {e.name: e for e in fit.fixed}["systemB"]
    c = next(c for c in found.contrasts if (c.left, c.right) == ("B", "A"))
    assert (c.pooled_difference, c.pooled_se, c.pooled_df, c.pooled_p) == pytest.approx(
        (effect.estimate, effect.se, effect.df, effect.p), rel=1e-6
    )


def test_places_are_those_that_adjusted_tests_leave_open(found: Ranking) -> None:
    for system in found.systems:
        sure = [c for c in found.contrasts if c.p_adjusted <= 0.05 and system.name in (c.left, c.right)]
        better = sum(c.right == system.name for c in sure)
        assert system.rank_low == 1 + better
        assert system.rank_high == 4 - (len(sure) - better)
        assert system.rank_low <= system.rank <= system.rank_high


def test_the_share_of_draws_in_which_one_of_two_is_best_is_the_tail_of_t() -> None:
    table = make_grid(5, systems="AB", means={"A": 0.0, "B": 0.4})
    found = rank_systems(table, folds=0)
    (c,) = found.contrasts
    expected = stats.t.cdf(c.difference / c.se, c.df)
    assert found.systems[0].p_best == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 10_000))
    assert sum(s.p_best for s in found.systems) == pytest.approx(1)


def test_a_random_term_is_tested_by_the_criterion_of_the_fit_without_it(grid: Table, found: Ranking) -> None:
    whole = fit_lmm(found.formula, grid).criterion
    for row in found.random[:-1]:
        without = fit_lmm(found.formula.replace(f" + (1 | {row.group})", ""), grid).criterion
        assert row.lrt == pytest.approx(max(0.0, without - whole), abs=1e-5)
        assert row.p_ranova == pytest.approx(stats.chi2.sf(row.lrt, 1), abs=1e-5)
    assert found.random[-1].group == "Residual"
    assert found.random[-1].p is None


def test_shares_of_variance_add_up_and_slopes_are_weighed_by_their_regressors() -> None:
    grid = make_grid(6)
    rng = np.random.default_rng(1)
    grid["steps"] = rng.uniform(0, 10, len(grid["score"])).round(3)
    found = rank_systems(grid, folds=0)
    assert sum(r.percent for r in found.random) == pytest.approx(100)
    assert sum(r.percent_exact for r in found.random) == pytest.approx(100)
    fit = fit_lmm(found.formula, grid)
    square = float(((grid["steps"] - grid["steps"].mean()) ** 2).mean())
    weighed = [c.variance * (square if c.term.startswith("center") else 1.0) for c in fit.random]
    for row, share in zip(found.random, weighed, strict=True):
        assert row.percent_exact == pytest.approx(100 * share / sum(weighed), abs=1e-3)


def test_the_waterfall_starts_at_the_raw_gap_and_its_changes_add_up() -> None:
    grid = make_grid(7)
    kept = ~((grid["system"] == "A") & (grid["dataset"] >= "d4") & (grid["lr"] == "0.1"))
    table = take(grid, kept)
    found = rank_systems(table, pair=("B", "A"), folds=0)
    steps = found.waterfall
    raw = table["score"][table["system"] == "B"].mean() - table["score"][table["system"] == "A"].mean()
    assert steps[0].gap == pytest.approx(raw)
    gaps = list(itertools.accumulate(step.change for step in steps))
    assert gaps == pytest.approx([step.gap for step in steps])
    mean = {s.name: s for s in found.systems}
    isolated = next(step for step in steps if step.step == "random effects")
    assert isolated.gap == pytest.approx(mean["B"].mean - mean["A"].mean)
    assert steps[-1].step == "shrinkage"
    assert steps[-1].gap == pytest.approx(mean["B"].shrunken - mean["A"].shrunken)
    means = cell_means(table)
    assert steps[1].gap == pytest.approx((means["B"] - means["A"]).mean())


def test_a_gap_that_is_the_datasets_doing_is_isolated() -> None:
    """B is scored more often where scores are high: half of its raw lead is the datasets'."""
    grid = make_grid(8, systems="AB", means={"A": 0.0, "B": 1.0}, datasets=20)
    hard = {d for d in set(grid["dataset"]) if grid["score"][grid["dataset"] == d].mean() < 70}
    rare = (grid["system"] == "B") & np.isin(grid["dataset"], list(hard)) & (grid["seed"] != "1")
    table = take(grid, ~rare)
    found = rank_systems(table, folds=0)
    raw, isolated = found.waterfall[0].gap, found.contrasts[0].difference
    assert raw > isolated + 0.5
    assert found.contrasts[0].low < 1 < found.contrasts[0].high


def test_the_terms_of_a_prediction_add_up_to_the_fits_prediction(grid: Table, found: Ranking) -> None:
    asked = {"system": "B", "dataset": "d3", "lr": "0.2", "seed": "2"}
    parts = rank_systems(grid, predict=asked, folds=0).prediction
    fit = fit_lmm(found.formula, grid)
    expected = predict(fit, {name: [value] for name, value in asked.items()}).values[0]
    assert sum(part.value for part in parts) == pytest.approx(expected, rel=1e-9)
    assert {part.kind for part in parts} == {"fixed", "random"}
    assert all(part.known for part in parts)


def test_a_configuration_of_a_new_dataset_has_an_average_one(grid: Table) -> None:
    asked = {"system": "B", "dataset": "new", "lr": "0.2", "seed": "2"}
    parts = rank_systems(grid, predict=asked, folds=0).prediction
    unknown = [part for part in parts if not part.known]
    assert len(unknown) == 4
    assert all(part.value == 0 for part in unknown)


def test_ingredients_that_tell_all_systems_apart_are_contrasts_of_means(grid: Table) -> None:
    system = grid["system"]
    table = {
        **grid,
        "dapt": (system == "B") * 1,
        "scratch": np.isin(system, ["C", "D"]) * 1,
        "link": (system == "D") * 1,
    }
    found = rank_systems(table, contribution=["dapt", "scratch", "link"], folds=0)
    by_pair = {(c.left, c.right): c for c in found.contrasts}
    for row, pair in zip(found.contributions, [("B", "A"), ("C", "A"), ("D", "C")], strict=True):
        assert row.saturated
        assert row.estimate == pytest.approx(by_pair[pair].difference)
        assert row.p == pytest.approx(by_pair[pair].p)
        assert row.pooled_p == pytest.approx(by_pair[pair].pooled_p, rel=1e-5)
    assert found.contributions[1].systems == ("C", "D")


def test_fewer_ingredients_have_as_many_df_as_the_systems_leave(grid: Table) -> None:
    table = {**grid, "dapt": (grid["system"] == "B") * 1}
    (row,) = rank_systems(table, contribution="dapt", folds=0).contributions
    assert not row.saturated
    assert row.df <= 2


def test_interactions_are_cell_means_less_both_means_where_nothing_shrinks() -> None:
    """With strong interactions and many rows the predicted effects come near the ones written out."""
    grid = make_grid(9, datasets=12)
    rng = np.random.default_rng(0)
    cell = dict(zip(itertools.product("ABCD", range(12)), rng.normal(0, 20, 48), strict=True))
    own = np.array([cell[s, int(d[1:])] for s, d in zip(grid["system"], grid["dataset"], strict=True)])
    found = rank_systems({**grid, "score": grid["score"] + own}, folds=0)
    table = np.array([e.effect for e in found.interactions]).reshape(4, 12)
    means = np.stack(list(cell_means({**grid, "score": grid["score"] + own}).values()))
    names = sorted(set(grid["dataset"]))
    order = [names.index(e.dataset) for e in found.interactions[:12]]
    expected = (means - means.mean(0) - means.mean(1, keepdims=True) + means.mean())[:, order]
    centred = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
    np.testing.assert_allclose(centred, expected, atol=0.03 * np.abs(expected).max())
    assert found.random[2].group == "system:dataset"
    assert found.random[2].p == pytest.approx(1 / 10_001)


def test_a_shift_and_a_scale_of_the_scores_change_no_verdict(grid: Table, found: Ranking) -> None:
    moved = rank_systems({**grid, "score": 1e6 + 100 * grid["score"]}, nested_runs=True)
    for one, other in zip(found.contrasts, moved.contrasts, strict=True):
        assert other.p == pytest.approx(one.p, rel=1e-5)
        assert other.difference == pytest.approx(100 * one.difference, rel=1e-6)
    assert [s.p_best for s in moved.systems] == pytest.approx([s.p_best for s in found.systems], abs=1e-3)
    assert [r.percent for r in moved.random] == pytest.approx([r.percent for r in found.random], rel=1e-3, abs=1e-3)
    assert moved.r2.conditional == pytest.approx(found.r2.conditional, rel=1e-4)


def test_the_order_of_rows_does_not_matter(grid: Table, found: Ranking) -> None:
    order = np.random.default_rng(0).permutation(len(grid["score"]))
    turned = rank_systems(take(grid, order), nested_runs=True, folds=0)
    assert [s.mean for s in turned.systems] == pytest.approx([s.mean for s in found.systems], rel=1e-9)
    assert [c.p for c in turned.contrasts] == pytest.approx([c.p for c in found.contrasts], rel=1e-6)
    assert turned.signature.split("|")[1] == found.signature.split("|")[1]


def test_lower_is_better_turns_the_places_around_and_no_difference(grid: Table, found: Ranking) -> None:
    turned = rank_systems(grid, lower_is_better=True, nested_runs=True, folds=0)
    assert [s.name for s in turned.systems] == [s.name for s in reversed(found.systems)]
    assert turned.systems[0].p_best > 0.5
    by_pair = {(c.left, c.right): c.difference for c in found.contrasts}
    for c in turned.contrasts:
        assert c.difference == pytest.approx(-by_pair[c.right, c.left])
    assert turned.headline.startswith("A leads B by ")
    assert turned.answer().parts[0].columns[3].startswith("better | ")


def test_scores_of_items_are_averaged_and_that_is_said(grid: Table, found: Ranking) -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(len(grid["score"]), 3))
    noise -= noise.mean(axis=1, keepdims=True)
    table = {name: np.repeat(values, 3) for name, values in grid.items()}
    table["score"] = (grid["score"][:, None] + noise).ravel()
    table["item"] = np.tile(["i1", "i2", "i3"], len(grid["score"]))
    averaged = rank_systems(table, nested_runs=True, folds=0)
    assert [c.p for c in averaged.contrasts] == pytest.approx([c.p for c in found.contrasts], rel=1e-6)
    assert averaged.rows.used == 3 * len(grid["score"])
    assert "192 means" in messages(averaged, "items-averaged")


def test_a_ranking_is_restored_whole(found: Ranking) -> None:
    assert Ranking.from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_five_questions_are_answered_in_every_rendering(found: Ranking) -> None:
    assert [answer.question for answer in found.answers] == [
        "Who is best?", "Do datasets matter?", "What does each factor do?", "Where is the variance from?",
        "Does it hold on new datasets?",
    ]  # fmt: skip
    assert [answer.state for answer in found.answers] == ["unclear", "yes", "yes", None, "unclear"]
    for shown in (str(found), found.page().text()):
        assert all(answer.answer.split(",")[0] in " ".join(shown.split()) for answer in found.answers)


def test_what_adjusting_for_a_nuisance_adds_to_a_contrast_is_in_its_error() -> None:
    rng = np.random.default_rng(1016)
    rows = [
        (system, dataset, "hi" if (system == "s0") != (dataset == system[1:]) else "lo", seed)
        for system in ("s0", "s1", "s2")
        for dataset in map(str, range(8))
        for seed in range(3)
    ]
    table = dict(zip(("system", "dataset", "lr", "seed"), map(list, zip(*rows, strict=True)), strict=True))
    hardness, own = rng.normal(0, 0.08, 8), rng.normal(0, 0.02, (3, 8))
    table["score"] = [
        0.7 + hardness[int(d)] + own[int(s[1]), int(d)] + 0.02 * (lr == "hi") + rng.normal(0, 0.005)
        for s, d, lr, _ in rows
    ]
    found = rank_systems(table, folds=0)
    (contrast,) = (c for c in found.contrasts if {c.left, c.right} == {"s0", "s1"})
    (effect,) = (row for row in fit_lmm(found.means_formula, table).fixed if row.name == "lrlo")
    means = {
        s: np.array(
            [np.mean([y - effect.estimate * (lr == "lo") for (a, b, lr, _), y in zip(rows, table["score"], strict=True)
                      if (a, b) == (s, d)]) for d in map(str, range(8))]
        )
        for s in ("s0", "s1")
    }  # fmt: skip
    difference = means["s0"] - means["s1"]
    low = {s: np.array([lr == "lo" for a, _, lr, seed in rows if a == s and seed == 0]) for s in ("s0", "s1")}
    moved = low["s0"].astype(float) - low["s1"]
    own, taken = difference.var(ddof=1) / 8, moved.var(ddof=1) / 8 * effect.se**2
    expected = own + taken + (moved.mean() * effect.se) ** 2
    assert contrast.se**2 == pytest.approx(expected, rel=1e-6)
    assert expected > 1.5 * own
    inverse = own * (own + taken) / 7 + (expected**2 - own**2) / contrast.pooled_df
    assert contrast.df == pytest.approx(expected**2 / inverse, rel=1e-6)


def test_a_variance_of_zero_has_a_p_of_one() -> None:
    for seed in range(4):
        found = rank_systems(make_grid(seed), folds=0)
        nil = [r for r in found.random if r.variance == 0]
        assert all(r.p == 1.0 for r in nil)
        assert all(r.p < 1 for r in found.random if r.p is not None and r not in nil)
        if nil:
            return
    pytest.fail("no table has a variance of zero")


def test_ingredients_that_cannot_be_told_from_zero_are_counted_in_grammar(grid: Table) -> None:
    flip = {"A": (0, 0), "B": (1, 0), "C": (0, 1), "D": (1, 1)}
    table = {**grid, "p": [flip[s][0] for s in grid["system"]], "q": [flip[s][1] for s in grid["system"]]}
    noise = {**table, "score": np.random.default_rng(1).normal(size=len(grid["score"]))}
    (said,) = (a for a in rank_systems(noise, contribution=["p", "q"], folds=0).answers if "ingredient" in a.question)
    assert (said.state, said.answer) == ("unclear", "nothing that clearly differs from zero (p and q)")
