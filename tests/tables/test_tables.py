"""150 random ordinary tables through check, compare, variance, rank, JSON and back, report."""

from __future__ import annotations

import numpy as np
import pytest

from .drawing import SHAPES, draw_table
from .laws import find_broken
from .numbers import Number, compare_numbers

TABLES, A_TIME = 150, 10
# a nil step, rounding below zero (two), a singular Hessian, copies, a system of zeros, no scores to spare, copies that overflow, items
# that vary less than their noise, variances 100,000 times the residual, all items right in percent
ONCE_BROKEN = (
    350,
    10772,
    10403,
    10874,
    10417,
    10505,
    10927,
    11388,
    11837,
    11952,
    11975,
    50117,
    50125,
    11699,
    11099,
    11693,
)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, TABLES, A_TIME))
def test_no_ordinary_table_crashes_or_breaks_a_law(first: int) -> None:
    drawn = [draw_table(seed) for seed in range(first, first + A_TIME)]
    broken = {f"{each.seed} ({each.words})": find_broken(each)[0] for each in drawn}
    assert not any(broken.values()), {words: lines[:4] for words, lines in broken.items() if lines}


@pytest.mark.parametrize("seed", ONCE_BROKEN)
def test_a_table_that_broke_a_law_breaks_none(seed: int) -> None:
    assert find_broken(draw_table(seed), report=False)[0] == []


def test_a_seed_is_a_table_and_all_shapes_come() -> None:
    drawn = [draw_table(seed) for seed in range(60)]
    assert drawn[7].table.equals(draw_table(7).table)
    assert {shape for shape in SHAPES for each in drawn if f", {shape}," in each.words} == set(SHAPES)
    assert all(np.isfinite(each.table["score"].to_numpy()).all() for each in drawn)


def test_numbers_that_differ_are_told() -> None:
    one = {("contrast", "A", "B", "p"): Number(0.04), ("system", "A", "mean"): Number(0.5, 1)}
    other = {("contrast", "A", "B", "p"): Number(0.05), ("system", "A", "mean"): Number(50.0, 1)}
    assert [line for line in compare_numbers("compare", one, other, 100) if "'p'" in line]
    assert not [line for line in compare_numbers("compare", one, other, 100) if "'mean'" in line]
    assert list(compare_numbers("compare", one, {}))
