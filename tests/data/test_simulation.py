"""The simulator draws from the model it states."""

from __future__ import annotations

import numpy as np
import pytest

from holdsup.data import simulate_scores
from holdsup.errors import ScoresError


def test_variances_are_those_asked_for() -> None:
    items, runs = 4000, 60
    table = simulate_scores({"A": 0.3, "B": 0.5}, items=items, runs=runs, sd_item=0.1, sd_run=0.02, sd_system_item=0.04,
                            sd_residual=0.05, seed=3)  # fmt: skip
    y = table["score"].to_numpy().reshape(2, runs, items)
    residual = y - y.mean(axis=1, keepdims=True) - y.mean(axis=2, keepdims=True) + y.mean(axis=(1, 2), keepdims=True)
    assert residual.std() == pytest.approx(0.05, rel=0.02)  # 480,000 draws: standard error 0.1%
    cell = y.mean(axis=1)
    assert np.cov(cell)[0, 1] == pytest.approx(0.1**2, rel=0.1)  # 4,000 items: standard error 2.4%
    assert np.var(cell[0] - cell[1], ddof=1) == pytest.approx(2 * (0.04**2 + 0.05**2 / runs), rel=0.1)
    assert y.mean(axis=2).var(axis=1, ddof=1).mean() == pytest.approx(0.02**2, rel=0.5)  # 118 df: standard error 13%
    assert y.mean(axis=(1, 2))[1] - y.mean(axis=(1, 2))[0] == pytest.approx(0.2, abs=0.02)


def test_the_same_seed_gives_the_same_table() -> None:
    assert simulate_scores({"A": 1.0}, seed=5) == simulate_scores({"A": 1.0}, seed=5)
    assert simulate_scores({"A": 1.0}, seed=5) != simulate_scores({"A": 1.0}, seed=6)


@pytest.mark.parametrize("size", [{"items": 0}, {"runs": 0}])
def test_an_empty_simulation_is_refused(size: dict[str, int]) -> None:
    with pytest.raises(ScoresError, match="each must be 1 or more"):
        simulate_scores({"A": 0.5}, **size)


@pytest.mark.parametrize("seed", [-1, "x", 0.5, None])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(ScoresError, match="seed is"):
        simulate_scores({"A": 0.5}, seed=seed)  # type: ignore[arg-type]
