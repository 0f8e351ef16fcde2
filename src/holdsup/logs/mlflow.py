"""MLflow: the last value of each metric of each run, from its database or its folders (mlruns)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdsup.errors import ReadError
from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.laid_out import FileReader, find_below, holds_marks
from holdsup.logs.sqlite import holds_tables, read_only
from holdsup.logs.tracked import Run, logs_of_runs

SUFFIXES = (".db", ".sqlite", ".sqlite3")
TABLES = {"experiments", "runs", "params", "latest_metrics"}
ABOUT, MARKS = "meta.yaml", (b"artifact_uri:", b"lifecycle_stage:")
PARAMETERS, METRICS, TAGS = "params", "metrics", "tags"
ENDED = ("FINISHED", "3")  # a folder has the number
LONGEST = 2**16  # bytes of a parameter or a meta.yaml; MLflow allows 6,000


def _claim(path: Path) -> Iterator[Path]:
    if path.suffix in SUFFIXES and holds_tables(path, TABLES):
        yield path
    elif path.name == ABOUT and holds_marks(path, MARKS):
        yield path
        for part in (PARAMETERS, METRICS, TAGS):
            yield from find_below(path.parent / part, "**/*")


def _logs(found: Found) -> list[TaskLog]:
    path = found.files[0]
    runs = [_read_folder(path.parent)] if path.name == ABOUT else list(_read_database(path))
    return logs_of_runs(found.name, "MLflow", runs, "log one with mlflow.log_metric")


def _read_database(path: Path) -> Iterator[Run]:
    with read_only(path, TABLES) as base:
        experiments = dict(base.execute("SELECT experiment_id, name FROM experiments").fetchall())
        parameters, metrics = dict[str, dict[str, str]](), dict[str, dict[str, float]]()
        for run, key, value in base.execute("SELECT run_uuid, key, value FROM params"):
            parameters.setdefault(run, {})[key] = value
        for run, key, value, is_nan in base.execute("SELECT run_uuid, key, value, is_nan FROM latest_metrics"):
            metrics.setdefault(run, {})[key] = float("nan") if is_nan else float(value)
        runs = base.execute("SELECT run_uuid, name, status, lifecycle_stage, experiment_id FROM runs").fetchall()
    for run, name, status, stage, experiment in runs:
        if stage == "active":
            yield Run(
                name or run, str(experiments.get(experiment, experiment)), parameters.get(run, {}),
                metrics.get(run, {}), run, status in ENDED,
            )  # fmt: skip


def _read_folder(folder: Path) -> Run:
    about, experiment = _read_about(folder / ABOUT), _read_about(folder.parent / ABOUT)
    if about.get("lifecycle_stage") == "deleted":
        raise ReadError(f"{folder} is a run that was deleted")
    parameters = {name: _read_text(file) for name, file in _list_values(folder / PARAMETERS)}
    metrics = {name: _last_value(file) for name, file in _list_values(folder / METRICS)}
    identity = about.get("run_uuid") or about["run_id"]
    return Run(
        about.get("run_name") or identity, experiment.get("name") or folder.absolute().parent.name, parameters,
        metrics, identity, about.get("status") in ENDED,
    )  # fmt: skip


def _list_values(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder; a metric whose name holds slashes lies in folders below."""
    for file in find_below(folder, "**/*"):
        yield file.relative_to(folder).as_posix(), file


def _last_value(file: Path) -> float:
    """Return the value that was logged last at the highest step: each line has a time, a value and a step."""
    lines = [line.split() for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    latest = max(lines, key=lambda line: (int(line[2]) if len(line) > 2 else 0, int(line[0])))
    return float(latest[1])


def _read_about(path: Path) -> dict[str, str]:
    """Return the plain `name: value` lines of a file that MLflow writes as YAML; nothing else of YAML is read."""
    about: dict[str, str] = {}
    if path.is_file():
        for line in _read_text(path).splitlines():
            name, colon, value = line.partition(":")
            if colon and not line[0].isspace():
                about[name] = value.strip().strip("'\"")
    return about


def _read_text(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as text:
        return text.read(LONGEST).strip()


READER = FileReader("mlflow", "MLflow", _claim, _logs, folder_of=ABOUT)
