"""SWE-bench: which instances a system resolved, from the report of a run or from the reports of its instances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError
from holdsup.logs.contract import Found, Rows, TaskLog
from holdsup.logs.files import digest, read_document
from holdsup.logs.laid_out import FileReader, find_below, holds_marks, laid_out

TASK, METRIC = "SWE-bench", "resolved"
RUN = (b'"resolved_instances"', b'"completed_instances"')
INSTANCE, PATCH, STARTED = "report.json", (b'"patch_exists"', b'"resolved"'), ("run_instance.log", "patch.diff")
LOGS = "logs"  # the folder of a submission to the leaderboard that holds those of its instances
NO_SYSTEM = ("", "output", "report", "results")  # what reports by other harnesses are called, in a folder of the system
DEPTH = 3  # folders between the instances of a run and where its report is written
OUTCOMES = ("resolved", "unresolved", "empty_patch", "error")  # the lists of a report


def _claim(path: Path) -> Iterator[Path]:
    """Yield the report of a run, or of a run of which only the reports of instances are there all of these."""
    if path.name == INSTANCE and holds_marks(path, PATCH):
        run = path.parent.parent
        reports = find_below(run, f"*/{INSTANCE}")
        if reports and reports[0].parent.name == path.parent.name:  # the first stands for all
            yield from (*_find_report(run), *reports)
    elif path.suffix == ".json" and holds_marks(path, RUN):
        yield path


def _logs(found: Found) -> Iterator[TaskLog]:
    path = found.files[0]
    yield _read_instances(found) if path.name == INSTANCE else _read_run(path, read_document(path))


def _find_report(run: Path) -> Iterator[Path]:
    """Yield the report of a run of whose instances this is the folder: logs/run_evaluation/<run>/<model>."""
    if len(run.parents) > DEPTH and (report := run.parents[DEPTH] / f"{run.name}.{run.parent.name}.json").is_file():
        yield report


def _read_run(path: Path, report: dict[str, Any]) -> TaskLog:
    """Return the log of a report of a run; what was never submitted is no item of it."""
    outcomes: dict[str, str] = {}
    for outcome in OUTCOMES:
        listed = report.get(f"{outcome}_ids") or []
        count = report.get(f"{outcome}_instances", len(listed))
        if not isinstance(listed, list) or not isinstance(count, int):
            raise TypeError  # whoever reads says that this is not the tool's
        if twice := [item for item in listed if outcomes.get(item) == METRIC]:
            raise ReadError(f"{path} lists {twice[0]!r} as resolved and as {outcome}: it was changed")
        if count != len(listed):
            raise ReadError(f"{path} counts {count} {outcome} instances and lists {len(listed)}: it was changed")
        outcomes |= dict.fromkeys(listed, outcome)
    failed = {*(report.get("error_ids") or ()), *(report.get("infra_failure_ids") or ())}
    system = path.name.removesuffix(".json").rpartition(".")[0]  # <model>.<run>.json
    return _log(
        str(path), path.absolute().parent.name if system in NO_SYSTEM else system, outcomes, failed,
        means={METRIC: report["resolved_instances"] / len(outcomes)} if outcomes else {},
        planned=report.get("total_instances"),
    )  # fmt: skip


def _read_instances(found: Found) -> TaskLog:
    """Return the log of a run by the reports of its instances; an instance without one failed to be evaluated."""
    run = found.files[0].parent.parent
    outcomes = {path.parent.name: _find_outcome(path) for path in found.files}
    begun = {path.parent.name for name in STARTED for path in find_below(run, f"*/{name}")}
    outcomes |= dict.fromkeys(sorted(begun - set(outcomes)), "error")
    place = run.absolute()
    system = place.parent.name if place.name == LOGS else place.name
    failed = {item for item, outcome in outcomes.items() if outcome == "error"}
    return _log(str(run), system, outcomes, failed)


def _find_outcome(path: Path) -> str:
    if not path.stat().st_size:  # as the tool takes it
        return "error"
    with laid_out(path, "SWE-bench"):
        document = read_document(path)
        report = document[path.parent.name] if len(document) != 1 else document[next(iter(document))]
        if report["resolved"]:
            return "resolved"
        if report.get("infra_failure"):
            return "error"
        return "unresolved" if report.get("patch_exists", True) else "empty_patch"


def _log(name: str, system: str, outcomes: dict[str, str], failed: set[str], **more: Any) -> TaskLog:
    rows = Rows("error", "outcome")
    for item, outcome in outcomes.items():
        error = "the evaluation failed" if item in failed else "-"
        score = float(outcome == "resolved")
        rows.add(item=item, metric=METRIC, score=score, error=error, outcome=outcome.replace("_", " "))
    return TaskLog(
        name=name, tool="SWE-bench", system=system, task=TASK, rows=rows.table(), identity=digest(outcomes), **more
    )  # fmt: skip


READER = FileReader("swebench", "SWE-bench", _claim, _logs)
