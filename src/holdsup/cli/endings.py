"""How a command ends before its time: Ctrl-C is noted from the first moment, and errors become a line on stderr."""

from __future__ import annotations

import _thread
import os
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


def end_with(error: BaseException) -> int:
    """Say in one line why a command ends, and return the exit code; what is no fault of the user's is raised."""
    import click  # only now: Ctrl-C must be noted before anything large is imported

    from holdsup.errors import HoldsupError

    try:
        raise error
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (click.Abort, KeyboardInterrupt) as end:
        stopped = end.__cause__ or end  # click wraps what Python raises; a run says how to go on
        _complain(str(stopped) or "stopped")
        return 128 + int(getattr(stopped, "number", 2))
    except BrokenPipeError:  # the reader (head, less) has seen enough
        forget_output()
        return 0
    except Exception:
        if isinstance(error, HoldsupError) and os.environ.get("HOLDSUP_DEBUG"):
            raise
        if not say_why(error):
            raise
        return 1


def say_why(error: BaseException) -> bool:
    """Say in one line why there is no answer; return False where that is no fault of the user's."""
    from holdsup.errors import HoldsupError

    if isinstance(error, HoldsupError):
        _complain(str(error))
    elif isinstance(error, OSError):  # readers and writers of files name them; what is left is the terminal's side
        forget_output()
        _complain(f"cannot write the output: {error.strerror or error}")
    elif isinstance(error, MemoryError):
        _complain("not enough memory for this table: give fewer rows or fewer columns")
    else:
        return False
    return True


def _complain(message: str) -> None:
    import click

    from holdsup.rendering.table import visible

    click.echo(f"holdsup: {visible(' '.join(message.split()))}", err=True)


def forget_output() -> None:
    """Let go of an output that takes no more, which Python would try to flush again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (stays open)
