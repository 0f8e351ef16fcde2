"""`Store`: one SQLite file that holds tasks, their results and their failures, and only grows."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from holdsup.errors import StoreError
from holdsup.experiment.plan import Label
from holdsup.experiment.store.connection import (
    RESCUE,
    DamagedStore,
    OldStore,
    clear_errors,
    copy_and_migrate,
    open_file,
)
from holdsup.experiment.store.recording import OpenRun, is_alive
from holdsup.experiment.store.records import (
    Damage,
    Ledger,
    Recorded,
    RecordedFailure,
    decode_table,
    decode_values,
    read_rows,
)
from holdsup.experiment.store.rescue import is_foreign, require_whole_log, rescue_store
from holdsup.experiment.store.schema import TABLES, is_sound
from holdsup.rendering.numbers import format_counted

if TYPE_CHECKING:
    import pyarrow as pa


class Store:
    """A store of results on a local disk, which any number of processes may read and write at once.

    Parameters
    ----------
    path : the file; it is made if it is not there, unless the store is only to be read
    writing : whether a run is to write to it. A damaged store can only be read: what is sound of it

    Attributes
    ----------
    damage : rows that are not what was written, as far as rows have been read
    """

    def __init__(self, path: str | Path, *, writing: bool = True) -> None:
        self.path = Path(os.path.realpath(path))
        self.writing = writing
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._lost: tuple[Damage, ...] = ()
        self.connection = self._open()
        self.ledger = Ledger(self.connection)
        try:
            with clear_errors(self.path):
                self.ledger.catch_up()
                self._verify_attachments()
            if writing:
                self.require_sound()
        except BaseException:
            self.close()
            raise

    def _open(self) -> sqlite3.Connection:
        try:
            require_whole_log(self.path)
            return open_file(self.path, writing=self.writing)
        except (DamagedStore, OldStore) as error:
            if isinstance(error, DamagedStore) and is_foreign(self.path):
                raise StoreError(f"{self.path} is not a holdsup store: give another file") from error
            if self.writing:
                raise
            return self._open_copy(error)

    def _open_copy(self, reason: StoreError) -> sqlite3.Connection:
        """Return a connection to a copy of what can be read: brought up to date, or rescued."""
        self._copy = tempfile.TemporaryDirectory(prefix="holdsup-")
        copy = Path(self._copy.name) / "copy.db"
        try:
            if isinstance(reason, OldStore):
                copy_and_migrate(self.path, copy)
            else:
                lost = rescue_store(self.path, copy)
                if not any(damage.place == "file" for damage in lost):
                    lost = (Damage("file", 0, "", str(reason).removesuffix(f": {RESCUE}")), *lost)
                self._lost = lost
            return open_file(copy, writing=False)
        except BaseException:
            self._copy.cleanup()
            raise

    def begin(self, environment: Mapping[str, Any]) -> OpenRun:
        """Return a new run, which records to this store until it is ended."""
        return OpenRun(self.path, self.connection, self.ledger, environment)

    @property
    def damage(self) -> tuple[Damage, ...]:
        """Rows that are not what was written; a rescued store remembers what it lost."""
        return (*self._lost, *self.ledger.damage)

    def require_sound(self) -> None:
        """Raise if rows are damaged or gone."""
        if self.damage:
            raise DamagedStore(f"{_describe_damage(self.path.name, self.damage)}: {RESCUE}")

    def _verify_attachments(self) -> None:
        """Read every table once; a result that lacks one of its tables is no result."""
        found = {(values[0], values[1]) for _, values in read_rows(self.connection, "attachments", self.ledger.damage)}
        rows = {row: task for task, row in self.ledger.results.items()}
        for row, attached in self.connection.execute("SELECT id, attached FROM results WHERE attached <> '[]'"):
            for name in json.loads(attached) if row in rows else ():
                if (row, name) not in found:
                    task = rows[row]
                    self.ledger.damage.append(Damage("results", row, task, f"its table {name!r} is lost"))
                    self.ledger.results.pop(task, None)

    def statuses(self, tasks: Iterable[str]) -> dict[str, str]:
        """Return the status of each task: done, undefined, failed, running (by a live run) or waiting."""
        with clear_errors(self.path):
            self.ledger.catch_up()
        lives = cache(lambda run: is_alive(self.path, run))
        found = {}
        for task in tasks:
            holder = self.ledger.holders.get(task)
            if task in self.ledger.results:
                found[task] = "undefined" if task in self.ledger.undefined else "done"
            elif self.ledger.is_settled(task):
                found[task] = "failed"
            elif holder and lives(holder):
                found[task] = "running"
            else:
                found[task] = "waiting"
        return found

    def remarks(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return why results have a value that is not defined, and the notes of others, by task."""
        return self.ledger.undefined, self.ledger.notes

    def results(self, tasks: Collection[str] | None = None, *, with_tables: bool = True) -> Iterator[Recorded]:
        """Yield the results of some tasks (all by default) in the order in which they were recorded."""
        with clear_errors(self.path):
            self.ledger.catch_up()
            for row, values in read_rows(self.connection, "results", []):
                task, run, status, reason, seconds, content, attached = values
                if self.ledger.results.get(task) != row or (tasks is not None and task not in tasks):
                    continue
                labels, arguments = self._task(task)
                tables = self._tables(row) if with_tables and attached != "[]" else {}
                yield Recorded(
                    task, labels, arguments, run, status, reason, seconds, decode_values(content), tables
                )  # fmt: skip

    def failures(self, tasks: Collection[str] | None = None) -> Iterator[RecordedFailure]:
        """Yield the failures of some tasks (all by default) in the order in which they were recorded."""
        with clear_errors(self.path):
            for _, (task, run, attempt, final, *rest) in read_rows(self.connection, "failures", []):
                if tasks is None or task in tasks:
                    yield RecordedFailure(task, self._task(task)[0], run, attempt, bool(final), *rest)

    def environments(self) -> dict[str, dict[str, Any]]:
        """Return the environment record of each run, by id."""
        with clear_errors(self.path):
            return {run: json.loads(record) for _, (run, _, record) in read_rows(self.connection, "runs", [])}

    def _task(self, task: str) -> tuple[dict[str, Label], dict[str, Any]]:
        """Return labels and arguments of a task; none where its row is damaged."""
        row = self.ledger.tasks.get(task)
        if row is None:
            return {}, {}
        ((_, labels, _, arguments, _),) = self._sound("tasks", "id", row)
        return json.loads(labels), json.loads(arguments)

    def _tables(self, result: int) -> dict[str, pa.Table]:
        return {name: decode_table(content) for _, name, content in self._sound("attachments", "result", result)}

    def _sound(self, table: str, column: str, value: int) -> list[list[Any]]:
        """Return some rows of a table, which were sound when the store was opened and must be so now."""
        names = ", ".join(["id", *TABLES[table], "checksum"])
        found = []
        for ident, *values, stamp in self.connection.execute(
            f"SELECT {names} FROM {table} WHERE {column} = ? ORDER BY id", (value,)
        ):
            if not is_sound(table, ident, values, stamp):
                raise DamagedStore(f"row {ident} of {table} in {self.path} was damaged while it was read: {RESCUE}")
            found.append(values)
        return found

    def close(self) -> None:
        """Give the file back."""
        self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _describe_damage(name: str, damage: tuple[Damage, ...]) -> str:
    first = damage[0]
    if first.place == "file":
        return f"the store {name} is damaged ({first.reason})"
    rows = format_counted(len(damage), "damaged row")
    return f"the store {name} has {rows} (row {first.row} of {first.place}: {first.reason})"
