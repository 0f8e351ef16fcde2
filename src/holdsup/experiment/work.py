"""One task, carried out where a worker runs: what it gives becomes text and bytes, what it raises becomes words.

A task that takes too long is stopped from inside its own process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from holdsup.errors import TaskError
from holdsup.experiment.plan import Outcome
from holdsup.experiment.sources import PREPARE, import_from, load_callable
from holdsup.experiment.store import Failure, Success
from holdsup.experiment.store.records import encode_table, encode_values
from holdsup.metrics.scorers import divert_output

GRACE = 5.0  # seconds in which a task may clean up before its process is ended
STUCK = 1  # exit code of a process that was ended so
TRACE_LINES = 30
LONGEST_MESSAGE = 2_000  # characters

_deadly = False  # in a process that works for us alone: a task out of reach of exceptions ends the process


class Interrupted(KeyboardInterrupt):
    """A signal breaks off the task under way; a plain KeyboardInterrupt is an error of the task's own."""


@dataclass(frozen=True, slots=True)  # no tuple: Dask looks into these for tasks of its own
class Order:
    """A task as it is sent to a worker; arguments as JSON text: the work is given exactly what the store keeps."""

    task: str
    work: str
    arguments: str
    timeout: float | None
    folder: str


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
    undefined = [f"{k} is {v}" for k, v in outcome.values.items() if isinstance(v, float) and not math.isfinite(v)]
    reason = str(outcome.values.get("reason") or ", ".join(undefined))
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
    return Failure(order.task, seconds, type(error).__name__, _clean(message[:LONGEST_MESSAGE]), _clean(trace))


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


class OutOfTime(BaseException):
    """A task has taken too long; no error of its own, so that no ``except Exception`` swallows it."""


@contextmanager
def time_limit(seconds: float | None, *, deadly: bool = False) -> Iterator[None]:
    """Raise `OutOfTime` inside after some seconds.

    Code that does not react (a loop in C) is out of reach of an exception: with `deadly`, the whole process
    then ends after a grace. The watch that does it needs no Python to run.
    """
    if seconds is None:
        yield
        return
    by_signal = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    watch = _watch(seconds + GRACE) if deadly else nullcontext()
    with watch, _alarm(seconds) if by_signal else _thread_alarm(seconds):
        yield


@contextmanager
def _watch(seconds: float) -> Iterator[None]:
    with Path(os.devnull).open("wb") as sink:
        faulthandler.dump_traceback_later(seconds, exit=True, file=sink)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> NoReturn:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _thread_alarm(seconds: float) -> Iterator[None]:
    """Raise in a thread that cannot have signals: Python delivers it between two of its own steps."""
    thread, lock, finished = threading.get_ident(), threading.Lock(), False

    def ring() -> None:
        with lock:
            if not finished:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            finished = True
        timer.cancel()
