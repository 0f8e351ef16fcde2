"""`compare_systems` where runs differ in settings: what each claim draws anew is in every number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import holdsup
from holdsup import compare_systems, fit_lmm
from holdsup.errors import ScoresError
from holdsup.numerics.spread import total_variance
from holdsup.verdict.claims import Rule, pair_systems
from holdsup.verdict.evaluation import lay_out
from holdsup.verdict.planning import plan_pair

ITEMS, SEEDS = 80, 4


def grid(offsets: tuple[float, ...] = (-0.05, 0.01, 0.06), *, plain: int = 5, seed: int = 4) -> dict[str, Any]:
    """Scores of a system with a few learning rates and of one with a single rate."""
    rng = np.random.default_rng(seed)
    items, rows = rng.normal(0, 0.1, ITEMS), []
    for system, means, seeds in (("grid", offsets, SEEDS), ("plain", (0.0,), plain)):
        own = items + rng.normal(0, 0.03, ITEMS)
        for rate, offset in enumerate(means):
            for number in range(seeds):
                score = 0.6 + offset + rng.normal(0, 0.01) + own + rng.normal(0, 0.05, ITEMS)
                rows += [(system, f"r{rate}", number, i, s) for i, s in enumerate(score)]
    return dict(zip(("system", "lr", "seed", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))


def compare(data: Any, claim: str | None = None, **asked: Any) -> holdsup.Comparison:
    return compare_systems(data, facets=["lr", "seed"], claim=claim, **asked)


def test_the_mean_of_a_grid_over_new_settings_has_the_spread_of_settings_in_its_limits() -> None:
    """Balanced, the variance of a mean is that of settings' means, and of items' means, less what both hold."""
    data = grid()
    means = {s.name: s for s in compare(data, "new-settings").systems}
    frame = pa.table(data).to_pandas()
    values = frame[frame.system == "grid"].pivot_table(index="item", columns=["lr", "seed"], values="score").to_numpy()
    rates, by_item, by_run = values.reshape(ITEMS, 3, SEEDS), values.mean(axis=1), values.mean(axis=0)
    residual = values - by_item[:, None] - by_run + values.mean()
    noise = (residual**2).sum() / ((ITEMS - 1) * (values.shape[1] - 1))
    variance = rates.mean(axis=(0, 2)).var(ddof=1) / 3 + by_item.var(ddof=1) / ITEMS - noise / values.size
    assert means["grid"].mean == pytest.approx(values.mean())
    assert means["grid"].se == pytest.approx(np.sqrt(variance), rel=1e-4)
    here = {s.name: s for s in compare(data).systems}
    assert means["grid"].high - means["grid"].low > 2 * (here["grid"].high - here["grid"].low)
    assert means["plain"] == here["plain"]  # it has no settings to draw


def test_a_new_run_of_a_grid_is_one_at_a_new_setting() -> None:
    data = grid()
    found, here = compare(data, "new-settings").contrasts[0], compare(data).contrasts[0]
    frame = pa.table(data).to_pandas()
    frame["grid"], frame["plain"] = (frame.system == "grid") * 1.0, (frame.system == "plain") * 1.0
    frame["run"] = frame.system + frame.lr + frame.seed.astype(str)
    fit = fit_lmm(
        "score ~ system + (1 | item) + (1 | system:item) + (0 + grid | run) + (0 + plain | run) + (0 + grid | lr)",
        frame,
    )
    runs = sum(c.variance for c in fit.random if c.term in ("grid", "plain"))
    assert found.p_superior is not None
    assert here.p_superior is not None
    assert found.p_superior == pytest.approx(stats.norm.cdf(found.difference / np.sqrt(runs)), abs=0.01)
    assert abs(found.p_superior - 0.5) < abs(here.p_superior - 0.5)


def test_clusters_count_over_new_settings_as_well() -> None:
    data = grid(plain=4)
    rng = np.random.default_rng(1)
    document = np.array(data["item"]) // 10
    data["score"] = data["score"] + 0.3 * rng.normal(size=(2, 8))[(np.array(data["system"]) == "grid") * 1, document]
    data["doc"] = document
    alone, clustered = (compare(data, "new-settings", cluster=c).contrasts[0] for c in ("-", "doc"))
    assert clustered.se > 1.2 * alone.se


def test_the_likelihood_ratio_of_new_runs_holds_the_settings() -> None:
    """Its larger model has a mean for every setting; moves of settings that leave their mean change nothing."""
    data = grid()
    found = compare(data).test
    assert found.model is not None
    assert "system:setting" in found.model
    frame = pa.table(data).to_pandas()
    frame["cell"] = frame.system + frame.lr
    frame["run"] = frame.cell + frame.seed.astype(str)
    random = "(1 | item) + (1 | system:item) + (1 | run)"
    full = fit_lmm(f"score ~ cell + {random}", frame, "ml")
    grids = [
        (frame.cell == "gridr0") * 1.0 - (frame.cell == "gridr2"),
        (frame.cell == "gridr1") * 1.0 - (frame.cell == "gridr2"),
    ]
    frame["x"], frame["y"] = grids
    null = fit_lmm(f"score ~ x + y + {random}", frame, "ml")
    assert found.statistic == pytest.approx(null.criterion - full.criterion, abs=1e-6)
    moved = dict(data)
    shift = {"r0": 0.4, "r1": -0.4, "r2": 0.0}
    moved["score"] = [
        s + (shift[rate] if system == "grid" else 0.0)
        for s, rate, system in zip(data["score"], data["lr"], data["system"], strict=True)
    ]
    assert compare(moved).test.statistic == pytest.approx(found.statistic, rel=1e-5)


def test_the_likelihood_ratio_of_new_settings_has_them_random_where_they_vary() -> None:
    data = grid()
    found = compare(data, "new-settings", bootstrap=50).test
    assert found.model is not None
    assert "(0 + `is grid` | lr)" in found.model
    assert "is plain" not in found.model
    frame = pa.table(data).to_pandas()
    frame["grid"] = (frame.system == "grid") * 1.0
    frame["run"] = frame.system + frame.lr + frame.seed.astype(str)
    random = "(1 | item) + (1 | system:item) + (1 | run) + (0 + grid | lr)"
    null, full = (fit_lmm(f"score ~ {x} + {random}", frame, "ml") for x in ("1", "system"))
    assert found.statistic == pytest.approx(null.criterion - full.criterion, abs=1e-5)
    assert found.statistic < compare(data).test.statistic or found.p_chi2 > 0.05
    assert found.bootstrap_draws == 50


def test_a_likelihood_ratio_that_the_claim_cannot_have_is_left_out_with_a_note() -> None:
    data = pa.table(grid()).to_pandas()
    data["dataset"] = np.where(data["item"] < 40, "x", "y")
    found = compare(data)
    assert found.test.model is None
    assert np.isnan(found.test.statistic)
    assert "settings" in found.test.note
    assert any(found.test.note in note for note in found.tables()[2].notes)
    asked = compare(data, "new-settings")
    assert asked.claim == "new-runs"
    assert any("several datasets" in warning for warning in asked.warnings)


def test_two_facets_that_vary_together_are_one() -> None:
    data = grid()
    data["batch"] = [f"b{rate}" for rate in data["lr"]]
    both = compare_systems(data, facets=["lr", "batch", "seed"], claim="new-settings")
    assert both.contrasts[0].p == pytest.approx(compare(data, "new-settings").contrasts[0].p)
    assert both.test.statistic == pytest.approx(compare(data, "new-settings").test.statistic)


def test_a_setting_cannot_be_shared() -> None:
    with pytest.raises(ScoresError, match="--shared lr: 'lr' is a setting") as raised:
        compare_systems(grid((0.0, 0.01)), facets=["lr", "seed"], shared=["lr"])
    assert "--replicates lr" in str(raised.value)
    named = compare_systems(grid(plain=SEEDS), facets=["lr"], replicates=["seed"], shared=["seed"])
    assert named.claim == "new-runs"


def test_settings_keep_their_weight_over_datasets() -> None:
    """Twice as many seeds of one rate: its weight stays a half."""
    data = pa.table(grid((-0.1, 0.1), plain=4)).to_pandas()
    data["dataset"] = "d" + (data["item"] // 10).astype(str)
    data = data[(data.system == "plain") | (data.lr == "r0") | (data.seed < 2)]
    found = compare_systems(data, facets=["lr", "seed"])
    by = (
        data.groupby(["system", "lr", "dataset"]).score.mean().groupby(["system", "lr"]).mean().groupby("system").mean()
    )
    assert found.contrasts[0].difference == pytest.approx(by[found.contrasts[0].left] - by[found.contrasts[0].right])


def test_two_levels_of_a_facet_are_said_to_tell_next_to_nothing_about_new_ones() -> None:
    line = "Two levels of lr in grid say next to nothing about new ones. Three are a start."
    assert line in compare(grid((0.0, 0.01)), "new-settings").warnings
    assert line not in compare(grid((0.0, 0.01))).warnings  # new runs do not draw them
    assert line not in compare(grid(), "new-settings").warnings


def test_advice_on_paired_seeds_counts_the_seeds_that_both_systems_have() -> None:
    """Three rates x four shared seeds are four seeds, not twelve: the parts must give back the standard error."""
    data = grid(plain=SEEDS)
    evaluation = lay_out(holdsup.read_scores(data, facets=["lr", "seed"], shared=["seed"]))[0]
    pair = pair_systems(evaluation, "grid", "plain", "new-runs", level=0.95)
    plan = plan_pair(evaluation, "grid", "plain")
    assert pair.rule is Rule.SEEDS
    assert plan.runs == (SEEDS,)
    assert total_variance([plan.planned()]) ** 0.5 == pytest.approx(pair.difference.se, rel=1e-6)


def test_runs_that_items_do_not_interact_with_have_a_mean_though_cells_are_missing() -> None:
    """What is left of each cell is rounding, which missing cells can turn below zero."""
    rows = {"A": ["3--", "3-3", "3-3", "323", "3-3"], "B": ["433", "43-", "4-3", "433", "433"]}
    rows["C"] = ["44-", "445", "445", "445", "445"]
    table = [
        {"system": system, "dataset": f"d{i}", "seed": seed, "score": float(score)}
        for system, lines in rows.items()
        for i, line in enumerate(lines)
        for seed, score in enumerate(line)
        if score != "-"
    ]
    with np.errstate(all="raise", under="ignore"):
        found = compare_systems(table)
    assert {mean.name: round(mean.mean, 6) for mean in found.systems}["C"] == pytest.approx(13 / 3, abs=1e-6)
