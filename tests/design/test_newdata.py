"""New rows are coded with what the fit learnt; the rows of the fit come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from designs import make_design
from holdsup.design.matrices import code_fitted_rows, code_rows
from holdsup.errors import ColumnError, FormulaError

FORMULA = "y ~ a * x + poly(z, 2) + scale(x) + (1 + x + b | g) + (0 + a || h:k) + (1 | k:h:g)"


def frame(n: int = 400, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "y": rng.normal(size=n), "x": rng.normal(5, 2, n), "z": rng.uniform(2000, 2020, n).round(1),
            "a": rng.choice(["p", "q", "r"], n), "b": rng.choice(["s", "t"], n), "g": rng.integers(0, 9, n),
            "h": rng.choice(["h1", "h2", "h1:k"], n), "k": rng.choice(["k1", "k:k1", "2"], n),
        }
    )  # fmt: skip


def test_rows_of_the_fit_read_again_are_coded_alike() -> None:
    data = frame()
    data.loc[[3, 5], "x"] = np.nan
    design = make_design(FORMULA, data)
    fitted, again = code_fitted_rows(design), code_rows(design, data.drop(columns="y"))
    assert np.array_equal(fitted.fixed, again.fixed)
    for mine, theirs in zip(fitted.columns + fitted.levels, again.columns + again.levels, strict=True):
        assert np.array_equal(mine, theirs)
    assert again.rows.reasons == {"no x": 2}
    assert list(again.places[:5]) == [0, 1, 2, 4, 6]
    assert fitted.fixed.shape == (398, len(design.fixed))
    assert [c.shape[1] for c in fitted.columns] == [3, 3, 1]


def test_a_subset_of_rows_is_coded_as_within_the_whole() -> None:
    design = make_design(FORMULA, frame())
    whole, part = code_fitted_rows(design), code_rows(design, frame().iloc[[7, 3, 3]])
    assert np.array_equal(whole.fixed[[7, 3, 3]], part.fixed)
    for mine, theirs in zip(whole.levels, part.levels, strict=True):
        assert np.array_equal(mine[[7, 3, 3]], theirs)


def test_groups_that_the_fit_did_not_see_are_minus_one() -> None:
    data = pd.DataFrame(
        {"y": np.sin(np.arange(12.0)), "u": ["a:b", "a", "a"] * 4, "v": ["c", "b:c", "d"] * 4, "x": np.arange(12.0)}
    )
    design = make_design("y ~ x + (1 | u:v) + (1 | u)", data)
    rows = code_rows(design, {"x": [0, 0, 0, 0], "u": ["a", "a:b", "a", "new"], "v": ["b:c", "c", "c", "c"]})
    assert list(rows.levels[0]) == [0, 2, -1, -1]  # "a" x "c" are both known, their combination is not
    assert list(rows.levels[1]) == [0, 1, 0, -1]


def test_a_new_level_of_a_fixed_factor_is_named_with_those_known() -> None:
    design = make_design("y ~ a + (1 | g)", frame())
    with pytest.raises(FormulaError, match=r"a has 'new' in the new rows.* it knows 'p', 'q', 'r'"):
        code_rows(design, {"a": ["p", "new"], "g": [1, 2]})


def test_a_new_level_of_a_factor_that_only_varies_is_an_unseen_effect() -> None:
    design = make_design("y ~ x + (0 + a | g) + (1 | g)", frame())
    rows = code_rows(design, {"x": [1, 1], "a": ["p", "new"], "g": [1, 1]})
    assert list(rows.levels[0]) == [1, -1]
    assert list(rows.levels[1]) == [1, 1]
    assert not rows.columns[0][1].any()


def test_levels_that_new_rows_lack_keep_their_columns() -> None:
    design = make_design("y ~ a", frame())
    assert np.array_equal(code_rows(design, {"a": ["r", "r"]}).fixed, [[1, 0, 1], [1, 0, 1]])


def test_functions_undefined_in_new_rows_are_refused() -> None:
    design = make_design("y ~ log(z)", frame())
    with pytest.raises(FormulaError, match=r"log\(z\) is not defined in 1 rows, such as z = -1"):
        code_rows(design, {"z": [1, -1]})


def test_a_column_that_new_rows_lack_is_named() -> None:
    with pytest.raises(ColumnError, match="no column 'x'"):
        code_rows(make_design("y ~ x", frame()), {"z": [1.0]})


def test_text_where_the_fit_had_numbers_is_refused() -> None:
    with pytest.raises(ColumnError, match="must hold numbers"):
        code_rows(make_design("y ~ x", frame()), {"x": ["p", "q"]})


def test_numbers_as_labels_keep_their_levels() -> None:
    design = make_design("y ~ factor(g) + g", frame())
    rows = code_rows(design, {"g": [8, 0]})
    assert np.array_equal(rows.fixed[:, -2:], [[1, 8], [0, 0]])


def test_every_row_may_have_a_gap() -> None:
    design = make_design("y ~ x + (1 | g)", frame())
    rows = code_rows(design, {"x": [None, 1.0], "g": ["1", None]})
    assert rows.fixed.shape == (0, 2)
    assert rows.rows.reasons == {"no x": 1, "no g": 1}


def test_without_random_terms_their_columns_are_not_needed() -> None:
    design = make_design(FORMULA, frame())
    fixed = code_rows(design, frame()[["a", "x", "z"]], random=False)
    assert np.array_equal(fixed.fixed, code_fitted_rows(design).fixed)
    assert fixed.columns == fixed.levels == ()
    with_gaps = frame().assign(g=None)
    assert code_rows(design, with_gaps, random=False).rows.used == 400
    with pytest.raises(ColumnError, match="no column 'g'"):
        code_rows(design, frame()[["a", "x", "z", "b", "h", "k"]])


def test_without_random_terms_an_intercept_needs_no_column() -> None:
    rows = code_rows(make_design("y ~ 1 + (1 | g)", frame()), {"anything": [1, 2]}, random=False)
    assert np.array_equal(rows.fixed, np.ones((2, 1)))


@pytest.mark.parametrize("words", ["TRUE,FALSE", "true,false", "True,False"])
@pytest.mark.parametrize("formula", ["y ~ b", "y ~ factor(b)", "y ~ x + (1 + x | b)"])
def test_truths_of_a_file_are_those_of_the_frame_that_was_fitted(words: str, formula: str, tmp_path: Path) -> None:
    yes, no = words.split(",")
    (tmp_path / "new.csv").write_text(f"x,b\n1,{yes}\n2,{no}\n3,NA\n")
    design = make_design(formula, frame().assign(b=frame()["b"] == "s"))
    rows = code_rows(design, tmp_path / "new.csv")
    same = code_rows(design, {"x": [1, 2, 3], "b": [True, False, None]})
    assert np.array_equal(rows.fixed, same.fixed)
    assert [list(level) for level in rows.levels] == [list(level) for level in same.levels]
    assert rows.rows.reasons == {"no b": 1}


def test_truths_beside_other_labels_stay_as_they_were_written() -> None:
    design = make_design("y ~ b", frame().assign(b=lambda d: d["a"].map({"p": "TRUE", "q": "FALSE", "r": "maybe"})))
    assert np.array_equal(code_rows(design, {"b": ["TRUE", "FALSE"]}).fixed, [[1, 1, 0], [1, 0, 0]])


def test_an_intercept_alone_has_a_row_for_each_row() -> None:
    rows = code_rows(make_design("y ~ 1", frame()), {"anything": [1, 2, None]})
    assert np.array_equal(rows.fixed, np.ones((3, 1)))


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(5, 40))
def test_levels_of_combinations_are_found(seed: int, width: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {f"c{i}": rng.choice(["a", "a:b", "b", "c:a", "é"], n + 20) for i in range(width)}
    data = pd.DataFrame({**columns, "y": rng.normal(size=n + 20)})
    old, new = pd.concat([data[:n]] * 40), data[n:]
    design = make_design(f"y ~ 1 + (1 | {':'.join(columns)})", old)
    seen = {level: code for code, level in enumerate(design.random[0].group.level_names())}
    expected = [seen.get(tuple(row), -1) for row in new[list(columns)].itertuples(index=False)]
    assert list(code_rows(design, new).levels[0]) == expected
