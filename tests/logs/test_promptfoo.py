"""promptfoo: results of files and databases; repeats are samples, and errors are told from wrong answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdsup.errors import ReadError
from holdsup.logs.promptfoo import READER
from reading import means_of, read_all

Record = dict[str, Any]
NAMES = ("a", "b")  # providers
EMPTY = {"total": 0, "prompt": 0, "completion": 0}


def answer(word: str, place: int, score: float = 1, *, side: int = 0, error: str | None = None, **more: Any) -> Record:
    """A result as promptfoo 0.121 writes it; an error has a reason of its own, and no grading."""
    case = {"vars": {"word": word}, "assert": [{"type": "equals", "value": word, "metric": "Exact"}]}
    return {
        "id": f"id-{side}-{place}",
        "promptIdx": side,
        "testIdx": place,
        "provider": {"id": "echo", "label": NAMES[side]},
        "prompt": {"raw": f"Say {word}", "label": "short"},
        "vars": case["vars"],
        "testCase": case,
        "success": score == 1,
        "score": score,
        "namedScores": {} if error else {"Exact": score},
        "failureReason": 2 if error else int(score < 1),
        "error": error or (None if score == 1 else f"Expected output to equal {word}"),
        "gradingResult": None if error else {"pass": score == 1, "score": score, "componentResults": [{}]},
        "response": None if error else {"output": word, "tokenUsage": {"total": 10}},
        "latencyMs": 250,
        "cost": 0 if error else 0.01,
        "tokenUsage": EMPTY if error else {"total": 10},
        **more,
    }


def about(records: list[Record], side: int) -> Record:
    own = [record for record in records if record["promptIdx"] == side]
    errors = sum(record["failureReason"] == 2 for record in own)
    passed = sum(record["success"] for record in own)
    counts = {"testPassCount": passed, "testFailCount": len(own) - passed - errors, "testErrorCount": errors}
    metrics = {"score": sum(record["score"] for record in own), **counts}
    return {"raw": "Say {{word}}", "label": "short", "provider": NAMES[side], "metrics": metrics}


def list_prompts(records: list[Record]) -> list[Record]:
    return [about(records, side) for side in sorted({record["promptIdx"] for record in records})]


def write_file(folder: Path, records: list[Record], config: Record | None = None, **summary: Any) -> Path:
    document = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "timestamp": "2026-11-18T22:59:40Z",
            "prompts": summary.pop("prompts", None) or list_prompts(records),
            "results": records,
            "stats": {},
            **summary,
        },
        "config": {"description": "toy"} if config is None else config,
        "vars": ["word"],
        "metadata": {"promptfooVersion": "0.121.20"},
    }
    (folder / "out.json").write_text(json.dumps(document, indent=2))
    return folder


def write_database(folder: Path, records: list[Record]) -> Path:
    """promptfoo's own statements, with the indices over JSON that an untrusted schema must not have."""
    with sqlite3.connect(folder / "promptfoo.db") as base:
        base.executescript(
            """
            CREATE TABLE evals (id text PRIMARY KEY NOT NULL, created_at integer, description text, results text NOT NULL,
                                config text NOT NULL, author text, prompts text, vars text);
            CREATE TABLE evals_to_prompts (eval_id text, prompt_id text);
            CREATE TABLE eval_results (id TEXT, eval_id TEXT, prompt_idx INT, test_idx INT, test_case TEXT, prompt TEXT,
                provider TEXT, latency_ms INT, cost REAL, response TEXT, error TEXT, success INT, score REAL,
                grading_result TEXT, named_scores TEXT, failure_reason integer DEFAULT 0 NOT NULL);
            CREATE INDEX reasons ON eval_results (json_extract(grading_result, '$.reason'));
            """
        )
        prompts = list_prompts(records)
        config = json.dumps({"description": "toy"})
        base.execute(
            "INSERT INTO evals VALUES ('eval-1', 1, 'toy', '{}', ?, NULL, ?, '[\"word\"]')",
            (config, json.dumps(prompts)),
        )
        for record in records:
            parts = [json.dumps(record[key]) for key in ("testCase", "prompt", "provider")]
            base.execute(
                f"INSERT INTO eval_results VALUES ({', '.join('?' * 16)})",
                (
                    record["id"],
                    "eval-1",
                    record["promptIdx"],
                    record["testIdx"],
                    *parts,
                    record["latencyMs"],
                    record["cost"] or None,
                    record["response"] and json.dumps(record["response"]),
                    record["error"],
                    record["success"],
                    record["score"],
                    record["gradingResult"] and json.dumps(record["gradingResult"]),
                    json.dumps(record["namedScores"]),
                    record["failureReason"],
                ),
            )
    base.close()
    return folder


TWICE = [
    *(answer("hello", place, score) for place, score in ((0, 1), (1, 0))),
    *(answer("world", place, 0, error="Error: boom\n   at /home/x.js") for place in (2, 3)),
    *(answer(word, place, side=1) for place, word in enumerate(["hello", "hello", "world", "world"])),
]


@pytest.mark.parametrize("write", [write_file, write_database])
def test_providers_are_systems_and_repeats_are_samples(tmp_path: Path, write: Callable[..., Path]) -> None:
    first, second = read_all(READER, write(tmp_path, TWICE))
    assert [(log.system, log.task) for log in (first, second)] == [("a", "toy"), ("b", "toy")]
    rows = [row for row in first.rows.to_pylist() if row["metric"] == "success"]
    assert [(row["item"], row["sample"], row["score"]) for row in rows] == [
        ('{"word": "hello"}', "1", 1),
        ('{"word": "hello"}', "2", 0),
        ('{"word": "world"}', "1", 0),
        ('{"word": "world"}', "2", 0),
    ]
    assert means_of(first) == pytest.approx(
        {"success": 0.25, "score": 0.25, "Exact": 0.5, "cost": 0.01, "latency_s": 0.25, "total_tokens": 10}
    )
    assert first.means == {"success": 0.25, "score": 0.25}
    assert second.means == {"success": 1, "score": 1}
    assert first.lower_is_better == {"cost", "latency_s", "total_tokens"}
    assert first.rows["metric"].to_pylist()[0] == "success"


@pytest.mark.parametrize("write", [write_file, write_database])
def test_errors_are_told_from_wrong_answers(tmp_path: Path, write: Callable[..., Path]) -> None:
    rows = read_all(READER, write(tmp_path, TWICE))[0].rows.to_pylist()
    found = {(row["item"], row["sample"], row["metric"]): row for row in rows}
    wrong, failed = found['{"word": "hello"}', "2", "success"], found['{"word": "world"}', "1", "success"]
    assert (wrong["error"], wrong["status"]) == ("-", "ok")
    assert (failed["error"], failed["status"]) == ("request failed: Error: boom", "ok")
    lacking = found['{"word": "world"}', "1", "Exact"]
    assert (lacking["score"], lacking["status"]) == (None, "the request failed")
    assert ('{"word": "world"}', "1", "cost") not in found


def test_a_file_and_the_database_are_known_as_one_evaluation(tmp_path: Path) -> None:
    logs = read_all(READER, write_database(write_file(tmp_path, TWICE), TWICE))
    assert len(logs) == 4
    assert [log.identity for log in logs[:2]] == [log.identity for log in logs[2:]]
    assert logs[0].tool == "promptfoo 0.121.20"
    assert logs[0].rows.select(["item", "metric", "score"]) == logs[2].rows.select(["item", "metric", "score"])


def test_systems_name_the_prompt_where_several_are_compared(tmp_path: Path) -> None:
    long = {"prompt": {"raw": "Please say hello", "label": "Please say\n" + "x" * 90}}
    logs = read_all(READER, write_file(tmp_path, [answer("hello", 0), answer("hello", 0, side=1, **long)]))
    assert [log.system for log in logs] == ["a | short", f"b | Please say {'x' * 48}…"]


def test_cases_with_the_same_variables_that_assert_other_things_are_other_items(tmp_path: Path) -> None:
    other = {
        "testCase": {"vars": {"word": "hello", "_conversation": [1]}, "assert": [{"type": "contains", "value": "h"}]}
    }
    (log,) = read_all(READER, write_file(tmp_path, [answer("hello", 0), answer("hello", 1, 0, **other)]))
    rows = [row for row in log.rows.to_pylist() if row["metric"] == "success"]
    assert [(row["item"], row["sample"]) for row in rows] == [('{"word": "hello"}', "1"), ('{"word": "hello"} #2', "1")]
    assert rows[0]["content"] != rows[1]["content"]


def test_long_variables_are_known_by_a_digest(tmp_path: Path) -> None:
    first, again = (read_all(READER, write_file(tmp_path, [answer("x" * 500, place)]))[0] for place in (0, 7))
    assert first.rows["item"][0].as_py() == again.rows["item"][0].as_py()
    assert len(first.rows["item"][0].as_py()) < 30


def test_answers_of_which_nothing_was_asserted_and_copies_are_said(tmp_path: Path) -> None:
    free = answer("hello", 0, testCase={"vars": {"word": "hello"}}, gradingResult={"pass": True, "score": 1})
    cached = answer("world", 1, response={"output": "x", "cached": True})
    (log,) = read_all(READER, write_file(tmp_path, [free, cached]))
    assert [caution.code for caution in log.cautions] == ["no-assertions", "cached-answers"]
    assert log.cautions[0].message.startswith("1 of 2 answers")


def test_settings_of_the_provider_are_facets_and_conditions(tmp_path: Path) -> None:
    config = {"providers": ["echo", {"id": "echo", "label": "a", "config": {"temperature": 0.7, "max_tokens": 9}}]}
    (log,) = read_all(READER, write_file(tmp_path, [answer("hello", 0)], config))
    assert log.facets == {"temperature": "0.7"}
    assert log.conditions["max tokens"] == "9"
    assert log.task == "tests of word"


def test_means_are_not_compared_where_some_answers_are_not_there(tmp_path: Path) -> None:
    prompts = [about(TWICE, side) for side in (0, 1)]
    first, second = read_all(READER, write_file(tmp_path, TWICE[1:], prompts=prompts))
    assert (dict(first.means), first.finished) == ({}, False)
    assert (dict(second.means), second.finished) == ({"success": 1, "score": 1}, True)
    uneven = [answer("hello", 0), answer("hello", 1), answer("world", 2, 0)]
    (log,) = read_all(READER, write_file(tmp_path, uneven))
    assert (means_of(log)["success"], dict(log.means)) == (0.5, {})


def first_layout(records: list[Record]) -> Record:
    """Results as promptfoo 0.91 wrote them: nothing numbered, errors known by what is missing, and a table."""
    kept = (
        "provider",
        "prompt",
        "vars",
        "success",
        "score",
        "namedScores",
        "latencyMs",
        "error",
        "gradingResult",
        "response",
    )
    results = [{key: record[key] for key in kept if record[key] is not None} for record in records]
    head = {
        "prompts": [
            about(records, 0) | {"metrics": {"testPassCount": 1, "testFailCount": 3, "score": 1}},
            about(records, 1),
        ]
    }
    return {"version": 2, "timestamp": "t", "results": results, "stats": {}, "table": {"head": head, "body": []}}


def test_the_first_layout_is_read_from_files_and_databases(tmp_path: Path) -> None:
    summary = first_layout(TWICE)
    (tmp_path / "out.json").write_text(json.dumps({"evalId": "e", "results": summary, "config": {}}, indent=2))
    with sqlite3.connect(tmp_path / "promptfoo.db") as base:
        base.execute("CREATE TABLE evals (id text, created_at integer, results text, config text)")
        base.execute("CREATE TABLE evals_to_prompts (eval_id text)")
        base.execute("INSERT INTO evals VALUES ('e', 1, ?, '{}')", (json.dumps(summary),))
    base.close()
    logs = read_all(READER, tmp_path)
    assert [log.identity for log in logs[:2]] == [log.identity for log in logs[2:]]
    for log in logs[::2]:
        assert means_of(log)["success"] == log.means["success"] == 0.25
        errors = [row["error"] for row in log.rows.to_pylist() if row["metric"] == "success"]
        assert errors == ["-", "-", "request failed: Error: boom", "request failed: Error: boom"]


def test_what_is_only_in_the_write_ahead_log_is_read(tmp_path: Path) -> None:
    write_database(tmp_path, TWICE)
    base = sqlite3.connect(tmp_path / "promptfoo.db")
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("UPDATE eval_results SET score = 0.5 WHERE prompt_idx = 1 AND test_idx = 0")
    base.commit()
    assert (tmp_path / "promptfoo.db-wal").stat().st_size
    assert means_of(read_all(READER, tmp_path)[1])["score"] == 0.875
    base.close()


def test_views_and_computed_columns_are_not_read(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "views.db") as base:
        base.executescript(
            "CREATE TABLE t (x); CREATE VIEW evals AS SELECT * FROM t; CREATE VIEW evals_to_prompts AS SELECT 1"
        )
    base.close()
    assert read_all(READER, tmp_path) == []
    with sqlite3.connect(write_database(tmp_path, TWICE) / "promptfoo.db") as base:
        base.execute("ALTER TABLE eval_results ADD COLUMN metadata TEXT AS (zeroblob(1000000000))")
    base.close()
    with pytest.raises(ReadError, match="computed columns in 'eval_results'"):
        read_all(READER, tmp_path)


def test_a_database_that_takes_too_long_or_is_damaged_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_database(tmp_path, TWICE * 50)
    found = list(READER.recognise(tmp_path, tuple(tmp_path.iterdir())))
    monkeypatch.setattr("holdsup.logs.sqlite.STEPS", 1)
    monkeypatch.setattr("holdsup.logs.sqlite.LONGEST", -1.0)
    with pytest.raises(ReadError, match="took more than -1 seconds"):
        list(READER.read(found[0]))
    monkeypatch.undo()
    data = bytearray((tmp_path / "promptfoo.db").read_bytes())
    data[4096 * 3 :] = b"\xff" * (len(data) - 4096 * 3)
    (tmp_path / "promptfoo.db").write_bytes(data)
    with pytest.raises(ReadError, match="cannot read the database"):
        read_all(READER, tmp_path)


@pytest.mark.parametrize(
    "change", [{"provider": None}, {"score": "good"}, {"testIdx": "x"}, {"success": None, "score": None}]
)
def test_results_of_another_shape_are_refused(tmp_path: Path, change: Record) -> None:
    with pytest.raises(ReadError, match="not laid out as promptfoo writes it"):
        read_all(READER, write_file(tmp_path, [answer("hello", 0), answer("world", 1) | change], prompts=[{}]))


def test_files_that_are_cut_off_or_empty_are_refused(tmp_path: Path) -> None:
    text = (write_file(tmp_path, TWICE) / "out.json").read_text()
    for kept in (0.5, 0.99):
        (tmp_path / "out.json").write_text(text[: int(kept * len(text))])
        with pytest.raises(ReadError, match=r"out\.json .*cut off"):
            read_all(READER, tmp_path)
    with pytest.raises(ReadError, match="holds no results"):
        read_all(READER, write_file(tmp_path, []))
    (log, _) = read_all(READER, write_file(tmp_path, TWICE, version=9))
    assert log.cautions[0].code == "unknown-log-version"


def test_other_files_are_not_claimed(tmp_path: Path, formats: Path) -> None:
    (tmp_path / "a.json").write_text('{"results": {"task": {"acc": 1}}, "version": "2", "timestamp": "now"}')
    (tmp_path / "b.db").write_bytes(b"SQLite format 3\0 but no more")
    assert read_all(READER, tmp_path) == []
    assert read_all(READER, formats / "mlflow", (formats / "mlflow").glob("*.db")) == []
