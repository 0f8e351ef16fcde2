"""What holds for every fit: invariance, nesting, and three routes to one criterion.

Designs are small and drawn from a seed, so that a failure shrinks to a short recipe.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from dense import criterion_of
from hypothesis import given, settings, strategies as st
from lme4_cases import labels, slopes

from designs import make_design
from holdsup.design import Design
from holdsup.fit import LmmFit, fit_lmm
from holdsup.numerics.cells import find_alike
from holdsup.numerics.criterion import Criterion
from holdsup.numerics.elimination import Levels, Patterns, SparseLevels
from holdsup.numerics.mixed import independent_columns, keep_columns
from holdsup.numerics.moments import Moments, Whole, accumulate

quick = settings(max_examples=25, derandomize=True)
FORMULAS = [
    "y ~ x + (1 | a)",
    "y ~ x + f + (1 | a) + (1 | b)",
    "y ~ x + (1 + z | a)",
    "y ~ 0 + f + (z || a) + (1 | b)",
    "y ~ f * z + (1 + z | a) + (1 | b)",
    "y ~ 1 + (1 | a) + (1 | f:a)",
    "y ~ x + (1 | a) + (1 | b) + (1 | a:b)",
    "y ~ f + (0 + f | a) + (0 + z | b)",
    "y ~ z + (1 | b / a)",
    "y ~ 0 + (1 + x + z | a)",
]


@dataclass(frozen=True)
class Recipe:
    """A small design: how many levels and rows, and the seed of everything else."""

    formula: str
    seed: int
    a: int
    b: int
    rows: int
    weighted: bool

    def columns(self) -> dict[str, Any]:
        state = np.random.RandomState(self.seed)
        n = self.rows
        a = np.concatenate([np.repeat(np.arange(self.a), 2), state.randint(0, self.a, n)])
        n = len(a)
        b = np.concatenate([np.arange(self.b), state.randint(0, self.b, n - self.b)])
        f = np.concatenate([[0, 1], state.randint(0, 2, n - 2)])
        x, z = state.standard_normal((2, n)).round(3)
        y = 1 + x + state.standard_normal(self.a)[a] * (1 + 0.5 * z) + 0.7 * state.standard_normal(self.b)[b]
        y = (y + state.standard_normal(n)).round(3)
        w = np.exp(state.standard_normal(n)).round(3) + 0.01
        codes = {"a": labels("a", a), "b": labels("b", b), "f": labels("f", f)}
        return {"y": y, "x": x, "z": z, "w": w, **codes}

    @property
    def weights(self) -> str | None:
        return "w" if self.weighted else None


recipes = st.builds(
    Recipe,
    formula=st.sampled_from(FORMULAS),
    seed=st.integers(0, 10_000),
    a=st.integers(3, 7),
    b=st.integers(2, 5),
    rows=st.integers(30, 60),
    weighted=st.booleans(),
)
methods = st.sampled_from(["reml", "ml"])


def fit(recipe: Recipe, method: str, **new: Any) -> LmmFit:
    return fit_lmm(recipe.formula, {**recipe.columns(), **new}, method, recipe.weights)


def assert_same(
    one: LmmFit, other: LmmFit, *, criterion: float = 1e-7, unit: float = 1.0, tolerance: float = 1e-5
) -> None:
    """Assert that two fits tell the same, the second in another unit of y.

    Estimates are compared where the criterion has one clear minimum: along a flat valley (a variance of zero, a
    correlation of 1) theta is known to the square root of the criterion's precision only.
    """
    assert other.converged == one.converged
    assert other.criterion == pytest.approx(one.criterion, abs=criterion)
    if one.singular or not one.converged:
        return
    assert [e.name for e in other.fixed] == [e.name for e in one.fixed]
    for a, b in zip(one.fixed, other.fixed, strict=True):
        assert b.estimate / unit == pytest.approx(a.estimate, rel=tolerance, abs=tolerance * a.se)
        assert b.se / unit == pytest.approx(a.se, rel=tolerance)
        assert b.df == pytest.approx(a.df, rel=100 * tolerance)
    scale = max(c.variance for c in one.random)
    for c, d in zip(one.random, other.random, strict=True):
        assert d.variance / unit**2 == pytest.approx(c.variance, rel=10 * tolerance, abs=10 * tolerance * scale)


def likelihood_units(design: Design, method: str, p: int) -> int:
    """Rows whose density carries the unit of y."""
    return len(design.variables.response) - (p if method == "reml" else 0)


# Invariance


@quick
@given(recipes, methods, st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(recipe: Recipe, method: str, seed: int) -> None:
    columns = recipe.columns()
    order = np.random.RandomState(seed).permutation(len(columns["y"]))
    moved = {k: v[order] if isinstance(v, np.ndarray) else [v[i] for i in order] for k, v in columns.items()}
    assert_same(fit(recipe, method), fit(recipe, method, **moved))


@quick
@given(recipes, methods, st.sampled_from([1e-7, 1e-3, 100.0, 1e7]))
def test_the_unit_of_the_response_changes_only_units(recipe: Recipe, method: str, unit: float) -> None:
    one, other = fit(recipe, method), fit(recipe, method, y=recipe.columns()["y"] * unit)
    moved = 2 * likelihood_units(one.model().design, method, len(one.fixed)) * np.log(unit)
    assert_same(one, replace(other, criterion=other.criterion - moved), unit=unit)


@quick
@given(recipes.filter(lambda r: "~ 0 + (" not in r.formula), methods, st.sampled_from([-1e7, 1e3, 1e7]))
def test_a_shift_of_the_response_moves_only_the_mean(recipe: Recipe, method: str, shift: float) -> None:
    y = recipe.columns()["y"]
    moved = y + shift
    one, other = fit(recipe, method, y=moved - shift), fit(recipe, method, y=moved)  # the same bits are lost
    constant = {one.model().design.fixed[i].name for i in one.model().design.constant}
    back = tuple(replace(e, estimate=e.estimate - shift * (e.name in constant)) for e in other.fixed)
    assert_same(one, replace(other, fixed=back), criterion=1e-6)


@quick
@given(st.integers(0, 10_000), methods, st.sampled_from([1e-7, 1e-2, 1e3, 1e7]))
def test_the_unit_of_a_fixed_number_changes_only_its_coefficient(seed: int, method: str, unit: float) -> None:
    recipe = Recipe("y ~ x + f + (1 | a) + (1 | b)", seed, 6, 4, 50, weighted=False)
    one, other = fit(recipe, method), fit(recipe, method, x=recipe.columns()["x"] * unit)
    back = tuple(replace(e, estimate=e.estimate * unit, se=e.se * unit) if e.name == "x" else e for e in other.fixed)
    moved = 2 * np.log(unit) if method == "reml" else 0.0  # log |X'V^-1 X|
    assert_same(one, replace(other, fixed=back, criterion=other.criterion - moved))


@pytest.mark.parametrize("shift", [2e3, 1e5, 1.7e9])
@pytest.mark.parametrize("method", ["reml", "ml"])
def test_a_shift_of_a_fixed_number_moves_only_the_intercept(method: str, shift: float) -> None:
    """Years, ids, seconds since 1970: R's pivoted QR keeps their slopes to about 1e-9, so must we."""
    recipe = Recipe("y ~ x + f + (1 | a) + (1 | b)", 11, 6, 4, 50, weighted=False)
    x = (recipe.columns()["x"] + shift) - shift  # as the shifted column has it
    one, other = fit(recipe, method, x=x), fit(recipe, method, x=x + shift)
    slope = [next(e for e in f.fixed if e.name == "x") for f in (one, other)]
    assert other.dropped == ()
    assert other.criterion == pytest.approx(one.criterion, abs=1e-6)
    assert slope[1].estimate == pytest.approx(slope[0].estimate, rel=1e-6)
    assert slope[1].se == pytest.approx(slope[0].se, rel=1e-6)
    assert slope[1].df == pytest.approx(slope[0].df, rel=1e-4)


SLOPES = "y ~ x + (1 + x | g)"


@pytest.mark.parametrize("shift", [10.0, 100.0, 2000.0, 1e5])
@pytest.mark.parametrize("method", ["reml", "ml"])
def test_a_shift_of_a_random_slope_changes_nothing(method: str, shift: float) -> None:
    """(1 + x | g) is the same model whatever the zero of x: only the intercepts are taken elsewhere."""
    columns = slopes(16, 20, 10)
    moved = columns["x"] + shift
    one, other = (fit_lmm(SLOPES, {**columns, "x": x}, method) for x in (moved - shift, moved))
    assert one.converged
    assert not one.singular
    assert other.converged
    assert not other.singular
    assert other.criterion == pytest.approx(one.criterion, abs=1e-6)
    assert other.fixed[1].estimate == pytest.approx(one.fixed[1].estimate, rel=1e-6)
    assert other.fixed[1].df == pytest.approx(one.fixed[1].df, rel=1e-3)
    assert other.random[1].variance == pytest.approx(one.random[1].variance, rel=1e-4)


@pytest.mark.parametrize("unit", [1e-9, 1e-5, 1e-2, 1e2, 1e5, 1e9])
@pytest.mark.parametrize("formula", [SLOPES, "y ~ x + (x || g)"])
def test_the_unit_of_a_random_slope_changes_only_units(formula: str, unit: float) -> None:
    columns = slopes(16, 20, 10)
    one, other = (fit_lmm(formula, {**columns, "x": columns["x"] * u}) for u in (1.0, unit))
    assert not one.singular
    assert not other.singular
    assert other.converged
    assert other.criterion - 2 * np.log(unit) == pytest.approx(one.criterion, abs=1e-7)
    assert other.fixed[1].df == pytest.approx(one.fixed[1].df, rel=1e-4)
    assert other.random[1].variance * unit**2 == pytest.approx(one.random[1].variance, rel=1e-4)


@quick
@given(recipes, methods)
def test_the_names_of_levels_do_not_matter(recipe: Recipe, method: str) -> None:
    columns = recipe.columns()
    renamed = {c: [f"{'~' * (ord(v[0]) % 3)}{v} : {v}" for v in columns[c]] for c in "ab"}
    assert_same(fit(recipe, method), fit(recipe, method, **renamed))


@quick
@given(st.integers(0, 10_000), methods)
def test_the_order_of_grouping_levels_does_not_matter(seed: int, method: str) -> None:
    recipe = Recipe("y ~ x + (1 | a) + (1 | b) + (1 | a:b)", seed, 6, 4, 60, weighted=False)
    mirrored = [f"a{9 - int(v[1:])}" for v in recipe.columns()["a"]]
    assert_same(fit(recipe, method), fit(recipe, method, a=mirrored))


@quick
@given(recipes, methods, st.sampled_from([1e-6, 0.5, 10.0, 1e6]))
def test_a_factor_on_all_weights_is_a_unit_of_the_residual(recipe: Recipe, method: str, factor: float) -> None:
    """Weights c w and residual variance c sigma^2 are the same model: every variance but the residual's stays."""
    recipe = replace(recipe, weighted=True)
    one, other = fit(recipe, method), fit(recipe, method, w=recipe.columns()["w"] * factor)
    back = tuple(replace(c, variance=c.variance / factor) if c.group == "Residual" else c for c in other.random)
    assert_same(one, replace(other, random=back))


@pytest.mark.parametrize("factor", [1e-6, 1e-8])
def test_small_weights_are_as_good_as_any(factor: float) -> None:
    recipe = Recipe("y ~ x + f + (1 | a) + (1 | b)", 7, 3, 3, 30, weighted=True)
    one, other = fit(recipe, "reml"), fit(recipe, "reml", w=recipe.columns()["w"] * factor)
    assert other.converged
    assert other.criterion == pytest.approx(one.criterion, abs=1e-6)
    assert other.random[0].variance == pytest.approx(one.random[0].variance, rel=1e-4)


@quick
@given(recipes, methods)
def test_weights_of_one_are_no_weights(recipe: Recipe, method: str) -> None:
    recipe = replace(recipe, weighted=True)
    columns = recipe.columns()
    one = fit_lmm(recipe.formula, columns, method)
    assert_same(one, fit(recipe, method, w=np.ones(len(columns["y"]))))


# Dependent columns


@quick
@given(st.integers(0, 10_000), methods)
def test_a_repeated_column_is_dropped_and_named(seed: int, method: str) -> None:
    recipe = Recipe("y ~ x + f + (1 | a) + (1 | b)", seed, 6, 4, 50, weighted=False)
    columns = recipe.columns()
    columns |= {
        "twice": columns["x"],
        "moved": 2 * columns["x"] - 3,
        "same": ["u" if v == "f1" else "v" for v in columns["f"]],
    }
    one = fit_lmm(recipe.formula, columns, method)
    other = fit_lmm("y ~ x + f + twice + moved + same + (1 | a) + (1 | b)", columns, method)
    assert other.dropped == ("twice", "moved", "samev")
    assert any("twice" in warning for warning in other.warnings)
    assert_same(one, other)
    assert other.npar == one.npar


# Nested fits

NESTED = [
    ("y ~ 1 + (1 | a)", "y ~ x + (1 | a)"),
    ("y ~ x + (1 | a)", "y ~ x + (1 | a) + (1 | b)"),
    ("y ~ x + (1 | a)", "y ~ x + (z || a)"),
    ("y ~ x + (z || a)", "y ~ x + (1 + z | a)"),
    ("y ~ x + (1 + z | a)", "y ~ x + f + (1 + z | a) + (1 | b)"),
    ("y ~ f + (1 | a)", "y ~ f + (0 + f | a)"),
    ("y ~ x + (1 | a) + (1 | b)", "y ~ x + (1 | a) + (1 | b) + (1 | a:b)"),
    ("y ~ 1 + (1 | a)", "y ~ f * z + (1 | a)"),
]


@quick
@given(recipes, st.sampled_from(NESTED))
def test_a_larger_model_never_loses_likelihood(recipe: Recipe, pair: tuple[str, str]) -> None:
    small, large = (fit(replace(recipe, formula=formula), "ml") for formula in pair)
    assert large.converged
    assert large.criterion <= small.criterion + 1e-7


@quick
@given(recipes, st.sampled_from([pair for pair in NESTED if pair[0].split("(")[0] == pair[1].split("(")[0]]))
def test_more_variances_never_lose_restricted_likelihood(recipe: Recipe, pair: tuple[str, str]) -> None:
    small, large = (fit(replace(recipe, formula=formula), "reml") for formula in pair)
    assert large.criterion <= small.criterion + 1e-7


# One criterion, three eliminations, exact gradients


def moments_of(recipe: Recipe) -> tuple[Design, Moments, list[int]]:
    design = make_design(recipe.formula, recipe.columns(), weights=recipe.weights)
    moments = accumulate(design.layout, design.sample)
    kept = independent_columns(moments)
    return design, keep_columns(moments, kept), list(kept)


def by_patterns(moments: Moments) -> Patterns:
    return Patterns.of(moments, *find_alike(moments.A))


def by_sparse_levels(moments: Moments) -> SparseLevels:
    assert isinstance(moments.B, np.ndarray)
    rows = tuple(sp.csr_array(moments.B[:, k]) for k in range(moments.B.shape[1]))
    return SparseLevels(replace(moments, held=Whole(moments.A, rows)))


ELIMINATIONS: dict[str, Callable[[Moments], Any]] = {
    "patterns": by_patterns,
    "levels": Levels.of,
    "sparse levels": by_sparse_levels,
}


def criterion_by(moments: Moments, elimination: str, *, reml: bool) -> Criterion:
    criterion = Criterion(moments, reml=reml)
    criterion.elimination = ELIMINATIONS[elimination](moments)
    return criterion


def random_theta(recipe: Recipe, count: int) -> np.ndarray:
    return np.random.RandomState(recipe.seed + 1).uniform(0.1, 1.5, count)


@quick
@given(recipes, methods)
def test_the_criterion_is_the_textbooks_at_any_theta(recipe: Recipe, method: str) -> None:
    design, moments, kept = moments_of(recipe)
    theta = random_theta(recipe, len(moments.lower))
    value, _, covariance, sigma2 = criterion_of(design, theta, reml=method == "reml", kept=kept, engine_weights=True)
    for name in ELIMINATIONS:
        solution = criterion_by(moments, name, reml=method == "reml").solve(theta)
        assert solution.value == pytest.approx(value, abs=1e-8)
        assert solution.sigma2 == pytest.approx(sigma2, rel=1e-9)
        assert solution.sigma2 * solution.unscaled == pytest.approx(covariance, rel=1e-7, abs=1e-9)


@quick
@given(recipes, methods)
def test_every_elimination_gives_the_same_value_and_gradient(recipe: Recipe, method: str) -> None:
    _, moments, _ = moments_of(recipe)
    theta = random_theta(recipe, len(moments.lower))
    found = [criterion_by(moments, name, reml=method == "reml").slopes(theta) for name in ELIMINATIONS]
    for value, gradient in found[1:]:
        assert value == pytest.approx(found[0][0], abs=1e-9)
        assert gradient == pytest.approx(found[0][1], rel=1e-9, abs=1e-9)


@quick
@given(recipes, methods, st.sampled_from(sorted(ELIMINATIONS)))
def test_the_gradient_is_that_of_the_criterion(recipe: Recipe, method: str, elimination: str) -> None:
    _, moments, _ = moments_of(recipe)
    criterion = criterion_by(moments, elimination, reml=method == "reml")
    theta = random_theta(recipe, len(moments.lower))
    value, gradient = criterion.slopes(theta)
    assert value == pytest.approx(criterion.solve(theta).value, abs=1e-9)
    step = 1e-5
    for i in range(len(theta)):
        e = step * np.eye(len(theta))[i]
        central = (criterion.solve(theta + e).value - criterion.solve(theta - e).value) / (2 * step)
        assert gradient[i] == pytest.approx(central, rel=1e-6, abs=1e-5)  # rounding: 1e-14 * 100 / 1e-5


@quick
@given(recipes, methods)
def test_the_criterion_does_not_change_with_the_sign_of_a_column_of_lambda(recipe: Recipe, method: str) -> None:
    """This is what lets the search run without bounds."""
    _, moments, _ = moments_of(recipe)
    criterion = Criterion(moments, reml=method == "reml")
    theta = random_theta(recipe, len(moments.lower))
    for pattern in (moments.first, *(block.pattern for block in moments.blocks)):
        for j in range(len(pattern)):
            held = np.unique(pattern[:, j][pattern[:, j] >= 0])
            mirrored = theta.copy()
            mirrored[held] *= -1
            assert criterion.solve(mirrored).value == pytest.approx(criterion.solve(theta).value, abs=1e-9)


@quick
@given(recipes, methods, st.integers(1, 10))
def test_a_row_split_into_halves_says_the_same_of_the_fixed_effects(recipe: Recipe, method: str, row: int) -> None:
    """Two rows of weight w/2 for one of weight w: the cross-products stay, so at any theta beta and r^2 do.

    The criterion does not: there is one more residual, which is zero, and one more log-weight.
    """
    recipe = replace(recipe, weighted=True)
    columns = recipe.columns()
    halved = columns["w"].copy()
    halved[row] /= 2
    split = {
        k: [*v, v[row]] if isinstance(v, list) else np.append(v, v[row]) for k, v in {**columns, "w": halved}.items()
    }
    found = []
    for data in (columns, split):
        design = make_design(recipe.formula, data, weights="w")
        # The response is centred at the mean of its rows, which moves: take the mean of the first for both.
        shift = make_design(recipe.formula, columns, weights="w").shift
        sample = replace(design.sample, response=design.variables.response - shift, weights=design.variables.weights)
        moments = accumulate(design.layout, sample)
        moments = keep_columns(moments, independent_columns(moments))
        criterion = Criterion(moments, reml=method == "reml")
        found.append((criterion.solve(random_theta(recipe, len(moments.lower))), criterion.dof))
    (one, dof), (other, more) = found
    assert more == dof + 1
    assert other.beta == pytest.approx(one.beta, rel=1e-8, abs=1e-8)
    assert other.unscaled == pytest.approx(one.unscaled, rel=1e-8, abs=1e-10)
    assert other.sigma2 * more == pytest.approx(one.sigma2 * dof, rel=1e-9)
    r2, w = one.sigma2 * dof, columns["w"][row]
    own = functools.partial(lambda d: d * (1 + np.log(2 * np.pi * r2 / d)))
    assert other.value - one.value == pytest.approx(own(more) - own(dof) - np.log(w / 4), abs=1e-8)


@quick
@given(recipes, methods)
def test_the_optimum_is_one(recipe: Recipe, method: str) -> None:
    """No point near it, and none of many farther off, is lower."""
    result = fit(recipe, method)
    assert result.converged
    criterion = result.model().engine.criterion
    theta = np.array(result.optimizer.theta)
    state = np.random.RandomState(recipe.seed)
    for scale in (1e-4, 1e-2, 0.3, 1.0):
        for _ in range(10):
            there = criterion.solve(theta + scale * state.standard_normal(len(theta))).value
            assert there >= result.criterion - 1e-9
