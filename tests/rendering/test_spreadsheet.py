"""A table as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from holdsup.rendering import Estimate, Interval, Table
from holdsup.rendering.spreadsheet import render_csv


def test_csv_has_the_cells_that_every_rendering_shows() -> None:
    table = Table(title="t", columns=("name", "x, y"), rows=(('a "b"', Estimate(-0.123, 0.01)), ("c", Interval(-1, 2))))
    assert list(csv.reader(io.StringIO(render_csv(table)))) == [["name", "x, y"], *map(list, table.cells())]


@pytest.mark.parametrize("name", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "=HYPERLINK(0)"])
def test_a_name_that_a_spreadsheet_would_run_is_text(name: str) -> None:
    (_, row) = csv.reader(io.StringIO(render_csv(Table(title="t", columns=("c",), rows=((name,),)))))
    assert row == [f"'{name}"]


@pytest.mark.parametrize("cell", [-0.25, -1, None, -1e-12, 5])
def test_numbers_stay_numbers(cell: float | None) -> None:
    (_, row) = csv.reader(io.StringIO(render_csv(Table(title="t", columns=("c",), rows=((cell,),)))))
    assert not row[0].startswith("'")
