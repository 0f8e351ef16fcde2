"""Logs of lm-evaluation-harness: what is joined with what, which scores there are, and what is said about them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from lm_eval_layout import STAMP, make_line, make_lines, make_results, write_lines, write_run

from holdsup.errors import ReadError
from holdsup.logs.contract import TaskLog
from holdsup.logs.lm_eval import READER
from holdsup.logs.lm_eval_samples import _read_alike, _read_each
from reading import means_of, read_all

ACC = {"acc": [1.0, 0.0, 1.0, 1.0]}


def read_one(folder: Path) -> TaskLog:
    (log,) = read_all(READER, folder)
    return log


def read_or_refuse(folder: Path) -> tuple[TaskLog | None, str]:
    """The log, or the line that refuses it."""
    try:
        return read_one(folder), ""
    except ReadError as error:
        return None, str(error)


def codes(log: TaskLog) -> list[str]:
    return [caution.code for caution in log.cautions]


def scores(log: TaskLog, metric: str) -> list[Any]:
    return [row["score"] for row in log.rows.to_pylist() if row["metric"] == metric]


# What the tool wrote


def test_real_logs_have_the_tools_own_means(formats: Path) -> None:
    folders = sorted((formats / "lm_eval").iterdir())
    logs = [log for folder in folders for log in read_all(READER, folder)]
    assert [(log.system, log.task) for log in logs] == [
        (system, task) for system in ("3ykv54sv", "org/other-model") for task in ("demo_gen", "demo_mc")
    ]
    for folder, own in zip(folders, (logs[:2], logs[2:]), strict=True):
        (printed,) = (json.loads(path.read_text())["results"] for path in folder.glob("results_*.json"))
        for log in own:
            expected = {key.removesuffix(",none"): value for key, value in printed[log.task].items()
                        if "," in key and "_stderr" not in key}  # fmt: skip
            assert dict(log.means) == expected
            assert means_of(log) == pytest.approx(expected, abs=1e-9)
            assert not log.cautions
    assert [log.planned for log in logs] == [8, 12, 8, 12]
    mine, other = (set(log.rows["content"].to_pylist()) for log in (logs[1], logs[3]))
    assert mine == other
    assert len(mine) == 12


def test_a_real_log_of_ten_samples_of_5000_is_not_checked_against_the_mean_of_all(formats: Path) -> None:
    log = read_one(formats / "eee_fixtures" / "lm_eval")
    assert (len(log.rows), log.planned, dict(log.means)) == (10, 5000, {})
    assert codes(log) == ["results-without-samples", "truncated-samples"]
    assert "'math_rephrased_full'" in log.cautions[0].message
    assert log.facets["dtype"] == "bfloat16"
    assert log.conditions["max tokens"] == "512"


# Filters, and lines of several versions


def test_lines_of_several_filters_are_one_item_under_several_metrics(tmp_path: Path) -> None:
    lines = [*make_lines({"exact_match": [1.0, 0.0]}, "strict-match"),
             *make_lines({"exact_match": [1.0, 1.0]}, "flexible-extract")]  # fmt: skip
    log = read_one(write_run(tmp_path, {"gsm8k": lines}))
    assert log.rows["item"].to_pylist() == ["0", "1", "0", "1"]
    assert means_of(log) == dict(log.means) == {"exact_match,strict-match": 0.5, "exact_match,flexible-extract": 1.0}
    assert "sample" not in log.rows.column_names


def test_lines_before_version_047_name_no_filter_and_are_in_the_order_of_the_filters(tmp_path: Path) -> None:
    lines = [*make_lines({"exact_match": [1.0, 0.0]}, "strict-match"),
             *make_lines({"exact_match": [1.0, 1.0]}, "flexible-extract")]  # fmt: skip
    results = make_results({"gsm8k": lines})
    without = [{key: value for key, value in line.items() if key not in ("filter", "metrics")} for line in lines]
    write_run(tmp_path, {"gsm8k": without}, results)
    assert means_of(read_one(tmp_path)) == {"exact_match,strict-match": 0.5, "exact_match,flexible-extract": 1.0}
    (tmp_path / f"results_{STAMP}.json").unlink()
    alone = read_one(tmp_path)
    assert means_of(alone) == {"exact_match,filter 1": 0.5, "exact_match,filter 2": 1.0}
    assert "unnamed-filters" in codes(alone)


def test_version_040_writes_one_array_named_by_the_models_arguments(tmp_path: Path) -> None:
    lines = make_lines({"acc": [True, False, True]})
    new = read_one(
        write_run(
            tmp_path / "new",
            {
                "arc": lines,
            },
        )
    )
    keys = ("doc_id", "doc", "resps", "filtered_resps", "acc")
    old = [{**{key: line[key] for key in keys}, "target": 2 * line["doc_id"],
            "arguments": [list(each.values()) for each in line["arguments"].values()]} for line in lines]  # fmt: skip
    folder = tmp_path / "old"
    folder.mkdir()
    for model in ("a", "b"):  # one folder can hold many models
        args = f"pretrained=org/{model},revision=step1"
        results = {"results": {"arc": {"acc,none": 2 / 3, "alias": "arc"}}, "configs": {"arc": {"num_fewshot": 0}},
                   "versions": {"arc": "Yaml"}, "n-shot": {"arc": 0}, "config": {"model": "hf", "model_args": args}}  # fmt: skip
        (folder / f"{model}.json").write_text(json.dumps(results, indent=2))
        (folder / f"pretrained__org__{model},revision__step1_arc.jsonl").write_text(json.dumps(old, indent=2))
    logs = read_all(READER, folder)
    assert [(log.system, log.task, log.facets["checkpoint"]) for log in logs] == [
        ("org/a", "arc", "step1"),
        ("org/b", "arc", "step1"),
    ]
    for log in logs:
        assert means_of(log) == pytest.approx(log.means) == {"acc": 2 / 3}
        assert "task version" not in log.conditions
        for column in ("item", "content", "prompt"):  # the hashes of later versions, made from what is there
            assert log.rows[column].to_pylist() == new.rows[column].to_pylist()


def test_arrow_reads_lines_that_are_alike_as_they_are_read_one_by_one(tmp_path: Path) -> None:
    lines = [
        *make_lines({"acc": [True, False], "f": [1, 0.1]}, "a"),
        *make_lines({"acc": [True, True], "f": [1, 2]}, "b"),
    ]
    path = write_lines(tmp_path / "samples_t.jsonl", lines)
    alike, each = _read_alike(path, lines[0]), _read_each(path, lines[0])
    assert alike is not None
    assert alike.lines.equals(each.lines)
    assert (alike.scores, alike.task_hash, each.there) == (each.scores, each.task_hash, {})
    for other in (
        {"acc": None},
        {"metrics": ["acc"]},
        {"f": "x"},
        {"doc_id": "7"},
        {"scores_per_repeat": {"acc": [1]}},
    ):
        write_lines(path, [*lines, {**make_line(3, {"acc": True, "f": 0.5}, "a"), **other}])
        assert _read_alike(path, lines[0]) is None


def test_lines_that_differ_are_read_too(tmp_path: Path) -> None:
    lines = make_lines({"acc": [1.0, 0.0, 1.0], "f": [0.25, 0.5, 1]})
    alike = read_one(write_run(tmp_path / "alike", {"t": lines}))
    folder = write_run(tmp_path / "packed", {"t": lines})
    samples = next(folder.glob("samples_*"))
    samples.with_suffix(".jsonl.gz").write_bytes(gzip.compress(samples.read_bytes()))
    samples.unlink()
    packed = read_one(folder)
    assert packed.rows.equals(alike.rows)
    assert not packed.cautions
    lines[1]["metrics"] = ["f"]
    del lines[1]["acc"]
    differ = read_one(write_run(tmp_path / "differ", {"t": lines}))
    assert (scores(differ, "acc"), scores(differ, "f")) == ([1.0, 1.0], [0.25, 0.5, 1.0])


def test_lines_of_one_item_and_filter_are_answers_to_it(tmp_path: Path) -> None:
    lines = [*make_lines(ACC), *make_lines({"acc": [0.0, 0.0, 1.0, 1.0]})]
    log = read_one(write_run(tmp_path, {"t": lines}))
    assert log.rows["sample"].to_pylist() == ["1"] * 4 + ["2"] * 4
    assert codes(log) == ["repeated-items"]
    assert means_of(log) == dict(log.means) == {"acc": 5 / 8}


def test_scores_of_each_repeat_are_read_where_their_mean_is_the_score(tmp_path: Path) -> None:
    lines = [make_line(i, {"acc": i / 2}, scores_per_repeat={"acc": [0.0, float(i)]}) for i in range(2)]
    log = read_one(write_run(tmp_path / "mean", {"t": lines}))
    assert (scores(log, "acc"), log.rows["sample"].to_pylist()) == ([0.0, 0.0, 0.0, 1.0], ["1", "2"] * 2)
    assert means_of(log) == dict(log.means)
    best = [{**line, "acc": 1.0} for line in lines]
    assert scores(read_one(write_run(tmp_path / "best", {"t": best})), "acc") == [1.0, 1.0]


# Which scores there are


def test_what_is_no_mean_over_items_is_left_out_and_named(tmp_path: Path) -> None:
    values = {
        "acc": [1.0, 0.0], "perplexity": [-0.5, -2.0], "word_perplexity": [[-3.0, 2], [-4.0, 3]],
        "bleu": [["ref", "hyp"], ["ref", "hyp"]], "own_mean": [3.0, 4.0], "own_max": [3.0, 4.0], "note": ["x", "y"],
    }  # fmt: skip
    results = make_results({"t": make_lines(values)})
    listed = results["configs"]["t"]["metric_list"]
    for entry in listed:
        if entry["metric"] in ("perplexity", "word_perplexity", "bleu"):
            del entry["aggregation"]  # the tool's own for a metric of this name
        elif entry["metric"] != "acc":
            entry["aggregation"] = "def aggregate(items):\n    return ...\n"  # code: only the numbers can tell
    results["results"]["t"] |= {"perplexity,none": 3.49, "own_max,none": 4.0}
    log = read_one(write_run(tmp_path, {"t": make_lines(values)}, results))
    assert means_of(log) == dict(log.means) == {"acc": 0.5, "own_mean": 3.5}
    (caution,) = log.cautions
    assert caution.code == "corpus-metrics-left-out"
    assert "'bleu', 'note', 'own_max', 'perplexity', 'word_perplexity'" in caution.message


def test_a_task_without_any_mean_is_told_of_with_the_other_tasks(tmp_path: Path) -> None:
    lines = make_lines({"bleu": [["ref", "hyp"]]})
    log = read_one(write_run(tmp_path / "two", {"t": make_lines(ACC), "wmt": lines}))
    assert (log.task, codes(log)) == ("t", ["corpus-metrics-left-out"])
    with pytest.raises(ReadError, match="'bleu' of wmt was left out"):
        read_all(READER, write_run(tmp_path / "one", {"wmt": lines}))


def test_what_is_no_number_is_no_score_and_has_a_reason(tmp_path: Path) -> None:
    values: dict[str, list[Any]] = {"acc": [True, False, float("nan")], "f1": [None, 0.5, 1]}
    results = make_results({"t": make_lines({"acc": [1, 0, 0], "f1": [0, 0.5, 1]})})
    results["results"]["t"] = {"acc,none": float("nan"), "f1,none": 0.75}
    log = read_one(write_run(tmp_path, {"t": make_lines(values)}, results))
    rows = [(row["metric"], row["score"], row["status"]) for row in log.rows.to_pylist()]
    assert rows == [
        ("acc", 1.0, "ok"), ("acc", 0.0, "ok"), ("acc", None, "the score is NaN"),
        ("f1", None, "no score"), ("f1", 0.5, "ok"), ("f1", 1.0, "ok"),
    ]  # fmt: skip
    assert dict(log.means) == {"f1": 0.75}


# What is joined with what


def test_runs_of_several_dates_in_one_folder_keep_apart(tmp_path: Path) -> None:
    for day, values in ((1, [1.0, 1.0]), (2, [0.0, 1.0])):
        lines = make_lines({"acc": values})
        write_run(tmp_path, {"t": lines}, make_results({"t": lines}, date=float(day)), f"2026-01-0{day}T00-00-00")
    first, second = read_all(READER, tmp_path)
    assert [means_of(log) for log in (first, second)] == [{"acc": 1.0}, {"acc": 0.5}]
    assert first.identity != second.identity
    assert first.system == second.system == "org/m"


def test_results_without_samples_are_refused_unless_another_run_beside_them_has_some(tmp_path: Path) -> None:
    path = tmp_path / "results_2026-01-01T00-00-00.json"
    path.write_text(json.dumps(make_results({"t": make_lines(ACC)})))
    with pytest.raises(ReadError, match=rf"{path.name} has results but no samples.*--log_samples"):
        read_all(READER, tmp_path)
    log = read_one(write_run(tmp_path, {"t": make_lines(ACC)}))
    assert codes(log) == ["results-without-samples"]
    assert log.cautions[0].examples == (path.name,)


def test_answers_that_were_not_scored_are_refused_with_what_to_do(tmp_path: Path) -> None:
    lines = make_lines({"bypass": [999, 999]})
    results = make_results({"t": lines})
    results["configs"]["t"]["metric_list"] = [{"metric": "bypass"}]
    with pytest.raises(ReadError, match="answers but no score of an item: run lm_eval again without --predict_only"):
        read_all(READER, write_run(tmp_path, {"t": lines}, results))


def test_samples_without_results_are_called_by_their_folder(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "org__m", {"t": make_lines(ACC)})
    next(folder.glob("results_*")).unlink()
    log = read_one(folder)
    assert (log.system, log.task, means_of(log)) == ("org__m", "t", {"acc": 0.75})
    assert codes(log) == ["samples-without-results"]
    assert not log.means


def test_one_file_that_is_named_finds_what_belongs_to_it(tmp_path: Path) -> None:
    write_run(tmp_path, {"a": make_lines(ACC), "b": make_lines(ACC)})
    write_run(tmp_path, {"a": make_lines(ACC)}, stamp="2026-02-02T00-00-00")
    (by_samples,) = read_all(READER, tmp_path, [tmp_path / f"samples_a_{STAMP}.jsonl"])
    assert (by_samples.system, by_samples.task, codes(by_samples)) == ("org/m", "a", [])
    by_results = read_all(READER, tmp_path, [tmp_path / f"results_{STAMP}.json"])
    assert [log.task for log in by_results] == ["a", "b"]


def test_names_of_tasks_and_folders_may_hold_anything(tmp_path: Path) -> None:
    folder = tmp_path / "a:b,c=d é"
    log = read_one(write_run(folder, {"bbh_2024-x_y é": make_lines(ACC)}))
    assert log.task == "bbh_2024-x_y é"
    assert log.name.startswith(str(folder))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results_2026-01-01T00-00-00.json", '{"config_general": {}, "results": {"t|0": {"em": 1}}, "versions": {}}'),
        ("20260101_000000_samples_mme.jsonl", '{"doc_id": 0, "doc": {}, "filtered_resps": ["a"]}'),
        ("20260101_000000_results.json", '{"results": {}, "n-shot": {}, "lmms_eval_version": "0.5"}'),
        ("samples_t_2026-01-01T00-00-00.jsonl", '{"id": 0, "doc_id": "d7", "score": 1}'),
        ("results.json", '{"results": [1, 2], "version": 3}'),
        ("samples.jsonl", ""),
        ("notes.txt", '{"doc_id": 0, "doc": {}, "filtered_resps": ["a"]}'),
    ],
)
def test_files_of_other_tools_are_not_claimed(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert not list(READER.recognise(tmp_path, (tmp_path / name,)))


# How much there is


def test_a_last_line_that_is_cut_off_is_left_out_and_told(tmp_path: Path) -> None:
    samples = next(write_run(tmp_path, {"t": make_lines(ACC)}).glob("samples_*"))
    samples.write_text(samples.read_text()[:-30])
    log = read_one(tmp_path)
    assert (len(log.rows), log.planned, log.finished, dict(log.means)) == (3, 4, False, {})
    assert codes(log) == ["truncated-samples"]
    assert "holds 3 of 4 items, and its last line is incomplete" in log.cautions[0].message


def test_a_broken_line_in_the_middle_is_refused_with_its_number(tmp_path: Path) -> None:
    samples = next(write_run(tmp_path, {"t": make_lines(ACC)}).glob("samples_*"))
    lines = samples.read_text().splitlines()
    samples.write_text("\n".join([lines[0], lines[1][:50], *lines[2:]]) + "\n")
    with pytest.raises(ReadError, match=r"line 2 of .*samples_t.* is not whole JSON"):
        read_all(READER, tmp_path)
    samples.write_text("\n".join([lines[0], '{"id": 1}', *lines[2:]]) + "\n")
    with pytest.raises(ReadError, match=r"line 2 of .*samples_t.* has no doc_id"):
        read_all(READER, tmp_path)
    samples.write_text(lines[0][:200])
    with pytest.raises(ReadError, match="holds no whole sample"):
        read_all(READER, tmp_path)


@pytest.mark.parametrize(("limit", "effective", "planned"), [(0.5, 4, 6), (4, 4, 4), (None, 12, 12)])
def test_planned_items_are_those_within_the_limit(tmp_path: Path, limit: Any, effective: int, planned: int) -> None:
    results = make_results({"t": make_lines(ACC)}, task_hashes={}, **{"n-samples": {"t": {"original": 12, "effective": effective}}})  # fmt: skip
    results["config"]["limit"] = limit
    log = read_one(write_run(tmp_path, {"t": make_lines(ACC)}, results))
    assert log.planned == planned
    assert log.conditions.get("limit") == (None if limit is None else str(limit))
    assert bool(log.means) == (planned == 4)


def test_samples_whose_hashes_are_those_of_the_results_are_all(tmp_path: Path) -> None:
    """Versions 0.4.9 to 0.4.11 give the size of the data as that of a choice of samples (--samples)."""
    lines = make_lines(ACC)
    results = make_results({"t": lines}, **{"n-samples": {"t": {"original": 900, "effective": 900}}})
    log = read_one(write_run(tmp_path, {"t": lines}, results))
    assert (log.planned, codes(log), dict(log.means)) == (4, [], {"acc": 0.75})


# What tells logs apart, and what they should share


def test_facets_and_conditions_are_those_of_the_run(tmp_path: Path) -> None:
    lines = make_lines(ACC)
    results = make_results({"t": lines}, system_instruction="Be brief.", chat_template="{{ x }}")
    log = read_one(write_run(tmp_path / "a", {"t": lines}, results))
    assert dict(log.facets) == {
        "engine": "hf", "checkpoint": "step1000", "dtype": "float16", "seed": "0,1234,1234,1234", "temperature": "0.7",
    }  # fmt: skip
    fixed = {"few-shot examples": "3", "task version": "2.0", "dataset": "org/data", "split": "test",
             "max tokens": "32", "stop": r"'\n'"}  # fmt: skip
    assert fixed.items() <= log.conditions.items()
    assert log.conditions.keys() - fixed.keys() == {"prompt template", "system instruction", "chat template"}
    assert (log.tool, log.identity) == ("lm-evaluation-harness 0.4.13", "1767323045.25")
    results["config"] |= {"model_args": {"pretrained": "org/m", "peft": "org/adapter", "load_in_4bit": True},
                          **dict.fromkeys(("random_seed", "numpy_seed", "torch_seed", "fewshot_seed"), 7)}  # fmt: skip
    results["configs"]["t"]["doc_to_text"] = "Answer: {{question}}"
    results["chat_template"] = None
    other = read_one(write_run(tmp_path / "b", {"t": lines}, results))
    assert dict(other.facets) == {"engine": "hf", "load_in_4bit": "True", "base model": "org/m", "seed": "7", "temperature": "0.7"}  # fmt: skip
    assert other.conditions["prompt template"] != log.conditions["prompt template"]
    assert "chat template" not in other.conditions


def test_the_model_is_called_as_the_tool_would_where_the_file_does_not_name_it(tmp_path: Path) -> None:
    for number, (arguments, name) in enumerate(
        [("pretrained=org/m,peft=org/p", "org/p"), ({"model": "gpt-x"}, "gpt-x"), ("", "hf"), (None, "hf")]
    ):
        results = make_results({"t": make_lines(ACC)}, model_name=None)
        results["config"]["model_args"] = arguments
        assert read_one(write_run(tmp_path / str(number), {"t": make_lines(ACC)}, results)).system == name


def test_directions_are_the_logs_own(tmp_path: Path) -> None:
    lines = [*make_lines({"err": [0.5], "acc": [1.0]}, "a"), *make_lines({"err": [0.5], "acc": [1.0]}, "b")]
    results = make_results({"t": lines})
    results["higher_is_better"]["t"]["err"] = False
    log = read_one(write_run(tmp_path / "new", {"t": lines}, results))
    assert log.lower_is_better == {"err,a", "err,b"}
    del results["higher_is_better"]  # before version 0.4.3
    results["configs"]["t"]["metric_list"][0]["higher_is_better"] = False
    assert read_one(write_run(tmp_path / "old", {"t": lines}, results)).lower_is_better == {"err,a", "err,b"}


def test_the_aggregate_of_a_group_follows_from_the_rows_of_its_tasks(tmp_path: Path) -> None:
    tasks = {"mmlu_a": make_lines({"acc": [1.0, 0.0, 1.0]}), "mmlu_b": make_lines({"acc": [0.0]})}
    results = make_results(tasks)
    results["results"]["mmlu"] = {"acc,none": 0.5, "alias": "mmlu"}  # weighted by the number of items
    results["groups"] = {"mmlu": results["results"]["mmlu"]}
    results["group_subtasks"]["mmlu"] = ["mmlu_a", "mmlu_b"]
    logs = read_all(READER, write_run(tmp_path, tasks, results))
    assert [(log.task, codes(log), set(log.rows["task group"].to_pylist())) for log in logs] == [
        ("mmlu_a", [], {"mmlu"}), ("mmlu_b", [], {"mmlu"}),
    ]  # fmt: skip
    both = [score for log in logs for score in scores(log, "acc")]
    assert sum(both) / len(both) == 0.5
    assert set(logs[0].rows["subject"].to_pylist()) == {"a", "b"}


def test_the_same_item_has_the_same_digest_where_a_picture_lies_in_memory(tmp_path: Path) -> None:
    logs = []
    for place in ("0x7f11", "0x7f22"):
        doc = {"question": "?", "image": f"<PIL.PngImagePlugin.PngImageFile image mode=RGB size=9x9 at {place}>"}
        lines = [make_line(0, {"acc": 1.0}, doc=doc)]
        logs.append(read_one(write_run(tmp_path / place, {"t": lines})))
    assert logs[0].rows.equals(logs[1].rows)
    assert [dict(log.means) for log in logs] == [{"acc": 1.0}] * 2


# Bad input


@pytest.mark.parametrize("key", [*make_results({"t": make_lines(ACC)})])
@pytest.mark.parametrize("value", [None, 7, "text", [1], {"t": None}, {"t": {"x": [{}]}}], ids=str)
def test_a_results_file_of_wrong_types_gives_a_line_or_the_scores(tmp_path: Path, key: str, value: Any) -> None:
    results = make_results({"t": make_lines(ACC)}, **{key: value})
    write_run(tmp_path, {"t": make_lines(ACC)}, results)
    log, message = read_or_refuse(tmp_path)
    assert means_of(log) == {"acc": 0.75} if log else "results_" in message


@pytest.mark.parametrize("key", [*make_line(0, {"acc": 1.0})])
@pytest.mark.parametrize("value", [None, 7, "\ud800", [1], {"a": {"b": [{}]}}, 10**300, True], ids=ascii)
def test_samples_of_wrong_types_give_a_line_or_scores(tmp_path: Path, key: str, value: Any) -> None:
    lines = [*make_lines(ACC), make_line(4, {"acc": 1.0}) | {key: value}]
    folder = write_run(tmp_path, {"t": make_lines(ACC)})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    for order in (text, "".join(reversed(text.splitlines(keepends=True)))):
        next(folder.glob("samples_*")).write_text(order)
        log, message = read_or_refuse(folder)
        assert len(log.rows) >= 4 if log else "samples_t" in message or "results_" in message


def test_lines_nested_too_deep_for_a_parser_are_passed_over_or_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, {"t": make_lines(ACC)})
    samples = next(folder.glob("samples_*"))
    deep = "[" * 200_000 + "]" * 200_000
    samples.write_text(samples.read_text().replace('"resps": [["4"]]', f'"resps": {deep}'))
    log, message = read_or_refuse(folder)
    assert means_of(log) == {"acc": 0.75} if log else "line 1" in message


def test_results_that_are_cut_off_are_refused(tmp_path: Path) -> None:
    path = next(write_run(tmp_path, {"t": make_lines(ACC)}).glob("results_*"))
    path.write_text(path.read_text()[:-100])
    with pytest.raises(ReadError, match=r"results_.*is not whole JSON"):
        read_all(READER, tmp_path)


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    lines = [make_line(i, {"acc": float(i)}, resps=[["x" * (5 << 20)]]) for i in range(2)]
    assert means_of(read_one(write_run(tmp_path, {"t": lines}))) == {"acc": 0.5}


def test_samples_that_came_without_a_newline_at_the_end_are_whole(tmp_path: Path) -> None:
    folder = write_run(tmp_path, {"t": make_lines(ACC)})
    samples = next(folder.glob("samples_*"))
    samples.write_text("\ufeff" + samples.read_text().rstrip("\n").replace("\n", "\r\n\r\n"))
    log = read_one(folder)
    assert (means_of(log), codes(log)) == ({"acc": 0.75}, [])
    assert write_lines(samples, make_lines(ACC)) == samples
