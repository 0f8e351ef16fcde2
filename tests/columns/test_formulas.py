"""Cells that a spreadsheet would run: disarmed when CSV is written, themselves again when it is read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from holdsup.columns import open_tables, read_columns
from holdsup.columns.delimited import rearm_texts
from holdsup.columns.encoding import Labels
from holdsup.rendering.spreadsheet import disarm_text


def read(path: Path, column: str) -> list[str]:
    """Return a column of labels as texts."""
    labels = read_columns(open_tables(path), labels=[column]).named[column]
    assert isinstance(labels, Labels)
    return [labels.names[code] for code in labels.codes]


@given(texts=st.lists(st.text("='+-@\t\rab", max_size=4), min_size=1, max_size=6, unique=True))
def test_texts_come_back_and_none_begins_like_a_formula(texts: list[str]) -> None:
    written = [disarm_text(text) for text in texts]
    assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in written)
    assert rearm_texts(pa.array(written, pa.string())).to_pylist() == texts


def test_labels_of_a_csv_file_lose_the_apostrophe_that_an_export_gave_them(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text('"system","score"\n"\'-x",1\n"\'\'=y",2\n"z",3\n"it\'s",4\n')
    assert read(path, "system") == ["-x", "'=y", "z", "it's"]


def test_a_column_with_bare_formulas_was_not_disarmed_and_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("system,score\n'-x,1\n-x,2\n")
    assert read(path, "system") == ["'-x", "-x"]


@pytest.mark.parametrize("text", ["'quoted'", "a=b", "'", ""])
def test_other_apostrophes_stay(text: str) -> None:
    assert disarm_text(text) == text
    assert rearm_texts(pa.array([text])).to_pylist() == [text]
