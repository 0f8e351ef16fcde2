"""Ctrl-C and SIGTERM during a run: what is done is recorded, what is under way is given up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["Interrupted", "Interruption", "RunInterrupted"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A signal breaks off the task under way; a plain KeyboardInterrupt is an error of the task's own."""


class RunInterrupted(KeyboardInterrupt):
    """A run was stopped by a signal; its message says how to go on.

    Attributes
    ----------
    number : the signal; a program that ends because of it exits with 128 + number
    """

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


class Interruption:
    """Notes the first signal instead of raising, so that none can strike in the middle of a record.

    A second one raises `Interrupted` wherever it strikes. Outside the main thread, signals stay as they are.

    Attributes
    ----------
    asked : the signal that has arrived
    """

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None
        self._raising = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let a signal raise `Interrupted` inside: a task of this process is being worked on."""
        self._raising = True
        try:
            yield
        finally:
            self._raising = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        again = self.asked is not None
        self.asked = signal.Signals(number)
        if self._raising or again:
            raise Interrupted
