"""What a store says about its tasks, read forward: rows are only appended, so each is read and verified once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from sys import intern
from typing import Any, NamedTuple

from holdsup.experiment.store.schema import TABLES, is_sound

NOTE = '"note":'  # stands in values that have a note; the others need not be parsed


@dataclass(frozen=True, slots=True)
class Damage:
    """A row of a store that is not what was written; it is never used."""

    place: str  # its table
    row: int  # its number there
    task: str  # id of the task, "" where it cannot be read
    reason: str  # what is wrong with it


class LastFailure(NamedTuple):
    """The last time a task failed: number of the row, attempts so far, whether the run gave it up."""

    row: int
    attempt: int
    final: bool


def read_rows(
    connection: sqlite3.Connection, table: str, damage: list[Damage], *, after: int = 0
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield id and values of every sound row of a table; the others, and those that are gone, go to `damage`."""
    columns = TABLES[table]
    last = after
    query = f"SELECT id, {', '.join(columns)}, checksum FROM {table} WHERE id > ? ORDER BY id"
    for ident, *values, stamp in connection.execute(query, (after,)):
        for missing in range(last + 1, ident):
            damage.append(Damage(table, missing, "", "the row is gone"))
        last = ident
        if is_sound(table, ident, values, stamp):
            yield ident, tuple(values)
        else:
            task = str(values[0]) if "task" in columns else ""
            damage.append(Damage(table, ident, task, "its checksum is wrong"))


class Ledger:
    """The state of all tasks, as of the last `catch_up`.

    Attributes
    ----------
    tasks, results : number of the row that holds a task, and its result
    undefined : tasks whose result has a value that is not finite, each with the reason
    notes : what a result has to say about itself although it is done
    failures : how a task failed last
    holders : run that claimed a task last, for tasks without a result
    damage : rows that are not what was written
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.tasks: dict[str, int] = {}
        self.results: dict[str, int] = {}
        self.undefined: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self.failures: dict[str, LastFailure] = {}
        self.holders: dict[str, str] = {}
        self.damage: list[Damage] = []
        self._read = dict.fromkeys(("tasks", "claims", "results", "failures"), 0)

    def catch_up(self) -> None:
        """Read what has been appended since."""
        for ident, values in self._new("tasks"):
            self.tasks[intern(values[0])] = ident  # ids are kept once, however many tables name them
        for _, (run, tasks) in self._new("claims"):
            self.holders.update(dict.fromkeys(map(intern, json.loads(tasks)), intern(run)))
        for ident, values in self._new("results"):
            self.results[intern(values[0])] = ident
            self.holders.pop(values[0], None)
            if values[2] != "done":
                self.undefined[values[0]] = intern(values[3])
            elif NOTE in values[5]:
                self.notes[values[0]] = str(json.loads(values[5]).get("note", ""))
        for ident, values in self._new("failures"):
            self.failures[values[0]] = LastFailure(ident, values[2], bool(values[3]))

    def is_settled(self, task: str, *, forgiven: int = 0) -> bool:
        """Return whether nothing is left to do for a task; failures up to row `forgiven` do not count."""
        failure = self.failures.get(task)
        return task in self.results or (failure is not None and failure.final and failure.row > forgiven)

    def last_row(self, table: str) -> int:
        """Return the number of the last row that was read of a table."""
        return self._read[table]

    def _new(self, table: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        for ident, values in read_rows(self.connection, table, self.damage, after=self._read[table]):
            self._read[table] = ident
            yield ident, values
