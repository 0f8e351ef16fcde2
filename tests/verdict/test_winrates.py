"""Win rates against a reference: scales, both orders, a score as baseline, equal length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import holdsup
from holdsup.errors import HoldsupError

ALPACA = Path(__file__).parents[3] / "shared" / "data" / "shapes" / "alpaca_eval.csv.gz"


def make_rates(rates: dict[str, float], *, items: int = 300, seed: int = 1) -> dict[str, list[Any]]:
    """Return preferences of a judge, from 1 (the reference) to 2, with lengths that it likes."""
    rng = np.random.default_rng(seed)
    made: dict[str, list[Any]] = {"system": [], "item": [], "preference": [], "length": [], "reference_length": []}
    for system, rate in rates.items():
        x = rng.normal(0.5, 1, items)
        p = special.expit(special.logit(rate) + np.tanh(x / x.std()))
        made["system"] += [system] * items
        made["item"] += list(range(items))
        made["preference"] += (1 + (rng.random(items) < p)).tolist()
        made["length"] += np.rint(1000 + 200 * x).tolist()
        made["reference_length"] += [1000.0] * items
    return made


def test_preferences_from_1_to_2_are_win_rates() -> None:
    made = make_rates({"A": 0.4, "B": 0.6})
    found = holdsup.compare_systems(made)
    shifted = holdsup.compare_systems({**made, "preference": [p - 1 for p in made["preference"]]})
    assert [s.mean for s in found.systems] == [s.mean for s in shifted.systems]
    assert "win-rates" in {each.code for each in found.cautions}
    assert "direction-assumed" not in {each.code for each in found.cautions}


def test_better_than_the_reference_is_better_than_a_half() -> None:
    made = make_rates({"A": 0.4, "B": 0.7})
    found = holdsup.compare_systems(made, baseline=0.5)
    assert found.answer().question == "Is any better than 0.5?"
    assert found.state == "yes"
    wins = np.array(made["preference"]).reshape(2, -1) - 1
    for contrast in found.contrasts:
        own = wins["AB".index(contrast.left)]
        test = stats.ttest_1samp(own, 0.5)
        assert contrast.difference == pytest.approx(own.mean() - 0.5)
        assert (contrast.low, contrast.high) == pytest.approx(
            tuple(np.array(test.confidence_interval()) - 0.5), abs=1e-9
        )
    assert found.rows.planned == found.rows.used == 600


def test_a_score_can_be_the_baseline_of_any_metric_and_of_several_runs() -> None:
    scores = holdsup.simulate_scores({"A": 0.7, "B": 0.5}, items=50, runs=4, seed=2)
    found = holdsup.compare_systems(scores, baseline=0.5)
    assert found.claim == "new-runs"
    assert {c.left: c.p_adjusted < 0.05 for c in found.contrasts} == {
        "A": True,
        "B": False,
    }
    assert found.asked.command() is not None
    assert "--baseline 0.5" in found.asked.command()
    assert holdsup.compare_systems(scores, baseline="A").contrasts[0].right == "A"


def test_both_orders_of_an_item_are_averaged_and_the_order_effect_is_told_in_one_line() -> None:
    rng = np.random.default_rng(3)
    made: dict[str, list[Any]] = {"system": [], "item": [], "order": [], "score": []}
    for system, rate in {"A": 0.5, "B": 0.6}.items():
        for item in range(200):
            for order, gain in (("first", 0.15), ("second", -0.15)):
                row = (system, item, order, float(rng.random() < rate + gain))
                for name, value in zip(made, row, strict=True):
                    made[name].append(value)
    found = holdsup.compare_systems(made, baseline=0.5)
    (said,) = (each for each in found.cautions if each.code == "order-effect")
    assert said.message.startswith("Scores with order first are 0.")
    assert "two orders are averaged" in said.message
    means = np.array(made["score"]).reshape(2, 200, 2).mean(axis=2)
    assert {s.name: s.mean for s in found.systems if s.name in "AB"} == pytest.approx(
        {"A": means[0].mean(), "B": means[1].mean()}
    )
    assert found.contrasts[0].items == 200
    assert found.rows.planned == 800
    assert found.rows.used == 400


def test_items_shown_in_one_order_alone_are_counted() -> None:
    made = {"system": ["A"] * 5 + ["B"] * 5, "item": [1, 1, 2, 2, 3] * 2, "order": [0, 1, 0, 1, 0] * 2,
            "score": [1.0, 0, 1, 1, 0, 0, 0, 1, 0, 1]}  # fmt: skip
    found = holdsup.compare_systems(made)
    (said,) = (each for each in found.cautions if each.code == "single-order")
    assert said.message.startswith("2 scores")


def test_win_rates_at_equal_length_are_what_the_judge_would_say_of_answers_as_long() -> None:
    made = make_rates({"A": 0.4, "B": 0.6}, items=4000)
    raw, equal = holdsup.compare_systems(made), holdsup.compare_systems(made, adjust="length")
    means = {s.name: (s.mean, s.low, s.high) for s in equal.systems}
    assert means["A"][1] < 0.4 < means["A"][2]
    assert means["B"][1] < 0.6 < means["B"][2]
    assert all(s.low > means[s.name][2] for s in raw.systems)
    assert "held-equal" in {each.code for each in equal.cautions}
    assert equal.asked.options["adjust"] == ("length",)


def test_preferences_that_are_missing_are_counted() -> None:
    made = make_rates({"A": 0.4, "B": 0.6})
    made["preference"][5] = None
    found = holdsup.compare_systems(made, adjust="length", baseline=0.5)
    assert found.rows.planned == 600
    assert found.rows.reasons["no score"] == 1


def test_answers_that_are_nearly_all_longer_are_named() -> None:
    made = make_rates({"A": 0.4, "B": 0.6})
    made["reference_length"] = [770.0] * 600
    found = holdsup.compare_systems(made, adjust="length")
    (said,) = (each for each in found.cautions if each.code == "extrapolated")
    assert "length of A and length of B" in said.message


def test_equal_length_needs_win_rates_and_lengths() -> None:
    made = make_rates({"A": 0.4, "B": 0.6})
    with pytest.raises(HoldsupError, match="columns of numbers width and reference_width"):
        holdsup.compare_systems(made, adjust="width")
    with pytest.raises(HoldsupError, match="between 0 and 1"):
        holdsup.compare_systems({**made, "preference": [9.0 * p for p in made["preference"]]}, adjust="length")
    with pytest.raises(HoldsupError, match="A never comes near the reference's length"):
        holdsup.compare_systems({**made, "reference_length": [1.0] * 600}, adjust="length")
    with pytest.raises(HoldsupError, match="by the same"):
        holdsup.compare_systems({**made, "length": made["reference_length"]}, adjust="length")


@pytest.mark.skipif(not ALPACA.exists(), reason="the annotations lie beside the clone, and are not there")
def test_win_rates_of_alpaca_eval_are_those_of_its_leaderboard() -> None:
    found = holdsup.compare_systems(str(ALPACA), baseline=0.5, average="micro")
    means = {s.name: 100 * s.mean for s in found.systems}
    printed = {"FuseChat-Gemma-2-9B-Instruct": 70.497, "claude": 16.985, "gpt4_0613_concise": 9.400, "phi-2-sft": 3.978}
    assert {name: means[name] for name in printed} == pytest.approx(printed, abs=0.002)
    better = {c.left for c in found.contrasts if c.difference > 0 and c.p_adjusted < 0.05}
    assert better == {"FuseChat-Gemma-2-9B-Instruct"}
