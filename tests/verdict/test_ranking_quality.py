"""Errors on rows held out, against fits and regressions made by hand; points of Q-Q plots."""

from __future__ import annotations

import numpy as np
import pytest
from ranking_cases import fit_default, make_grid, take
from scipy import stats

from holdsup import fit_lmm
from holdsup.fit import predict, residuals
from holdsup.results import Caution
from holdsup.splits import KFold
from holdsup.verdict.ranking.records import CrossValidation, Quantiles
from holdsup.verdict.ranking.robustness import find_quantiles, validate_forms


def find(rows: tuple[CrossValidation, ...], form: str, held_out: str) -> CrossValidation:
    (row,) = (row for row in rows if (row.form, row.held_out) == (form, held_out))
    return row


def test_errors_over_rows_are_those_of_fits_and_predictions_made_by_hand() -> None:
    table = make_grid()
    fits = fit_default(table)
    found = find(validate_forms({"default": fits.variances}, fits.runs, [], folds=4, seed=7), "default", "rows")
    errors = []
    for split in KFold(k=4, seed=7).split(range(len(fits.runs))):
        fit = fit_lmm(fits.form.variances, take(table, split.train))
        errors.append(predict(fit, take(table, split.test)).values - table["score"][split.test])
    error = np.concatenate(errors)
    assert len(error) == len(table["score"])
    assert (found.mae, found.rmse) == pytest.approx((np.abs(error).mean(), np.sqrt((error**2).mean())), rel=1e-4)
    assert (found.folds, found.formula) == (4, fits.form.variances)


def test_datasets_are_held_out_whole_and_predicted_without_their_effects() -> None:
    table = make_grid()
    fits = fit_default(table)
    found = find(validate_forms({"default": fits.means}, fits.runs, [], folds=99), "default", "datasets")
    errors = []
    for dataset in np.unique(table["dataset"]):
        held_out = table["dataset"] == dataset
        fit = fit_lmm(fits.form.means, take(table, ~held_out))
        errors.append(predict(fit, take(table, held_out), random=False).values - table["score"][held_out])
    assert found.folds == 8
    assert found.mae == pytest.approx(np.abs(np.concatenate(errors)).mean(), rel=1e-4)
    assert found.mae > 2  # the sd of datasets is 4, and a new one's level is not known


def test_the_plain_regression_has_an_effect_for_every_system_on_every_dataset() -> None:
    table = make_grid()
    fits = fit_default(table)
    found = find(
        validate_forms({"default": fits.variances}, fits.runs, [], folds=4, seed=7), "plain regression", "rows"
    )
    cells = np.char.add(table["system"], table["dataset"])
    X = np.column_stack([cells[:, None] == np.unique(cells), table["lr"] == "0.2"]).astype(float)
    errors = []
    for split in KFold(k=4, seed=7).split(range(len(X))):
        beta = np.linalg.lstsq(X[split.train], table["score"][split.train], rcond=None)[0]
        errors.append(X[split.test] @ beta - table["score"][split.test])
    assert found.mae == pytest.approx(np.abs(np.concatenate(errors)).mean(), rel=1e-9)


def test_every_form_has_the_same_folds_and_the_first_comes_first() -> None:
    fits = fit_default(make_grid())
    rows = validate_forms({"default": fits.variances, "same again": fits.variances}, fits.runs, [], folds=3)
    assert [row.form for row in rows] == ["default", "same again", "default", "same again", "plain regression"]
    assert rows[0].mae == rows[1].mae
    assert rows[2].rmse == rows[3].rmse


def test_rows_without_a_prediction_are_counted() -> None:
    table = make_grid()
    alone = (table["system"] == "A") & (table["dataset"] == "d0")
    rows = np.flatnonzero(~alone | (np.cumsum(alone) == 1))  # one row of this cell stays
    fits = fit_default(take(table, rows))
    said: list[Caution] = []
    assert len(validate_forms({"default": fits.variances}, fits.runs, said, folds=4)) == 3
    (caution,) = said
    assert (caution.code, caution.about) == ("not-predicted", "table:forms")
    assert caution.message.startswith("With rows held out, the plain regression can't predict 1 of 187 rows:")


def test_a_system_that_only_one_dataset_has_is_not_predicted_there() -> None:
    table = make_grid()
    rows = (table["system"] != "D") | (table["dataset"] == "d3")
    fits = fit_default(take(table, rows))
    said: list[Caution] = []
    validate_forms({"default": fits.means}, fits.runs, said, folds=8)
    (caution,) = said
    assert caution.message.startswith("With datasets held out, the default form can't predict 6 of 150 rows:")


def test_one_score_for_each_cell_leaves_the_plain_regression_nothing() -> None:
    table = make_grid()
    rows = (table["seed"] == "1") & (table["lr"] == "0.1")
    fits = fit_default({name: values[rows] for name, values in table.items() if name not in ("lr", "seed")})
    said: list[Caution] = []
    found = validate_forms({"default": fits.variances}, fits.runs, said, folds=4)
    assert [row.held_out for row in found] == ["rows", "datasets"]
    (caution,) = said
    assert "can't predict 32 of 32 rows" in caution.message


def test_points_are_the_ordered_values_beside_normal_quantiles() -> None:
    fit = fit_default(make_grid()).variances
    quantiles = {row.name: row for row in find_quantiles(fit)}
    names = ["residuals", "system", "dataset", "system:dataset", "lr:system:dataset", "seed:system:dataset"]
    assert set(quantiles) <= set(names)
    assert {"residuals", "system", "dataset"} <= set(quantiles)
    row = quantiles["residuals"]
    assert (row.count, len(row.normal)) == (192, 192)
    assert row.observed == pytest.approx(np.sort(residuals(fit)))
    assert row.normal == pytest.approx(stats.norm.ppf((np.arange(192) + 0.5) / 192))


def test_a_term_without_variance_has_no_points() -> None:
    table = make_grid()
    means = {name: table["score"][table["dataset"] == name].mean() for name in np.unique(table["dataset"])}
    level = np.array([means[name] for name in table["dataset"]])
    fits = fit_default({**table, "score": table["score"] - level})  # datasets no longer differ
    assert next(c.sd for c in fits.variances.random if c.group == "dataset") < 1e-3
    assert "dataset" not in {row.name for row in find_quantiles(fits.variances)}


def test_many_points_are_thinned_and_both_ends_stay() -> None:
    table = make_grid(datasets=40)
    (row,) = (row for row in find_quantiles(fit_default(table).variances) if row.name == "residuals")
    assert isinstance(row, Quantiles)
    assert row.count == 960
    assert 100 < len(row.normal) <= 200
    ordered = np.sort(residuals(fit_default(table).variances))
    assert (row.observed[0], row.observed[-1]) == pytest.approx((ordered[0], ordered[-1]))
    assert list(row.normal) == sorted(row.normal)
