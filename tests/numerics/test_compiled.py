"""Compiled loops give what NumPy gives."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from designs import make_design
from holdsup.numerics import cells, compiled
from holdsup.numerics.criterion import Criterion
from holdsup.numerics.elimination import SparseLevels, _Compiled, _Pairs
from holdsup.numerics.mixed import keep_columns
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


def test_rows_of_a_fit_without_dependent_columns_are_what_compiled_loops_take() -> None:
    """Compiled loops read rows one after the other in memory; choosing columns of an array would leave gaps."""
    design = make_design("y ~ system + (1 | item)", TABLE)
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
