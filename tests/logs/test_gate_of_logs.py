"""A gate whose sides are folders of logs: paired by id, audited together, though both name their system alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdsup import gate_release
from holdsup.errors import ScoresError

READERS = ["plain_reader"]
GOOD = [1.0, 0.0, 1.0, 1.0, 1.0] * 20
BAD = [0.0, 1.0, 0.0, 0.0, 0.0] * 20


def write_log(folder: Path, scores: Sequence[float], *, content: str = "question", **more: Any) -> Path:
    folder.mkdir()
    rows = [{"item": f"q{i}", "metric": "acc", "score": s, "content": f"{content} {i}"} for i, s in enumerate(scores)]
    log = {
        "plain": 1,
        "system": "agent",
        "rows": rows,
        "extra": ["content"],
        "means": {"acc": sum(scores) / len(scores)},
        **more,
    }
    (folder / "log.json").write_text(json.dumps(log))
    return folder


def test_the_same_system_before_and_after_is_two_sides(tmp_path: Path) -> None:
    old, new = write_log(tmp_path / "old", GOOD), write_log(tmp_path / "new", BAD)
    assert gate_release(new, old, drop=0.05, readers=READERS).outcome == "inconclusive"
    found = gate_release(new, old, drop=0.05, claim="these-runs", readers=READERS)
    assert (found.outcome, found.candidate, found.baseline) == ("fail", "agent", "agent")
    assert found.contrasts[0].items == 100
    assert gate_release(old, old, drop=0.05, readers=READERS).identical


def test_each_log_is_read_once(tmp_path: Path) -> None:
    old, new = write_log(tmp_path / "old", GOOD), write_log(tmp_path / "new", BAD)
    told: list[str] = []
    gate_release(new, old, drop=0.05, readers=READERS, progress=lambda done, total, what: told.append(what))
    assert sum("log.json" in what for what in told) == 2, told


def test_other_questions_under_the_same_ids_are_refused_unless_accepted(tmp_path: Path) -> None:
    old, new = write_log(tmp_path / "old", GOOD), write_log(tmp_path / "new", GOOD, content="another")
    with pytest.raises(ScoresError, match="100 ids stand for different inputs or targets in different logs"):
        gate_release(new, old, drop=0.05, claim="these-runs", readers=READERS)
    code = "different-items-under-one-id"
    found = gate_release(new, old, drop=0.5, claim="these-runs", readers=READERS, accept=code)
    assert found.outcome == "pass"
    assert {c.code: c.severity for c in found.cautions}[code] == "warning"


def test_a_log_that_stopped_early_is_refused(tmp_path: Path) -> None:
    old, new = write_log(tmp_path / "old", GOOD), write_log(tmp_path / "new", GOOD[:60])
    with pytest.raises(ScoresError, match="40 of 100 items have a score for only one system"):
        gate_release(new, old, drop=0.05, claim="these-runs", readers=READERS)
