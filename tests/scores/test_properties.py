"""Properties computed from texts: how they are written, whose they are, and where they end up."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup.columns import Labels, Numbers
from holdsup.errors import ColumnError, HoldsupError, ScoresError
from holdsup.scores import Scores, audit_scores, read_scores
from holdsup.scores.properties import MEASURES, TextProperty, flesch, split_properties

EASY, HARD = "The cat sat on the mat.", "Reproducibility matters; statistics communicate uncertainty."
TABLE: dict[str, list[Any]] = {
    "system": ["A", "A", "B", "B"],
    "id": ["x", "y", "x", "y"],
    "score": [0.1, 0.2, 0.3, 0.4],
    "genre": ["news", "talk", "news", "talk"],
    "source": [EASY, HARD, EASY, HARD],
}


def values(scores: Scores, name: str) -> list[float]:
    column = scores.properties[name]
    assert isinstance(column, Numbers)
    assert np.array_equal(column.absent, np.isnan(column.values))
    return column.values.tolist()


def with_texts(*texts: str | None) -> dict[str, list[Any]]:
    return {**TABLE, "source": list(texts)}


def test_a_property_has_the_number_of_its_items_text_in_every_row() -> None:
    scores = read_scores(TABLE, properties=["genre", "ease=flesch(source)"])
    assert values(scores, "ease") == [flesch(text) for text in TABLE["source"]]
    assert list(scores.properties) == ["genre", "ease"]
    assert isinstance(scores.properties["genre"], Labels)
    assert scores.roles.properties == ("genre", "ease")
    assert scores.roles.computed == ("ease=flesch(source)",)


def test_the_text_is_no_unused_column() -> None:
    audit = audit_scores(TABLE, properties=["ease=flesch(source)"])
    assert "source" not in read_scores(TABLE, properties=["ease=flesch(source)"]).others
    assert [f.message for f in audit.findings if f.code == "unused-columns"] == ["1 column has no role: genre."]


def test_rarity_counts_each_distinct_text_once() -> None:
    texts = ["a b", "a", "a b", "a"]  # a: 2 of 3, b: 1 of 3
    scores = read_scores(with_texts(*texts), properties=["sum=rarity_sum(source)", "mean=rarity_mean(source)"])
    both = math.log(3 / 2) + math.log(3)
    assert values(scores, "sum") == pytest.approx([both, math.log(3 / 2)] * 2, rel=1e-12)
    assert values(scores, "mean") == pytest.approx([both / 2, math.log(3 / 2)] * 2, rel=1e-12)


def test_rarity_takes_a_table_of_counts_and_says_which_words_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("word,count\na,3\nb,1\n")
    asked = f"r=rarity_sum(source, {tmp_path / 'counts.csv'})"
    scores = read_scores(with_texts("a b", "c c d", "a b", "c c d"), properties=asked)
    assert values(scores, "r")[:2] == pytest.approx([math.log(4 / 3) + math.log(4), 3 * math.log(4 + 2 + 1)], rel=1e-12)
    assert any("3 of 5 words (2 different) are not in" in note.message for note in scores.notes)


def test_each_distinct_text_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setitem(MEASURES, "length", lambda text: float(seen.append(text) or 1))
    read_scores(pd.concat([pd.DataFrame(TABLE).assign(seed=seed) for seed in range(5)]), properties="n=length(source)")
    assert sorted(seen) == sorted([EASY, HARD])


def test_a_text_without_words_is_missing_and_said() -> None:
    scores = read_scores(with_texts(EASY, "...", EASY, "..."), properties="n=length(source)")
    assert values(scores, "n")[0] == 6
    assert np.isnan(values(scores, "n")[1])
    assert "n is missing for 1 item: no word in the text." in [note.message for note in scores.notes]


def test_an_item_without_a_text_is_missing_and_said() -> None:
    scores = read_scores(with_texts(EASY, None, EASY, None), properties="n=length(source)")
    assert np.isnan(values(scores, "n")).tolist() == [False, True, False, True]
    assert "n is missing for 1 item: no text." in [note.message for note in scores.notes]


def test_a_row_without_a_text_takes_the_text_of_its_item() -> None:
    scores = read_scores(with_texts(EASY, HARD, None, None), properties="n=length(source)")
    assert values(scores, "n") == [6, 5, 6, 5]
    assert scores.notes == ()


def test_an_item_with_two_texts_is_refused_by_name() -> None:
    with pytest.raises(ScoresError, match=r"item 'y' has two texts in column 'source', .*Reprod.* and 'Another one.'"):
        read_scores(with_texts(EASY, HARD, EASY, "Another one."), properties="n=length(source)")


def test_items_of_two_datasets_have_texts_of_their_own() -> None:
    table = with_texts("one", "two words", "three words now", "a b c d") | {"dataset": ["d", "d", "e", "e"]}
    assert values(read_scores(table, properties="n=length(source)"), "n") == [1, 2, 3, 4]


def test_rows_without_an_item_stand_for_themselves() -> None:
    table = with_texts("one", "two words", "three words now", "a b") | {"id": [None, "y", None, "y"]}
    with pytest.raises(ScoresError, match="item 'y'"):
        read_scores(table, properties="n=length(source)")
    table["source"][3] = None
    assert values(read_scores(table, properties="n=length(source)"), "n") == [1, 2, 3, 2]


def test_without_items_each_row_has_its_text() -> None:
    table = {"system": ["A", "A", "B"], "seed": [1, 2, 1], "score": [1, 2, 3], "source": ["a", "a b", "..."]}
    scores = read_scores(table, item="-", properties="n=length(source)")
    assert values(scores, "n")[:2] == [1, 2]
    assert "n is missing for 1 row: no word in the text." in [note.message for note in scores.notes]


def test_the_text_may_itself_be_the_item() -> None:
    table = {"system": ["A", "B"], "sentence": [EASY, EASY], "score": [1, 2]}
    scores = read_scores(table, properties="n=length(sentence)")
    assert scores.roles.item == "sentence"
    assert values(scores, "n") == [6, 6]


def test_lines_are_items_though_a_column_holds_their_texts() -> None:
    scores = read_scores(
        {"A": [1, 2], "B": [3, 4], "source": ["a", "a b"]}, wide={"system": ["A", "B"]}, properties="n=length(source)"
    )
    assert scores.item is not None
    assert values(scores, "n") == [1, 2, 1, 2]


def test_the_order_of_rows_changes_nothing() -> None:
    asked = ["ease=flesch(source)", "r=rarity_sum(source)"]
    turned = {name: column[::-1] for name, column in TABLE.items()}
    assert read_scores(turned, properties=asked).digest == read_scores(TABLE, properties=asked).digest


def test_a_text_made_of_figures_among_others_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("system,id,score,source\nA,1,0.5,1984\nA,2,0.5,a b\n")
    assert values(read_scores(tmp_path / "s.csv", properties="n=length(source)"), "n") == [1, 2]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("e=flesh(source)", r"no function 'flesh' .* there are flesch, words_per_sentence, .* Did you mean flesch\?"),
        ("e=flesch(sorce)", r"no column 'sorce' in the tables, .* Did you mean 'source'\?"),
        ("flesch(source)", "neither a column nor written like readability=flesch"),
        ("e=flesch", "neither a column nor written like"),
        ("e=flesch()", "neither a column nor written like"),
        (" =flesch(source)", "neither a column nor written like"),
        ("e=flesch(source, counts.csv)", "word counts are for rarity_sum and rarity_mean"),
        ("e=rarity_sum(source, none.csv)", "cannot read 'none.csv'"),
        ("e=length(score)", "column 'score' holds the scores, not texts"),
        ("e=length(len)", "column 'len' holds numbers, not texts"),
        ("genre=length(source)", "the name 'genre' of a property is taken"),
        ("system=length(source)", "the name 'system' of a property is taken"),
        ("cluster=length(source)", "the name 'cluster' of a property is taken"),
        ("ease", "no column 'ease'"),
    ],
)
def test_properties_asked_for_wrongly_are_refused_in_one_line(asked: str, said: str) -> None:
    with pytest.raises(HoldsupError, match=said) as refused:
        read_scores({**TABLE, "len": [1, 2, 1, 2]}, properties=[asked])
    assert "\n" not in str(refused.value)


def test_two_properties_cannot_have_one_name() -> None:
    with pytest.raises(ColumnError, match="'n' of a property is taken"):
        read_scores(TABLE, properties=["n=length(source)", "n=characters(source)"])


def test_a_column_of_lists_is_no_column_of_texts() -> None:
    with pytest.raises(ColumnError, match="column 'source'"):
        read_scores({**TABLE, "source": [["a"], ["b"], ["a"], ["b"]]}, properties="n=length(source)")


def test_what_is_the_name_of_a_column_is_that_column() -> None:
    assert split_properties(["n=length(a)"], ["n=length(a)", "a"]) == (("n=length(a)",), ())


@pytest.mark.parametrize("column", ["a, b", "source (en)", "plain"])
def test_an_expression_reads_as_it_is_written(column: str) -> None:
    asked = TextProperty("r", "rarity_mean", column, "counts, all.csv")
    assert split_properties([str(asked)], [column]) == ((), (asked,))


def test_the_command_line_takes_properties_beside_columns(tmp_path: Path, run: Callable[..., Any]) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "s.csv", index=False)
    asked = ["--property", "n=length(source)", "--property", "ease = flesch(source)", "--properties", "genre"]
    done = run("check", tmp_path / "s.csv", *asked, "--format", "json")
    result = json.loads(done.out)
    assert result["roles"]["properties"] == ["genre", "n", "ease"]
    assert "|properties:genre,n=length(source),ease=flesch(source)|" in result["signature"]
    assert {"role": "property", "column": "n=length(source)", "levels": None, "such_as": "5 to 6"} in result["columns"]


def test_the_command_line_refuses_an_unknown_function_in_one_line(tmp_path: Path, run: Callable[..., Any]) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "s.csv", index=False)
    done = run("check", tmp_path / "s.csv", "--property", "e=fog(source)")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("holdsup: no function 'fog'")
    assert done.err.count("\n") == 1
