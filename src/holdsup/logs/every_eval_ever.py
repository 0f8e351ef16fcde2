"""every_eval_ever: one line of JSON for each answer of a model, with the aggregates in a file beside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import ReadError
from holdsup.logs.aggregates import TOLERANCE
from holdsup.logs.contract import Found, TaskLog, count_before, describe
from holdsup.logs.files import clean, digest, parse, read_document, read_head
from holdsup.logs.pieces import tables_of_lines
from holdsup.results.cautions import Caution

SAMPLES = "_samples.jsonl"  # how the name of a file of answers ends; its aggregates are in ".json"
NEEDED = ("evaluation_id", "model_id", "evaluation_name", "sample_id", "evaluation")
KNOWN = ("0.2.", "0.3.", "instance_level_eval_0.2.", "instance_level_eval_0.3.")  # versions of the schema
AGGREGATE = (b'"evaluation_results"', b'"evaluation_id"', b'"model_info"')
MEANS = frozenset({"accuracy", "exact_match", "pass_rate", "mean"})  # kinds of metrics that are means of answers
EPOCH = "epoch"  # where the converter of Inspect's logs says which of several answers a line is
COSTS = {
    "input_tokens": ("token_usage", 1.0),
    "output_tokens": ("token_usage", 1.0),
    "total_tokens": ("token_usage", 1.0),
    "latency_ms": ("performance", 1e-3),
    "generation_time_ms": ("performance", 1e-3),
}
MOST_LABELS, LONGEST_LABEL = 30, 100
BREAK = "\x1f"  # between texts of which a digest is made
_TEXT = pa.string()
_GROUP = ["evaluation_id", "model_id", "evaluation_name"]
_TEXTS = (*_GROUP, "evaluation_result_id", "sample_id", "interaction_type", "error")


@dataclass(frozen=True)
class _EveryEvalEver:
    name: str = field(default="every_eval_ever", init=False)
    title: str = field(default="every_eval_ever", init=False)

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield files of answers, and aggregates that have none."""
        answers = [path for path in files if _first_record(path) is not None]
        aggregates = [path for path in files if path.suffix == ".json" and _is_aggregate(path)]
        for path in answers:
            beside = path.with_name(path.name.removesuffix(SAMPLES).removesuffix(".jsonl") + ".json")
            own = (beside,) if beside.is_file() and _is_aggregate(beside) else ()
            aggregates = [other for other in aggregates if other not in own]
            yield Found(self.name, str(path), (path, *own))
        for path in aggregates:
            if not path.with_name(path.stem + SAMPLES).is_file():
                yield Found(self.name, str(path), (path,))

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield the answers of each model in each evaluation."""
        path, *beside = found.files
        first = _first_record(path)
        if first is None:
            raise ReadError(
                f"{path} has aggregates but no answers to single items, so nothing can be paired: "
                f"put {path.stem}{SAMPLES} next to it, or convert the log again with its instances"
            )
        labels = _labels(path)
        answers = pa.concat_tables([_flatten(piece, labels, path) for piece in tables_of_lines(path, _schema(labels))])
        results = _results(beside[0]) if beside else {}
        cautions = tuple(_caution_version(str(first.get("schema_version") or "")))
        groups = answers.group_by(_GROUP, use_threads=False).aggregate([]).select(_GROUP).to_pylist()
        for group in groups:
            own = answers
            for name, value in group.items():
                own = own.filter(pc.equal(own[name], value))
            yield _log(found.name, group, own.drop_columns(_GROUP), labels, results, cautions)


def _first_record(path: Path) -> dict[str, Any] | None:
    """Return the first line of a file of answers; None where it is none."""
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        return None
    head = read_head(path).lstrip()
    line, _, _ = head.partition(b"\n")
    if not all(f'"{name}"'.encode() in head for name in NEEDED[:4]):
        return None
    try:
        record = parse(line, str(path))
    except ReadError:
        # One line alone may be longer than the head: a conversation.
        return {} if line == head and line.startswith(b"{") else None
    return record if isinstance(record, dict) and all(name in record for name in NEEDED) else None


def _is_aggregate(path: Path) -> bool:
    head = read_head(path)
    return all(mark in head for mark in AGGREGATE) and b'"$schema"' not in head  # which describes such files


def _labels(path: Path) -> list[str]:
    """Return the names of what the first answers say about themselves that is short: subject, difficulty, seed."""
    counts: Counter[str] = Counter()
    for line in read_head(path).split(b"\n")[:-1]:
        record = parse(line, str(path)) if line.strip() else None
        about = record.get("metadata") if isinstance(record, dict) else None
        for name, value in about.items() if isinstance(about, dict) else ():
            counts[name] += isinstance(value, str) and len(value) <= LONGEST_LABEL
    taken = {*_GROUP, EPOCH, "item", "metric", "score", "sample", "status", "error", "content", "prompt"}
    kept = [name for name in counts if counts[name] and name not in taken and not name.endswith("_hash")]
    return kept[:MOST_LABELS]


def _schema(labels: list[str]) -> pa.Schema:
    numbers = {
        group: pa.struct([(n, pa.float64()) for n, (g, _) in COSTS.items() if g == group])
        for group in ("token_usage", "performance")
    }
    return pa.schema(
        [
            *((name, _TEXT) for name in _TEXTS),
            ("input", pa.struct([("raw", _TEXT), ("formatted", _TEXT), ("reference", pa.list_(_TEXT))])),
            ("evaluation", pa.struct([("score", pa.float64())])),
            *numbers.items(),
            ("metadata", pa.struct([(name, _TEXT) for name in (EPOCH, *labels)])),
        ]
    )


def _flatten(piece: pa.Table | list[dict[str, Any]], labels: list[str], path: Path) -> pa.Table:
    """Return a row for each answer, with digests in place of its texts."""
    if not isinstance(piece, pa.Table):
        # What is text in the schema may be a number in a file: an id, an epoch.
        piece = pa.Table.from_pylist([_as_text(record) for record in piece], _schema(labels))
    for name in (*_GROUP, "sample_id"):
        if piece[name].null_count:
            raise ReadError(f"{path} has a line without {name}, which every_eval_ever's schema requires")
    piece = piece.combine_chunks()
    given = zip(
        *(pc.struct_field(piece["input"], part).to_pylist() for part in ("raw", "reference", "formatted")), strict=True
    )
    digests = [
        (
            digest(BREAK.join((raw or "", *(each or "" for each in reference or ())))),
            digest((raw if sent is None else sent) or ""),
        )
        for raw, reference, sent in given
    ]
    columns = {
        **{name: piece[name] for name in _GROUP},
        "result": piece["evaluation_result_id"],
        "interaction": piece["interaction_type"],
        "item": piece["sample_id"],
        "score": pc.struct_field(piece["evaluation"], "score"),
        "sample": pc.struct_field(piece["metadata"], EPOCH),
        "error": pa.array(["-" if not text else _first_line(text) for text in piece["error"].to_pylist()], _TEXT),
        "content": pa.array([content for content, _ in digests], _TEXT),
        "prompt": pa.array([prompt for _, prompt in digests], _TEXT),
        **{name: pc.multiply(pc.struct_field(piece[group], name), unit) for name, (group, unit) in COSTS.items()},
        **{name: pc.struct_field(piece["metadata"], name) for name in labels},
    }
    return pa.table(columns)


def _as_text(record: dict[str, Any]) -> dict[str, Any]:
    about = record.get("metadata") or {}
    given = record.get("input") or {}
    reference = given.get("reference")
    return {
        **record,
        **{name: _clean(record.get(name)) for name in _TEXTS},
        "input": {
            **{part: _clean(given.get(part)) for part in ("raw", "formatted")},
            "reference": [_clean(each) for each in (reference if isinstance(reference, list) else [reference])],
        },
        "metadata": {name: _clean(value) for name, value in about.items()},
    }


def _clean(value: object) -> str | None:
    return None if value is None else clean(str(value))


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:LONGEST_LABEL]


def _results(path: Path) -> dict[str, dict[str, Any]]:
    """Return what the aggregates say of each result, by its id and by the name of its evaluation."""
    document = read_document(path)
    run = (document.get("source_metadata") or {}).get("source_type") == "evaluation_run"
    rows = (document.get("detailed_evaluation_results") or {}).get("total_rows")
    found: dict[str, dict[str, Any]] = {}
    listed = document.get("evaluation_results") or []
    names = Counter(str(each.get("evaluation_name")) for each in listed)
    for each in listed:
        config, details = each.get("metric_config") or {}, each.get("score_details") or {}
        name = str(each.get("evaluation_name"))
        about = {
            "metric": config.get("metric_name") or config.get("metric_id"),
            "kind": config.get("metric_kind") or config.get("metric_id"),
            "lower": config.get("lower_is_better") is True,
            "score": details.get("score"),
            "percent": config.get("metric_unit") == "percent",
            "run": run,
            "rows": rows,
            "generation": (each.get("generation_config") or {}).get("generation_args") or {},
            "library": document.get("eval_library") or {},
        }
        if each.get("evaluation_result_id"):
            found[str(each["evaluation_result_id"])] = about
        if names[name] == 1:
            found.setdefault(name, about)
    return found


def _log(
    name: str,
    group: dict[str, str],
    answers: pa.Table,
    labels: list[str],
    results: dict[str, dict[str, Any]],
    cautions: tuple[Caution, ...],
) -> TaskLog:
    task = group["evaluation_name"]
    ids = pc.unique(answers["result"]).to_pylist()
    about = {result: results.get(str(result) if result is not None else task, {}) for result in ids}
    metrics = {result: _metric(result, task, about[result]) for result in ids}
    if len(set(metrics.values())) < len(metrics):
        metrics = {result: str(result) for result in ids}
    answers, repeated = _number(answers)
    means: dict[str, float] = {}
    tables, lower, found = [], set[str](), list(cautions)
    costs = frozenset(cost.replace("_ms", "_s") for cost in COSTS)
    for result, metric in metrics.items():
        own = answers.filter(pc.is_null(answers["result"]) if result is None else pc.equal(answers["result"], result))
        tables.append(_rows(own, metric, own["score"], labels))
        lower |= {metric} if about[result].get("lower") else set()
        found += _check(own, metric, about[result], means)
    once = _once(answers)
    for cost in COSTS:
        own = once.filter(once[cost].is_valid())
        tables += [_rows(own, cost.replace("_ms", "_s"), own[cost], labels)] * bool(own.num_rows)
    if repeated:
        found.append(
            Caution(
                code="repeats-by-order",
                severity="note",
                message=f"{repeated} answers have the id of another. They count as further answers to the same item.",
            )
        )
    settings = next(iter(about.values()))
    library = settings.get("library", {})
    return TaskLog(
        name=name,
        tool=" ".join(str(library[key]) for key in ("name", "version") if key in library) or "every_eval_ever",
        system=group["model_id"],
        task=task,
        rows=pa.concat_tables(tables),
        identity=f"{group['evaluation_id']}/{task}",
        facets=describe([("temperature", settings.get("generation", {}).get("temperature"))]),
        conditions=describe(
            [
                ("interaction", pc.unique(answers["interaction"])[0].as_py()),
                ("max tokens", settings.get("generation", {}).get("max_tokens")),
                ("prompt template", _digest_of(settings.get("generation", {}).get("prompt_template"))),
            ]
        ),
        means=means,
        lower_is_better=costs | lower,
        costs=costs,
        cautions=tuple(found),
    )


def _metric(result: str | None, task: str, about: dict[str, Any]) -> str:
    """Return what a score is called: as the aggregates say, or as the id of the result does without the task."""
    if about.get("metric"):
        return str(about["metric"])
    if result is None or result == task:
        return "score"
    return result.removeprefix(task).lstrip("./: ") or "score"


def _number(answers: pa.Table) -> tuple[pa.Table, int]:
    """Tell answers to one item apart where the file does not: by their order. Return how many there were."""
    key = ["item", "result", "sample"]
    if answers.group_by(key, use_threads=False).aggregate([]).num_rows == answers.num_rows:
        return answers, 0
    rows = list(zip(*(answers[name].to_pylist() for name in key), strict=True))
    before = count_before(rows)
    samples = [f"{row[-1]}.{n + 1}" if row[-1] is not None else str(n + 1) for row, n in zip(rows, before, strict=True)]
    place = answers.schema.get_field_index("sample")
    return answers.set_column(place, "sample", pa.array(samples, _TEXT)), sum(map(bool, before))


def _once(answers: pa.Table) -> pa.Table:
    """Return each answer once: what it cost does not depend on how many metrics score it."""
    numbered = answers.append_column("place", pa.array(range(answers.num_rows)))
    first = numbered.group_by(["item", "sample"], use_threads=False).aggregate([("place", "min")])
    return answers.take(first["place_min"])


def _rows(answers: pa.Table, metric: str, score: pa.ChunkedArray, labels: list[str]) -> pa.Table:
    return pa.table(
        {
            "item": answers["item"],
            "metric": pa.array([metric] * len(score), _TEXT),
            "score": score,
            "status": pc.if_else(pc.is_finite(score).fill_null(False), "ok", "no score in the log"),
            **{name: answers[name] for name in ("sample", "error", "content", "prompt", *labels)},
        }
    )


def _check(answers: pa.Table, metric: str, about: dict[str, Any], means: dict[str, float]) -> Iterator[Caution]:
    """Keep the aggregate where it is the mean of these answers; yield a caution where it is something else."""
    printed = about.get("score")
    if not isinstance(printed, int | float) or isinstance(printed, bool):
        return
    items = answers.group_by("item", use_threads=False).aggregate([("score", "mean")])
    mean = pc.mean(items["score_mean"]).as_py()
    top = pc.max(answers["score"]).as_py()
    if about["percent"] and top is not None and top <= 1:
        printed = printed / 100
    if mean is not None and math.isclose(mean, printed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
        means[metric] = float(printed)
    elif about["run"] and about["kind"] in MEANS and about["rows"] in (None, answers.num_rows):
        means[metric] = float(printed)  # it should have been: whoever checks the means says so
    else:
        yield Caution(
            code="aggregate-not-of-answers",
            message=f"{metric} is {printed} in the aggregates, but the mean of the answers is {mean}: it was computed "
            "in another way, or from other answers.",
        )


def _digest_of(text: object) -> str | None:
    return digest(text) if text else None


def _caution_version(version: str) -> Iterator[Caution]:
    if version and not version.startswith(KNOWN):
        yield Caution(
            code="unknown-log-version",
            message=f"These answers follow version {version!r} of the schema; versions 0.2 and 0.3 are known.",
        )


READER = _EveryEvalEver()
