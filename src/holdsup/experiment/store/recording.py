"""A run that is going on: its sign of life, and what it writes, each in one short transaction.

A run holds a lock on a file beside the store for as long as its process lives. The kernel drops the lock when the
process ends, however it ends, so there is no heartbeat to miss and no time to wait: what a killed run had claimed is
free at once.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple, Self

from holdsup.errors import StoreError
from holdsup.experiment.plan import Task
from holdsup.experiment.store.connection import RESCUE, DamagedStore, clear_errors, transaction
from holdsup.experiment.store.records import Failure, Ledger, Success
from holdsup.experiment.store.schema import append

TOGETHER = 2_000  # tasks that one transaction adds, so that other processes need not wait long


class Claim(NamedTuple):
    """What a run got: tasks that are its own from now on, and tasks that other live runs have."""

    mine: list[str]
    elsewhere: list[str]


class OpenRun:
    """A run that is going on. Its claims count for as long as its process lives.

    Attributes
    ----------
    id : drawn at random
    ledger : what the store says about its tasks
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, ledger: Ledger, environment: Mapping[str, Any]
    ) -> None:
        self.id = secrets.token_hex(8)
        self.path, self.connection, self.ledger = path, connection, ledger
        try:
            self._lock = RunLock(path, self.id)
        except OSError as error:
            raise StoreError(f"cannot write beside {path}: {error.strerror or error}") from error
        started = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            with self._writing():
                append(self.connection, "runs", [(self.id, started, json.dumps(environment))])
        except BaseException:
            self._lock.release()
            raise

    def add_tasks(self, tasks: Sequence[Task]) -> None:
        """Make tasks known to the store; those that it knows stay as they are."""
        known = self.ledger.tasks
        unknown = [task for task in tasks if task.id not in known]
        for start in range(0, len(unknown), TOGETHER):
            with self._writing():  # where it is seen what another run has added meanwhile
                new = [task for task in unknown[start : start + TOGETHER] if task.id not in known]
                append(self.connection, "tasks", [_task_row(task) for task in new])

    def claim(self, waiting: deque[str], most: int, *, forgiven: int = 0) -> Claim:
        """Take up to `most` tasks off the front of `waiting`; settled ones are passed over.

        Failures up to row `forgiven` do not settle a task.
        """
        claim, alive = Claim([], []), {self.id: False}  # what this run holds itself, it may take again
        with self._writing():
            while waiting and len(claim.mine) < most:
                task = waiting.popleft()
                if self.ledger.is_settled(task, forgiven=forgiven):
                    continue
                holder = self.ledger.holders.get(task, self.id)
                if holder not in alive:
                    alive[holder] = is_alive(self.path, holder)
                (claim.elsewhere if alive[holder] else claim.mine).append(task)
            if claim.mine:
                append(self.connection, "claims", [(self.id, json.dumps(claim.mine))])
        return claim

    def record(self, successes: Sequence[Success], failures: Sequence[Failure] = ()) -> int:
        """Record results and failures, all or none; return how many results were new.

        When it returns, they are on the disk.
        """
        with self._writing():
            known = self.ledger.results
            new = [success for success in successes if success.task not in known]
            first = append(self.connection, "results", [_result_row(success, self.id) for success in new])
            tables = [
                (row, name, content)
                for row, success in enumerate(new, start=first)
                for name, content in success.tables.items()
            ]
            append(self.connection, "attachments", tables)
            append(self.connection, "failures", [_failure_row(failure, self.id) for failure in failures])
        return len(new)

    def end(self) -> None:
        """End the run: what it claimed and did not do is free."""
        self._lock.release()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with clear_errors(self.path), transaction(self.connection):
            self.ledger.catch_up()
            if self.ledger.damage:
                raise DamagedStore(f"the store {self.path} was damaged while it was written: {RESCUE}")
            yield

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _task_row(task: Task) -> tuple[Any, ...]:
    timeout = None if task.timeout is None else float(task.timeout)
    return (task.id, json.dumps(dict(task.labels)), task.work, json.dumps(dict(task.arguments)), timeout)


def _result_row(success: Success, run: str) -> tuple[Any, ...]:
    attached = json.dumps(list(success.tables))
    return (success.task, run, success.status, success.reason, success.seconds, success.content, attached)


def _failure_row(failure: Failure, run: str) -> tuple[Any, ...]:
    said = (failure.error, failure.message, failure.trace)
    return (failure.task, run, failure.attempt, int(failure.final), *said, failure.seconds)


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


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _try_lock(handle: int) -> bool:
    try:
        _lock(handle)
    except OSError:
        return False
    return True
