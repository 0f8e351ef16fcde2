"""Frames of every library, dicts and records: the same labels, the declared order, the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from holdsup.columns import Labels, Numbers, open_tables, read_columns
from holdsup.errors import ColumnError, HoldsupError, ReadError

COLUMNS = {"system": ["NA", "null", "007"], "item": [3, 2**53 + 1, 2**62 + 1], "score": [0.1, math.inf, -0.0]}


def labels(data: Any, column: str = "x") -> Labels:
    found = read_columns(open_tables(data), labels=[column]).named[column]
    assert isinstance(found, Labels)
    return found


def numbers(data: Any, column: str = "x") -> Numbers:
    found = read_columns(open_tables(data), numbers=[column]).named[column]
    assert isinstance(found, Numbers)
    return found


def either(data: Any, column: str = "x") -> Labels:
    found = read_columns(open_tables(data), either=[column]).named[column]
    assert isinstance(found, Labels)
    return found


def texts(column: Labels) -> list[str | None]:
    return [column.names[code] if code >= 0 else None for code in column.codes]


def duck(columns: dict[str, list[Any]]) -> Any:
    table = pa.table(columns)
    return duckdb.connect().from_arrow(table)


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pl.DataFrame, pa.table, duck, lambda c: pa.table(c).to_reader(),
     lambda c: pa.table(c).to_batches()[0], lambda c: pa.table(c).to_pylist(),
     lambda c: {k: np.array(v) for k, v in c.items()}, lambda c: {k: pd.Series(v) for k, v in c.items()},
     lambda c: {k: iter(v) for k, v in c.items()}, lambda c: {k: tuple(v) for k, v in c.items()}],
)  # fmt: skip
def test_every_kind_of_frame_gives_the_same_columns(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    found = read_columns(open_tables(make(COLUMNS)), labels=["system", "item"], numbers=["score"]).named
    assert isinstance(found["system"], Labels)
    assert isinstance(found["item"], Labels)
    assert isinstance(found["score"], Numbers)
    assert texts(found["system"]) == COLUMNS["system"]
    assert texts(found["item"]) == ["3", "9007199254740993", "4611686018427387905"]
    assert found["score"].values.tobytes() == np.array(COLUMNS["score"]).tobytes()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, "0.1"], ["0.1", "0.1"]),
        ([1, "1", 1.0, True], ["1", "1", "1", "True"]),
        ([1.0, 0.5, math.nan], ["1", "0.5", None]),
        (np.array([0.1, 0.2, 1.0], np.float32), ["0.1", "0.2", "1"]),
        (np.array([0.1, 2.0], np.float16), ["0.1", "2"]),
        ([1e22, 1e-7, -0.0, math.inf], ["1e+22", "1e-07", "0", "inf"]),
        ([2**63, 2**64 + 1, -5], ["9223372036854775808", "18446744073709551617", "-5"]),
        ([2**53 + 1, 0.5], ["9007199254740993", "0.5"]),
        ([2**53 + 1, math.nan], ["9007199254740993", None]),
        ([np.float64(0.1), "a", np.int64(3), np.True_], ["0.1", "a", "3", "True"]),
        ([pd.NA, "a", pd.NaT, None, math.nan], [None, "a", None, None, None]),
        ([Decimal("0.10"), "a"], ["0.10", "a"]),
        ([date(2024, 1, 2), "a"], ["2024-01-02", "a"]),
        ([date(2024, 1, 2)], ["2024-01-02"]),
        (["", "a"], [None, "a"]),
        ([b"a", b"b"], ["a", "b"]),
        ([None, None], [None, None]),
        (["a\0b", "\x01"], ["a\0b", "\x01"]),
    ],
)
@pytest.mark.parametrize("make", [lambda v: {"x": v}, lambda v: pd.DataFrame({"x": pd.Series(list(v), dtype=object)})])
def test_a_value_is_the_same_label_alone_and_among_others(
    values: Any, expected: list[str | None], make: Callable[[Any], Any]
) -> None:
    assert texts(labels(make(values))) == expected


@given(st.lists(st.decimals(-(10**9), 10**9, allow_nan=False, places=9), min_size=1, max_size=20))
def test_decimals_become_the_nearest_float(values: list[Decimal]) -> None:
    """Arrow's own cast is off by a bit for one decimal in six."""
    assert numbers({"x": values}).values.tolist() == [float(value) for value in values]


def test_missing_nan_and_infinite_are_told_apart() -> None:
    found = numbers(pl.DataFrame({"x": [1.0, None, math.nan, -math.inf]}))
    assert found.absent.tolist() == [False, True, False, False]
    assert np.isnan(found.values).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([True, False], [1, 0]), (["true", "FALSE"], [1, 0]), ([" 0.5 ", "1e3"], [0.5, 1000]), ([1, "0.5"], [1, 0.5])],
)
def test_truths_and_numerals_are_numbers(values: list[Any], expected: list[float]) -> None:
    assert numbers({"x": values}).values.tolist() == expected


@pytest.mark.parametrize("values", [[True, False, None], ["TRUE", "false", "NA"], [" true", "False ", ""]])
def test_truths_in_a_column_that_may_be_either_are_labels(values: list[Any]) -> None:
    assert texts(either({"x": values})) == ["True", "False", None]


@pytest.mark.parametrize("values", [["TRUE", "maybe"], ["NA", "none"], ["yes", "no"]])
def test_labels_that_are_not_all_truths_stay_as_they_are(values: list[str]) -> None:
    assert texts(either({"x": values})) == values


def test_truths_asked_for_as_labels_stay_as_they_are() -> None:
    assert labels({"x": ["TRUE", "false"]}).names == ("TRUE", "false")


def test_truths_of_several_formats_are_the_same_labels(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x,y\nTRUE,1\nFALSE,2\n")
    assert texts(either([tmp_path / "x.csv", pd.DataFrame({"x": [True, False]})])) == ["True", "False"] * 2


@pytest.mark.parametrize(
    "column", [pd.Categorical([3, 1, 3], [3, 1]), pa.array([3, 1, 3]).dictionary_encode()], ids=["pandas", "pyarrow"]
)
def test_a_categorical_of_numbers_is_a_label_unless_numbers_are_asked_for(column: Any) -> None:
    frame = pd.DataFrame({"x": column}) if isinstance(column, pd.Categorical) else pa.table({"x": column})
    assert texts(either(frame)) == ["3", "1", "3"]
    assert numbers(frame).values.tolist() == [3, 1, 3]


@pytest.mark.parametrize("value", ["high", "1_000", "0x10", "1,5", [1], date(2024, 1, 2), b"\xff", "١"])
def test_what_is_no_number_is_refused_with_row_and_value(value: Any) -> None:
    with pytest.raises(ColumnError, match=r"row 2 .* in column 'x'|neither labels nor numbers"):
        numbers({"x": [None, value]})


ordered = ["low", "mid", "high", "never"]
rows = ["high", "low", "high", "mid"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Categorical(rows, ordered)}),
        pd.DataFrame({"x": pd.Categorical(rows, ordered, ordered=True)}),
        pd.DataFrame({"x": pd.Categorical(rows, ordered), "mixed": [1, "a", None, 2.5]}),
        pl.DataFrame({"x": pl.Series(rows, dtype=pl.Enum(ordered))}),
        pl.concat([pl.DataFrame({"x": pl.Series(rows[i : i + 2], dtype=pl.Enum(ordered))}) for i in (0, 2)]),
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([2, 0, 2, 1]), ordered, ordered=True)}),
    ],
    ids=["pandas", "pandas ordered", "pandas beside mixed", "polars", "polars in chunks", "pyarrow"],
)
def test_a_categorical_keeps_its_order_and_drops_levels_that_do_not_occur(frame: Any, tmp_path: Path) -> None:
    found = labels(frame)
    assert found.declared
    assert found.names == ("low", "mid", "high")
    assert texts(found) == rows
    if isinstance(frame, pd.DataFrame) and "mixed" not in frame:
        frame.to_parquet(tmp_path / "x.parquet")
        assert labels(tmp_path / "x.parquet").names == ("low", "mid", "high")


def test_a_polars_categorical_declares_no_order() -> None:
    assert labels(pl.DataFrame({"x": pl.Series(rows, dtype=pl.Categorical)})).names == ("high", "low", "mid")


def test_orders_of_several_tables_are_merged_if_they_agree() -> None:
    def frame(levels: list[str]) -> pd.DataFrame:
        return pd.DataFrame({"x": pd.Categorical(levels, levels)})

    assert labels([frame(["low", "high"]), frame(["low", "mid", "high"])]).names == ("low", "mid", "high")
    assert labels([frame(["low", "high"]), frame(["high", "low"])]).names == ("high", "low")
    assert not labels([frame(["low", "high"]), pd.DataFrame({"x": ["mid"]})]).declared


@pytest.mark.parametrize("index", [pa.int8(), pa.int32(), pa.int64(), pa.uint32()])
def test_dictionaries_with_equal_missing_or_odd_levels_are_put_in_order(index: pa.DataType) -> None:
    for levels, expected in (
        (["a", "a", None], ["a", "a", None]),
        ([1.5, math.nan, None], ["1.5", None, None]),
        ([1, 2, 3], ["1", "2", "3"]),
    ):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], index), pa.array(levels))
        assert texts(labels({"x": column})) == expected
        assert texts(labels({"x": pa.chunked_array([column, column])})) == expected * 2


def test_a_named_index_is_a_column_and_an_unnamed_one_is_not() -> None:
    frame = pd.DataFrame({"item": ["a", "b", "c"], "score": [1, 2, 3], "note": [1, "x", None]})
    assert "item" in open_tables(frame.set_index("item"))[0].columns
    assert set(open_tables(frame[frame.score > 1])[0].columns) == {"item", "score", "note"}


@pytest.mark.parametrize(
    "data",
    [
        {"x": 5}, {"x": "text"}, {"x": b"ab"}, {"x": {1, 2}}, {"x": {"a": 1}}, {"x": np.ones((2, 2))},
        {"x": [1, 2], "y": [1]}, {"x": ["\ud800"]}, {"\ud800": ["a"]}, {"x": [10**5000]}, {1: [1], "1": [2]},
        [{"x": 1}, 5], [{"x": 1, 1: 2, "1": 3}], pd.DataFrame([[1, 2]], columns=["x", "x"]),
        pl.LazyFrame({"x": [1]}), None, 5, np.ones(3), object(), b"x", {"x": None},
        {"x": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}, {"x": [[1]]},
        pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}),
    ],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_what_is_no_table_or_no_label_is_refused_in_one_line(data: Any) -> None:
    with pytest.raises(HoldsupError) as caught:
        read_columns(open_tables(data), labels=["x"])
    assert str(caught.value).isprintable()


def test_a_duckdb_relation_whose_query_fails_is_refused_in_one_line() -> None:
    with duckdb.connect() as connection, pytest.raises(ReadError, match="cannot be read as an Arrow table") as caught:
        labels(connection.sql("select error('no') as x"))
    assert str(caught.value).isprintable()


def test_text_that_looks_like_a_date_stays_as_written(tmp_path: Path) -> None:
    """Arrow takes such JSON text for points in time and would write them otherwise."""
    written = ["2024-01-01", "2024-01-01T10:00:00Z", "2024-01-01 10:00"]
    for names in (written, written[:1] * 3):
        (tmp_path / "x.jsonl").write_text("".join(json.dumps({"x": name}) + "\n" for name in names))
        assert texts(labels(tmp_path / "x.jsonl")) == names


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"x": 1}\n{"x": 2\n', "line 2 of .* is not JSON"),
        ('{"x": 1, "x": 2}\n{"x": 2}\n', "'x' more than once"),
        ('[{"x": 1}, {"x": 2, "x": 3}]', "'x' more than once"),
        ('{"x": 1}\n[2]\n', "record 2 of .* is \\[2\\]"),
        ('{"x": 1}\n{"x": "\\ud800"}\n', "not a label"),
        ('{"x": 1}\n\xff\n', "line 2"),
        ('{"kind": "comparison", "signature": "x"}', "saved result"),
        ('{"x": 1' + "0" * 5_000 + "}\n", "limit"),
    ],
)
def test_bad_json_is_refused_with_its_line(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(content.encode("latin-1"))
    with pytest.raises(ReadError, match=said):
        labels(tmp_path / "x.jsonl")


@pytest.mark.parametrize(
    "content",
    [
        '{"x": ["a", "b"]}',
        '{\n  "x": [\n    "a",\n    "b"\n  ]\n}\n',
        '[{"x": "a"}, {"x": "b"}]',
        '[\n{"x": "a"},\n{"x": "b"}\n]\n',
        '{"x": "a"}\n\n  {"x": "b"}',
        '\ufeff{"x": "a"}\r\n{"x": "b"}\r\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_json_in_every_shape_is_read(content: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(content.removeprefix("\ufeff" if encoding == "utf-16" else "").encode(encoding))
    assert texts(labels(tmp_path / "x.json")) == ["a", "b"]


def test_jsonl_that_changes_type_halfway_is_text_and_refused_as_scores(tmp_path: Path) -> None:
    lines = [json.dumps({"x": 0.5})] * 3_000 + [json.dumps({"x": "oops"})] + [json.dumps({"x": 0.5})] * 10
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    with pytest.raises(ColumnError, match=r"row 3001 of .* has 'oops'"):
        numbers(tmp_path / "x.jsonl")
    assert labels(tmp_path / "x.jsonl").names == ("0.5", "oops")


def test_parquet_columns_with_points_in_their_names_are_told_apart(tmp_path: Path) -> None:
    pq.write_table(pa.table({"rouge": [0.1], "rouge.1": [0.2], "rouge.1.f": [0.3]}), tmp_path / "x.parquet")
    found = read_columns(open_tables(tmp_path / "x.parquet"), numbers=["rouge.1", "rouge"]).named
    assert {name: column.values.tolist() for name, column in found.items() if isinstance(column, Numbers)} == {
        "rouge.1": [0.2],
        "rouge": [0.1],
    }


def test_very_many_columns_are_read_in_time_that_grows_with_their_number(tmp_path: Path) -> None:
    wide = {f"c{i}": [0.5] for i in range(5_000)}
    pq.write_table(pa.table(wide), tmp_path / "x.parquet")
    assert len(read_columns(open_tables(tmp_path / "x.parquet"), numbers=wide).named) == 5_000
    with pytest.raises(ReadError, match="20,001 columns"):
        open_tables({f"c{i}": [0.5] for i in range(20_001)})


def test_an_index_without_a_name_is_no_column_however_its_rows_were_chosen(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["a", "b", "c", "d"], "score": [1, 2, 3, 4]})
    kept = frame[frame.score != 2]  # 0, 2, 3: no range
    assert open_tables(kept)[0].columns == ("item", "score")
    kept.to_parquet(tmp_path / "kept.parquet")
    assert open_tables(tmp_path / "kept.parquet")[0].columns == ("item", "score")
    assert open_tables(kept.rename_axis("place"))[0].columns == ("item", "score", "place")
