"""Waiting for what other processes and threads do: for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["LIMIT", "PROC", "children_of", "is_running", "wait_for"]

PROC = Path("/proc")  # Linux's
LIMIT = 600.0  # seconds: only ends what would never end, however busy the machine is


def wait_for(condition: Callable[[], object]) -> None:
    """Return when a condition has come true."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def is_running(process: int) -> bool:
    """Return whether a process is there and no zombie that nobody has asked for."""
    try:
        return _stat(process)[0] != "Z"
    except OSError:
        return False


def children_of(process: int) -> list[int]:
    """Return the processes that one has started."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        try:
            if _stat(int(folder.name))[1] == str(process):
                found.append(int(folder.name))
        except OSError:  # it has just ended
            continue
    return found


def _stat(process: int) -> list[str]:
    """Return the state, the parent, the group and the session of a process, and more."""
    return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
