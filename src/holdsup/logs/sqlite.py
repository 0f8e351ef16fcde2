"""Databases of other tools, opened so that nothing in them is run and nothing of them is changed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from holdsup.columns.limits import reason_of
from holdsup.errors import ReadError

MAGIC = b"SQLite format 3\0"
LONGEST = 600.0  # seconds that the reading of a database may take
LISTING = "table_xinfo"  # the pragma that lists columns
STEPS = 100_000  # of SQLite's machine between looks at the clock


def holds_tables(path: Path, names: set[str]) -> bool:
    """Return whether a file is a database with these tables; views and virtual tables do not count."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return False
        with _connection(path) as base:
            return names <= _plain_tables(base)
    except (OSError, ReadError):
        return False


@contextmanager
def read_only(path: Path, names: set[str]) -> Iterator[sqlite3.Connection]:
    """Give those tables of a database to read that it has; what is still in its write-ahead log is seen as well."""
    with _connection(path) as base:
        for name in sorted(names & _plain_tables(base)):
            # A column that is computed would run what the file says; 0 is a column that is stored.
            if any(row[-1] for row in base.execute(f'PRAGMA {LISTING}("{name}")')):
                raise ReadError(f"the database {path} has computed columns in {name!r}: the tool's own has none")

        def allow(action: int, what: str | None, *_: object) -> int:
            known = {sqlite3.SQLITE_SELECT: True, sqlite3.SQLITE_READ: what in names}
            return sqlite3.SQLITE_OK if known.get(action, what == LISTING) else sqlite3.SQLITE_DENY

        base.set_authorizer(allow)
        yield base


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    deadline = time.monotonic() + LONGEST
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            base.text_factory = lambda text: text.decode("utf-8", "replace")
            base.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
            base.execute("PRAGMA query_only = ON")
            base.execute("PRAGMA trusted_schema = OFF")
            try:
                base.execute("SELECT name FROM sqlite_master LIMIT 1").fetchall()
            except sqlite3.DatabaseError as error:
                if "unsafe use of" not in str(error):
                    raise
                # An index over json_extract, which SQLite trusts in no file, makes the whole file unreadable. Indexes
                # run nothing when plain columns of plain tables are read, and nothing else is allowed.
                base.execute("PRAGMA trusted_schema = ON")
            yield base
    except sqlite3.Error as error:
        if "interrupted" in str(error):
            told = f"{path} took more than {LONGEST:g} seconds to read: export one evaluation, and read that"
        else:
            told = f"cannot read the database {path}: {reason_of(error)}"
        raise ReadError(told) from error


def _plain_tables(base: sqlite3.Connection) -> set[str]:
    made = base.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    return {name for name, sql in made if not str(sql).upper().startswith("CREATE VIRTUAL")}


def columns_of(base: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of the columns of a table: versions of a tool differ in what they keep."""
    return {name for _, name, *_ in base.execute(f'PRAGMA {LISTING}("{table}")')}
