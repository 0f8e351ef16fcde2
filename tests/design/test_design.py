"""What a formula makes of a table: factors, groups, gaps, weights, and what cannot be modelled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from designs import make_design
from holdsup.columns import Labels
from holdsup.design import Design
from holdsup.errors import ColumnError, FormulaError
from holdsup.numerics.mixed import fit_moments
from holdsup.numerics.moments import accumulate


def frame(n: int = 24) -> pd.DataFrame:
    i = np.arange(n)
    return pd.DataFrame(
        {
            "y": np.sin(i), "x": i % 7 / 2, "a": np.array(["p", "q", "r"])[i % 3], "b": np.array(["s", "t"])[i // 2 % 2],
            "g": [f"g{k}" for k in i % 5], "h": [f"h{k}" for k in i % 4], "id": i % 6, "w": 1.0 + i % 2,
        }
    )  # fmt: skip


def names(design: Design) -> list[str]:
    return [column.name for column in design.fixed]


# Random terms.


def test_double_bar_with_a_factor_gives_each_indicator_its_own_variance() -> None:
    design = make_design("y ~ a + (0 + a || g)", frame(60))
    (block,) = design.random
    assert [column.name for column in block.columns] == ["ap", "aq", "ar"]
    assert not block.correlated
    assert block.places == ((0, 0, 0), (1, 1, 1), (2, 2, 2))
    assert list(design.layout.lower) == [0, 0, 0]
    (effects,) = design.layout.effects
    assert np.array_equal(effects.pattern, [[0, -1, -1], [-1, 1, -1], [-1, -1, 2]])


def test_double_bar_keeps_the_intercept_and_contrasts() -> None:
    (block,) = make_design("y ~ a + (a || g)", frame(60)).random
    assert [column.name for column in block.columns] == ["(Intercept)", "aq", "ar"]


def test_correlated_parameters_stand_column_by_column_as_in_lme4() -> None:
    design = make_design("y ~ x + (1 + x | g) + (1 | h)", frame(60))
    assert design.random[0].places == ((0, 0, 0), (1, 0, 1), (1, 1, 2))
    assert design.random[1].places == ((0, 0, 3),)
    assert list(design.layout.lower) == [0, -np.inf, 0, 0]


def test_nested_groups_are_a_group_and_its_combinations() -> None:
    design = make_design("y ~ 1 + (1 | a/b)", frame())
    assert [block.group.label for block in design.random] == ["a", "a:b"]
    assert [block.group.count for block in design.random] == [3, 6]
    assert design.random[1].group.level_names()[:2] == [("p", "s"), ("p", "t")]


def test_groups_in_either_order_are_one_group() -> None:
    design = make_design("y ~ 1 + (1 | g:h) + (0 + x | h:g)", frame(100))
    assert design.random[0].group is design.random[1].group
    assert len(design.layout.effects) == 1


def test_labels_with_colons_are_never_merged() -> None:
    data = {"y": np.sin(np.arange(8.0)), "u": ["a:b", "a"] * 4, "v": ["c", "b:c"] * 4, "k": list("mmmmnnnn")}
    group = make_design("y ~ 1 + (1 | u:v)", data).random[0].group
    assert group.count == 2
    assert group.level_names() == [("a", "b:c"), ("a:b", "c")]
    assert len(set(group.codes)) == 2


def test_rows_that_show_levels_show_them() -> None:
    design = make_design("y ~ 1 + (1 | g) + (1 | h:id)", frame(96))
    for block in design.random:
        assert np.array_equal(block.group.codes[block.group.shown], np.arange(block.group.count))


def test_single_level_group_is_refused() -> None:
    with pytest.raises(FormulaError, match="'k' has only one level"):
        make_design("y ~ 1 + (1 | k)", {**frame(), "k": ["one"] * 24})


@pytest.mark.parametrize("term", ["(1 | row)", "(1 + x | half)", "(x || row)"])
def test_as_many_effects_as_rows_are_refused(term: str) -> None:
    data = frame().assign(row=[f"r{i}" for i in range(24)], half=[f"r{i // 2}" for i in range(24)])
    with pytest.raises(FormulaError, match="24 rows"):
        make_design(f"y ~ 1 + {term}", data)


def test_independent_effects_are_counted_one_by_one() -> None:
    """Ten runs of two rows, five of each system: (0 + system || run) has ten effects that matter, not twenty."""
    i = np.arange(20)
    data = {"y": np.sin(i), "run": [f"r{k}" for k in i // 2], "system": np.array(["A", "B"])[i // 10]}
    assert make_design("y ~ system + (0 + system || run)", data).random[0].group.count == 10
    with pytest.raises(FormulaError, match="2 effects each"):
        make_design("y ~ system + (0 + system | run)", data)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ 1 + (1 | g) + (1 | g)", r"two random terms of the group 'g' have '\(Intercept\)'"),
        ("y ~ x + (1 | g) + (1 + x | g)", r"the group 'g' have '\(Intercept\)'"),
        ("y ~ x + (x || g) + (0 + x | g)", "the group 'g' have 'x'"),
        ("y ~ 1 + (1 | g:h) + (1 | h:g)", "the group 'g:h' have"),
        ("y ~ 1 + (0 + a:b | g) + (0 + b:a || g)", "the group 'g' have"),
        ("y ~ 1 + (1 | g) + (1 | g1)", "the groups 'g' and 'g1' put the same rows together"),
        ("y ~ 1 + (1 | g) + (1 | g:g1)", "the groups 'g' and 'g:g1' put the same rows together"),
    ],
)
def test_a_random_effect_that_is_there_twice_is_refused(formula: str, message: str) -> None:
    data = frame(200).assign(g1=lambda d: d["g"].map({f"g{i}": f"r{-i % 5}" for i in range(5)}))
    with pytest.raises(FormulaError, match=f"{message}.* variances can.t be separated"):
        make_design(formula, data)


@pytest.mark.parametrize("formula", ["y ~ x + (x || g)", "y ~ x + (1 | g) + (0 + x | g1)", "y ~ 1 + (1 | g) + (1 | h)"])
def test_different_effects_of_the_same_levels_are_accepted(formula: str) -> None:
    assert make_design(formula, frame(60).assign(g1=lambda d: d["g"] + "!")).random


# Factors.


def test_unused_levels_are_dropped_and_declared_order_is_kept() -> None:
    size = pd.Categorical(
        ["small", "large", "middle"] * 8, categories=["tiny", "small", "middle", "large"], ordered=True
    )
    assert names(make_design("y ~ size", frame().assign(size=size))) == ["(Intercept)", "sizemiddle", "sizelarge"]
    text = frame().assign(size=size.astype(str))
    assert names(make_design("y ~ size", text)) == ["(Intercept)", "sizemiddle", "sizesmall"]


def test_levels_that_only_incomplete_rows_have_are_dropped() -> None:
    data = frame()
    data["a"] = np.where(data.index < 3, "zz", data["a"])
    data.loc[:2, "y"] = np.nan
    design = make_design("y ~ a", data)
    assert names(design) == ["(Intercept)", "aq", "ar"]
    assert design.rows.reasons == {"no y": 3}


def test_single_level_factor_is_refused() -> None:
    with pytest.raises(FormulaError, match=r"'k' has only one level \('one'\)"):
        make_design("y ~ k", {**frame(), "k": ["one"] * 24})


def test_a_number_and_a_group_at_once() -> None:
    design = make_design("y ~ id + factor(id) + (1 | id)", frame())
    assert names(design)[:3] == ["(Intercept)", "id", "factor(id)1"]
    assert design.random[0].group.count == 6
    assert np.array_equal(design.variables.numbers[0], frame()["id"])


def test_a_factor_and_a_group_at_once_is_read_once() -> None:
    design = make_design("y ~ a + (1 | a:g)", frame(60))
    assert isinstance(design.variables.factors[design.variables.grouping["a"]], Labels)
    assert len(design.variables.factors) == 2


def test_numbers_kept_as_text_in_one_column_are_still_numbers() -> None:
    assert names(make_design("y ~ x", frame().assign(x=frame()["x"].astype(str).astype(object))))[0] == "(Intercept)"


@pytest.mark.parametrize("ordered", [False, True])
def test_a_categorical_of_numbers_is_a_factor_in_its_declared_order(ordered: bool) -> None:
    levels = pd.Categorical([10, 9, 2] * 8, categories=[10, 2, 9], ordered=ordered)
    data = frame().assign(k=levels)
    assert names(make_design("y ~ k", data)) == ["(Intercept)", "k2", "k9"]
    assert names(make_design("y ~ k + (1 | k:g)", data)) == ["(Intercept)", "k2", "k9"]
    assert names(make_design("y ~ log(k)", data)) == ["(Intercept)", "log(k)"]
    assert list(make_design("k ~ x", data).variables.response[:3]) == [10, 9, 2]


def test_a_dictionary_of_numbers_is_a_factor() -> None:
    table = pa.table({"y": np.sin(np.arange(9.0)), "k": pa.array([3, 1, 2] * 3).dictionary_encode()})
    assert names(make_design("y ~ k", table)) == ["(Intercept)", "k2", "k3"]


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
@pytest.mark.parametrize("gap", ["", "NA"])
def test_truths_are_the_same_factor_in_every_format(words: tuple[str, str], gap: str, tmp_path: Path) -> None:
    truths = [True, False, False, None] * 6
    written = [gap if truth is None else words[not truth] for truth in truths]
    y = np.sin(np.arange(24.0))
    pd.DataFrame({"y": y, "b": written}).to_csv(tmp_path / "t.csv", index=False)
    for formula in ("y ~ b", "y ~ b + (1 | b)"):
        designs = [make_design(formula, data) for data in ({"y": y, "b": truths}, tmp_path / "t.csv")]
        for design in designs:
            assert names(design) == ["(Intercept)", "bTrue"]
            assert design.rows.reasons == {"no b": 6}
        assert np.array_equal(designs[0].variables.factors[0].codes, designs[1].variables.factors[0].codes)


def test_truths_that_a_function_takes_are_one_and_zero() -> None:
    design = make_design("y ~ center(b)", frame().assign(b=np.array(["TRUE", "FALSE"])[np.arange(24) % 2]))
    assert set(design.variables.numbers[0]) == {-0.5, 0.5}


def test_a_factor_with_a_level_for_every_other_row_is_not_what_was_meant() -> None:
    data = frame().assign(day=pd.date_range("2024-01-01", periods=24))
    with pytest.raises(FormulaError, match=r"'day' counts as a factor with 24 levels .* column of numbers"):
        make_design("y ~ day", data)
    twice = frame().assign(day=data["day"].iloc[np.arange(24) // 2].to_numpy())
    assert len(names(make_design("y ~ day", twice))) == 12
    assert len(names(make_design("y ~ factor(day)", data.assign(day=data["day"].clip("2024-01-05"))))) == 20
    assert names(make_design("y ~ x + (0 + b | g)", frame())) == ["(Intercept)", "x"]


def test_two_levels_of_three_rows_are_a_factor() -> None:
    assert names(make_design("y ~ a", {"y": [1.0, 2.0, 4.0], "a": ["p", "q", "q"]})) == ["(Intercept)", "aq"]


@pytest.mark.parametrize("size", [1e91, -1e200, 1e-91, 1e-300])
@pytest.mark.parametrize("formula", ["y ~ x", "y ~ center(x)", "y ~ 1 + (0 + x | g)"])
def test_regressors_of_extreme_size_are_refused(size: float, formula: str) -> None:
    with pytest.raises(FormulaError, match=r"x\)? reaches .*: multiply it by a power of ten"):
        make_design(formula, frame().assign(x=lambda d: d["x"] * size))


def test_the_logarithm_of_an_extreme_regressor_is_not_extreme() -> None:
    assert len(names(make_design("y ~ log(x) + zero", frame().assign(x=lambda d: (d["x"] + 1) * 1e200, zero=0.0)))) == 3


# Rows.


def test_gaps_are_counted_by_their_first_reason() -> None:
    data = frame()
    data["a"] = data["a"].astype(object)
    data.loc[[0, 1], "y"] = np.nan
    data.loc[[1, 2], "x"] = np.nan
    data.loc[3, "x"] = np.inf
    data.loc[[4, 0], "a"] = None
    data.loc[[5, 6], "g"] = ""
    data.loc[7, "w"] = 0.0
    data.loc[8, "w"] = np.nan
    design = make_design("y ~ x + a + (1 | g)", data, weights="w")
    assert design.rows.planned == 24
    assert design.rows.used == 15 == len(design.sample.response)
    assert design.rows.reasons == {"no y": 2, "no w": 1, "no x": 2, "no g": 2, "no a": 1, "a w of zero": 1}
    assert design.variables.weights is not None
    assert design.variables.weights.min() > 0


def test_no_complete_row_is_refused() -> None:
    with pytest.raises(FormulaError, match="no row of the table has all of y, x"):
        make_design("y ~ x", {"y": [1.0, None], "x": [None, 2.0]})


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ColumnError, match="'w' hold a negative number"):
        make_design("y ~ x", frame().assign(w=-1.0), weights="w")


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ log(x)", r"log\(x\) is not defined in 4 rows, such as x = 0"),
        ("y ~ exp(huge)", r"exp\(huge\) is not defined in 24 rows"),
        ("y ~ sqrt(y)", r"sqrt\(y\) is not defined"),
        ("log(y) ~ x", r"log\(y\) is not defined"),
        ("y ~ scale(same)", r"scale\(same\) is not defined: 'same' is 3 in every row"),
        ("y ~ poly(b2, 2)", r"poly\(b2, 2\) needs more than 2 different values"),
    ],
)
def test_functions_that_are_not_defined_are_refused(formula: str, message: str) -> None:
    data = frame().assign(huge=1e4, same=3.0, b2=lambda d: (d["b"] == "s") * 1.0)
    with pytest.raises(FormulaError, match=message):
        make_design(formula, data)


def test_a_response_that_is_text_is_refused() -> None:
    with pytest.raises(ColumnError, match=r"row 1 .* has 'p' in column 'a', which must hold numbers"):
        make_design("a ~ x", frame())


def test_a_function_of_text_is_refused() -> None:
    with pytest.raises(ColumnError, match="'a', which must hold numbers"):
        make_design("y ~ log(a)", frame())


@pytest.mark.parametrize("formula", ["y ~ scor", "y ~ (1 | scor)", "scor ~ 1", "y ~ log(scor)"])
def test_an_unknown_column_is_named_with_its_nearest(formula: str) -> None:
    with pytest.raises(ColumnError, match=r"no column 'scor'.* Did you mean 'score'"):
        make_design(formula, frame().assign(score=1.0))


def test_unknown_weights_are_named() -> None:
    with pytest.raises(ColumnError, match="no column 'ww'"):
        make_design("y ~ x", frame(), weights="ww")


# What the engine gets.


@pytest.mark.parametrize(
    ("formula", "constant"),
    [
        ("y ~ x", (0,)),
        ("y ~ 0 + a", (0, 1, 2)),
        ("y ~ 0 + x + a", (1, 2, 3)),
        ("y ~ 0 + x", ()),
        ("y ~ 0 + a:b", (0, 1, 2, 3, 4, 5)),
    ],
)
def test_the_response_is_centred_where_columns_add_up_to_one(formula: str, constant: tuple[int, ...]) -> None:
    design = make_design(formula, frame().assign(y=lambda d: d["y"] + 1e6))
    assert design.constant == constant
    assert (design.shift == 0.0) == (constant == ())
    np.testing.assert_allclose(design.sample.response + design.shift, design.variables.response, rtol=1e-12)


def test_the_order_of_rows_does_not_matter() -> None:
    data = frame(60)
    whole = make_design("y ~ a + x + (1 | g)", data)
    shuffled = make_design("y ~ a + x + (1 | g)", data.sample(frac=1, random_state=1))
    values = [fit_moments(accumulate(d.layout, d.sample), reml=True).solution.value for d in (whole, shuffled)]
    assert values[0] == pytest.approx(values[1], rel=1e-10)
