"""How long does it take to read logs of evaluations, beside reading their bytes and parsing their JSON alone?

    python benchmarks/logs.py [--scale 1] [--repeats 3]

Logs with contents like those of real ones are written to a temporary folder: 20 logs of Inspect with 1,000 samples
each, as .eval and as .json; a folder of lm-evaluation-harness of 1 GB; and an .eval of 1 GB. `holdsup` reads each to
one table of scores with its audit. Beside it: the same files read (archives unpacked), each JSON value in them parsed
by orjson, or by json where orjson is not installed, and dropped. Inspect keeps a summary of each sample, and holdsup
needs no more of an .eval, so that the summaries alone are a row of their own. Each is a process of its own, best of
three. Goals: at most twice the CPU time of bytes and JSON, memory that does not grow with the log, 30 s for the
large .eval.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.util
import json
import random
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import measure, record

ZSTD = 93  # a method of compression that zipfile knows from Python 3.14 only
PARSER = "orjson" if importlib.util.find_spec("orjson") else "json"
STAMP = "2026-01-02T03-04-05.678901"
WORDS = "the model answers because a question of this number is which given that result from step we so then".split()
ALONE = f"""
import zipfile
from pathlib import Path
import pyarrow as pa
import {PARSER} as parser

def values(path, wanted):
    if path.suffix == ".jsonl":
        with path.open("rb") as file:
            yield from file
    elif path.suffix == ".json":
        yield path.read_bytes()
    else:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            for member in archive.infolist():
                if wanted in member.filename:
                    file.seek(member.header_offset + 26)
                    name, more = (int.from_bytes(file.read(2), "little") for _ in range(2))
                    file.seek(name + more, 1)
                    packed = pa.BufferReader(file.read(member.compress_size))
                    with pa.CompressedInputStream(packed, "zstd") as unpacked:
                        yield unpacked.read()
"""
PARSE = """
count = 0
for path in sorted(Path({path!r}).iterdir()):
    for value in values(path, {wanted!r}):
        parser.loads(value)
        count += 1
return count
"""
OURS = "import pyarrow.compute as pc\nfrom holdsup.logs import open_data"
READ = """
table = open_data({path!r}).tables[0].table
scores = table.filter(pc.equal(table["metric"], {metric!r}))["score"]
return [len(scores), pc.mean(scores).as_py()]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes above: 0.01 takes seconds")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    samples, large = max(10, round(1000 * asked.scale)), round(1e9 * asked.scale)
    cases: dict[str, tuple[str, Callable[[Path], list[float]]]] = {
        "20 Inspect logs, .eval": ("match", lambda folder: write_inspect(folder, 20, samples, ".eval")),
        "20 Inspect logs, .json": ("match", lambda folder: write_inspect(folder, 20, samples, ".json")),
        "lm-eval folder": ("acc", lambda folder: write_lm_eval(folder, large)),
        "one large .eval": ("match", lambda folder: write_inspect(folder, 1, max(5, large // 10**6), ".eval", 10**6)),
    }
    rows: list[dict[str, Any]] = []
    for name, (metric, write) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            rows += compare(name, Path(folder), write(Path(folder)), metric, asked.repeats)
    record("logs", rows)
    cells = tuple(
        (r["logs"], r["who"], round(r["mb"]), round(r["wall"], 2), round(r["cpu"], 2), round(r["ratio"], 2),
         round(r["peak_mb"])) for r in rows
    )  # fmt: skip
    columns = ("logs", "who", "MB", "wall s", "CPU s", "CPU / JSON alone", "peak MB")
    print(render_text(Table(title=f"Reading logs; JSON alone is parsed by {PARSER}", columns=columns, rows=cells)))


def compare(name: str, folder: Path, scores: list[float], metric: str, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield how long a bare parser and we take; the scores that we read must be those that were written."""
    found = {"bytes and JSON": measure(ALONE, PARSE.format(path=str(folder), wanted=""), repeats=repeats)}
    if name.endswith(".eval"):
        alone = PARSE.format(path=str(folder), wanted="summaries.json")
        found["the summaries alone"] = measure(ALONE, alone, repeats=repeats)
    found["holdsup"] = measure(OURS, READ.format(path=str(folder), metric=metric).strip(), repeats=repeats)
    answer: Any = found["holdsup"]["answer"]
    if answer[0] != len(scores) or abs(answer[1] - sum(scores) / len(scores)) > 1e-12:
        raise AssertionError(f"{name}: read {answer}, wrote {len(scores)} with a mean of {sum(scores) / len(scores)}")
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    for who, measured in found.items():
        yield {"logs": name, "who": who, "mb": size, "ratio": measured["cpu"] / found["bytes and JSON"]["cpu"],
               **measured}  # fmt: skip


def say(rng: random.Random, words: int) -> str:
    """Return a text of so many words."""
    return " ".join(rng.choices(WORDS, k=words))


def write_inspect(folder: Path, logs: int, samples: int, ending: str, attached: int = 0) -> list[float]:
    """Write logs of so many samples, each with so many bytes of pictures; return the scores of all."""
    every = []
    for number in range(logs):
        rng = random.Random(number)
        scores = [float(rng.random() < 0.6) for _ in range(samples)]
        made = [_make_sample(rng, place, score, attached) for place, score in enumerate(scores)]
        header = _make_header(number, samples, sum(scores) / samples)
        path = folder / f"2026-01-02T03-04-05-00-00_quiz_{number:03}{ending}"
        if ending == ".json":
            path.write_text(json.dumps({**header, "samples": list(made)}, indent=2))
        else:
            _write_eval(path, header, made)
        every += scores
    return every


def _make_sample(rng: random.Random, place: int, score: float, attached: int) -> dict[str, Any]:
    said = [{"id": f"m{place}-{turn}", "role": ("user", "assistant")[turn % 2], "content": say(rng, 120)}
            for turn in range(6)]  # fmt: skip
    events = [
        {"event": "model", "model": "org/model", "input": said[: turn + 1], "output": said[turn], "working_start": turn}
        for turn in range(1, 6, 2)
    ]
    return {
        "id": place, "epoch": 1, "input": said[0]["content"], "target": str(place), "messages": said,
        "output": {"model": "org/model", "choices": [{"message": said[-1], "stop_reason": "stop"}]},
        "scores": {"match": {"value": "C" if score else "I", "answer": said[-1]["content"], "history": []}},
        "metadata": {"subject": f"s{place % 20}"}, "store": {}, "events": events,
        "attachments": {"picture": base64.b64encode(rng.randbytes(attached)).decode()} if attached else {},
        "model_usage": {"org/model": {"input_tokens": 900, "output_tokens": 300, "total_tokens": 1200}},
        "total_time": 2.5, "working_time": 2.0, "uuid": f"u{place}",
    }  # fmt: skip


def _make_header(number: int, samples: int, mean: float) -> dict[str, Any]:
    metrics = {"accuracy": {"name": "accuracy", "value": mean, "params": {}}}
    return {
        "version": 2, "status": "success",
        "eval": {
            "eval_id": f"e{number}", "run_id": f"r{number}", "created": "2026-01-02T03:04:05+00:00", "task": "quiz",
            "task_id": f"t{number}", "model": f"org/model{number}", "config": {"epochs": 1},
            "dataset": {"name": "quiz", "samples": samples}, "packages": {"inspect_ai": "0.3.285"},
            "scorers": [{"name": "match", "options": {}}],
        },
        "results": {
            "total_samples": samples, "completed_samples": samples,
            "scores": [{"name": "match", "scorer": "match", "reducer": "mean", "metrics": metrics}],
        },
    }  # fmt: skip


def _write_eval(path: Path, header: dict[str, Any], samples: list[dict[str, Any]]) -> None:
    """Write an archive as Inspect does: each member packed by zstd, the summaries and the header last."""
    kept = ("id", "epoch", "target", "scores", "metadata", "model_usage", "total_time", "working_time", "uuid")
    summaries = [{**{name: each[name] for name in kept}, "input": each["input"][:1000]} for each in samples]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "_journal/start.json", {"version": 2, "eval": header["eval"]})
        for each in samples:
            _add(archive, f"samples/{each['id']}_epoch_1.json", each)
        _add(archive, "summaries.json", summaries)
        _add(archive, "header.json", header)


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    data = json.dumps(value).encode()
    member = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 5))
    archive.writestr(member, bytes(pa.compress(data, codec="zstd")))
    # The directory at the end is written from these; readers go by it.
    member.compress_type, member.file_size, member.CRC = ZSTD, len(data), zlib.crc32(data)


def write_lm_eval(folder: Path, size: int) -> list[float]:
    """Write a run on four tasks of multiple choice, with prompts of five examples; return the scores of all."""
    tasks = [f"task{number}" for number in range(4)]
    results, every = {}, []
    for task in tasks:
        rng, written, scores = random.Random(task), 0, []
        with (folder / f"samples_{task}_{STAMP}.jsonl").open("w", encoding="utf-8") as file:
            while written < size / len(tasks):
                scores.append(float(rng.random() < 0.4))
                written += file.write(json.dumps(_make_line(rng, len(scores) - 1, scores[-1])) + "\n")
        results[task] = {"alias": task, "acc,none": sum(scores) / len(scores), "acc_stderr,none": 0.01}
        every += scores
    mean = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
    document = {
        "results": results, "group_subtasks": {task: [] for task in tasks},
        "configs": {task: {"task": task, "metric_list": [mean], "num_fewshot": 5} for task in tasks},
        "n-shot": dict.fromkeys(tasks, 5), "config": {"model": "hf", "model_args": "pretrained=org/m"},
        "lm_eval_version": "0.4.13", "model_name": "org/m", "date": 1767323045.25,
    }  # fmt: skip
    (folder / f"results_{STAMP}.json").write_text(json.dumps(document, indent=2))
    return every


def _make_line(rng: random.Random, item: int, score: float) -> dict[str, Any]:
    prompt, choices = say(rng, 250), [say(rng, 6) for _ in range(4)]
    doc = {"question": say(rng, 40), "choices": choices, "answer": 1, "subject": f"s{item % 20}"}
    hashes = {
        f"{part}_hash": hashlib.sha256(f"{part}{item}".encode()).hexdigest() for part in ("doc", "prompt", "target")
    }
    return {
        "doc_id": item, "doc": doc, "target": choices[1],
        "arguments": {f"gen_args_{n}": {"arg_0": prompt, "arg_1": f" {each}"} for n, each in enumerate(choices)},
        "resps": [[[-rng.random() * 9, "False"]] for _ in choices],
        "filtered_resps": [[-rng.random() * 9, "False"] for _ in choices],
        "filter": "none", "metrics": ["acc"], **hashes, "acc": score,
    }  # fmt: skip


if __name__ == "__main__":
    main()
