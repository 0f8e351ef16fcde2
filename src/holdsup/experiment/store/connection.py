"""Connections to the file of a store, and SQLite's errors in one clear line each."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from holdsup.errors import StoreError
from holdsup.experiment.store.schema import APPLICATION, VERSION, create, migrate, statements

BUSY = 120.0  # seconds for which a writer waits for the others
RESCUE = "holdsup run SPEC --rescue NEW.db copies every sound row to a new store, from which a run continues"


class DamagedStore(StoreError):
    """The file of a store is damaged: it can be rescued, but not written to."""


class OldStore(StoreError):
    """A store of an older version, which is read from a copy that is brought up to the present one."""


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(path, error) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes a damaged name, and Python cannot read it
        raise DamagedStore(f"the store {path} is damaged (its schema is not text): {RESCUE}") from error


def _translated(path: Path, error: sqlite3.Error) -> StoreError:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA):
        return DamagedStore(f"the store {path} is damaged ({error}): {RESCUE}")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreError(
            f"the store {path} cannot be written ({error}): what was recorded is safe; free some disk space, "
            "and run again to continue"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(f"the store {path} cannot be written ({error}): put it in a folder you can write to")
    if code == sqlite3.SQLITE_BUSY:
        return StoreError(f"another process has locked the store {path} for {BUSY:.0f} seconds: stop it, and run again")
    return StoreError(f"the store {path} refused a row ({error})")


def connect(path: Path, *, writing: bool) -> sqlite3.Connection:
    """Return a connection without Python's own transactions; they have lost updates."""
    options = "mode=rw" if writing else "mode=ro"
    if not writing and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        options = "immutable=1"  # a disk that cannot be written: SQLite cannot share memory there
    uri = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY, isolation_level=None)
    connection.text_factory = _decode
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if writing:
            connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _decode(text: bytes) -> str:
    """Return a text even if it is damaged: its checksum will tell, and an error here would hide the other rows."""
    return text.decode("utf-8", "surrogateescape")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all of it or nothing; the lock is taken at once, so that nobody has to give up half-way."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # the first error is the one to tell
            connection.execute("ROLLBACK")
        raise


def make(path: Path) -> None:
    """Make an empty store that appears whole, or use the one that another process made meanwhile."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
        os.close(handle)
    except OSError as error:
        raise StoreError(f"cannot create the store {path}: {error.strerror or error}") from error
    beside = Path(name)
    try:
        with closing(sqlite3.connect(beside, isolation_level=None)) as connection:
            create(connection)
        beside.chmod(0o666 & ~_umask())
        with suppress(FileExistsError):
            os.link(beside, path)
    except OSError:  # a file system without links
        beside.rename(path)
    finally:
        beside.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_file(path: Path, *, writing: bool) -> sqlite3.Connection:
    """Return a connection to a store of sound structure; one of an older version is brought up to the present one."""
    if not path.exists():
        if not writing:
            raise StoreError(f"there is no store {path}: run the plan first")
        with clear_errors(path):
            make(path)
    if path.is_dir() or path.stat().st_size == 0:
        raise StoreError(f"{path} is {'a folder' if path.is_dir() else 'empty'}, not a store: give another file")
    with clear_errors(path):
        connection = connect(path, writing=writing)
        try:
            _bring_up(connection, path, writing)
            _require_sound(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _bring_up(connection: sqlite3.Connection, path: Path, writing: bool) -> None:
    kind, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "migrations" not in tables:
        if kind == APPLICATION:
            raise DamagedStore(f"the store {path} is damaged (its tables are gone): {RESCUE}")
        raise StoreError(f"{path} is a database, but not a holdsup store: give another file")
    (noted,) = connection.execute("SELECT max(version) FROM migrations").fetchone()
    if (kind, version) != (APPLICATION, noted):
        raise DamagedStore(f"the store {path} is damaged (its header and its rows disagree on the version): {RESCUE}")
    if version > VERSION:
        raise StoreError(
            f"the store {path} has version {version}, but this holdsup reads up to {VERSION}: update holdsup"
        )
    if version < VERSION:
        if not writing:
            raise OldStore(f"the store {path} is of version {version}")
        with transaction(connection):
            (version,) = connection.execute("PRAGMA user_version").fetchone()  # another process may have been first
            migrate(connection, version)


def copy_and_migrate(path: Path, copy: Path) -> None:
    """Copy a store of an older version, and bring the copy up to the present one."""
    with clear_errors(path), closing(connect(path, writing=False)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    open_file(copy, writing=True).close()


def _require_sound(connection: sqlite3.Connection, path: Path) -> None:
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != set(statements()):
        raise DamagedStore(f"the store {path} is damaged (its schema was changed): {RESCUE}")
    if verdict != "ok":
        raise DamagedStore(f"the store {path} is damaged ({' '.join(verdict.split())}): {RESCUE}")
