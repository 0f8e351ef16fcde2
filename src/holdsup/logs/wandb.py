"""Weights & Biases: runs from the files that it keeps of them, and from tables that were exported.

A table from its pages has settings and metrics side by side and does not say which is which: a column of numbers is a
metric if its name says so. A table that was made with its API keeps them apart, as two columns of Python's dicts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError
from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.files import read_head
from holdsup.logs.tabular import API, PAGE, find_tool, is_delimited, read_header, read_table
from holdsup.logs.tracked import Run, logs_of_runs
from holdsup.logs.wandb_records import GROUP, IDENT, MAGIC, NAME, PROJECT, read_run
from holdsup.results.direction_names import find_direction, is_neutral

ABOUT = PAGE | {"Notes", "User", "Tags", "Sweep", "Group", "Job Type", "ID", "Description", "Hostname", "Commit",
                "GitHub", "GPU Type", "GPU Count", "CPU Count", "OS", "Python version", "Command", "Updated",
                "Relative Time (Wall)", "Relative Time (Process)", "Host", "Agent", "Start Time", "End Time"}  # fmt: skip
OF_EVALUATION = re.compile(r"(?:.*[/_.])?(?:eval|val|valid|validation|dev|test)[/_.].+")
UNKNOWN = re.compile(r"(?<=[:,\[] )-?(?:nan|inf)(?=[,}\]])")  # numbers that Python writes and does not read
ENDED = "finished"


@dataclass(frozen=True)
class _Wandb:
    name: str = field(default="wandb", init=False)
    title: str = field(default="Weights & Biases", init=False)

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield the files of runs, and exported tables."""
        for path in files:
            if is_delimited(path):
                mine = find_tool(path) == self.name
            else:
                mine = path.suffix == ".wandb" and read_head(path, len(MAGIC)) == MAGIC
            if mine:
                yield Found(self.name, str(path), (path,))

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield the run of a file, or those of a table."""
        path = found.files[0]
        runs = list(_read_export(path)) if is_delimited(path) else [_read_file(path)]
        yield from logs_of_runs(found.name, self.title, runs, "log one with wandb.log")


def _read_file(path: Path) -> Run:
    kept = read_run(path)
    about = kept.about
    return Run(
        about.get(NAME) or about.get(IDENT) or path.stem, about.get(GROUP) or about.get(PROJECT) or "uncategorized",
        _settings(kept.config), _metrics(kept.summary), about.get(IDENT, ""), kept.ended,
    )  # fmt: skip


def _read_export(path: Path) -> Iterator[Run]:
    records = [{name: cell for name, cell in each.items() if cell is not None} for each in read_table(path)]
    if API <= read_header(path):
        for each in records:
            config, summary = (_literal(each.get(name, "{}"), f"{name} of {path}") for name in ("config", "summary"))
            yield Run(
                each.get("name", ""), each.get("project") or path.stem, _settings(config), _metrics(summary),
                each.get("id", ""), each.get("state", ENDED) == ENDED,
            )  # fmt: skip
        return
    names = list(dict.fromkeys(name for each in records for name in each if name not in ABOUT))
    metrics = [name for name in names if _is_metric(name, [each[name] for each in records if name in each])]
    if not metrics:
        raise ReadError(
            f"{path} doesn't say which of its columns is a score: name it, as in --score {(names or ['COLUMN'])[-1]!r}"
        )
    for each in records:
        yield Run(
            each.get("Name", ""), each.get("Group") or path.stem,
            {name: each[name] for name in names if name in each and name not in metrics},
            {name: float(each[name]) for name in metrics if name in each},
            each.get("ID", ""), each.get("State", ENDED) == ENDED,
        )  # fmt: skip


def _is_metric(name: str, cells: list[str]) -> bool:
    """Return whether a column of an export is a metric: by its name, and as it holds numbers."""
    if not (OF_EVALUATION.fullmatch(name) or find_direction(name) or is_neutral(name)):
        return False
    try:
        return all(isinstance(float(cell), float) for cell in cells)
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


READER = _Wandb()
