"""Logs of Inspect (`inspect_ai`): `.eval` archives and `.json` documents, finished or not, of all its versions."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError, list_names
from holdsup.logs.archives import Archive
from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.documents import walk, walk_file
from holdsup.logs.files import flat, mapping, read_head
from holdsup.logs.inspect_scores import USAGE, Scores, number_of
from holdsup.logs.inspect_settings import count_epochs, find_conditions, find_facets, is_vitals, name_system
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution

NEWEST = 3  # version of the log format; 2 is what Inspect writes, of 3 there are logs of a trial in 2025
ARCHIVE = re.compile(rb"PK\x03\x04.{26}(_journal/|samples/|summaries\.json|reductions\.json|header\.json)", re.DOTALL)
HEADER, START, SUMMARIES, REDUCTIONS = "header.json", "_journal/start.json", "summaries.json", "reductions.json"
INSIDE = re.compile(rb'"eval"\s*:\s*\{')
MEMBER = re.compile(r'\s*[{,]\s*"(\w+)"\s*:\s*')
JOURNAL = re.compile(r"_journal/summaries/(\d+)\.json")
WHOLE = re.compile(r"samples/(?:[^/]+\.json|[^/]+/sample\.json)")  # the second: of a sample that is kept in pieces
# What is needed of a sample. Texts, events and messages are many times as long.
NEEDED = frozenset(
    ("id", "epoch", "input", "target", "scores", "score", "error", "limit", "metadata", "model_usage", *USAGE[2:])
) | {"scorer", "reducer", "samples"}  # ... and of a reduction
IDENTITY = ("task_id", "task", "model")  # what attempts at one evaluation share
ROUNDED = 5.1e-5  # vitals gives percentages with four decimals
MEANS = ("accuracy", "mean")  # the metrics of Inspect that are means over items
SPREADS = ("stderr", "std", "var", "bootstrap_stderr", "ci")  # ... and those that say how sure a mean is


@dataclass(frozen=True, slots=True)
class InspectReader:
    """Inspect's logs: scorers are metrics, epochs are samples."""

    name: str = "inspect"
    title: str = "Inspect"

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield the logs among the files: of one evaluation the last attempt, as it was scored last.

        A log that was retried, converted or scored again lies beside the first one; the files of all go with it.
        """
        evaluations: dict[object, list[tuple[datetime, str, Path]]] = defaultdict(list)
        for path in files:
            if (spec := _recognise(path)) is not None:
                again = spec.get("task_id") and not is_vitals(spec)
                key = tuple(str(spec.get(name)) for name in IDENTITY) if again else path
                evaluations[key].append((_when(spec), str(spec.get("eval_id") or spec.get("run_id")), path))
        for logs in evaluations.values():
            last = max(logs)[1]
            attempt = [path for _, evaluation, path in logs if evaluation == last]
            best = max(attempt, key=_count_scores) if len(attempt) > 1 else attempt[0]
            yield Found(self.name, str(best), (best, *(path for *_, path in logs if path != best)))

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield the one task that a log holds."""
        path = found.files[0]
        header: dict[str, Any] = {}
        scores = folded = None
        for key, value in _parts(path):
            if key == "samples" and value is not None:
                scores = scores or _scores(path, header)
                scores.add(value)
            elif key == "reductions" and value is not None:
                folded = folded or _scores(path, header)
                if mapping(value).get("reducer") in (None, "mean"):
                    folded.add_reduction(str(mapping(value).get("scorer")), mapping(value).get("samples"))
            else:
                header[key] = value
        yield _task_log(path, header, scores, folded, found.files[1:])


READER = InspectReader()


def _recognise(path: Path) -> Mapping[str, Any] | None:
    """Return what a log says of its evaluation, as far as its beginning holds it; None for other files."""
    if path.name.endswith(".eval"):
        if not ARCHIVE.match(read_head(path, 64)):
            return None
        try:
            with Archive(path) as archive:
                names = archive.names
                return mapping(mapping(archive.document(HEADER if HEADER in names else START)).get("eval"))
        except (ReadError, KeyError):
            return {}  # reading says what is wrong
    if not path.name.endswith((".json", ".json.gz")):
        return None
    head = read_head(path)
    return _spec_in(head.decode("utf-8", "replace")) if INSIDE.search(head) else None


def _count_scores(path: Path) -> int:
    """Return how many aggregates a log has: scoring it again adds some."""
    try:
        for key, value in _parts(path):
            if key in ("results", "samples"):
                return len(_results({key: value}))
    except ReadError:
        return -1
    return 0


def _when(spec: Mapping[str, Any]) -> datetime:
    """Return when an evaluation began."""
    try:
        when = datetime.fromisoformat(str(spec.get("created")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _spec_in(head: str) -> Mapping[str, Any] | None:
    """Return the first members of `eval` in the beginning of a document: where it was cut, those before the cut."""
    decoder, at = json.JSONDecoder(), len(head) - len(head.lstrip("\ufeff \t\r\n"))
    spec: dict[str, Any] = {}
    inside = False
    while member := MEMBER.match(head, at):
        key, at = member[1], member.end()
        if key == "eval" and not inside and head[at : at + 1] == "{":
            inside = True
            continue
        try:
            value, at = decoder.raw_decode(head, at)
        except (ValueError, RecursionError):
            break
        if inside:
            spec[key] = value
    return spec if {"run_id", "created", "task"} <= spec.keys() else None


def _parts(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the members of a log: samples (or their summaries) and reductions one by one."""
    if not path.name.endswith(".eval"):
        yield from walk_file(path, lists=("samples", "reductions"), wanted=NEEDED)
        return
    with Archive(path) as archive:
        names = archive.names
        start = next((name for name in (HEADER, START) if name in names), None)
        if start is None:
            raise ReadError(f"{path} holds neither {HEADER} nor {START}: this is not a complete Inspect log")
        yield from mapping(archive.document(start)).items()
        numbers = sorted(int(found[1]) for name in names if (found := JOURNAL.fullmatch(name)))
        summaries = [SUMMARIES] if SUMMARIES in names else [f"_journal/summaries/{number}.json" for number in numbers]
        samples = 0
        for name in summaries or [name for name in names if WHOLE.fullmatch(name)]:
            for sample in _elements(archive, name) if summaries else [archive.document(name)]:
                samples += 1
                yield "samples", sample
        if REDUCTIONS in names and not samples:
            yield from (("reductions", reduction) for reduction in _elements(archive, REDUCTIONS))


def _elements(archive: Archive, name: str) -> Iterator[Any]:
    with archive.open(name) as member:
        yield from (element for _, element in walk(member, f"{name} in {archive.path}"))


def _scores(path: Path, header: Mapping[str, Any]) -> Scores:
    return Scores(str(path), system=name_system(header), scorer=(*_scorers(header), "score")[0])


def _results(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tool's aggregates: an entry a scorer (or a part of its value) and way to reduce epochs."""
    results = mapping(header.get("results"))
    if scorer := mapping(results.get("scorer")):  # version 1
        return [{**scorer, "metrics": results.get("metrics")}]
    scores = results.get("scores")
    return [mapping(score) for score in scores] if isinstance(scores, list) else []


def _scorers(header: Mapping[str, Any]) -> list[str]:
    """Return the names of the scorers, of which old logs tell only in their results."""
    scorers = mapping(header.get("eval")).get("scorers")
    told = [mapping(scorer) for scorer in scorers] if isinstance(scorers, list) else _results(header)
    return list(dict.fromkeys(str(each.get("scorer") or each.get("name")) for each in told))


def _task_log(
    path: Path, header: Mapping[str, Any], scores: Scores | None, folded: Scores | None, others: tuple[Path, ...]
) -> TaskLog:
    spec = mapping(header.get("eval"))
    if not spec.get("task"):
        raise ReadError(f"{path} does not say what was evaluated: this is not a complete Inspect log")
    version = header.get("version", NEWEST)
    if version not in range(1, NEWEST + 1):
        raise ReadError(
            f"{path} has version {version!r} of Inspect's log format; versions up to {NEWEST} are known: update holdsup"
        )
    cautions = list(_cautions(header, others))
    if not scores and folded:
        scores = folded
        cautions.append(_folded(header))
    if not scores and _results(header):
        raise ReadError(
            f"{path} has results but no samples, so nothing can be paired: "
            "run the evaluation again without --no-log-samples, or name the log that has the samples"
        )
    scores = scores or _scores(path, header)
    means, unlike, unknown = _means(header, scores)
    if doubts := tuple(_doubts(header, scores, means)):
        means = {}
    means, decided = scores.settle(means)
    cautions += [*doubts, *decided, *_reduced(header, unlike), *_left_out(unknown), *scores.limited()]
    tool = mapping(spec.get("packages")).get("inspect_ai")
    return TaskLog(
        name=str(path),
        tool="vitals" if is_vitals(spec) else f"Inspect {tool}" if tool else "Inspect",
        system=name_system(header),
        task=str(spec["task"]),
        rows=scores.table(_scorers(header), epochs=count_epochs(header) > 1),
        identity=str(spec.get("eval_id") or flat((spec.get("run_id"), spec.get("task_id"), spec.get("model")))),
        facets=find_facets(header),
        conditions=find_conditions(header),
        means=means,
        lower_is_better=frozenset(USAGE) - scores.metrics().keys(),
        costs=frozenset(USAGE) - scores.metrics().keys(),
        planned=_planned(spec),
        finished=header.get("status") == "success",
        cautions=tuple(cautions),
    )


def _planned(spec: Mapping[str, Any]) -> int | None:
    dataset = mapping(spec.get("dataset"))
    if isinstance(ids := dataset.get("sample_ids"), list):
        return len(ids)
    count, limit = dataset.get("samples"), mapping(spec.get("config")).get("limit")
    if isinstance(count, int) and isinstance(limit, int):
        return min(count, limit)
    return count if isinstance(count, int) and limit is None else None


def _means(header: Mapping[str, Any], scores: Scores) -> tuple[dict[str, float], set[str], set[str]]:
    """Return the tool's means over items by metric, how it reduced epochs otherwise, and its metrics that are no means.

    An entry without a reducer is of a log with one epoch, of an old log, which took means, or is over all samples as
    if they were items; the last is a mean over items only if no item lacks an epoch, and so it is no check.
    """
    known = scores.metrics()
    means: dict[str, float] = {}
    unlike: set[str] = set()
    others: set[str] = set()
    named = {str(score.get("name")) for score in _results(header) if score.get("reducer")}
    config = mapping(mapping(header.get("eval")).get("config"))
    for entry in _results(header):
        name, reducer = str(entry.get("name")), entry.get("reducer")
        scorer = str(entry.get("scorer") or name)
        pooled = not reducer and count_epochs(header) > 1 and (name in named or config.get("epochs_reducer") == [])
        metric = name if name in known and name == scorer else f"{scorer}/{name}"
        for key, value in mapping(entry.get("metrics")).items():
            said = value if isinstance(value, dict) else {"name": key, "value": value}
            kind = str(said.get("name", key)).removeprefix("inspect_ai/")
            settings = mapping(said.get("params") or said.get("options"))
            if said.get("group") or kind not in MEANS or "to_float" in settings:
                if not said.get("group") and kind not in SPREADS:
                    others.add(f"{kind} of {metric if metric in known else scorer}")
            elif reducer not in (None, "mean"):
                unlike.add(str(reducer))
            elif metric in known and not pooled and (number := number_of(said.get("value"))) is not None:
                means.setdefault(metric, number)
    return {metric: mean for metric, mean in means.items() if math.isfinite(mean)}, unlike, others


def _doubts(header: Mapping[str, Any], scores: Scores, means: Mapping[str, float]) -> Iterator[Caution]:
    """Yield why the tool's means are not those of the samples: there are fewer of these, or it rounds."""
    completed = mapping(header.get("results")).get("completed_samples")
    if isinstance(completed, int) and len(scores) < completed:
        yield Caution(
            code="results-over-more-samples",
            message=f"The log has {format_counted(len(scores), 'sample')}, but its results are over {completed:,}, so "
            "the means that it reports can't be checked.",
            advice="Use the whole log.",
        )
    elif means and is_vitals(mapping(header.get("eval"))):
        told = [
            f"{metric} is {mean:g}% there and {100 * scores.mean(metric):.6g}% here" for metric, mean in means.items()
        ]
        off = any(abs(100 * scores.mean(metric) - mean) > ROUNDED for metric, mean in means.items())
        yield Caution(
            code="rounded-means",
            severity="warning" if off else "note",
            message=f"vitals reports rounded percentages: {'; '.join(told)}.",
        )


def _reduced(header: Mapping[str, Any], unlike: set[str]) -> Iterator[Caution]:
    if unlike:
        yield Caution(
            code="epochs-reduced-otherwise",
            message=f"Items are scored by {flat(sorted(unlike))} of their {count_epochs(header)} epochs in Inspect. "
            "Here an item's score is the mean of its epochs, so means differ from those that Inspect shows.",
        )


def _left_out(others: set[str]) -> Iterator[Caution]:
    if others:
        yield Caution(
            code="corpus-metrics-left-out",
            severity="note",
            message=f"The log also reports {list_names(sorted(others))}, which holdsup can't check: they are not known "
            "to be means over items.",
        )


def _folded(header: Mapping[str, Any]) -> Caution:
    several = count_epochs(header) > 1
    return Caution(
        code="scores-without-samples",
        severity="warning" if several else "note",
        message="The log has no samples (--no-log-samples), so the scores are those that Inspect kept for each item"
        f"{f': the means over {count_epochs(header)} epochs' if several else ''}.",
        advice="Log the samples to see how much epochs differ and what failed." if several else "",
    )


def _cautions(header: Mapping[str, Any], others: tuple[Path, ...]) -> Iterator[Caution]:
    if header.get("invalidated"):
        yield Caution(
            code="samples-invalidated",
            message="Some samples of the log are marked as invalid. Their scores count here, as they do in Inspect.",
            advice="Run them again (`inspect eval-retry`) before you compare.",
        )
    if header.get("config_updates"):
        yield Caution(
            code="settings-changed",
            message="Settings were changed during the evaluation. The ones shown here are from its start.",
        )
    if others:
        yield Caution(
            code="other-logs-of-an-evaluation",
            severity="note",
            message=f"The folder has {format_counted(len(others), 'other log')} of the same evaluation (an "
            "earlier attempt, a copy, or one from before it was scored again). Only the last one counts.",
            count=len(others),
            examples=tuple(path.name for path in others[:EXAMPLES]),
        )
