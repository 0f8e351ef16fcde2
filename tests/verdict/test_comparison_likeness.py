"""What the answer says of simulated evaluations like this one, and that it says nothing where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from holdsup import Comparison, compare_systems, simulate_scores
from holdsup.data.calibration import calibration_cells
from holdsup.results import Caution
from holdsup.verdict.comparison import likeness
from holdsup.verdict.comparison.likeness import describe, find_nearest, is_broken, say_nearest
from holdsup.verdict.scales import Scale

CODES = ("calibration", "calibration-broken")
Table = dict[str, list[object]]


def tabulate(scores: dict[str, np.ndarray], **columns: str) -> Table:
    rows = [
        (name, f"r{run}", f"i{item}", float(value), *columns.values())
        for name, table in scores.items() for (item, run), value in np.ndenumerate(table)
    ]  # fmt: skip
    names = ("system", "run", "item", "score", *columns)
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def normal(systems: str = "AB", *, items: int = 100, runs: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    easy = 0.1 * rng.standard_normal((items, 1))
    return {
        name: 0.5 + easy + 0.07 * rng.standard_normal((items, runs)) + 0.011 * rng.standard_normal(runs)
        for name in systems
    }


def quoted(found: Comparison) -> list[Caution]:
    return [each for each in found.cautions if each.code in CODES]


def test_the_commonest_designs_quote_their_own_cell_and_short_answers_do_not_grow() -> None:
    cells = {cell.like: cell for cell in calibration_cells()}
    for runs in (1, 3, 5):
        found = compare_systems(tabulate(normal(runs=runs)))
        (said,) = quoted(found)
        assert said.code == "calibration"
        assert said.severity == "note"
        (own,) = (
            cell for like, cell in cells.items()
            if (like.scores, like.systems, like.items, like.clusters) == ("other", 2, 100, False)
            and like.fewest_runs == like.most_runs == runs and like.loudness < 2
        )  # fmt: skip
        assert said.message == say_nearest(own)
        each = "1 run each" if runs == 1 else f"{runs} runs each"
        share = f"{100 * own.false_positives / own.tables:.1f}% of true nulls were rejected at 5%."
        assert said.message == (
            f"In {own.tables:,} simulated evaluations like this one (2 systems, 100 items, {each}, continuous scores), "
            f"{share}"
        )
        assert "simulated evaluations" not in found.answer().text()
        assert said.message in found.to_json()


def test_several_systems_quote_how_often_any_pair_was_told_apart() -> None:
    (said,) = quoted(compare_systems(tabulate(normal("ABCDE"))))
    assert "5 systems" in said.message
    assert said.message.endswith("had a pair told apart at 5%.")


def test_a_design_in_which_the_promise_was_broken_is_a_caveat_of_the_short_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    easy = rng.standard_normal((1000, 1))
    latent = {"A": np.array([-0.6, 0.1, 0.7, -0.2, 0.1]), "B": 0.05 * rng.standard_normal(5)}
    table = tabulate(
        {name: (2.4 + easy + runs + rng.standard_normal((1000, 5)) > 0).astype(float) for name, runs in latent.items()}
    )
    assert [each.code for each in quoted(compare_systems(table))] == ["calibration"]
    bad = tuple(replace(cell, false_positives=int(0.08 * cell.tables)) for cell in calibration_cells())
    monkeypatch.setattr(likeness, "calibration_cells", lambda: bad)
    found = compare_systems(table)
    (said,) = quoted(found)
    assert (said.code, said.severity) == ("calibration-broken", "warning")
    assert "few runs may not show" in said.effect
    assert "caveat" in found.answer().text()
    assert "simulated evaluations like this one" in " ".join(found.answer().text().split())
    assert found.answer().text().count("\n") <= 16


def test_no_design_of_the_grid_is_above_six_per_cent_for_certain() -> None:
    assert not [cell.cell for cell in calibration_cells() if is_broken(cell)]


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ({}, {"level": 0.99}),
        ({}, {"claim": "these-runs"}),
        ({"dataset": "news"}, {"by": "length"}),
        ({}, {"deterministic": "A"}),
        ({}, {"shared": "seed"}),
    ],
    ids=str,
)
def test_nothing_is_said_of_designs_that_the_grid_does_not_hold(
    more: dict[str, str], options: dict[str, object]
) -> None:
    table = tabulate(normal(), **more)
    if "shared" in options:
        table["seed"] = table.pop("run")
    if "deterministic" in options:
        table["score"] = [
            score if system == "B" else 0.5 for system, score in zip(table["system"], table["score"], strict=True)
        ]
    if "by" in options:
        table["length"] = [int(str(item)[1:]) for item in table["item"]]
    assert not quoted(compare_systems(table, **options))


def test_nothing_is_said_of_a_baseline_of_many_missing_scores_several_datasets_and_metrics() -> None:
    assert not quoted(compare_systems(tabulate(normal("ABC")), baseline="A"))
    assert quoted(compare_systems(tabulate(normal()), baseline="A"))
    missing = tabulate(normal())
    missing["score"][5] = float("nan")
    assert not quoted(compare_systems(missing))
    both = [tabulate(normal(), dataset=name) for name in ("news", "talks")]
    assert not quoted(compare_systems({column: both[0][column] + both[1][column] for column in both[0]}))
    both = [tabulate(normal(), metric=name) for name in ("bleu", "chrf")]
    assert not quoted(compare_systems({column: both[0][column] + both[1][column] for column in both[0]}))


def test_an_evaluation_far_from_all_cells_has_none() -> None:
    like = describe([*normal().values()], Scale(), clusters=False)
    assert find_nearest(like) is not None
    assert find_nearest(replace(like, items=100_000)) is None
    assert find_nearest(replace(like, fewest_runs=40, most_runs=40)) is None
    assert find_nearest(replace(like, systems=30)) is None
    assert find_nearest(replace(like, lean=9.0)) is None


def test_a_shift_and_a_scale_change_nothing_of_the_likeness() -> None:
    rng = np.random.default_rng(3)
    scores = [rng.normal(size=(30, 4)) * [1, 2, 1, 3] for _ in range(3)]
    here = describe(scores, Scale(), clusters=False)
    there = describe([5 + 3 * each for each in scores], Scale(), clusters=False)
    assert there.loudness == pytest.approx(here.loudness)
    right = [(each > 1).astype(float) for each in scores]
    share = describe(right, Scale(0, 1, two_valued=True), clusters=False)
    percent = describe([100 - 100 * each for each in right], Scale(0, 100, two_valued=True), clusters=False)
    assert (share.lean, share.rarer, share.loudness) == pytest.approx((percent.lean, percent.rarer, percent.loudness))


def test_runs_lean_as_much_as_their_skewness() -> None:
    """Even effects on the logit scale: the formula is the skewness of the means, while they vary little."""
    rng = np.random.default_rng(4)
    means = 1 / (1 + np.exp(-(2.2 + 0.15 * rng.standard_normal(200_000))))
    skewness = float(((means - means.mean()) ** 3).mean() / means.std() ** 3)
    scores = np.broadcast_to(means[:5000], (2, 5000))
    lean = describe([scores, scores], Scale(0, 1), clusters=False).lean
    assert lean == pytest.approx(-skewness, rel=0.1)


def test_a_cell_is_broken_where_more_than_six_percent_are_sure() -> None:
    cell = calibration_cells()[0]
    assert not is_broken(replace(cell, tables=2000, false_positives=135))  # 6.75%, Wilson from 5.7%
    assert is_broken(replace(cell, tables=2000, false_positives=145))  # 7.25%, from 6.2%
    assert is_broken(replace(cell, tables=10_000, false_positives=660))


def test_simulated_scores_of_the_package_are_covered() -> None:
    assert quoted(compare_systems(simulate_scores({"A": 0.70, "B": 0.72}, items=300, runs=5, seed=1)))
