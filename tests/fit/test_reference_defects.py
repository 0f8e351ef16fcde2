"""Where lme4 1.1-31 and lmerTest 3.1-3 are wrong, ours is right; where R is installed, that they are is shown too."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import r
from lme4_cases import CASES, years

from holdsup.errors import FitError
from holdsup.fit import fit_lmm

STORED = json.loads(Path(__file__).with_name("lme4_reference.json").read_text())["answers"]


# Labels that contain ":"


def colon_labels() -> tuple[dict[str, Any], dict[str, Any]]:
    """Crossed factors in which "a:b" x "c" and "a" x "b:c" would be pasted to one label, and the same with safe labels."""
    state = np.random.RandomState(5)
    left, right = ["a:b", "a", "q", "r"], ["c", "b:c", "s"]
    rows = [pair for pair in product(range(4), range(3)) for _ in range(4)]
    effect = state.standard_normal((4, 3)).round(3)
    y = np.array([3 + effect[i, j] for i, j in rows]) + state.standard_normal(len(rows)).round(3)
    risky = {"y": y, "u": [left[i] for i, _ in rows], "v": [right[j] for _, j in rows]}
    safe = {"y": y, "u": [f"u{i}" for i, _ in rows], "v": [f"v{j}" for _, j in rows]}
    return risky, safe


@pytest.mark.parametrize("formula", ["y ~ 1 + (1 | u:v)", "y ~ 1 + (1 | u/v)", "y ~ 1 + (1 | u) + (1 | v) + (1 | u:v)"])
def test_labels_with_colons_are_never_merged(formula: str) -> None:
    risky, safe = (fit_lmm(formula, columns) for columns in colon_labels())
    assert risky.levels["u:v"] == safe.levels["u:v"] == 12
    assert risky.criterion == pytest.approx(safe.criterion, abs=1e-9)
    assert risky.random[-2].variance == pytest.approx(safe.random[-2].variance, rel=1e-6)


@pytest.mark.slow  # starts R
def test_lme4_merges_labels_with_colons() -> None:
    r.require()
    risky, safe = colon_labels()
    one, other = r.answers(
        [{"name": "", "formula": "y ~ 1 + (1 | u:v)", "columns": c, "reml": True, "quick": True} for c in (risky, safe)]
    )
    assert abs(one["criterion"] - other["criterion"]) > 0.1
    assert other["criterion"] == pytest.approx(fit_lmm("y ~ 1 + (1 | u:v)", risky).criterion, abs=1e-6)


# Satterthwaite's degrees of freedom and the unit of the scores


def case_columns(name: str) -> tuple[str, dict[str, Any]]:
    (case,) = (case for case in CASES if case.name == name)
    return case.formula, case.make()


@pytest.mark.parametrize("unit", [1e-12, 1e-7, 1e-2, 1e4, 1e9])
def test_degrees_of_freedom_do_not_depend_on_the_unit_of_the_scores(unit: float) -> None:
    formula, columns = case_columns("crossed two with gaps")
    one, other = fit_lmm(formula, columns), fit_lmm(formula, {**columns, "y": columns["y"] * unit})
    assert [e.df for e in other.fixed] == pytest.approx([e.df for e in one.fixed], rel=1e-6)
    assert [e.df for e in one.fixed] == pytest.approx(STORED["crossed two with gaps"]["reml"]["df"], rel=1e-3)


def test_lmertests_degrees_of_freedom_depend_on_it() -> None:
    """As stored: scores times 1e-7, where the residual of 96 rows in 12 x 8 cells has 77 degrees of freedom."""
    formula, columns = case_columns("small scale")
    assert max(STORED["small scale"]["reml"]["df"]) < 1
    assert fit_lmm(formula, columns).fixed[1].df == pytest.approx(80.23, abs=0.01)


# Constant scores


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e7 / 3])
@pytest.mark.parametrize(
    "formula", ["y ~ 1 + (1 | g)", "y ~ x + (1 | g)", "y ~ 0 + f + (1 | g)", "y ~ x + (1 + x | g)"]
)
def test_constant_scores_are_refused_with_a_reason(formula: str, value: float) -> None:
    """lme4 gives logLik = Inf and standard errors of zero."""
    data = {
        "y": np.full(40, value),
        "g": [f"g{i % 8}" for i in range(40)],
        "f": [f"f{i // 8 % 2}" for i in range(40)],
        "x": np.random.RandomState(1).standard_normal(40),
    }
    with pytest.raises(FitError, match=r"cannot be fitted: .*(same in every row|exactly)"):
        fit_lmm(formula, data)


@pytest.mark.parametrize("formula", ["y ~ f + (1 | g)", "y ~ 0 + f + (1 | g)", "y ~ f + x + (1 | g)"])
def test_scores_that_the_fixed_effects_explain_are_refused(formula: str) -> None:
    f = [i // 8 % 2 for i in range(40)]
    x = np.random.RandomState(1).standard_normal(40)
    data = {"y": 0.3 + 0.1 * np.array(f), "g": [f"g{i % 8}" for i in range(40)], "f": [f"f{i}" for i in f], "x": x}
    with pytest.raises(FitError, match="exactly"):
        fit_lmm(formula, data)


def test_scores_that_the_groups_explain_are_not_a_finite_likelihood() -> None:
    """Every item has one score for ever: the residual variance is zero. lme4 reports a "fit" with sigma of 1e-8."""
    item = np.repeat(np.arange(10), 4)
    data = {"y": np.random.RandomState(3).standard_normal(10).round(3)[item], "g": [f"g{i}" for i in item]}
    try:
        fit = fit_lmm("y ~ 1 + (1 | g)", data)
    except FitError:
        return
    assert not fit.converged


# Constant leading digits


@pytest.mark.parametrize("mean", [1e6, 1e9, 1e12])
def test_leading_digits_that_never_change_do_not_matter(mean: float) -> None:
    """As NIST's SmLs07-09 (test_published.py), where lme4's variance between groups is 94-100% wrong."""
    state = np.random.RandomState(9)
    g = np.repeat(np.arange(9), 51)
    y = mean + (state.standard_normal(9)[g] + 0.5 * state.standard_normal(len(g))).round(3)
    names = [f"g{i}" for i in g]
    one, other = (fit_lmm("y ~ 1 + (1 | g)", {"y": v, "g": names}) for v in (y - mean, y))  # both hold the same bits
    assert [c.variance for c in other.random] == pytest.approx([c.variance for c in one.random], rel=1e-6)
    assert other.fixed[0].df == pytest.approx(8, rel=1e-2)


# Optima that are none


def test_lme4s_default_search_never_ends_below_ours() -> None:
    for case in CASES:
        for method in ("reml", "ml"):
            found = STORED[case.name][method]
            assert found["default"] >= found["criterion"] - 1e-6, case.name


def test_the_default_search_of_lme4_loses_a_slope_that_is_there() -> None:
    """Slopes over years: lme4's default ends 12.3 above the optimum with no variance left in the slopes."""
    found = STORED["years, slope"]["reml"]
    columns = years(64, 15, 9)
    centred = fit_lmm("y ~ year + (1 + year | g)", {**columns, "year": columns["year"] - 2002})
    assert found["default"] > centred.criterion + 12
    assert found["default_variances"][1] < 1e-6 * centred.random[1].variance
    assert centred.criterion == pytest.approx(found["criterion"], abs=1e-3)
    # Balanced: the slopes of 15 groups over 9 years are independent draws, so their mean has 14 degrees of freedom.
    assert centred.fixed[1].df == pytest.approx(14, rel=1e-5)
    x = np.arange(9) - 4.0
    slopes = columns["y"].reshape(15, 9) @ x / (x @ x)
    assert centred.fixed[1].estimate == pytest.approx(slopes.mean(), rel=1e-8)
    assert centred.fixed[1].se == pytest.approx(slopes.std(ddof=1) / np.sqrt(15), rel=1e-6)


@pytest.mark.parametrize("method", ["reml", "ml"])
def test_slopes_over_years_are_those_over_centred_years(method: str) -> None:
    columns = years(64, 15, 9)
    far, near = (
        fit_lmm("y ~ year + (1 + year | g)", {**columns, "year": columns["year"] - zero}, method) for zero in (0, 2002)
    )
    assert far.converged
    assert far.criterion == pytest.approx(near.criterion, abs=1e-6)
    assert far.fixed[1].se == pytest.approx(near.fixed[1].se, rel=1e-5)
    assert far.fixed[1].df == pytest.approx(near.fixed[1].df, rel=1e-3)
    assert far.random[1].variance == pytest.approx(near.random[1].variance, rel=1e-4)
