"""Whatever a file format can carry comes back as it was written, and alike from every format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from holdsup.columns import Columns, Labels, Numbers, open_tables, read_columns

FORMATS = ["csv", "tsv", "semicolon", "pipe", "jsonl", "json", "parquet", "dict", "records"]
relaxed = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

# NUL marks a binary file; a lone surrogate is no text. Everything else is a label.
characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
awkward = st.sampled_from(
    ["NA", "null", "None", "nan", "007", "1e5", "1.0", "-0", "true", " a ", "a,b", 'say "x"', '"', "a\nb", "a\r\nb",
     "\r", "a\tb", "\u2028", "\x85", "\x0c", "2024-01-01", "{", "[", "]", "\\", '\\"', "\ufeff", "9007199254740993"]
)  # fmt: skip
labels = st.one_of(awkward, st.text(characters, min_size=1, max_size=12))
floats = st.floats(allow_nan=False, allow_infinity=False)
tables = st.lists(st.tuples(labels, labels, floats), min_size=2, max_size=30)


def write(rows: list[tuple[str, str, float]], kind: str, folder: Path, *, packed: bool = False) -> object:
    """Write rows in one of `FORMATS` and return what a user would pass."""
    records = [{"system": a, "item": b, "score": x} for a, b, x in rows]
    columns = {key: [record[key] for record in records] for key in ("system", "item", "score")}
    if kind == "dict":
        return columns
    if kind == "records":
        return records
    path = folder / f"table.{kind}{'.gz' if packed else ''}"
    raw = io.BytesIO()
    if kind == "parquet":
        pq.write_table(pa.table(columns), raw)
    elif kind == "json":
        raw.write(json.dumps(records).encode())
    elif kind == "jsonl":
        raw.write("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records).encode())
    else:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        delimiter = {"csv": ",", "tsv": "\t", "semicolon": ";", "pipe": "|"}[kind]
        # Python quotes a carriage return only where it is part of its own line ends.
        style = [{"lineterminator": "\r\n"}, {"lineterminator": "\n", "quoting": csv.QUOTE_ALL}][len(rows) % 2]
        writer = csv.writer(text, delimiter=delimiter, **style)
        writer.writerows([["system", "item", "score"], *rows])
        text.detach()
    path.write_bytes(gzip.compress(raw.getvalue()) if packed else raw.getvalue())
    return path


def read(data: object) -> Columns:
    return read_columns(open_tables(data), labels=["system", "item"], numbers=["score"])


def texts(column: object) -> list[str | None]:
    assert isinstance(column, Labels)
    return [column.names[code] if code >= 0 else None for code in column.codes]


def check_same(rows: list[tuple[str, str, float]], found: Columns) -> None:
    assert texts(found.named["system"]) == [a for a, _, _ in rows]
    assert texts(found.named["item"]) == [b for _, b, _ in rows]
    scores = found.named["score"]
    assert isinstance(scores, Numbers)
    assert scores.values.tobytes() == np.array([x for _, _, x in rows]).tobytes()
    assert not scores.absent.any()


@pytest.mark.parametrize("kind", FORMATS)
@relaxed
@given(rows=tables, packed=st.booleans())
def test_labels_and_floats_come_back_exactly(
    kind: str, rows: list[tuple[str, str, float]], packed: bool, tmp_path: Path
) -> None:
    check_same(rows, read(write(rows, kind, tmp_path, packed=packed)))


@relaxed
@given(rows=tables)
def test_levels_are_in_code_point_order_and_all_occur(rows: list[tuple[str, str, float]], tmp_path: Path) -> None:
    system = read(write(rows, "jsonl", tmp_path)).named["system"]
    assert isinstance(system, Labels)
    assert list(system.names) == sorted({a for a, _, _ in rows})


@relaxed
@given(ids=st.lists(st.integers(-(2**70), 2**70), min_size=2, max_size=20))
def test_integer_ids_are_exact_at_any_size_in_every_format(ids: list[int], tmp_path: Path) -> None:
    expected = [str(i) for i in ids]
    jsonl = tmp_path / "ids.jsonl"
    jsonl.write_text("".join(json.dumps({"item": i, "score": 0.5}) + "\n" for i in ids))
    text = tmp_path / "ids.csv"
    text.write_text("item,score\n" + "".join(f"{i},0.5\n" for i in ids))
    frame = {"item": ids, "score": [0.5] * len(ids)}
    for data in (jsonl, text, frame, [{"item": i, "score": 0.5} for i in ids]):
        found = read_columns(open_tables(data), labels=["item"], numbers=["score"])
        assert texts(found.named["item"]) == expected
    if all(-(2**63) <= i < 2**63 for i in ids):
        pq.write_table(pa.table(frame), tmp_path / "ids.parquet")
        found = read_columns(open_tables(tmp_path / "ids.parquet"), labels=["item"])
        assert texts(found.named["item"]) == expected


@relaxed
@given(values=st.lists(st.one_of(st.integers(-99, 99), st.floats(-99, 99, width=16)), min_size=2, max_size=10))
def test_a_number_is_the_same_label_whatever_stands_beside_it(values: list[float], tmp_path: Path) -> None:
    """An id must not change its name because another row of its column has decimals."""
    together = read_columns(open_tables({"x": values}), labels=["x"]).named["x"]
    alone = [read_columns(open_tables({"x": [value]}), labels=["x"]).named["x"] for value in values]
    assert texts(together) == [texts(column)[0] for column in alone]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"x": value}) + "\n" for value in values))
    assert texts(read_columns(open_tables(tmp_path / "x.jsonl"), labels=["x"]).named["x"]) == texts(together)


tokens = st.one_of(
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from(
        ["NA", "", " 1.5 ", "+1", ".5", "5.", "1e400", "-inf", "nan", "1_0", "0x1", "1,5", "true", "١", "1 2"]
    ),
    st.text("0123456789.,-+eE naifNA_", max_size=8),
)


@relaxed
@given(written=st.lists(tokens, min_size=1, max_size=8))
def test_a_number_in_text_is_what_python_reads_or_is_refused(written: list[str], tmp_path: Path) -> None:
    """Arrow parses columns that are all numbers, Python the others: both must mean the same."""
    path = tmp_path / "numbers.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["item", "score"], *(["a", token] for token in written)])
    found = read_columns(open_tables(path), labels=["item"], either=["score"]).named["score"]
    if isinstance(found, Labels) or any("," in token for token in written):
        return  # not numbers, or with decimal commas: tested elsewhere
    for token, value, absent in zip(written, found.values, found.absent, strict=True):
        if not absent and token.strip().lower() not in ("true", "false"):
            assert float(token) == value or (math.isnan(float(token)) and math.isnan(value))


@pytest.mark.parametrize("before", range(16))
def test_a_line_break_in_quotes_survives_a_block_boundary(
    before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told that no field holds a line break, Arrow loses such a row without a word if a block ends there."""
    monkeypatch.setattr("holdsup.columns.delimited.LONGEST_LINE", 64)
    plain = "u,v\n"
    (tmp_path / "x.csv").write_text("item,note\n" + plain * before + 'x,"ab\nq,cd"\n' + plain * 40)
    found = read_columns(open_tables(tmp_path / "x.csv"), labels=["item", "note"]).named
    assert texts(found["item"]) == ["u"] * before + ["x"] + ["u"] * 40
    assert texts(found["note"]) == ["v"] * before + ["ab\nq,cd"] + ["v"] * 40
