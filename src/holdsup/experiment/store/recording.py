"""What a run writes: tasks, claims, results and failures, each in one short transaction."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from holdsup.errors import StoreError
from holdsup.experiment.plan import Task
from holdsup.experiment.replies import Failure, Success
from holdsup.experiment.store.connection import RESCUE, DamagedStore, clear_errors, transaction
from holdsup.experiment.store.ledger import Ledger
from holdsup.experiment.store.liveness import RunLock, is_alive
from holdsup.experiment.store.rows import checksum
from holdsup.experiment.store.schema import insertion

__all__ = ["Claim", "FailedAttempt", "OpenRun"]

TOGETHER = 2_000  # tasks that one transaction adds, so that other processes need not wait long


class Claim(NamedTuple):
    """What a run got: tasks that are its own from now on, and tasks that other live runs have."""

    mine: list[str]
    elsewhere: list[str]


class FailedAttempt(NamedTuple):
    """A failure as it is recorded: `final` if the run gives the task up."""

    failure: Failure
    attempt: int
    final: bool


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
                self._append("runs", [(self.id, started, json.dumps(environment))])
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
                self._append("tasks", [_task_row(task) for task in new])

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
                self._append("claims", [(self.id, json.dumps(claim.mine))])
        return claim

    def record(self, successes: Sequence[Success], failures: Sequence[FailedAttempt] = ()) -> int:
        """Record results and failures, all or none; return how many results were new.

        When it returns, they are on the disk.
        """
        with self._writing():
            known = self.ledger.results
            new = [success for success in successes if success.task not in known]
            first = self._append("results", [_result_row(success, self.id) for success in new])
            tables = [
                (row, name, content)
                for row, success in enumerate(new, start=first)
                for name, content in success.tables.items()
            ]
            self._append("attachments", tables)
            self._append("failures", [_failure_row(attempt, self.id) for attempt in failures])
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

    def _append(self, table: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """Append rows, and return the number of the first."""
        (last,) = self.connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
        stamped = [(i, *values, checksum(table, i, values)) for i, values in enumerate(rows, start=last + 1)]
        self.connection.executemany(insertion(table), stamped)
        return int(last) + 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def _task_row(task: Task) -> tuple[Any, ...]:
    timeout = None if task.timeout is None else float(task.timeout)
    return (task.id, json.dumps(dict(task.labels)), task.work, json.dumps(dict(task.arguments)), timeout)


def _result_row(success: Success, run: str) -> tuple[Any, ...]:
    attached = json.dumps(list(success.tables))
    return (success.task, run, success.status, success.reason, success.seconds, success.content, attached)


def _failure_row(attempt: FailedAttempt, run: str) -> tuple[Any, ...]:
    failure = attempt.failure
    return (
        failure.task, run, attempt.attempt, int(attempt.final), failure.error, failure.message, failure.trace,
        failure.seconds,
    )  # fmt: skip
