"""Limits of a mean end where the scale does, those of differences do not, and a mean without limits says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdsup import compare_systems, decompose_variance, plot, rank_systems, read_scores
from holdsup.verdict.scales import Scale, find_room, find_scale


def table(means: dict[str, float], *, items: int = 12, runs: int = 3, top: float = 1.0) -> dict[str, list[Any]]:
    """Return scores of 0 and `top`, near the upper end."""
    rng = np.random.default_rng(2)
    rows = [(s, r, i, i % 4) for s in means for r in range(runs) for i in range(items)]
    system, seed, item, hard = map(list, zip(*rows, strict=True))
    score = [top * float(rng.random() < means[s]) for s in system]
    return {"system": system, "seed": seed, "item": item, "hard": hard, "score": score}


@pytest.mark.parametrize("top", [1.0, 100.0])
def test_limits_of_a_mean_are_cut_and_those_of_a_difference_are_not(top: float) -> None:
    scores = table({"A": 0.95, "B": 0.9}, top=top)
    found = compare_systems(scores)
    loose = compare_systems({**scores, "score": [3 * s for s in scores["score"]]})  # two values are a scale as well
    assert top > max(s.high for s in found.systems) > 0.99 * top
    for end in ("low", "high"):
        ends = [[getattr(s, end) for s in each.systems] for each in (found, loose)]
        assert ends[1] == pytest.approx([3 * value for value in ends[0]])
    for ours, theirs in zip(found.contrasts, loose.contrasts, strict=True):
        assert (3 * ours.low, 3 * ours.high, ours.p) == pytest.approx((theirs.low, theirs.high, theirs.p))
    assert max(c.high for c in found.contrasts) + min(s.mean for s in found.systems) > top


def test_means_along_a_property_are_cut_too() -> None:
    scores = table({"A": 0.95, "B": 0.9}, runs=2)
    tripled = {**scores, "score": [3 * s for s in scores["score"]]}
    (along,), (loose,) = (compare_systems(s, by="hard", claim="these-runs").conditional for s in (scores, tripled))
    ends = [(high, value) for s in along.slopes for high, value in zip(s.line.high, s.line.value, strict=True)]
    assert all(high <= max(1, value) for high, value in ends)  # a straight line may leave the scale by itself
    assert max(high for s in loose.slopes for high in s.line.high) > 3
    ours, theirs = along.differences[0].line, loose.differences[0].line
    assert [3 * high for high in ours.high] == pytest.approx(theirs.high)
    points = [p for f in decompose_variance(scores, by="hard", facets="seed").properties for p in f.points]
    assert points
    assert all(p.low <= p.mean <= p.high and p.high <= max(1, p.mean) for p in points)


def test_a_ranking_cuts_its_means_and_no_contrast() -> None:
    rng = np.random.default_rng(3)
    rows = [(s, d) for s in "ABC" for d in "XYZ"]
    scores = {
        "system": [s for s, _ in rows], "dataset": [d for _, d in rows],
        "score": np.minimum(1, 0.95 + 0.1 * rng.standard_normal(9)).tolist(),
    }  # fmt: skip
    found = rank_systems(scores, folds=0)
    loose = rank_systems({**scores, "score": [2 * s for s in scores["score"]]}, folds=0)
    assert max(s.high for s in found.systems) == 1
    assert max(s.high for s in loose.systems) > 2
    assert [2 * c.high for c in found.contrasts] == pytest.approx([c.high for c in loose.contrasts])


def test_a_ranked_mean_of_one_dataset_says_why_it_has_no_limits() -> None:
    rng = np.random.default_rng(4)
    rows = [(s, d) for s in "ABC" for d in "WXYZ"] + [("D", "X")]
    score = rng.random(len(rows)).tolist()
    found = rank_systems({"system": [s for s, _ in rows], "dataset": [d for _, d in rows], "score": score}, folds=0)
    assert [s.name for s in found.systems if not np.isfinite(s.high)] == ["D"]
    assert "No 95% CI for D: too few datasets to measure the spread." in found.tables()[1].notes


@pytest.mark.parametrize(
    ("name", "values", "ends"),
    [
        ("score", [0, 1, 1], (0, 1)),
        ("f1", [0.2, 0.9], (0, 1)),
        ("error", [0, 1, 1], (0, 1)),
        ("latency", [0.2, 0.9], None),
        ("wer", [0.2, 1.0], None),
        ("score", [0, 100, 100], (0, 100)),
        ("accuracy (%)", [20, 90], (0, 100)),
        ("percent correct", [20, 90], (0, 100)),
        ("test_accuracy", [20, 90], (0, 100)),
        ("rougeL", [20, 90], (0, 100)),
        ("error accuracy loss", [20, 190], None),
        ("throughput", [20, 90], None),
        ("score", [0, 50, 100], None),
        ("score", [-0.1, 0.9], None),
        ("percentage", [20, 190], None),
    ],
)
def test_ends_are_those_that_scores_or_their_name_tell(
    name: str, values: list[float], ends: tuple[float, float] | None
) -> None:
    scores = read_scores({"system": list("ABC"[: len(values)]), name: values}, score=name)
    assert find_scale(scores, None) == (Scale(*ends) if ends else Scale())


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([0, 1 / 3, 1, 2 / 3], "shares of 3 (0 to 1)"),
        ([0.0, 0.31, 0.5], "shares (0 to 1)"),
        ([1, 2, 5], "ratings from 1 to 5"),
        ([-1, 1, 1], "one of two values (-1 and 1)"),
        ([0, 100, 100], "one of two values (0 and 100)"),
    ],
)
def test_scales_have_names(values: list[float], name: str) -> None:
    rows = {"system": ["A"] * len(values), "item": [*range(len(values))], "score": values}
    assert find_scale(read_scores(rows), None).name == name


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_systems_that_got_every_item_right_or_wrong_may_differ(runs: int, score: float) -> None:
    cells = [(s, f"{s}{r}", i) for s in "AB" for r in range(runs) for i in range(100)]
    system, seed, item = map(list, zip(*cells, strict=True))
    found = compare_systems({"system": system, "seed": seed, "item": item, "score": [score] * len(cells)})
    (c,) = found.contrasts
    assert c.low == pytest.approx(-c.high)
    assert 0.01 < c.high < 0.05
    assert c.p == 1
    assert "scored the same here, but" in found.headline


@pytest.mark.parametrize(
    ("values", "room"),
    [
        ([0.0, 1.0] * 50, (0, 1)),
        ([25.0, 50.0, 75.0, 100.0] * 25, (25, 100)),
        ([*np.linspace(0.5, 0.99, 60), *[1.0] * 40], (0.5, 1)),
        (np.linspace(0.2, 0.9, 100), None),
        (np.exp(3 * np.linspace(-1, 1, 100)), (0, np.inf)),
        (-np.exp(3 * np.linspace(-1, 1, 100)), None),
    ],
)
def test_runs_vary_less_near_an_end_that_many_scores_reach(values: Any, room: tuple[float, float] | None) -> None:
    rows = {"system": ["A"] * len(values), "item": [*range(len(values))], "score": [float(v) for v in values]}
    assert find_room(read_scores(rows)) == room
    tripled = find_room(read_scores(rows | {"score": [3 * float(v) for v in values]}))
    assert tripled == (room and pytest.approx(tuple(3 * end for end in room)))


def test_a_mean_beyond_the_scale_and_limits_that_are_not_there_stay() -> None:
    assert Scale(0, 1).cut(0.9, 1.3, 1.1) == (0.9, 1.1)
    assert Scale(0, 1).cut(-np.inf, np.inf, 0.5) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("scores", "names", "why"),
    [
        (
            {"system": "AAABBBC", "seed": [1, 2, 3, 1, 2, 3, 1], "score": [0.9, 0.99, 0.95, 0.8, 0.9, 0.85, 0.7]},
            "C", "one run, and no items",
        ),
        (
            {"system": "AABBC", "item": [1, 2, 1, 2, 1], "score": [0.1, 0.4, 0.3, 0.2, 0.5]},
            "C", "fewer than two items",
        ),
        (
            {"system": "AAAABBBBCC", "lr": list("1111111112"), "seed": [1, 1, 2, 2] * 2 + [1, 1],
             "item": list("1212121212"), "score": [0.1, 0.4, 0.3, 0.2, 0.5, 0.2, 0.1, 0.9, 0.2, 0.3]},
            "C", "none of its items has a score at each of its settings",
        ),
        (table({"A": 0.07, "B": 0.8}, runs=2), "A", "too few runs to measure their spread"),
    ],
)  # fmt: skip
def test_a_mean_without_limits_says_why_beside_it(scores: dict[str, Any], names: str, why: str) -> None:
    found = compare_systems({name: list(column) for name, column in scores.items()})
    assert {s.name for s in found.systems if s.note == why} == set(names)
    assert all((s.note == "") == np.isfinite(s.high) for s in found.systems)
    assert f"No CI for the mean of {names}: {why}." in found.page().text(width=200)
    plot(found)


@pytest.mark.parametrize(("mean", "shaped"), [(0.97, True), (0.6, False)])
def test_near_an_end_at_which_many_scores_are_the_ci_of_a_mean_is_lopsided(mean: float, shaped: bool) -> None:
    """Shares of 4 near .97, runs that vary a lot: Wilson's interval covers 93% where Student's covers 89%."""
    rng = np.random.default_rng(5)
    rows = [(system, run, item, rng.binomial(4, mean) / 4) for system in "AB" for run in range(3) for item in range(50)]
    names = ("system", "run", "item", "score")
    found = compare_systems({n: list(c) for n, c in zip(names, zip(*rows, strict=True), strict=True)}).systems[0]
    below, above = found.mean - found.low, found.high - found.mean
    assert (below > 1.1 * above) == shaped
    assert shaped or below == pytest.approx(above)


def test_all_right_in_percent_is_all_right() -> None:
    one = {"system": ["A"] * 9 + ["B"] * 9, "item": [*range(9)] * 2, "score": [1.0] * 18}
    shares, percents = compare_systems(one), compare_systems({**one, "score": [100.0] * 18})
    assert percents.contrasts[0].low == pytest.approx(100 * shares.contrasts[0].low)
    assert percents.systems[0].low == pytest.approx(100 * shares.systems[0].low)
