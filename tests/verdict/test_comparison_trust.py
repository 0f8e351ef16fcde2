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


EVIDENCE = {"lopsided-runs", "weak-evidence"}


def tell(lead: float, *, sd: float = 0.011, systems: int = 2, items: int = 100, runs: int = 3) -> Comparison:
    """Compare systems of which the first leads by as much as told; the others don't differ."""
    rng = np.random.default_rng(8)
    item = rng.normal(0.7, 0.1, (items, 1))
    draw = (item + rng.normal(0, 0.05, (items, runs)) + sd * np.linspace(-1, 1, runs) for _ in range(systems))
    scores = {"ABCDE"[place]: table - table.mean() + 0.7 for place, table in enumerate(draw)}
    return compare(scores | {"A": scores["A"] + lead})


def lead_for(p: float, **options: float) -> float:
    """Return a lead that is only just told: the surest difference has about this p."""
    low, high = 0.0, 0.3
    for _ in range(14):
        middle = (low + high) / 2
        found = min(c.p_adjusted for c in tell(middle, **options).contrasts)  # type: ignore[arg-type]
        low, high = (middle, high) if found > p else (low, middle)
    return high


@pytest.mark.parametrize(("systems", "about"), [(2, "pair:A - B"), (3, "table:contrasts")])
def test_a_difference_only_just_told_says_what_lopsided_runs_would_do(systems: int, about: str) -> None:
    found = tell(lead_for(0.03, systems=systems), systems=systems)
    (said,) = (each for each in found.cautions if each.code in EVIDENCE)
    assert said.code == "lopsided-runs"
    assert said.about in {about, "pair:A - B", "pair:A - C"}
    assert "up to 12% of true nulls" in said.message
    assert "p below .010" in said.advice
    assert "go far astray" in found.answer().text()


def test_a_smaller_p_or_none_has_no_such_caution() -> None:
    for found in (tell(lead_for(0.009)), tell(0.0)):
        assert not {each.code for each in found.cautions} & EVIDENCE


def test_where_items_decide_evidence_is_weak_and_runs_are_not_blamed() -> None:
    found = tell(lead_for(0.03, sd=0.0, items=20), sd=0.0, items=20)
    assert {each.code for each in found.cautions} & EVIDENCE == {"weak-evidence"}


def test_over_datasets_the_answer_says_what_runs_near_an_end_would_change() -> None:
    """Ten datasets, shares of 4 right: p is that of `rank`, and would be above .05 under the null's run variance."""
    rng = np.random.default_rng(19)
    rows: dict[str, list[object]] = {name: [] for name in ("system", "run", "item", "dataset", "score")}
    for name, means in (("A", (0.99, 0.99, 0.97, 0.98, 0.97)), ("B", (0.97, 0.95, 0.96, 0.95, 0.96))):
        for run, mean in enumerate(means):
            for item in range(100):
                row = (name, f"r{run}", f"i{item}", f"d{item % 10}", rng.binomial(4, mean) / 4)
                for column, value in zip(rows, row, strict=True):
                    rows[column].append(value)
    found = compare_systems(rows)
    (said,) = (each for each in found.cautions if each.code == "runs-near-end")
    assert found.contrasts[0].p <= 0.05
    assert said.about == "pair:A - B"
    assert not any(c.code == "runs-near-end" for c in compare_systems(rows, claim="these-datasets").cautions)


@pytest.mark.parametrize(
    ("means", "noted"), [((1.0, 0.99, 0.85, 0.99, 0.98), True), ((0.6, 0.5, 0.65, 0.55, 0.6), False)]
)
def test_runs_that_vary_a_lot_near_an_end_are_noted_beside_their_mean(means: tuple[float, ...], noted: bool) -> None:
    rng = np.random.default_rng(4)
    scores = {
        name: np.stack([rng.binomial(4, m, 100) / 4 for m in own], 1) for name, own in (("A", means), ("B", (0.6,) * 5))
    }
    said = [each for each in compare(scores).cautions if each.code == "means-near-end"]
    assert [(each.severity, each.about) for each in said] == [("note", "system:A")] * noted
