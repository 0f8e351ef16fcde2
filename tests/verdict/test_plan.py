"""What an evaluation needs: designs that keep their promise, from what is known or from a pilot; what is refused."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy import stats

import holdsup
from holdsup import plan_evaluation, simulate_scores
from holdsup.errors import ScoresError
from holdsup.numerics.differences import compare_new_runs
from holdsup.numerics.looks import find_levels
from holdsup.numerics.power import find_power, pool_systems, share_level
from holdsup.numerics.spread import Spread, total_variance
from holdsup.results import read_result, schema_of
from holdsup.verdict.evaluation import lay_out
from holdsup.verdict.plan import search
from holdsup.verdict.plan.basis import find_basis, read_pilot
from holdsup.verdict.planning import plan_pair

Run = Callable[..., Any]
PILOT = simulate_scores({"A": 0.7, "B": 0.7}, items=80, runs=4, sd_system_item=0.1, sd_residual=0.1, seed=2)
KNOWN: dict[str, Any] = {"sd_run": 0.004, "accuracy": 0.82, "disagreement": 0.15, "new_share": 0.5}


def test_items_of_one_run_each_are_those_of_the_noncentral_t() -> None:
    plan = plan_evaluation(detect=0.05, sd_item=0.3, claim="these-runs", runs=1)

    def power(items: int) -> float:
        critical = stats.t.isf(0.025, items - 1)
        return float(stats.nct.sf(critical, items - 1, 0.05 * math.sqrt(items) / 0.3))

    (best,) = plan.designs
    assert best.items is not None
    assert power(best.items) >= 0.795
    assert power(best.items - 4) < 0.8


def test_right_or_wrong_once_is_planned_by_the_score_test_itself() -> None:
    """By adding up the probabilities of all wins and losses on 60 items."""
    plan = plan_evaluation(detect=0.2, disagreement=0.3, claim="these-runs", runs=1, items=60)
    share = (0.3 + 0.2) / 2
    exact = sum(
        stats.multinomial.pmf([b, c, 60 - b - c], 60, [share, 0.3 - share, 0.7])
        for b, c in itertools.product(range(61), repeat=2)
        if b + c <= 60 and (b - c) / math.sqrt(b + c + 1) >= stats.norm.isf(0.025)
    )
    assert plan.designs[0].power == pytest.approx(exact, abs=0.005)


def test_equivalence_of_many_items_is_that_of_two_one_sided_z_tests() -> None:
    plan = plan_evaluation(margin=0.02, sd_item=0.4, claim="these-runs", runs=1, items=4000)
    wanted = 2 * stats.norm.cdf(0.02 / (0.4 / math.sqrt(4000)) - stats.norm.isf(0.05)) - 1
    assert plan.designs[0].power == pytest.approx(wanted, abs=0.003)


def test_over_datasets_pairs_have_the_t_test_of_datasets_by_bonferroni() -> None:
    plan = plan_evaluation(detect=0.03, datasets=40, sd_dataset=0.05, sd_run=0.02, runs=4, systems=3)
    (best,) = plan.designs
    se = math.sqrt((0.05**2 + 2 * 0.02**2 / 4) / 40)
    critical = stats.t.isf(0.05 / 6, 39)
    assert (best.items, best.datasets, plan.claim) == (None, 40, "new-datasets")
    assert best.power == pytest.approx(stats.nct.sf(critical, 39, 0.03 / se), abs=0.005)


def test_runs_that_vary_put_a_difference_out_of_reach_of_any_number_of_items() -> None:
    plan = plan_evaluation(detect=0.01, sd_run=0.006, sd_item=0.3, runs=(2, 5))
    assert (plan.state, plan.reachable, plan.beyond is None) == ("no", False, False)
    assert plan.fewest_runs is not None
    assert plan.fewest_runs > 5
    assert "won't do" in str(plan)
    for runs, enough in ((plan.fewest_runs - 1, False), (plan.fewest_runs, True)):
        many = plan_evaluation(detect=0.01, sd_run=0.006, sd_item=0.3, runs=runs, items=10_000_000)
        assert many.reachable == enough


def test_the_cheapest_design_is_the_cheapest() -> None:
    plan = plan_evaluation(detect=0.02, cost_run=40, cost_item=0.02, runs=(2, 8), **KNOWN)
    best = plan.designs[0]
    assert best.items is not None
    assert best.cost == pytest.approx(2 * best.runs * (40 + 0.02 * best.items))
    costs = []
    for runs in range(2, 9):
        alone = plan_evaluation(detect=0.02, cost_run=40, cost_item=0.02, runs=runs, **KNOWN)
        costs += [d.cost for d in alone.designs if d.reaches]
    assert best.cost == min(costs)
    fewer = plan_evaluation(detect=0.02, runs=best.runs, items=best.items - 1, **KNOWN)
    assert fewer.designs[0].power is not None
    assert fewer.designs[0].power < 0.8 <= (best.power or 0)


def test_no_number_of_runs_is_passed_over() -> None:
    plan = plan_evaluation(detect=0.01, cost_run=1, cost_item=0.1, runs=(2, 80), sd_run=0.012, sd_item=0.2)
    assert plan.designs[0].runs not in (25, 30, 40, 50, 75)
    beside = [
        plan_evaluation(detect=0.01, cost_run=1, cost_item=0.1, runs=k, sd_run=0.012, sd_item=0.2).designs[0].cost
        for k in (plan.designs[0].runs - 1, plan.designs[0].runs, plan.designs[0].runs + 1)
    ]
    assert plan.designs[0].cost == beside[1] == min(beside)


def test_a_budget_that_does_not_reach_says_what_it_buys_and_what_would_do() -> None:
    plan = plan_evaluation(detect=0.02, cost_run=40, cost_item=0.02, budget=500, **KNOWN)
    assert plan.state == "no"
    assert plan.designs[0].cost is not None
    within = [d for d in plan.designs if d.cost is not None and d.cost <= 500]
    assert within
    assert not any(d.reaches for d in plan.designs)
    assert plan.beyond is not None
    assert plan_evaluation(detect=0.02, cost_run=40, budget=5, **KNOWN).headline.endswith("the smallest design.")


def test_more_systems_need_more_and_keep_their_pairs_together() -> None:
    needed = [
        plan_evaluation(detect=0.03, systems=n, runs=4, **KNOWN).designs[0].items or 0 for n in (2, 3, 6)
    ]  # fmt: skip
    assert needed[0] < needed[1] < needed[2]


@pytest.mark.parametrize(("systems", "most"), [(5, 20), (45, 8)])
def test_the_level_of_several_pairs_is_drawn_a_few_times_in_a_search(
    systems: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def draw(spread: Spread, count: int, alpha: float) -> float:
        drawn.append(count)
        return 2 * alpha / math.comb(count, 2)

    monkeypatch.setattr(search, "share_level", draw)
    assert plan_evaluation(detect=0.02, systems=systems, **KNOWN).state == "yes"
    assert 0 < len(drawn) <= most


@pytest.mark.parametrize("systems", [3, 10])
def test_designs_between_the_drawn_levels_have_their_power(systems: int) -> None:
    """By a level that is drawn for the design itself."""
    known = {"sd_run": 0.005, "disagreement": 0.16, "new_share": 0.5}
    basis = find_basis(known, difference=0.02, datasets=False, new_runs=True, reliability=False)
    for design in plan_evaluation(detect=0.02, systems=systems, **known).designs:
        if design.runs in (6, 8, 15):
            spread = basis.at(design.runs, design.items, sure=True)
            level = share_level(spread, systems, 0.05)
            assert design.power == pytest.approx(find_power(pool_systems(spread, systems), 0.02, level), abs=0.02)


def test_what_is_assumed_is_named_and_what_is_typical_is_a_caution() -> None:
    plan = plan_evaluation(detect=0.02)
    assert {name: one.source for name, one in plan.assumptions.items()} == dict.fromkeys(
        ("accuracy", "disagreement", "new_share", "sd_run"), "typical"
    )
    (caution,) = (each for each in plan.cautions if each.code == "typical-values")
    assert all(name in caution.message for name in ("accuracy", "disagreement", "new-share", "sd-run"))
    assert str(plan).count("(typical)") == 4
    assert not plan_evaluation(detect=0.02, **KNOWN).cautions


# From a pilot


def pilot_of(scores: Any, **options: Any) -> Any:
    return lay_out(holdsup.read_scores(scores, **options))[0]


def test_a_plan_of_what_there_is_has_the_variance_that_compare_finds() -> None:
    """With as many runs and items as the pilot has: one calculation for the plan, the advice and the test."""
    evaluation = pilot_of(PILOT)
    basis = read_pilot(evaluation, datasets=False, claim="new-runs", sd_run=None)
    here = basis.at(4, 80, sure=False)
    assert float(total_variance([here])) == pytest.approx(
        float(total_variance([plan_pair(evaluation, "A", "B").spread])), rel=1e-9
    )


def test_the_upper_limit_is_above_the_truth_in_four_pilots_of_five() -> None:
    above = []
    for seed in range(120):
        table = simulate_scores(
            {"A": 0.7, "B": 0.7}, items=60, runs=3, sd_run=0.03, sd_system_item=0.1, sd_residual=0.1, seed=seed
        )
        basis = read_pilot(pilot_of(table), datasets=False, claim="new-runs", sd_run=None)
        truth = 2 * 0.03**2 / 6 + (2 * 0.1**2 + 2 * 0.1**2 / 6) / 300
        above.append(float(total_variance([basis.at(6, 300, sure=True)])) >= truth)
    assert 0.7 < np.mean(above) < 0.95  # 80%, and three standard errors; limits are a little cautious


@pytest.mark.parametrize("unlike", [9.0, 100.0])
def test_the_upper_limit_holds_where_the_runs_of_one_system_vary_more(unlike: float) -> None:
    rng, above = np.random.default_rng(8), []
    for _ in range(400):
        runs = rng.normal(0, 0.01 * np.sqrt([[unlike], [1.0]]), (2, 3))
        system, seed = (axis.ravel() for axis in np.indices((2, 3)))
        table = pa.table({"system": np.array(["A", "B"])[system], "seed": seed, "score": runs.ravel()})
        basis = read_pilot(pilot_of(table), datasets=False, claim="new-runs", sd_run=None)
        above.append(basis.found.run + basis.raise_run >= 0.01**2 * (unlike + 1) / 2)
    assert np.mean(above) > 0.8 - 3 * math.sqrt(0.16 / 400)


def test_items_of_several_datasets_are_planned_for_these_runs_by_the_test_of_compare() -> None:
    rng = np.random.default_rng(5)
    names, item, run = (axis.ravel() for axis in np.indices((2, 122, 3)))
    dataset = np.searchsorted([30, 110], np.arange(122), side="right")
    means = rng.normal(0, 0.1, (2, 122))[names, item] * (1 + dataset[item]) + 0.2 * dataset[item]
    table = pa.table({
        "system": np.array(["A", "B"])[names], "dataset": dataset[item], "item": item, "seed": run,
        "score": means + rng.normal(0, 0.1, len(item)),
    })  # fmt: skip
    found = holdsup.compare_systems(table, claim="these-runs").contrasts[0]
    basis = read_pilot(pilot_of(table), datasets=False, claim="these-runs", sd_run=None)
    assert math.sqrt(float(basis.at(3, 122, sure=False).these)) == pytest.approx(found.se, rel=1e-9)
    plan = plan_evaluation(table, detect=0.05, claim="these-runs")
    assert plan.state == "yes"
    assert "datasets-together" in {each.code for each in plan.cautions}
    with pytest.raises(ScoresError, match="the pilot has several datasets"):
        plan_evaluation(table, detect=0.05)


def test_a_pilot_of_few_runs_says_that_it_hardly_shows_how_they_vary() -> None:
    codes = [
        {
            each.code
            for each in plan_evaluation(
                simulate_scores({"A": 0.7, "B": 0.7}, items=40, runs=runs, sd_residual=0.1, seed=4), detect=0.1
            ).cautions
        }
        for runs in (2, 12)
    ]
    assert "small-pilot" in codes[0]
    assert "small-pilot" not in codes[1]


def test_a_pilot_is_planned_on_its_limits_and_unclear_where_these_decide() -> None:
    safe = plan_evaluation(PILOT, detect=0.05)
    assert safe.state == "yes"
    assert all(one.found is None or one.value > one.found for one in safe.assumptions.values())
    states = {plan_evaluation(PILOT, detect=d, items=200).state for d in (0.05, 0.03, 0.005)}
    assert states == {"yes", "unclear", "no"}


def test_systems_that_are_right_or_wrong_give_their_disagreement() -> None:
    rng = np.random.default_rng(0)
    right = rng.random((2, 400)) < 0.8
    system, item = (axis.ravel() for axis in np.indices((2, 400)))
    table = {"system": np.array(["A", "B"])[system], "item": item, "score": right.ravel().astype(int)}
    plan = plan_evaluation(table, detect=0.05, claim="these-runs")
    found = plan.assumptions["disagreement"]
    assert found.found == pytest.approx((right[0] != right[1]).mean(), abs=0.01)
    assert {design.runs for design in plan.designs} == {1}
    with pytest.raises(ScoresError, match="one run of each system"):
        plan_evaluation(table, detect=0.05)
    known = plan_evaluation(table, detect=0.05, sd_run=0.004)
    assert known.assumptions["sd_run"].source == "given"
    assert known.claim == "new-runs"


def test_percent_of_right_or_wrong_is_planned_as_shares_are() -> None:
    right = np.random.default_rng(0).random((2, 200)) < 0.8
    system, item = (axis.ravel() for axis in np.indices((2, 200)))
    table = {"system": np.array(["A", "B"])[system], "item": item, "score": right.ravel().astype(int)}
    shares = plan_evaluation(table, detect=0.08, claim="these-runs").designs[0]
    percent = plan_evaluation({**table, "score": 100 * table["score"]}, detect=8, claim="these-runs").designs[0]
    assert (percent.items, percent.power) == (shares.items, pytest.approx(shares.power))
    assert percent.half_width == pytest.approx(100 * (shares.half_width or 0))
    with pytest.raises(ScoresError, match="scores are 1 apart at most"):
        plan_evaluation(table, detect=8, claim="these-runs")


def test_shared_seeds_and_runs_without_items_have_designs_of_their_own() -> None:
    shared = plan_evaluation(PILOT, detect=0.05, shared=["seed"])
    assert shared.state == "yes"
    rng = np.random.default_rng(1)
    runs = {"system": ["A"] * 5 + ["B"] * 5, "seed": [*range(5), *range(5)], "score": rng.normal(0.7, 0.01, 10)}
    alone = plan_evaluation(runs, detect=0.03)
    assert alone.unit is None
    assert all(design.items is None for design in alone.designs)
    assert alone.curves[0].units is None


@pytest.mark.parametrize("nested", [True, False])
def test_datasets_of_a_pilot_have_runs_of_their_own_or_share_them(nested: bool) -> None:
    rng = np.random.default_rng(4)
    system, dataset, run = (axis.ravel() for axis in np.indices((2, 8, 3)))
    score = 0.7 + rng.normal(0, 0.05, (2, 8))[system, dataset] + rng.normal(0, 0.01, len(run))
    table = {
        "system": np.array(["A", "B"])[system], "dataset": [f"d{i}" for i in dataset], "seed": run, "score": score,
    }  # fmt: skip
    plan = plan_evaluation(table, detect=0.05, datasets=(5, 500), nested_runs=nested)
    assert plan.unit == "datasets"
    assert plan.state == "yes"
    assert ("sd_run" in plan.assumptions) == (not nested)
    with pytest.raises(ScoresError, match="several datasets"):
        plan_evaluation(table, detect=0.05)


def test_a_reliability_is_planned_as_variance_has_it() -> None:
    plan = plan_evaluation(PILOT, reliability=0.9)
    found = holdsup.decompose_variance(PILOT, levels={"seed": [3]}, level=0.6)
    phi = plan.assumptions["phi"]
    worst = min(found.reliabilities, key=lambda one: one.low)
    study = next(p for p in found.study if p.system == worst.system and p.counts == {"seed": 3})
    assert (phi.value, phi.found) == (pytest.approx(worst.low), pytest.approx(worst.phi))
    assert 3 * worst.phi / (1 + 2 * worst.phi) == pytest.approx(study.phi)
    first = plan.designs[0]
    assert first.reliability is not None
    assert first.reliability >= 0.9
    assert (first.runs - 1) * worst.low / (1 + (first.runs - 2) * worst.low) < 0.9
    assert first.items == 80
    assert plan_evaluation(reliability=0.9, accuracy=0.8).state == "yes"


# What it looks like

PLANS: dict[str, dict[str, Any]] = {
    "yes": {"detect": 0.02, **KNOWN},
    "priced": {"detect": 0.02, "cost_run": 40, "cost_item": 0.02, "budget": 2000, **KNOWN},
    "no": {"detect": 0.005, "items": (500, 5000), **KNOWN},
    "typical": {"detect": 0.01},
    "hopeless": {"detect": 0.0001, "sd_run": 0.3, "sd_item": 0.5, "items": (10, 100)},
    "margin": {"margin": 0.02, **KNOWN},
    "datasets": {"detect": 0.02, "datasets": (5, 60)},
    "reliability": {"reliability": 0.9, "accuracy": 0.8},
    "unreliable": {"reliability": 0.99, "accuracy": 0.8, "runs": (1, 3)},
    "pilot": {"data": PILOT, "detect": 0.05},
    "unclear": {"data": PILOT, "detect": 0.03, "items": 200},
    "systems": {"detect": 0.03, "systems": 4, **KNOWN},
}


@pytest.mark.parametrize("name", PLANS)
def test_an_answer_is_short_and_comes_back_from_its_json(name: str, tmp_path: Path) -> None:
    plan = plan_evaluation(**PLANS[name])
    assert len(plan.headline.split()) <= 25
    text = str(plan)
    assert len(text.splitlines()) <= 24
    assert text.splitlines()[-1] == plan.signature
    plan.write_json(tmp_path / "plan.json")
    plain = json.loads((tmp_path / "plan.json").read_text())
    jsonschema.validate(plain, schema_of(holdsup.EvaluationPlan))
    assert {"runs", "items", "power", "half_width", "cost"} <= set(plain["designs"][0])
    assert {"reachable", "assumptions", "state", "headline", "asked", "cautions", "signature"} <= set(plain)
    assert read_result(tmp_path / "plan.json").to_dict() == plan.to_dict()
    for written in (plan.answer().markdown(), plan.answer().latex(), plan.page().html(), plan.page().text()):
        assert plan.headline.split()[0] in written
    assert list(plan.to_frame(backend="pyarrow").column("runs").to_pylist()) == [d.runs for d in plan.designs]
    assert plan.describe_method().sentences


@pytest.mark.parametrize("name", ["yes", "typical", "margin", "datasets", "reliability"])
def test_the_command_that_an_answer_names_gives_it_again(run: Run, name: str) -> None:
    plan = plan_evaluation(**PLANS[name])
    command = plan.asked.command()
    assert command is not None
    done = run(*command.split()[1:])
    assert done.code == 0
    assert done.out == str(plan)


def test_a_pilot_on_the_command_line_gives_the_same_numbers(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "pilot.csv"
    pa.csv.write_csv(PILOT.set_column(0, "system", PILOT["system"].cast("string")), file)
    done = run("plan", file, "--detect", "0.05", "--items", "20..2000", "--format", "json", "--quiet")
    assert done.code == 0, done.err
    assert json.loads(done.out)["designs"] == plan_evaluation(PILOT, detect=0.05, items=(20, 2000)).to_dict()["designs"]


BAD: dict[str, tuple[list[str], str]] = {
    "detect zero": (["--detect", "0"], "--detect is 0.0: give a positive difference in the unit of the scores"),
    "detect negative": (["--detect", "-0.01"], "--detect is -0.01: give a positive difference"),
    "margin negative": (["--margin", "-1"], "the margin is -1.0: give a positive number"),
    "surest": (
        ["--detect", ".01", "--power", ".9999999"],
        "power is 0.9999999: no design is as sure as that, give 0.999 or less",
    ),
    "reliable": (["--reliability", ".999999"], "reliability is 0.999999: no design is as sure as that"),
    "huge detect": (["--detect", "1e100", "--sd-item", "1e101", "--sd-run", "1e99"], "--detect is 1e+100: give it in"),
    "huge run": (["--detect", ".02", "--sd-run", "1e300"], "--sd-run is 1e+300: give it in another unit"),
    "huge item": (["--detect", "2", "--sd-item", "1e300", "--sd-run", "1"], "--sd-item is 1e+300: give it in"),
    "huge cost": (["--detect", ".1", "--cost-run", "1e308"], "--cost-run is 1e+308: give it in another unit"),
    "many runs": (["--detect", ".1", "--runs", "2..99999999999999999999"], "plans are looked for up to 200, give no"),
    "many items": (["--detect", ".1", "--items", "99,000,000"], "plans are looked for up to 10,000,000, give no"),
    "too apart": (["--detect", ".02", "--accuracy", ".9", "--disagreement", ".9"], "differ on 0.2 of them at most"),
    "above one": (["--detect", ".3", "--accuracy", ".8", "--disagreement", ".5"], "differ on 0.4 of them at most"),
    "typical": (
        ["--detect", ".02", "--accuracy", ".99"],
        "but the typical disagreement, accuracy x (1 - accuracy), is",
    ),
    "sd": (["--detect", ".01", "--sd-run", "-1"], "--sd-run is -1.0; it must be a number, 0 or more"),
    "sd of nothing": (["--detect", ".01", "--sd-item", "0", "--sd-run", "1"], "where nothing varies"),
    "disagreement": (["--detect", ".2", "--disagreement", ".1"], "differ on 0.2 of the items or more"),
    "one run": (["--detect", ".01", "--runs", "1"], "--runs begins at 1: at least 2 are needed"),
    "budget": (["--detect", ".01", "--budget", "9"], "--budget without prices: say what a run or an item costs"),
    "costs": (["--detect", ".01", "--cost-run", "-2"], "--cost-run is -2.0; it must be a number, 0 or more"),
    "systems": (["--detect", ".01", "--systems", "1"], "systems is 1: two to 45 can be planned for"),
    "claim": (["--detect", ".01", "--claim", "all"], "the claim 'all' can't be planned for"),
    "both kinds": (["--detect", ".01", "--sd-item", ".1", "--accuracy", ".8"], "give one of them"),
    "scale": (["--detect", ".01", "--sd-item", ".1"], "--sd-item without --sd-run"),
    "units": (["--detect", ".01", "--items", "9", "--datasets", "9"], "can't both be planned"),
    "no pilot": (["--detect", ".01", "--score", "f1"], "--score is about a pilot, and there is none"),
    "datasets": (["--detect", ".01", "--sd-dataset", ".1"], "--sd-dataset is for planning datasets"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests_get_one_line(run: Run, name: str) -> None:
    options, line = BAD[name]
    done = run("plan", *options)
    assert done.code == 1
    assert line in " ".join(done.err.split())
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--items", "many"], "is neither a whole number nor a range such as 500..5000"),
        (["--runs", "2,5"], "'2,5' is neither a whole number nor a range"),
        (["--items", "1,0..2,0"], "'1,0..2,0' is neither a whole number nor a range"),
        (["--runs", "20..2"], "'20..2' is from more to fewer"),
        (["--accuracy", "82"], "82.0 is not in the range"),
        (["--power", "1.5"], "1.5 is not in the range"),
        (["--margin", ".01"], "--detect and --margin exclude each other"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_planned(run: Run, options: list[str], line: str) -> None:
    done = run("plan", "--detect", ".01", *options)
    assert done.code == 2
    assert line in " ".join(done.err.split())


def test_a_plan_without_a_goal_is_wrong_usage(run: Run) -> None:
    done = run("plan", "--items", "1,000..2,000")
    assert done.code == 2
    assert "a plan needs a goal" in done.err


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({}, "needs one goal, --detect, --margin or --reliability, and has none"),
        ({"detect": 0.1, "margin": 0.1}, "and has 2: leave out all but one"),
        ({"detect": 0.1, "items": (5000, 500)}, "--items is 5000..500, from more to fewer"),
        ({"detect": 0.1, "accuracy": 82}, "--accuracy is 82: give a share between 0 and 1"),
        ({"detect": 0.1, "power": 1.0}, "power is 1.0: no design is as sure as that, give 0.999 or less"),
        ({"reliability": 1.2}, "reliability is 1.2; it must be a number between 0 and 1"),
    ],
)
def test_python_is_told_the_same(asked: dict[str, Any], line: str) -> None:
    with pytest.raises(ScoresError, match=re.escape(line)):
        plan_evaluation(**asked)


def test_power_near_one_has_a_digit_more() -> None:
    plan = plan_evaluation(detect=0.05, power=0.995, sd_item=0.3, claim="these-runs", runs=1)
    assert plan.headline.endswith("99.5% power.")
    assert "with 99.5% power?" in str(plan)


@pytest.mark.filterwarnings("error")
def test_a_plan_is_the_same_in_any_unit() -> None:
    plain, large, small = (
        plan_evaluation(detect=unit, sd_item=10 * unit, sd_run=unit / 10, runs=(2, 5)) for unit in (1.0, 1e58, 1e-58)
    )
    assert [d.items for d in plain.designs] == [d.items for d in large.designs] == [d.items for d in small.designs]


@pytest.mark.parametrize("gap", [0.0, 0.1, 1.0])
def test_a_pilot_in_which_nothing_varies_is_refused(gap: float) -> None:
    rows = [
        {"system": s, "seed": k, "item": i, "score": 0.2 + (s == "B") * gap}
        for s in "AB"
        for k in (1, 2, 3)
        for i in range(9)
    ]
    with pytest.raises(ScoresError, match="nothing varies in the pilot: its systems differ by the same on each item"):
        plan_evaluation(rows, detect=0.1)
    with pytest.raises(ScoresError, match="nothing varies in the pilot"):
        plan_evaluation(rows, detect=0.1, claim="these-runs")
    alone = [{name: value for name, value in row.items() if name != "item"} for row in rows if row["item"] == 0]
    with pytest.raises(ScoresError, match="runs of each system have one and the same score"):
        plan_evaluation(alone, detect=0.1)


def _few(items: int, runs: int = 3, systems: str = "AB") -> Any:
    return simulate_scores(dict.fromkeys(systems, 0.7), items=items, runs=runs)


@pytest.mark.parametrize(
    ("table", "asked", "line"),
    [
        (_few(2), {}, "have 2 items in common: 3 or more are needed"),
        (_few(20, runs=1), {}, "one run of each system"),
        (_few(20, systems="A"), {}, "a pilot needs two systems"),
        (_few(20), {"accuracy": 0.8}, "--accuracy describes scores that aren't there yet"),
        (_few(20), {"datasets": 9}, "--datasets needs a pilot that has several datasets"),
        (_few(20, runs=1), {"claim": "these-runs", "runs": 3}, "only one run can be planned"),
    ],
)
def test_a_pilot_that_is_too_small_is_refused_in_words(table: Any, asked: dict[str, Any], line: str) -> None:
    with pytest.raises(ScoresError, match=line):
        plan_evaluation(table, detect=0.05, **asked)


def test_settings_and_metrics_are_planned_one_by_one() -> None:
    rows = [
        {"system": s, "lr": lr, "seed": k, "item": i, "score": ((7 * i + 3 * k + lr + (s == "B")) % 11) / 11}
        for s in "AB" for lr in (1, 2) for k in range(2) for i in range(9)
    ]  # fmt: skip
    with pytest.raises(ScoresError, match="differ in settings: plan for one setting"):
        plan_evaluation(rows, detect=0.05, facets=["lr", "seed"])
    with pytest.raises(ScoresError, match="has 2 metrics"):
        plan_evaluation([{**row, "metric": "m" if row["lr"] == 1 else "n"} for row in rows], detect=0.05, facets="seed")


def test_planned_looks_keep_their_power_though_they_stop_early() -> None:
    """Runs come in, compare looks at each planned number of them: the power is at least the promised, with fewer runs."""
    plan = plan_evaluation(detect=0.05, sd_run=0.02, sd_item=0.3, new_share=0.5, items=300, runs=(2, 20), looks=3)
    looks = plan.designs[0].looks
    assert (plan.state, len(looks), looks[-1]) == ("yes", 3, plan.designs[0].runs)
    shares = tuple(n / looks[-1] for n in looks)
    levels = find_levels(shares, 0.025)
    rng = np.random.default_rng(4)
    found, spent = 0, 0
    for _ in range(300):
        item = rng.normal(0, 0.3 * math.sqrt(0.5), (300, 1))  # the half of item differences that stays
        noise = rng.normal(0, 0.3 * math.sqrt(0.5 / 2), (2, 300, looks[-1]))
        a, b = noise + rng.normal(0, 0.02, (2, 1, looks[-1]))
        for level, n in zip(levels, looks, strict=True):
            spent += n - (0 if n == looks[0] else looks[looks.index(n) - 1])
            if compare_new_runs(a[:, :n] + item + 0.05, b[:, :n], level=1 - 2 * level).low > 0:
                found += 1
                break
    assert found / 300 > 0.8 - 3 * math.sqrt(0.8 * 0.2 / 300)
    assert spent / 300 < 0.9 * looks[-1]


@pytest.mark.parametrize(
    ("more", "why"),
    [({"looks": 0}, "looks"), ({"looks": 11}, "plan one to 10"), ({"looks": 2, "systems": 3}, "the difference of two"),
     ({"looks": 2, "claim": "these-runs"}, "over new runs"), ({"looks": 2, "datasets": (5, 50)}, "--datasets")],
)  # fmt: skip
def test_looks_that_compare_does_not_take_are_refused(more: dict[str, Any], why: str) -> None:
    known = {} if "datasets" in more else KNOWN
    with pytest.raises(ScoresError, match=why):
        plan_evaluation(detect=0.02, **known, **more)


def test_samples_of_an_item_are_planned_as_they_were_averaged() -> None:
    rng = np.random.default_rng(1)
    cells = [(s, i, k) for s in "AB" for i in range(40) for k in range(8)]
    table: dict[str, Any] = dict(zip(("system", "item", "sample"), map(list, zip(*cells, strict=True)), strict=True))
    table["passed"] = [float(rng.random() < 0.3 + 0.4 * (i % 2)) for _, i, _ in cells]
    found = plan_evaluation(table, detect=0.05, claim="these-runs")
    assert "disagreement" not in found.assumptions
    assert "8 samples of each item" in next(c.message for c in found.cautions if c.code == "planned-samples")
