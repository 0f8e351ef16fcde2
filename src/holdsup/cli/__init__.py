"""The command line: parse, call, print. Each command has a file of its own."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from holdsup.cli.endings import Interrupts, end_with

__all__ = ["main"]


def main(args: Sequence[str] | None = None, prog_name: str = "holdsup") -> None:
    """Run the command line and exit: 0 done, 1 bad input (one line says what), 2 wrong usage, 130 stopped."""
    with Interrupts(last=args is None) as interrupts:
        try:
            from holdsup.cli.program import run  # only now: it takes a moment, in which one may press Ctrl-C

            code = run(args, prog_name)
        except BaseException as error:
            if interrupts.came:
                print("holdsup: stopped", file=sys.stderr)
                code = 128 + signal.SIGINT
            else:
                code = end_with(error)
    if args is None:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End the process as Python does, but for what libraries take down last.

    A thread of Arrow's that is only just starting would abort a process that has done its work (Python 3.13, if busy).
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
