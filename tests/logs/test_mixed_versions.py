"""Logs of several versions of a tool in one folder: read with a caution that names them, or refused; never mixed up."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from lm_eval_layout import make_line, make_lines, make_results, write_lines, write_run
from test_inspect import make_log, sample, write_json
from test_promptfoo import answer, first_layout, write_file

from holdsup import compare_systems, read_scores

GRADES = {"one": "CIC", "two": "IIC", "three": "CCC"}


def said(found: Any) -> dict[str, str]:
    return {each.code: each.message for each in found}


def write_inspect(folder: Path, name: str, *, tool: str, version: int = 2, task_id: str = "") -> None:
    samples = [sample(place, grade) for place, grade in enumerate(GRADES[name])]
    mean = fmean(grade == "C" for grade in GRADES[name])
    log = make_log(samples, means={"match": mean}, model=name, task_id=task_id or name, eval_id=name,
                   packages={"inspect_ai": tool})  # fmt: skip
    log["version"] = version
    if version == 1:  # which had one scorer, and its results apart
        log["results"] = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"name": "accuracy", "value": mean}}}
        for each in log["samples"]:
            each["score"] = each.pop("scores")["match"]
    write_json(folder, log, name=f"{name}.json")


def test_inspect_logs_of_two_schemas_have_the_means_of_each_and_a_caution(tmp_path: Path) -> None:
    write_inspect(tmp_path, "one", tool="0.3.10", version=1)
    write_inspect(tmp_path, "two", tool="0.3.285")
    found = compare_systems(tmp_path)
    assert {each.name: each.mean for each in found.systems} == pytest.approx({"one": 2 / 3, "two": 1 / 3})
    messages = said(found.cautions)
    assert messages["mixed-versions"] == "The logs are from 2 versions of Inspect: 0.3.10 (one), 0.3.285 (two)."
    assert "Both means match" in messages["logs-read"]


def test_logs_of_one_version_have_no_such_caution(tmp_path: Path) -> None:
    write_inspect(tmp_path, "one", tool="0.3.285")
    write_inspect(tmp_path, "two", tool="0.3.285")
    assert "mixed-versions" not in said(compare_systems(tmp_path).cautions)


def test_a_log_of_a_schema_that_is_not_known_is_named_and_left_out(tmp_path: Path) -> None:
    write_inspect(tmp_path, "one", tool="0.3.285")
    write_inspect(tmp_path, "two", tool="0.3.285")
    write_inspect(tmp_path, "three", tool="0.9.0", version=4)
    found = compare_systems(tmp_path)
    assert {each.name for each in found.systems} == {"one", "two"}
    assert said(found.cautions)["unread-log"] == (
        "One log could not be read: three.json has version 4 of Inspect's log format; versions up to 3 are known: "
        "update holdsup."
    )


def test_lm_eval_logs_of_an_early_and_a_late_version_share_items_and_a_caution(tmp_path: Path) -> None:
    lines = make_lines({"acc": [1.0, 0.0, 1.0, 1.0]})
    write_run(tmp_path / "new", {"arc": lines})
    # Version 0.4.2: no version, time or hash anywhere, the model in its arguments alone, a sample an element.
    early = [{key: value for key, value in make_line(item, {"acc": score}).items()
              if key not in ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash")}
             for item, score in enumerate([0.0, 0.0, 1.0, 0.0])]  # fmt: skip
    results = make_results({"arc": lines}, results={"arc": {"acc,none": 0.25, "alias": "arc"}})
    gone = ("lm_eval_version", "model_name", "model_source", "date", "task_hashes", "n-samples", "higher_is_better")
    results = {key: value for key, value in results.items() if key not in gone}
    results["config"]["model_args"] = "pretrained=org/old"
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "results.json").write_text(json.dumps(results))
    (tmp_path / "old" / "pretrained__org__old_arc.jsonl").write_text(json.dumps(early))
    found = compare_systems(tmp_path)
    assert {each.name: each.mean for each in found.systems} == pytest.approx({"org/m": 0.75, "org/old": 0.25})
    messages = said(found.cautions)
    assert messages["mixed-versions"] == (
        "The logs are from 2 versions of lm-evaluation-harness: 0.4.13 (org/m), an unnamed one (org/old)."
    )
    assert "Both means match" in messages["logs-read"]
    assert "different-items-under-one-id" not in messages


def test_task_versions_that_differ_within_a_system_make_two_of_it(tmp_path: Path) -> None:
    for version, scores in ((1.0, [1.0, 0.0, 0.0]), (2.0, [1.0, 1.0, 0.0])):
        lines = make_lines({"acc": scores})
        results = make_results({"arc": lines}, versions={"arc": version}, date=version)
        folder = tmp_path / f"v{version:g}"
        folder.mkdir()
        (folder / "results_2026-01-02T03-04-05.678901.json").write_text(json.dumps(results))
        write_lines(folder / "samples_arc_2026-01-02T03-04-05.678901.jsonl", lines)
    scores = read_scores(tmp_path)
    assert scores.system.names == ("task version 1.0", "task version 2.0")


def test_promptfoo_results_of_two_layouts_have_the_counts_of_each_and_a_caution(tmp_path: Path) -> None:
    new = [answer(word, place, score, side=0) for place, (word, score) in enumerate([("a", 1), ("b", 0), ("c", 1)])]
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
    write_file(tmp_path / "new", new)
    old = [answer(word, place, 0, side=1) for place, word in enumerate("abc")]
    summary = first_layout(old)
    summary["table"]["head"]["prompts"] = summary["table"]["head"]["prompts"][1:]
    document = {"evalId": "eval-0", "results": summary, "config": {"description": "toy"}}
    (tmp_path / "old" / "out.json").write_text(json.dumps(document, indent=2))
    found = compare_systems(tmp_path, where={"metric": "success"}, accept=["different-items-under-one-id"])
    assert sorted(each.mean for each in found.systems) == pytest.approx([0.0, 2 / 3])
    assert "2 versions of promptfoo: 0.121.20" in said(found.cautions)["mixed-versions"]
