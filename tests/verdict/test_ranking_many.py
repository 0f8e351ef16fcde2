"""Very many systems: pairs are tested at once, refits are bounded, and what is bounded is said."""

from __future__ import annotations

import numpy as np
import pytest
from ranking_cases import Table, codes, messages

from holdsup import rank_systems
from holdsup.verdict.ranking import contrasts


def make_many(count: int, *, datasets: int = 3, runs: int = 1) -> Table:
    rng = np.random.default_rng(2)
    s, d, r = (axis.ravel() for axis in np.indices((count, datasets, runs)))
    score = rng.normal(0, 1, count)[s] + rng.normal(0, 1, datasets)[d] + rng.normal(0, 0.3, len(s))
    names = np.array([f"s{i:03}" for i in range(count)])
    return {"system": names[s], "dataset": np.array([f"d{i}" for i in range(datasets)])[d], "seed": r, "score": score}


def test_pairs_are_tested_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    decide = contrasts.decide_all
    monkeypatch.setattr(contrasts, "decide_all", lambda *args: asked.append(len(args[0])) or decide(*args))
    found = rank_systems(make_many(30, datasets=4, runs=2), folds=0)
    assert len(found.contrasts) == 435
    refits = len(found.influence)
    assert sum(count > 1 for count in asked) <= 4  # means, and pairs by two levels and both readings
    assert len(asked) <= 4 + refits


def test_pairs_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_many(9, datasets=5, runs=2)
    whole = rank_systems(table, folds=0)
    monkeypatch.setattr(contrasts, "MOST_AT_ONCE", 7)
    assert rank_systems(table, folds=0).contrasts == whole.contrasts


def test_of_very_many_systems_the_best_are_left_out() -> None:
    found = rank_systems(make_many(60), folds=0)
    left = [row.left_out for row in found.influence if row.kind == "system"]
    assert set(left) == {system.name for system in found.systems[:50]}
    assert "Of 60 systems, the best 50 were left out" in messages(found, "systems-kept")
    assert "systems-kept" not in codes(rank_systems(make_many(6), folds=0))
