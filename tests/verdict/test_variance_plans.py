"""What is planned from the components: decision studies, differences, facets by properties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import holdsup
from holdsup.errors import ScoresError
from holdsup.verdict.advice import Parts
from holdsup.verdict.study import Study
from holdsup.verdict.study_differences import PairStudy

BRENNAN = Study(
    item="item",
    items=10,
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
    nested = Study("item", 10, {("item",): 4.0, ("lr",): 1.0, ("seed",): 2.0, (): 6.0}, {"lr": 3, "seed": 9},
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

PARTS = Parts(runs=(5, 5), items=1000, run=(1e-4, 1e-4), item=0.02, residual=(0.01, 0.01))


def pair(parts: Parts = PARTS, facets: tuple[tuple[float, int], ...] = ()) -> PairStudy:
    return PairStudy("B", "A", None, parts, (1, 1), facets)


def test_the_standard_error_of_a_plan_is_that_of_its_parts() -> None:
    plans = list(pair().plans())
    now = plans[0]
    assert now.current
    assert now.se == pytest.approx(math.sqrt(2 * (1e-4 + 0.01 / 1000) / 5 + 0.02 / 1000))
    more = next(plan for plan in plans if plan.left_runs == 8)
    assert more.se == pytest.approx(math.sqrt(2 * (1e-4 + 0.01 / 1000) / 8 + 0.02 / 1000))
    larger = next(plan for plan in plans if plan.items == 10_000)
    assert larger.se == pytest.approx(math.sqrt(2 * (1e-4 + 0.01 / 10_000) / 5 + 0.02 / 10_000))


def test_a_detectable_difference_has_a_power_of_four_in_five() -> None:
    plan = next(iter(pair().plans()))
    critical = stats.t.ppf(0.975, plan.df)
    assert stats.norm.sf(critical - plan.detectable / plan.se) == pytest.approx(0.8, abs=1e-9)
    assert 8 < plan.df < 1000  # most of the variance is between two times five runs


def test_settings_are_averaged_over_when_they_are_drawn() -> None:
    found = list(pair(facets=((0.003, 3),)).plans())
    now = {plan.claim: plan for plan in found if plan.current}
    assert now["new-settings"].se ** 2 - now["new-runs"].se ** 2 == pytest.approx(0.003 / 3)
    double = next(plan for plan in found if plan.left_settings == 2)
    assert double.left_runs == 10
    assert double.se == pytest.approx(math.sqrt(2 * (1e-4 + 1e-5) / 10 + 2e-5 + 0.003 / 6))


def test_the_sentence_says_how_many_items_three_runs_are_worth() -> None:
    few = Parts(runs=(5, 5), items=1000, run=(1e-6, 1e-6), item=0.02, residual=(0.05, 0.05))
    said = pair(few).sentence()
    wanted = few.standard_error((8, 8))
    words = said.split()
    more = int(words[words.index("more", words.index("much")) - 1].replace(",", ""))
    assert few.standard_error(items=1000 + more) <= wanted < few.standard_error(items=1000 + more - 1)
    noisy = Parts(runs=(5, 5), items=1000, run=(1e-4, 1e-4), item=0.002, residual=(0.01, 0.01))
    assert noisy.standard_error((8, 8)) < noisy.standard_error(items=10**12)
    assert pair(noisy).sentence().endswith("no number of items does.")


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


def test_classes_in_which_levels_differ_are_found() -> None:
    found = holdsup.decompose_variance(sloped([0.0, 0.02, 0.05]), facets=["lr", "seed"], by=["kind"])
    by = {f.facet: f for f in found.properties}
    assert by["lr"].p < 0.05 < by["seed"].p
    assert by["lr"].slope is None
    means = {(p.level, p.value): p.mean for p in by["lr"].points}
    gaps = [means[f"lr{i}", "long"] - means[f"lr{i}", "short"] for i in range(3)]
    assert gaps == sorted(gaps)
    assert gaps[2] - gaps[0] == pytest.approx(0.05 * 20, abs=0.3)  # long items are about 20 longer


def test_properties_need_items() -> None:
    table = {"lr": ["1", "1", "2", "2"], "accuracy": [1.0, 2, 3, 5], "system": ["A"] * 4, "length": [1.0, 2, 3, 4]}
    with pytest.raises(ScoresError, match="--by length: there is no column of items"):
        holdsup.decompose_variance(table, facets=["lr"], by="length")
