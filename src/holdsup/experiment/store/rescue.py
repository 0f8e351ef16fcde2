"""A damaged store: one that hides rows is refused, and every row that is still what was written goes into a new one."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from holdsup.errors import StoreError
from holdsup.experiment.store.connection import RESCUE, DamagedStore, clear_errors, connect, make, transaction
from holdsup.experiment.store.pages import (
    MAGIC,
    Found,
    count_sound_frames,
    find_cut,
    find_logged_rows,
    find_rows,
    is_log_cut_off,
)
from holdsup.experiment.store.recording import any_alive
from holdsup.experiment.store.records import Damage
from holdsup.experiment.store.schema import TABLES, append, is_sound, with_reason
from holdsup.rendering.numbers import format_counted

Rows: TypeAlias = dict[int, tuple[Any, ...]]
COPIED = [table for table in TABLES if table not in ("migrations", "claims")]  # a new file has no claims to keep
PAUSE = 0.1  # seconds between looks
FEW, MANY = 3, 600  # looks, without and with a live run: its commit may be waiting for the disk


def rescue_store(damaged: str | Path, fresh: str | Path) -> tuple[Damage, ...]:
    """Write every sound row of a damaged store to a new one, and return what was lost.

    The damaged file is only read. What was lost stands in the new store too, and a run with it does those
    tasks again. Where the file or its log is cut off, nobody knows how many rows are gone: a first entry of the
    place "file" says so, and every task without a result is listed. Row 0 stands for no row that is known.

    Parameters
    ----------
    damaged : file of the store
    fresh : file to write, which must not exist
    """
    old, new = Path(damaged), Path(fresh)
    if new.exists():
        raise StoreError(f"{new} already exists: give the rescued store another name")
    try:
        tables, damage = _sift(old)
        cut = find_cut(old)
    except OSError as error:
        raise StoreError(f"cannot read {old}: {error.strerror or error}") from error
    if not tables["tasks"] and not tables["results"]:
        raise StoreError(f"{old} is not a holdsup store, or nothing in it can be read: give another file")
    damage += _drop_incomplete(tables)
    damage = [*_list_unknown(tables, damage, cut), *damage]
    with clear_errors(new):
        make(new)
        with closing(connect(new, writing=True)) as connection, transaction(connection):
            _copy(connection, tables, damage)
    return tuple(damage)


def _sift(path: Path) -> tuple[dict[str, Rows], list[Damage]]:
    """Return the sound rows by table and number, and those that are not sound or not there."""
    tables: dict[str, Rows] = {name: {} for name in TABLES}
    suspects: dict[tuple[str, int], str] = {}
    for found in find_rows(path):
        table, sound = _recognize(found)
        if sound is not None:
            tables[table].setdefault(found.ident, sound)
        elif table:
            suspects[table, found.ident] = str(found.values[1]) if "task" in TABLES[table] else ""
    damage = []
    for table in COPIED:
        last = max([*tables[table], *(row for place, row in suspects if place == table)], default=0)
        last = min(last, 2 * len(tables[table]) + len(suspects))  # a number that is itself damaged may be anything
        for row in range(1, last + 1):
            if row not in tables[table]:
                suspect = suspects.get((table, row))
                reason = "the row is gone" if suspect is None else "its checksum is wrong"
                damage.append(Damage(table, row, suspect or "", reason))
    return tables, damage


def is_foreign(path: Path) -> bool:
    """Return whether a file was never a store: it has no header of SQLite's, and no sound row anywhere."""
    with path.open("rb") as stream:
        begins = stream.read(len(MAGIC))
    return begins != MAGIC and all(_recognize(found)[1] is None for found in find_rows(path))


def _recognize(found: Found) -> tuple[str, tuple[Any, ...] | None]:
    """Return the table of a row and its values; None for values that are not what was written, "" for no table."""
    if len(found.values) < 3 or found.values[0] is not None:
        return "", None
    ident, values, stamp = found.ident, found.values[1:-1], found.values[-1]
    likely = ""
    for table, columns in TABLES.items():
        typed = tuple(
            float(value) if kind.startswith("REAL") and isinstance(value, int) else value
            for value, kind in zip(values, columns.values(), strict=False)
        )
        if len(values) == len(columns):
            if is_sound(table, ident, typed, stamp):
                return table, typed
            likely = table if isinstance(stamp, bytes) else likely
        if table == "results" and len(values) == len(columns) - 1 and is_sound(table, ident, values, stamp):
            return table, with_reason(values)  # of a store of version 1
    return likely, None


def _drop_incomplete(tables: Mapping[str, Rows]) -> list[Damage]:
    """Take out results that lack one of their tables, and return them."""
    attached = {(result, name) for result, name, _ in tables["attachments"].values()}
    damage = []
    for row, values in sorted(tables["results"].items()):
        lost = [name for name in json.loads(values[-1]) if (row, name) not in attached]
        if lost:
            damage.append(Damage("results", row, values[0], f"its table {lost[0]!r} is lost"))
            del tables["results"][row]
    return damage


def _list_unknown(tables: Mapping[str, Rows], damage: list[Damage], cut: str | None) -> list[Damage]:
    """Return what no gap in row numbers shows: that the end is missing, and tasks whose results may have been there.

    A task that was claimed and has neither a result nor a failure was under way, or its row is gone. Of a file that
    is cut off, claims may be gone as well.
    """
    settled = {values[0] for values in tables["results"].values()}
    settled |= {task for task, _, _, final, *_ in tables["failures"].values() if final}
    left = [values[0] for _, values in sorted(tables["tasks"].items()) if values[0] not in settled]
    claimed = {task for _, tasks in tables["claims"].values() for task in json.loads(tasks)}
    named = {lost.task for lost in damage}
    unknown = [task for task in left if task not in named and (cut or task in claimed)]
    listed = [Damage("results", 0, task, "it was never recorded, or it is gone") for task in unknown]
    if cut is None:
        return listed
    again = f"{format_counted(len(left), 'task')} without a result will run again"
    return [Damage("file", 0, "", f"{cut}: how many rows are gone is unknown; {again}"), *listed]


def _copy(connection: sqlite3.Connection, tables: Mapping[str, Rows], damage: list[Damage]) -> None:
    """Append rows under new numbers, without gaps."""
    numbers = {row: i for i, row in enumerate(sorted(tables["results"]), start=1)}
    for table in COPIED:
        rows = [values for _, values in sorted(tables[table].items())]
        if table == "attachments":
            rows = [(numbers[result], name, content) for result, name, content in rows if result in numbers]
        if table == "damages":
            rows += [(lost.place, lost.row, lost.task, lost.reason) for lost in damage]
        if "UNIQUE" in " ".join(TABLES[table].values()):  # the first row of each task is the one that counts
            rows = list({values[0]: values for values in reversed(rows)}.values())[::-1]
        append(connection, table, rows)


def require_whole_log(path: Path) -> None:
    """Refuse a store whose log is cut off, or holds sound rows that SQLite does not see.

    SQLite ends its reading of a log at the first frame whose checksum is wrong, and takes what lies behind it for never
    written. One flipped bit there would lose recorded results without a word, so we look for ourselves, before SQLite
    has opened the file for writing and put the log away.
    """
    for _ in _looks(path):
        if not is_log_cut_off(path):
            break
    else:
        raise DamagedStore(f"the log of the store {path} is cut off, and its last rows are gone: {RESCUE}")
    last = _last_logged(path)
    if not last:
        return
    with clear_errors(path), closing(connect(path, writing=False)) as connection:
        for _ in _looks(path):
            hidden = [table for table, row in last.items() if _last_visible(connection, table) < row]
            if not hidden:
                return
    # A commit whose process was killed before it was in the log's index was not acknowledged. SQLite takes it in when
    # it reads the log anew, and writes over it while another process has the store open. Neither is damage.
    sound = _last_logged(path, count_sound_frames(path))
    hidden = [table for table in hidden if last[table] > sound.get(table, 0)]
    if not hidden:
        return
    raise DamagedStore(f"the log of the store {path} is damaged and hides rows of {hidden[0]}: {RESCUE}")


def _looks(path: Path) -> Iterator[None]:
    """Yield a few times, with pauses; many times as long as a run lives that may be in the middle of a commit."""
    for look in range(MANY):
        yield
        if look >= FEW and not any_alive(path):
            return
        time.sleep(PAUSE)


def _last_logged(path: Path, frames: int | None = None) -> dict[str, int]:
    """Return the last row of each table that the log, or its first frames, hold."""
    last: dict[str, int] = {}
    for found in find_logged_rows(path, frames) if path.exists() else ():
        table, sound = _recognize(found)
        if sound is not None:
            last[table] = max(last.get(table, 0), found.ident)
    return last


def _last_visible(connection: sqlite3.Connection, table: str) -> int:
    (last,) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
    return int(last)
