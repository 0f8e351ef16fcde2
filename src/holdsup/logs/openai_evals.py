"""OpenAI evals: the events of a run, one a line, between what was asked and the final report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError
from holdsup.logs.aggregates import TOLERANCE, mean_by_metric
from holdsup.logs.contract import Found, Rows, TaskLog, describe
from holdsup.logs.files import digest, flat, parse, read_head, read_lines
from holdsup.logs.laid_out import FileReader
from holdsup.results.cautions import Caution

SPEC, ENDINGS = b'{"spec":', (".jsonl", ".jsonl.gz", ".json", ".log")
MATCH, ACCURACY = "match", "accuracy"


def _claim(path: Path) -> Iterator[Path]:
    if path.name.endswith(ENDINGS) and read_head(path).lstrip().replace(b'" :', b'":').startswith(SPEC):
        yield path


def _logs(found: Found) -> Iterator[TaskLog]:
    path = found.files[0]
    spec: dict[str, Any] = {}
    report: dict[str, Any] | None = None
    rows, tries, failed = Rows("sample", "status"), Counter[tuple[str, str]](), dict[str, str]()
    for event in _read_events(path):
        if "spec" in event:
            spec = event["spec"]
        elif "final_report" in event:
            report = event["final_report"]
        elif event.get("type") == "error":
            failed[str(event["sample_id"])] = str(event["data"].get("type") or "error")
        else:
            for metric, score in _find_scores(event):
                key = (str(event["sample_id"]), metric)
                tries[key] += 1
                rows.add(item=key[0], metric=metric, score=score, sample=str(tries[key]), status="ok")
    first = next((metric for _, metric in tries), ACCURACY)
    for item, error in failed.items():
        if (item, first) not in tries:
            rows.add(item=item, metric=first, score=None, sample="1", status=error)
    table = rows.table()
    settings = spec["run_config"]
    means, cautions = _compare_report(report or {}, mean_by_metric(table), tries)
    yield TaskLog(
        name=str(path),
        tool="OpenAI evals",
        system=flat(spec["completion_fns"]),
        task=spec["eval_name"],
        rows=table,
        identity=str(spec.get("run_id") or ""),
        facets=describe([("seed", settings.get("seed"))]),
        conditions=describe(
            [
                ("limit", settings.get("max_samples")),
                ("settings of the eval", digest(settings.get("eval_spec", {}).get("args") or {})),
            ]
        ),
        means=means,
        finished=report is not None,
        cautions=tuple(cautions),
    )


def _read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a log; the last one may be cut off, as the final report is missing then."""
    broken: ReadError | None = None
    for number, line in read_lines(path):
        if broken is not None:
            raise broken
        try:
            event = parse(line, f"line {number} of {path}")
        except ReadError as error:
            broken = error
            continue
        if isinstance(event, dict):
            yield event


def _find_scores(event: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield what an event says of a sample: whether the answer matches, or numbers that the eval recorded."""
    data = event.get("data")
    if event.get("type") == MATCH and isinstance(data, dict):
        yield ACCURACY, float(data["correct"])
    elif event.get("type") == "metrics" and isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, bool | int | float):
                yield name, float(value)


def _compare_report(
    report: dict[str, Any], ours: dict[str, float], tries: Counter[tuple[str, str]]
) -> tuple[dict[str, float], list[Caution]]:
    """Return the means of a report to be held to, and what is to be said of others that are called alike.

    The accuracy of matches is their mean in every eval that uses the library's own; an eval of one's own reports under
    the names of its metrics whatever it computes.
    """
    means, other = {}, []
    for metric, mean in ours.items():
        printed = report.get(metric)
        if isinstance(printed, int | float) and len({n for (_, name), n in tries.items() if name == metric}) == 1:
            if metric == ACCURACY or math.isclose(printed, mean, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                means[metric] = float(printed)
            else:
                other.append(f"{metric} = {printed:.6g}, and the mean over samples is {mean:.6g}")
    said = "; ".join(other)
    message = f"The final report has {said}: it is another summary than the mean, which is what is compared here."
    return means, [Caution(code="other-summary", severity="note", message=message)] if other else []


READER = FileReader("openai_evals", "OpenAI evals", _claim, _logs)
