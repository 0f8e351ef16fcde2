"""`RunReport`: how far a plan has come, and what failed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdsup.experiment.plan import Label, Plan
from holdsup.experiment.store import Damage, Store
from holdsup.rendering import Page, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Result, Rows, sign

__all__ = ["FailedTask", "RunReport", "TaskGroup", "describe_damage", "list_damage", "report_run"]

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
    """A task that failed.

    Attributes
    ----------
    task : its id
    labels : what people call it
    attempts : how many times it was tried
    error : type of the error, or "timeout" or "worker died"
    message : what it said
    """

    task: str
    labels: str
    attempts: int
    error: str
    message: str


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
    failures : the first tasks that failed
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
            rows=tuple((failed.labels, failed.attempts, failed.error, failed.message) for failed in self.failures),
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
    last = {failure.task: failure for failure in store.failures(labels) if found[failure.task] == "failed"}
    failures = [
        FailedTask(
            task=failure.task,
            labels=_words(labels[failure.task]),
            attempts=failure.attempt,
            error=failure.error,
            message=failure.message.partition("\n")[0],
        )
        for failure in list(last.values())[:SHOWN]
    ]
    used = counts["done"] + counts["undefined"]
    reasons = {status: counts[status] for status in STATUSES[2:] if counts[status]}
    digest = hashlib.blake2b("\n".join(sorted(labels)).encode(), digest_size=6).hexdigest()
    return RunReport(
        signature=sign("run", plan=digest, tasks=len(labels), done=used),
        seed=seed if isinstance(seed := plan.description.get("seed"), int) else None,
        warnings=_warnings(counts, store),
        rows=Rows(len(labels), used, reasons),
        verdict=_verdict(counts, failures),
        store=store.path.name,
        statuses=counts,
        executed=executed,
        seconds=seconds,
        groups=_groups(labels, found),
        failures=tuple(failures),
        damage=store.damage[:SHOWN],
    )


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


def _verdict(counts: Mapping[str, int], failures: list[FailedTask]) -> str:
    total, done = sum(counts.values()), counts["done"] + counts["undefined"]
    if done == total:
        return f"All {format_counted(total, 'task')} are done." if total > 1 else "The one task is done."
    parts = [f"{format_count(done)} of {format_counted(total, 'task')} are done"]
    if counts["failed"]:
        first = failures[0]
        parts.append(f"{format_count(counts['failed'])} failed (the first with {first.error}: {first.message})")
    if counts["running"]:
        parts.append(f"{format_count(counts['running'])} under way in other processes")
    if counts["waiting"]:
        parts.append(f"{format_count(counts['waiting'])} left to run")
    return "; ".join(parts) + "."


def _warnings(counts: Mapping[str, int], store: Store) -> tuple[str, ...]:
    warnings = []
    if counts["undefined"]:
        warnings.append(f"Results with a value that is not defined: {format_count(counts['undefined'])}.")
    if counts["failed"]:
        warnings.append("Failed tasks are not run again unless --retry-failed (retry_failed=True) asks for it.")
    if store.damage:
        warnings.append(
            f"{describe_damage(store.damage)} holdsup run SPEC --rescue NEW.db makes a new store of what is sound."
        )
    return tuple(warnings)


def describe_damage(damage: Sequence[Damage]) -> str:
    """Return in words what is wrong with a store: with the file as a whole, and with rows that are known by number."""
    parts = [f"The store is damaged: {lost.reason}." for lost in damage if lost.place == "file"]
    rows = sum(lost.row > 0 for lost in damage)
    if rows:
        parts.append(f"The store has damaged rows, which are not used: {format_count(rows)}.")
    unknown = sum(lost.place != "file" and lost.row == 0 for lost in damage)
    if unknown:
        parts.append(f"Tasks whose result was never recorded, or is gone: {format_count(unknown)}.")
    return " ".join(parts)


def _words(labels: Mapping[str, Label]) -> str:
    return ", ".join(f"{name} {value}" for name, value in labels.items())
