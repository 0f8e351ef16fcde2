"""Is a run still alive? It holds a lock on a file for as long as its process lives.

The kernel drops the lock when the process ends, however it ends, so there is no heartbeat to miss and no
time to wait: what a killed run had claimed is free at once.
"""

from __future__ import annotations

import os
import sys
from glob import escape
from pathlib import Path

__all__ = ["RunLock", "any_alive", "is_alive"]

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class RunLock:
    """The sign of life of one run, held until `release`."""

    def __init__(self, store: Path, run: str) -> None:
        self.path = _lock_file(store, run)
        self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        if not _try_lock(self.handle):  # ids of runs are drawn at random: nobody else can have this one
            raise AssertionError(f"{self.path} is locked already")

    def release(self) -> None:
        """End the sign of life."""
        _remove(self.path)
        os.close(self.handle)


def is_alive(store: Path, run: str) -> bool:
    """Return whether the process of a run lives; what a dead one left behind is cleared away."""
    path = _lock_file(store, run)
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        if not _try_lock(handle):
            return True
        _remove(path)
        return False
    finally:
        os.close(handle)


def any_alive(store: Path) -> bool:
    """Return whether any run on a store lives."""
    start = f"{store.name}.lock-"
    return any(is_alive(store, file.name.removeprefix(start)) for file in store.parent.glob(f"{escape(start)}*"))


def _lock_file(store: Path, run: str) -> Path:
    return store.with_name(f"{store.name}.lock-{run}")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # Windows keeps a file that is open; an empty file harms nobody
        return
