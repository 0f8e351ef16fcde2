"""Make version-1.db, a store as the first version wrote it. It has been made once, and is kept.

    python tests/experiment/stores/make_version_1.py

Everything is written out here, so that no change of the package can change what version 1 was.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from pathlib import Path

FILE = Path(__file__).with_name("version-1.db")
TABLES = {
    "migrations": "version INTEGER NOT NULL, name TEXT NOT NULL",
    "runs": "run TEXT NOT NULL UNIQUE, started TEXT NOT NULL, environment TEXT NOT NULL",
    "tasks": "task TEXT NOT NULL UNIQUE, labels TEXT NOT NULL, work TEXT NOT NULL, arguments TEXT NOT NULL, timeout REAL",
    "claims": "run TEXT NOT NULL, tasks TEXT NOT NULL",
    "results": (
        "task TEXT NOT NULL UNIQUE, run TEXT NOT NULL, status TEXT NOT NULL, seconds REAL NOT NULL, "
        "content TEXT NOT NULL, attached TEXT NOT NULL"
    ),
    "attachments": "result INTEGER NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL",
    "failures": (
        "task TEXT NOT NULL, run TEXT NOT NULL, attempt INTEGER NOT NULL, final INTEGER NOT NULL, error TEXT NOT NULL, "
        "message TEXT NOT NULL, trace TEXT NOT NULL, seconds REAL NOT NULL"
    ),
}
RUN = "00112233445566ff"
ROWS = {
    "migrations": [(1, "create")],
    "runs": [(RUN, "2026-01-01T00:00:00+00:00", '{"python": "3.11.7"}')],
    "tasks": [
        (f"task-{i}", f'{{"system": "S", "seed": {i}}}', "errands:give", f'{{"number": {i}}}', None) for i in range(5)
    ],
    "claims": [(RUN, '["task-0", "task-1", "task-2", "task-3"]')],
    "results": [(f"task-{i}", RUN, "done", 0.25 + i, f'{{"score":{i}.5}}', "[]") for i in range(3)],
    "failures": [("task-3", RUN, 1, 1, "ValueError", "no", "ValueError: no", 0.5)],
}


def checksum(table: str, ident: int, values: tuple[object, ...]) -> bytes:
    parts = [table.encode(), str(ident).encode()]
    for value in values:
        if isinstance(value, str):
            kind, content = "s", value.encode()
        elif isinstance(value, float):
            kind, content = "f", struct.pack(">d", value)
        elif isinstance(value, int):
            kind, content = "i", str(value).encode()
        else:
            kind, content = "n", b""
        parts += [f"{kind}{len(content)}:".encode(), content]
    return hashlib.blake2b(b"\n".join(parts), digest_size=16).digest()


def main() -> None:
    FILE.unlink(missing_ok=True)
    connection = sqlite3.connect(FILE, isolation_level=None)
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {columns}, checksum BLOB NOT NULL)")
        for change in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a store only grows'); END"
            )
    connection.execute("CREATE INDEX attachments_result ON attachments (result)")
    for table, rows in ROWS.items():
        for ident, values in enumerate(rows, start=1):
            marks = ", ".join("?" * (len(values) + 2))
            connection.execute(
                f"INSERT INTO {table} VALUES ({marks})", (ident, *values, checksum(table, ident, values))
            )
    connection.execute(f"PRAGMA application_id = {0x486F6C64}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    main()
