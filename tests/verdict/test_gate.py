"""`gate_release`: pass, fail or inconclusive."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import holdsup
from holdsup import gate_release
from holdsup.errors import ScoresError
from holdsup.verdict.evaluation import lay_out
from holdsup.verdict.gate import Gate
from holdsup.verdict.gate.records import SURE
from holdsup.verdict.looking import order_items
from holdsup.verdict.planning import plan_pair

ITEMS = 120
Table = dict[str, list[Any]]


def side(
    mean: float = 0.7, *, runs: int = 3, items: int = ITEMS, seed: int = 1, name: str = "agent", **more: Any
) -> Table:
    """Return scores of one system on items that are as hard for every side, whose runs vary."""
    ease = np.random.default_rng(99).normal(0, 0.1, items)
    rng = np.random.default_rng(seed)
    score = mean + ease[:, None] + rng.normal(0, 0.01, runs) + rng.normal(0, 0.03, (items, runs))
    table = {
        "model": [name] * score.size,
        "item": [f"q{i}" for i in range(items) for _ in range(runs)],
        "seed": [r for _ in range(items) for r in range(runs)],
        "score": score.ravel().tolist(),
    }
    return table | {key: [value] * score.size for key, value in more.items()}


def both(*tables: Table) -> Table:
    return {key: [value for table in tables for value in table[key]] for key in tables[0]}


def test_limits_are_those_of_compare_at_other_levels() -> None:
    new, old = side(0.69, runs=4, name="new"), side(0.70, runs=5, seed=2, name="old")
    c = gate_release(new, old, drop=0.02).contrasts[0]
    table = both(new, old)
    wide, sure = (holdsup.compare_systems(table, baseline="old", level=level).contrasts[0] for level in (0.90, 0.99))
    assert (c.difference, c.low, c.high) == pytest.approx((wide.difference, wide.low, wide.high))
    assert c.fail_limit == pytest.approx(sure.high)
    assert c.method == wide.p_method


def test_pass_fail_and_inconclusive_are_what_the_issue_of_noninferiority_says() -> None:
    old = side(seed=2, runs=5)
    good = gate_release(side(0.70, runs=5), old, drop=0.05)
    bad = gate_release(side(0.60, runs=5), old, drop=0.02)
    close = gate_release(side(0.68, runs=3), old, drop=0.012)
    assert (good.outcome, good.state) == ("pass", "yes")
    assert (bad.outcome, bad.state) == ("fail", "no")
    assert (close.outcome, close.state) == ("inconclusive", "unclear")
    assert good.headline.startswith("PASS: ")
    assert bad.headline.startswith("FAIL: the candidate is worse by")
    assert close.headline.startswith("INCONCLUSIVE: ")


def test_a_small_true_loss_passes_and_is_said() -> None:
    found = gate_release(side(0.67, runs=8), side(0.70, runs=8, seed=2), drop=0.1)
    assert found.outcome == "pass"
    assert found.contrasts[0].best is not None
    assert found.contrasts[0].best < 0
    assert "is worse, but by at most" in found.headline


def test_a_metric_that_is_better_when_lower_is_turned() -> None:
    worse, better, old = (side(m, runs=5, seed=s) for m, s in ((0.80, 1), (0.60, 1), (0.70, 2)))
    up = gate_release(worse, old, drop=0.02, lower_is_better=True)
    down = gate_release(better, old, drop=0.02, lower_is_better=True)
    assert (up.outcome, down.outcome) == ("fail", "pass")
    mirrored = gate_release(better, old, drop=0.02).contrasts[0]
    assert mirrored.outcome == "fail"
    assert up.contrasts[0].gain == pytest.approx(-up.contrasts[0].difference)
    by_name = [{("ter" if k == "score" else k): v for k, v in table.items()} for table in (worse, old)]
    assert gate_release(*by_name, drop=0.02).outcome == "fail"


@pytest.mark.parametrize(("new", "old"), [(1, 5), (5, 1), (1, 1)])
def test_one_run_on_a_side_is_inconclusive_whatever_the_scores_say(new: int, old: int) -> None:
    found = gate_release(side(0.3, runs=new), side(0.7, runs=old, seed=2), drop=0.02)
    assert found.outcome == "inconclusive"
    assert "can't tell a worse system from an unlucky run" in found.headline
    assert found.needed is not None
    assert found.needed.runs == 2


@pytest.mark.parametrize("reason", [{"claim": "these-runs"}, {"deterministic": True}])
def test_one_run_is_enough_if_somebody_says_why(reason: dict[str, Any]) -> None:
    old = side(runs=1, seed=2)
    assert gate_release(side(0.7, runs=1), old, drop=0.05, **reason).outcome == "pass"
    bad = gate_release(side(0.6, runs=1), old, drop=0.05, **reason)
    assert bad.outcome == "fail"
    assert bad.contrasts[0].claim == "these-runs"


def test_the_same_noise_gives_the_candidate_the_run_variance_of_the_baseline() -> None:
    new, old = side(0.7, runs=1, items=20), side(0.7, runs=4, items=20, seed=2)
    c = gate_release(new, old, drop=0.5, same_noise=True).contrasts[0]
    y = np.array(old["score"]).reshape(20, 4)
    x = np.array(new["score"])
    difference = x - y.mean(1)
    fitted = y - y.mean(0) - y.mean(1, keepdims=True) + y.mean()
    noise = (fitted**2).sum() / (19 * 3) / 20
    runs, items = y.mean(0).var(ddof=1), difference.var(ddof=1) / 20
    variance = max(items, runs * (1 + 1 / 4) + max(0.0, items - noise * (1 + 1 / 4)))
    assert c.se == pytest.approx(math.sqrt(variance))
    assert c.claim == "new-runs"
    assert c.outcome == "pass"
    with pytest.raises(ScoresError, match="neither has two"):
        gate_release(new, side(runs=1, items=20, seed=2), drop=0.5, same_noise=True)


def test_runs_with_one_score_each_are_gated_by_the_spread_of_runs() -> None:
    new = {"model": ["m"] * 4, "seed": [1, 2, 3, 4], "score": [0.50, 0.51, 0.49, 0.50]}
    old = {"model": ["m"] * 4, "seed": [1, 2, 3, 4], "score": [0.70, 0.71, 0.69, 0.70]}
    assert gate_release(new, old, drop=0.05).outcome == "fail"
    assert gate_release(old, new, drop=0.05).outcome == "pass"
    single = {key: values[:1] for key, values in new.items()}
    assert gate_release(single, old, drop=0.05).outcome == "inconclusive"
    alike = gate_release(single, old, drop=0.05, same_noise=True).contrasts[0]
    sd = np.std(old["score"], ddof=1)
    assert alike.outcome == "fail"
    assert alike.se == pytest.approx(sd * math.sqrt(1 + 1 / 4))


def test_two_runs_that_differ_much_have_no_limits_and_decide_nothing() -> None:
    new, old = ({"model": ["m"] * 2, "seed": [1, 2], "score": scores} for scores in ([0.5, 0.6], [0.9, 0.9001]))
    found = gate_release(new, old, drop=0.01)
    assert found.outcome == "inconclusive"
    assert found.needed is not None


def test_the_same_table_passes_by_identity_untested() -> None:
    old = side(runs=1)
    found = gate_release(old, {key: values[::-1] for key, values in old.items()}, drop=0)
    assert found.identical
    assert found.outcome == "pass"
    assert "by identity, untested" in found.headline
    assert found.needed is None
    other = gate_release(side(runs=1, name="another"), old, drop=0)
    assert not other.identical


def test_all_metrics_and_tasks_must_pass_and_one_that_fails_is_enough() -> None:
    def table(f1: float, bleu: float, seed: int, task: str) -> Table:
        return both(
            side(f1, seed=seed, runs=4, metric="f1", task=task),
            side(bleu, seed=seed + 50, runs=4, metric="bleu", task=task),
        )

    old = both(table(0.7, 0.7, 1, "qa"), table(0.7, 0.7, 2, "nli"))
    same = both(table(0.7, 0.7, 3, "qa"), table(0.7, 0.7, 4, "nli"))
    worse = both(table(0.7, 0.7, 5, "qa"), table(0.7, 0.6, 6, "nli"))
    passed = gate_release(same, old, drop=0.05)
    assert passed.outcome == "pass"
    assert {(c.metric, c.task) for c in passed.contrasts} == {(m, t) for m in ("f1", "bleu") for t in ("qa", "nli")}
    failed = gate_release(worse, old, drop={"f1": 0.05, "bleu": 0.02})
    assert failed.outcome == "fail"
    assert [c.name for c in failed.contrasts if c.outcome == "fail"] == ["bleu on nli"]
    assert {c.metric: c.drop for c in failed.contrasts} == {"f1": 0.05, "bleu": 0.02}
    alone = gate_release(worse, old, drop=0.05, where={"metric": "bleu", "task": "nli"}).contrasts[0]
    adjusted = next(c for c in failed.contrasts if c.outcome == "fail")
    assert adjusted.low == pytest.approx(alone.low)
    assert adjusted.fail_limit is not None
    assert alone.fail_limit is not None
    assert adjusted.fail_limit > alone.fail_limit
    mean = gate_release(same, old, drop=0.05, claim="these-datasets", where={"metric": "f1"})
    assert [(c.task, c.claim) for c in mean.contrasts] == [(None, "these-datasets")]
    with pytest.raises(ScoresError, match="no drop for 'f1'"):
        gate_release(same, old, drop={"bleu": 0.02})
    missing = {key: [v for v, t in zip(values, same["task"], strict=True) if t == "qa"] for key, values in same.items()}
    with pytest.raises(ScoresError, match="no score for the task 'nli', which the baseline has"):
        gate_release(missing, old, drop=0.05)


def test_different_items_are_refused_unless_accepted() -> None:
    old, new = side(runs=3, seed=2), side(runs=3, items=ITEMS - 5)
    with pytest.raises(ScoresError, match="5 of 120 items have a score for only one system"):
        gate_release(new, old, drop=0.05)
    accepted = gate_release(new, old, drop=0.05, accept="items-of-one-system")  # as the refusal says
    assert accepted.contrasts[0].items == ITEMS - 5
    assert "items-of-one-system" in {c.code for c in accepted.cautions}


def test_a_failed_item_of_the_candidate_is_not_dropped_silently() -> None:
    new, old = side(runs=3), side(runs=3, seed=2)
    new["score"][:3] = [None] * 3
    with pytest.raises(ScoresError, match="1 of 120 items has a score for only one system"):
        gate_release(new, old, drop=0.05)


def test_a_side_with_several_systems_needs_a_name() -> None:
    old, table = side(runs=3, seed=2), both(side(runs=3, name="x"), side(0.5, runs=3, name="y"))
    with pytest.raises(ScoresError, match=r"has 2 systems, 'x', 'y'.*--sides"):
        gate_release(table, old, drop=0.05)
    assert gate_release(table, old, drop=0.05, sides=("x", "agent")).outcome == "pass"
    assert gate_release(table, table, drop=0.05, sides=("y", "x")).outcome == "fail"
    with pytest.raises(ScoresError, match=r"the baseline .* has no system 'z'"):
        gate_release(table, old, drop=0.05, sides=("x", "z"))


def test_runs_of_both_sides_stay_apart_though_their_names_are_the_same() -> None:
    c = gate_release(side(runs=3), side(runs=5, seed=2), drop=0.05).contrasts[0]
    assert (c.candidate_runs, c.baseline_runs) == (3, 5)
    named = {("run" if k == "seed" else k): v for k, v in side(runs=3).items()}
    mixed = gate_release(named, side(runs=5, seed=2), drop=0.05).contrasts[0]
    assert (mixed.candidate_runs, mixed.baseline_runs) == (3, 5)
    assert mixed.low == pytest.approx(c.low)


def test_copies_are_one_run_and_deterministic_says_why_it_is_enough() -> None:
    copies = side(runs=1)
    twice = both(copies, copies | {"seed": [1] * ITEMS})
    old = side(runs=3, seed=2)
    assert gate_release(twice, old, drop=0.05).outcome == "inconclusive"
    assert gate_release(twice, copies, drop=0.05, deterministic=True).outcome == "pass"
    with pytest.raises(ScoresError, match="runs differ, so it is not"):
        gate_release(twice, old, drop=0.05, deterministic=True)


def test_what_would_decide_is_planned_for_the_difference_found_by_the_test_of_compare() -> None:
    new, old = side(runs=3, seed=103, items=40, name="new"), side(runs=3, seed=203, items=40, name="old")
    found = gate_release(new, old, drop=0.012)
    assert found.outcome == "inconclusive"
    assert found.needed is not None
    assert (found.needed.outcome, found.needed.items) == ("pass", None)
    (evaluation,) = lay_out(holdsup.read_scores(both(new, old)))
    plan = plan_pair(evaluation, "new", "old")
    runs = found.needed.runs
    assert runs is not None
    alphas = [plan.detectable(0.10, more_runs=more) for more in (runs - 3, runs - 4)]
    assert alphas[0] <= found.contrasts[0].difference + 0.012 < alphas[1]
    assert f"{runs} runs of each side" in str(found)


def test_a_planned_look_says_when_the_next_one_is_and_then_no_more() -> None:
    old = side(runs=8, seed=2)
    early = gate_release(side(0.69, runs=4), old, drop=0.012, looks=(4, 8))
    assert early.outcome == "inconclusive"
    assert early.needed is not None
    assert early.needed.next_look == 8
    assert "the next planned look, at 8 runs" in str(early)
    alone = gate_release(side(0.69, runs=4), old, drop=0.012).contrasts[0]
    assert early.contrasts[0].low is not None
    assert alone.low is not None
    assert early.contrasts[0].low < alone.low
    with pytest.raises(ScoresError, match="no look was planned at 5 runs of candidate"):
        gate_release(side(runs=5), old, drop=0.012, looks=(4, 8))


def shares(accuracy: float, items: list[str], seed: int) -> Table:
    rng = np.random.default_rng(seed)
    return {
        "model": ["m"] * len(items),
        "item": items,
        "score": (rng.random(len(items)) < accuracy).astype(float).tolist(),
    }


def test_peeking_takes_the_first_items_of_the_drawn_order_and_no_others() -> None:
    items = [f"q{i}" for i in range(600)]
    order = order_items(items, seed=7)
    old = shares(0.8, items, 1)
    found = gate_release(shares(0.3, order[:150], 2), old, drop=0.05, peek=True, claim="these-runs", seed=7)
    assert found.outcome == "fail"
    assert found.contrasts[0].items == 150
    assert found.rows.reasons == {"an item that comes later in the order": 450}
    unsaid = gate_release(shares(0.3, order[:150], 2), old, drop=0.05, peek=True, seed=7)
    assert unsaid.outcome == "inconclusive"
    assert "more items say nothing about other runs" in unsaid.headline
    assert "--claim these-runs or --deterministic" in " ".join(str(unsaid).split())
    with pytest.raises(ScoresError, match="not the first in the order drawn by seed 7"):
        gate_release(shares(0.3, order[1:150], 2), old, drop=0.05, peek=True, seed=7)
    with pytest.raises(ScoresError, match="not the first in the order drawn by seed 0"):
        gate_release(shares(0.3, order[:150], 2), old, drop=0.05, peek=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"drop": -0.1}, "drop"),
        ({"drop": 0.1, "level": 0.4}, "above .5"),
        ({"drop": 0.1, "claim": "new-settings"}, "unknown to a gate"),
        ({"drop": 0.1, "claim": "new-runs", "peek": True}, "these runs"),
        ({"drop": 0.1, "same_noise": True, "looks": (3, 5)}, "exclude each other"),
        ({"drop": 0.1, "sides": ("a",)}, "names 1 systems"),
        ({"drop": 0.1, "accept": "items-of-two-systems"}, "a gate knows no such error; there is 'different-items'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ScoresError, match=said):
        gate_release(side(), side(seed=2), **options)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: gate_release(side(0.7), side(seed=2), drop=0.05),
        lambda: gate_release(side(0.69, runs=2), side(seed=2, runs=2), drop=0.001),
        lambda: gate_release(side(runs=1), side(seed=2, runs=1), drop=0.05),
        lambda: gate_release(side(runs=2, items=60), side(seed=2, items=61), drop=0.0, accept="items-of-one-system"),
    ],
)
def test_an_answer_on_one_metric_has_fifteen_lines_at_most_and_a_short_headline(ask: Callable[[], Gate]) -> None:
    found = ask()
    assert len(str(found).splitlines()) <= 15
    assert len(found.headline.split()) <= 25
    assert str(found).splitlines()[-1] == found.signature


def test_a_gate_can_be_saved_restored_and_redone(tmp_path: Any) -> None:
    found = gate_release(side(0.69), side(seed=2), drop=0.02)
    found.write_json(tmp_path / "gate.json")
    restored = holdsup.read_result(tmp_path / "gate.json")
    assert restored.to_dict() == found.to_dict()
    assert found.asked.command() == (
        "holdsup gate CANDIDATE BASELINE --score score --system model --item item --facets seed --drop 0.02"
    )
    assert found.to_frame(backend="pyarrow").num_rows == 1


def test_false_alarms_are_rare_and_a_loss_as_large_as_the_drop_seldom_passes() -> None:
    """A few tables through the whole of it; benchmarks/gate.py has 20,000 of each design."""
    outcomes = {0.7: list[str](), 0.68: list[str]()}
    for seed in range(40):
        old = pa.table(side(runs=3, items=30, seed=2 * seed))
        for mean, found in outcomes.items():
            found.append(gate_release(side(mean, runs=3, items=30, seed=2 * seed + 1), old, drop=0.02).outcome)
    assert outcomes[0.7].count("fail") <= 1
    assert outcomes[0.68].count("pass") <= 6
    assert SURE == 0.995


def test_a_drop_by_the_name_of_the_only_score_is_that_of_the_gate() -> None:
    new, old = side(runs=4, items=20, seed=1), side(runs=4, items=20, seed=2)
    assert gate_release(new, old, drop={"score": 0.1}).contrasts[0].drop == 0.1
    with pytest.raises(ScoresError, match="--drop f1: there is no such metric; there is 'score'"):
        gate_release(new, old, drop={"f1": 0.1})


def test_scales_that_differ_and_drops_that_no_difference_reaches_are_refused() -> None:
    rng = np.random.default_rng(5)
    right = rng.integers(0, 2, 40)
    rows = {"system": ["A"] * 40, "item": [f"i{i}" for i in range(40)], "score": right.tolist()}
    hundred = {**rows, "score": (100 * right).tolist()}
    with pytest.raises(ScoresError, match="another scale"):
        gate_release(hundred, rows, drop=10, claim="these-runs")
    with pytest.raises(ScoresError, match="--drop 5: scores are from 0 to 1"):
        gate_release({**rows, "score": (1 - right).tolist()}, rows, drop=5, claim="these-runs")
    with pytest.raises(ScoresError, match="there is no such metric; there is 'score'"):
        gate_release(rows, rows, drop={"score": 0.1, "zz": 1}, claim="these-runs")
    with pytest.raises(ScoresError, match="choose one of them"):
        gate_release(rows, rows, drop=0.1, claim="these-runs", peek=True, looks=(3, 5))
