"""Terms, columns and their values are those of R 4.2's ``terms``, ``model.matrix``, ``poly`` and ``scale``."""

from __future__ import annotations

import numpy as np
import pytest

from designs import make_design, read_variables
from holdsup.design import parse_formula
from holdsup.design.coding import code_terms
from holdsup.design.matrices import code_fitted_rows, code_rows

# The expected names were printed by
#
#     i <- 0:23
#     d <- data.frame(a = factor(c("p","q","r")[i %% 3 + 1]), b = factor(c("s","t")[i %/% 12 + 1]),
#                     c = factor(c("u","v")[i %/% 3 %% 2 + 1]), x = (7 * i) %% 11 / 4, z = (5 * i) %% 13 - 6, w = i %% 4 + 1)
#     d$y <- sin(i)
#     for (f in formulas) { t <- terms(as.formula(f)); m <- colnames(model.matrix(t, d))
#       cat(f, paste(attr(t, "term.labels"), collapse = " | "), paste(m, collapse = " | "), sep = "\n") }
GOLDEN = {  # formula: (term labels, columns)
    "y ~ a": (
        "a",
        "(Intercept) | aq | ar",
    ),
    "y ~ 0 + a": (
        "a",
        "ap | aq | ar",
    ),
    "y ~ a - 1": (
        "a",
        "ap | aq | ar",
    ),
    "y ~ x": (
        "x",
        "(Intercept) | x",
    ),
    "y ~ 0 + x": (
        "x",
        "x",
    ),
    "y ~ a + b": (
        "a | b",
        "(Intercept) | aq | ar | bt",
    ),
    "y ~ 0 + b + a": (
        "b | a",
        "bs | bt | aq | ar",
    ),
    "y ~ a * b": (
        "a | b | a:b",
        "(Intercept) | aq | ar | bt | aq:bt | ar:bt",
    ),
    "y ~ a:b": (
        "a:b",
        "(Intercept) | ap:bs | aq:bs | ar:bs | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ 0 + a:b": (
        "a:b",
        "ap:bs | aq:bs | ar:bs | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ a + a:b": (
        "a | a:b",
        "(Intercept) | aq | ar | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ b + a:b": (
        "b | b:a",
        "(Intercept) | bt | bs:aq | bt:aq | bs:ar | bt:ar",
    ),
    "y ~ a / b": (
        "a | a:b",
        "(Intercept) | aq | ar | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ a / b / c": (
        "a | a:b | a:b:c",
        "(Intercept) | aq | ar | ap:bt | aq:bt | ar:bt | ap:bs:cv | aq:bs:cv | ar:bs:cv | ap:bt:cv | aq:bt:cv | ar:bt:cv",
    ),
    "y ~ a / (b + c)": (
        "a | a:b | a:c",
        "(Intercept) | aq | ar | ap:bt | aq:bt | ar:bt | ap:cv | aq:cv | ar:cv",
    ),
    "y ~ (a + b) / c": (
        "a | b | a:b:c",
        "(Intercept) | aq | ar | bt | ap:bs:cu | aq:bs:cu | ar:bs:cu | ap:bt:cu | aq:bt:cu | ar:bt:cu | ap:bs:cv | aq:bs:cv | ar:bs:cv | ap:bt:cv | aq:bt:cv | ar:bt:cv",
    ),
    "y ~ (a + b + c)^2": (
        "a | b | c | a:b | a:c | b:c",
        "(Intercept) | aq | ar | bt | cv | aq:bt | ar:bt | aq:cv | ar:cv | bt:cv",
    ),
    "y ~ (a + b + c)^3 - a:b:c": (
        "a | b | c | a:b | a:c | b:c",
        "(Intercept) | aq | ar | bt | cv | aq:bt | ar:bt | aq:cv | ar:cv | bt:cv",
    ),
    "y ~ a * b * c": (
        "a | b | c | a:b | a:c | b:c | a:b:c",
        "(Intercept) | aq | ar | bt | cv | aq:bt | ar:bt | aq:cv | ar:cv | bt:cv | aq:bt:cv | ar:bt:cv",
    ),
    "y ~ a * b * c - a:b": (
        "a | b | c | a:c | b:c | a:b:c",
        "(Intercept) | aq | ar | bt | cv | aq:cv | ar:cv | bt:cv | aq:bt:cu | ar:bt:cu | aq:bt:cv | ar:bt:cv",
    ),
    "y ~ a * b - a": (
        "b | a:b",
        "(Intercept) | bt | aq:bs | ar:bs | aq:bt | ar:bt",
    ),
    "y ~ a * b - b": (
        "a | a:b",
        "(Intercept) | aq | ar | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ a * x": (
        "a | x | a:x",
        "(Intercept) | aq | ar | x | aq:x | ar:x",
    ),
    "y ~ x * a": (
        "x | a | x:a",
        "(Intercept) | x | aq | ar | x:aq | x:ar",
    ),
    "y ~ a:x": (
        "a:x",
        "(Intercept) | ap:x | aq:x | ar:x",
    ),
    "y ~ a + a:x": (
        "a | a:x",
        "(Intercept) | aq | ar | ap:x | aq:x | ar:x",
    ),
    "y ~ x + a:x": (
        "x | x:a",
        "(Intercept) | x | x:aq | x:ar",
    ),
    "y ~ 0 + x + a:x": (
        "x | x:a",
        "x | x:ap | x:aq | x:ar",
    ),
    "y ~ 0 + a + a:x": (
        "a | a:x",
        "ap | aq | ar | ap:x | aq:x | ar:x",
    ),
    "y ~ a / x": (
        "a | a:x",
        "(Intercept) | aq | ar | ap:x | aq:x | ar:x",
    ),
    "y ~ a:x + b:x": (
        "a:x | x:b",
        "(Intercept) | ap:x | aq:x | ar:x | x:bt",
    ),
    "y ~ x:z": (
        "x:z",
        "(Intercept) | x:z",
    ),
    "y ~ x * z": (
        "x | z | x:z",
        "(Intercept) | x | z | x:z",
    ),
    "y ~ x * z * a": (
        "x | z | a | x:z | x:a | z:a | x:z:a",
        "(Intercept) | x | z | aq | ar | x:z | x:aq | x:ar | z:aq | z:ar | x:z:aq | x:z:ar",
    ),
    "y ~ poly(x, 2)": (
        "poly(x, 2)",
        "(Intercept) | poly(x, 2)1 | poly(x, 2)2",
    ),
    "y ~ poly(x, 3) * b": (
        "poly(x, 3) | b | poly(x, 3):b",
        "(Intercept) | poly(x, 3)1 | poly(x, 3)2 | poly(x, 3)3 | bt | poly(x, 3)1:bt | poly(x, 3)2:bt | poly(x, 3)3:bt",
    ),
    "y ~ poly(x, 1)": (
        "poly(x, 1)",
        "(Intercept) | poly(x, 1)",
    ),
    "y ~ x:poly(z, 2):a": (
        "x:poly(z, 2):a",
        "(Intercept) | x:poly(z, 2)1:ap | x:poly(z, 2)2:ap | x:poly(z, 2)1:aq | x:poly(z, 2)2:aq | x:poly(z, 2)1:ar | x:poly(z, 2)2:ar",
    ),
    "y ~ factor(w)": (
        "factor(w)",
        "(Intercept) | factor(w)2 | factor(w)3 | factor(w)4",
    ),
    "y ~ factor(w) * a": (
        "factor(w) | a | factor(w):a",
        "(Intercept) | factor(w)2 | factor(w)3 | factor(w)4 | aq | ar | factor(w)2:aq | factor(w)3:aq | factor(w)4:aq | factor(w)2:ar | factor(w)3:ar | factor(w)4:ar",
    ),
    "y ~ w + factor(w)": (
        "w | factor(w)",
        "(Intercept) | w | factor(w)2 | factor(w)3 | factor(w)4",
    ),
    "y ~ log1p(x) + sqrt(x) * b": (
        "log1p(x) | sqrt(x) | b | sqrt(x):b",
        "(Intercept) | log1p(x) | sqrt(x) | bt | sqrt(x):bt",
    ),
    "y ~ scale(x):a": (
        "scale(x):a",
        "(Intercept) | scale(x):ap | scale(x):aq | scale(x):ar",
    ),
    "y ~ b + x + x:b": (
        "b | x | b:x",
        "(Intercept) | bt | x | bt:x",
    ),
    "y ~ x:b + x + b": (
        "x | b | x:b",
        "(Intercept) | x | bt | x:bt",
    ),
    "y ~ a + b + c:b:a - a": (
        "b | a:b:c",
        "(Intercept) | bt | ap:bs:cu | aq:bs:cu | ar:bs:cu | ap:bt:cu | aq:bt:cu | ar:bt:cu | ap:bs:cv | aq:bs:cv | ar:bs:cv | ap:bt:cv | aq:bt:cv | ar:bt:cv",
    ),
    "y ~ a + (b - 1)": (
        "a | b",
        "ap | aq | ar | bt",
    ),
    "y ~ (0 + a) * b": (
        "a | b | a:b",
        "ap | aq | ar | bt | aq:bt | ar:bt",
    ),
    "y ~ a - 1 + 1": (
        "a",
        "(Intercept) | aq | ar",
    ),
    "y ~ 0 + a - 0": (
        "a",
        "(Intercept) | aq | ar",
    ),
    "y ~ 1 + a - 1 + b": (
        "a | b",
        "ap | aq | ar | bt",
    ),
    "y ~ a:b + b:a": (
        "a:b",
        "(Intercept) | ap:bs | aq:bs | ar:bs | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ x:x": (
        "x",
        "(Intercept) | x",
    ),
    "y ~ a + (b - a)": (
        "a | b",
        "(Intercept) | aq | ar | bt",
    ),
    "y ~ a / (b - 1)": (
        "a | a:b",
        "ap | aq | ar | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ 0 + a:b + c": (
        "c | a:b",
        "cu | cv | ap:bs | aq:bs | ar:bs | ap:bt | aq:bt | ar:bt",
    ),
    "y ~ a:b + c:b + a:c": (
        "a:b | b:c | a:c",
        "(Intercept) | ap:bs | aq:bs | ar:bs | ap:bt | aq:bt | ar:bt | bs:cv | bt:cv | aq:cv | ar:cv",
    ),
    "y ~ 1": (
        "",
        "(Intercept)",
    ),
    "y ~ a:b:x + x": (
        "x | a:b:x",
        "(Intercept) | x | ap:bs:x | aq:bs:x | ar:bs:x | ap:bt:x | aq:bt:x | ar:bt:x",
    ),
}

# m <- model.matrix(as.formula(f), d); cos(1:24) %*% m
SUMS = {
    "y ~ poly(x, 3) * b": (
        -1.1167355326823,
        -0.390047803457745,
        0.0511129742063389,
        -0.795247814687388,
        -0.547567442946938,
        0.0900946661028823,
        -0.284351165623799,
        -0.341395395979086,
    ),
    "y ~ a:x + b:x": (-1.1167355326823, -1.22850944464803, -0.413221269951951, -1.25684424080299, -0.312198092731775),
    "y ~ 0 + x + a:x": (-2.89857495540297, -1.22850944464803, -0.413221269951951, -1.25684424080299),
    "y ~ scale(z) / a": (-1.1167355326823, 3.14880569877135, -0.0584014482527193, 1.46845098623932),
    "y ~ (a + b + c)^2": (
        -1.1167355326823,
        -0.536736065268248,
        -0.320019970604277,
        -0.547567442946938,
        -1.08172397062787,
        -0.263177078363769,
        -0.222921457502013,
        -0.519908474933718,
        2.88851996096394,
        -1.68112094952194,
    ),
}

# p <- poly(d$x, 4); p[1:2, ]; predict(p, c(-1, 0.3, 5)); predict(poly(2000 + i %% 7, 2), c(1990, 2010))
POLY_FIRST_ROWS = [
    [-0.309173471200421, 0.293514575587598, -0.243826641636557, 0.176539757334212],
    [0.134767923343773, -0.127942250897158, -0.22578786615956, -0.0399560868498185],
]
POLY_NEW_ROWS = [
    [-0.562854268082818, 1.53229660486243, -4.63535895219415, 15.2842346110431],
    [-0.233069232135702, 0.0634073585248394, 0.147935625611273, -0.298950789471174],
    [0.959230513211563, 4.98632686918977, 26.3945457427152, 154.497742709546],
]
POLY_NEW_YEARS = [[-1.29791582632618, 9.68795060886665], [0.738030567910967, 2.71437110139021]]
SCALE = [1.21875, 0.821955846164183]  # attributes of scale(d$x)


def frame() -> dict[str, list[object]]:
    i = range(24)
    return {
        "a": ["pqr"[k % 3] for k in i],
        "b": ["st"[k // 12] for k in i],
        "c": ["uv"[k // 3 % 2] for k in i],
        "x": [(7 * k) % 11 / 4 for k in i],
        "z": [(5 * k) % 13 - 6 for k in i],
        "w": [k % 4 + 1 for k in i],
        "year": [2000 + k % 7 for k in i],
        "y": [float(np.sin(k)) for k in i],
        "g": [f"g{k % 5}" for k in i],
    }


def split(names: str) -> list[str]:
    return names.split(" | ") if names else []


@pytest.mark.parametrize("formula", GOLDEN)
def test_terms_and_columns_are_those_of_r(formula: str) -> None:
    labels, columns = GOLDEN[formula]
    parsed = parse_formula(formula)
    assert [":".join(map(str, term)) for term in parsed.fixed if term] == split(labels)
    coded = read_variables(formula, frame()).coded
    assert [column.name for column in code_terms(parsed.fixed, coded)] == split(columns)


@pytest.mark.parametrize("formula", GOLDEN)
def test_a_random_term_has_the_columns_of_the_same_fixed_terms(formula: str) -> None:
    columns = split(GOLDEN[formula][1])
    right = formula.partition("~")[2]
    n = 24 * len(columns)
    big = {name: (values * len(columns))[:n] for name, values in frame().items()}
    design = make_design(f"y ~ 1 + ({right} | g)", big)
    assert [column.name for column in design.random[0].columns] == columns
    assert len(design.random[0].places) == len(columns) * (len(columns) + 1) // 2
    independent = make_design(f"y ~ 1 + ({right} || g)", big)
    assert [column.name for column in independent.random[0].columns] == columns
    assert [(i, j) for i, j, _ in independent.random[0].places] == [(i, i) for i in range(len(columns))]


@pytest.mark.parametrize("formula", SUMS)
def test_values_of_columns_are_those_of_r(formula: str) -> None:
    rows = code_fitted_rows(make_design(formula, frame()))
    np.testing.assert_allclose(np.cos(np.arange(1, 25)) @ rows.fixed, SUMS[formula], rtol=1e-12, atol=1e-13)


def test_polynomials_have_the_sign_and_scale_of_r_on_old_and_new_rows() -> None:
    design = make_design("y ~ poly(x, 4)", frame())
    np.testing.assert_allclose(code_fitted_rows(design).fixed[:2, 1:], POLY_FIRST_ROWS, rtol=1e-12)
    np.testing.assert_allclose(code_rows(design, {"x": [-1, 0.3, 5]}).fixed[:, 1:], POLY_NEW_ROWS, rtol=1e-11)
    years = make_design("y ~ poly(year, 2)", frame())
    np.testing.assert_allclose(code_rows(years, {"year": [1990, 2010]}).fixed[:, 1:], POLY_NEW_YEARS, rtol=1e-11)


@pytest.mark.parametrize("offset", [0.0, 2000.0, 1.7e9])
def test_polynomials_are_orthonormal_wherever_the_values_lie(offset: float) -> None:
    values = offset + np.random.default_rng(1).lognormal(size=500).round(6) * 100
    design = make_design("y ~ poly(x, 6)", {"x": values, "y": values})
    basis = code_fitted_rows(design).fixed[:, 1:]
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-8)
    # The rows of the fit, read as new ones, are coded to the last bit alike.
    assert np.array_equal(code_rows(design, {"x": values}).fixed, code_fitted_rows(design).fixed)


def test_scale_and_center_keep_the_parameters_of_the_fit() -> None:
    design = make_design("y ~ scale(x) + center(x)", frame())
    new = code_rows(design, {"x": [0.0, 10.0]}).fixed
    np.testing.assert_allclose(new[:, 1], (np.array([0.0, 10.0]) - SCALE[0]) / SCALE[1], rtol=1e-12)
    np.testing.assert_allclose(new[:, 2], np.array([0.0, 10.0]) - SCALE[0], rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_scale_is_free_of_units(unit: float) -> None:
    x = np.array(frame()["x"], float)
    scaled = code_fitted_rows(make_design("y ~ scale(x)", {**frame(), "x": x * unit})).fixed[:, 1]
    np.testing.assert_allclose(scaled, (x - SCALE[0]) / SCALE[1], rtol=1e-12)
