"""The short answer of a comparison: its state, its length, letters that agree with p, codes of cautions."""

from __future__ import annotations

import itertools
import json
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
    assert lines[1] == "new leads by 0.027 F1, but 3 runs each can't rule out no difference (p = .14)."
    assert lines[7:9] == [
        "new       0.716  95% CI 0.654 to 0.779  3 runs x 20 questions, 1 averaged",
        "baseline  0.689  95% CI 0.632 to 0.746  3 runs x 20 questions, 3 missing",
    ]
    assert lines[10:14] == [
        "holds for  new runs, new questions like these; not other settings or datasets",
        "settle it  20 more runs of each (23 in all); more questions alone won't do",
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


def test_two_systems_fit_fifteen_lines_whatever_limits_them() -> None:
    frame = simulate_scores(
        {"a rather long name of a system": 0.7, "another long name": 0.702}, items=30, runs=2, seed=1
    )
    data = frame.to_pandas().assign(length=lambda f: f["item"].astype(int) % 7)
    for asked in ({}, {"claim": "these-runs"}, {"by": "length"}, {"margin": 0.5}, {"shared": ["seed"]}):
        assert len(str(compare_systems(data, **asked)).splitlines()) <= 15
    assert len(str(compare_systems(data[data.seed == 1])).splitlines()) <= 15
    runs = data.groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    assert len(str(compare_systems(runs)).splitlines()) <= 15


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
