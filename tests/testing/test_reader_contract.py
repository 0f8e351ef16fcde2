"""The suite for readers of logs passes a good one, and says what is wrong with others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from holdsup.logs import Found, TaskLog
from holdsup.testing import BrokenPromise, check_reader
from plain_reader import PlainReader


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    rows = [{"item": f"q{i}", "metric": "acc", "score": i % 2} for i in range(10)]
    (tmp_path / "a.json").write_text(json.dumps({"plain": 1, "system": "A", "rows": rows, "means": {"acc": 0.5}}))
    return tmp_path


def test_a_reader_that_keeps_the_contract_passes(logs: Path) -> None:
    check_reader(PlainReader(), logs)


class Greedy(PlainReader):
    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        yield from (Found(self.name, str(file), (file,)) for file in files)


class Fragile(PlainReader):
    def read(self, found: Found) -> Iterator[TaskLog]:
        if not found.files[0].read_text().endswith("}"):
            raise RuntimeError("half a log")
        yield from super().read(found)


class Altering(PlainReader):
    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def read(self, found: Found) -> Iterator[TaskLog]:
        yield from (replace(log, **self.changes) for log in super().read(found))


ROWS = pa.table({"item": ["q1", "q1"], "metric": ["acc", "acc"], "score": [1.0, 0.0]})


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        (Greedy(), "is no log"),
        (Fragile(), "breaks with RuntimeError"),
        (Altering(means={"acc": 0.25}), "acc = 0.25"),
        (Altering(rows=ROWS, means={}), "several scores of one item"),
        (Altering(rows=ROWS.drop_columns(["metric"]), means={}), "gives no column 'metric'"),
        (Altering(rows=ROWS.slice(1).append_column("sample", pa.array([1])), means={}), "sample as int64"),
    ],
)
def test_what_a_reader_does_not_keep_is_named(logs: Path, reader: Any, said: str) -> None:
    with pytest.raises(BrokenPromise, match=said):
        check_reader(reader, logs)


def test_a_folder_without_logs_is_no_example(tmp_path: Path) -> None:
    with pytest.raises(BrokenPromise, match="finds no log"):
        check_reader(PlainReader(), tmp_path)
