"""What a decomposition answers: yes, no or unclear, in few lines."""

from __future__ import annotations

import pytest

import holdsup
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
