"""Random terms merged by grouping factor are the same model: Z Lambda Lambda' Z' does not change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings, strategies as st

from designs import make_design
from holdsup.design import Design
from holdsup.design.coding import dense_columns
from holdsup.design.groups import MOST_INSIDE
from holdsup.design.matrices import code_fitted_rows
from holdsup.errors import FormulaError
from holdsup.numerics.layout import Floats


def direct_covariance(design: Design, theta: Floats) -> Floats:
    """Z Lambda Lambda' Z' term by term, from the definition."""
    rows = code_fitted_rows(design)
    total = np.zeros((len(rows.fixed),) * 2)
    for block, columns, levels in zip(design.random, rows.columns, rows.levels, strict=True):
        factor = np.zeros((len(block.columns),) * 2)
        for i, j, parameter in block.places:
            factor[i, j] = theta[parameter]
        total += columns @ factor @ factor.T @ columns.T * (levels[:, None] == levels)
    return total


def merged_covariance(design: Design, theta: Floats) -> Floats:
    """The same from the layout that the engine gets, with Z and Lambda written out."""
    n = len(design.sample.response)
    total = np.zeros((n, n))
    for effects in design.layout.effects:
        k = len(effects.columns)
        assert effects.size == effects.count * k
        columns = dense_columns(effects.columns, design.sample.numbers, design.sample.factors, n)
        Z = np.zeros((n, effects.size))
        for i in range(k):
            Z[np.arange(n), effects.codes * k + i] = columns[:, i]
        factor = np.where(effects.pattern < 0, 0.0, theta[effects.pattern])
        Lambda = np.kron(np.eye(effects.count), factor)
        total += Z @ Lambda @ Lambda.T @ Z.T
    return total


FORMULAS = [
    "y ~ s + (1 | i) + (1 | s:i)",
    "y ~ s + (1 | i) + (1 | i:s) + (1 | s:r)",
    "y ~ s + (1 | r) + (1 | i) + (1 | s:i) + (1 | r:i:s)",
    "y ~ s + (1 + x | i) + (1 + x | s:i)",
    "y ~ s + (1 + x | i) + (x || s:i) + (0 + s || i)",
    "y ~ s + (0 + s | i) + (0 + s | s:i) + (1 | i)",
    "y ~ s + (1 | s/i) + (1 | i)",
    "y ~ s + (s * x | i) + (1 | r:i) + (1 | r)",
    "y ~ (1 | s) + (1 | i) + (1 | r) + (1 | s:i) + (1 | s:r) + (1 | i:r)",
    "y ~ (x | s:r) + (1 | s:r:i) + (0 + x | r:s)",
    "y ~ (1 | i) + (1 | i)",
]


@settings(max_examples=150)
@given(
    formula=st.sampled_from(FORMULAS),
    seed=st.integers(0, 10**6),
    systems=st.integers(2, 3),
    items=st.integers(2, 5),
    runs=st.integers(2, 15),
)
def test_merged_terms_have_the_covariance_of_the_terms(
    formula: str, seed: int, systems: int, items: int, runs: int
) -> None:
    rng = np.random.default_rng(seed)
    grid = pd.DataFrame(
        [(f"s{s}", f"i{i}", f"r{r}") for s in range(systems) for i in range(items) for r in range(runs)],
        columns=["s", "i", "r"],
    )
    # Twice the grid, less some rows: combinations are missing, and no term has as many effects as rows.
    data = pd.concat([grid] * 3 + [grid.sample(frac=0.5, random_state=seed)])
    data = data[~((data["s"] == "s0") & (data["i"] == "i0"))].assign(x=lambda d: rng.normal(size=len(d)))
    data["y"] = rng.normal(size=len(data))
    data = data.sample(n=min(len(data), 260), random_state=seed)
    try:
        design = make_design(formula, data)
    except FormulaError:  # a random draw may leave one level, or too few rows
        reject()
    theta = rng.normal(size=len(design.layout.lower))
    np.testing.assert_allclose(merged_covariance(design, theta), direct_covariance(design, theta), rtol=1e-9, atol=1e-9)


def grid(systems: int) -> pd.DataFrame:
    rows = [(f"s{s}", f"i{i}", r) for s in range(systems) for i in range(30) for r in range(2)]
    return pd.DataFrame(rows, columns=["s", "i", "y"])


@pytest.mark.parametrize(("systems", "merged"), [(2, True), (MOST_INSIDE, True), (MOST_INSIDE + 1, False)])
def test_only_few_combinations_are_written_as_columns(systems: int, merged: bool) -> None:
    design = make_design("y ~ s + (1 | i) + (1 | s:i)", grid(systems))
    assert len(design.layout.effects) == (1 if merged else 2)
    if merged:
        (effects,) = design.layout.effects
        assert effects.count == 30
        assert list(np.diag(effects.pattern)) == [0] + [1] * systems


def test_terms_end_up_within_the_factor_that_holds_the_others() -> None:
    """system:item goes into item, so system:item:kind does as well: no large factor is left beside it."""
    data = pd.concat([grid(2).assign(k="u"), grid(2).assign(k="v")])
    design = make_design("y ~ s + (1 | i) + (1 | s:i) + (1 | s:i:k)", data)
    (effects,) = design.layout.effects
    assert effects.count == 30
    assert list(np.diag(effects.pattern)) == [0, 1, 1, 2, 2, 2, 2]


def test_one_group_takes_in_all_that_is_finer_where_a_second_large_factor_would_stay() -> None:
    """Of 14 combinations of budget and system, and 10 folds, both within task: 32 columns, and nothing beside them."""
    rows = [(t, s, b, f) for t in range(20) for s in range(7) for b in range(2) for f in range(10)]
    data = pd.DataFrame(rows, columns=["t", "s", "b", "f"]).assign(y=np.random.default_rng(0).normal(size=len(rows)))
    design = make_design("y ~ factor(s) + (1 | t) + (1 | s:t) + (1 | b:s:t) + (1 | f:t)", data)
    (effects,) = design.layout.effects
    assert effects.count == 20
    assert np.bincount(np.diag(effects.pattern)).tolist() == [1, 7, 14, 10]


def test_a_finer_group_stays_where_all_others_fit_into_it() -> None:
    """4 systems x 5 rates do not fit into the usual dozen of a dataset; rates and seeds fit into system:dataset."""
    rows = [(d, s, r, k) for d in range(13) for s in range(4) for r in range(5) for k in range(3) for _ in range(2)]
    data = pd.DataFrame(rows, columns=["d", "s", "r", "k"]).assign(y=np.random.default_rng(0).normal(size=len(rows)))
    design = make_design("y ~ factor(s) + (1 | d) + (1 | s:d) + (1 | r:s:d) + (1 | k:s:d)", data)
    assert [(effects.count, len(effects.columns)) for effects in design.layout.effects] == [(52, 9), (13, 1)]


def test_largest_factor_comes_first() -> None:
    design = make_design("y ~ (1 | s) + (1 | i)", grid(3))
    assert [effects.count for effects in design.layout.effects] == [30, 3]


def test_rows_are_coded_only_for_groups_that_others_are_written_within() -> None:
    """Of millions of rows each grouping costs a pass of its own."""
    system, item, run = (axis.ravel().astype(str) for axis in np.indices((3, 20, 2)))
    table = {"system": system, "item": item, "run": np.char.add(system, run), "score": np.arange(120.0) % 7}
    design = make_design("score ~ system + (1 | item) + (1 | system:item) + (1 | system:run)", table)
    coded = [block.group.label for block in design.random if "codes" in vars(block.group)]
    assert coded == ["item", "system:run"]
