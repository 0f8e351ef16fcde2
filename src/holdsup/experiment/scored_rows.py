"""Results of a store as rows of scores: one for each item that was tested, or one for each run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from holdsup.experiment.corpora import read_corpus
from holdsup.experiment.plan import Task
from holdsup.experiment.scoring import Scored, find_metric, score_counts, score_predictions
from holdsup.experiment.store import Recorded, Store
from holdsup.experiment.training import COUNT, find_split
from holdsup.metrics import Metric

__all__ = ["Row", "rows_by_item", "rows_by_run"]


class Row(NamedTuple):
    """A score, or why there is none.

    Attributes
    ----------
    task : id of the task that it is from; of a run, one of its tasks
    item : what was scored; None for all items of a run
    score : None where `status` is not "ok"
    status : ok, undefined (the metric has no score), failed, damaged (in the store) or waiting
    reason : why there is no score
    """

    task: str
    item: str | None
    score: float | None
    status: str
    reason: str | None


def rows_by_item(tasks: Mapping[str, Task], store: Store, asked: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row for each item that a task tests, or should have tested."""
    done = set()
    for recorded in store.results(tasks):
        done.add(recorded.task)
        metric = find_metric(tasks[recorded.task].arguments["data"], asked)
        items = _items(recorded)
        counts, problem = _count(recorded, metric, asked)
        if counts is None:
            yield from (Row(recorded.task, item, None, "undefined", problem) for item in items)
            continue
        for item, score, sums in zip(items, metric.score(counts).tolist(), counts, strict=True):
            reason = None if np.isfinite(score) else metric.why_undefined(sums)
            yield _row(recorded.task, item, Scored(None if reason else score, reason))
    for task, status, reason in _unfinished(tasks, store, done):
        arguments = tasks[task].arguments
        names = read_corpus(arguments["data"]).items
        yield from (Row(task, names[i], None, status, reason) for i in find_split(arguments).test)


def rows_by_run(
    tasks: Mapping[str, Task], store: Store, asked: Mapping[str, Any], run_of: Mapping[str, Any]
) -> Iterator[Row]:
    """Yield a row for each run: the score of all items that its tasks test, none if one of them has no result."""
    parts: dict[Any, list[Any]] = {}
    last: dict[Any, Task] = {}
    without: dict[Any, Row] = {}
    done = set()
    for recorded in store.results(tasks):
        done.add(recorded.task)
        run, task = run_of[recorded.task], tasks[recorded.task]
        last[run] = task
        metric = find_metric(task.arguments["data"], asked)
        if not metric.columns:
            parts.setdefault(run, []).append(
                [_read(recorded, "target"), _read(recorded, "prediction"), _items(recorded)]
            )
            continue
        counts, problem = _count(recorded, metric, asked)
        if counts is None:
            without[run] = Row(task.id, None, None, "undefined", problem)
        else:
            parts.setdefault(run, []).append(counts.sum(axis=0))
    for name, status, reason in _unfinished(tasks, store, done):
        without[run_of[name]] = Row(name, None, None, status, reason)
    yield from without.values()
    for run, task in last.items():
        if run not in without:
            yield _row(task.id, None, _score_parts(find_metric(task.arguments["data"], asked), parts[run]))


def _score_parts(metric: Metric, parts: Sequence[Any]) -> Scored:
    """Return the score of a run: of its summed counts, or of all its predictions."""
    if metric.columns:
        return score_counts(metric, np.sum(parts, axis=0))
    targets, predictions, items = ([value for part in parts for value in part[what]] for what in range(3))
    return score_predictions(metric, targets, predictions, items)[0]


def _row(task: str, item: str | None, scored: Scored) -> Row:
    return Row(task, item, scored.score, "ok" if scored.reason is None else "undefined", scored.reason)


def _count(recorded: Recorded, metric: Metric, asked: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Return the counts of a result's items, those that are kept if they are of the metric asked for; or why none."""
    items = recorded.tables["items"]
    kept = [f"{COUNT}{name}" for name in metric.columns]
    known = recorded.values["metric"] == asked and metric.keeps_counts
    if known and set(kept) <= set(items.column_names):
        return np.column_stack([items[name].to_numpy() for name in kept]), None
    pairs = _read(recorded, "target"), _read(recorded, "prediction")
    scored, counts = score_predictions(metric, *pairs, _items(recorded))
    dense: Any = getattr(counts, "toarray", lambda: counts)()
    return dense, scored.reason


def _read(recorded: Recorded, column: str) -> list[Any]:
    """Return targets or predictions, which are kept as JSON text."""
    texts = recorded.tables["items"][column].combine_chunks()
    values = [json.loads(text) for text in texts.dictionary.to_pylist()]
    return [values[code] for code in texts.indices.to_pylist()]


def _items(recorded: Recorded) -> list[str]:
    items: list[str] = recorded.tables["items"]["item"].to_pylist()
    return items


def _unfinished(tasks: Mapping[str, Task], store: Store, done: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the tasks without a result, each with its status and the reason."""
    left = [task for task in tasks if task not in done]
    failures = {failure.task: failure for failure in store.failures(set(left))}
    damaged = {damage.task: damage.reason for damage in store.damage if damage.place == "results"}
    for task in left:
        if task in failures and failures[task].final:
            yield task, "failed", " ".join(f"{failures[task].error}: {failures[task].message}".split())
        elif task in damaged:
            yield task, "damaged", f"its result in the store is damaged: {damaged[task]}"
        else:
            yield task, "waiting", "it was not run yet"
