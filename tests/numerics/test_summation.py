"""Cross-products of parts add up to those of the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from holdsup.numerics import summation
from holdsup.numerics.layout import ColumnSpec, Effects, Layout, Sample, run_starts
from holdsup.numerics.moments import LONG_ROW, Moments, accumulate
from holdsup.numerics.summation import MomentPart, MomentSum, PreparedRows, make_part

ROWS = 600


def model(others: int, *, weighted: bool) -> tuple[Layout, Sample]:
    """Two crossed factors, the first with a slope, the second of `others` levels."""
    rng = np.random.default_rng(others)
    first, second = rng.integers(0, 40, ROWS), rng.integers(0, others, ROWS)
    second[:others] = np.arange(others)
    numbers = (rng.normal(size=ROWS),)
    sample = Sample(rng.normal(size=ROWS), rng.uniform(0.5, 2, ROWS) if weighted else None, numbers, (first, second))
    effects = (
        Effects((0,), first, 40, (ColumnSpec(), ColumnSpec((0,))), np.array([[0, -1], [1, 2]])),
        Effects((1,), second, others, (ColumnSpec(),), np.array([[3]])),
    )
    return Layout((ColumnSpec(), ColumnSpec((0,))), effects, np.array([0, -np.inf, 0, 0])), sample


def cut(layout: Layout, sample: Sample, rows: slice) -> tuple[Layout, Sample]:
    effects = tuple(replace(e, codes=e.codes[rows]) for e in layout.effects)
    weights = None if sample.weights is None else sample.weights[rows]
    numbers, factors = tuple(x[rows] for x in sample.numbers), tuple(f[rows] for f in sample.factors)
    return replace(layout, effects=effects), Sample(sample.response[rows], weights, numbers, factors, ROWS)


def direct(layout: Layout, sample: Sample) -> np.ndarray:
    """[Z1 Z2 X y]'W[Z1 Z2 X y], by dense matrices."""
    blocks = []
    for effects in layout.effects:
        values = [np.prod([sample.numbers[i] for i in c.numbers], axis=0) * np.ones(ROWS) for c in effects.columns]
        block = np.zeros((ROWS, effects.count, len(values)))
        block[np.arange(ROWS), effects.codes] = np.stack(values, axis=1)
        blocks.append(block.reshape(ROWS, -1))
    M = np.column_stack([*blocks, np.ones(ROWS), sample.numbers[0], sample.response])
    return np.asarray(M.T @ (M * (1 if sample.weights is None else sample.weights[:, None])))


def assert_direct(moments: Moments, layout: Layout, sample: Sample) -> None:
    whole, q = direct(layout, sample), layout.effects[0].size
    rows = moments.B if isinstance(moments.B, np.ndarray) else np.stack([b.toarray() for b in moments.B], axis=1)
    np.testing.assert_allclose(moments.C, whole[q:, q:], atol=1e-10)
    np.testing.assert_allclose(rows.reshape(q, -1), whole[:q, q:], atol=1e-10)
    for j, A in enumerate(moments.A):
        np.testing.assert_allclose(A, whole[2 * j : 2 * j + 2, 2 * j : 2 * j + 2], atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("others", [5, LONG_ROW + 50])
def test_parts_add_up_to_direct_cross_products(others: int, weighted: bool) -> None:
    layout, sample = model(others, weighted=weighted)
    total = MomentSum(layout)
    for start in range(0, ROWS, 70):
        total.add(make_part(*cut(layout, sample, slice(start, start + 70))))
    found = total.moments()
    assert isinstance(found.B, tuple) == (others > LONG_ROW)
    assert found.n == ROWS
    assert_direct(found, layout, sample)
    assert_direct(accumulate(layout, sample), layout, sample)
    assert found.log_weights == pytest.approx(0 if sample.weights is None else np.log(sample.weights).sum())


@pytest.mark.parametrize("others", [5, LONG_ROW + 50])
def test_sums_of_sums_are_sums(others: int) -> None:
    layout, sample = model(others, weighted=True)
    total = MomentSum(layout)
    for start in range(0, ROWS, 200):
        part = MomentSum(layout)
        for piece in (slice(start, start + 10), slice(start + 10, start + 200)):
            part.add(make_part(*cut(layout, sample, piece)))
        assert len(part.part().levels) == len(np.unique(layout.effects[0].codes[start : start + 200]))
        total.add(part.part())
    assert_direct(total.moments(), layout, sample)


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 2**12])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_added_one_by_one_give_the_same(weighted: bool, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(summation, "WORTH_COMPILING", 0)
    monkeypatch.setattr(summation, "FEW_LEVELS", few)
    layout, sample = model(5, weighted=weighted)
    total, part = MomentSum(layout), MomentSum(layout)
    with monkeypatch.context() as patch:
        patch.setattr(summation, "MOST_SUMS", 3)
        assert isinstance(total.prepare(layout, sample), MomentPart)
    for start in range(0, ROWS, 70):
        prepared = total.prepare(*cut(layout, sample, slice(start, start + 70)))
        assert isinstance(prepared, PreparedRows)
        (part if start < 140 else total).add(prepared)
    assert len(part.part().levels) == len(np.unique(layout.effects[0].codes[:140]))
    total.add(part.part())
    assert_direct(total.moments(), layout, sample)


def test_runs_begin_where_codes_change() -> None:
    assert run_starts(np.array([3, 3, 1, 1, 1, 3])).tolist() == [0, 2, 5]
    assert run_starts(np.array([], int)).tolist() == []
