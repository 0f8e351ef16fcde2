"""Ctrl-C: noted from the first moment, so that a command ends with one line whatever it is doing."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SOON = 0.02  # seconds


class Interrupts:
    """Notes Ctrl-C while it is entered; what is raised after it came is an interrupt, whatever its name.

    A library in flight may answer KeyboardInterrupt with an error of its own (a half-written PDF that cannot be
    closed, half an import), or lose it in a destructor, where Python prints it and goes on.

    Attributes
    ----------
    came : whether Ctrl-C was pressed
    last : whether the process ends afterwards, so that Ctrl-C has nothing more to say
    """

    def __init__(self, *, last: bool) -> None:
        self.came, self.last = False, last
        self._hook = sys.unraisablehook
        self._before: Any = None
        self._again: threading.Timer | None = None

    def __enter__(self) -> Interrupts:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
            self._before = signal.signal(signal.SIGINT, self._note)
        sys.unraisablehook = self._find_lost
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.unraisablehook = self._hook
        if self._again is not None:
            self._again.cancel()
        if self._before is not None:
            signal.signal(signal.SIGINT, signal.SIG_DFL if self.last else self._before)

    def _note(self, number: int, frame: FrameType | None) -> NoReturn:
        self.came = True
        raise KeyboardInterrupt

    def _find_lost(self, lost: UnraisableHookArgs) -> None:
        """Interrupt again where an interrupt was lost, and keep quiet about what breaks because of one."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            self._again = threading.Timer(SOON, _thread.interrupt_main)  # now it would be lost again, in here
            self._again.daemon = True
            self._again.start()
        elif not self.came:
            self._hook(lost)
