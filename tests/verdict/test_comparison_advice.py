"""What `compare_systems` says to do next: as many runs, items or settings as its own test needs."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from holdsup import compare_systems, read_scores, simulate_scores
from holdsup.verdict.evaluation import lay_out
from holdsup.verdict.planning import plan_pair


def simulated(
    *, better: float = 0.713, items: int = 60, runs: int = 4, seed: int = 3, sd_run: float = 0.002
) -> pd.DataFrame:
    """B is better than A, and it cannot be told."""
    truth = {"A": 0.70, "B": better}
    frame: pd.DataFrame = simulate_scores(truth, items=items, runs=runs, seed=seed, sd_run=sd_run).to_pandas()
    return frame


def number(text: str, pattern: str) -> int:
    found = re.search(pattern, text)
    assert found is not None, text
    return int(found[1].replace(",", ""))


def test_runs_are_the_fewest_that_find_the_difference_four_times_in_five() -> None:
    frame = simulated()
    found = compare_systems(frame)
    advice = found.next[0]
    size, runs = abs(found.contrasts[0].difference), number(advice, r"(\d+) more run")
    plan = plan_pair(lay_out(read_scores(frame))[0], "B", "A")
    assert plan.detectable(0.05, more_runs=runs) <= size < plan.detectable(0.05, more_runs=runs - 1)


def test_items_are_the_fewest_that_find_the_difference_four_times_in_five() -> None:
    frame = simulated(better=0.708, runs=8, seed=2)
    found = compare_systems(frame)
    advice = found.next[0]
    size, items = abs(found.contrasts[0].difference), number(advice, r"\(([\d,]+) in all\)")
    plan = plan_pair(lay_out(read_scores(frame))[0], "B", "A")
    assert plan.detectable(0.05, items=items) <= size < plan.detectable(0.05, items=items - 1)


def test_the_items_of_these_runs_are_those_of_the_noncentral_t() -> None:
    found = compare_systems(simulated(better=0.708, runs=1, seed=6))
    (c,) = found.contrasts
    assert c.p > 0.05
    items = number(found.next[0], r"more items \(([\d,]+) in all\)")
    effect = abs(c.difference) / (c.se * np.sqrt(60 / items))
    critical = stats.t.isf(0.025, items - 1)
    assert stats.nct.sf(critical, items - 1, effect) == pytest.approx(0.8, abs=0.005)


def test_several_tests_ask_for_more() -> None:
    frame = simulated()
    third = frame[frame.system == "A"].assign(system="C")
    alone, one_of_three = compare_systems(frame).next[0], compare_systems(pd.concat([frame, third])).next[0]
    assert number(one_of_three, r"(\d+) more run") > number(alone, r"(\d+) more run")


def test_items_that_come_in_clusters_are_to_come_in_new_ones() -> None:
    frame = simulated(better=0.708, runs=8, seed=2)
    frame["doc"] = frame["item"] % 12
    advice = compare_systems(frame).next[0]
    assert "more items in new documents of this size" in advice


def test_runs_that_are_tested_on_items_of_their_own_have_no_plan() -> None:
    frame = simulated(better=0.703, seed=0)
    held_out = pd.concat([part.sample(30, random_state=int(seed)) for (_, seed), part in
                          frame.groupby(["system", "seed"], observed=True)])  # fmt: skip
    found = compare_systems(held_out)
    assert found.contrasts[0].p > 0.05
    assert found.next == ()


def test_without_items_runs_are_counted() -> None:
    frame = simulated(better=0.703, seed=0).groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    found = compare_systems(frame)
    (advice,) = found.next
    assert "item" not in advice
    more = number(advice, r"(\d+) more run")
    plan = plan_pair(lay_out(read_scores(frame))[0], "B", "A")
    assert plan.detectable(0.05, more_runs=more) <= abs(found.contrasts[0].difference)


def test_more_levels_are_planned_over_new_settings() -> None:
    frame = simulated(runs=12, items=80, seed=6)
    frame["rate"] = np.where(frame.system == "A", "only", "r" + (frame.seed % 4).astype(str))
    frame.loc[frame.system == "B", "score"] += 0.05 * (frame.seed % 4)
    found = compare_systems(frame, facets=["rate", "seed"], claim="new-settings")
    (advice,) = found.next
    times = number(advice.replace("twice", "2 times"), r"(\d+) times as many levels of each facet")
    assert f"({4 * times} settings of B)" in advice


def test_two_datasets_are_named_as_what_is_lacking_and_one_can_be_asked_of() -> None:
    parts = [simulated(runs=3, seed=seed).assign(dataset=name) for seed, name in ((1, "news"), (51, "talks"))]
    found = compare_systems(pd.concat(parts))
    assert "datasets can't tell how far off" in found.verdict
    assert found.next[0].endswith("or ask about one: --where dataset=news")
    one = compare_systems(pd.concat(parts), where={"dataset": "news"})
    assert one.contrasts == compare_systems(parts[0].drop(columns="dataset")).contrasts
    assert one.rows.reasons == {"another dataset than news": 360}
    assert (one.rows.planned, one.rows.used) == (720, 360)
    assert "|where:dataset=news|" in one.signature


def test_seeds_that_recur_in_all_systems_may_be_shared_and_the_advice_says_so() -> None:
    frame = simulated()
    hint = "if each seed means the same in all systems, such as one order of the data, --shared seed pairs their runs"
    assert hint in compare_systems(frame).next[1]
    paired = compare_systems(frame, shared="seed")
    assert "shared seeds" in paired.contrasts[0].p_method
    for other in (
        paired,
        compare_systems(frame.assign(seed=frame.seed + 9 * (frame.system == "B"))),  # labels of their own
        compare_systems(frame.assign(seed=frame.seed + 3 * (frame.system == "B"))),  # one in common is no pair
        compare_systems(frame, claim="these-runs"),
        compare_systems(frame.groupby(["system", "seed"], observed=True).score.mean().reset_index()),
        compare_systems(pd.concat([frame.assign(dataset=name) for name in "XYZ"])),
    ):
        assert not any("--shared" in line for line in (*other.next, *other.warnings))
