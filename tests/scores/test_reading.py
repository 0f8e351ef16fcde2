"""`read_scores`: long and wide tables, lines, several files, statuses; nothing dropped without a word."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from holdsup.columns import Labels, Numbers
from holdsup.errors import ColumnError, HoldsupError, ScoresError
from holdsup.scores import Scores, read_scores
from holdsup.scores.roles import is_replicate, is_setting


def texts(column: Labels | None) -> list[str | None]:
    assert column is not None
    return [column.names[code] if code >= 0 else None for code in column.codes]


def cells(scores: Scores) -> dict[tuple[str | None, str | None], float]:
    """Return the score of each system on each item."""
    return dict(zip(zip(texts(scores.system), texts(scores.item), strict=True), scores.score.tolist(), strict=True))


def write(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, content in files.items():
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text(content)
    return paths


def test_files_of_one_score_a_line_are_systems_paired_by_line(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, a="0.5\n0.25\n", b="1\n0\n"))
    assert cells(scores) == {("a", "1"): 0.5, ("a", "2"): 0.25, ("b", "1"): 1.0, ("b", "2"): 0.0}
    assert "lines-as-items" in [note.code for note in scores.notes]


def test_a_missing_line_does_not_shift_the_pairs(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, a="0.5\n\n0.75\n", b="1\n0\n\n\n2\n".replace("\n\n\n", "\n")))
    assert texts(scores.item) == ["1", "2", "3"] * 2
    assert scores.score[[0, 2]].tolist() == [0.5, 0.75]
    assert scores.rows().reasons == {"no score": 1}


@pytest.mark.parametrize("first", ["NA", "nan"])
def test_a_first_score_that_is_missing_is_no_header(first: str, tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, a=f"{first}\n0.5\n", b="1\n2\n"))
    assert texts(scores.item) == ["1", "2", "1", "2"]


def test_lines_of_unequal_number_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScoresError, match=r"b.txt has 1 scores and another file 2"):
        read_scores(write(tmp_path, a="0.5\n0.25\n", b="1\n"))


def test_ids_pair_lines_in_any_order(tmp_path: Path) -> None:
    scores = read_scores(write(tmp_path, a="x 0.5\ny 0.25\n", b="y 1\nx 0\n"))
    assert cells(scores) == {("a", "x"): 0.5, ("a", "y"): 0.25, ("b", "y"): 1.0, ("b", "x"): 0.0}


def test_an_item_role_of_dash_keeps_lines_from_being_items(tmp_path: Path) -> None:
    paths = write(tmp_path, a="0.5\n0.25\n", b="1\n")
    assert read_scores(paths, item="-").item is None


def is_system(name: str) -> bool:
    """Return whether a column of this name may be a system's: rep and seed tell runs apart."""
    return bool(name.strip()) and not is_replicate(name) and not is_setting(name)


@given(
    names=st.lists(st.text(min_size=1, max_size=5).filter(is_system), min_size=1, max_size=4, unique=True),
    items=st.integers(1, 6),
    order=st.randoms(use_true_random=False),
)
def test_a_wide_table_holds_the_same_scores_as_the_long_one(names: list[str], items: int, order: Any) -> None:
    long = [{"s": name, "i": i, "v": j + i / 7} for j, name in enumerate(names) for i in range(items)]
    wide: dict[str, list[Any]] = {"\x00i": list(range(items))}
    wide |= {name: [j + i / 7 for i in range(items)] for j, name in enumerate(names)}
    shuffled = order.sample(names, len(names))
    expected = cells(read_scores(long, system="s", item="i", score="v"))
    assert cells(read_scores(wide, item="\x00i", wide={"system": shuffled})) == expected


def test_a_wide_table_of_metrics_has_a_row_for_each() -> None:
    table = {"system": ["A", "B"], "id": [1, 1], "bleu": [0.1, 0.2], "chrf": [0.3, 0.4], "len": [5, 6]}
    scores = read_scores(table, wide={"metric": ["bleu", "chrf"]}, properties="len")
    assert list(zip(texts(scores.metric), scores.score.tolist(), strict=True)) == [
        ("bleu", 0.1), ("bleu", 0.2), ("chrf", 0.3), ("chrf", 0.4)
    ]  # fmt: skip
    length = scores.properties["len"]
    assert isinstance(length, Numbers)
    assert length.values.tolist() == [5, 6, 5, 6]


@pytest.mark.parametrize("systems", [["A", "B"], ["B", "A"]])
def test_rows_of_a_wide_table_without_an_item_are_the_items(systems: list[str]) -> None:
    scores = read_scores({"A": [1, 2], "B": [3, 4]}, wide={"system": systems})
    assert cells(scores) == {("A", "1"): 1, ("A", "2"): 2, ("B", "1"): 3, ("B", "2"): 4}


def test_wide_files_with_different_systems_have_no_missing_scores(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,A\n1,0.5\n2,0.25\n")
    (tmp_path / "b.csv").write_text("id,B\n1,1\n2,\n")
    scores = read_scores(tmp_path, wide={"system": ["A", "B"]})
    assert len(scores) == 4
    assert scores.rows().reasons == {"no score": 1}
    assert cells(scores)["B", "1"] == 1


@pytest.mark.parametrize(
    ("wide", "more"),
    [
        ({"item": ["A"]}, {}),
        ({"system": ["A"], "metric": ["B"]}, {}),
        ({"system": []}, {}),
        ({"system": ["A"]}, {"score": "B"}),
        ({"system": ["A"]}, {"system": "B"}),
        ({"system": ["A", "A"]}, {}),
        ({"system": ["A", "C"]}, {}),
    ],
)
def test_wide_tables_asked_for_wrongly_are_refused(wide: dict[str, list[str]], more: dict[str, str]) -> None:
    with pytest.raises(ColumnError):
        read_scores({"A": [1], "B": [2]}, wide=wide, **more)


def test_names_of_columns_may_be_given_bare() -> None:
    table = {"system": ["A", "B"], "lr": [0.1, 0.2], "score": [1, 2], "len": [1, 2]}
    scores = read_scores(table, facets="lr", properties="len")
    assert (list(scores.facets), list(scores.properties)) == (["lr"], ["len"])


def test_several_files_may_differ_in_their_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("system,item,score,lr\nA,1,0.5,0.1\n")
    (tmp_path / "b.jsonl").write_text('{"score": 1, "item": 1, "system": "B", "note": "x"}\n')
    scores = read_scores(tmp_path, facets="lr")
    assert texts(scores.facets["lr"]) == ["0.1", None]
    assert texts(scores.others["note"]) == [None, "x"]  # type: ignore[arg-type]
    assert texts(scores.others["file"]) == ["a", "b"]  # type: ignore[arg-type]


def test_a_file_without_the_score_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("system,item,score\nA,1,0.5\n")
    (tmp_path / "b.csv").write_text("system,item,scores\nB,1,0.5\n")
    with pytest.raises(ColumnError, match=r"no column 'score' in .*b.csv; .* Did you mean 'scores'"):
        read_scores(tmp_path, score="score")


def test_a_file_without_rows_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("system,item,score\nA,1,0.5\n")
    (tmp_path / "b.csv").write_text("system,item,score\n")
    scores = read_scores(tmp_path)
    assert texts(scores.system) == ["A"]
    assert any(note.message.endswith("b.csv has no rows.") for note in scores.notes)


@pytest.mark.parametrize(
    "data",
    [
        {"system": [], "item": [], "score": []},
        pd.DataFrame(columns=["system", "score"]),
        pd.DataFrame({"system": [], "score": []}),
    ],
)
def test_a_table_without_rows_is_refused(data: Any) -> None:
    with pytest.raises(ScoresError, match="no rows"):
        read_scores(data)


@pytest.mark.parametrize("data", [{}, [], pd.DataFrame()])
def test_a_table_without_columns_is_refused(data: Any) -> None:
    with pytest.raises(ScoresError, match="no columns"):
        read_scores(data)


def test_a_file_of_a_header_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("system,item,score\n")
    with pytest.raises(ScoresError, match="header but no rows"):
        read_scores(tmp_path / "a.csv")


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for system in ("a", "b"):
        (tmp_path / system).mkdir()
        (tmp_path / system / "scores.csv").write_text("item,score\n1,0.5\n")
    assert read_scores(tmp_path).system.count == 2


def test_rows_without_a_usable_score_are_counted_by_reason() -> None:
    table = {"system": list("AAAAAA"), "item": [1, 2, 3, 4, 5, None], "score": ["1", "NA", "nan", "inf", "-inf", "2"]}
    scores = read_scores(table)
    assert texts(scores.status) == ["ok", "missing", "nan", "infinite", "infinite", "ok"]
    rows = scores.rows()
    assert (rows.planned, rows.used) == (6, 1)
    assert rows.reasons == {"no score": 1, "a score that is NaN": 1, "an infinite score": 2, "no item": 1}


def test_a_status_goes_before_the_score() -> None:
    table = {
        "system": list("AAAA"),
        "item": [1, 2, 3, 4],
        "score": [1, 2, None, 4],
        "status": ["ok", "crashed", "ok", None],
    }
    scores = read_scores(table)
    assert texts(scores.status) == ["ok", "crashed", "missing", "ok"]
    assert np.isnan(scores.score).tolist() == [False, True, True, False]
    assert scores.rows().reasons == {"status 'crashed'": 1, "no score": 1}


def test_a_column_named_status_that_never_says_ok_is_another_thing() -> None:
    scores = read_scores({"system": list("AB"), "item": [1, 1], "score": [1, 2], "status": ["published", "draft"]})
    assert scores.rows().used == 2
    assert "status" in scores.others
    assert any("status" in note.message for note in scores.notes)


@pytest.mark.parametrize("name", ["NA", "null", "None", "nan", "007", "1e5", "true", " A"])
def test_systems_keep_their_names_in_every_format(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"system": [name, "B"], "item": ["i", "i"], "score": [0.5, 0.25]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "x.parquet")
    for data in (tmp_path / "x.csv", tmp_path / "x.jsonl", tmp_path / "x.parquet", frame, frame.to_dict("list")):
        assert texts(read_scores(data).system) == [name, "B"]


def test_runs_are_combinations_of_facets_in_their_system() -> None:
    table = {"system": list("AAB"), "seed": [1, 2, 1], "lr": [0.1, 0.1, None], "score": [1, 2, 3]}
    assert texts(read_scores(table, facets=["lr", "seed"]).run) == ["A/lr=0.1,seed=1", "A/lr=0.1,seed=2", "B/seed=1"]


@given(
    st.lists(st.tuples(*[st.text("ab/,=\\", max_size=4)] * 3), min_size=1, max_size=12, unique=True),
    st.sampled_from([("x", "y"), ("x", "x=a,y"), ("x\\", "y")]),
)
def test_no_two_runs_get_one_name(rows: list[tuple[str, str, str]], facets: tuple[str, str]) -> None:
    table = {"system": [r[0] for r in rows], facets[0]: [r[1] for r in rows], facets[1]: [r[2] for r in rows]}
    scores = read_scores({**table, "score": [1.0] * len(rows)}, facets=facets)
    named = [run for run in texts(scores.run) if run is not None]
    assert len(set(named)) == len(named)


def test_a_table_goes_out_as_it_came_in(tmp_path: Path) -> None:
    table = {"system": ["B", "A"], "item": ["1", "2"], "seed": ["1", "1"], "score": [0.5, math.nan]}
    scores = read_scores(table)
    again = read_scores(scores, facets="seed", run="-")
    assert cells(again)["B", "1"] == 0.5
    assert texts(again.run) == texts(scores.run)
    assert texts(again.status) == texts(scores.status)
    assert again.digest == scores.digest


def test_text_in_the_scores_is_refused_even_where_most_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("system,item,score\n" + "A,1,0.5\n" * 300 + "A,2,good\n")
    with pytest.raises(HoldsupError, match=r"line 302 of .*a.csv has 'good' in column 'score'"):
        read_scores(tmp_path / "a.csv")


@pytest.mark.parametrize("word", ["ok", "OK", "Success", "succeeded", "completed", "complete", "done", " finished "])
def test_words_that_mean_ok(word: str) -> None:
    table = {"system": list("AB"), "item": [1, 1], "score": [1, 2], "state": [word, "crashed"]}
    scores = read_scores(table, status="state")
    assert texts(scores.status) == ["ok", "crashed"]
    assert "state" in [row[1] for row in scores.overview().rows if row[0] == "status"]


def test_a_status_column_named_by_the_user_must_say_ok_somewhere() -> None:
    table = {"system": list("AB"), "item": [1, 1], "score": [1, 2], "state": ["published", "draft"]}
    with pytest.raises(ColumnError, match="no row of column 'state' says ok"):
        read_scores(table, status="state")


def test_a_dash_for_the_status_leaves_it_out() -> None:
    table = {"system": list("AB"), "item": [1, 1], "score": [1, 2], "status": ["ok", "crashed"]}
    assert read_scores(table).rows().used == 1
    assert read_scores(table, status="-").rows().used == 2


def test_names_of_columns_that_are_numbers_are_taken_as_text() -> None:
    frame = pd.DataFrame({0: [0.5, 0.25], 1: [1.0, 2.0]})
    assert cells(read_scores(frame, wide={"system": [0, 1]}))["1", "2"] == 2


def test_datasets_may_have_a_column_each() -> None:
    scores = read_scores({"system": ["A", "B"], "x": [1, 2], "y": [3, 4]}, wide={"dataset": ["x", "y"]})
    assert texts(scores.dataset) == ["x", "x", "y", "y"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pd.Series([1.0]), "one column"),
        (pl.Series("x", [1.0]), "one column"),
        (pl.LazyFrame({"x": [1]}), r"\.collect\(\)"),
    ],
)
def test_what_is_nearly_a_frame_is_refused_with_the_way_out(data: Any, said: str) -> None:
    with pytest.raises(HoldsupError, match=said):
        read_scores(data)


def test_scores_show_themselves_shortly_and_in_a_notebook() -> None:
    scores = read_scores({"system": ["<b>", "B"], "item": [1, 1], "score": [1, 2]})
    assert repr(scores) == "<Scores from the dict given: 2 rows, 2 systems; print it to see its columns>"
    assert "&lt;b&gt;" in scores._repr_html_()


def test_rows_taken_keep_their_labels() -> None:
    scores = read_scores(
        {"system": list("ABC"), "item": [1, 2, 3], "score": [1, 2, 3], "len": [4, 5, 6]}, properties="len"
    )
    taken = scores.take(np.array([2, 0]))
    assert (texts(taken.system), texts(taken.item), taken.score.tolist()) == (["C", "A"], ["3", "1"], [3, 1])
    assert taken.system.names == ("A", "C")
    assert taken.properties["len"].values.tolist() == [6, 4]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("82.0%", "remove the percent signs"),
        ("good", r"Is this the right column \(--score\)\? A status column can say which runs failed"),
        ('"1,234"', "the comma may mark decimals or thousands"),
        ('"1,234.5"', "commas and points are mixed"),
    ],
)
def test_text_among_the_scores_is_refused_with_what_to_do(token: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"system,item,score\nA,1,{token}\nA,2,5\n")
    with pytest.raises(ColumnError, match=said):
        read_scores(tmp_path / "a.csv")


def test_cells_that_are_no_numbers_are_named_together(tmp_path: Path) -> None:
    cells = ["0.5", "oops", "13.2%", "oops", "n.d.", '"12,5"', "x", "y"]
    rows = "".join(f"A,{i},{cell}\n" for i, cell in enumerate(cells))
    (tmp_path / "a.csv").write_text(f"system,item,score\n{rows}")
    with pytest.raises(ColumnError) as raised:
        read_scores(tmp_path / "a.csv")
    assert str(raised.value).startswith("line 3 of ")
    assert "has 'oops' in column 'score'" in str(raised.value)
    assert str(raised.value).endswith(
        "The same column has '13.2%' in line 4, 'n.d.' in line 6, '12,5' in line 7 and 3 more cells of text."
    )


@pytest.mark.parametrize("dash", ["-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "\N{MINUS SIGN}", " - "])
def test_a_dash_is_no_score_but_a_label(dash: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"system,item,score,mark\nA,1,{dash},x\nA,{dash},-1,{dash}\n", encoding="utf-8")
    scores = read_scores(tmp_path / "a.csv")
    assert np.isnan(scores.score[0])
    assert scores.score[1] == -1
    assert texts(scores.status) == ["missing", "ok"]
    assert texts(scores.item) == ["1", dash]
    assert scores.others["mark"].names == tuple(sorted(["x", dash]))  # type: ignore[union-attr]


@pytest.mark.parametrize("content", ["0.50,0.61\n0.4,0.3\n", "0.50 0.61\n0.40 0.30\n", "0.5\t1\n.25\t0\n"])
def test_two_columns_of_decimals_without_a_header_are_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(HoldsupError, match=r"two scores, or an id and a score\? .* --wide system=A,B"):
        read_scores(tmp_path / "a.txt")
