"""Least squares within cells, against least squares with every indicator written out."""

from __future__ import annotations

import numpy as np
import pytest

from holdsup.numerics.least_squares import predict_parts_by_cells


def test_predictions_are_those_of_a_regression_with_an_indicator_for_every_cell() -> None:
    rng = np.random.default_rng(0)
    cells, parts = rng.integers(6, size=90), rng.integers(3, size=90)
    x = np.column_stack([np.ones(90), rng.normal(size=90), rng.integers(2, size=90)])
    y = rng.normal(size=6)[cells] + x @ [0.0, 2.0, -1.0] + rng.normal(size=90)
    ours = predict_parts_by_cells(y, x, cells, parts)
    whole = np.column_stack([x, np.eye(6)[cells]])
    for part in range(3):
        held_out = parts == part
        beta = np.linalg.lstsq(whole[~held_out], y[~held_out], rcond=None)[0]
        assert ours[held_out] == pytest.approx(whole[held_out] @ beta, rel=1e-9)


def test_what_the_other_parts_do_not_tell_has_no_prediction() -> None:
    cells = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    rare = np.array([0, 0, 0, 1.0, 0, 0, 0, 0])
    parts = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    ours = predict_parts_by_cells(np.arange(8.0), rare[:, None], cells, parts)
    assert np.flatnonzero(np.isnan(ours)).tolist() == [3, 7]  # the only row of a level, the only one of a cell


def test_without_columns_the_means_of_cells_remain() -> None:
    ours = predict_parts_by_cells(np.array([1.0, 2, 3, 9]), np.empty((4, 0)), np.zeros(4, int), np.array([0, 0, 0, 1]))
    assert ours.tolist() == [9, 9, 9, 2]
