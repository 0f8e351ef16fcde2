"""Compiled loops give what NumPy gives; as plain Python they are tested where there is no numba."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from designs import make_design
from holdsup.errors import FitError
from holdsup.fit import fit_lmm
from holdsup.numerics import cells, compiled
from holdsup.numerics.criterion import Criterion
from holdsup.numerics.elimination import SparseLevels, _Compiled, _Pairs
from holdsup.numerics.loops import SmallModel, slopes
from holdsup.numerics.mixed import fit_moments, keep_columns
from holdsup.numerics.moments import accumulate

RNG = np.random.RandomState(5)
ROWS = 240
TABLE = {
    "item": np.arange(ROWS) % 20,
    "system": np.where(np.arange(ROWS) // 20 % 2, "B", "A"),
    "run": np.arange(ROWS) // 40,
    "x": RNG.normal(size=ROWS),
    "w": RNG.uniform(0.5, 2, ROWS),
}
TABLE["y"] = RNG.normal(size=20)[TABLE["item"]] + 0.5 * RNG.normal(size=6)[TABLE["run"]] + RNG.normal(size=ROWS)
FORMULAS = [
    "y ~ system + (1 | item)",
    "y ~ system + (1 | item) + (1 | system:item) + (1 | run)",
    "y ~ system * x + (1 + system | item) + (1 + x | run)",
    "y ~ x + (1 + x | item) + (x || run)",  # a pattern for every item
    "y ~ 0 + system + (0 + system || item)",
]


in_python = getattr(slopes, "py_func", slopes)  # as it is written, compiled or not


def small_model(criterion: Criterion) -> SmallModel:
    P = getattr(criterion.elimination, "P", None)
    blocks = criterion.elimination.blocks  # type: ignore[attr-defined]
    return SmallModel(criterion.moments, blocks.A, blocks.counts, P, reml=criterion.reml)


def check_loops(criterion: Criterion, theta: np.ndarray, loops: Callable[..., float] = in_python) -> None:
    """The criterion is written twice: as calls on arrays, and as loops. Both give the same to the last digits."""
    criterion.small = None
    value, gradient = criterion.slopes(theta)
    by_loops = np.empty(len(theta))
    assert loops(theta, by_loops, *small_model(criterion).arguments) == pytest.approx(value, rel=1e-12)
    # A gradient is a difference of sums as large as the degrees of freedom.
    assert by_loops == pytest.approx(gradient, rel=1e-12, abs=1e-12 * criterion.dof)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("formula", FORMULAS)
def test_loops_give_the_criterion_and_its_gradient(formula: str, reml: bool, weights: str | None) -> None:
    design = make_design(formula, TABLE, weights=weights)
    criterion = Criterion(accumulate(design.layout, design.sample), reml=reml)
    check_loops(criterion, RNG.uniform(0.2, 1.0, len(criterion.moments.lower)))


@pytest.mark.parametrize("loops", [in_python, pytest.param(slopes, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", range(12))
def test_loops_and_calls_on_arrays_agree_on_random_models(seed: int, loops: Callable[..., float]) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(60, 200))
    table = {name: rng.integers(0, count, rows) for name, count in (("g", 9), ("h", 5), ("k", 3))}
    table |= {name: rng.normal(rng.normal(), 1, rows) for name in ("x", "z", "y")}
    fixed = " + ".join(["1", *rng.choice(["x", "z", "factor(k)"], rng.integers(0, 4), replace=False)])
    slopes_of = ["1", "1 + x", "0 + x", "1 + x + z"]
    random = [f"({rng.choice(slopes_of)} {rng.choice(['|', '||'])} {group})" for group in ("g", "h")[: seed % 2 + 1]]
    design = make_design(f"y ~ {fixed} + {' + '.join(random)}", table)
    criterion = Criterion(accumulate(design.layout, design.sample), reml=bool(rng.integers(2)))
    check_loops(criterion, rng.normal(0, rng.choice([0.1, 1, 3]), len(criterion.moments.lower)), loops)


def test_a_matrix_that_is_not_positive_definite_gives_infinity() -> None:
    design = make_design(FORMULAS[0], TABLE)
    criterion = Criterion(accumulate(design.layout, design.sample), reml=False)
    arguments = list(small_model(criterion).arguments)
    arguments[4] = -arguments[4]  # C
    gradient = np.empty(1)
    assert in_python(np.ones(1), gradient, *arguments) == np.inf
    assert np.isnan(gradient).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("theta", [1e200, np.nan])
def test_a_theta_that_overflows_gives_infinity_not_an_exception(theta: float) -> None:
    design = make_design(FORMULAS[0], TABLE)
    criterion = Criterion(accumulate(design.layout, design.sample), reml=False)
    gradient = np.empty(1)
    assert in_python(np.full(1, theta), gradient, *small_model(criterion).arguments) == np.inf
    assert np.isnan(gradient).all()


@pytest.mark.slow
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_fit_is_the_same_with_numba(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="the numba extra is not installed")
    design = make_design(formula, TABLE)
    moments = accumulate(design.layout, design.sample)
    with_numba = fit_moments(moments, reml=True)
    monkeypatch.setattr(compiled, "loaded", lambda: False)
    without = fit_moments(moments, reml=True)
    assert with_numba.solution.value == pytest.approx(without.solution.value, abs=1e-8)
    assert with_numba.converged
    assert without.converged


def test_rows_of_a_fit_without_dependent_columns_are_what_compiled_loops_take() -> None:
    """Compiled loops read rows one after the other in memory; choosing columns of an array would leave gaps."""
    design = make_design(FORMULAS[0], TABLE)
    moments = accumulate(design.layout, design.sample)
    kept = keep_columns(moments, np.arange(1, moments.p))
    assert isinstance(kept.B, np.ndarray)
    assert kept.B.flags.c_contiguous


@pytest.mark.slow
def test_compiled_loops_over_rows_and_entries_agree_with_numpy() -> None:
    pytest.importorskip("numba", reason="the numba extra is not installed")
    place, left, right = RNG.randint(0, 7, 100), RNG.normal(size=100), RNG.normal(size=100)
    assert compiled.sum_cells(place, left, right, 7) == pytest.approx(np.bincount(place, left * right, 7))
    rows = sp.random_array((30, 12), density=0.3, format="csr", rng=np.random.default_rng(1))
    weights, slope = RNG.uniform(size=30), RNG.normal(size=(12, 12))
    slope = slope + slope.T
    pairs = _Pairs.of(rows, rows, half=True)
    assert pairs is not None
    assert _Compiled(rows).scatter(weights, 12) == pytest.approx(pairs.scatter(weights, 12))
    assert _Compiled(rows).gather(slope, 30) == pytest.approx(pairs.gather(slope, 30))
    dense = rows.toarray()
    assert pairs.scatter(weights, 12) == pytest.approx(dense.T @ np.diag(weights) @ dense)
    assert pairs.gather(slope, 30) == pytest.approx(np.einsum("ia,ab,ib->i", dense, slope, dense))


def test_a_small_fit_does_not_import_numba() -> None:
    """Importing it takes longer than the fit."""
    import subprocess

    script = (
        "import sys, holdsup\n"
        "holdsup.fit_lmm('score ~ system + (1 | item)', holdsup.simulate_scores({'A': 0.5, 'B': 0.6}))\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_sparse_rows_are_the_engine_of_two_large_factors() -> None:
    rng = np.random.RandomState(2)
    data = {"a": rng.randint(0, 300, 1500), "b": rng.randint(0, 250, 1500), "y": rng.normal(size=1500)}
    design = make_design("y ~ 1 + (1 | a) + (1 | b)", data)
    criterion = Criterion(accumulate(design.layout, design.sample), reml=True)
    assert isinstance(criterion.elimination, SparseLevels)


@pytest.mark.slow
def test_columns_that_may_not_be_written_are_added_up_by_compiled_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow's columns are read-only, products of ours are not: the loop takes any mixture."""
    pytest.importorskip("numba", reason="the numba extra is not installed")
    design = make_design("y ~ x + (1 | item) + (1 | run)", pa.table(TABLE), weights="w")
    plain = accumulate(design.layout, design.sample)
    monkeypatch.setattr(cells, "WORTH_COMPILING", 0)
    found = accumulate(design.layout, design.sample)
    np.testing.assert_allclose(found.C, plain.C, rtol=1e-12)


@pytest.mark.slow
def test_a_perfect_fit_is_refused_with_numba_as_without() -> None:
    pytest.importorskip("numba", reason="the numba extra is not installed").njit  # noqa: B018 (loaded)
    item = np.repeat(np.arange(30), 6)
    table = {"y": item.astype(float), "item": [f"i{i}" for i in item], "system": list("ABABAB") * 30}
    with pytest.raises(FitError, match="fit every row exactly"):
        fit_lmm("y ~ system + (1 | item)", table)
