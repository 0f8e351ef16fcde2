"""Levels that differ in their response alone are held once: the same cross-products, criterion and fits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from designs import make_design
from holdsup.fit import fit_lmm, fit_within
from holdsup.numerics.cells import Cells, Columns, combine, find_alike
from holdsup.numerics.elimination import Patterns, choose_elimination
from holdsup.numerics.moments import Alike, Moments, Whole, accumulate, contract, make_moments

FORMULA = "score ~ system + (1 | item) + (1 | system:item) + (1 | system:run)"


def make_table(gaps: int) -> dict[str, list[object]]:
    """Return 3 systems in 4 runs each on 300 items; some items lack the last run of one system, some of two."""
    rng = np.random.default_rng(5)
    system, run, item = np.indices((3, 4, 300)).reshape(3, -1)
    score = 0.1 * system + rng.normal(size=300)[item] + 0.3 * rng.normal(size=(3, 4))[system, run]
    score += rng.normal(size=len(system))
    kept = np.ones(len(system), bool)
    for number in range(gaps):
        kept &= ~((run == 3) & (system <= number) & (item % 5 == number))
    names = {
        "system": [f"s{i}" for i in system[kept]],
        "run": [f"s{s}r{r}" for s, r in zip(system[kept], run[kept], strict=True)],
    }
    return {**names, "item": item[kept].tolist(), "score": score[kept].tolist()}


@pytest.fixture(params=[0, 2])
def both(request: pytest.FixtureRequest) -> tuple[Moments, Moments]:
    design = make_design(FORMULA, make_table(request.param))
    held, C = contract(design.layout, design.sample)
    assert isinstance(held, Whole)
    whole = make_moments(design.layout, held, C, n=len(design.sample.response), log_weights=0.0)
    alike = accumulate(design.layout, design.sample)
    assert isinstance(alike.held, Alike)
    assert len(alike.held.A) == 1 + request.param
    return whole, alike


def test_kinds_of_levels_expand_to_the_cross_products_of_each(both: tuple[Moments, Moments]) -> None:
    whole, alike = both
    for mine, theirs in ((alike.A, whole.A), (alike.B, whole.B), (alike.C, whole.C)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-12)


def test_the_sums_of_kinds_are_those_of_their_levels(both: tuple[Moments, Moments]) -> None:
    whole, alike = both
    ours, theirs = choose_elimination(alike), Patterns.of(whole, *find_alike(whole.A))
    assert isinstance(ours, Patterns)
    factor = np.diag(np.linspace(0.5, 1.5, len(whole.first)))
    for (logdet, S), (expected, T) in ((ours.reduce(factor), theirs.reduce(factor)),):
        assert logdet == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(S, T, rtol=1e-11, atol=1e-9)


def test_a_fit_does_not_depend_on_how_its_levels_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(2)
    alike = fit_lmm(FORMULA, table)
    assert isinstance(alike.model().engine.moments.held, Alike)
    monkeypatch.setattr("holdsup.numerics.moments.FEW_KINDS", 10**6)
    whole = fit_lmm(FORMULA, table)
    assert isinstance(whole.model().engine.moments.held, Whole)
    assert alike.criterion == pytest.approx(whole.criterion, abs=1e-8)
    assert [e.estimate for e in alike.fixed] == pytest.approx([e.estimate for e in whole.fixed], abs=1e-8)
    assert [r.sd for r in alike.random] == pytest.approx([r.sd for r in whole.random], abs=1e-6)


@pytest.mark.parametrize("gaps", [0, 2])
def test_a_smaller_model_from_the_cross_products_of_a_larger_one_is_the_model_fitted_anew(gaps: int) -> None:
    table = make_table(gaps)
    random = FORMULA.partition("system + ")[2]
    large = fit_lmm(FORMULA, table, "ml")
    small, anew = fit_within(large, f"score ~ 1 + {random}"), fit_lmm(f"score ~ 1 + {random}", table, "ml")
    assert (small.criterion, small.npar, small.sigma) == pytest.approx(
        (anew.criterion, anew.npar, anew.sigma), rel=1e-7
    )
    assert small.fixed[0].estimate == pytest.approx(anew.fixed[0].estimate, rel=1e-7)
    assert small.formula == anew.formula


def test_a_model_that_is_none_of_the_larger_one_is_fitted_to_its_rows() -> None:
    table = make_table(0)
    large = fit_lmm("score ~ system + (1 | item)", table, "ml")
    other = "score ~ 0 + system + (1 | item)"
    assert fit_within(large, other).criterion == pytest.approx(fit_lmm(other, table, "ml").criterion, rel=1e-9)


NESTED = "score ~ system + (1 | dataset:item) + (1 | dataset) + (1 | system:dataset:item) + (1 | system:run)"


@pytest.mark.parametrize("gaps", [0, 2])
def test_items_of_a_dataset_are_of_one_kind_where_only_cells_that_occur_are_held(
    gaps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(gaps)
    table["dataset"] = [f"d{int(item) % 3}" for item in table["item"]]
    full = fit_lmm(NESTED, table, "ml")
    monkeypatch.setattr("holdsup.numerics.cells.SMALL_GRID", 0)
    monkeypatch.setattr("holdsup.numerics.cells.DENSE_GRID", 2)  # 36 combinations of which an item has 12
    monkeypatch.setattr("holdsup.numerics.moments.FEW_KINDS", 10)
    design = make_design(NESTED, table)
    cells = Cells.find(design.layout.effects[0], Columns(design.layout).used, design.sample)
    assert cells.sparse
    held, C = contract(design.layout, design.sample)
    whole = make_moments(design.layout, held, C, n=len(design.sample.response), log_weights=0.0)
    alike = accumulate(design.layout, design.sample)
    assert isinstance(alike.held, Alike)
    assert len(alike.held.A) == 3 * (1 + gaps)
    for mine, theirs in ((alike.A, whole.A), (alike.B, whole.B), (alike.C, whole.C)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-12)
    found = choose_elimination(alike)
    assert isinstance(found, Patterns)
    assert len(found.blocks.A) == 1 + gaps  # datasets do not change A
    assert found.blocks.counts.sum() == 300
    few = fit_lmm(NESTED, table, "ml")
    assert few.criterion == pytest.approx(full.criterion, abs=1e-8)
    assert [r.sd for r in few.random] == pytest.approx([r.sd for r in full.random], abs=1e-6)


def test_sparse_rows_are_alike_only_if_all_their_entries_are() -> None:
    rows = np.array([[1.0, 0, 2], [1, 0, 2], [2, 0, 1], [1, 0, 2], [0, 0, 0], [1, 2, 0]])
    shown, kind = find_alike(sp.csr_array(rows))
    np.testing.assert_array_equal(rows[shown][kind], rows)
    assert len(shown) == 4


def test_long_rows_that_are_mostly_empty_expand_to_sparse_ones() -> None:
    B = np.zeros((2, 1, 400))
    B[0, 0, 3] = B[1, 0, 5] = 2.0
    held = Alike(np.array([0, 1, 0]), np.full((2, 1, 1), 2.0), B, np.array([[1.0], [2.0], [3.0]]))
    (rows,) = held.expand().B
    expected = B[[0, 1, 0], 0]
    expected[:, -1] = [1, 2, 3]
    assert sp.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), expected)


def test_levels_held_by_kind_are_not_expanded_to_choose_how_they_are_taken_out(both: tuple[Moments, Moments]) -> None:
    _, alike = both
    choose_elimination(alike, exact=True)
    assert "_whole" not in vars(alike)


@pytest.mark.parametrize("ordered", [True, False])
def test_combinations_are_shown_wherever_their_rows_are(ordered: bool) -> None:
    """A few rows are looked at before all are; those of one system may be the first of many."""
    system, run = np.indices((5, 3, 4000)).reshape(3, -1)[:2]
    run = np.where(system == 4, 0, run)  # one that has no second run, so that not all places occur
    rows = np.arange(len(system)) if ordered else np.random.default_rng(1).permutation(len(system))
    factors = [codes[rows].astype(np.int32) for codes in (system, run)]
    number, shown = combine(factors, len(rows))
    keys = factors[0] * 3 + factors[1]
    assert [keys[row] for row in shown] == sorted(set(keys.tolist()))
    assert np.array_equal(keys[shown][number], keys)
