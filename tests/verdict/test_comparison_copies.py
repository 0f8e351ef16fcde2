"""Runs that are copies of each other count as one, wherever runs are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import compare_systems, decompose_variance, simulate_scores
from holdsup.verdict.repeats import COPY


def simulated(systems: str = "AB", *, items: int = 40, runs: int = 3, seed: int = 3) -> pd.DataFrame:
    truth = {name: 0.70 + number / 50 for number, name in enumerate(systems)}
    frame: pd.DataFrame = simulate_scores(truth, items=items, runs=runs, seed=seed).to_pandas()
    return frame


def repeated(frame: pd.DataFrame, times: int) -> pd.DataFrame:
    """Every run so many times, under other seeds."""
    return pd.concat([frame.assign(seed=frame.seed + 100 * copy) for copy in range(times)], ignore_index=True)


def assert_same(one: Any, other: Any) -> None:
    """The numbers agree, but for the rounding of sums in another order."""
    for (c,), (d,) in ((one.contrasts, other.contrasts),):
        assert (c.p, c.df, c.low, c.effect_size) == pytest.approx((d.p, d.df, d.low, d.effect_size))
        assert (c.claim, c.p_method, c.items) == (d.claim, d.p_method, d.items)
    assert [(s.runs, s.claim) for s in one.systems] == [(s.runs, s.claim) for s in other.systems]
    assert [(s.low, s.high) for s in one.systems] == [pytest.approx((s.low, s.high)) for s in other.systems]
    for name in ("test", "paper"):
        statistics = [getattr(each, name) and getattr(each, name).statistic for each in (one, other)]
        assert statistics[0] == pytest.approx(statistics[1], nan_ok=True)


def about_copies(found: Any) -> list[str]:
    return [line for line in found.warnings if "count as one" in line]


def test_copies_change_no_number() -> None:
    frame = simulated()
    plain, copied = compare_systems(frame), compare_systems(repeated(frame, 4))
    assert_same(copied, plain)
    assert (copied.claim, copied.next, copied.verdict) == (plain.claim, plain.next, plain.verdict)
    assert (copied.rows.planned, copied.rows.used) == (4 * len(frame), len(frame))
    assert copied.rows.reasons == {COPY: 3 * len(frame)}
    (line,) = about_copies(copied)
    assert "12 runs of A as 3 (A/seed=1, A/seed=101, A/seed=201 and 1 more; and 2 more groups)" in line
    assert not about_copies(plain)


def test_a_single_run_under_several_names_says_nothing_of_new_runs() -> None:
    frame = simulated(runs=1)
    found = compare_systems(repeated(frame, 3))
    assert found.claim == "these-runs"
    assert_same(found, compare_systems(frame))
    assert found.next[-1].startswith("vary more than the seed of B and A")
    asked = compare_systems(repeated(frame, 3), claim="new-runs")
    assert asked.claim == "these-runs"
    assert "one-run-each" in [c.code for c in asked.cautions]


def test_plans_for_differences_rest_on_runs_that_are_none() -> None:
    frame = simulated()
    assert decompose_variance(repeated(frame, 2)).differences == decompose_variance(frame).differences


def test_two_settings_with_the_same_runs_are_one_setting() -> None:
    frame = simulated()
    both = pd.concat([frame.assign(rate="low"), frame.assign(rate="high")])
    found = compare_systems(both, facets=["rate", "seed"])
    assert_same(found, compare_systems(frame))
    assert len(about_copies(found)) == 1


def test_a_run_that_agrees_with_one_of_another_setting_stays() -> None:
    """Left out, it would leave its setting to be judged by the runs in which the setting made a difference."""
    frame = simulated(runs=4)
    frame["rate"] = np.where(frame.seed <= 2, "low", "high")
    first = frame[(frame.system == "A") & (frame.seed == 1)].score.to_numpy()
    frame.loc[(frame.system == "A") & (frame.seed == 3), "score"] = first
    found = compare_systems(frame, facets=["rate", "seed"])
    assert not about_copies(found)
    assert found.rows.used == len(frame)


def test_the_same_score_everywhere_is_no_copy() -> None:
    frame = simulated()
    frame.loc[(frame.system == "B") & (frame.seed < 3), "score"] = 1.0
    found = compare_systems(frame)
    assert not about_copies(found)
    assert {s.name: s.runs for s in found.systems} == {"A": 3, "B": 3}


def test_copies_by_one_metric_are_runs_by_another() -> None:
    frame = simulated()
    other = simulated(seed=8)
    first = other[other.seed == 1]
    copied = pd.concat([first.assign(seed=number) for number in (1, 2, 3)])
    found = compare_systems(pd.concat([frame.assign(metric="bleu"), copied.assign(metric="chrf")]))
    assert [c.claim for c in found.contrasts] == ["new-runs", "these-runs"]
    (line,) = about_copies(found)
    assert line.lower().startswith("chrf: ")


def per_run(*, inert: bool) -> pd.DataFrame:
    """One score a run; the seed changes nothing in A, or in one of four splits."""
    rng = np.random.default_rng(2)
    splits = rng.normal(0.7, 0.02, (2, 4))
    rows = [(s, f"s{k}", seed, splits[i, k]) for i, s in enumerate("AB") for k in range(4) for seed in range(5)]
    frame = pd.DataFrame(rows, columns=["system", "replication", "seed", "score"])
    if not inert:
        frame.loc[(frame.replication == "s2") & (frame.seed == 3), "score"] += 0.001
    return frame


def test_a_facet_that_never_changes_a_run_score_is_collapsed() -> None:
    frame = per_run(inert=True)
    found = compare_systems(frame, facets=["replication", "seed"])
    assert found.contrasts == compare_systems(frame[frame.seed == 0], facets=["replication", "seed"]).contrasts
    assert "A: seed never changes the score, so its levels count as one. 20 runs count as 4." in found.warnings
    assert found.rows.reasons == {COPY: 32}
    changed = compare_systems(per_run(inert=False), facets=["replication", "seed"])
    assert (changed.rows.reasons, [s.runs for s in changed.systems]) == ({}, [20, 20])


def test_seeds_with_one_and_the_same_score_are_named_and_kept() -> None:
    frame = per_run(inert=True)
    frame = frame[(frame.system == "B") | (frame.replication == "s0")]
    frame.loc[frame.system == "B", "score"] += 0.001 * frame.seed
    found = compare_systems(frame[frame.replication == "s0"], facets=["seed"])
    assert {s.name: s.runs for s in found.systems} == {"A": 5, "B": 5}
    assert any(line.startswith("A: all its 5 runs have the same score") for line in found.warnings)


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("datasets", [1, 2])
def test_copies_have_no_p_against_a_margin(datasets: int, others: int) -> None:
    # nothing varies between copies, so that no number of items tells how far apart new ones may be
    scores = {"A": [0.6, 0.5, 0.7, 0.4], "B": [0.6, 0.5, 0.7, 0.4], "C": [0.1, 0.2, 0.9, 0.8]}
    frame = pd.DataFrame(
        [
            {"system": system, "dataset": f"d{item * datasets // 4}", "item": item, "score": scores[system][item]}
            for system in list(scores)[: 2 + others]
            for item in range(4)
        ]
    )
    found = compare_systems(frame, margin=0.05)
    pair = next(c for c in found.contrasts if (c.left, c.right) == ("A", "B"))
    assert pair.difference == 0
    assert pair.equivalence is not None
    assert np.isnan([pair.equivalence.p_equivalent, pair.equivalence.p_equivalent_adjusted]).all()
    assert found.state == "unclear"
    assert others == 0 or "0 of 3 pairs differ by less than 0.05" in str(found)
