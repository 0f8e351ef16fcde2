"""Scores by two keys in one JSON document, and folders of JSON documents, are tables of scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdsup import compare_systems, read_scores
from holdsup.errors import HoldsupError

SCORES = {"base": {"q1": 0.5, "q2": 0.25, "q3": None, "q4": 1}, "new": {"q1": 1, "q2": 0.5, "q3": 0, "q4": True}}


def write(path: Path, whole: Any, **layout: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, **layout))
    return path


def turned(whole: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    inner = dict.fromkeys(key for scores in whole.values() for key in scores)
    return {key: {outer: scores[key] for outer, scores in whole.items() if key in scores} for key in inner}


@pytest.mark.parametrize("indent", [None, 2])
def test_scores_by_system_and_item_or_by_item_and_system_are_the_same(tmp_path: Path, indent: int | None) -> None:
    by_system = compare_systems(write(tmp_path / "a.json", SCORES, indent=indent))
    by_item = compare_systems(write(tmp_path / "b.json", turned(SCORES), indent=indent))
    assert {s.name for s in by_system.systems} == {"new", "base"}
    assert abs(by_system.contrasts[0].difference) == pytest.approx((0.5 + 0.25 + 0) / 3)  # base has no score of q3
    assert by_item.contrasts[0].difference == by_system.contrasts[0].difference


def test_far_more_numbers_are_the_items_where_both_are_numbered(tmp_path: Path) -> None:
    scores = {name: {f"t/{k}": k % (3 + i) / 3 for k in range(9)} for i, name in enumerate(("gpt-2", "gpt-3"))}
    for whole in (scores, turned(scores)):
        assert read_scores(write(tmp_path / "x.json", whole)).system.names == ("gpt-2", "gpt-3")


def test_names_of_metrics_are_no_systems(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", {f"q{i}": {"accuracy": i % 2, "f1": i / 9} for i in range(9)})
    assert read_scores(path).roles.metric == "metric"


@pytest.mark.parametrize("names", [[f"run{i}" for i in range(9)], [f"llama-{i}b" for i in range(9)], list("ABCDEFGHI")])
def test_many_systems_on_a_few_datasets_are_no_items(tmp_path: Path, names: list[str]) -> None:
    whole = {name: {"mnli": i / 10, "sst": (i * 7 % 9) / 10} for i, name in enumerate(names)}
    for each in (whole, turned(whole)):
        with pytest.raises(HoldsupError, match="'outer', 'inner'"):
            compare_systems(write(tmp_path / "x.json", each))


def test_where_either_could_be_the_items_the_user_is_asked(tmp_path: Path) -> None:
    whole = {"bert": {"mnli": 0.8, "sst": 0.9, "cola": 0.5}, "gpt": {"mnli": 0.7, "sst": 0.95, "cola": 0.4}}
    path = write(tmp_path / "x.json", whole)
    with pytest.raises(HoldsupError, match=r"'outer', 'inner'.*--system"):
        compare_systems(path)
    assert read_scores(path, system="outer", item="inner").system.names == ("bert", "gpt")


@pytest.mark.parametrize(
    "whole",
    [
        {"model": {"lr": 0.1, "layers": 3}, "data": {"rows": 100, "columns": 5}},
        {"A": {"q1": 1}, "B": {"q2": "text"}},
        {"A": {}, "B": {}},
        {"A": {"q1": 1}, "B": {"q1": 0}},
    ],
)
def test_other_objects_are_no_scores_by_two_keys(tmp_path: Path, whole: dict[str, Any]) -> None:
    with pytest.raises(HoldsupError) as caught:
        compare_systems(write(tmp_path / "x.json", whole))
    assert "\n" not in str(caught.value)


def test_a_folder_of_arrays_has_a_system_in_each_file(tmp_path: Path) -> None:
    for name, shift in (("A", 1), ("B", 0)):
        write(tmp_path / f"{name}.json", [{"item": i, "score": i % 3 + shift * (i % 2)} for i in range(6)])
    assert [s.name for s in compare_systems(tmp_path).systems] == ["A", "B"]


def test_json_next_to_tables_is_not_read_as_one(tmp_path: Path) -> None:
    write(tmp_path / "config.json", {"lr": 0.1})
    (tmp_path / "scores.csv").write_text("system,item,score\nA,1,1\nB,1,0\nA,2,1\nB,2,0.5\n")
    assert len(read_scores(tmp_path)) == 4


def test_scores_by_system_and_metric_are_read_as_such(tmp_path: Path) -> None:
    path = tmp_path / "means.json"
    path.write_text(json.dumps({"new": {"bleu": 27.1, "chrf": 55.0}, "old": {"bleu": 26.0, "chrf": 54.5}}))
    scores = read_scores(path)
    assert (scores.roles.system, scores.roles.metric, len(scores)) == ("system", "metric", 4)
    path.write_text(json.dumps({"bleu": {"new": 27.1, "old": 26.0}, "chrf": {"new": 55.0, "old": 54.5}}))
    turned = read_scores(path)
    assert (turned.system.names, turned.digest) == (("new", "old"), scores.digest)


def test_a_folder_of_scores_by_item_has_a_system_in_each_file(tmp_path: Path) -> None:
    for name, lead in (("new", 0.2), ("old", 0.0)):
        scores = {f"q{i}": (i * 37 % 11) / 20 + lead * (i % 3 > 0) for i in range(12)}
        (tmp_path / f"{name}.json").write_text(json.dumps(scores))
    found = compare_systems(tmp_path)
    assert found.contrasts[0].items == 12
    assert abs(found.contrasts[0].difference) == pytest.approx(0.2 * 2 / 3)


def test_a_record_of_settings_and_scores_is_no_table_of_items(tmp_path: Path) -> None:
    for seed in range(3):
        (tmp_path / f"new_seed{seed}.json").write_text(json.dumps({"layer_1": 4, "acc": 0.5 + seed / 10, "layer_2": 3}))
    scores = read_scores(tmp_path, names="{system}_seed{seed}")
    assert (len(scores), scores.item) == (3, None)
