"""Cautions for differences with a long tail, and for a run that collapsed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from holdsup import Comparison, compare_systems
from holdsup.numerics.outliers import is_skewed, outlying_run

CODES = {"skewed-differences", "collapsed-run"}
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def compare(scores: dict[str, np.ndarray]) -> Comparison:
    rows = [
        (name, f"r{run}", f"i{item}", float(value))
        for name, table in scores.items() for (item, run), value in np.ndenumerate(table)
    ]  # fmt: skip
    names = ("system", "run", "item", "score")
    return compare_systems({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def codes(found: Comparison) -> set[str]:
    return {each.code for each in found.cautions} & CODES


def test_costs_of_one_system_with_a_long_tail_are_told_in_the_short_answer() -> None:
    rng = np.random.default_rng(3)
    costs = rng.lognormal(0, 1.5, (30, 1)) * rng.lognormal(0, 0.1, (30, 5))
    found = compare({"A": costs, "B": 3 + rng.normal(0, 0.1, (30, 5))})
    (said,) = (each for each in found.cautions if each.code == "skewed-differences")
    assert said.about == "pair:A - B"
    assert "of true nulls" in said.message
    assert "differences are very skewed over 30 items" in found.answer().text()


def test_a_run_far_from_the_others_is_named_in_the_short_answer_and_kept() -> None:
    rng = np.random.default_rng(3)
    left, right = (rng.normal(0.7, 0.1, (100, 5)) + rng.normal(0, 0.01, (1, 5)) for _ in range(2))
    left[:, 3] -= 0.35
    found = compare({"A": left, "B": right})
    (said,) = (each for each in found.cautions if each.code == "collapsed-run")
    assert said.about == "system:A"
    assert "r3 of A is far off: mean 0.3" in said.message
    assert "r3 of A is far off" in found.answer().text()
    assert next(s.mean for s in found.systems if s.name == "A") == pytest.approx(left.mean())


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, shape: rng.normal(0.7, 0.1, shape),
        lambda rng, shape: (rng.random(shape) < 0.9).astype(float),
        lambda rng, shape: rng.beta(8, 2, shape),
        lambda rng, shape: rng.choice(5, shape, p=(0.1, 0.2, 0.3, 0.25, 0.15)) + 1.0,
    ],
    ids=["normal", "0/1", "beta", "Likert"],
)
def test_ordinary_tables_have_neither(draw: Draw) -> None:
    rng = np.random.default_rng(1)
    told = [
        bool(is_skewed(left.mean(1) - right.mean(1)))
        or any(outlying_run(x, systems=2) is not None for x in (left, right))
        for left, right in ((draw(rng, (50, 5)), draw(rng, (50, 5))) for _ in range(500))
    ]
    assert np.mean(told) < 0.02
    assert not codes(compare({name: draw(rng, (50, 5)) for name in ("A", "B")}))


def test_three_runs_and_equal_scores_have_no_outlying_run() -> None:
    assert outlying_run(np.array([[0.1, 0.7, 0.7], [0.1, 0.7, 0.7]]), systems=2) is None
    assert outlying_run(np.full((5, 6), 0.5), systems=2) is None
