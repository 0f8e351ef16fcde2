"""Columns in the names of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdsup.columns.sources import columns_in_names
from holdsup.errors import ColumnError
from holdsup.scores import read_scores


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("{system}_seed{seed}", "runs/bert_base_seed1.csv", {"system": "bert_base", "seed": "1"}),
        ("{system}/seed{seed}/preds", "/x/A.b/seed07/preds.jsonl.gz", {"system": "A.b", "seed": "07"}),
        ("{system}", "a.txt", {"system": "a"}),
        ("run-{run}", "run-3", {"run": "3"}),
        ("{a}{b}", "xyz.csv", {"a": "xy", "b": "z"}),
        ("{s}.(1)", "m.(1).csv", {"s": "m"}),
    ],
)
def test_places_in_a_pattern_are_columns(pattern: str, path: str, expected: dict[str, str]) -> None:
    assert columns_in_names(pattern, [path]) == {column: [text] for column, text in expected.items()}


def test_folders_above_the_path_given_count_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "A").mkdir()
    monkeypatch.chdir(tmp_path / "A")
    assert columns_in_names("{system}/{seed}", ["1.csv"]) == {"system": ["A"], "seed": ["1"]}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{system}-{seed}", "A_1.csv does not match the pattern '{system}-{seed}'"),
        ("x{system}_{seed}", "does not match"),  # a whole name, not the end of one
        ("A_1", "names no column"),
        ("{}", "names no column"),
        ("{a b}", "names no column"),
        ("{a}_{a}", "names 'a' more than once"),
        ("{item}_{seed}", "names 'item', which the tables have"),
    ],
)
def test_a_pattern_that_does_not_fit_is_refused_with_its_name(pattern: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "A_1.csv").write_text("item,score\n1,0.5\n")
    with pytest.raises(ColumnError) as caught:
        read_scores(tmp_path / "A_1.csv", names=pattern)
    assert said in str(caught.value)


def test_columns_of_names_find_their_roles_like_any_other(tmp_path: Path) -> None:
    for system in "AB":
        for seed in (1, 2):
            (tmp_path / f"{system}_seed{seed}.txt").write_text(f"0.{seed}\n0.5\n")
    scores = read_scores(str(tmp_path / "*.txt"), names="{model}_seed{seed}")
    assert (scores.roles.system, scores.roles.facets, scores.system.names) == ("model", ("seed",), ("A", "B"))
    assert scores.run.names == ("A/seed=1", "A/seed=2", "B/seed=1", "B/seed=2")
    assert scores.item is not None
    assert scores.item.count == 2
    assert "file" in scores.others
