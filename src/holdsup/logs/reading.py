"""A log read by its reader, and held to the contract: what is not as the tool writes it is said in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdsup.errors import ReadError, list_names
from holdsup.logs.contract import NEEDED, Found, Reader, TaskLog
from holdsup.logs.files import clean
from holdsup.logs.laid_out import laid_out, read_number


def read_log(reader: Reader, found: Found) -> list[TaskLog]:
    """Return what a log holds, a task at a time."""
    with laid_out(found.name, reader.title):
        return [_settle(each, reader.title) for each in reader.read(found)]


def _settle(log: TaskLog, title: str) -> TaskLog:
    """Return a log whose names are text and whose numbers are numbers, whatever the file had in their places."""
    _check_rows(log)

    def text(value: Any, what: str) -> str:
        if isinstance(value, str | int | float):
            return clean(str(value))
        raise ReadError(f"{log.name} is not laid out as {title} writes it: its {what} is no text")

    def texts(values: Mapping[str, Any]) -> dict[str, str]:
        return {clean(name): text(value, name) for name, value in values.items()}

    return replace(
        log,
        system=text(log.system, "system"),
        task=None if log.task is None else text(log.task, "task"),
        identity=text(log.identity, "name of a run"),
        facets=texts(log.facets),
        conditions=texts(log.conditions),
        means={name: read_number(mean, f"the mean of {name} in {log.name}") for name, mean in log.means.items()},
        planned=log.planned if isinstance(log.planned, int) else None,
    )


def _check_rows(log: TaskLog) -> None:
    """Refuse rows that break the contract: they would be scores of nothing."""
    if missing := [name for name in NEEDED if name not in log.rows.column_names]:
        raise ReadError(f"the reader of {log.name} gives no column {list_names(missing)}")
    if not len(log.rows):
        raise ReadError(f"{log.name} holds no sample of {log.task or 'any task'}: nothing was evaluated yet")
    for name in ("item", "metric"):
        if log.rows[name].null_count:
            raise ReadError(f"the reader of {log.name} gives rows without {name}")
