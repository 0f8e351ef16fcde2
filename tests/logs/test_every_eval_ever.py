"""every_eval_ever: answers read with their aggregates, and scores written so that its schema takes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from holdsup.errors import ColumnError, ReadError
from holdsup.logs.every_eval_ever import READER
from holdsup.logs.every_eval_ever_export import write_every_eval_ever
from reading import means_of, read_all

Record = dict[str, Any]


def answer(sample: str, score: float | None, **more: Any) -> Record:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "bench/org_model/17",
        "model_id": "org/model",
        "evaluation_name": "bench",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": f"What is {sample}?", "reference": ["x"]},
        "output": {"raw": ["y"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1},
        **more,
    }


def write_answers(folder: Path, *records: Record, name: str = "a1_samples.jsonl") -> Path:
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def write_aggregate(folder: Path, *results: Record, rows: int | None = None, source: str = "evaluation_run") -> None:
    document = {
        "schema_version": "0.3.0",
        "evaluation_id": "bench/org_model/17",
        "source_metadata": {"source_type": source},
        "eval_library": {"name": "helm", "version": "0.5"},
        "model_info": {"id": "org/model"},
        "evaluation_results": list(results),
    }
    if rows is not None:
        document["detailed_evaluation_results"] = {"total_rows": rows}
    (folder / "a1.json").write_text(json.dumps(document))


def result(score: float, metric: str = "accuracy", ident: str = "bench", **config: Any) -> Record:
    return {
        "evaluation_result_id": ident,
        "evaluation_name": "bench",
        "metric_config": {"metric_name": metric, "metric_kind": metric, "lower_is_better": False, **config},
        "score_details": {"score": score},
        "generation_config": {"generation_args": {"temperature": 0.5, "max_tokens": 9}},
    }


def test_a_line_is_a_score_and_what_it_cost(tmp_path: Path) -> None:
    tokens = {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17}
    cost = {
        "token_usage": tokens,
        "performance": {"latency_ms": 250},
        "metadata": {"subject": "sums", "long": "x" * 500},
    }
    (log,) = read_all(
        READER, write_answers(tmp_path, answer("q1", 1.0, **cost), answer("q2", 0, error="timed out\nat 3"))
    )
    assert (log.system, log.task) == ("org/model", "bench")
    assert means_of(log) == {"score": 0.5, **tokens, "latency_s": 0.25}
    rows = log.rows.to_pylist()
    assert [(row["error"], row["subject"]) for row in rows[:2]] == [("-", "sums"), ("timed out", None)]
    assert "long" not in log.rows.column_names
    assert {"latency_s", "total_tokens"} <= log.lower_is_better


def test_means_are_checked_against_the_aggregates(tmp_path: Path) -> None:
    write_answers(tmp_path, answer("q1", 1.0), answer("q2", 0.0))
    write_aggregate(tmp_path, result(0.5), rows=2)
    (log,) = read_all(READER, tmp_path)
    assert means_of(log) == dict(log.means) == {"accuracy": 0.5}
    assert log.tool == "helm 0.5"
    assert (log.facets, log.conditions["max tokens"]) == ({"temperature": "0.5"}, "9")
    write_aggregate(tmp_path, result(0.75), rows=2)
    (log,) = read_all(READER, tmp_path)
    assert log.means == {"accuracy": 0.75}, "whoever checks the means must see the difference"


@pytest.mark.parametrize(
    ("score", "metric", "rows", "source"),
    [
        (0.8, "f1_macro", 2, "evaluation_run"),
        (0.8, "accuracy", 9, "evaluation_run"),
        (0.8, "accuracy", 2, "documentation"),
    ],
)
def test_aggregates_of_something_else_are_named(
    tmp_path: Path, score: float, metric: str, rows: int, source: str
) -> None:
    write_answers(tmp_path, answer("q1", 1.0), answer("q2", 0.0))
    write_aggregate(tmp_path, result(score, metric), rows=rows, source=source)
    (log,) = read_all(READER, tmp_path)
    assert not log.means
    assert f"{metric} is 0.8 in the aggregates, but the mean of the answers is 0.5" in log.cautions[0].message


def test_percentages_are_those_of_the_scores(tmp_path: Path) -> None:
    write_answers(tmp_path, answer("q1", 1.0), answer("q2", 0.0))
    write_aggregate(tmp_path, result(50.0, metric_unit="percent"))
    assert read_all(READER, tmp_path)[0].means == {"accuracy": 0.5}


def test_several_results_of_an_answer_are_metrics(tmp_path: Path) -> None:
    both = [
        answer(
            "q1",
            score,
            evaluation_result_id=f"bench.{name}",
            token_usage={"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
        )
        for name, score in (("em", 0.0), ("wer", 0.7))
    ]
    write_answers(tmp_path, *both)
    (log,) = read_all(READER, tmp_path)
    assert means_of(log) == {"em": 0.0, "wer": 0.7, "input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    assert log.rows["metric"].to_pylist().count("input_tokens") == 1
    write_aggregate(
        tmp_path, result(0.0, "exact match", "bench.em"), result(0.7, "word errors", "bench.wer", lower_is_better=True)
    )
    (log,) = read_all(READER, tmp_path)
    assert log.means == {"exact match": 0.0, "word errors": 0.7}
    assert "word errors" in log.lower_is_better
    assert "exact match" not in log.lower_is_better


def test_epochs_are_samples_and_other_repeats_are_numbered(tmp_path: Path) -> None:
    (log,) = read_all(READER, write_answers(tmp_path, *(answer("q1", s, metadata={"epoch": str(s)}) for s in (0, 1))))
    assert (log.rows["sample"].to_pylist(), log.cautions) == (["0", "1"], ())
    (log,) = read_all(READER, write_answers(tmp_path, answer("q1", 1), answer("q2", 0), answer("q1", 0)))
    assert log.rows["sample"].to_pylist() == ["1", "1", "2"]
    assert log.cautions[0].message.startswith("1 answers have the id of another")
    assert means_of(log) == {"score": 0.25}


def test_models_and_evaluations_in_one_file_are_told_apart(tmp_path: Path) -> None:
    write_answers(
        tmp_path, answer("q1", 1), answer("q1", 0, model_id="org/b"), answer("q1", 0, evaluation_name="other")
    )
    found = {(log.system, log.task): means_of(log)["score"] for log in read_all(READER, tmp_path)}
    assert found == {("org/model", "bench"): 1, ("org/b", "bench"): 0, ("org/model", "other"): 0}


def test_the_item_is_known_by_its_texts_whatever_the_hash(tmp_path: Path) -> None:
    write_answers(tmp_path, answer("q1", 1, sample_hash="a"), name="a.jsonl")
    write_answers(tmp_path, answer("q1", 1, sample_hash="b"), name="b.jsonl")
    other = answer("q1", 1, input={"raw": "What is q1?", "reference": ["z"], "formatted": "Q: q1"})
    write_answers(tmp_path, other, name="c.jsonl")
    contents = [log.rows["content"][0].as_py() for log in read_all(READER, tmp_path)]
    assert contents[0] == contents[1] != contents[2]


def test_conversations_have_a_score_each(tmp_path: Path) -> None:
    talk = answer(
        "q1",
        0.5,
        interaction_type="multi_turn",
        output=None,
        messages=[{"turn_idx": i, "role": "user", "content": "x" * 900} for i in range(200)],
    )
    (log,) = read_all(READER, write_answers(tmp_path, talk, talk | {"sample_id": "q2"}))
    assert means_of(log) == {"score": 0.5}
    assert (log.conditions["interaction"], log.cautions) == ("multi_turn", ())


def test_numbers_for_ids_and_missing_scores_are_read(tmp_path: Path) -> None:
    write_answers(
        tmp_path, answer("q1", 1) | {"sample_id": 7}, answer("q2", None, metadata={"epoch": 1}), answer("\ud800", 1)
    )
    (log,) = read_all(READER, tmp_path)
    assert log.rows["item"].to_pylist()[:2] == ["7", "q2"]
    assert log.rows["status"].to_pylist() == ["ok", "no score in the log", "ok"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"model_id": "a"', "line 2 .*cut off"),
        ("[]", "holds something else among its records"),
        ('{"model_id": "a", "sample_id": "b"}', "a line without evaluation_id"),
        (json.dumps(answer("q", 1) | {"evaluation": {"score": "good"}}), "not laid out as every_eval_ever writes it"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, line: str, said: str) -> None:
    write_answers(tmp_path, answer("q1", 1))
    with (tmp_path / "a1_samples.jsonl").open("a") as file:
        file.write(line)
    with pytest.raises(ReadError, match=said):
        read_all(READER, tmp_path)


def test_other_versions_are_said_and_aggregates_alone_refused(tmp_path: Path) -> None:
    (log,) = read_all(READER, write_answers(tmp_path, answer("q1", 1, schema_version="9.0")))
    assert log.cautions[0].code == "unknown-log-version"
    (tmp_path / "a1_samples.jsonl").unlink()
    write_aggregate(tmp_path, result(0.5))
    with pytest.raises(ReadError, match=r"put a1_samples\.jsonl next to it"):
        read_all(READER, tmp_path)


def test_lines_of_other_tools_are_not_claimed(tmp_path: Path, formats: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"doc_id": 0, "target": "x"}\n')
    (tmp_path / "b.jsonl").write_text('{"item": 0, "note": "model_id evaluation_id"}\n')
    assert read_all(READER, tmp_path) == []
    assert read_all(READER, formats / "eee_fixtures" / "lm_eval") == []


def test_real_answers_are_read(formats: Path) -> None:
    (made,) = read_all(READER, formats / "every_eval_ever")
    assert means_of(made) == {"score": 1.0}
    (demo,) = read_all(READER, formats / "eee_fixtures")
    assert means_of(demo) == {"score": 1.0, "input_tokens": 12, "output_tokens": 5, "total_tokens": 17}


TABLE = pa.table(
    {
        "system": ["org/a", "org/a", "org/b", "org/b", "org/b"],
        "item": ["é1", "2", "é1", "2", "3"],
        "metric": ["em"] * 5,
        "score": [1.0, 0.25, 0.0, 1.0, None],
        "seed": [1, 2, 1, 1, 1],
        "draw": ["1", "1", "1", "1", "1"],
    }
)


def test_what_is_written_follows_the_schema(tmp_path: Path, formats: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((formats / "eee_fixtures/schemas/instance_level_eval.schema.json").read_text())
    write_every_eval_ever(TABLE, tmp_path / "out.jsonl", metric="metric", sample="draw", runs=["seed"])
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert len(lines) == 4
    for line in lines:
        jsonschema.validate(json.loads(line), schema)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert write_every_eval_ever(TABLE, path, metric="metric", sample="draw", runs=["seed"], name="toy", written=9) == 1
    logs = read_all(READER, tmp_path)
    found = [
        (log.system, row["item"], row["metric"], row["score"], row["seed"], row["sample"])
        for log in logs
        for row in log.rows.to_pylist()
    ]
    assert found == [
        ("org/a", "é1", "em", 1.0, "1", "1"),
        ("org/a", "2", "em", 0.25, "2", "1"),
        ("org/b", "é1", "em", 0.0, "1", "1"),
        ("org/b", "2", "em", 1.0, "1", "1"),
    ]
    assert [log.identity for log in logs] == [
        "toy/org_a/seed=1/9/toy",
        "toy/org_a/seed=2/9/toy",
        "toy/org_b/seed=1/9/toy",
    ]
    with pytest.raises(ColumnError, match="no column 'who'"):
        write_every_eval_ever(TABLE, path, system="who")
