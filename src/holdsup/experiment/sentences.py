"""What a `RunReport` says in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from holdsup.experiment.store import Damage, Store
from holdsup.rendering.numbers import format_count, format_counted

if TYPE_CHECKING:
    from holdsup.experiment.report import FailedTask

__all__ = ["list_warnings", "say_progress"]


def say_progress(counts: Mapping[str, int], failures: Sequence[FailedTask]) -> str:
    """Return in a sentence how many tasks are done, failed and left."""
    total, done = sum(counts.values()), counts["done"] + counts["undefined"]
    if done == total:
        return f"All {format_counted(total, 'task')} are done." if total > 1 else "The one task is done."
    parts = [f"{format_count(done)} of {format_count(total)} tasks {'is' if done == 1 else 'are'} done"]
    if total == 1:
        parts = ["The one task is not done"]
    if counts["failed"] == total:
        parts = [f"All {format_counted(total, 'task')} failed" if total > 1 else "The one task failed"]
        parts[0] += f" ({_first(failures)})"
    elif counts["failed"]:
        parts.append(f"{format_count(counts['failed'])} failed ({_first(failures)})")
    if counts["running"]:
        parts.append(f"{format_count(counts['running'])} under way in other processes")
    if counts["waiting"]:
        parts.append(f"{format_count(counts['waiting'])} left to run")
    return "; ".join(parts) + "."


def _first(failures: Sequence[FailedTask]) -> str:
    which = (
        "all with" if len(failures) == 1 and failures[0].others else "the first with" if len(failures) > 1 else "with"
    )
    return f"{which} {failures[0].error}: {failures[0].message.rstrip('.')}"


def list_warnings(tasks: Collection[str], counts: Mapping[str, int], store: Store) -> tuple[str, ...]:
    """Return what else there is to say about the tasks of a plan."""
    warnings = []
    undefined, noted = ([said[task] for task in tasks if task in said] for said in store.remarks())
    if undefined:
        warnings.append(
            f"{format_counted(len(undefined), 'result')} with a value that is not defined: {_tally(undefined)}"
        )
    if noted:
        warnings.append(f"{format_counted(len(noted), 'result')} to look at: {_tally(noted)}")
    if counts["failed"]:
        warnings.append("Failed tasks are not run again unless --retry-failed (retry_failed=True) asks for it.")
    if store.damage:
        warnings.append(
            f"{_describe_damage(store.damage)} holdsup run SPEC --rescue NEW.db makes a new store of what is sound."
        )
    return tuple(warnings)


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
