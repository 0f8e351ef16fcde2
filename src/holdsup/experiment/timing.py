"""Time limits: a task that takes too long is stopped from inside its own process."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

__all__ = ["GRACE", "STUCK", "OutOfTime", "time_limit"]

GRACE = 5.0  # seconds in which a task may clean up before its process is ended
STUCK = 1  # exit code of a process that was ended so


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
    with _devnull(deadly) as sink:
        if sink is not None:
            faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=sink)
        try:
            with _alarm(seconds) if by_signal else _thread_alarm(seconds):
                yield
        finally:
            if sink is not None:
                faulthandler.cancel_dump_traceback_later()


@contextmanager
def _devnull(wanted: bool) -> Iterator[int | None]:
    if not wanted:
        yield None
        return
    handle = os.open(os.devnull, os.O_WRONLY)
    try:
        yield handle
    finally:
        os.close(handle)


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
                _raise_in(thread, OutOfTime)

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            finished = True
        timer.cancel()


def _raise_in(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
