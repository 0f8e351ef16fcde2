"""All pairs at once say what they say one by one, and the rows of a comparison give the limits that are printed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import holdsup
from holdsup.columns.typed import ROLES
from holdsup.progress import no_progress
from holdsup.scores import read_scores
from holdsup.verdict.claims import choose_claim, pair_systems
from holdsup.verdict.comparison.pairs import ManyPairs, differences_of, pair_all, retest_pairs
from holdsup.verdict.evaluation import lay_out


def table(seed: int, *, systems: int = 5, runs: int = 3, items: int = 12, **more: int) -> dict[str, list[Any]]:
    """Return scores of systems that differ a little; `unequal` runs, `clusters`, 0/1 scores, no items, gaps."""
    rng = np.random.default_rng(seed)
    rows = []
    for system in range(systems):
        count = runs + (system % 2 if more.get("unequal") else 0)
        for run in range(count):
            level = 0.6 + 0.03 * system + rng.normal(0, 0.02)
            for item in range(1 if more.get("alone") else items):
                score = level + 0.2 * math.sin(item) + rng.normal(0, 0.1)
                score = float(score > 0.6) if more.get("binary") else score
                row = {"system": f"s{system}", "seed": str(run), "score": score}
                row |= {} if more.get("alone") else {"item": f"i{item}"}
                row |= {"cluster": f"c{item // 3}"} if more.get("clusters") else {}
                row |= {"lr": str(run % 2)} if more.get("settings") else {}
                if not (more.get("gaps") and rng.random() < 0.05):
                    rows.append(row)
    return {name: [row[name] for row in rows] for name in rows[0]}


DESIGNS: list[dict[str, int]] = [
    {}, {"runs": 1}, {"unequal": 1}, {"clusters": 1}, {"clusters": 1, "runs": 1}, {"binary": 1}, {"alone": 1},
    {"settings": 1, "runs": 6}, {"gaps": 1, "runs": 4, "items": 30}, {"items": 400, "runs": 8},
]  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("up", [0.0, 0.05])
def test_all_pairs_at_once_are_what_they_are_one_by_one(design: dict[str, int], up: float) -> None:
    (evaluation,) = lay_out(read_scores(table(4, **design)))
    claim, count = choose_claim(evaluation, None), len(evaluation.systems)
    left, right = np.triu_indices(count, 1)
    found = pair_all(evaluation, left, right, claim, level=0.9, progress=no_progress)
    assert found is not None
    pairs, refused = found
    names = [system.name for system in evaluation.systems]
    alone = [pair_systems(evaluation, names[i], names[j], claim, level=0.9) for i, j in zip(left, right, strict=True)]
    assert isinstance(pairs, ManyPairs)
    assert not refused
    assert pairs[3].method == alone[3].method
    both = retest_pairs(pairs, up, 0.9), retest_pairs(alone, up, 0.9)
    for one, other in (both, (differences_of(pairs), differences_of(alone))):
        for field in ("estimate", "se", "df", "p", "log10_p", "low", "high", "se_limits", "df_limits"):
            np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-9, atol=1e-13, err_msg=field)


def test_pairs_without_spread_are_refused_and_the_others_stay() -> None:
    rng = np.random.default_rng(1)
    plain = rng.normal(size=20)
    scores = {"A": plain, "B": plain + 0.5, "C": rng.normal(size=20), "D": plain}
    rows = [(name, f"i{i}", float(value)) for name, own in scores.items() for i, value in enumerate(own)]
    given = {name: [row[k] for row in rows] for k, name in enumerate(("system", "item", "score"))}
    found = holdsup.compare_systems(given)
    assert {(c.left, c.right) for c in found.contrasts} >= {("A", "D")}
    assert len(found.contrasts) == 4
    assert any(
        "2 of 6 pairs could not be compared" in line and "all differences equal 0.5" in line for line in found.warnings
    )


def test_a_metric_of_one_item_leaves_the_others_their_answers() -> None:
    rows = [(name, item, metric, str(sample), float((place + i + sample) % 2 if metric == "success" else place % 2))
            for place, name in enumerate("ABCD") for metric, items in (("success", 5), ("polite", 1))
            for i, item in enumerate("vwxyz"[:items]) for sample in range(4)]  # fmt: skip
    columns = ("system", "item", "metric", "sample", "score")
    given = pa.table({name: [row[k] for row in rows] for k, name in enumerate(columns)})
    found = holdsup.compare_systems(
        given.replace_schema_metadata({ROLES: json.dumps({name: name for name in columns})})
    )
    assert {(c.left, c.right) for c in found.contrasts if c.metric == "success"}
    assert all(c.p > 0.05 for c in found.contrasts if c.metric == "polite")


@pytest.mark.parametrize("design", [*DESIGNS, {"runs": 2}], ids=str)
def test_limits_follow_from_the_errors_and_degrees_of_freedom_of_the_json(design: dict[str, int]) -> None:
    found = holdsup.compare_systems(table(9, **design)).to_dict()
    for c in found["contrasts"]:
        wider = c["level_simultaneous"]
        assert (c["p_adjusted"] <= 0.05) == (c["low_simultaneous"] is not None and (
            c["low_simultaneous"] > 0 or c["high_simultaneous"] < 0
        ))  # fmt: skip
        if c["p_method"].startswith("score test"):
            continue
        for low, high, se, df, level in (
            (c["low"], c["high"], c["se_limits"], c["df_limits"], found["level"]),
            (c["low_simultaneous"], c["high_simultaneous"], c["se_simultaneous"], c["df_simultaneous"], wider),
        ):
            if low is None:
                assert df < 1
                continue
            half = stats.t.ppf((1 + level) / 2, df) * se
            assert (low, high) == pytest.approx((c["difference"] - half, c["difference"] + half), rel=1e-9)
        assert c["p"] == pytest.approx(2 * stats.t.sf(abs(c["difference"]) / c["se"], c["df"]), rel=1e-6)
    for system in found["systems"]:
        if system["low"] is not None:
            half = stats.t.ppf((1 + found["level"]) / 2, system["df"]) * system["se"]
            ends = system["mean"] - half, system["mean"] + half
            if "binary" in design or "alone" in design:  # the scale ends at 0 and 1: Wilson's interval
                assert 0 <= system["low"] < system["mean"] < system["high"] <= 1
                continue
            assert (system["low"], system["high"]) == pytest.approx(ends, rel=1e-9)


def test_the_frame_of_a_comparison_is_its_contrasts() -> None:
    found = holdsup.compare_systems(table(9))
    frame = found.to_frame(backend="pyarrow")
    assert frame.num_rows == len(found.contrasts) == 10
    assert frame["p_adjusted"].to_pylist() == [c.p_adjusted for c in found.contrasts]


def test_many_systems_have_all_their_pairs_and_show_those_that_are_looked_for() -> None:
    found = holdsup.compare_systems(table(2, systems=40, runs=1))
    assert len(found.contrasts) == 780
    shown = found.tables()[1]
    assert len(shown.rows) == 39 + 38
    assert "This table shows 77 of 780 pairs" in shown.notes[0]


def test_which_systems_do_not_vary_does_not_decide_how_others_are_adjusted() -> None:
    noisy = [0.5493, 0.5519, 0.4776, 0.4862]
    found = []
    for first in ("A", "Z"):  # it can't be compared with the baseline, which doesn't vary either
        means = {first: [0.5] * 4, "B": [0.6] * 4, "C": [0.6] * 4, "D": [0.6] * 4, "X": noisy}
        rows = [(name, seed, score) for name, scores in means.items() for seed, score in enumerate(scores)]
        table = {"system": [r[0] for r in rows], "seed": [r[1] for r in rows], "score": [r[2] for r in rows]}
        found.append(holdsup.compare_systems(table, baseline="B"))
    one, other = ({c.left: c.p_adjusted for c in each.contrasts} for each in found)
    assert one["X"] == pytest.approx(other["X"])
    hundred = {**table, "score": [100 * score for score in table["score"]]}
    times = {c.left: c.p_adjusted for c in holdsup.compare_systems(hundred, baseline="B").contrasts}
    assert times["X"] == pytest.approx(other["X"])
