"""The signature: the same for the same table in any order and format, another when anything changes."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import holdsup
from holdsup.columns import Labels
from holdsup.scores import read_scores
from holdsup.scores.table import digest_rows, hash_rows

TABLE: dict[str, list[Any]] = {
    "model": ["A", "A", "B", "B"],
    "seed": [1, 2, 1, 2],
    "id": ["x", "x", "x", "y"],
    "f1": [0.5, 0.25, -0.0, None],
    "len": [3.5, 3.5, 3.5, 7],
}


def digest(data: Any, **roles: Any) -> str:
    return read_scores(data, properties="len", **roles).digest


def test_the_digest_is_the_same_in_every_format_and_order(tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE)
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.sample(frac=1, random_state=3).to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    pa.parquet.write_table(pa.table(TABLE), tmp_path / "s.parquet")
    frame.to_json(tmp_path / "s.jsonl", orient="records", lines=True)
    files = [tmp_path / name for name in ("s.csv", "t.tsv", "s.parquet", "s.jsonl")]
    assert len({digest(data) for data in (TABLE, pl.DataFrame(TABLE), *files)}) == 1


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_rows_does_not_change_the_digest(order: random.Random) -> None:
    rows = order.sample(range(4), 4)
    assert digest({name: [values[i] for i in rows] for name, values in TABLE.items()}) == digest(TABLE)


@pytest.mark.parametrize(
    ("column", "row", "value"),
    [("model", 0, "C"), ("seed", 0, 3), ("id", 3, "x"), ("f1", 0, 0.50001), ("f1", 3, math.nan), ("f1", 3, 0.0),
     ("len", 0, 3.6), ("id", 0, None), ("f1", 2, 5e-324)],
)  # fmt: skip
def test_any_change_changes_the_digest(column: str, row: int, value: Any) -> None:
    changed = {name: list(values) for name, values in TABLE.items()}
    changed[column][row] = value
    assert digest(pa.table(changed)) != digest(TABLE)


def test_labels_swapped_between_rows_change_the_digest() -> None:
    swapped = {**TABLE, "id": ["x", "x", "y", "x"]}
    assert digest(swapped) != digest(TABLE)
    assert digest(TABLE, system="seed", facets="model") != digest(TABLE)


def test_minus_zero_is_zero_and_every_nan_is_one() -> None:
    odd = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
    assert digest_rows({}, {"x": np.array([-0.0])}) == digest_rows({}, {"x": np.array([0.0])})
    assert digest_rows({}, {"x": odd}) == digest_rows({}, {"x": np.array([np.nan])})


def test_hashes_of_many_rows_do_not_collide() -> None:
    left, right = (axis.ravel() for axis in np.indices((1000, 1000)))
    names = [str(i) for i in range(1000)]
    columns = {"a": Labels.of(left, names), "b": Labels.of(right, names)}
    hashes = np.concatenate([piece for _, piece in hash_rows(columns, {})])
    assert len(np.unique(hashes)) == 10**6


def test_the_signature_names_the_roles() -> None:
    signature = holdsup.audit_scores(TABLE, score_range=(0, 1)).signature
    assert signature == (
        f"check|data:{read_scores(TABLE).digest}|score:f1|system:model|item:id|facets:seed|rows:4|range:0..1"
        f"|v:{holdsup.__version__}"
    )


def test_the_signature_names_columns_that_hold_the_scores_of_a_wide_table() -> None:
    audit = holdsup.audit_scores({"q": [1], "a,b": [0.5], "c": [1]}, wide={"metric": ["a,b", "c"]}, item="q")
    assert '|item:q|wide:metric="a,b",c|rows:2|' in audit.signature


def test_the_signature_names_the_pattern_of_file_names(tmp_path: Path) -> None:
    for name in ("A_seed1.csv", "B_seed1.csv"):
        (tmp_path / name).write_text("id,f1\n1,0.5\n2,0.25\n")
    audit = holdsup.audit_scores(tmp_path, names="{system}_seed{seed}")
    assert "|names:{system}_seed{seed}|" in audit.signature
