"""Weights & Biases: runs from the files that it keeps of them, and from tables that were exported.

A table from its pages has settings and metrics side by side and does not say which is which: the order of its
columns does, or their names. A table that was made with its API keeps them apart, as two columns of Python's dicts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError
from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.files import read_head
from holdsup.logs.laid_out import FileReader
from holdsup.logs.tabular import API, find_tool, is_delimited, read_table
from holdsup.logs.tracked import Run, logs_of_runs
from holdsup.logs.wandb_records import GROUP, IDENT, MAGIC, NAME, PROJECT, read_run
from holdsup.results.direction_names import find_direction, is_neutral

# What a page shows of every run; the first eight stand in this order before the settings, unless the user chose others.
FIRST = ("Name", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep")
ABOUT = {
    *FIRST, "Group", "Job Type", "ID", "Description", "Host", "Hostname", "Commit", "GitHub", "GPU Type", "GPU Count",
    "CPU Count", "OS", "Python version", "Command", "Agent", "Updated", "Start Time", "End Time",
    "Relative Time (Wall)", "Relative Time (Process)",
}  # fmt: skip
OF_EVALUATION = re.compile(r"(?:.*[/_.])?(?:eval|val|valid|validation|dev|test)[/_.].+")
UNKNOWN = re.compile(r"(?<=[:,\[] )-?(?:nan|inf)(?=[,}\]])")  # numbers that Python writes and does not read
FOLDER = re.compile(r"(?:offline-)?run-(\d{8}_\d{6})-.+")
TITLE, ENDED = "Weights & Biases", "finished"


def _claim(path: Path) -> Iterator[Path]:
    """Yield a table, or the file of a run; of a resumed run, which has one in several folders, the last counts."""
    if is_delimited(path) and find_tool(path) == "wandb":
        yield path
    elif path.suffix == ".wandb" and read_head(path, len(MAGIC)) == MAGIC:
        began = FOLDER.fullmatch(path.parent.name)
        others = [each for each in path.parent.parent.glob(f"*/{path.name}") if FOLDER.fullmatch(each.parent.name)]
        times = {each: FOLDER.sub(r"\1", each.parent.name) for each in others}
        if began is None or began[1] == max(times.values()):
            yield from (path, *(each for each in times if began is not None and each != path))


def _logs(found: Found) -> list[TaskLog]:
    path = found.files[0]
    runs = list(_read_export(path)) if is_delimited(path) else [_read_file(path)]
    return logs_of_runs(found.name, TITLE, runs, "log one with wandb.log")


def _read_file(path: Path) -> Run:
    kept = read_run(path)
    about = kept.about
    return Run(
        about.get(NAME) or about.get(IDENT) or path.stem, about.get(GROUP) or about.get(PROJECT) or "uncategorized",
        _settings(kept.config), _metrics(kept.summary), about.get(IDENT, ""), kept.ended,
    )  # fmt: skip


def _read_export(path: Path) -> Iterator[Run]:
    records = read_table(path)
    if not records:
        raise ReadError(f"{path} holds no run: export the table again")
    if set(records[0]) >= API:
        for each in records:
            config, summary = (_literal(each[name] or "{}", f"{name} of {path}") for name in ("config", "summary"))
            yield Run(
                each["name"] or "", each.get("project") or path.stem, _settings(config), _metrics(summary),
                each.get("id") or "", (each.get("state") or ENDED) == ENDED,
            )  # fmt: skip
        return
    settings, metrics = _sort(records)
    if not metrics:
        raise ReadError(f"{path} doesn't say which of its columns is a score: name one with --score COLUMN")
    for each in records:
        yield Run(
            each["Name"] or "", each.get("Group") or path.stem,
            {name: each[name] for name in settings if each[name] is not None},
            {name: float(each[name]) for name in metrics if each[name] is not None},
            each.get("ID") or "", (each.get("State") or ENDED) == ENDED,
        )  # fmt: skip


def _sort(records: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Return which columns of a page's table are settings, and which metrics.

    As the page has them, settings come first and then what was logged, each in alphabetical order: where that begins
    anew the settings end. Where the user chose other columns, those of numbers are metrics that are named like some.
    """
    names = [name for name in records[0] if name not in ABOUT]
    begins = [place for place in range(1, len(names)) if names[place] < names[place - 1]]
    known = tuple(records[0])[: len(FIRST)] == FIRST and len(begins) == 1
    logged = names[begins[0] :] if known else [name for name in names if _is_metric(name)]
    metrics = [name for name in logged if _holds_numbers(each[name] for each in records)]
    return [name for name in names if name not in (logged if known else metrics)], metrics


def _is_metric(name: str) -> bool:
    """Return whether a column is a metric by its name."""
    return bool(OF_EVALUATION.fullmatch(name) or find_direction(name) or is_neutral(name))


def _holds_numbers(cells: Iterable[str | None]) -> bool:
    try:
        return bool([float(cell) for cell in cells if cell is not None])
    except ValueError:
        return False


def _literal(text: str, name: str) -> dict[str, Any]:
    """Return a dict that Python wrote; nothing in it is run."""
    try:
        value = ast.literal_eval(UNKNOWN.sub("'NaN'", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ReadError(f"{name} has a cell that is not a dict of plain values: export the runs again") from error
    if not isinstance(value, dict):
        raise ReadError(f"{name} has a cell that is not a dict: export the runs again")
    return value


def _flatten(held: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what lies in a dict and in those within it; what the tool keeps for itself begins with a line below."""
    for key, value in held.items():
        if isinstance(value, dict) and "_type" not in value:
            yield from _flatten(value, f"{before}{key}.")
        elif not str(key).startswith("_"):
            yield f"{before}{key}", value


def _settings(config: Mapping[str, Any]) -> dict[str, str]:
    named = {name: value for name, value in config.items() if name not in ("_wandb", "wandb_version")}
    return {name: str(value) for name, value in _flatten(named) if value is not None}


def _metrics(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a summary; tables, pictures and texts are none."""
    found = dict(_flatten({name: value for name, value in summary.items() if name != "_wandb"}))
    words = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
    numbers = {name: words.get(value, value) if isinstance(value, str) else value for name, value in found.items()}
    return {name: float(value) for name, value in numbers.items() if isinstance(value, int | float)}


READER = FileReader("wandb", TITLE, _claim, _logs)
