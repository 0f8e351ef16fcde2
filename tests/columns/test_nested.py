"""Objects inside records become columns; lists and bytes are left out with a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdsup.columns import open_tables
from holdsup.errors import ReadError
from holdsup.scores import read_scores
from holdsup.scores.audit import audit_scores

RECORDS = [
    {"model": m, "id": i, "metrics": {"f1": i / 10, "deep": {"x": 2**60 + i, "day": "2024-01-01"}}, "tokens": ["a"]}
    for m in "AB"
    for i in (1, 2)
]


def jsonl(folder: Path) -> Path:
    (folder / "x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return folder / "x.jsonl"


def whole(folder: Path) -> Path:
    (folder / "x.json").write_text(json.dumps(RECORDS))
    return folder / "x.json"


def parquet(folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(RECORDS), folder / "x.parquet")
    return folder / "x.parquet"


@pytest.mark.parametrize(
    "make",
    [
        jsonl,
        whole,
        parquet,
        lambda _: RECORDS,
        lambda _: pa.Table.from_pylist(RECORDS),
        lambda _: pd.DataFrame(RECORDS),
    ],
)
def test_fields_of_objects_are_columns_with_a_point_in_their_names(make: Callable[[Path], Any], tmp_path: Path) -> None:
    data = make(tmp_path)
    scores = read_scores(data, score="metrics.f1", facets="metrics.deep.x")
    assert scores.score.tolist() == [0.1, 0.2, 0.1, 0.2]
    assert scores.facets["metrics.deep.x"].names == (str(2**60 + 1), str(2**60 + 2))
    assert scores.others["metrics.deep.day"].names == ("2024-01-01",)
    assert [note.message for note in scores.notes] == ["Columns of lists or bytes are left out: 'tokens'."]
    assert [c for c in audit_scores(scores).cautions if c.code == "nested-columns"] == [*scores.notes]


def test_an_object_that_a_record_lacks_is_missing() -> None:
    records = [{"system": "A", "m": {"f1": 0.5}}, {"system": "B", "m": None}, {"system": "C"}, {"system": "D", "m": 3}]
    scores = read_scores(records, score="m.f1")
    assert scores.rows().used == 1
    assert read_scores(records, score="m").score[3] == 3


def test_no_role_is_given_by_name_to_a_column_of_lists() -> None:
    records = [{"question": ["what"], "id": i, "system": "A", "f1": 0.5, "score": [1, 2]} for i in range(2)]
    roles = read_scores(records).roles
    assert (roles.item, roles.score) == ("id", "f1")


def test_objects_are_flattened_to_four_levels() -> None:
    deep: Any = 1
    for _ in range(6):
        deep = {"a": deep}
    (table,) = open_tables([deep])
    assert table.columns == ("a.a.a.a.a",)
    assert table.guess("a.a.a.a.a") == "other"


def test_an_object_with_very_many_fields_is_refused() -> None:
    fields = {f"f{i}": 1 for i in range(20_001)}
    with pytest.raises(ReadError, match="different fields"):
        open_tables([{"m": fields}])
    with pytest.raises(ReadError, match="20,001 columns"):
        open_tables(pa.Table.from_pylist([{"m": fields}]))


def test_a_field_named_like_a_column_is_refused() -> None:
    with pytest.raises(ReadError, match=r"more than one .* named 'm.f1'"):
        open_tables([{"m": {"f1": 1}, "m.f1": 2}])
    with pytest.raises(ReadError, match=r"more than one column named 'm.f1'"):
        open_tables(pa.Table.from_pylist([{"m": {"f1": 1}, "m.f1": 2}]))
