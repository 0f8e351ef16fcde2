"""The tables of a store, the checksums of their rows, and how tables have changed: named migrations, each recorded."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

APPLICATION = 0x486F6C64  # "Hold": what `file` and SQLite show of the kind of file
VERSION = 2
PAGE = 4096  # bytes; fixed, so that pages can be told apart in a file whose header is damaged

# Every table has an `id` that counts its rows from 1 without a gap, and a `checksum` of the whole row.
TABLES: dict[str, dict[str, str]] = {
    "migrations": {"version": "INTEGER NOT NULL", "name": "TEXT NOT NULL"},
    "runs": {"run": "TEXT NOT NULL UNIQUE", "started": "TEXT NOT NULL", "environment": "TEXT NOT NULL"},
    "tasks": {
        "task": "TEXT NOT NULL UNIQUE",
        "labels": "TEXT NOT NULL",
        "work": "TEXT NOT NULL",
        "arguments": "TEXT NOT NULL",
        "timeout": "REAL",
    },
    "claims": {"run": "TEXT NOT NULL", "tasks": "TEXT NOT NULL"},
    "results": {
        "task": "TEXT NOT NULL UNIQUE",
        "run": "TEXT NOT NULL",
        "status": "TEXT NOT NULL",
        "reason": "TEXT NOT NULL",
        "seconds": "REAL NOT NULL",
        "content": "TEXT NOT NULL",
        "attached": "TEXT NOT NULL",
    },
    "attachments": {"result": "INTEGER NOT NULL", "name": "TEXT NOT NULL", "content": "BLOB NOT NULL"},
    "failures": {
        "task": "TEXT NOT NULL",
        "run": "TEXT NOT NULL",
        "attempt": "INTEGER NOT NULL",
        "final": "INTEGER NOT NULL",
        "error": "TEXT NOT NULL",
        "message": "TEXT NOT NULL",
        "trace": "TEXT NOT NULL",
        "seconds": "REAL NOT NULL",
    },
    "damages": {
        "place": "TEXT NOT NULL",
        "row": "INTEGER NOT NULL",
        "task": "TEXT NOT NULL",
        "reason": "TEXT NOT NULL",
    },
}
INDEX = "CREATE INDEX attachments_result ON attachments (result)"


def statements(tables: Mapping[str, Mapping[str, str]] = TABLES) -> Iterator[str]:
    """Yield the statements that make the tables, which refuse every change and every deletion of a row."""
    for table, columns in tables.items():
        declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        yield f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {declared}, checksum BLOB NOT NULL)"
        for change in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a store only grows'); END"
            )
    if "attachments" in tables:
        yield INDEX


def append(connection: sqlite3.Connection, table: str, rows: Sequence[Sequence[Any]]) -> int:
    """Append rows with their numbers and checksums, and return the number of the first."""
    (last,) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
    stamped = [(i, *values, _checksum(table, i, values)) for i, values in enumerate(rows, start=last + 1)]
    connection.executemany(_insertion(table), stamped)
    return int(last) + 1


def _insertion(table: str) -> str:
    columns = ["id", *TABLES[table], "checksum"]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def create(connection: sqlite3.Connection) -> None:
    """Make an empty store of the present version."""
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    for statement in statements():
        connection.execute(statement)
    append(connection, "migrations", [(VERSION, "create")])
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a store of an older version up to the present one; call it inside a transaction."""
    for number in range(version + 1, VERSION + 1):
        migration = MIGRATIONS[number]
        migration(connection)
        append(connection, "migrations", [(number, migration.__name__)])
        connection.execute(f"PRAGMA user_version = {number}")


def add_reasons_and_damages(connection: sqlite3.Connection) -> None:
    """Version 2: a result says why a value is not finite, and a rescued store what was lost.

    A row that was damaged before keeps its wrong checksum: a migration must not bless it.
    """
    for change in ("update", "delete"):
        connection.execute(f"DROP TRIGGER results_no_{change}")
    connection.execute("ALTER TABLE results RENAME TO results_1")
    for statement in statements({name: TABLES[name] for name in ("results", "damages")}):
        connection.execute(statement)
    old = "id, task, run, status, seconds, content, attached, checksum"
    for ident, *values, stamp in connection.execute(f"SELECT {old} FROM results_1 ORDER BY id"):
        new = with_reason(values)
        sound = is_sound("results", ident, values, stamp)
        stamp = _checksum("results", ident, new) if sound else stamp
        connection.execute(_insertion("results"), (ident, *new, stamp))
    connection.execute("DROP TABLE results_1")


def with_reason(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return a row of version 1's results as one of version 2's."""
    task, run, status, *rest = values
    return (task, run, status, "", *rest)


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {2: add_reasons_and_damages}


def is_sound(table: str, ident: int, values: Sequence[Any], stamp: Any) -> bool:
    """Return whether a row is the one that was written."""
    try:
        return bool(_checksum(table, ident, values) == stamp)
    except (TypeError, UnicodeEncodeError):
        return False


def _checksum(table: str, ident: int, values: Sequence[Any]) -> bytes:
    """Return the checksum of a row: each value goes in with its kind and its length."""
    parts = [table.encode(), b"%d" % ident]
    for value in values:
        kind, content = _written(value)
        parts.append(b"%c%d:" % (kind, len(content)))
        parts.append(content)
    return hashlib.blake2b(b"\n".join(parts), digest_size=16).digest()


def _written(value: Any) -> tuple[bytes, bytes]:
    if isinstance(value, str):
        return b"s", value.encode()
    if isinstance(value, bytes):
        return b"b", value
    if isinstance(value, float):
        return b"f", struct.pack(">d", value)
    if isinstance(value, int):
        return b"i", b"%d" % value
    if value is None:
        return b"n", b""
    raise TypeError(f"a row holds {type(value).__name__}")
