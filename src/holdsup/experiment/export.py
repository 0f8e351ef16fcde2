"""What a store holds about a plan, as a table of scores: the one that `compare`, `variance` and `rank` take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from holdsup.errors import MetricError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.plan import Label, Plan, Task
from holdsup.experiment.sources import import_from
from holdsup.experiment.store import Recorded, Store
from holdsup.experiment.training import (
    COUNT,
    Scored,
    check_metric,
    find_metric,
    find_split,
    score_counts,
    score_predictions,
)
from holdsup.metrics import Metric, make_metric
from holdsup.metrics.catalogue import write_metric
from holdsup.metrics.scorers import divert_output
from holdsup.scores.roles import RESPLIT, USUAL, Roles, is_replicate
from holdsup.scores.writing import state_roles
from holdsup.splits import make_splitter

Run = tuple[tuple[str, Label], ...]  # the labels of a run


def export_scores(
    plan: Plan, store: Store, *, metric: Mapping[str, Any] | None = None, per: Literal["item", "run"] | None = None
) -> pa.Table:
    """Return the scores of a plan's tasks: dataset, system, run, item, metric, score, status, facets, reason.

    The metadata of the table state what its columns are, so that `read_scores` needs to be told nothing. Items of a
    corpus that has groups have a column `cluster` besides: `compare` then takes groups for what is new.
    Folds that together test each item once are one run: its score is that of all their items. What has no score (the
    task failed, or was not run yet) is there all the same, with a status and a reason.

    Parameters
    ----------
    plan : whose tasks; its corpora must be there
    store : where their results are
    metric : name and options of a metric, the plan's own by default; predictions are kept, so any will do
    per : "item" for a row per item and run, "run" for a row per run; by default items where the score of a run is the
        mean over its items
    """
    asked = dict(metric or plan.description["metric"])
    by_item = _is_by_item(make_metric(**asked), per)
    import_from(plan.folder)
    tasks = {task.id: task for task in plan.tasks}
    run_of = _find_runs(plan)
    order = {task: number for number, task in enumerate(tasks)}
    corpora = {task.labels["dataset"]: read_corpus(task.arguments["data"]) for task in plan.tasks}
    with divert_output():  # the metric may be a function of the user's
        _check(make_metric(**asked), corpora)
        found = rows_by_item(tasks, store, asked) if by_item else rows_by_run(tasks, store, asked, run_of)
        rows = sorted(found, key=lambda row: order[row.task])  # stable: items stay in their order
    table = _assemble(rows, run_of, write_metric(asked))
    clusters = _find_clusters(corpora)
    if clusters and by_item:
        datasets = table["dataset"].to_pylist()
        names = [clusters[place] for place in zip(datasets, table["item"].to_pylist(), strict=True)]
        table = table.add_column(table.column_names.index("item") + 1, "cluster", pa.array(names))
    return _state_roles(table, [name for name, _ in next(iter(run_of.values())) if name not in ("dataset", "system")])


class Row(NamedTuple):
    """A score of an item, or of all items of a run (None), which one of its tasks stands for; or why there is none.

    Its status is ok, undefined (the metric has no score), failed, damaged (in the store) or waiting.
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


def _state_roles(table: pa.Table, facets: Sequence[str]) -> pa.Table:
    named: dict[str, Any] = {role: role for role in ("score", *USUAL) if role in table.column_names}
    return state_roles(table, Roles(**named, facets=tuple(facets), replicates=tuple(filter(is_replicate, facets))))


def _is_by_item(metric: Metric, per: str | None) -> bool:
    if per == "item" and not metric.is_mean:
        raise MetricError(
            f"the {metric.name} of a run is not the mean over its items, so these have no score: use --per run"
        )
    return metric.is_mean and per != "run"


def _check(metric: Metric, corpora: Mapping[Label, Corpus]) -> None:
    """Refuse a metric that the targets of a corpus rule out."""
    for dataset, corpus in corpora.items():
        try:
            check_metric(metric, corpus.targets, corpus.items)
        except MetricError as error:
            raise MetricError(f"{dataset}: {error}") from error


def _find_runs(plan: Plan) -> dict[str, Run]:
    """Return the run that each task is part of."""
    replications = {task.id: _count_replications(task) for task in plan.tasks}
    several = any(replications.values())
    found = {}
    for task in plan.tasks:
        labels = {name: value for name, value in task.labels.items() if name != "split"}
        found[task.id] = tuple({**labels, RESPLIT: replications[task.id] + 1}.items() if several else labels.items())
    return found


def _count_replications(task: Task) -> int:
    """Return how many times each item has been tested before the split of a task."""
    options = dict(task.arguments["split"])
    index: int = options.pop("index")
    promises = make_splitter(**options).promises
    folds = promises.per_partition // (promises.times_tested or promises.per_partition)
    return index // folds


def _find_clusters(corpora: Mapping[Label, Corpus]) -> dict[tuple[Label, str], str]:
    """Return the group of each item of each dataset, its own where it has none; nothing where no dataset has groups."""
    if all(corpus.groups is None for corpus in corpora.values()):
        return {}
    return {
        (dataset, item): str(group)
        for dataset, corpus in corpora.items()
        for item, group in zip(corpus.items, corpus.groups or corpus.items, strict=True)
    }


def _assemble(rows: Sequence[Row], run_of: Mapping[str, Run], metric: str) -> pa.Table:
    runs = list(dict.fromkeys(run_of.values()))
    number = {run: place for place, run in enumerate(runs)}
    place = pa.array([number[run_of[row.task]] for row in rows], pa.int64())
    labels = {name: _column([dict(run)[name] for run in runs]).take(place) for name, _ in runs[0]}
    items = pa.array([row.item for row in rows], pa.string())
    return pa.table(
        {
            "dataset": labels.pop("dataset"),
            "system": labels.pop("system"),
            "run": pa.array([_name_run(run) for run in runs]).take(place),
            **({"item": items} if items.null_count < len(items) else {}),
            "metric": pa.repeat(metric, len(rows)),
            "score": pa.array([row.score for row in rows], pa.float64()),
            "status": pa.array([row.status for row in rows], pa.string()),
            **labels,
            "reason": pa.array([row.reason for row in rows], pa.string()),
        }
    )


def _column(values: list[Any]) -> pa.Array:
    """Return the values of a label; as text where they are of several kinds."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        values = [float(value) for value in values]
    elif len(kinds) > 1:
        values = [str(value) for value in values]
    return pa.array(values)


def _name_run(run: Run) -> str:
    """Return what tells a run from the others of its system; texts that could be misread are quoted.

    >>> _name_run((("dataset", "d"), ("system", "A"), ("seed", 1), ("rate", 0.1)))
    'seed=1 rate=0.1'
    >>> _name_run((("system", "A"), ("words", "all, or none")))
    'words="all, or none"'
    """
    parts = [f"{name}={_quote(value)}" for name, value in run if name not in ("dataset", "system")]
    return " ".join(parts) or "1"


def _quote(value: Label) -> str:
    is_plain = not isinstance(value, str) or re.fullmatch(r"[^\s\"=]+", value)
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)
