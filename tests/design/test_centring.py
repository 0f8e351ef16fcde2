"""Years and timestamps lose no digits: the engine gets centred columns where the model allows it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from designs import make_design
from holdsup.design import Design
from holdsup.design.coding import dense_columns
from holdsup.design.matrices import code_fitted_rows
from holdsup.numerics.mixed import EngineFit, fit_moments
from holdsup.numerics.moments import accumulate


def frame(offset: float = 2000.0, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 240
    data = pd.DataFrame({
        "year": offset + rng.integers(0, 12, n), "stamp": 1.7e9 + rng.normal(0, 1000, n), "x": rng.normal(size=n),
        "a": rng.choice(["p", "q", "r"], n), "b": rng.choice(["s", "t"], n), "g": rng.integers(0, 20, n).astype(str),
    })  # fmt: skip
    effect = dict(zip(map(str, range(20)), rng.normal(size=20), strict=True))
    data["y"] = 3 + 0.2 * (data["year"] - offset) + data["x"] + data["g"].map(effect) + rng.normal(size=n)
    return data


def engine_columns(design: Design) -> np.ndarray:
    n = len(design.sample.response)
    return dense_columns(design.layout.fixed, design.sample.numbers, design.sample.factors, n)


def fit(design: Design) -> EngineFit:
    return fit_moments(accumulate(design.layout, design.sample), reml=True)


@pytest.mark.parametrize(
    ("formula", "centred"),
    [
        ("y ~ year + (1 | g)", 1),
        ("y ~ year * x + (1 | g)", 1),
        ("y ~ year * stamp + (1 | g)", 2),
        ("y ~ year * stamp * a * x + (1 | g)", 2),
        ("y ~ a * year + (1 | g)", 1),
        ("y ~ a / year + (1 | g)", 1),
        ("y ~ 0 + a + year + (1 | g)", 1),
        ("y ~ 0 + a + a:year + (1 | g)", 1),
        ("y ~ a * b * year + (1 | g)", 1),
        ("y ~ a * b + a:b:year + (1 | g)", 0),  # a:b is coded by contrasts, a:b:year by all levels
        ("y ~ 0 + year + (1 | g)", 0),  # no intercept: another model if it is centred
        ("y ~ 0 + year + a + (1 | g)", 0),  # the columns that add up to 1 come too late
        ("y ~ x:year + (1 | g)", 0),
        ("y ~ x + x:year + (1 | g)", 1),
        ("y ~ year + x:year + (1 | g)", 0),
        ("y ~ year:stamp + (1 | g)", 0),
        ("y ~ year + year:stamp + (1 | g)", 1),  # stamp may be: what is left is the year, which then may not
        ("y ~ x + (1 | g)", 0),
        ("y ~ center(year) + poly(year, 2) + (1 | g)", 0),
        ("y ~ log(stamp) + (1 | g)", 1),
    ],
)
def test_the_engine_columns_are_those_of_the_formula_transformed(formula: str, centred: int) -> None:
    design = make_design(formula, frame())
    T = design.transform
    assert len(design.sample.numbers) - len(design.variables.numbers) == centred
    assert np.array_equal(T, np.eye(len(T))) == (centred == 0)
    assert np.array_equal(T, np.triu(T))
    assert np.array_equal(np.diag(T), np.ones(len(T)))
    X, engine = code_fitted_rows(design).fixed, engine_columns(design)
    scale = np.abs(X).max(axis=0) @ np.abs(T)  # what the terms of X T are before they cancel
    assert np.abs(engine - X @ T).max(axis=0) == pytest.approx(np.zeros(len(T)), abs=1e-13 * scale.max())


def test_a_constant_variable_is_left_alone() -> None:
    design = make_design("y ~ same + x + (1 | g)", frame().assign(same=2000.0))
    assert np.array_equal(design.transform, np.eye(3))


@pytest.mark.parametrize("formula", ["y ~ a * year + (1 | g)", "y ~ x * year + (1 | g)", "y ~ a / year + (1 | g)"])
def test_estimates_are_those_of_the_formula(formula: str) -> None:
    """Shifted by 2^24, the years hold the same information; nothing but the coefficients they explain moves."""
    near, far = make_design(formula, frame(offset=0.0)), make_design(formula, frame(offset=2.0**24))
    assert np.array_equal(near.transform, np.eye(len(near.fixed)))
    fits = fit(near), fit(far)
    assert fits[1].solution.value == pytest.approx(fits[0].solution.value, abs=1e-8)
    beta = [d.transform_of(f.kept) @ f.solution.beta for d, f in zip((near, far), fits, strict=True)]
    fitted = [code_fitted_rows(d).fixed @ b for d, b in zip((near, far), beta, strict=True)]
    np.testing.assert_allclose(fitted[0], fitted[1], atol=1e-6)
    slopes = [i for i, column in enumerate(near.fixed) if column.numbers and "year" in column.name]
    np.testing.assert_allclose(beta[0][slopes], beta[1][slopes], rtol=1e-6)


def test_dependent_columns_keep_the_fitted_values() -> None:
    """b = t only where a = r, but the years within them tell the two apart: year:b needs a column that is dropped."""
    data = frame()
    data["b"] = np.where(data["a"] == "r", "t", "s")
    data["k"] = np.where(data["b"] == "t", data["x"], 0.0) + data["year"]
    design = make_design("y ~ a + b + k + b:k + (1 | g)", data)
    engine = fit(design)
    dropped = [design.fixed[i].name for i in range(len(design.fixed)) if i not in engine.kept]
    assert dropped == ["bt"]
    M = design.transform_of(engine.kept)
    assert np.linalg.det(M) == pytest.approx(1.0)
    X = code_fitted_rows(design).fixed[:, engine.kept]
    np.testing.assert_allclose(X @ M, engine_columns(design)[:, engine.kept], atol=1e-8)
    # The naive rows and columns of T would be wrong here.
    naive = design.transform[np.ix_(engine.kept, engine.kept)]
    assert np.abs(X @ naive - engine_columns(design)[:, engine.kept]).max() > 100


@pytest.mark.parametrize(
    "formula", ["y ~ x + (1 | g)", "y ~ 0 + a + year + (1 | g)", "y ~ 0 + k + a + (1 | g)", "y ~ 0 + x + (1 | g)"]
)
def test_the_shift_of_the_response_is_given_back(formula: str) -> None:
    data = frame().assign(k=lambda d: d["a"].map({"p": 1.0, "q": 2.0, "r": 4.0}), y=lambda d: d["y"] + 1000)
    design = make_design(formula, data)
    engine = fit(design)
    X = code_fitted_rows(design).fixed[:, engine.kept]
    np.testing.assert_allclose(X @ design.shift_of(engine.kept), design.shift, rtol=1e-9)
    assert (len(engine.kept) < len(design.fixed)) == ("k" in formula)
