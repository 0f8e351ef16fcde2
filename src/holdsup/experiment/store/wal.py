"""The write-ahead log of a store that was not closed: is all of it still there?

SQLite ends its reading of a log at the first frame whose checksum is wrong, and takes what lies behind it for
never written. One flipped bit there would lose recorded results without a word, so we look for ourselves,
before SQLite has opened the file for writing and put the log away.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from holdsup.experiment.store.connection import RESCUE, DamagedStore, clear_errors, connect
from holdsup.experiment.store.frames import count_sound_frames
from holdsup.experiment.store.liveness import any_alive
from holdsup.experiment.store.pages import find_logged_rows
from holdsup.experiment.store.rescue import recognize
from holdsup.experiment.store.wholeness import is_log_cut_off

__all__ = ["require_whole_log"]

PAUSE = 0.1  # seconds between looks
FEW, MANY = 3, 600  # looks, without and with a live run: its commit may be waiting for the disk


def require_whole_log(path: Path) -> None:
    """Refuse a store whose log is cut off, or holds sound rows that SQLite does not see."""
    for _ in _looks(path):
        if not is_log_cut_off(path):
            break
    else:
        raise DamagedStore(f"the log of the store {path} is cut off, and its last rows are gone: {RESCUE}")
    last = _last_logged(path)
    if not last:
        return
    with clear_errors(path):
        connection = connect(path, writing=False)
        try:
            for _ in _looks(path):
                hidden = [table for table, row in last.items() if _last_visible(connection, table) < row]
                if not hidden:
                    return
        finally:
            connection.close()
    # A commit whose process was killed before it was in the log's index was not acknowledged. SQLite takes it in when
    # it reads the log anew, and writes over it while another process has the store open. Neither is damage.
    sound = _last_logged(path, count_sound_frames(path.with_name(path.name + "-wal")))
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
        table, sound = recognize(found)
        if sound is not None:
            last[table] = max(last.get(table, 0), found.ident)
    return last


def _last_visible(connection: sqlite3.Connection, table: str) -> int:
    (last,) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
    return int(last)
