"""Inspect's logs: those that it wrote, against its own numbers, and small ones in its layouts."""

from __future__ import annotations

import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from zips import DEFLATED, STORED, ZSTD, write_zip

from holdsup.columns import limits
from holdsup.errors import HoldsupError, ReadError
from holdsup.logs.contract import TaskLog
from holdsup.logs.inspect import READER
from holdsup.logs.inspect_scores import USAGE
from reading import means_of, read_all

Log = dict[str, Any]
NAN = math.nan


def sample(item: object, value: object = "C", *, epoch: int = 1, scorer: str = "match", **more: object) -> Log:
    return {
        "id": item, "epoch": epoch, "input": f"What is {item}?", "target": "4", "messages": [{"content": "long"}],
        "scores": {scorer: {"value": value, "answer": "4", "history": []}}, "metadata": {}, "events": [{"id": "e"}],
        **more,
    }  # fmt: skip


def make_log(samples: list[Log], *, means: dict[str, float] | None = None, **eval_: Any) -> Log:
    """A log as Inspect 0.3 writes it; `means` are the accuracies that it computed, by scorer."""
    scores = [
        {"name": part or scorer, "scorer": scorer, "metrics": {"accuracy": {"name": "accuracy", "value": mean}}}
        for key, mean in (means or {}).items()
        for scorer, _, part in [key.partition("/")]
    ]
    ids = list(dict.fromkeys(each["id"] for each in samples))
    return {
        "version": 2, "status": "success",
        "eval": {
            "eval_id": "E1", "run_id": "R1", "created": "2026-01-02T03:04:05+00:00", "task": "sums", "task_id": "T1",
            "task_version": 2, "task_args": {"shots": 3}, "dataset": {"name": "s", "samples": 99, "sample_ids": ids},
            "model": "maker/small", "model_args": {"revision": "abc", "device": None}, "config": {"epochs": 1},
            "packages": {"inspect_ai": "0.3.285"}, **eval_,
        },
        "plan": {"steps": [{"solver": "generate", "params": {}}], "config": {"temperature": 0.5, "seed": 7}},
        "results": {"scores": scores}, "stats": {}, "samples": samples,
    }  # fmt: skip


def write_json(folder: Path, log: Log, *, name: str = "log.json", indent: int | None = 2) -> Path:
    path = folder / name
    path.write_text(json.dumps(log, indent=indent))
    return path


def summarise(each: Log) -> Log:
    """A sample as the summaries of an archive have it: texts are shortened, an error and a limit are words."""
    kept = {key: value for key, value in each.items() if key not in ("messages", "events")}
    if isinstance(each["input"], str):
        kept["input"] = " ".join(each["input"].split())[:1021] + "..." if len(each["input"]) > 1024 else each["input"]
    if isinstance(each.get("error"), dict):
        kept["error"] = each["error"]["message"]
    if isinstance(each.get("limit"), dict):
        kept["limit"] = each["limit"]["type"]
    return {**kept, "completed": True}


def write_eval(
    folder: Path, log: Log, *, name: str = "log.eval", method: int = ZSTD, ended: bool = True, summed: bool = True
) -> Path:
    """An archive; one that has not ended is as the tool leaves it while it evaluates."""
    header = {key: value for key, value in log.items() if key not in ("samples", "reductions")}
    start = {key: header[key] for key in ("version", "eval", "plan")}
    samples, half = log.get("samples") or [], len(log.get("samples") or []) // 2
    summaries = [summarise(each) for each in samples]
    members: list[tuple[str, Any]] = [("_journal/start.json", start)]
    members += [(f"samples/{each['id']}_epoch_{each['epoch']}.json", each) for each in samples]
    if summed:
        members += [("_journal/summaries/1.json", summaries[:half]), ("_journal/summaries/2.json", summaries[half:])]
    if ended:
        members += [("summaries.json", summaries)] * summed + [("header.json", header)]
    if "reductions" in log:
        members.append(("reductions.json", log["reductions"]))
    return write_zip(folder / name, [(n, json.dumps(value).encode()) for n, value in members], method=method)


def read_one(path: Path) -> TaskLog:
    (log,) = read_all(READER, path.parent, [path])
    return log


def scores_of(log: TaskLog) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Score, status and error by metric, item and sample, without what samples cost."""
    rows = [row for row in log.rows.to_pylist() if row["metric"] not in USAGE]
    found = {(r["metric"], r["item"], r["sample"]): (r["score"], r["status"], r["error"]) for r in rows}
    assert len(found) == len(rows)
    return found


def codes(log: TaskLog) -> set[str]:
    return {caution.code for caution in log.cautions}


@pytest.fixture
def one(tmp_path: Path) -> Callable[[Log], TaskLog]:
    return lambda log: read_one(write_json(tmp_path, log))


# What the tool wrote


def test_logs_written_by_inspect_have_its_means(formats: Path) -> None:
    logs = {log.facets["metadata_system"]: log for log in read_all(READER, formats / "inspect")}
    assert {name: dict(log.means) for name, log in logs.items()} == {
        "sys1": {"match": 0.8333333333333334},
        "sys2": {"match": 0.3333333333333333},
    }
    for name, seed in (("sys1", "1"), ("sys2", "2")):
        log = logs[name]
        assert means_of(log)["match"] == pytest.approx(log.means["match"], abs=1e-12)
        assert (log.system, log.task, log.planned, log.finished) == ("mockllm/model", "demo_qa", 12, True)
        assert Counter(key[2] for key in scores_of(log)) == {"1": 12, "2": 12}
        assert log.facets["seed"] == seed
        assert log.tool == "Inspect 0.3.285"
    contents = [
        dict(zip(*(log.rows[c].to_pylist() for c in ("item", "content")), strict=True)) for log in logs.values()
    ]
    assert contents[0] == contents[1]  # one was read from summaries, one from samples


def test_two_real_logs_with_other_limits(formats: Path) -> None:
    folder = formats / "eee_fixtures" / "inspect"
    qwen, sonnet = (read_one(folder / f"data_arc_{name}.json") for name in ("qwen", "sonnet"))
    assert (qwen.system, qwen.planned, qwen.conditions["limit"]) == ("ollama/qwen2.5:0.5b", 3, "3")
    assert (sonnet.system, sonnet.planned, sonnet.conditions["limit"]) == ("anthropic/claude-sonnet-4-0", 5, "5")
    assert means_of(qwen)["choice"] == pytest.approx(qwen.means["choice"], abs=1e-12)
    assert means_of(qwen)["total_tokens"] == pytest.approx(885 / 3)  # the log's sum over samples
    assert {*qwen.rows["content"].to_pylist()} < {*sonnet.rows["content"].to_pylist()}


def test_results_without_samples_are_refused_with_what_to_do(formats: Path) -> None:
    with pytest.raises(ReadError, match=r"data_with_llm_scoring\.json has results but no samples.*--no-log-samples"):
        read_one(formats / "eee_fixtures" / "inspect" / "data_with_llm_scoring.json")


# Every layout says the same

SEVERAL = make_log(
    [
        sample("a", "C", input="long " * 2_000, model_usage={"maker/small": {"total_tokens": 5}, "grader": {}}),
        sample("b", "I", limit={"type": "token", "limit": 9}, total_time=2.5),
        {**sample("c"), "scores": {}, "error": {"message": "TimeoutError('x')", "traceback": "..."}, "total_time": 9.0},
        sample("d", "C", error={"message": "no class"}),
        sample(5, NAN, input=[{"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image"}]}]),
    ],
    means={"match": 2 / 3},
)


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
@pytest.mark.parametrize("summed", [True, False])
def test_archives_and_documents_are_read_alike(tmp_path: Path, method: int, summed: bool) -> None:
    shown, compact = (
        read_one(write_json(tmp_path, SEVERAL, name=f"{indent}.json", indent=indent)) for indent in (2, None)
    )
    archived = read_one(write_eval(tmp_path, SEVERAL, method=method, summed=summed))
    assert shown.rows.equals(compact.rows)
    assert shown.rows.equals(archived.rows)
    for name in ("means", "facets", "conditions", "planned", "identity", "system", "finished"):
        assert getattr(shown, name) == getattr(compact, name) == getattr(archived, name)
    assert means_of(shown)["match"] == pytest.approx(shown.means["match"], abs=1e-12)


def test_a_packed_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.json.gz"
    path.write_bytes(gzip.compress(json.dumps(SEVERAL).encode()))
    assert len(scores_of(read_one(path))) == 5


def test_what_has_no_score_says_why_and_what_failed_is_told_from_what_was_wrong(one: Any) -> None:
    log = one(SEVERAL)
    assert scores_of(log) == {
        ("match", "a", None): (1, "ok", "-"),
        ("match", "b", None): (0, "ok", "-"),
        ("match", "c", None): (None, "error: TimeoutError", "-"),
        ("match", "d", None): (1, "ok", "error"),  # it was scored although it failed
        ("match", "5", None): (None, "unscored", "-"),
    }
    used = {(r["metric"], r["item"]): (r["score"], r["status"]) for r in log.rows.to_pylist() if r["metric"] in USAGE}
    assert used == {  # the tokens of a grader are no cost of the system, nor is the time until a failure
        ("total_tokens", "a"): (5, "ok"),
        ("total_time", "b"): (2.5, "ok"),
        ("total_time", "c"): (None, "error: TimeoutError"),
    }
    assert log.lower_is_better >= {"total_tokens", "total_time"}
    assert codes(log) == {"limits-reached"}


def test_a_log_that_is_still_written_is_read_from_its_journal(tmp_path: Path) -> None:
    log = read_one(write_eval(tmp_path, SEVERAL, ended=False))
    assert len(scores_of(log)) == 5
    assert (log.finished, log.planned, dict(log.means)) == (False, 5, {})


@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_only_a_success_is_finished(one: Any, status: str) -> None:
    log = one({**SEVERAL, "status": status, "results": None})
    assert not log.finished
    assert not log.means


def test_the_last_summary_of_a_sample_counts(tmp_path: Path) -> None:
    first = {**sample("a"), "scores": {}, "error": "RuntimeError('x')"}
    log = read_one(write_eval(tmp_path, make_log([first, sample("a", "C")])))
    assert scores_of(log) == {("match", "a", None): (1, "ok", "-")}


# Values


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", 1), ("P", 0.5), ("I", 0), ("N", 0), (True, 1), (False, 0), ("yes", 1), ("False", 0), ("0.25", 0.25), (3, 3)],
)
def test_values_become_the_numbers_that_inspect_makes_of_them(one: Any, value: object, score: float) -> None:
    assert scores_of(one(make_log([sample("a", value)]))) == {("match", "a", None): (score, "ok", "-")}


@pytest.mark.parametrize(("value", "status"), [(None, "unscored"), (NAN, "unscored"), ("B", "not a number")])
def test_values_that_are_no_numbers(one: Any, value: object, status: str) -> None:
    assert scores_of(one(make_log([sample("a", value)]))) == {("match", "a", None): (None, status, "-")}


def test_scores_of_several_values_are_a_metric_for_each(one: Any) -> None:
    log = one(
        make_log(
            [
                sample("a", {"form": 1, "depth": 0.5}, scorer="parts"),
                sample("b", {"form": "I", "depth": NAN}, scorer="parts"),
                sample("c", NAN, scorer="parts"),
                sample("d", [1, 0], scorer="pair"),
            ],
            means={"parts/form": 0.5, "parts/depth": 0.5},
        )
    )
    assert {key: value[:2] for key, value in scores_of(log).items() if value[1] != "not scored"} == {
        ("parts/form", "a", None): (1, "ok"), ("parts/depth", "a", None): (0.5, "ok"),
        ("parts/form", "b", None): (0, "ok"), ("parts/depth", "b", None): (None, "unscored"),
        ("parts/form", "c", None): (None, "unscored"), ("parts/depth", "c", None): (None, "unscored"),
        ("pair/1", "d", None): (1, "ok"), ("pair/2", "d", None): (0, "ok"),
    }  # fmt: skip
    assert dict(log.means) == {"parts/form": 0.5, "parts/depth": 0.5}


@pytest.mark.parametrize(("mean", "ours"), [(1 / 3, 1 / 3), (0.5, 0.5)])
def test_a_grade_that_is_not_known_counts_as_inspect_counted_it(one: Any, mean: float, ours: float) -> None:
    log = one(make_log([sample("a", "C"), sample("b", "I"), sample("c", "X")], means={"match": mean}))
    assert means_of(log)["match"] == pytest.approx(ours)
    assert codes(log) == {"scores-not-numbers"}


def test_labels_are_left_out_and_their_mean_of_zero_is_no_check(one: Any) -> None:
    log = one(make_log([sample("a", "red"), sample("b", "blue")], means={"match": 0.0}))
    assert not log.means
    assert codes(log) == {"scores-not-numbers"}


# The tool's own numbers


def test_epochs_are_samples_and_a_mean_is_over_items_first(one: Any) -> None:
    samples = [sample("a", "C"), sample("a", "I", epoch=2), sample("b", "C"), sample("b", NAN, epoch=2)]
    log = one(make_log(samples, means={"match": 0.75}, config={"epochs": 2, "epochs_reducer": ["mean"]}))
    assert [key[2] for key in scores_of(log)] == ["1", "2", "1", "2"]
    assert means_of(log)["match"] == log.means["match"] == 0.75


@pytest.mark.parametrize("reducer", ["max", "mode", "pass_at_2", "at_least_1"])
def test_other_reducers_are_no_means(one: Any, reducer: str) -> None:
    log = make_log([sample("a", "C"), sample("a", "I", epoch=2)], means={"match": 1.0}, config={"epochs": 2})
    log["eval"]["config"]["epochs_reducer"] = ["mean", reducer]
    (entry,) = log["results"]["scores"]
    mean = {**entry, "reducer": "mean", "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}
    log["results"]["scores"] = [{**entry, "reducer": reducer}, mean]
    read = one(log)
    assert dict(read.means) == {"match": 0.5}
    assert codes(read) == {"epochs-reduced-otherwise"}
    assert read.conditions["epochs reducer"] == f"mean, {reducer}"


def test_numbers_over_all_samples_as_if_they_were_items_are_no_check(one: Any) -> None:
    samples = [sample("a", "C"), sample("a", "C", epoch=2), sample("b", "I")]
    assert not one(make_log(samples, means={"match": 2 / 3}, config={"epochs": 2, "epochs_reducer": []})).means


def test_metrics_that_are_no_means_are_named(one: Any) -> None:
    log = make_log([sample("a", "C"), sample("b", "I")], means={"match": 0.5})
    log["results"]["scores"][0]["metrics"] |= {
        "stderr": {"name": "stderr", "value": 0.1},
        "odd": {"name": "odd", "group": "grouped", "value": 0.9},
        "perplexity": {"name": "perplexity", "value": 12.0},
        "mean": {"name": "mean", "value": 3.0, "params": {"to_float": "own"}},
    }
    read = one(log)
    assert dict(read.means) == {"match": 0.5}
    (caution,) = read.cautions
    assert caution.code == "corpus-metrics-left-out"
    assert "'mean of match', 'perplexity of match'" in caution.message


def test_logs_without_samples_have_the_scores_of_items(tmp_path: Path) -> None:
    log = make_log([], means={"match": 0.75}, config={"epochs": 2, "log_samples": False})
    reduced = [{"value": 1.0, "sample_id": "a"}, {"value": 0.5, "sample_id": "b"}]
    log["reductions"] = [
        {"scorer": "match", "reducer": "mean", "samples": reduced},
        {"scorer": "match", "reducer": "max", "samples": [{"value": 1.0, "sample_id": "a"}]},
    ]
    for path in (write_json(tmp_path, log), write_eval(tmp_path, log)):
        read = read_one(path)
        assert means_of(read) == {"match": 0.75}
        assert codes(read) == {"scores-without-samples"}


def test_a_log_that_was_not_scored_has_its_items(one: Any) -> None:
    log = make_log([{**sample("a"), "scores": {}}], scorers=[{"name": "match"}])
    assert scores_of(one(log)) == {("match", "a", None): (None, "not scored", "-")}


def test_logs_of_the_first_version(one: Any) -> None:
    log = make_log([{**sample("a"), "score": {"value": "C"}}, {**sample("b"), "score": {"value": "I"}}])
    for each in log["samples"]:
        del each["scores"]
    log["version"] = 1
    log["results"] = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}
    del log["eval"]["eval_id"]
    read = one(log)
    assert means_of(read) == dict(read.means) == {"match": 0.5}
    assert read.identity == "R1, T1, maker/small"
    del log["version"]
    assert one(log).rows.equals(read.rows)


# What it rests on


def test_settings_are_facets_and_conditions(one: Any) -> None:
    log = make_log(
        [sample("a", metadata={"kind": "x", "size": 3, "item": "i", "url": "u1", "text": "t" * 100, "more": [1]}),
         sample("b", metadata={"kind": "x", "size": 4, "item": "i", "url": "u2", "text": "t", "more": [1]})],
        metadata={"system": "s1", "label": "new"}, scorers=[{"name": "match", "options": {"k": 1}}],
        model_generate_config={"temperature": 0.9, "top_p": 0.8, "max_tokens": 99},
        model_roles={"grader": {"model": "maker/big"}},
        config={"epochs": 1, "limit": 10, "sample_shuffle": 42, "message_limit": 8},
    )  # fmt: skip
    read = one(log)
    assert dict(read.facets) == {
        "seed": "7", "temperature": "0.5", "top_p": "0.8", "revision": "abc", "metadata_system": "s1", "label": "new",
    }  # fmt: skip
    assert dict(read.conditions) == {
        "dataset": "s", "task version": "2", "task arguments": "shots=3", "solver": "generate", "scorer match": "k=1",
        "limit": "10, shuffled by 42", "max tokens": "99", "message limit": "8", "other models": "grader=maker/big",
    }  # fmt: skip
    assert read.rows.column_names[-3:] == ["kind", "size", "metadata_item"]
    assert read.rows["size"].to_pylist() == [3, 4]


def test_a_solver_is_the_system_where_there_is_no_model(one: Any) -> None:
    assert one(make_log([sample("a")], model="none/none", solver="my_agent")).system == "my_agent"
    assert one(make_log([sample("a")], model="none")).system == "generate"


def test_content_is_the_same_however_a_log_writes_it_and_another_for_another_item(one: Any) -> None:
    def content(**more: object) -> str:
        return str(one(make_log([sample("a", **more)])).rows["content"][0])

    message = [{"id": "m1", "role": "user", "content": "What is  a?\n"}]
    assert content() == content(input=message) == content(events=[])
    assert len({content(), content(input="Who is a?"), content(target="5"), content(target=["4", "5"])}) == 4


# Several logs in a folder


def test_only_the_last_attempt_at_an_evaluation_counts(tmp_path: Path) -> None:
    first = make_log([sample("a")], eval_id="E1", created="2026-01-02T03:04:05+02:00") | {"status": "error"}
    last = make_log([sample("a"), sample("b")], eval_id="E2", created="2026-01-02T02:04:05+00:00")
    write_json(tmp_path, first, name="first.json")
    write_eval(tmp_path, last, name="retried.eval")
    write_json(tmp_path, make_log([sample("a")], task_id="T2", eval_id="E3"), name="other.json")
    retried, other = sorted(read_all(READER, tmp_path), key=lambda log: len(log.rows), reverse=True)
    assert (retried.identity, other.identity) == ("E2", "E3")
    assert [caution.examples for caution in retried.cautions] == [("first.json",)]
    assert not other.cautions


def test_a_log_that_was_scored_again_counts_as_scored_last(tmp_path: Path) -> None:
    write_json(tmp_path, make_log([{**sample("a"), "scores": {}}]), name="a.json")
    write_json(tmp_path, make_log([sample("a")], means={"match": 1.0}), name="a-scored.json")
    (log,) = read_all(READER, tmp_path)
    assert dict(log.means) == {"match": 1.0}


OTHERS = {
    "evals.json": '{"spec": {"completion_fns": ["x"], "eval_name": "y", "run_id": "r", "created_at": "z"}}',
    "results.json": '{"results": {"arc": {"acc,none": 0.5}}, "configs": {}, "eval": {"task": "x"}}',
    "listing.json": json.dumps({"a.eval": SEVERAL}),
    "list.json": json.dumps([SEVERAL]),
    "empty.json": "",
    "empty.eval": "",
    "text.eval": "eval",
    "log.txt": json.dumps(SEVERAL),
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_other_tools_are_left_to_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(OTHERS[name])
    assert not read_all(READER, tmp_path)


def test_another_archive_is_left_alone(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "weights.eval", [("data.pkl", b"x")])
    assert not read_all(READER, path.parent)


# What cannot be read


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 9}, "version 9 of Inspect's log format"),
        ({"version": "x"}, "version 'x' of Inspect's log format"),
        ({"samples": [{"epoch": 1}]}, "sample 1 of .* has no id"),
        ({"samples": ["a"]}, "sample 1 of .* has no id"),
        ({"samples": [sample("a", scores=[1])]}, "sample 'a' of .* has scores in a form that is not known"),
        ({"samples": None}, "has results but no samples"),
    ],
)
def test_what_is_no_whole_log_is_refused_in_one_line(one: Any, change: Log, message: str) -> None:
    with pytest.raises(ReadError, match=message) as raised:
        one({**SEVERAL, **change})
    assert "log.json" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("write", [write_json, write_eval])
def test_a_truncated_log_is_recognised_and_refused(tmp_path: Path, write: Callable[[Path, Log], Path]) -> None:
    path = write(tmp_path, SEVERAL)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ReadError, match=r"cut off, or is still being written"):
        read_one(path)


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HARMLESS", 2**16)  # so that a small bomb will do
    packed = tmp_path / "log.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(make_log([])).encode()[:-2] + b"[" + b" " * 2**22))
    with pytest.raises(ReadError, match="200 times its size"):
        read_one(packed)
    start = json.dumps({**SEVERAL, "samples": None}).encode()
    members = [("_journal/start.json", start), ("header.json", start), ("summaries.json", b" " * 2**17)]
    with pytest.raises(ReadError, match="200 times its size"):
        read_one(write_zip(tmp_path / "log.eval", members, method=DEFLATED))


@pytest.mark.parametrize("seed", range(4))
def test_a_log_with_anything_in_it_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    junk = [None, 0, -1, True, "x", "", [], {}, [1], [{}], [[]], {"name": {}}, 10**400, NAN, math.inf, ["C", None]]

    def places(value: Any) -> list[tuple[Any, Any]]:
        inside = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
        return [(value, key) for key, _ in inside] + [place for _, each in inside for place in places(each)]

    said = ""
    for _ in range(60):
        log = json.loads(json.dumps(SEVERAL))
        for _ in range(rng.choice((1, 2, 4))):
            owner, key = rng.choice(places(log))
            owner[key] = rng.choice(junk)
        path = write_json(tmp_path, log, indent=rng.choice((None, 2)))
        try:
            found = read_all(READER, tmp_path, [path])
        except HoldsupError as refusal:
            found, said = [], f"{said}{refusal}"
        assert all(len(read.rows) <= 25 for read in found)
    assert said
    assert "\n" not in said


def test_means_over_more_samples_than_the_log_has_are_not_checked(one: Any) -> None:
    log = make_log([sample("a"), sample("b", "I")], means={"match": 0.75})
    log["results"]["completed_samples"] = 4
    read = one(log)
    assert (dict(read.means), means_of(read)) == ({}, {"match": 0.5})
    assert [c.message for c in read.cautions] == [
        "The log has 2 samples, but its results are over 4, so the means that it reports can't be checked."
    ]


def test_attempts_at_one_evaluation_are_of_one_model(tmp_path: Path) -> None:
    for place, model in enumerate(("maker/small", "maker/big", "maker/big")):
        log = make_log([sample("a")], eval_id=f"E{place}", model=model, created=f"2026-01-0{place + 1}T00:00:00+00:00")
        write_json(tmp_path, log, name=f"{place}.json")
    found = list(READER.recognise(tmp_path, tuple(sorted(tmp_path.iterdir()))))
    assert [[file.name for file in each.files] for each in found] == [["0.json"], ["2.json", "1.json"]]


@pytest.mark.parametrize(("told", "severity"), [(66.6667, "note"), (50.0, "warning")])
def test_percentages_of_vitals_are_checked_as_far_as_they_are_rounded(
    tmp_path: Path, told: float, severity: str
) -> None:
    for day in (1, 2):  # its task ids recur in every evaluation
        own = {"config": {}, "task_file": "/home/me/eval.R", "eval_id": None, "created": f"2026-01-0{day}T00:00:00Z"}
        log = make_log([sample("a"), sample("b"), sample("c", "I")], means={"match": told}, **own)
        write_json(tmp_path, log, name=f"{day}.json")
    logs = read_all(READER, tmp_path)
    assert [(log.tool, dict(log.means), means_of(log)["match"]) for log in logs] == [("vitals", {}, 2 / 3)] * 2
    assert [[(c.code, c.severity) for c in log.cautions] for log in logs] == [[("rounded-means", severity)]] * 2
    assert f"match is {told:g}% there and 66.6667% here" in logs[0].cautions[0].message
