"""`RunReport`: how far a plan has come, and what failed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdsup.experiment.plan import Label, Plan
from holdsup.experiment.store import Damage, RecordedFailure, Store
from holdsup.rendering import Answer, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import KINDS, Asked, Caution, Result, Rows, order_cautions, write_caveats

SHOWN = 20  # failures, and damaged rows, that a report lists
MOST_GROUPS, MOST_FAILURES = 5, 3  # of a short answer
LONGEST = 160  # characters of an error in it
GROUPS = 40  # groups of tasks that a report lists
STATUSES = ("done", "undefined", "failed", "running", "waiting")
GROUPED_BY = ("system", "dataset")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """The tasks of one system on one dataset."""

    name: str  # what they have in common
    done: int  # tasks with a result
    undefined: int  # of these, results with a value that is not defined
    failed: int  # tasks that failed
    left: int  # tasks that are running or waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTask:
    """A task that failed, and how many others did with the same error."""

    task: str  # its id
    labels: str  # what people call it
    attempts: int  # how many times it was tried
    error: str  # type of the error, or "timeout" or "worker died"
    message: str  # what it said
    others: int = 0  # tasks that failed with the same error and the same message


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport(Result):
    """How far a plan has come."""

    kind: ClassVar[str] = "run"
    counted: ClassVar[str] = "task"

    store: str  # name of the file that holds the results
    # how many tasks are done, undefined (a value is not defined), failed, running and waiting
    statuses: Mapping[str, int]
    executed: int  # tasks that this run itself has done
    seconds: float  # how long this run took
    groups: tuple[TaskGroup, ...]  # tasks by system and dataset
    failures: tuple[FailedTask, ...]  # the first task of each way to fail
    damage: tuple[Damage, ...]  # the first rows of the store that are not what was written

    def answer(self) -> Answer:
        """Return whether all tasks are done, and which failed."""
        done = self.statuses["done"] + self.statuses["undefined"]
        failed = self.statuses["failed"]
        return Answer(
            question=KINDS[self.kind].question,
            state="no" if failed else "yes" if done == sum(self.statuses.values()) else "unclear",
            headline=_say_progress(self.statuses),
            parts=(_list_groups(self.groups, most=MOST_GROUPS),) if self.groups else (),
            foot=(*_name_failures(self.failures), *_settle(self.statuses), *write_caveats(self.cautions)),
            more=("--full (all groups and failures)", "--export scores.parquet"),
            signature=self.signature,
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the tasks by group, the failures and the damaged rows, as far as there are any."""
        every = (_list_groups(self.groups), _list_failures(self.failures), list_damage(self.damage))
        return tuple(table for table in every if table.rows)


def _list_groups(groups: Sequence[TaskGroup], most: int | None = None) -> Table:
    return Table(
        name="groups",
        title="Tasks",
        columns=("", "done", "undefined", "failed", "left"),
        rows=tuple((group.name, group.done, group.undefined, group.failed, group.left) for group in groups[:most]),
        notes=(f"{len(groups) - most} more: --full",) if most is not None and len(groups) > most else (),
    )


def _list_failures(failures: Sequence[FailedTask]) -> Table:
    return Table(
        name="failures",
        title="Failed",
        columns=("task", "tried", "error", "message"),
        rows=tuple((_count_task(each), each.attempts, each.error, each.message) for each in failures),
    )


def _name_failures(failures: Sequence[FailedTask]) -> Iterator[tuple[str, str]]:
    """Yield the first ways to fail, each with the first task that failed so."""
    for each in failures[:MOST_FAILURES]:
        yield "failed", f"{_count_task(each)}: {each.error}: {each.message:.{LONGEST}}"
    if len(failures) > MOST_FAILURES:
        yield "", f"{len(failures) - MOST_FAILURES} more: --full"


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
        asked=Asked.about("run", plan=digest, tasks=len(labels), done=used),
        seed=seed if isinstance(seed := plan.description.get("seed"), int) else None,
        cautions=order_cautions(_caution(labels, counts, store)),
        rows=Rows(len(labels), used, reasons),
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
            labels=", ".join(f"{name} {value}" for name, value in first.labels.items()),
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
        name="damage",
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


def _say_progress(counts: Mapping[str, int]) -> str:
    """Return in a sentence how many tasks failed, are done and are left.

    >>> _say_progress({"failed": 2, "done": 3, "undefined": 0, "running": 0, "waiting": 1})
    '2 of 6 tasks failed, 3 are done, 1 is left to run.'
    """
    total = sum(counts.values())
    ends = {
        "failed": counts["failed"],
        "done": counts["done"] + counts["undefined"],
        "running elsewhere": counts["running"],
        "left to run": counts["waiting"],
    }
    (first, many), *others = [(end, count) for end, count in ends.items() if count] or [("done", total)]
    subject = f"{format_count(many)} of {format_count(total)} tasks"
    if not others:
        subject = "The one task" if total == 1 else f"All {format_count(total)} tasks"
    said = [f"{subject}{_end(first, many)}", *(f"{format_count(count)}{_end(end, count)}" for end, count in others)]
    return f"{', '.join(said)}."


def _end(end: str, count: int) -> str:
    return " failed" if end == "failed" else f" {'is' if count == 1 else 'are'} {end}"


def _settle(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield what to do next."""
    if counts["failed"]:
        yield "settle it", "fix the cause, then run the same with --retry-failed"
    elif counts["waiting"]:
        yield "settle it", "run the same command again: it goes on where it stopped"


def _caution(tasks: Collection[str], counts: Mapping[str, int], store: Store) -> Iterator[Caution]:
    """Yield what else there is to say about the tasks of a plan."""
    undefined, noted = ([said[task] for task in tasks if task in said] for said in store.remarks())
    if undefined:
        counted = format_counted(len(undefined), "result")
        yield Caution(
            code="undefined-values",
            about="table:groups",
            message=f"{counted} with a value that is not defined: {_tally(undefined)}",
            count=len(undefined),
        )
    if noted:
        yield Caution(
            code="remarked-results",
            about="table:groups",
            message=f"{format_counted(len(noted), 'result')} to look at: {_tally(noted)}",
            count=len(noted),
        )
    if counts["failed"]:
        yield Caution(
            code="failed-tasks",
            severity="note",
            about="table:failures",
            message="Failed tasks are not run again unless --retry-failed (retry_failed=True) asks for it.",
            count=counts["failed"],
        )
    if store.damage:
        yield Caution(
            code="damaged-store",
            severity="error",
            about="table:damage",
            message=_describe_damage(store.damage),
            advice="holdsup run SPEC --rescue NEW.db makes a new store of what is sound.",
            count=len(store.damage),
        )


def _tally(reasons: Sequence[str]) -> str:
    """Return the commonest reason, with how often it is given where there are others."""
    ((reason, count), *others) = Counter(reasons).most_common()
    more = f" ({format_count(count)} of them; {format_counted(len(others), 'other reason')})" if others else ""
    return f"{reason.rstrip('.')}{more}."


def _describe_damage(damage: Sequence[Damage]) -> str:
    """Return in words what is wrong with a store: with the file as a whole, and with rows that are known by number."""
    parts = [f"The store is damaged: {lost.reason}." for lost in damage if lost.place == "file"]
    rows = sum(lost.row > 0 for lost in damage)
    if rows:
        parts.append(f"The store has damaged rows, which are not used: {format_count(rows)}.")
    unknown = sum(lost.place != "file" and lost.row == 0 for lost in damage)
    if unknown:
        parts.append(f"Tasks whose result was never recorded, or is gone: {format_count(unknown)}.")
    return " ".join(parts)
