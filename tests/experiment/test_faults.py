"""The promises under faults, in small: benchmarks/faults.py tries them at full size."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def faults(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    return importlib.import_module("faults")


def test_killed_runs_lose_and_repeat_nothing(faults: ModuleType, tmp_path: Path) -> None:
    found = faults.kill_runs(tmp_path, 8, tasks=400)
    assert found["kills"] == 8
    assert [found[key] for key in ("lost", "twice", "run again", "wrong")] == [0, 0, 0, 0]


def test_many_writers_share_a_store(faults: ModuleType, tmp_path: Path) -> None:
    found = faults.write_together(tmp_path, 4, tasks=1_000)
    assert found["that worked"] >= 2
    assert [found[key] for key in ("errors", "lost", "twice", "run again", "wrong")] == [0, 0, 0, 0, 0]


def test_a_store_that_cannot_grow_says_so_and_is_resumed(faults: ModuleType, tmp_path: Path) -> None:
    found = faults.fill_up(tmp_path, 4, tasks=300)
    assert found["stopped"] >= 2
    assert [found[key] for key in ("lost", "twice", "run again", "wrong", "unclear")] == [0, 0, 0, 0, 0]


def test_damage_changes_no_value_silently(faults: ModuleType, tmp_path: Path) -> None:
    found = faults.damage_stores(tmp_path, 40, tasks=100)
    assert found["read in part"] >= 10
    assert found["results read"] > 0.6 * found["results in all"]
    assert [found[key] for key in ("wrong", "silent")] == [0, 0]
