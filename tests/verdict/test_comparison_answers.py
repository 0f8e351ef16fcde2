"""The short answer of a comparison: its state, its length, letters that agree with p, codes of cautions."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import holdsup
from holdsup import compare_systems, simulate_scores
from holdsup.verdict import Comparison

EXAMPLE = Path(__file__).parents[2] / "examples" / "scores.csv"
SCHEMA_1 = Path(__file__).parents[1] / "results" / "schema1" / "compare.json"


def many(systems: int, *, runs: int = 1, items: int = 40, step: float = 0.01, seed: int = 0) -> Comparison:
    truth = {f"system-{i:03d}": 0.3 + step * i for i in range(systems)}
    return compare_systems(simulate_scores(truth, items=items, runs=runs, seed=seed))


def test_the_answer_about_two_systems_is_kept_to_the_line() -> None:
    lines = str(compare_systems(EXAMPLE)).splitlines()
    assert lines[0].split() == ["Is", "new", "better", "than", "baseline?", "◆", "UNCLEAR"]
    assert lines[1] == "new leads by 0.027 F1, but 3 runs each can't rule out no difference (p = .13)."
    assert lines[7:9] == [
        "new       0.716  95% CI 0.655 to 0.777  3 runs x 20 questions, 1 duplicate",
        "baseline  0.689  95% CI 0.634 to 0.745  3 runs x 20 questions, 3 missing",
    ]
    assert lines[10:14] == [
        "holds for  new runs, new questions like these; not other settings or datasets",
        "settle it  19 more runs of each (22 each) for 80% power; more questions won't do",
        "caveat     if the 3 missing scores are hard questions, baseline looks too good",
        "more: --full (tests, model, method)   holdsup report   --plot figure.svg",
    ]
    assert len(lines) == 15
    assert lines[-1].startswith("compare|data:")


@pytest.mark.parametrize(
    ("truth", "asked", "state"),
    [
        ({"A": 0.6, "B": 0.7}, {}, "yes"),
        ({"A": 0.6, "B": 0.6}, {}, "unclear"),
        ({"A": 0.6, "B": 0.6}, {"margin": 0.1}, "no"),
        ({"A": 0.6, "B": 0.64}, {"margin": 0.2}, "yes"),  # told, but smaller than the margin
        ({"A": 0.6, "B": 0.7}, {"baseline": "A"}, "yes"),
        ({"A": 0.6, "B": 0.7}, {"baseline": "B"}, "no"),
        ({"A": 0.6, "B": 0.7, "C": 0.8}, {}, "yes"),
        ({"A": 0.6, "B": 0.8, "C": 0.8}, {}, "unclear"),
        ({"A": 0.6, "B": 0.7, "C": 0.8}, {"baseline": "B"}, "yes"),
        ({"A": 0.6, "B": 0.7, "C": 0.8}, {"baseline": "C"}, "no"),
        ({"A": 0.6, "B": 0.6, "C": 0.5}, {"baseline": "A"}, "unclear"),
    ],
)
def test_every_question_has_its_answer(truth: dict[str, float], asked: dict[str, Any], state: str) -> None:
    found = compare_systems(simulate_scores(truth, items=300, runs=4, seed=3), **asked)
    assert found.state == state
    assert len(found.headline.split()) <= 25
    if asked.get("margin") == 0.2:
        assert found.headline.endswith("but smaller than the margin of 0.2.")


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("systems", [3, 10, 13, 58])
def test_any_number_of_systems_fits_a_screen(systems: int, runs: int) -> None:
    found = many(systems, runs=runs)
    name = found.systems[0].name
    for each in (found, compare_systems(simulate_scores({s.name: s.mean for s in found.systems}, items=30, runs=runs),
                                        baseline=name)):  # fmt: skip
        lines = str(each).splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines[:-1])) <= 80
    shown = str(found)
    assert f"{max(0, systems - 11)} more: --full" in shown or systems <= 11
    assert found.ordered()[-1].name in shown


def test_two_systems_fit_fifteen_lines_and_a_signature_whatever_limits_them() -> None:
    frame = simulate_scores(
        {"a rather long name of a system": 0.7, "another long name": 0.702}, items=30, runs=2, seed=1
    )
    data = frame.to_pandas().assign(length=lambda f: f["item"].astype(int) % 7)
    for asked in ({}, {"claim": "these-runs"}, {"by": "length"}, {"margin": 0.5}, {"shared": ["seed"]}):
        assert len(str(compare_systems(data, **asked)).splitlines()) <= 16
    assert len(str(compare_systems(data[data.seed == 1])).splitlines()) <= 16
    runs = data.groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    assert len(str(compare_systems(runs)).splitlines()) <= 16


@pytest.mark.parametrize("seed", range(12))
def test_systems_share_a_letter_where_their_adjusted_p_does_not_tell_them_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems, items = int(rng.integers(3, 14)), int(rng.integers(8, 40))
    means, spread = rng.normal(0, 0.7, systems), rng.uniform(0.2, 2, systems)
    rows = [(f"s{s}", i, means[s] + spread[s] * x) for s in range(systems) for i, x in enumerate(rng.normal(size=items))
            if rng.random() > 0.1 * (seed % 2)]  # fmt: skip
    found = compare_systems(pd.DataFrame(rows, columns=["system", "item", "score"]), lower_is_better=seed % 3 == 0)
    letters = {s.name: set(s.letters) for s in found.systems}
    told = {frozenset((c.left, c.right)) for c in found.contrasts if c.p_adjusted <= 0.05}
    for one, other in itertools.combinations(letters, 2):
        assert bool(letters[one] & letters[other]) == (frozenset((one, other)) not in told)
    assert all(letters.values())
    assert [s.rank for s in found.ordered()] == list(range(1, len(found.systems) + 1))


def test_with_a_baseline_there_are_no_letters_and_metrics_have_their_own() -> None:
    frame = simulate_scores({"A": 0.6, "B": 0.7, "C": 0.8}, items=60, runs=3, seed=1).to_pandas()
    assert all(s.letters == () for s in compare_systems(frame, baseline="A").systems)
    both = pd.concat([frame.assign(metric="bleu"), frame.assign(metric="chrf", score=-frame.score)])
    ranks = {(s.metric, s.name): s.rank for s in compare_systems(both).systems}
    assert [ranks["bleu", name] for name in "ABC"] == [3, 2, 1]
    assert [ranks["chrf", name] for name in "ABC"] == [1, 2, 3]


def test_every_caution_has_a_code_and_what_it_is_about() -> None:
    found = compare_systems(EXAMPLE)
    assert {c.code for c in found.cautions} >= {"missing-cells", "repeated-scores"}
    single = compare_systems(simulate_scores({"A": 0.6, "B": 0.7}, items=30, runs=1, seed=1))
    assert "one-run-each" in {c.code for c in single.cautions}
    assert not any(c.code in ("uncoded", "legacy") for each in (found, single) for c in each.cautions)


def test_a_result_of_schema_1_is_answered_as_well() -> None:
    found = holdsup.read_result(SCHEMA_1)
    assert isinstance(found, Comparison)
    assert (found.state, found.contrasts[0].left) == ("unclear", "new")
    assert found.headline == "new leads by 0.027 F1, but 3 runs each can't rule out no difference (p = .14)."
    assert "holds for  new runs, new questions like these" in str(found)
    assert json.loads(found.to_json())["systems"][0]["letters"] == []


def test_what_settles_it_is_the_leader_against_its_closest_rival() -> None:
    truth = {"A": 0.80, "B": 0.80, "C": 0.79, "D": 0.70, "E": 0.68}
    found = compare_systems(simulate_scores(truth, items=200, runs=3, seed=2))
    assert found.state == "unclear"
    leader, *others = [s.name for s in found.ordered()]
    told = {c.right for c in found.contrasts if c.left == leader and c.p_adjusted <= 0.05}
    rival = next(name for name in others if name not in told)
    assert f" tell {leader} from {rival}" in found.next[0]


def test_against_a_baseline_what_settles_it_is_a_system_that_may_be_better() -> None:
    """D is nearly told to be worse, which would decide nothing."""
    truth = {"A": 0.70, "B": 0.702, "D": 0.67}
    found = compare_systems(simulate_scores(truth, items=60, runs=3, seed=8), baseline="A")
    nearest = min(found.contrasts, key=lambda c: c.p_adjusted)
    assert (found.state, nearest.left, nearest.difference < 0) == ("unclear", "D", True)
    assert " tell B from A" in found.next[0]


def test_of_a_question_that_is_decided_the_nearest_open_pair_is_named() -> None:
    truth = {"A": 0.90, "B": 0.71, "C": 0.70, "D": 0.70}
    found = compare_systems(simulate_scores(truth, items=150, runs=3, seed=4))
    nearest = min((c for c in found.contrasts if c.p_adjusted > 0.05), key=lambda c: c.p_adjusted)
    assert found.state == "yes"
    assert f" tell {nearest.left} from {nearest.right}" in found.next[0]


def test_items_that_one_system_lacks_are_said_with_what_the_difference_rests_on() -> None:
    frame = simulate_scores({"A": 0.7, "B": 0.72}, items=30, runs=3, seed=1).to_pandas()
    shown = str(compare_systems(frame[(frame.system == "A") | (frame.item.astype(int) > 9)]))
    assert "3 runs x 21 of 30 items" in shown
    assert "B lacks 9 of 30 items: the difference rests on the 21 that both have" in shown


@pytest.mark.parametrize("seed", range(20))
def test_the_headline_and_what_settles_it_agree(seed: int) -> None:
    items, runs = (12, 2) if seed % 2 else (40, 3)
    found = compare_systems(simulate_scores({"A": 0.70, "B": 0.71}, items=items, runs=runs, seed=seed))
    if found.settled_by == "items":
        assert f"{items} items can't" in found.headline
        assert "more runs won't do" in found.next[0]
    if found.settled_by == "runs":
        assert f"{runs} runs each" in found.headline
    assert "so few" not in found.headline


@pytest.mark.parametrize("systems", [2, 30])
def test_names_of_300_letters_are_cut_in_the_short_answer_alone(systems: int) -> None:
    names = [f"{'x' * 150}{i:03d}{'y' * 147}" for i in range(systems)]
    frame = simulate_scores({name: 0.6 + 0.01 * i for i, name in enumerate(names)}, items=40, runs=2, seed=1)
    for baseline in (None, names[0]):
        found = compare_systems(frame, baseline=baseline)
        lines = str(found).splitlines()
        assert len(lines) <= (16 if systems == 2 else 24)
        assert max(map(len, lines[:-1])) <= 80
        assert not any(name in line for name in names for line in lines[:-1])
        assert "…" in str(found)
        assert systems == 2 or len(set(re.findall(r" #\d+ ", str(found)))) > 1  # they only differ in the middle
        assert all(
            any(name in row for name in names) for part in found.answer().parts for row in getattr(part, "rows", ())
        )
        assert "…" not in found.to_json()
        assert any(name in found.headline for name in names)
        assert any(name in found.page().answer.question + found.page().answer.headline for name in names)
