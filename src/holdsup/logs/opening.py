"""From the paths that a user names to one table of scores: logs are found, read, checked against their own means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdsup.columns import OpenTable, open_tables
from holdsup.columns.limits import MOST_FILES
from holdsup.columns.sources import find_sources
from holdsup.errors import ReadError, list_names
from holdsup.logs.contract import Found, Reader, TaskLog
from holdsup.logs.files import read_head
from holdsup.logs.registry import find_readers
from holdsup.logs.tabular import find_tool, is_delimited
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution

ENDINGS = (
    ".eval", ".json", ".jsonl", ".ndjson", ".gz", ".db", ".sqlite", ".sqlite3", ".parquet", ".log", ".journal", ".yaml",
    ".wandb",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Opened:
    """Tables, and what is to be said about how they were read."""

    tables: list[OpenTable]
    cautions: tuple[Caution, ...] = ()
    logs: tuple[tuple[str, TaskLog], ...] = ()  # each with the path that it was named by


@dataclass(frozen=True, slots=True)
class _Given:
    """A path that the user named, and what lies there."""

    path: str
    logs: tuple[Found, ...]
    unread: int  # files there that are no part of a log
    outside: int  # links there that lead out of it
    empty: tuple[str, ...]  # names of files that may have been logs, with nothing in them that can be read


def open_data(
    data: Any, *, readers: Sequence[str] = (), as_table: bool = False, progress: Progress = no_progress
) -> Opened:
    """Return the tables that `data` stands for; paths may be of logs, which are found by their content.

    `readers` are modules with a reader of the user's own. With `as_table`, as where the user names its columns, a
    delimited file is never a log.
    """
    if isinstance(data, Opened):
        return data
    paths = _list_paths(data, own=bool(readers))
    if paths is None or (as_table and all(map(is_delimited, paths))):
        return Opened(open_tables(data, progress=progress))
    known, given = _look_into(paths, readers)
    found = [(each.path, log) for each in given for log in each.logs]
    if not found:
        return Opened(open_tables(data, progress=progress))
    from holdsup.logs.joining import join_logs  # only here: a table needs none of it

    table, cautions, logs = join_logs(found, {reader.name: reader for reader in known}, _name(paths), progress)
    others = [table for each in given if not each.logs for table in open_tables(each.path, progress=progress)]
    return Opened([table, *others], (*cautions, *_say_unread(given)), logs)


def find_log(data: Any) -> str | None:
    """Return the name of the first log among paths, and the tool that wrote it; None where there is none."""
    known, given = _look_into(_list_paths(data, own=False) or (), ())
    titles = {reader.name: reader.title for reader in known}
    return next((f"{log.name} is a log of {titles[log.reader]}" for each in given for log in each.logs), None)


def _look_into(paths: Sequence[str], own: Sequence[str]) -> tuple[Sequence[Reader], list[_Given]]:
    """Return the readers, and what each path has for them; nothing where no file may be a log."""
    folders = {path: _list_folders(path) for path in paths}
    files = (file for lying, _ in folders.values() for several in lying.values() for file in several)
    if not own and not any(_may_be_log(file) for file in files):
        return (), []
    readers = find_readers(own)
    return readers, [_look(path, *folders[path], readers) for path in paths]


def _list_paths(data: Any, *, own: bool) -> list[str] | None:
    """Return the paths, if all of the data are paths and one of them may be of a log."""
    paths = [data] if isinstance(data, str | Path) else data
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(each, str | Path) for each in paths):
        return None
    text = [str(each) for each in paths]
    local = [each for each in text if each != "-" and "://" not in each]
    likely = any(own or _may_be_log(each) or not Path(each).is_file() for each in local)
    return text if likely and len(local) == len(text) else None


def _may_be_log(file: Path | str) -> bool:
    if is_delimited(file):
        return find_tool(Path(file)) is not None
    return str(file).lower().endswith(ENDINGS)


def _look(path: str, folders: dict[Path, list[Path]], outside: int, readers: Sequence[Reader]) -> _Given:
    """Return the logs in a folder and all below it, or in the files of a pattern."""
    logs: list[Found] = []
    claimed: set[Path] = set()  # a log may lie in several folders
    for folder, files in folders.items():
        for reader in readers:
            if left := tuple(file for file in files if file not in claimed):
                logs.extend(found := list(reader.recognise(folder, left)))
                claimed.update(file for log in found for file in log.files)
    unread = [file for files in folders.values() for file in files if file not in claimed]
    empty = tuple(file.name for file in unread if _may_be_log(file) and not read_head(file, 1)) if logs else ()
    return _Given(path, tuple(logs), len(unread) - len(empty), outside, empty)


def _list_folders(path: str) -> tuple[dict[Path, list[Path]], int]:
    """Return the files at a path, by folder, without hidden ones and links that lead out of it; how many these are."""
    root, outside = Path(path), 0
    if not root.is_dir():
        files = [source.path for source in find_sources(path) if source.path is not None]
    else:
        inside = root.resolve()
        files = []
        for file in sorted(root.rglob("*")):
            hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
            if file.is_symlink() and not file.resolve().is_relative_to(inside):
                outside += not hidden
            elif file.is_file() and not hidden:
                files.append(file)
            if len(files) > MOST_FILES:
                raise ReadError(f"{path} holds more than {MOST_FILES:,} files: name the folder of the logs alone")
    found: dict[Path, list[Path]] = {}
    for file in files:
        found.setdefault(file.parent, []).append(file)
    return found, outside


def _name(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {format_counted(len(paths) - 1, 'other place')}"


def _say_unread(given: Sequence[_Given]) -> Iterator[Caution]:
    if names := [name for each in given for name in each.empty]:
        yield Caution(
            code="empty-log", about="data", count=len(names), examples=tuple(names),
            message=f"{list_names(names)} {'is' if len(names) == 1 else 'are'} empty or damaged, and not read.",
            advice="If this was a log, its evaluation may have failed: run it again.",
        )  # fmt: skip
    if count := sum(each.unread for each in given if each.logs):
        message = f"{format_counted(count, 'other file')} there {'is not a log' if count == 1 else 'are not logs'}."
        yield Caution(code="unread-files", severity="note", about="data", count=count, message=message)
    if count := sum(each.outside for each in given if each.logs):
        message = f"{format_counted(count, 'link')} there {'leads' if count == 1 else 'lead'} out of the folder."
        yield Caution(code="links-not-followed", about="data", count=count, message=message,
                      effect="What it leads to was not read.", advice="Name it as well.")  # fmt: skip
