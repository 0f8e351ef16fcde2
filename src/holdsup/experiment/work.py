"""One task, carried out where a worker runs: what it gives becomes text and bytes, what it raises becomes words."""

from __future__ import annotations

import json
import signal
import threading
import time
import traceback
from dataclasses import dataclass

from holdsup.errors import TaskError
from holdsup.experiment.importing import PREPARE, import_from, load_callable
from holdsup.experiment.interruption import Interrupted
from holdsup.experiment.plan import Outcome, Task
from holdsup.experiment.replies import Failure, Success
from holdsup.experiment.store.payload import encode_table, encode_values, undefined_values
from holdsup.experiment.timing import OutOfTime, time_limit
from holdsup.metrics.streams import divert_output

__all__ = ["Order", "carry_out", "order_of"]

TRACE_LINES = 30
LONGEST_MESSAGE = 2_000  # characters

_deadly = False  # in a process that works for us alone: a task out of reach of exceptions ends the process


@dataclass(frozen=True, slots=True)
class Order:
    """A task as it is sent to a worker.

    Attributes
    ----------
    task : its id
    work : import string of the function
    arguments : its arguments as JSON text: the work is given exactly what the store keeps
    timeout : seconds that it may take
    folder : where import strings are resolved
    """

    task: str
    work: str
    arguments: str
    timeout: float | None
    folder: str


def order_of(task: Task, folder: str) -> Order:
    """Return the order for a task."""
    return Order(task.id, task.work, json.dumps(dict(task.arguments)), task.timeout, folder)


def carry_out(order: Order) -> Success | Failure:
    """Return what a task gives, or how it failed; only an interruption of the whole process is raised.

    What the work needs is imported and prepared before the clock of its time limit starts. What it prints goes to
    standard error.
    """
    import_from(order.folder)
    with divert_output():
        return _carry_out(order)


def _carry_out(order: Order) -> Success | Failure:
    started = time.perf_counter()
    try:
        work, arguments = load_callable(order.work, {}), json.loads(order.arguments)
        prepare = getattr(work, PREPARE, None)
        if prepare is not None:
            prepare(arguments)
        with time_limit(order.timeout, deadly=_deadly):
            outcome = work(arguments)
        return _success(order, outcome, time.perf_counter() - started)
    except OutOfTime:
        message = f"it took more than {order.timeout:g} seconds"
        return Failure(order.task, time.perf_counter() - started, "timeout", message)
    except (Exception, SystemExit) as error:
        return _failure(order, error, time.perf_counter() - started)
    except KeyboardInterrupt as error:
        if isinstance(error, Interrupted) or _may_be_ctrl_c():
            raise
        return _failure(order, error, time.perf_counter() - started)


def _may_be_ctrl_c() -> bool:
    """Return whether Ctrl-C raises KeyboardInterrupt here, as in a worker that is not ours: in main threads alone."""
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def end_process_when_stuck() -> None:
    """Let a task that does not react to its time limit end this process; called in processes of our own."""
    global _deadly  # what kind of process this is, is a fact about the process
    _deadly = True


def _success(order: Order, outcome: object, seconds: float) -> Success:
    if not isinstance(outcome, Outcome):
        raise TaskError(f"{order.work} returned {type(outcome).__name__}, not an Outcome")
    reason = str(outcome.values.get("reason") or undefined_values(outcome.values))
    return Success(
        task=order.task,
        seconds=seconds,
        status="undefined" if reason else "done",
        reason=reason,
        content=encode_values(outcome.values),
        tables={name: encode_table(name, table) for name, table in outcome.tables.items()},
    )


def _failure(order: Order, error: BaseException, seconds: float) -> Failure:
    try:
        message = str(error)
    except Exception as second:  # an error of a user's own class may not even print
        message = f"(it cannot be shown: {type(second).__name__})"
    lines = "".join(traceback.format_exception(error)).splitlines()
    trace = "\n".join(lines[-TRACE_LINES:])
    clean = [text.encode("utf-8", "backslashreplace").decode() for text in (message[:LONGEST_MESSAGE], trace)]
    return Failure(order.task, seconds, type(error).__name__, *clean)
