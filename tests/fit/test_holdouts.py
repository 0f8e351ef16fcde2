"""Fits without some of their rows, against fits of the smaller table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from holdsup import fit_lmm
from holdsup.errors import FitError
from holdsup.fit import contrast, predict
from holdsup.fit.holdouts import fit_without, predict_parts

Table = Mapping[str, Any]
MIXED = (
    "y ~ system + rate + epochs + (1 | dataset) + (1 | system:dataset) + (1 | rate:system:dataset)"
    " + (0 + epochs | system:dataset)"
)
CLOSE = 2e-4  # the search from another start ends at the same optimum to a thousandth of a standard error


def grid(seed: int = 0) -> dict[str, Any]:
    """A table of 3 systems on 8 datasets, 3 rates, 4 epochs each; the number is centred."""
    rng = np.random.default_rng(seed)
    s, d, r, e = (axis.ravel() for axis in np.meshgrid(range(3), range(8), range(3), range(4), indexing="ij"))
    cell = s * 8 + d
    y = s + rng.normal(0, 2, 8)[d] + rng.normal(0, 1, 24)[cell] + rng.normal(0, 0.7, (24, 3))[cell, r]
    y += (0.5 + rng.normal(0, 0.3, 24)[cell]) * (e - 1.5) + rng.normal(0, 1, len(s))
    names = [np.array(list(letters)) for letters in ("ABC", "abcdefgh", "xyz")]
    return {"y": y, "system": names[0][s], "dataset": names[1][d], "rate": names[2][r], "epochs": e - 1.5}


def only(table: Table, rows: np.ndarray) -> dict[str, Any]:
    return {name: values[rows] for name, values in table.items()}


def test_rows_held_out_are_predicted_as_by_a_fit_of_the_others() -> None:
    table = grid()
    parts = np.random.default_rng(1).integers(5, size=len(table["y"]))
    ours = predict_parts(fit_lmm(MIXED, table), parts)
    for part in range(5):
        held_out = parts == part
        theirs = predict(fit_lmm(MIXED, only(table, ~held_out)), only(table, held_out))
        assert (theirs.new_levels == 0).mean() > 0.8
        assert ours[held_out] == pytest.approx(theirs.values, abs=CLOSE)


def test_a_dataset_held_out_is_predicted_by_the_fixed_effects_alone() -> None:
    table = grid()
    held_out = table["dataset"] == "c"
    ours = fit_without(fit_lmm(MIXED, table), held_out).predict(np.flatnonzero(held_out))
    others = fit_lmm(MIXED, only(table, ~held_out))
    assert ours == pytest.approx(predict(others, only(table, held_out), random=False).values, abs=CLOSE)


def test_random_systems_keep_their_effects_on_a_dataset_held_out() -> None:
    formula = "y ~ rate + (1 | system) + (1 | dataset) + (1 | system:dataset)"
    table = grid()
    held_out = table["dataset"] == "c"
    ours = fit_without(fit_lmm(formula, table), held_out).predict(np.flatnonzero(held_out))
    theirs = predict(fit_lmm(formula, only(table, ~held_out)), only(table, held_out))
    assert set(theirs.new_levels.tolist()) == {2}
    assert ours == pytest.approx(theirs.values, abs=CLOSE)
    assert len(np.unique(np.round(ours, 6))) == 9  # three systems at three rates


@pytest.mark.parametrize("formula", ["y ~ system + rate", "y ~ 0 + system + (1 | dataset)"])
def test_a_regression_and_a_model_without_intercept_are_predicted_alike(formula: str) -> None:
    table = grid()
    parts = np.arange(len(table["y"])) % 4
    held_out = parts == 2
    ours = predict_parts(fit_lmm(formula, table), parts)[held_out]
    theirs = predict(fit_lmm(formula, only(table, ~held_out)), only(table, held_out)).values
    assert ours == pytest.approx(theirs, abs=CLOSE)


def test_weights_are_those_of_the_rows_that_stay() -> None:
    table = {**grid(), "w": np.random.default_rng(3).uniform(0.2, 5, 288)}
    formula = "y ~ system + (1 | dataset)"
    held_out = np.arange(288) % 3 == 0
    ours = fit_without(fit_lmm(formula, table, weights="w"), held_out).predict(np.flatnonzero(held_out))
    theirs = predict(fit_lmm(formula, only(table, ~held_out), weights="w"), only(table, held_out))
    assert ours == pytest.approx(theirs.values, abs=CLOSE)


@pytest.mark.parametrize("left_out", ["A", "B", "C"])
def test_a_contrast_without_a_system_is_that_of_the_smaller_table(left_out: str) -> None:
    # Without A, the reference, another column is left out: what the rows tell is the same.
    table = grid()
    fit = fit_lmm(MIXED, table)
    held_out = table["system"] == left_out
    first, second = sorted({"A", "B", "C"} - {left_out})
    of = {"A": np.zeros(6), "B": np.eye(6)[1], "C": np.eye(6)[2]}
    ours = fit_without(fit, held_out).combine(of[second] - of[first])
    theirs = contrast(fit_lmm(MIXED, only(table, ~held_out)), {f"system{second}": 1.0})
    assert (ours.estimate, ours.se, ours.p) == pytest.approx((theirs.estimate, theirs.se, theirs.p), rel=1e-3)


def test_a_mean_keeps_its_level_when_the_table_is_moved() -> None:
    table = grid()
    held_out = table["dataset"] == "a"
    here = fit_without(fit_lmm(MIXED, table), held_out).combine(np.eye(6)[0])
    there = fit_without(fit_lmm(MIXED, {**table, "y": table["y"] + 1e6}), held_out).combine(np.eye(6)[0])
    assert there.estimate - 1e6 == pytest.approx(here.estimate, abs=1e-4)
    assert there.se == pytest.approx(here.se, rel=1e-4)


def test_a_level_that_only_the_rows_held_out_have_is_not_predicted() -> None:
    table = grid()
    rate = table["rate"].astype(object)
    rate[(table["dataset"] == "h") & (rate == "z")] = "only in h"
    parts = np.searchsorted(np.unique(table["dataset"]), table["dataset"])
    predicted = predict_parts(fit_lmm("y ~ system + rate + (1 | dataset)", {**table, "rate": rate}), parts)
    assert np.array_equal(np.isnan(predicted), rate == "only in h")


def test_too_few_rows_are_refused_in_a_line() -> None:
    table = grid()
    held_out = np.arange(len(table["y"])) > 0
    with pytest.raises(FitError, match="cannot be fitted without 287 rows"):
        fit_without(fit_lmm(MIXED, table), held_out)
