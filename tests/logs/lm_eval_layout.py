"""Logs in the layout of lm-evaluation-harness, with hashes and means made as its documentation says, not as we read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

STAMP = "2026-01-02T03-04-05.678901"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def make_line(item: int, scores: Mapping[str, Any], name: str = "none", **more: Any) -> dict[str, Any]:
    """A line of version 0.4.7 or later: one item, as one filter scores it."""
    doc = more.pop("doc", {"question": f"What is {item}+{item}?", "answer": str(2 * item), "subject": "ab"[item % 2]})
    prompt = f"Q: {doc.get('question')}\nA:"
    sent = {"until": ["\n"], "do_sample": True, "temperature": 0.7, "max_gen_toks": 32}
    return {
        "doc_id": item,
        "doc": doc,
        "target": str(2 * item),
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": sent}},
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": name,
        "metrics": list(scores),
        "doc_hash": sha(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": sha(prompt),
        "target_hash": sha(str(2 * item)),
        **scores,
        **more,
    }


def make_lines(scores: Mapping[str, Sequence[Any]], name: str = "none") -> list[dict[str, Any]]:
    """Lines of one filter: scores by metric, item by item."""
    count = len(next(iter(scores.values())))
    return [make_line(item, {metric: values[item] for metric, values in scores.items()}, name) for item in range(count)]


def average(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What the tool prints: the mean of each metric and filter."""
    values: dict[str, list[float]] = {}
    for line in lines:
        for metric in line["metrics"]:
            if isinstance(line[metric], int | float):
                values.setdefault(f"{metric},{line['filter']}", []).append(line[metric])
    return {key: fmean(each) for key, each in values.items()}


def make_results(tasks: Mapping[str, Sequence[Mapping[str, Any]]], **more: Any) -> dict[str, Any]:
    """A results file of version 0.4.13."""
    metrics = {task: list(dict.fromkeys(m for line in lines for m in line["metrics"])) for task, lines in tasks.items()}
    document: dict[str, Any] = {
        "results": {task: {"alias": task, **average(lines)} for task, lines in tasks.items()},
        "group_subtasks": {task: [] for task in tasks},
        "configs": {
            task: {
                "task": task,
                "dataset_path": "org/data",
                "test_split": "test",
                "doc_to_text": "Q: {{question}}\nA:",
                "metric_list": [{"metric": m, "aggregation": "mean", "higher_is_better": True} for m in metrics[task]],
                "num_fewshot": 3,
                "repeats": 1,
            }
            for task in tasks
        },
        "versions": dict.fromkeys(tasks, 2.0),
        "n-shot": dict.fromkeys(tasks, 3),
        "higher_is_better": {task: dict.fromkeys(names, True) for task, names in metrics.items()},
        "n-samples": {
            task: dict.fromkeys(("original", "effective"), len({line["doc_id"] for line in lines}))
            for task, lines in tasks.items()
        },
        "config": {"model": "hf", "model_args": "pretrained=org/m,revision=step1000,dtype=float16", "limit": None,
                   "bootstrap_iters": 100, "random_seed": 0, "numpy_seed": 1234, "torch_seed": 1234,
                   "fewshot_seed": 1234},
        "date": 1767323045.25,
        "lm_eval_version": "0.4.13",
        "task_hashes": {
            task: sha("".join(line["doc_hash"] + line["prompt_hash"] + line["target_hash"] for line in lines))
            for task, lines in tasks.items()
        },
        "model_source": "hf",
        "model_name": "org/m",
    }  # fmt: skip
    document.update(more)
    return document


def write_run(
    folder: Path, tasks: Mapping[str, Sequence[Mapping[str, Any]]], results: Any = None, stamp: str = STAMP
) -> Path:
    """Write a run as the tool does; `results` is what its results file holds, if not what the samples give."""
    folder.mkdir(parents=True, exist_ok=True)
    document = make_results(tasks) if results is None else results
    (folder / f"results_{stamp}.json").write_text(json.dumps(document, indent=2, ensure_ascii=False))
    for task, lines in tasks.items():
        write_lines(folder / f"samples_{task}_{stamp}.jsonl", lines)
    return folder


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path
