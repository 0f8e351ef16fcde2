"""What a decomposition answers: yes, no or unclear, in few lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

import holdsup
from holdsup.results import Caution
from holdsup.verdict import Decomposition


def decompose(
    *, sd_item: float, sd_run: float, items: int, runs: int, systems: str = "A", **more: float
) -> Decomposition:
    means = {name: 0.7 + 0.01 * place for place, name in enumerate(systems)}
    table = holdsup.simulate_scores(
        means, items=items, runs=runs, sd_item=sd_item, sd_run=sd_run, sd_system_item=0, sd_residual=0.02, seed=1
    )
    return holdsup.decompose_variance(table, **more)


@pytest.mark.parametrize(
    ("sd_item", "sd_run", "items", "runs", "state"),
    [(0.2, 0.001, 100, 8, "yes"), (0.01, 0.001, 200, 8, "no"), (0.1, 0.05, 30, 3, "unclear")],
)
def test_the_state_is_where_the_whole_interval_lies(
    sd_item: float, sd_run: float, items: int, runs: int, state: str
) -> None:
    found = decompose(sd_item=sd_item, sd_run=sd_run, items=items, runs=runs)
    assert found.reliability is not None
    low, high = found.reliability.low, found.reliability.high
    assert found.state == state == ("yes" if low >= 0.8 else "no" if high < 0.8 else "unclear")


def test_another_threshold_is_named_and_asked_again() -> None:
    found = decompose(sd_item=0.1, sd_run=0.001, items=100, runs=8, threshold=0.99)
    assert (found.state, ".99" in found.headline) == ("no", True)
    command = found.asked.command()
    assert command is not None
    assert "--threshold 0.99" in command
    assert "threshold:0.99" in found.signature


def test_one_unreliable_system_makes_the_evaluation_unreliable() -> None:
    table = holdsup.simulate_scores({"A": 0.7}, items=100, runs=8, sd_item=0.2, sd_run=0.001, seed=1).to_pylist()
    noisy = holdsup.simulate_scores({"B": 0.7}, items=100, runs=8, sd_item=0.001, sd_run=0.001, seed=2).to_pylist()
    found = holdsup.decompose_variance(table + noisy)
    assert (found.state, "for B" in found.headline) == ("no", True)


@pytest.mark.parametrize(("systems", "most"), [("A", 25), ("AB", 25), ("ABCDEFGHIJKLMNOP", 25)])
def test_the_answer_fits_a_screen_and_ends_with_its_signature(systems: str, most: int) -> None:
    lines = str(decompose(sd_item=0.1, sd_run=0.05, items=30, runs=3, systems=systems)).splitlines()
    assert len(lines) <= most
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[-1].startswith("variance|data:")


def test_the_headline_is_short() -> None:
    found = decompose(sd_item=0.1, sd_run=0.05, items=30, runs=3, systems="AB")
    assert len(found.headline.split()) <= 25


def mix(spreads: dict[str, float], **more: object) -> Decomposition:
    """Return the decomposition of systems whose items differ by these standard deviations."""
    rows = []
    for place, (name, spread) in enumerate(spreads.items()):
        made = holdsup.simulate_scores(
            {name: 0.7}, items=40, runs=4, sd_item=spread, sd_run=0.01, sd_residual=0.1, seed=place
        )
        rows.extend(made.to_pylist())
    return holdsup.decompose_variance(rows, **more)


def test_headline_table_and_advice_are_about_the_same_system_and_reaching_systems_are_counted() -> None:
    found = mix({f"good{i:02}": 1.0 for i in range(6)} | {f"poor{i:02}": 0.03 + 0.002 * i for i in range(8)})
    answer = found.answer()
    worst = min(found.reliabilities, key=lambda r: r.phi).system
    (advice,) = (said for label, said in answer.foot if label == "settle it")
    (table,) = answer.parts
    assert found.state == "no"
    assert "6 of 14 systems clearly reach .80; phi is" in found.headline
    assert f"for {worst} (95% CI" in found.headline
    assert table.rows[0][0] == worst  # type: ignore[union-attr]
    assert advice.startswith(f"{worst}: ")


@pytest.mark.parametrize(
    ("spreads", "said"),
    [
        ({"A": 1.0, "B": 2.0, "C": 2.0}, "all 3 systems reach .80; the lowest phi is"),
        ({"A": 0.01, "B": 0.01}, "neither of the systems clearly reaches .80"),
        ({"A": 0.01, "B": 1.0}, "1 of 2 systems clearly reaches .80"),
    ],
)
def test_systems_that_reach_the_threshold_are_counted(spreads: dict[str, float], said: str) -> None:
    headline = mix(spreads).headline
    assert said in headline
    assert len(headline.split()) <= 25


def test_a_plan_that_averages_over_nothing_is_no_advice() -> None:
    found = mix({"A": 0.05}, levels={"seed": [1]})
    settled = [said for label, said in found.answer().foot if label == "settle it"]
    assert settled
    assert all("over 4 levels of seed" in said for said in settled)  # those that there are


def test_a_value_next_to_the_threshold_is_written_on_its_side_of_it() -> None:
    found = mix({"A": 0.05})
    assert found.reliability is not None
    low = replace(found.reliability, phi=0.7, low=0.6, high=0.7996)
    plans = tuple(replace(plan, phi=0.7998 if plan.counts["seed"] == 10 else 0.5) for plan in found.study)
    found = replace(found, reliability=low, reliabilities=(low,), study=plans)
    assert "CI 0.60 to 0.7996), below .80" in found.headline
    (said,) = (said for label, said in found.answer().foot if label == "settle it")
    assert said == "even averages over 10 levels of seed have phi 0.7998, below .80"
    enough = replace(found, study=tuple(replace(plan, phi=0.8) for plan in plans))
    (said,) = (said for label, said in enough.answer().foot if label == "settle it")
    assert said == "averages over 2 levels of seed have phi 0.80"


def test_the_threshold_that_was_asked_for_is_the_one_in_the_table() -> None:
    reliability = decompose(sd_item=0.1, sd_run=0.001, items=100, runs=8, threshold=0.99).tables()[1]
    assert (reliability.columns[-1], reliability.rows[0][-1]) == ("above .99", "no")


def test_long_names_are_cut_in_the_short_answer_and_whole_elsewhere() -> None:
    names = [f"{'x' * 150}{letter}{'y' * 149}" for letter in "AB"]
    found = mix(dict.fromkeys(names, 0.05))
    lines = str(found).splitlines()
    assert len(lines) <= 25
    assert not any(name in str(found) for name in names)
    assert " #2 " in str(found)
    assert any(name in found.headline for name in names)
    assert any(name in found.to_dict()["headline"] for name in names)
    assert all(name in found.page().text(width=1000) for name in names)


@pytest.mark.parametrize("width", [40, 80])
def test_a_long_system_and_a_long_facet_do_not_lengthen_the_answer(width: int) -> None:
    short, long = mix({"A": 0.05}), mix({"A" * 300: 0.05})
    assert len(long.answer().text(width=width).splitlines()) == len(short.answer().text(width=width).splitlines())


def test_many_systems_with_long_caveats_fit_the_lines_too() -> None:
    found = decompose(sd_item=0.1, sd_run=0.05, items=30, runs=3, systems="ABCDEFGHIJKLMNOP")
    long = tuple(Caution(code=code, message=f"{code}: {'scores that are missing ' * 9}.") for code in ("one", "two"))
    lines = str(replace(found, cautions=long)).splitlines()
    assert len(lines) <= 25
    assert any("11 more with higher phi: --full" in line for line in lines)
