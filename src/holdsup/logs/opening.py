"""From the paths that a user names to one table of scores: logs are found, read, checked against their own means."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.columns import OpenTable, open_tables
from holdsup.columns.limits import MOST_FILES
from holdsup.columns.sources import find_sources
from holdsup.columns.typed import ROLES, hold_table
from holdsup.errors import ReadError, list_names
from holdsup.logs.aggregates import check_means
from holdsup.logs.audit import audit_logs
from holdsup.logs.contract import NEEDED, Found, Reader, TaskLog
from holdsup.logs.naming import Placed, place
from holdsup.logs.registry import find_readers
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution

ENDINGS = (".eval", ".json", ".jsonl", ".ndjson", ".gz", ".db", ".sqlite", ".sqlite3", ".parquet", ".log")
UNSEEN = ("content", "prompt")  # columns that pair items, and are no part of the scores


@dataclass(frozen=True, slots=True)
class Opened:
    """Tables, and what is to be said about how they were read."""

    tables: list[OpenTable]
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class _Given:
    """A path that the user named, and what lies there."""

    path: str
    logs: tuple[Found, ...]
    unread: int  # files there that are no part of a log


def open_data(data: Any, *, readers: Iterable[str] = (), progress: Progress = no_progress) -> Opened:
    """Return the tables that `data` stands for; paths may be of logs, which are found by their content.

    `readers` are modules with a reader of the user's own.
    """
    named = list(readers)
    paths = _list_paths(data, own=bool(named))
    if paths is None:
        return Opened(open_tables(data, progress=progress))
    known = find_readers(named)
    given = [_look(path, known) for path in paths]
    found = [(each.path, log) for each in given for log in each.logs]
    if not found:
        return Opened(open_tables(data, progress=progress))
    logs = list(_read(found, {reader.name: reader for reader in known}, progress))
    checked = check_means(log for _, log in logs)
    placed, decided = place(logs)
    cautions = [_say_what(placed, checked), *_say_unread(given), *decided]
    cautions.extend(caution for each in placed for caution in each.log.cautions)
    table = hold_table(_name(paths), "logs", combine(placed))
    others = [table for each in given if not each.logs for table in open_tables(each.path, progress=progress)]
    return Opened([table, *others], (*cautions, *audit_logs(placed)))


def _list_paths(data: Any, *, own: bool) -> list[str] | None:
    """Return the paths, if all of the data are paths and one of them may be of a log."""
    paths = [data] if isinstance(data, str | Path) else data
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(each, str | Path) for each in paths):
        return None
    text = [str(each) for each in paths]
    local = [each for each in text if each != "-" and "://" not in each]
    likely = any(own or each.lower().endswith(ENDINGS) or not Path(each).is_file() for each in local)
    return text if likely and len(local) == len(text) else None


def _look(path: str, readers: Sequence[Reader]) -> _Given:
    """Return the logs in a folder and all below it, or in the files of a pattern."""
    folders = _list_folders(path)
    logs: list[Found] = []
    unread = 0
    for folder, files in folders.items():
        left = list(files)
        for reader in readers:
            if left:
                logs.extend(found := list(reader.recognise(folder, tuple(left))))
                claimed = {file for log in found for file in log.files}
                left = [file for file in left if file not in claimed]
        unread += len(left)
    return _Given(path, tuple(logs), unread)


def _list_folders(path: str) -> dict[Path, list[Path]]:
    """Return the files at a path, by folder; hidden ones and links that lead out of it are passed over."""
    root = Path(path)
    if not root.is_dir():
        files = [source.path for source in find_sources(path) if source.path is not None]
    else:
        inside = root.resolve()
        files = []
        for file in sorted(root.rglob("*")):
            hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
            if not hidden and file.is_file() and (not file.is_symlink() or file.resolve().is_relative_to(inside)):
                files.append(file)
            if len(files) > MOST_FILES:
                raise ReadError(f"{path} holds more than {MOST_FILES:,} files: name the folder of the logs alone")
    found: dict[Path, list[Path]] = {}
    for file in files:
        found.setdefault(file.parent, []).append(file)
    return found


def _read(
    found: Sequence[tuple[str, Found]], readers: dict[str, Reader], progress: Progress
) -> Iterator[tuple[str, TaskLog]]:
    for i, (given, log) in enumerate(found):
        progress(i, len(found), f"reading {log.name}")
        for each in readers[log.reader].read(log):
            _check_rows(each)
            about = (replace(c, about="data") if c.about == "claim" else c for c in each.cautions)
            yield given, replace(each, cautions=tuple(about))
    progress(len(found), len(found), "read")


def _check_rows(log: TaskLog) -> None:
    """Refuse rows that break the contract: they would be scores of nothing."""
    if missing := [name for name in NEEDED if name not in log.rows.column_names]:
        raise ReadError(f"the reader of {log.name} gives no column {list_names(missing)}")
    if not len(log.rows):
        raise ReadError(f"{log.name} holds no sample of {log.task or 'any task'}: nothing was evaluated yet")
    for name in ("item", "metric"):
        if log.rows[name].null_count:
            raise ReadError(f"the reader of {log.name} gives rows without {name}")


def combine(placed: Sequence[Placed]) -> pa.Table:
    """Return all logs as one table that states the roles of its columns."""
    again = any(each.again for each in placed)
    parts = [_widen(each, again=again) for each in placed]
    kinds: dict[str, pa.DataType] = {}
    for part in parts:
        for column in part.schema:
            known = kinds.setdefault(column.name, column.type)
            if pa.types.is_null(known):
                kinds[column.name] = column.type
            elif column.type != known and not pa.types.is_null(column.type):
                kinds[column.name] = pa.string()
    schema = pa.schema(list(kinds.items()))
    table = pa.concat_tables([_cast(part, schema) for part in parts])
    there = set(table.column_names)
    roles = {role: column for role, column in _ROLES.items() if column in there}
    lists = {
        "facets": list(dict.fromkeys(name for each in placed for name in each.facets)),
        "lower": sorted({name for each in placed for name in each.log.lower_is_better}),
        "costs": sorted({name for each in placed for name in each.log.costs}),
    }
    stated = {**roles, **{name: values for name, values in lists.items() if values}}
    return table.replace_schema_metadata({ROLES: json.dumps(stated)})


_ROLES = {
    "score": "score", "system": "system", "item": "item", "dataset": "task", "metric": "metric", "status": "status",
    "sample": "sample",
}  # fmt: skip


def _widen(each: Placed, *, again: bool) -> pa.Table:
    """Return the rows of one log with its system, task, facets and, where it is one of several, its number."""
    rows = each.log.rows.drop_columns([name for name in UNSEEN if name in each.log.rows.column_names])
    first = {"system": each.system, **({"task": each.log.task} if each.log.task else {}), **each.facets}
    if clash := [name for name in first if name in rows.column_names]:
        rows = rows.rename_columns([f"{name} of item" if name in clash else name for name in rows.column_names])
    for name, value in reversed(first.items()):
        rows = rows.add_column(0, name, pa.repeat(pa.scalar(value, pa.string()), len(rows)))
    if again:
        number = str(each.again + 1)
        if "sample" in rows.column_names:
            told = pc.binary_join_element_wise(number, pc.fill_null(rows["sample"], "1"), ".")
            return rows.set_column(rows.column_names.index("sample"), "sample", told)
        return rows.append_column("sample", pa.repeat(pa.scalar(number, pa.string()), len(rows)))
    return rows


def _cast(part: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        part[column.name].cast(column.type) if column.name in part.column_names else pa.nulls(len(part), column.type)
        for column in schema
    ]
    return pa.table(columns, schema=schema)


def _name(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {format_counted(len(paths) - 1, 'other place')}"


def _say_what(placed: Sequence[Placed], checked: int) -> Caution:
    """Return which tools' logs were read, and that their own means were found again."""
    tools = Counter(each.log.tool for each in placed)
    said = ", ".join(f"{format_counted(count, 'log')} of {tool}" for tool, count in sorted(tools.items()))
    same = f" {format_counted(checked, 'mean')} that the tool printed {'is' if checked == 1 else 'are'} ours, too."
    return Caution(
        code="logs-read", severity="note", about="data", count=len(placed),
        message=f"Read {said}.{same if checked else ' The tool printed no mean to check ours against.'}",
    )  # fmt: skip


def _say_unread(given: Iterable[_Given]) -> Iterator[Caution]:
    if count := sum(each.unread for each in given if each.logs):
        message = f"{format_counted(count, 'other file')} there {'is' if count == 1 else 'are'} no part of a log."
        yield Caution(code="unread-files", severity="note", about="data", count=count, message=message)
