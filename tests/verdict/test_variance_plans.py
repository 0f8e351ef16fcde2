"""What is planned from the components: decision studies, differences, facets by properties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import holdsup
from holdsup.errors import ScoresError
from holdsup.numerics.power import find_detectable
from holdsup.numerics.settings import FacetPart
from holdsup.numerics.spread import Spread, total_variance
from holdsup.verdict.claims import pair_systems
from holdsup.verdict.evaluation import lay_out
from holdsup.verdict.planning import PairPlan
from holdsup.verdict.variance.study import Study, list_plans, say_worth

Facets = tuple[tuple[FacetPart, ...], ...]
BRENNAN = Study(
    objects={"item": 10},
    variances={("item",): 4.0, ("r",): 1.0, ("o",): 2.0, ("item", "r"): 3.0, ("r", "o"): 0.5, (): 6.0},
    facets={"r": 4, "o": 2},
    hosts={"r": frozenset(), "o": frozenset()},
)


def test_a_decision_study_divides_each_variance_by_its_levels() -> None:
    counts = {"r": 3, "o": 5}
    error = 1 / 3 + 2 / 5 + 3 / 3 + 0.5 / 15 + 6 / 15
    assert BRENNAN.error(counts) == pytest.approx(error)
    assert BRENNAN.phi(counts) == pytest.approx(4 / (4 + error))
    mean = 4 / 10 + 1 / 3 + 2 / 5 + 3 / 3 / 10 + 0.5 / 15 + 6 / 15 / 10
    assert BRENNAN.standard_error(counts) == pytest.approx(math.sqrt(mean))


def test_a_nested_facet_has_at_least_the_levels_of_its_host() -> None:
    nested = Study({"item": 10}, {("item",): 4.0, ("lr",): 1.0, ("seed",): 2.0, (): 6.0}, {"lr": 3, "seed": 9},
                   {"lr": frozenset(), "seed": frozenset({"lr"})})  # fmt: skip
    assert {"lr": 5, "seed": 5} in list(nested.plans({}))
    assert {"lr": 1, "seed": 5} in list(nested.plans({}))
    assert nested.divisor((), {"lr": 3, "seed": 9}) == 9  # runs: seeds lie within learning rates


def test_seeds_of_their_own_for_each_setting_are_found_to_be_nested() -> None:
    rng = np.random.default_rng(0)
    lr, seed, item = (axis.ravel() for axis in np.indices((3, 3, 20)))
    table = {"lr": lr, "seed": 10 * lr + seed, "item": item, "score": rng.normal(size=180), "system": ["A"] * 180}
    found = holdsup.decompose_variance(table, facets=["lr", "seed"])
    current = next(plan for plan in found.study if plan.current)
    components = {c.name: c.variance for c in found.components}
    error = components["lr"] / 3 + components["seed"] / 9 + components["Residual"] / 9
    assert current.se == pytest.approx(math.sqrt(error))


def test_phi_of_one_level_each_is_the_reliability() -> None:
    found = holdsup.decompose_variance(holdsup.simulate_scores({"A": 0.7}, items=50, runs=4))
    single = next(plan for plan in found.study if set(plan.counts.values()) == {1})
    assert found.reliability is not None
    assert single.phi == pytest.approx(found.reliability.phi)
    assert [plan.counts["seed"] for plan in found.study if plan.current] == [4]


@pytest.mark.parametrize("levels", [{"nobody": [3]}, {"seed": [0]}, {"seed": []}, {"seed": [1.5]}])
def test_impossible_numbers_of_levels_are_refused(levels: dict[str, Any]) -> None:
    table = holdsup.simulate_scores({"A": 0.7}, items=20, runs=3)
    with pytest.raises(ScoresError, match=r"levels"):
        holdsup.decompose_variance(table, levels=levels)


# Two systems


def pair(run: float = 1e-4, item: float = 0.02, residual: float = 0.01, facets: Facets = ((), ())) -> PairPlan:
    """Two systems, five runs each on 1,000 items, with these variances."""
    runs, items = 5, 1000
    noise = residual / runs / items
    spread = Spread(
        estimate=np.zeros(()), these=np.asarray(item / items + 2 * noise), item_df=items - 1.0,
        runs=(np.asarray(run / runs + noise),) * 2, noise=(np.asarray(noise),) * 2, run_df=(runs - 1,) * 2,
    )  # fmt: skip
    settings = tuple(math.prod(facet.df + 1 for facet in own) for own in facets)
    return PairPlan("B", "A", None, spread, items, (runs, runs), settings, facets)


def test_the_standard_error_of_a_plan_is_that_of_its_parts() -> None:
    plans = list(list_plans(pair()))
    now = plans[0]
    assert now.current
    assert now.se == pytest.approx(math.sqrt(2 * (1e-4 + 0.01 / 1000) / 5 + 0.02 / 1000))
    more = next(plan for plan in plans if plan.left_runs == 8)
    assert more.se == pytest.approx(math.sqrt(2 * (1e-4 + 0.01 / 1000) / 8 + 0.02 / 1000))
    larger = next(plan for plan in plans if plan.items == 10_000)
    assert larger.se == pytest.approx(math.sqrt(2 * (1e-4 + 0.01 / 10_000) / 5 + 0.02 / 10_000))


def test_a_detectable_difference_is_that_of_the_cautious_test() -> None:
    """Not less than the quantiles of t at the planned df say: the standard error is measured, too."""
    plan = next(list_plans(pair()))
    assert plan.detectable == pytest.approx(find_detectable(pair().spread, 0.05))
    quantiles = stats.t.ppf(0.975, plan.df) + stats.t.ppf(0.8, plan.df)
    assert 1 < plan.detectable / (quantiles * plan.se) < 1.1
    share = 1e-4 / 5 + 0.01 / 5000  # of the runs of each
    assert 8 < plan.df < plan.se**4 / (2 * share**2 / 4)  # cautious: fewer than Satterthwaite's, known items or not


def test_settings_are_averaged_over_when_they_are_drawn() -> None:
    facet = FacetPart(np.asarray(0.003 / 3 + (1e-4 + 1e-5) / 5), 2, 1 / 3)  # variance .003, and that of the runs
    found = list(list_plans(pair(facets=((facet,), ()))))
    now = {plan.claim: plan for plan in found if plan.current}
    assert now["new-settings"].se ** 2 - now["new-runs"].se ** 2 == pytest.approx(0.003 / 3)
    double = next(plan for plan in found if plan.left_settings == 6)
    assert (double.left_runs, double.right_runs, double.right_settings) == (10, 5, 1)  # the other has none to add
    assert double.se == pytest.approx(math.sqrt((1e-4 + 1e-5) * (1 / 10 + 1 / 5) + 2e-5 + 0.003 / 6))


def test_a_grid_with_twice_as_many_levels_has_four_times_as_many_settings() -> None:
    facets = tuple(FacetPart(np.asarray(0.003 / n), n - 1, 1 / n) for n in (3, 2))
    plans = [plan for plan in list_plans(pair(facets=(facets, ()))) if plan.claim == "new-settings"]
    assert [(p.left_settings, p.right_settings) for p in plans][-2:] == [(24, 1), (96, 1)]


def test_the_sentence_says_how_many_items_three_runs_are_worth() -> None:
    few = pair(run=1e-6, residual=0.05)
    said = say_worth(few)
    wanted = _se(few.planned(more_runs=3))
    words = said.split()
    more = int(words[words.index("more", words.index("much")) - 1].replace(",", ""))
    assert _se(few.planned(items=1000 + more)) <= wanted < _se(few.planned(items=1000 + more - 1))
    noisy = pair(item=0.002)
    assert _se(noisy.planned(more_runs=3)) < _se(noisy.planned(items=10**12))
    assert say_worth(noisy).endswith("no number of items would.")


def _se(spread: Spread) -> float:
    return math.sqrt(total_variance([spread]))


DESIGNS: dict[str, dict[str, Any]] = {
    "plain": {}, "settings": {"facets": ["lr", "seed"]}, "clusters": {"cluster": "doc"},
    "shared seeds": {"facets": ["lr", "seed"], "shared": ["seed"]},
}  # fmt: skip


@pytest.mark.parametrize("claim", ["new-runs", "new-settings"])
@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_planned_now_is_what_compare_tests(design: str, claim: str) -> None:
    rng = np.random.default_rng(7)
    side, lr, seed, item = (axis.ravel() for axis in np.indices((2, 3 if "lr" in str(DESIGNS[design]) else 1, 4, 48)))
    score = rng.normal(0, 0.1, 48)[item] + rng.normal(0, 0.05, (2, 6))[side, item // 8]
    score += rng.normal(0, 0.05, (2, 3))[side, lr] + rng.normal(0, 0.04, (2, 3, 4))[side, lr, seed]
    table = {
        "system": np.array(["A", "B"])[side], "lr": lr, "seed": seed, "item": item, "doc": item // 8,
        "score": score + rng.normal(0, 0.05, len(score)),
    }  # fmt: skip
    kept = rng.random(len(score)) > 0.05  # some are missing
    scores = holdsup.read_scores(
        {name: column[kept] for name, column in table.items()}, **{"cluster": "-"} | DESIGNS[design]
    )
    plans = [plan for plan in holdsup.decompose_variance(scores).differences if plan.current and plan.claim == claim]
    if claim == "new-settings" and design != "settings":
        assert not plans
        return
    (plan,) = plans
    found = pair_systems(lay_out(scores)[0], plan.left, plan.right, claim, level=0.95).difference
    assert found.claim == claim
    assert plan.se == pytest.approx(found.se, rel=1e-9)
    assert stats.t.ppf(0.975, plan.df) * plan.se == pytest.approx((found.high - found.low) / 2, rel=1e-6)


def test_several_datasets_have_no_plan_and_it_says_so() -> None:
    rows = [
        {"system": s, "seed": k, "dataset": d, "item": i, "score": ((7 * i + 3 * k + 5 * d + (s == "B")) % 11) / 11}
        for s in "AB" for k in range(3) for d in range(3) for i in range(9)
    ]  # fmt: skip
    found = holdsup.decompose_variance(rows)
    assert (found.differences, found.next) == ((), ())
    assert any(caution.code == "no-difference-plan" for caution in found.cautions)


def test_systems_without_items_in_common_have_no_plan_and_it_says_so() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"system": s, "seed": k, "item": f"{s}{i}", "score": rng.normal()}
        for s in "AB"
        for k in range(3)
        for i in range(9)
    ]
    found = holdsup.decompose_variance(rows)
    assert found.differences == ()
    assert any("fewer than two items in common" in warning for warning in found.warnings)


def test_parts_of_two_systems_come_from_their_own_scores() -> None:
    table = holdsup.simulate_scores({"A": 0.7, "B": 0.75}, items=60, runs=4, seed=3)
    found = holdsup.decompose_variance(table)
    y = {
        name: np.array([row["score"] for row in table.to_pylist() if row["system"] == name]).reshape(4, 60)
        for name in "AB"
    }
    between = sum(grid.mean(1).var(ddof=1) / 4 for grid in y.values())
    within = [((g - g.mean(0) - g.mean(1)[:, None] + g.mean()) ** 2).sum() / (59 * 3) for g in y.values()]
    items = (y["B"].mean(0) - y["A"].mean(0)).var(ddof=1) / 60 - sum(within) / (4 * 60)
    now = next(plan for plan in found.differences if plan.current)
    assert (now.left, now.right, now.items, now.left_runs) == ("B", "A", 60, 4)
    assert items > 0
    assert now.se == pytest.approx(math.sqrt(between + items), rel=1e-9)
    assert found.next[0].startswith("B and A: three more runs of each system")


# Facets by properties


def sloped(slopes: list[float], seed: int = 0) -> dict[str, Any]:
    """A table in which the score rises with the length of an item, at a slope that depends on the learning rate."""
    rng = np.random.default_rng(seed)
    lr, run, item = (axis.ravel() for axis in np.indices((len(slopes), 2, 80)))
    length = rng.uniform(10, 50, 80)
    score = rng.normal(0, 1, 80)[item] + np.array(slopes)[lr] * length[item] + rng.normal(0, 0.3, len(item))
    return {
        "score": score, "item": item, "lr": [f"lr{i}" for i in lr], "seed": run, "system": ["A"] * len(item),
        "length": length[item], "kind": np.where(length[item] > 30, "long", "short"),
    }  # fmt: skip


def test_the_rows_of_a_line_come_from_one_model() -> None:
    """Three values of the property, one line: with a model for each value they would not lie on it."""
    found = holdsup.decompose_variance(sloped([0.0, 0.02, 0.05]), facets=["lr", "seed"], by="length")
    by = next(f for f in found.properties if f.facet == "lr")
    assert "(1 + length | run)" in by.model
    for level in ("lr0", "lr1", "lr2"):
        first, middle, last = (p for p in by.points if p.level == level)
        share = (middle.value - first.value) / (last.value - first.value)  # type: ignore[operator]
        assert middle.mean == pytest.approx((1 - share) * first.mean + share * last.mean, abs=1e-9)


def test_the_published_interaction_stands_beside_ours() -> None:
    table = sloped([0.0, 0.02, 0.05])
    found = holdsup.decompose_variance(table, facets=["lr", "seed"], by="length")
    by = next(f for f in found.properties if f.facet == "lr")
    assert by.paper is not None
    columns = {name: table[name] for name in ("score", "length", "lr", "item", "seed")}
    small, large = (
        holdsup.fit_lmm(f"score ~ lr {sign} length + (1 | item) + (1 | seed)", columns, "ml") for sign in "+*"
    )
    assert by.paper.statistic == pytest.approx(small.criterion - large.criterion, rel=1e-5)
    assert (by.paper.df, by.paper.p) == (2, pytest.approx(stats.chi2.sf(by.paper.statistic, 2), rel=1e-6))
    assert "p published" in found.page().text()


@pytest.mark.slow
def test_limits_of_lines_cover_where_levels_hardly_differ() -> None:
    """Random lines drawn to their mean covered 73 of 100 here: runs differ more than levels do."""
    rng, covered = np.random.default_rng(4), []
    level, run, item = (axis.ravel() for axis in np.indices((4, 3, 60)))
    for _ in range(40):
        x, own, slope = rng.normal(size=60), rng.normal(0, 0.05, 4), rng.normal(0, 0.02, 4)
        score = rng.normal(0, 0.5, 60)[item] + own[level] + slope[level] * x[item] + rng.normal(0, 0.3, len(item))
        score += rng.normal(0, 0.1, (4, 3))[level, run] + rng.normal(0, 0.06, (4, 3))[level, run] * x[item]
        table = {"system": ["A"] * len(item), "item": item, "lr": level, "seed": run + 3 * level, "x": x[item]}
        found = holdsup.decompose_variance({**table, "score": score}, facets=["lr", "seed"], by="x")
        points = next(f for f in found.properties if f.facet == "lr").points
        for value in {p.value for p in points}:
            here = [p for p in points if p.value == value]
            truth = np.array([own[int(p.level)] + slope[int(p.level)] * value for p in here])  # type: ignore[operator]
            mean = np.array([p.mean for p in here])
            off = np.abs(mean - mean.mean() - truth + truth.mean())
            covered.append(off <= [p.high - p.mean for p in here])
    assert np.mean(covered) > 0.9


def test_slopes_that_differ_between_levels_are_found_and_drawn() -> None:
    slopes = [0.0, 0.02, 0.05]
    found = holdsup.decompose_variance(sloped(slopes), facets=["lr", "seed"], by="length")
    by = {f.facet: f for f in found.properties}
    assert by["lr"].p < 0.01 < by["seed"].p
    assert by["lr"].slope == pytest.approx(np.mean(slopes), abs=0.02)
    for level, slope in enumerate(slopes):
        first, *_, last = (p for p in by["lr"].points if p.level == f"lr{level}")
        assert isinstance(first.value, float)
        assert isinstance(last.value, float)
        drawn = (last.mean - first.mean) / (last.value - first.value)
        assert drawn == pytest.approx(slope, abs=0.02)  # the items' own slope, which is chance, included
        assert last.low < last.mean < last.high
    titles = [table.title for table in found.tables()]
    assert "A: predicted score by lr and length" in titles
    assert "A: predicted score by seed and length" not in titles
    lines = next(table for table in found.tables() if table.title == "A: predicted score by lr and length")
    assert lines.notes == ("CI: how far a level is from the average of the levels.",)


def test_classes_in_which_levels_differ_are_found() -> None:
    found = holdsup.decompose_variance(sloped([0.0, 0.02, 0.05]), facets=["lr", "seed"], by=["kind"])
    by = {f.facet: f for f in found.properties}
    assert by["lr"].p < 0.05 < by["seed"].p
    assert by["lr"].slope is None
    means = {(p.level, p.value): p.mean for p in by["lr"].points}
    gaps = [means[f"lr{i}", "long"] - means[f"lr{i}", "short"] for i in range(3)]
    assert gaps == sorted(gaps)
    assert gaps[2] - gaps[0] == pytest.approx(0.05 * 20, abs=0.3)  # long items are about 20 longer


@pytest.mark.parametrize(
    ("asked", "role"), [("item", "item"), ("system", "system"), ("score", "score"), ("seed", "facet")]
)
def test_a_column_with_a_role_is_no_property(asked: str, role: str) -> None:
    with pytest.raises(ScoresError, match=f"--by {asked}: this column holds the {role}"):
        holdsup.decompose_variance(sloped([0.0, 0.02, 0.05]), facets=["lr", "seed"], by=asked)


def test_levels_and_classes_that_give_every_score_exactly_are_refused_in_the_users_words() -> None:
    item, seed = (axis.ravel() for axis in np.indices((20, 4)))
    table = {"item": item, "seed": seed, "system": ["A"] * 80, "kind": np.array(["x", "y"])[item % 2]}
    table["score"] = item / 100 + seed / 10 * (item % 2)
    with pytest.raises(ScoresError, match="--by kind: items, seed and kind give every score of 'A' exactly"):
        holdsup.decompose_variance(table, by="kind")


def test_properties_need_items() -> None:
    table = {"lr": ["1", "1", "2", "2"], "accuracy": [1.0, 2, 3, 5], "system": ["A"] * 4, "length": [1.0, 2, 3, 4]}
    with pytest.raises(ScoresError, match="--by length: a property describes items, and there is no column of items"):
        holdsup.decompose_variance(table, facets=["lr"], by="length")
