"""Random columns brought near one: the same model, whatever the unit."""

from __future__ import annotations

import numpy as np
import pytest

from designs import make_design
from holdsup.design import Design
from holdsup.design.coding import dense_columns
from holdsup.design.matrices import code_fitted_rows

RNG = np.random.default_rng(3)
TABLE = {
    "y": RNG.normal(size=60),
    "g": np.repeat(np.arange(6), 10),
    "h": np.tile(np.arange(10), 6),
    "year": RNG.integers(1990, 2025, 60).astype(float),
    "stamp": 1.7e9 + RNG.normal(size=60) * 1e6,
    "tiny": RNG.normal(size=60) * 1e-9,
    "x": RNG.normal(size=60),
    "f": np.where(RNG.random(60) > 0.5, "a", "b"),
}
FORMULAS = [
    "y ~ 1 + (1 + year | g)",
    "y ~ 1 + (year || g)",
    "y ~ 1 + (0 + stamp | g)",
    "y ~ 1 + (1 + stamp + tiny | g)",
    "y ~ 1 + (1 + f * stamp | g)",
    "y ~ x + (1 + x | g) + (0 + tiny | h)",
]


def engine_columns(design: Design, number: int) -> np.ndarray:
    codes = [labels.codes for labels in design.variables.factors]
    return dense_columns(design.random[number].engine, design.sample.numbers, codes, len(design.sample.response))


@pytest.mark.parametrize("formula", FORMULAS)
def test_effects_of_the_formula_are_the_transform_of_the_engines(formula: str) -> None:
    design = make_design(formula, TABLE)
    for number, (block, columns) in enumerate(zip(design.random, code_fitted_rows(design).columns, strict=True)):
        effects = RNG.normal(size=len(block.columns))
        assert engine_columns(design, number) @ effects == pytest.approx(
            columns @ (block.transform @ effects), rel=1e-6
        )


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_engines_columns_are_of_order_one(formula: str) -> None:
    design = make_design(formula, TABLE)
    for number in range(len(design.random)):
        size = np.sqrt((engine_columns(design, number) ** 2).mean(axis=0))
        assert (size < 10).all()
        assert (size > 0.1).all()


def test_only_a_correlated_term_with_an_intercept_is_centred() -> None:
    centred = make_design("y ~ 1 + (1 + year | g)", TABLE)
    raw = make_design("y ~ 1 + (year || g)", TABLE)
    assert abs(engine_columns(centred, 0)[:, 1].mean()) < 1e-9
    assert engine_columns(raw, 0)[:, 1].min() > 0
    assert raw.random[0].transform[0, 1] == 0


def test_a_variable_of_order_one_is_left_as_it_is() -> None:
    design = make_design("y ~ x + (1 + x | g)", TABLE)
    assert len(design.sample.numbers) == 1
    assert np.array_equal(design.random[0].transform, np.eye(2))


def test_weights_are_brought_near_one_exactly() -> None:
    design = make_design("y ~ 1 + (1 | g)", {**TABLE, "w": np.full(60, 3e-9)}, weights="w")
    assert design.sample.weights is not None
    assert np.array_equal(design.sample.weights * design.weight_unit, np.full(60, 3e-9))
    assert 0.5 < design.sample.weights.mean() < 2
