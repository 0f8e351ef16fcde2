"""`RunReport`: how far a plan has come, and what failed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdsup.experiment.plan import Label, Plan
from holdsup.experiment.sentences import list_warnings, say_progress
from holdsup.experiment.store import Damage, RecordedFailure, Store
from holdsup.rendering import Page, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Result, Rows, sign

__all__ = ["FailedTask", "RunReport", "TaskGroup", "list_damage", "report_run"]

SHOWN = 20  # failures, and damaged rows, that a report lists
GROUPS = 40  # groups of tasks that a report lists
STATUSES = ("done", "undefined", "failed", "running", "waiting")
GROUPED_BY = ("system", "dataset")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """The tasks of one system on one dataset.

    Attributes
    ----------
    name : what they have in common
    done : tasks with a result
    undefined : of these, results with a value that is not defined
    failed : tasks that failed
    left : tasks that are running or waiting
    """

    name: str
    done: int
    undefined: int
    failed: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTask:
    """A task that failed, and how many others did with the same error.

    Attributes
    ----------
    task : its id
    labels : what people call it
    attempts : how many times it was tried
    error : type of the error, or "timeout" or "worker died"
    message : what it said
    others : tasks that failed with the same error and the same message
    """

    task: str
    labels: str
    attempts: int
    error: str
    message: str
    others: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Result):
    """How far a plan has come.

    Attributes
    ----------
    store : name of the file that holds the results
    statuses : how many tasks are done, undefined (a value is not defined), failed, running and waiting
    executed : tasks that this run itself has done
    seconds : how long this run took
    groups : tasks by system and dataset
    failures : the first task of each way to fail
    damage : the first rows of the store that are not what was written
    """

    kind: ClassVar[str] = "run"

    store: str
    statuses: Mapping[str, int]
    executed: int
    seconds: float
    groups: tuple[TaskGroup, ...]
    failures: tuple[FailedTask, ...]
    damage: tuple[Damage, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the tasks by group, the failures and the damaged rows, as far as there are any."""
        groups = Table(
            title="Tasks",
            columns=("", "done", "undefined", "failed", "left"),
            rows=tuple((group.name, group.done, group.undefined, group.failed, group.left) for group in self.groups),
        )
        failures = Table(
            title="Failed",
            columns=("task", "tried", "error", "message"),
            rows=tuple(
                (_count_task(failed), failed.attempts, failed.error, failed.message) for failed in self.failures
            ),
        )
        return tuple(table for table in (groups, failures, list_damage(self.damage)) if table.rows)

    def page(self) -> Page:
        """Return the whole answer; what is counted are tasks."""
        why = ", ".join(f"{format_count(count)} {reason}" for reason, count in self.rows.reasons.items())
        counted = f"{format_count(self.rows.used)} of {format_counted(self.rows.planned, 'task')} done"
        return Page(
            verdict=self.verdict,
            tables=self.tables(),
            warnings=self.warnings,
            rows=f"{counted}{f' ({why})' if why else ''}.",
            signature=self.signature,
        )


def report_run(plan: Plan, store: Store, *, executed: int = 0, seconds: float = 0.0) -> RunReport:
    """Return the report of a plan, from what its store holds."""
    labels = {task.id: task.labels for task in plan.tasks}
    found = store.statuses(labels)
    counts = dict.fromkeys(STATUSES, 0) | Counter(found.values())
    last = [failure for failure in store.failures(labels) if found[failure.task] == "failed"]
    failures = _group_failures({failure.task: failure for failure in last}.values())
    used = counts["done"] + counts["undefined"]
    reasons = {status: counts[status] for status in STATUSES[2:] if counts[status]}
    digest = hashlib.blake2b("\n".join(sorted(labels)).encode(), digest_size=6).hexdigest()
    return RunReport(
        signature=sign("run", plan=digest, tasks=len(labels), done=used),
        seed=seed if isinstance(seed := plan.description.get("seed"), int) else None,
        warnings=list_warnings(labels, counts, store),
        rows=Rows(len(labels), used, reasons),
        verdict=say_progress(counts, failures),
        store=store.path.name,
        statuses=counts,
        executed=executed,
        seconds=seconds,
        groups=_groups(labels, found),
        failures=failures[:SHOWN],
        damage=store.damage[:SHOWN],
    )


def _group_failures(failed: Iterable[RecordedFailure]) -> tuple[FailedTask, ...]:
    """Return the first task of each error and message, with the number of others."""
    groups: dict[tuple[str, str], list[RecordedFailure]] = {}
    for failure in failed:
        groups.setdefault((failure.error, failure.message.partition("\n")[0]), []).append(failure)
    return tuple(
        FailedTask(
            task=first.task,
            labels=_words(first.labels),
            attempts=first.attempt,
            error=error,
            message=message,
            others=len(others),
        )
        for (error, message), (first, *others) in groups.items()
    )


def _count_task(failed: FailedTask) -> str:
    return failed.labels + (f"; and {format_counted(failed.others, 'other')}" if failed.others else "")


def list_damage(damage: Sequence[Damage]) -> Table:
    """Return the table of rows that are not what was written."""
    return Table(
        title="Damaged rows of the store",
        columns=("table", "row", "task", "what is wrong"),
        rows=tuple((row.place, row.row or None, row.task, row.reason) for row in damage),
    )


def _groups(labels: Mapping[str, Mapping[str, Label]], found: Mapping[str, str]) -> tuple[TaskGroup, ...]:
    groups: dict[str, Counter[str]] = {}
    for task, status in found.items():
        name = ", ".join(str(labels[task][label]) for label in GROUPED_BY if label in labels[task])
        groups.setdefault(name or "all tasks", Counter())[status] += 1
    return tuple(
        TaskGroup(
            name=name,
            done=counts["done"] + counts["undefined"],
            undefined=counts["undefined"],
            failed=counts["failed"],
            left=counts["running"] + counts["waiting"],
        )
        for name, counts in list(groups.items())[:GROUPS]
    )


def _words(labels: Mapping[str, Label]) -> str:
    return ", ".join(f"{name} {value}" for name, value in labels.items())
