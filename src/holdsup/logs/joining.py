"""Logs that were found, as one table of scores: read, held to their own means, put in their places, audited."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.columns.typed import ROLES, TypedTable, hold_table
from holdsup.errors import ReadError
from holdsup.logs.aggregates import check_means
from holdsup.logs.audit import audit_logs
from holdsup.logs.contract import NO_ITEMS, Found, Reader, TaskLog
from holdsup.logs.naming import Placed, place
from holdsup.logs.reading import read_log
from holdsup.progress import Progress
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results.cautions import Caution
from holdsup.results.direction_names import find_direction

UNSEEN = ("content", "prompt")  # columns that pair items, and are no part of the scores
SAME = ("sample", "error")  # columns that are no part of the table where they say the same of all rows
Named = tuple[tuple[str, TaskLog], ...]  # logs, each with the path that it was named by
_ROLES = {
    "score": "score", "system": "system", "item": "item", "dataset": "task", "metric": "metric", "status": "status",
    "sample": "sample",
}  # fmt: skip


def join_logs(
    found: Sequence[tuple[str, Found]], readers: Mapping[str, Reader], name: str, progress: Progress
) -> tuple[TypedTable, tuple[Caution, ...], Named]:
    """Return one table of all logs, each with the path that it was named by, what is to be said of them, and them."""
    places = {str(Path(given)) for given, _ in found} - {"."}
    folder = f"{places.pop()}{os.sep}" if len(places) == 1 else None
    try:
        unread: list[str] = []
        logs = list(_read(found, readers, unread, progress))
        checked = check_means(log for _, log in logs)
        placed, decided = place(logs)
    except ReadError as error:
        raise ReadError(_shorten(str(error), folder)) from error
    cautions = [_say_what(placed, checked), *_say_unread(unread), *_together(decided)]
    cautions.extend(_together(caution for each in placed for caution in each.log.cautions))
    said = (*cautions, *audit_logs(placed))
    table = hold_table(name, "logs", combine(placed))
    return table, tuple(replace(each, message=_shorten(each.message, folder)) for each in said), tuple(logs)


def audit_together(*several: Named) -> Iterator[Caution]:
    """Yield what is doubtful in logs that were read apart, taken together."""
    placed, _ = place([log for logs in several for log in logs])
    return audit_logs(placed)


def _shorten(message: str, folder: str | None) -> str:
    """Return a message in which logs are called by their paths within the one folder that was given."""
    return message.replace(folder, "") if folder else message


def _read(
    found: Sequence[tuple[str, Found]], readers: Mapping[str, Reader], unread: list[str], progress: Progress
) -> Iterator[tuple[str, TaskLog]]:
    """Yield the logs; of one among several that cannot be read, `unread` gets why."""
    last: ReadError | None = None
    for i, (given, log) in enumerate(found):
        progress(i, len(found), f"reading {log.name}")
        try:
            read = read_log(readers[log.reader], log)
        except ReadError as error:
            last = error
            unread.append(str(error))
            continue
        for each in read:
            about = (replace(c, about="data") if c.about == "claim" else c for c in each.cautions)
            yield given, replace(each, cautions=tuple(about))
    if last is not None and len(unread) == len(found):
        raise (
            last if len(found) == 1 else ReadError(f"none of {len(found):,} logs could be read; the first: {unread[0]}")
        )
    progress(len(found), len(found), "read")


def _say_unread(unread: Sequence[str]) -> Iterator[Caution]:
    if unread:
        which = (
            "One log could not be read" if len(unread) == 1 else f"{len(unread):,} logs could not be read; the first"
        )
        yield Caution(code="unread-log", about="data", count=len(unread), message=f"{which}: {unread[0]}.")


def _together(cautions: Iterable[Caution]) -> Iterator[Caution]:
    """Yield what readers noticed, the first of each kind where several logs give it."""
    kinds: dict[tuple[str, str, str], list[Caution]] = defaultdict(list)
    for caution in cautions:
        kinds[caution.code, caution.severity, caution.about].append(caution)
    for first, *more in kinds.values():
        if more:
            said = f"{first.message.rstrip('.')}. The same is true of {format_counted(len(more), 'other')}."
            count = sum(each.count for each in (first, *more))
            yield replace(first, message=said, count=count)
        else:
            yield first


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
    table = table.drop_columns([name for name in SAME if name in table.column_names and _says_nothing(table[name])])
    if pc.all(pc.equal(table["item"], NO_ITEMS)).as_py():
        table = table.drop_columns(["item"])
    there = set(table.column_names)
    roles = {role: column for role, column in _ROLES.items() if column in there}
    lists = {
        "facets": list(dict.fromkeys(name for each in placed for name in each.facets)),
        "higher": sorted({name for each in placed for name in _find_higher(each.log)}),
        "lower": sorted({name for each in placed for name in each.log.lower_is_better}),
        "costs": sorted({name for each in placed for name in each.log.costs}),
    }
    stated = {**roles, **{name: values for name, values in lists.items() if values}}
    return table.replace_schema_metadata({ROLES: json.dumps(stated)})


def _says_nothing(column: pa.ChunkedArray) -> bool:
    return len(pc.unique(column)) == 1


def _find_higher(log: TaskLog) -> set[str]:
    """Return the metrics of which tools take a higher one as better: all that neither the log nor a name turns."""
    named = set(pc.unique(log.rows["metric"]).to_pylist()) - log.lower_is_better
    return {name for name in named if name in log.higher_is_better or find_direction(name) != "lower"}


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


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _say_what(placed: Sequence[Placed], checked: int) -> Caution:
    """Return which tools' logs were read, and that their own means were found again."""
    tools: dict[str, list[str]] = defaultdict(list)
    for each in placed:
        name, version = each.log.release
        tools[name].append(version)
    said = [
        format_counted(len(all_), f"{tool}{f' {all_[0]}' * (len(set(all_)) == 1 and bool(all_[0]))} log")
        for tool, all_ in sorted(tools.items())
    ]
    every = "Both" if checked == 2 else f"All {format_count(checked)}"
    means = "The mean matches the one" if checked == 1 else f"{every} means match the ones"
    told_by = "the tool" if len(tools) == 1 else "the tools"
    same = f"{means} {told_by} reported." if checked else f"There was no mean of {told_by} to check the scores against."
    return Caution(
        code="logs-read", severity="note", about="data", count=len(placed), message=f"Read {_and(said)}. {same}"
    )
