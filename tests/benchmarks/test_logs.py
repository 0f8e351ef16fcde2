"""The logs that the benchmark writes are read as the scores that it wrote."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from holdsup.scores import read_scores


@pytest.fixture
def logs(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    return importlib.import_module("logs")


@pytest.mark.parametrize(("ending", "attached"), [(".eval", 0), (".eval", 5_000), (".json", 0)])
def test_inspect_logs_hold_what_was_written(logs: ModuleType, tmp_path: Path, ending: str, attached: int) -> None:
    written = logs.write_inspect(tmp_path, 2, 15, ending, attached)
    read = read_scores(tmp_path)
    scores = [
        score for score, code in zip(read.score, read.metric.codes, strict=True) if read.metric.names[code] == "match"
    ]
    assert sorted(scores) == sorted(written)
    assert "Both means match" in next(note.message for note in read.notes if note.code == "logs-read")


def test_lm_eval_folders_hold_what_was_written(logs: ModuleType, tmp_path: Path) -> None:
    written = logs.write_lm_eval(tmp_path, 60_000)
    read = read_scores(tmp_path)
    assert sorted(read.score) == sorted(written)
    assert "All 4 means match" in next(note.message for note in read.notes if note.code == "logs-read")
