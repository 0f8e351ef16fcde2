"""`compare_systems` that looks early: over items and over runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.errors import ScoresError
from holdsup.numerics.betting import find_limit
from holdsup.numerics.looks import find_levels
from holdsup.verdict.looking import order_items


def right_or_wrong(items: int = 300, *, seed: int = 1, runs: int = 1) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    table: dict[str, list[Any]] = {"system": [], "item": [], "seed": [], "score": []}
    ease = rng.random(items)
    for system, more in (("A", 0.0), ("B", 0.15)):
        for run in range(runs):
            table["system"] += [system] * items
            table["item"] += [f"q{i}" for i in range(items)]
            table["seed"] += [run] * items
            table["score"] += (rng.random(items) < np.clip(ease + more, 0, 1)).astype(float).tolist()
    return table


def test_the_order_of_items_is_drawn_by_the_seed_and_by_nothing_else() -> None:
    items = [f"q{i}" for i in range(50)]
    order = order_items(items, seed=3)
    assert sorted(order) == sorted(items)
    assert order_items(reversed(items), seed=3) == order
    assert order_items(items, seed=4) != order
    assert order_items(items[:20], seed=3) == [item for item in order if item in items[:20]]


def test_peeking_at_items_bets_on_their_differences_in_the_drawn_order() -> None:
    table = right_or_wrong()
    found = holdsup.compare_systems(table, peek=True, seed=5, baseline="A")
    (c,) = found.contrasts
    score = {(s, i): v for s, i, v in zip(table["system"], table["item"], table["score"], strict=True)}
    order = order_items({str(i) for i in table["item"]}, seed=5)
    x = np.array([(score["B", i] - score["A", i] + 1) / 2 for i in order])
    limits = [2 * float(find_limit(x, 0.025, lower=lower)) - 1 for lower in (True, False)]
    assert [c.low, c.high] == pytest.approx(limits, abs=1e-9)
    assert (c.claim, c.rule) == ("these-runs", "bets")
    assert found.asked.options["seed"] == 5
    plain = holdsup.compare_systems(table, baseline="A").contrasts[0]
    assert c.low < plain.low
    assert c.p > plain.p


def test_a_planned_look_tests_at_its_share_of_the_error() -> None:
    table = holdsup.simulate_scores({"A": 0.70, "B": 0.72}, items=120, runs=4, seed=2)
    early = holdsup.compare_systems(table, looks=(4, 8)).contrasts[0]
    level = 1 - 2 * find_levels((0.5, 1.0), 0.025)[0]
    alone = holdsup.compare_systems(table, level=level).contrasts[0]
    assert (early.low, early.high) == pytest.approx((alone.low, alone.high))
    assert early.p > alone.p
    assert (early.p <= 0.05) == (early.low > 0 or early.high < 0)


def test_p_is_at_the_level_where_the_interval_ends_at_zero() -> None:
    table = holdsup.simulate_scores({"A": 0.70, "B": 0.72}, items=120, runs=4, seed=2)
    p = holdsup.compare_systems(table, looks=(4, 8)).contrasts[0].p
    at = holdsup.compare_systems(table, looks=(4, 8), level=1 - p).contrasts[0]
    assert min(abs(at.low), abs(at.high)) == pytest.approx(0, abs=1e-6)


def test_no_p_that_holds_for_a_single_look_is_shown() -> None:
    table = holdsup.simulate_scores({"A": 0.70, "B": 0.72}, items=120, runs=4, seed=2)
    found = holdsup.compare_systems(table, looks=(4, 8))
    assert found.papers == ()
    assert np.isnan(found.tests[0].p_chi2)
    assert all(np.isnan(s.low) for s in found.systems)
    assert "looked-early" in {c.code for c in found.cautions}
    assert "planned looks are at 4 and 8 runs" in str(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"looks": (3, 5)}, "no look was planned at 4 runs"),
        ({"looks": (4,)}, "two numbers of runs or more that rise"),
        ({"looks": (8, 4)}, "two numbers of runs or more that rise"),
        ({"looks": (1, 4)}, "begin with 2 or more"),
        ({"looks": (4, 8), "claim": "these-runs"}, "leave --looks out"),
        ({"peek": True, "claim": "new-runs"}, "holds for these runs, not for new-runs"),
        ({"peek": True}, "whose lowest and highest value are known"),
        ({"peek": True, "bootstrap": 10}, "looking early excludes"),
    ],
)
def test_what_would_break_the_promise_is_refused(options: dict[str, Any], said: str) -> None:
    table = holdsup.simulate_scores({"A": 70.0, "B": 72.0}, items=30, runs=4, sd_item=80, seed=2)
    with pytest.raises(ScoresError, match=said):
        holdsup.compare_systems(table, **options)
